"""The vector functions: near the truth everywhere, NumPy's special values, and loops of them that LLVM vectorises."""

import re

import numpy as np
import pytest
import scipy.special
from numba import njit

pytest.importorskip("mpmath", reason="mpmath has the true values: pip install 'transpile[test]'")

from accuracy import points, reference

import transpile as tp
from transpile.loops.vector_functions import SIZE
from transpile.ops.tables import records
from transpile_runtime.compiled import machine, vector

pytestmark = pytest.mark.numba

VECTORS = {n: r.vector for n, r in records().items() if r.vector is not None}
PARTLY = {n: v.near for n, v in VECTORS.items() if v.near}
KINDS = (np.float64, np.float32)
MEASURED = sorted(points.RANGES)
OPTIONS = {"error_model": "numpy", "fastmath": {"contract", "reassoc"}}
POINTS = 2000
INF = np.inf


def _nan_to_num(x):
    return np.nan_to_num(x, posinf=np.finfo(x.dtype).max, neginf=np.finfo(x.dtype).min)


# function: the one that is right, the number of arguments
PLAIN = {
    **{n: (getattr(np, n), 1) for n in "sign floor ceil trunc rint isnan isinf isfinite signbit sqrt".split()},
    **{n: (getattr(np, n), 2) for n in "maximum minimum fmax fmin heaviside copysign".split()},
    "nan_to_num": (_nan_to_num, 1),
    "clip": (np.clip, 3),
}
NEAR = {"fmod_near": np.fmod, "mod_near": np.mod, "floordiv_near": np.floor_divide}


def _compile(names, counts, kind):
    """One compiled function with a loop for each name."""
    lines, scope = ["def run(xs, ys, zs, out):"], {"all_inside": vector.all_inside}
    for k, name in enumerate(names):
        scope[f"f{k}"] = getattr(vector, name)
        point = ", ".join(f"{a}[{k}, i]" for a in ("xs", "ys", "zs")[: counts[name]])
        value = f"all_inside(f{k}({point}))" if name.startswith("outside_") else f"f{k}({point})"
        lines += [f"    for i in range(xs.shape[1]): out[{k}, i] = {value}"]
    exec("\n".join(lines), scope)
    array = f"float{np.dtype(kind).itemsize * 8}[:, ::1]"
    return njit(f"void({array}, {array}, {array}, {array})", **OPTIONS)(scope["run"])


class Compiled:
    """Functions of `transpile_runtime.compiled.vector`, compiled together for one type."""

    def __init__(self, counts, kind):
        self.names, self.kind = list(counts), kind
        self.kernel = _compile(self.names, counts, kind)

    def __call__(self, columns):
        """The values of each function at its arguments."""
        size = max(c[0].size for c in columns.values())
        given = [np.ones((len(self.names), size), self.kind) for _ in range(3)]
        for k, name in enumerate(self.names):
            for a, column in zip(given, columns.get(name, ())):
                a[k, : column.size] = column
        out = np.empty_like(given[0])
        self.kernel(*given, out)
        return {name: out[k, : columns[name][0].size] for k, name in enumerate(self.names) if name in columns}

    def vector_loops(self):
        (text,) = (self.kernel.inspect_llvm(signature) for signature in self.kernel.signatures)
        return len(re.findall(r"^vector\.body\w*:", text, re.MULTILINE))


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def measured(kind):
    return Compiled({points.LOOPS.get(n, n): 2 if n in points.TWO_ARGUMENTS else 1 for n in MEASURED}, kind)


@pytest.fixture(scope="module")
def plain(kind):
    return Compiled({**{n: count for n, (_, count) in PLAIN.items()}, **dict.fromkeys(NEAR, 2)}, kind)


@pytest.fixture(scope="module")
def tested(kind):
    return Compiled({f: COUNTS.get(n, 1) for n, both in PARTLY.items() for f in both}, kind)


def test_error(measured):
    columns = {n: points.points(n, POINTS, measured.kind) for n in MEASURED}
    found = measured({points.LOOPS.get(n, n): c for n, c in columns.items()})
    worst = {}
    for name, arguments in columns.items():
        off = reference.errors(found[points.LOOPS.get(name, name)], *reference.values(name, *arguments))
        at = int(np.argmax(off))
        if not off[at] <= VECTORS[name].ulps:
            worst[name] = off[at], [a[at] for a in arguments]
    assert not worst


def test_error_of_faster_ones(tested):
    arguments = {n: points.points(n, POINTS, tested.kind) for n in points.FASTER}
    found = tested({f: arguments[n] for n in points.FASTER for f in points.FASTER[n]})
    for name, (faster, test) in points.FASTER.items():
        off = reference.errors(found[faster], *reference.values(name, *arguments[name]))
        inside = found[test] == 1.0
        at = int(np.argmax(np.where(inside, off, 0.0)))
        assert np.sum(inside) > POINTS // 8
        assert off[at] <= VECTORS[name].ulps, (name, off[at], [x[at] for x in arguments[name]])


def _special(kind):
    limits = np.finfo(kind)
    some = [0.0, limits.smallest_subnormal, limits.tiny, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 1e5, limits.max, INF]
    return np.array([*some, *(-v for v in some), np.nan], kind)


def _grid(kind, count):
    return [a.ravel() for a in np.meshgrid(*[_special(kind)] * count)]


def _differences(name, ours, right, arguments, rtol):
    same = np.isclose(ours, right, rtol=rtol, atol=0) | (np.isnan(ours) & np.isnan(right))
    same &= np.isnan(right) | (np.signbit(ours) == np.signbit(right))
    return [(name, [a[i] for a in arguments], ours[i], right[i]) for i in np.flatnonzero(~same)]


def test_special_values(measured):
    kind = measured.kind
    columns = {n: _grid(kind, 2 if n in points.TWO_ARGUMENTS else 1) for n in MEASURED}
    inside = {"gammaln": lambda x: (x > 1e-18) & (x < 1e18), "digamma": lambda x: ~(x <= 0)}
    bounded = dict.fromkeys(("sin", "cos", "tan"), lambda x: ~(np.abs(x) > points.BOUND[kind]))
    for name, test in {**inside, **bounded}.items():
        columns[name] = [x[test(x)] for x in columns[name]]
    found = measured({points.LOOPS.get(n, n): c for n, c in columns.items()})
    bad = []
    for name, arguments in columns.items():
        with np.errstate(all="ignore"):
            # in float64, as SciPy's float32 functions lose what is huge or tiny
            right = points.NUMPY[name](*(a.astype(np.float64) for a in arguments)).astype(kind)
            if name == "expit":  # SciPy: 0 for the largest numbers
                right = np.where(arguments[0] > 1e4, 1.0, right)
        eps = float(np.finfo(kind).eps) * 16
        ours = found[points.LOOPS.get(name, name)]
        if name == "logaddexp":  # near zero the terms cancel
            with np.errstate(invalid="ignore"):
                ours = np.where(np.abs(ours - right) <= eps * np.abs(arguments[0]), right, ours)
        bad += _differences(name, ours, right, arguments, eps)
    assert not bad


def test_plain_functions_are_exact(plain):
    columns = {n: _grid(plain.kind, count) for n, (_, count) in PLAIN.items()}
    for name in NEAR:
        a, b = _grid(plain.kind, 2)
        rng = np.random.default_rng(3)
        a = np.concatenate([a, rng.normal(0, 100, 1000), np.arange(-500, 500) * 0.1, np.arange(-500.0, 500)])
        b = np.concatenate([b, rng.normal(0, 3, 1000), np.full(1000, 0.1), np.repeat([3.0, -7.0], 500)])
        with np.errstate(all="ignore"):
            a, b = a.astype(plain.kind), b.astype(plain.kind)
            near = ~(np.abs(a) >= np.abs(b) * plain.kind(2.0**51 if plain.kind is np.float64 else 2.0**22))
        columns[name] = [a[near], b[near]]
    found = plain(columns)
    bad = []
    for name, arguments in columns.items():
        with np.errstate(all="ignore"):
            right = (PLAIN[name][0] if name in PLAIN else NEAR[name])(*arguments)
        bad += _differences(name, found[name], right.astype(plain.kind), arguments, 0)
    # which of two equal zeros NumPy takes depends on the processor
    assert not [b for b in bad if not (b[0] in ("maximum", "minimum", "fmax", "fmin", "clip") and b[2] == b[3] == 0)]


# of each function that a test goes with: NumPy's, and what the test must let through
TESTED = {
    **dict.fromkeys(("sin", "cos", "tan", "sinc"), lambda x: np.abs(x) < 5e4),
    **dict.fromkeys(("mod", "floordiv", "fmod"), lambda a, b: np.abs(a) < 1e5 * np.abs(b)),
    **dict.fromkeys(("log", "log2"), lambda x: (x > 1e-18) & (x < 1e18)),
    "exp2": lambda x: np.abs(x) <= 125,
    "pow": lambda x, y: (x > 0.1) & (x < 10) & (np.abs(y) < 7),
    "gammaln": lambda x: (x > 1e-18) & (x < 1e18),
    "digamma": lambda x: x > 0,
}
COUNTS = dict.fromkeys(("pow", "fmod", "mod", "floordiv"), 2)
OF_NUMPY = {**points.NUMPY, "sinc": np.sinc, "fmod": np.fmod, "mod": np.mod, "floordiv": np.floor_divide}


def test_where_a_test_holds_the_function_is_right(tested):
    kind, bad = tested.kind, []
    for name, (function, test) in PARTLY.items():
        rng = np.random.default_rng(4)
        at_random = [rng.uniform(-9, 9, 500), np.exp2(rng.uniform(-140, 127, 500)) * rng.choice([-1, 1], 500)]
        grid = _grid(kind, COUNTS.get(name, 1))
        arguments = [np.concatenate([g, *map(rng.permutation, at_random)]).astype(kind) for g in grid]
        both = tested({function: arguments, test: arguments})
        found, holds = both[function], both[test] == 1.0
        exact = name in ("fmod", "mod", "floordiv")
        with np.errstate(all="ignore"):
            assert np.all(holds[TESTED[name](*arguments)])
            right = OF_NUMPY[name](*(a if exact else a.astype(np.float64) for a in arguments)).astype(kind)
            eps = 0 if exact else float(np.finfo(kind).eps) * 16
            if name in ("sinc", "gammaln"):  # SciPy's, or the argument times pi, is only as near as this to their zeros
                found = np.where(np.abs(found - right) <= eps, right, found)
        bad += _differences(name, found[holds], right[holds], [a[holds] for a in arguments], eps)
    assert not bad


fused = pytest.mark.skipif(not machine.has_fused(), reason="this processor has no fused multiply-add")


@fused
def test_every_loop_is_vectorised(measured, plain):
    assert measured.vector_loops() >= len(measured.names)
    assert plain.vector_loops() >= len(plain.names)


def _apart(x):
    return np.sin(x) + np.cos(x) * np.tan(x)


def _gammas(x):
    return scipy.special.gammaln(x) + scipy.special.digamma(x)


def _remainders(x):
    return np.mod(x, 0.7) + np.floor_divide(x, -1.3) * np.fmod(x, 2.1)


def _mixed(x):
    y = np.zeros_like(x)
    total = 0.0
    for i in range(x.shape[0]):
        y[i] += np.sin(x[i]) * np.sinc(x[i])
        total += np.cos(y[i])
    return y, total


@pytest.mark.parametrize("f", [_apart, _gammas, _remainders, _mixed])
def test_blocks_with_arguments_outside(f, kind):
    x = np.linspace(-3.0, 3.0, 3 * SIZE + 7).astype(kind)
    x[5] = 1e30
    x[2 * SIZE + 1] = -INF
    compiled = tp.jit(f)
    with np.errstate(all="ignore"):
        for given in (x, np.abs(x[6 : SIZE + 9]) + kind(0.01), x[:1], x[:0]):
            ours, right = compiled(given), f(given)
            for a, b in zip(np.broadcast_arrays(*ours) if f is _mixed else [ours], right if f is _mixed else [right]):
                np.testing.assert_allclose(a, b, rtol=2e-5 if kind is np.float32 else 1e-12, atol=1e-6)


def _wave_sum(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += np.sin(x[i])
    return total


@fused
def test_text_of_a_loop_in_blocks():
    text = tp.source(_wave_sum, np.ones(1000), stage="loops")
    assert (
        text.partition("def _wave_sum(x):\n")[2]
        == """\
    n = x.shape[0]
    total = 0.0
    for start in range(0, n, 512):
        end = min(start + 512, n)
        outside = 0.0
        for i in range(start, end):
            outside = vector.joined(outside, vector.outside_bounded(x[np.uint64(i)]))
        if vector.all_inside(outside):
            for i in range(start, end):
                total = total + vector.sin_bounded(x[np.uint64(i)])
        else:
            for i in range(start, end):
                total = total + math.sin(x[np.uint64(i)])
    return total
"""
    )


def _activation(x, w):
    z = np.tanh(x * w) ** 3 + 0.5 * np.maximum(x, 0.0)
    return np.exp(-z) * np.where(x > 0.3, z, 1.0 - z) + np.hypot(x, w) + np.clip(x, 0.1, 0.7) * np.sign(w)


@fused
def test_float32_stays_float32():
    x = np.linspace(-1.0, 1.0, 50, dtype=np.float32)
    text = tp.source(_activation, x, x, stage="loops")
    scope: dict = {}
    exec(text, scope)
    kernel = scope["_activation"]
    kernel.compile("(float32[::1], float32[::1])")
    (code,) = (kernel.inspect_llvm(signature) for signature in kernel.signatures)
    assert "x float>" in code and not re.search(r"fpext|fptrunc|\bdouble\b", code)
    np.testing.assert_allclose(kernel(x, x), _activation(x, x), rtol=2e-6)


def _two_types(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        total += np.sin(x[i]) * np.log(y[i])
    return total


@fused
def test_blocks_of_two_types():
    """Each type of numbers has a test of its own."""
    x, y = np.linspace(-3, 3, 2 * SIZE + 40).astype(np.float32), np.linspace(0.1, 9.0, 2 * SIZE + 40)
    compiled = tp.jit(_two_types)
    assert tp.source(compiled, x, y, stage="loops").count("vector.all_inside(") == 2
    for place, value in ((3, 1e30), (SIZE + 3, np.float32(np.inf)), (0, 0.0)):
        with np.errstate(invalid="ignore", divide="ignore"):
            np.testing.assert_allclose(compiled(x, y), _two_types(x, y), rtol=1e-5)
        x[place], y[-place - 1] = value, value
