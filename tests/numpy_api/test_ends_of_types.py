"""Every elementwise function compiled, at the ends of every dtype that it takes: the largest and the least numbers, what is next to
them, zeros, infinities, NaN, and all pairs of these. What is right is what NumPy and SciPy give."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import special

import transpile as tp
from transpile.errors import TranspileError

pytestmark = pytest.mark.numba

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
ALL = ("bool", *SIGNED, *UNSIGNED, "float32", "float64")
MIXED = (
    ("int64", "float64"), ("float64", "int64"), ("float32", "int32"), ("int8", "uint64"), ("int64", "uint64"), ("uint64", "int64"),
)  # fmt: skip
KNOWN = {  # where NumPy or SciPy have what we have not
    "np.reciprocal": lambda a: a == 0,  # of integers: what C leaves open
    "np.ldexp": lambda a, n: np.abs(1.0 * n) > 5000,
    "sp.gammaln": lambda x: np.isneginf(1.0 * x) | (0 < np.abs(1.0 * x)) & (np.abs(1.0 * x) < 1e-37),  # a rounded pole
    "sp.pseudo_huber": lambda d, r: _is_far(d) | _is_far(r),  # what overflows on the way
    "sp.betainc": lambda a, b, x: _is_far(a) | _is_far(b) | (x.dtype == np.float32),  # SciPy's float32 loses small ones
}
NO_SIGN = ("np.fmax", "np.fmin", "np.maximum", "np.minimum")  # either one of two zeros
OTHER = ("sp.exp10",)  # of another dtype in each SciPy
SMALL = set("bool int8 uint8 int16 uint16".split())
"""Of which SciPy's functions make float32 or float64, by its version."""
QUICK = (
    ("np.fmax", ("float64", "int64")), ("np.lcm", ("int64", "int64")), ("np.gcd", ("uint64", "uint64")), ("np.conj", ("bool",)),
    ("np.left_shift", ("uint64", "uint64")), ("np.fmod", ("uint64", "uint64")), ("np.bitwise_count", ("int8",)),
    ("np.less", ("int64", "uint64")), ("np.equal", ("uint64", "int64")), ("sp.huber", ("int8", "int8")),
)  # fmt: skip


def _is_far(x: np.ndarray) -> np.ndarray:
    size = np.abs(1.0 * x)
    return (size != 0) & ~((1e-30 < size) & (size < 1e30))


def points(dtype: str) -> np.ndarray:
    if dtype == "bool":
        return np.array([False, True])
    if "int" in dtype:
        ends = np.iinfo(dtype)
        near = {
            *map(int, "0 1 2 3 7 8 31 33 63 64 -1 -2 -9".split()),
            *(end + d for end in (ends.min, ends.max) for d in (0, 1, -1)),
        }
        near |= {ends.max // 2, ends.max // 2 + 1}
        return np.array(sorted(n for n in near if ends.min <= n <= ends.max), dtype)
    ends = np.finfo(dtype)
    near = [
        *map(float, "0 0.5 1 1.5 2 2.5 3 4.5 33.25 170.5 709.9 10000.5 1e17 inf".split()),
        1e15 + 0.5,
        2.0**53,
        2.0**63,
    ]
    near += [float(x) for x in (ends.max, ends.max / 2, ends.tiny, ends.smallest_subnormal, ends.eps, ends.eps / 4)]
    return np.array([s * x for x in near for s in (1.0, -1.0)] + [np.nan], dtype)


def functions() -> Iterator[str]:
    """Those with one or two arguments, and SciPy's with three, that are known."""
    for prefix, module in (("np", np), ("sp", special)):
        for name in dir(module):
            made = getattr(module, name)
            if (
                isinstance(made, np.ufunc)
                and made.nin <= 3
                and not made.signature
                and made.__name__ == name.strip("_")
                and _is_known(prefix, made)
            ):
                yield f"{prefix}.{name}"


def _is_known(prefix: str, made: np.ufunc) -> bool:
    try:
        tp.source(_function(f"{prefix}.{made.__name__}", made.nin), *[np.ones(1, "float64")] * made.nin)
    except TranspileError as e:
        return "T130" not in str(e)
    return True


def _function(name: str, count: int):
    letters = ", ".join("abc"[:count])
    return tp.from_source(
        f"import numpy as np\nimport scipy.special as sp\n\ndef f({letters}):\n    return {name}({letters})\n"
    )


def _kinds(count: int) -> tuple[tuple[str, ...], ...]:
    if count == 1:
        return tuple((t,) for t in ALL)
    return (*((t, t) for t in ALL), *MIXED) if count == 2 else (("float64",) * 3, ("float32",) * 3, ("int64",) * 3)


def faults(name: str, kinds_of_all: tuple[tuple[str, ...], ...] = ()) -> list[str]:
    prefix, _, short = name.partition(".")
    made = getattr(np if prefix == "np" else special, short)
    compiled, found = tp.jit(_function(name, made.nin)), []
    for kinds in kinds_of_all or _kinds(made.nin):
        grids = np.meshgrid(*(points(k)[:: 2 if made.nin == 3 else 1] for k in kinds), indexing="ij")
        args = [np.ascontiguousarray(g.ravel()) for g in grids]
        left_out = KNOWN.get(name, lambda *a: np.zeros(a[0].shape, bool))(*args)
        args = [a[~left_out] for a in args]
        try:
            wanted = made(*args)
        except (TypeError, ValueError, OverflowError):
            continue
        try:
            got = compiled(*args)
        except TranspileError as e:
            if "Numba has no float16" not in str(e):
                found.append(f"{kinds}: {e}")
            continue
        for w, g in zip(*(x if isinstance(x, tuple) else (x,) for x in (wanted, got)), strict=True):
            if w.dtype != g.dtype and not (prefix == "sp" and set(kinds) <= SMALL):
                found.append(f"{kinds}: {g.dtype}, expected {w.dtype}")
            same = _is_same(w, g) | ((w == 0) & (g == 0) if name in NO_SIGN else False)
            wrong = np.flatnonzero(~same)
            found += [f"{kinds}: of {[a[k] for a in args]} {g[k]}, expected {w[k]}" for k in wrong[:3]]
    return found


def _is_same(wanted: np.ndarray, got: np.ndarray) -> np.ndarray:
    if wanted.dtype.kind != "f":
        return wanted == got
    single = wanted.dtype.itemsize < 8 or got.dtype.itemsize < 8
    near = np.abs(wanted - got) <= (3e-5 if single else 1e-8) * np.abs(wanted) + 4 * float(np.finfo(wanted.dtype).tiny)
    is_zero = (wanted == 0) & (got == 0)
    return (
        (wanted == got) & (~is_zero | (np.signbit(wanted) == np.signbit(got)))
        | np.isnan(wanted) & np.isnan(got)
        | near & ~is_zero
    )


FUNCTIONS = sorted(set(functions()) - set(OTHER))


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_ends_of_types(name: str) -> None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = faults(name)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("name", "kinds"), QUICK)
def test_a_few_ends(name: str, kinds: tuple[str, ...]) -> None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = faults(name, (kinds,))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("x", [-1e300, -np.inf, -1e17, -1e12 - 0.5, -1e6 - 0.5, -12.5, -3.0])
def test_polygamma_far_below(x: float) -> None:
    trigamma = tp.jit(tp.from_source("import scipy.special\n\ndef f(x):\n    return scipy.special.polygamma(1, x)\n"))
    pole = np.pi**2 / np.sin(np.pi * x) ** 2 if x != np.floor(x) else np.inf  # reflection, DLMF 5.15.6
    np.testing.assert_allclose(
        trigamma(np.array([x])), [pole - special.polygamma(1, 1.0 - x) if np.isfinite(pole) else pole]
    )
