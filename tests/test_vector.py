"""The vector functions: near the truth everywhere, NumPy's special values, and loops of them that LLVM vectorises."""

import re

import numpy as np
import pytest
import scipy.special
from numba import njit

pytest.importorskip("mpmath", reason="mpmath has the true values: pip install 'transpile[test]'")

from accuracy import points, reference
from runtime.compiled import vector

pytestmark = pytest.mark.numba

LIMITS = {"exp": 1.0, "log": 1.0, **dict.fromkeys("expm1 log1p sin cos tanh".split(), 1.5)}  # 2 for the others
KINDS = (np.float64, np.float32)
ONE = [n for n in vector.TABLE_NAMES if n not in points.TWO_ARGUMENTS]
TWO = [n for n in vector.TABLE_NAMES if n in points.TWO_ARGUMENTS]
OPTIONS = {"error_model": "numpy", "fastmath": {"contract", "reassoc"}}
POINTS = 2000

NUMPY = {
    **{n: getattr(np, n) for n in vector.TABLE_NAMES if hasattr(np, n)},
    **{n: getattr(scipy.special, n) for n in ("erf", "erfc", "gammaln", "digamma")},
    "logistic": scipy.special.expit,
    "pow": np.power,
}


def _compile(kind, field):
    """One compiled function that runs all loops: a row of the output for each name."""
    lines = ["def run(xs, ys, out):"]
    scope = {}
    for k, name in enumerate((*ONE, *TWO)):
        scope[f"f{k}"] = getattr(vector.TABLE[name, kind.__name__], field)
        point = f"xs[{k}, i], ys[{k}, i]" if name in TWO else f"xs[{k}, i]"
        lines += [f"    for i in range(xs.shape[1]): out[{k}, i] = f{k}({point})"]
    exec("\n".join(lines), scope)
    array = f"float{np.dtype(kind).itemsize * 8}[:, ::1]"
    return njit(f"void({array}, {array}, {array})", **OPTIONS)(scope["run"])


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def compiled(request):
    return request.param, _compile(request.param, "function")


def _run(compiled, columns):
    """The values of each function at its columns."""
    kind, run = compiled
    size = max(c[0].size for c in columns.values())
    xs, ys = np.ones((len(columns), size), kind), np.ones((len(columns), size), kind)
    for k, name in enumerate((*ONE, *TWO)):
        xs[k, : columns[name][0].size] = columns[name][0]
        ys[k, : columns[name][0].size] = columns[name][-1]
    out = np.empty_like(xs)
    run(xs, ys, out)
    return {name: out[k, : columns[name][0].size] for k, name in enumerate((*ONE, *TWO))}


def test_error(compiled):
    kind = compiled[0]
    columns = {name: points.points(name, POINTS, kind) for name in (*ONE, *TWO)}
    found = _run(compiled, columns)
    worst = {}
    for name, arguments in columns.items():
        off = reference.errors(found[name], *reference.values(name, *arguments))
        at = int(np.argmax(off))
        if not off[at] <= LIMITS.get(name, 2.0):
            worst[name] = off[at], [a[at] for a in arguments]
    assert not worst


def _special(kind):
    limits = np.finfo(kind)
    some = [0.0, limits.smallest_subnormal, limits.tiny, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 1e5, limits.max, np.inf]
    return np.array([*some, *(-v for v in some), np.nan], kind)


def test_special_values(compiled):
    kind = compiled[0]
    one = _special(kind)
    two = [a.ravel() for a in np.meshgrid(one, one)]
    columns = {name: two if name in TWO else [one] for name in (*ONE, *TWO)}
    found = _run(compiled, columns)
    bad = []
    for name, arguments in columns.items():
        with np.errstate(all="ignore"):
            # in float64, as SciPy's float32 functions lose what is huge or tiny
            right = NUMPY[name](*(a.astype(np.float64) for a in arguments)).astype(kind)
        ours = found[name]
        same = np.isclose(ours, right, rtol=float(np.finfo(kind).eps) * 8, atol=0) | (np.isnan(ours) & np.isnan(right))
        same &= np.isnan(right) | (np.signbit(ours) == np.signbit(right))
        bad += [(name, [a[i] for a in arguments], ours[i], right[i]) for i in np.flatnonzero(~same)]
    assert not bad


def test_every_loop_is_vectorised():
    """Each in its own function, as a loop beside others might hide it."""
    for kind, width in zip(KINDS, ("double", "float")):
        for name in ("pow", "gammaln"):  # the two largest
            function = vector.TABLE[name, kind.__name__].loop
            text = _text_of_loop(function, kind, name in TWO)
            assert re.search(rf"<\d+ x {width}>", text), (name, kind)


def _text_of_loop(function, kind, two):
    array = f"float{np.dtype(kind).itemsize * 8}[::1]"
    if two:

        @njit(f"void({array}, {array}, {array})", **OPTIONS)
        def run(x, y, out):
            for i in range(x.shape[0]):
                out[i] = function(x[i], y[i])

    else:

        @njit(f"void({array}, {array}, {array})", **OPTIONS)
        def run(x, y, out):
            for i in range(x.shape[0]):
                out[i] = function(x[i])

    (signature,) = run.signatures
    return run.inspect_llvm(signature)
