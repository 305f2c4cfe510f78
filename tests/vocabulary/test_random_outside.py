"""Arguments of draws that are variables of the module, or arguments of the function: an axis, a shape, a flag, a text."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp

NAMES = {"AXIS": 1, "FLAG": True, "N": 3, "SHAPE": (2, 3), "MODE": "high", "P": 0.5, "METHOD": "svd", "LOW": -5}
HEAD = "import numpy as np\nfrom transpile import random as r\nX, DTYPE = np.arange(6.0).reshape(2, 3), np.float32\n"
CASES = """
r.permutation(k, X, AXIS)
r.permutation(k, X, AXIS, FLAG)
r.permutation(k, N)
r.choice(k, X, (2,), FLAG, None, AXIS)
r.choice(k, N, SHAPE, FLAG)
r.choice(k, N, (N,), not FLAG)
r.categorical(k, X, AXIS)
r.categorical(k, X, AXIS, None, FLAG, MODE)
r.categorical(k, X, 0, (N,), FLAG)
r.gumbel(k, SHAPE, DTYPE, MODE)
r.bernoulli(k, P, SHAPE, MODE)
r.uniform(k, (N, N), DTYPE, LOW, N)
r.randint(k, SHAPE, LOW, N)
r.multivariate_normal(k, np.zeros(2), np.eye(2), (N,), None, METHOD)
r.split(k, N)
r.fold_in(k, N)
r.key(N)
r.beta(k, P, N, SHAPE)
r.truncated_normal(k, LOW, N, SHAPE)
r.dirichlet(k, np.ones(N), (N,))
r.normal(k, (AXIS, N))
""".strip().splitlines()


@pytest.mark.parametrize("is_argument", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_known_when_it_must_be(is_argument: bool) -> None:
    key = tp.random.key(3)
    head = HEAD if is_argument else HEAD + "".join(f"{name} = {value!r}\n" for name, value in NAMES.items())
    names, values = (list(NAMES), list(NAMES.values())) if is_argument else ([], [])
    wrong = []
    for case in CASES:
        f = tp.from_source(f"{head}def f({', '.join(['k', *names])}):\n    return {case}\n")
        found = tp.vmap(f, in_axes=None, out_axes=None, axis_size=1)(key, *values)
        if not np.allclose(found, f(key, *values), rtol=1e-12, atol=0.0):
            wrong.append(case)
    assert not wrong


@pytest.mark.parametrize("axis", ["1.0", "True", "None", "'last'"])
def test_an_axis_is_an_integer(axis: str) -> None:
    for draw in (f"permutation(k, np.ones((2, 2)), {axis})", f"categorical(k, np.ones((2, 2)), {axis})"):
        f = tp.from_source(f"import numpy as np\nfrom transpile import random\ndef f(k):\n    return random.{draw}\n")
        with pytest.raises(TypeError, match="an axis must be an integer"):
            f(tp.random.key(0))
        with pytest.raises(tp.TranspileError) as failed:
            tp.vmap(f, in_axes=None, axis_size=2)(tp.random.key(0))
        assert failed.value.codes == ("T201",)
