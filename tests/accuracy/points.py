"""Where the functions are measured: their main interval, all doubles, and where it is hard."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.special

PI = Fraction(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651328230"
    "66470938446095505822317253594081284811174502841027019385211055596446229489549303819644288109756659334461284756482"
)


def closest_to_pi(bits: int, exponents: range) -> np.ndarray:
    """The floats of that many bits that come closest to a multiple of pi / 2: one and some for each exponent."""
    found = []
    for e in exponents:
        # m 2**e / (pi / 2) is nearly whole: the continued fraction of the quotient
        ratio = Fraction(2) ** e / (PI / 2)
        p0, q0, p1, q1, rest = 0, 1, 1, 0, ratio
        for _ in range(80):
            whole = rest.numerator // rest.denominator
            p0, q0, p1, q1 = p1, q1, whole * p1 + p0, whole * q1 + q0
            if q1 >= 2**bits or rest == whole:
                break
            found += [float(Fraction(2) ** e * q1 * k) for k in (1, 3, 7) if q1 * k < 2**bits]
            rest = 1 / (rest - whole)
    return np.array(found)


def _bits(rng: np.random.Generator, n: int, kind: type) -> np.ndarray:
    """Any float, each exponent as often."""
    width = np.dtype(kind).itemsize * 8
    drawn = rng.integers(0, 2**width, n, dtype=np.uint64).astype(f"u{width // 8}").view(kind)
    return np.where(np.isfinite(drawn), drawn, kind(1))


# the main interval for float64 and float32
RANGES = {
    "exp": (-746, 710, -104, 89), "expm1": (-40, 710, -20, 89), "exp2": (-1075, 1024, -150, 128),
    "log": (0, 4, 0, 4), "log1p": (-1, 3, -1, 3), "log2": (0, 4, 0, 4), "log10": (0, 4, 0, 4),
    "sin": (-100, 100, -100, 100), "cos": (-100, 100, -100, 100), "tan": (-100, 100, -100, 100),
    "tanh": (-4, 4, -4, 4), "sinh": (-4, 4, -4, 4), "cosh": (-4, 4, -4, 4),
    "arctan": (-4, 4, -4, 4), "arctan2": (-4, 4, -4, 4), "cbrt": (-10, 10, -10, 10),
    "erf": (-6, 6, -4, 4), "erfc": (-6, 28, -4, 10.2), "expit": (-745, 40, -104, 20),
    "gammaln": (0, 12, 0, 12), "digamma": (0, 12, 0, 12), "pow": (0, 10, 0, 10),
    "arcsin": (-1, 1, -1, 1), "arccos": (-1, 1, -1, 1), "arcsinh": (-4, 4, -4, 4), "arccosh": (1, 4, 1, 4),
    "arctanh": (-1, 1, -1, 1), "erfinv": (-1, 1, -1, 1), "logit": (0, 1, 0, 1), "hypot": (-4, 4, -4, 4), "ndtr": (-38, 9, -14, 6),
    "log_expit": (-20, 745, -20, 104), "logaddexp": (-40, 40, -20, 20), "logaddexp2": (-60, 60, -30, 30),
    "xlogy": (0, 4, 0, 4), "xlog1py": (0, 4, 0, 4), "entr": (0, 4, 0, 4),
}  # fmt: skip
POSITIVE = {"log", "log2", "log10", "gammaln", "digamma", "entr"}
UP_TO_ONE = {"arcsin", "arccos", "arctanh", "erfinv", "logit"}
TWO_ARGUMENTS = {"pow", "arctan2", "hypot", "logaddexp", "logaddexp2", "xlogy", "xlog1py"}
# what `transpile_runtime.compiled.vector` calls the function that is right in a part of the numbers
LOOPS = {"sin": "sin_bounded", "cos": "cos_bounded", "tan": "tan_bounded", "gammaln": "gammaln_normal",
         "digamma": "digamma_positive"}  # fmt: skip
# … and of those that are right everywhere the one that is faster where a test holds, and the test
FASTER = {
    "log": ("log_normal", "outside_normal"), "log2": ("log2_normal", "outside_normal"),
    "exp2": ("exp2_moderate", "outside_moderate"), "pow": ("pow_moderate", "outside_moderate_pow"),
}  # fmt: skip
BOUND = {np.float64: 2.0**36, np.float32: 2.0**16}  # of these

_SPECIAL = "erf erfc erfinv gammaln digamma expit logit ndtr log_expit xlogy xlog1py entr".split()
NUMPY = {
    **{n: getattr(np, n) for n in RANGES if hasattr(np, n)},
    **{n: getattr(scipy.special, n) for n in _SPECIAL},
    "pow": np.power,
}


def points(name: str, n: int, kind: type, seed: int = 1) -> tuple[np.ndarray, ...]:
    """About ``n`` finite arguments at which the function is a number; of `digamma` the positive ones, of `gammaln` those inside of
    `outside_normal`, of the sine and its like those up to `BOUND`."""
    rng = np.random.default_rng(seed)
    low, high = RANGES[name][:2] if kind is np.float64 else RANGES[name][2:]
    if name == "arctan2":
        return _pairs(rng, n, kind)
    if name == "pow":
        return _powers(rng, n, kind)
    if name in TWO_ARGUMENTS:
        return _around(name, rng, n, kind, low, high)
    tiny = float(np.finfo(kind).smallest_subnormal)
    parts = [
        rng.uniform(low, high, n // 2),
        np.exp2(rng.uniform(-30, 30, n // 10)) * rng.choice([-1.0, 1.0], n // 10),
        rng.uniform(-2, 2, n // 10),
        1 + rng.uniform(-1, 1, n // 20) * np.exp2(rng.uniform(-52, 0, n // 20)),
        2 + rng.uniform(-1, 1, n // 20) * np.exp2(rng.uniform(-52, 0, n // 20)),
        tiny * np.floor(np.exp2(rng.uniform(0, 22, n // 40))),
    ]
    if name in ("sin", "cos", "tan"):
        bits, exponents = (53, range(-60, 972)) if kind is np.float64 else (24, range(-24, 104))
        parts += [closest_to_pi(bits, range(exponents.start, exponents.stop, 12 if n < 10**5 else 1))]
        k = rng.integers(1, 2**20, n // 20)
        parts += [k * (np.pi / 2), np.nextafter(k * (np.pi / 2), 0)]
    with np.errstate(over="ignore"):
        x = np.concatenate(parts).astype(kind)
    x = np.concatenate([x, _bits(rng, max(n - x.size, n // 20), kind)])
    if name in POSITIVE:
        x = np.abs(x)
        x = x[x > 0]
    if name == "gammaln":
        least = 2.0**-511 if kind is np.float64 else 2.0**-63
        x = x[(x >= least) & (x < 1 / least)]
    if name in UP_TO_ONE:
        with np.errstate(all="ignore"):
            x = np.where(np.abs(x) < 1, x, 1 / x).astype(kind)
        x = x[np.abs(x) < 1]
        x = x[x > 0] if name == "logit" else x
    if name == "arccosh":
        with np.errstate(all="ignore"):
            x = np.where(np.abs(x) > 1, np.abs(x), 1 / np.abs(x)).astype(kind)
    if name in ("sin", "cos", "tan"):
        x = x[np.abs(x) <= BOUND[kind]]
    if name == "log1p":
        x = np.where(x > -1, x, -1 / np.where(x < -1, x, kind(2))).astype(kind)
        x = x[x > -1]
    return (x[np.isfinite(x)],)


def _pairs(rng: np.random.Generator, n: int, kind: type) -> tuple[np.ndarray, ...]:
    half = n // 2
    y = np.concatenate([rng.uniform(-4, 4, half).astype(kind), _bits(rng, n - half, kind)])
    x = np.concatenate([rng.uniform(-4, 4, half).astype(kind), _bits(rng, n - half, kind)])
    near = slice(half, half + n // 4)
    with np.errstate(over="ignore"):
        x[near] = y[near] * np.exp2(rng.uniform(-60, 60, x[near].size)).astype(kind)
    keep = np.isfinite(x) & (x != 0) & (y != 0)
    return y[keep], x[keep]


def _around(name: str, rng: np.random.Generator, n: int, kind: type, low: float, high: float) -> tuple[np.ndarray, ...]:
    """Both in the main interval, of any size, and one of any size with one near it."""
    third = n // 3
    x, y = (np.concatenate([rng.uniform(low, high, third).astype(kind), _bits(rng, n - third, kind)]) for _ in range(2))
    near = slice(third, 2 * third)
    with np.errstate(all="ignore"):
        y[near] = x[near] * (1 + rng.uniform(-1, 1, third) * np.exp2(rng.uniform(-50, 4, third))).astype(kind)
        y = np.abs(y) if name in ("xlogy", "xlog1py") else y
        found = NUMPY[name](x.astype(np.float64), y.astype(np.float64))
    keep = np.isfinite(x) & np.isfinite(y) & np.isfinite(found) & (x != 0) & (y != 0) & (found != 0)
    if name.startswith("logaddexp"):  # where the terms cancel, nobody is right
        keep &= np.abs(found) > np.maximum(np.abs(x), np.abs(y)) / 2
    return x[keep], y[keep]


def _powers(rng: np.random.Generator, n: int, kind: type) -> tuple[np.ndarray, ...]:
    third = n // 3
    top = 1075 if kind is np.float64 else 150
    wide = np.abs(_bits(rng, n - 2 * third, kind)).astype(np.float64)
    near = 1 + rng.uniform(-1, 1, third) * np.exp2(rng.uniform(-50, -1, third))
    x = np.concatenate([rng.uniform(0, 10, third), near, wide]).astype(kind)
    x = x[(x > 0) & (x != 1)]
    # results of any size, and small ones
    with np.errstate(all="ignore"):
        y = (rng.uniform(-top, top, x.size) / np.log2(x.astype(np.float64))).astype(kind)
    y[: third // 2] = rng.uniform(-5, 5, third // 2)
    keep = np.isfinite(y) & (y != 0)
    return x[keep], y[keep]
