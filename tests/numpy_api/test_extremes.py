"""``max``, ``min`` and ``sorted`` of all that one iterates over, with keys and defaults: as Python's, value and derivative."""

from __future__ import annotations

import math

import numpy as np
import pytest
from differences import gradient_by_differences
from fuzz.check import load

import transpile as tp
from transpile.errors import TranspileError

ITERABLES = {
    "array": "x",
    "list": "[v * v for v in x]",
    "grown": "[v * 2.0 for v in x if v > -0.5]",
    "generator": "(v * v for v in x)",
    "filtered": "(v * v for v in x if v > 0.5)",
    "mapped": "map(math.sin, x)",
    "known": "[x[0], x[1] * x[1], x[2]]",
    "none": "[v for v in x if v > 100.0]",
    "reversed": "reversed(x)",
    "tuples": "[(v > 1.0, v * v) for v in x]",
    "known_tuples": "((x[0], 1.0), (x[0] * 1.0, x[1]), (x[2], x[0]))",
    "pairs": "zip(x, x * x)",
    "numbered": "enumerate(x)",
    "values": "{'a': x[0], 'b': x[1]}.values()",
    "entries": "{'a': x[0], 'b': x[1]}.items()",
    "range": "range(len(x))",
    "numbers": "range(4)",
    "chosen": "[2, 0, 1]",
    "rows": "np.outer(x, x)",
}
OF_NUMBERS = ("range", "numbers", "chosen")
OF_PAIRS = ("tuples", "known_tuples", "pairs", "numbered", "entries")
USES = {
    "plain": "{f}({of})",
    "default": "{f}({of}, default={d})",
    "negative": "{f}({of}, key=lambda v: -v)",
    "far": "{f}({of}, key=lambda v: abs(v - 1.0))",
    "none": "{f}({of}, key=None)",
    "both": "{f}({of}, key=lambda v: (v > 1.0, -v), default={d})",
    "last": "{f}({of}, key=lambda p: p[1])",
    "negative_last": "{f}({of}, key=lambda p: -p[-1])",
    "first": "sorted({of})[0]",
    "first_by_key": "sorted({of}, key=lambda v: -v, reverse={reverse})[1]",
    "first_by_last": "sorted({of}, key=lambda p: -p[1])[0]",
    "by_value": "{f}({of}, key=lambda i: x[i])",
    "first_by_value": "sorted({of}, key=lambda i: (x[i] > 1.0, x[i]), reverse={reverse})[0]",
}
BY_VALUE = ("by_value", "first_by_value")
BY_PART = ("last", "negative_last", "first_by_last")
POINT = np.array([0.3, 1.8, -0.4, 2.25, 0.9])


def expression(iterable: str, use: str, f: str) -> str:
    is_pair = iterable in OF_PAIRS
    default = "(0, x[0])" if is_pair else "0" if iterable in OF_NUMBERS else "x[0]"
    text = USES[use].format(f=f, of=ITERABLES[iterable], d=default, reverse=f == "min")
    if is_pair:
        return text + "[1]"
    return f"x[{text}] * 2.0" if iterable in OF_NUMBERS else text + "[1]" if iterable == "rows" else text


CASES = [
    (iterable, use, f)
    for iterable in ITERABLES
    for use in USES
    for f in ("max", "min")
    if (use in BY_PART) <= (iterable in (*OF_PAIRS, "rows")) and (use in BY_VALUE) <= (iterable in OF_NUMBERS)
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    lines = ["import math", "import numpy as np"]
    lines += [f"def of_{k}(x): return 1.0 * {expression(*case)}" for k, case in enumerate(CASES)]
    return load("\n".join(lines), "extremes_made", tmp_path_factory.mktemp("extremes"))


@pytest.mark.parametrize("iterable", ITERABLES)
@pytest.mark.sampled(4)
def test_python_says_the_same(made, iterable):
    for k, case in enumerate(CASES):
        if case[0] != iterable:
            continue
        function, x = getattr(made, f"of_{k}"), POINT.copy()
        try:
            wanted = function(x)
        except (
            TypeError,
            ValueError,
            IndexError,
        ) as e:  # nothing is the largest of nothing, arrays have no truth value
            with pytest.raises((type(e), TranspileError)):
                tp.value_and_grad(function)(x)
            continue
        value, gradient = tp.value_and_grad(function)(x)
        assert value == wanted, case
        np.testing.assert_allclose(gradient, gradient_by_differences(function, x, 1e-6), atol=1e-8, err_msg=str(case))


@pytest.mark.numba
@pytest.mark.parametrize(
    "text", [("generator", "plain", "max"), ("tuples", "last", "min"), ("range", "first_by_key", "max")]
)
def test_compiled(made, text):
    function = getattr(made, f"of_{CASES.index(text)}")
    value, gradient = tp.jit(tp.value_and_grad(function))(POINT)
    assert value == function(POINT)
    np.testing.assert_allclose(gradient, gradient_by_differences(function, POINT, 1e-6), atol=1e-8)


def largest_of_three(x):
    return max(x[0], x[1], x[2])


def smallest_of_three(x):
    return min([x[0], x[1], x[2]])


@pytest.mark.parametrize("f", [largest_of_three, smallest_of_three])
@pytest.mark.parametrize("at", range(3))
def test_a_nan_that_is_not_taken(f, at):
    """Python keeps the first where no comparison holds, and so does the derivative."""
    x = np.array([2.0, 3.0, 1.5])
    x[at] = math.nan
    value, gradient = tp.value_and_grad(f)(x)
    np.testing.assert_equal(value, f(x))
    wanted = np.isnan(x) if at == 0 else x == f(x)
    np.testing.assert_array_equal(gradient, wanted.astype(float))
    np.testing.assert_array_equal(tp.jacfwd(f)(x), wanted.astype(float))
