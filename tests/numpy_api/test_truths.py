"""Python's truth values are the numbers 0 and 1, NumPy's are not: what is computed with either, however it came about."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from fuzz.check import load

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.errors import TranspileError

TRUTHS = (
    *("bool(x[0])", "not x[1]", "x[0] > 1", "float(x[0]) > 1", "1.5 in [x[0], x[1]]", "k not in (1, 2)"),
    *("any([x[0] > 1, x[1] > 5])", "all(v > 0 for v in x)", "k == 2", "isinstance(k, int)", "[x[0]] == [x[1]]"),
    *("(x[0] > 1 and x[1] > 1)", "math.isnan(x[0])", "np.isnan(x[0])", "(x[0] is None)", "bool(k)", "(1 < k < 3)"),
    *("(k > 1 or k < 0)", "x.all()", "hasattr(x, 'shape')"),
)
OTHERS = ("bool(x[2])", "x[1] > 5", "True", "k > 1")
USES = (
    *("{a} + {b}", "{a} - {b}", "{a} * {b}", "-({a})", "~({a})", "+({a})", "abs({a})", "({a}) ** 2", "({a}) << 1", "({a}) & ({b})"),
    *("({a}) | ({b})", "({a}) ^ ({b})", "({a}) < ({b})", "sum([{a}, {b}])", "max({a}, {b})", "({a}) + 1.5", "({a}) * x[0]"),
    *("int({a})", "({a}) == 1", "({a}) + k", "({a}) // 1", "1.0 if ({a}) else 2.0", "np.float64({a})", "({a}) / 2"),
)  # fmt: skip
POINTS = ((np.array([1.5, 2.0, -1.0]), 2), (np.array([0.0, 0.0, 7.0]), 0))


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """A function for each truth value, other one and use, by name."""
    lines = ["import math", "import numpy as np"]
    for i, j, u in itertools.product(range(len(TRUTHS)), range(len(OTHERS)), range(len(USES))):
        use = USES[u].format(a=f"({TRUTHS[i]})", b=f"({OTHERS[j]})")
        lines.append(f"def of_{i}_{j}_{u}(x, k): return {use}")
    return load("\n".join(lines), "computed_with_truths", tmp_path_factory.mktemp("truths"))


def compare(function, transformed, what):
    for x, k in POINTS:
        try:
            wanted = function(x, k)
        except TypeError:  # an operation that NumPy's truth values do not have
            continue
        try:
            found = transformed(x, k)
        except TranspileError:
            return False
        assert np.asarray(found) == np.asarray(wanted), what
        if type(wanted) is bool and not what[-1].startswith(
            "max"
        ):  # `max` gives the one or the other, which we give one type
            assert type(found) is bool, what
    return True


def cases(i, step):
    return itertools.islice(itertools.product(range(len(OTHERS)), range(len(USES))), i % step, None, step)


@pytest.mark.parametrize("i", range(len(TRUTHS)), ids=TRUTHS)
def test_what_is_computed_with_a_truth_value(computed, i):
    """One use in four here, all in the slow test."""
    for j, u in cases(i, 4):
        function = getattr(computed, f"of_{i}_{j}_{u}")
        compare(function, Transformed(function, Level()), (TRUTHS[i], OTHERS[j], USES[u]))


@pytest.mark.slow
@pytest.mark.parametrize("i", range(len(TRUTHS)), ids=TRUTHS)
def test_all_that_is_computed_with_a_truth_value(computed, i):
    right = [
        compare(function, make(function), (TRUTHS[i], OTHERS[j], USES[u]))
        for j, u in cases(i, 1)
        for function in [getattr(computed, f"of_{i}_{j}_{u}")]
        for make in [tp.jit if (i + j + u) % 9 == 0 else lambda f: Transformed(f, Level())]
    ]
    assert sum(right) > 0.8 * len(right)
