"""The vector functions: near the truth everywhere, NumPy's special values, and loops of them that LLVM vectorises."""

import platform
import re

import numpy as np
import pytest
from llvmlite import binding
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

BRANCHED = [n for n in ONE if vector.TABLE[n, "float64"].inside is not None]
ROWS = [*ONE, *TWO, *(f"{n} in a loop" for n in BRANCHED)]


def _compile(kind):
    """One compiled function with a loop for each row."""
    lines, scope = ["def run(xs, ys, out):"], {}
    for k, row in enumerate(ROWS):
        name, _, branch_free = row.partition(" ")
        entry = vector.TABLE[name, kind.__name__]
        scope[f"f{k}"] = entry.loop if branch_free else entry.function
        point = f"xs[{k}, i], ys[{k}, i]" if name in TWO else f"xs[{k}, i]"
        lines += [f"    for i in range(xs.shape[1]): out[{k}, i] = f{k}({point})"]
    exec("\n".join(lines), scope)
    array = f"float{np.dtype(kind).itemsize * 8}[:, ::1]"
    return njit(f"void({array}, {array}, {array})", **OPTIONS)(scope["run"])


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def compiled(request):
    return request.param, _compile(request.param)


def _run(compiled, columns):
    """The values of each row at its columns."""
    kind, run = compiled
    size = max(c[0].size for c in columns.values())
    xs, ys = np.ones((len(ROWS), size), kind), np.ones((len(ROWS), size), kind)
    for k, row in enumerate(ROWS):
        if row in columns:
            xs[k, : columns[row][0].size] = columns[row][0]
            ys[k, : columns[row][0].size] = columns[row][-1]
    out = np.empty_like(xs)
    run(xs, ys, out)
    return {row: out[k, : columns[row][0].size] for k, row in enumerate(ROWS) if row in columns}


def _points(row, kind):
    name, _, branch_free = row.partition(" ")
    arguments = points.points(name, POINTS, kind)
    if not branch_free:
        return arguments
    bound = 2.0**36 if kind is np.float64 else 2.0**16
    return tuple(a[np.abs(a) <= bound] for a in arguments) if name in ("sin", "cos", "tan") else arguments


def test_error(compiled):
    kind = compiled[0]
    columns = {row: _points(row, kind) for row in ROWS}
    found = _run(compiled, columns)
    worst = {}
    for row, arguments in columns.items():
        name = row.split()[0]
        off = reference.errors(found[row], *reference.values(name, *arguments))
        at = int(np.argmax(off))
        if not off[at] <= LIMITS.get(name, 2.0):
            worst[row] = off[at], [a[at] for a in arguments]
    assert not worst


def _special(kind):
    limits = np.finfo(kind)
    some = [
        0.0,
        limits.smallest_subnormal,
        limits.tiny,
        0.25,
        0.5,
        1.0,
        1.5,
        2.0,
        3.0,
        4.0,
        5.0,
        1e5,
        limits.max,
        np.inf,
    ]
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
            right = points.NUMPY[name](*(a.astype(np.float64) for a in arguments)).astype(kind)
            if name == "gammaln":  # SciPy 1.17: NaN or infinity at the smallest number
                right = np.where(arguments[0] ** 2 == 0.0, -np.log(np.abs(arguments[0])), right)
        ours = found[name]
        same = np.isclose(ours, right, rtol=float(np.finfo(kind).eps) * 8, atol=0) | (np.isnan(ours) & np.isnan(right))
        same &= np.isnan(right) | (np.signbit(ours) == np.signbit(right))
        bad += [(name, [a[i] for a in arguments], ours[i], right[i]) for i in np.flatnonzero(~same)]
    assert not bad


def test_every_loop_is_vectorised(compiled):
    if platform.machine() in ("x86_64", "AMD64") and not binding.get_host_cpu_features().get("fma"):
        pytest.skip("this processor has no fused multiply-add")
    run = compiled[1]
    (text,) = (run.inspect_llvm(signature) for signature in run.signatures)
    bodies = re.findall(r"^vector\.body\w*:", text, re.MULTILINE)
    assert len(bodies) >= len(ONE) + len(TWO)  # of the five with branches, those without


def test_huge_arguments_by_blocks():
    x = np.linspace(-3.0, 3.0, 2 * vector.BLOCK)
    x[5] = 1e300
    out = np.empty_like(x)
    vector.APPLY["sin", "float64"](x, out)
    np.testing.assert_allclose(out, np.sin(x), rtol=1e-15)
