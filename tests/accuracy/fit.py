"""Prints the coefficients in `runtime/transpile_runtime/compiled/vector_*.py`: `python tests/accuracy/fit.py [name ...]`.

Each is the polynomial of least weighted maximal error on its interval, found by Remez' exchange in 50 digits. The leading
coefficients are then rounded one after the other, lowest power first, and the rest is fitted again to what they leave.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from mpmath import mp, mpf

mp.dps = 50

Function = Callable[[mpf], mpf]


def _solve(f: Function, weight: Function, nodes: list[mpf], size: int, first: int) -> tuple[list[mpf], mpf]:
    """The polynomial ``x**first * (c0 + c1 x + ...)`` whose weighted error at the nodes alternates."""
    rows, right = mp.matrix(size + 1, size + 1), mp.matrix(size + 1, 1)
    for i, x in enumerate(nodes):
        w = weight(x)
        for j in range(size):
            rows[i, j] = w * x ** (first + j)
        rows[i, size] = (-1) ** i
        right[i] = w * f(x)
    found = mp.lu_solve(rows, right)
    return [found[j] for j in range(size)], abs(found[size])


def _evaluate(coefficients: list[mpf], x: mpf) -> mpf:
    total = mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def remez(f: Function, weight: Function, a: mpf, b: mpf, size: int, first: int = 0) -> tuple[list[mpf], mpf]:
    """Coefficients of the best polynomial, and its weighted error."""
    if size == 0:
        return [], mpf(0)
    nodes = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * (i + mpf(1) / 2) / (size + 1)) for i in range(size + 1)]
    count = 24 * (size + 1)
    grid = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * (i + mpf(1) / 2) / count) for i in range(count)]
    values = [f(x) for x in grid]
    weights = [weight(x) for x in grid]
    error = mpf(0)
    for _ in range(8):
        coefficients, level = _solve(f, weight, nodes, size, first)
        errors = [w * (v - x**first * _evaluate(coefficients, x)) for x, v, w in zip(grid, values, weights)]
        error = max(abs(e) for e in errors)
        if error <= level * mpf("1.02"):
            break
        peaks: list[int] = []
        for i, e in enumerate(errors):  # the largest error of each run of one sign
            if peaks and (errors[peaks[-1]] > 0) == (e > 0):
                if abs(e) > abs(errors[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > size + 1:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        if len(peaks) < size + 1:
            break
        nodes = [grid[i] for i in peaks]
    return coefficients, error


def fit(f: Function, weight: Function, a: object, b: object, size: int, dtype: type, exact: int = 2) -> list[str]:
    """The rounded coefficients, lowest power first."""
    low, high = mp.mpmathify(a), mp.mpmathify(b)
    known: list[mpf] = []

    def left(x: mpf) -> mpf:
        return f(x) - _evaluate(known, x)

    while len(known) < size:
        found, error = remez(left, weight, low, high, size - len(known), len(known))
        known += [mpf(float(dtype(float(c)))) for c in (found[:1] if len(known) < exact else found)]
    print(f"  # error 2**{float(mp.log(error, 2)):.1f}")
    return [repr(float(str(dtype(float(c))))) if dtype is np.float32 else repr(float(c)) for c in known]


def _series(f: Function, order: int, x: mpf) -> mpf:
    """``f`` where it is a quotient that loses its digits near 0."""
    with mp.extradps(40 + 20 * order):
        return f(x if abs(x) > mpf(10) ** -20 else mpf(10) ** -20)


def _tail(order: int) -> Callable[[Function], Function]:
    return lambda f: lambda x: _series(f, order, x)


HALF_LN2 = mp.log(2) / 2 * mpf("1.0001")
QUARTER = mp.pi / 4 * mpf("1.0001")
HALF_PI2 = (mp.pi / 2 * mpf("1.002")) ** 2
S_LIMIT = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf("1.0001")
with mp.extradps(40):
    ROOT = mp.findroot(mp.digamma, 1.46)


def _at_square(f: Function) -> Function:
    return lambda z: f(mp.sqrt(z))


def erfc_scaled(pole: object) -> Function:
    """``erfc(x) exp(x**2) (1 + x)`` of ``t = (x - pole) / (x + pole)``; at 0 it is nearly a float for the poles that are used."""

    def f(t: mpf) -> mpf:
        x = _x(t, pole)
        return mp.erfc(x) * mp.exp(x * x) * (1 + x)

    return f


def _t(x: object, pole: object) -> mpf:
    return (mp.mpmathify(x) - mp.mpmathify(pole)) / (mp.mpmathify(x) + mp.mpmathify(pole))


def _x(t: mpf, pole: object) -> mpf:
    return mp.mpmathify(pole) * (1 + t) / (1 - t)


def erfinv_over(w: mpf) -> mpf:
    """``erfinv(x) / x`` of ``w = -log(1 - x**2)``."""
    with mp.extradps(20):
        if w < mpf(10) ** -20:
            return mp.sqrt(mp.pi) / 2
        x = mp.sqrt(-mp.expm1(-w))
        wanted = mp.log(mp.exp(-w) / (1 + x))  # the logarithm of 1 - x
        y = mp.sqrt(w) * mpf("0.95") if w > 1 else x
        for _ in range(50):  # Newton on log erfc
            rest = mp.erfc(y)
            step = (wanted - mp.log(rest)) * rest * mp.sqrt(mp.pi) * mp.exp(y * y) / 2
            y -= step
            if abs(step) < mpf(10) ** -45:
                break
        return y / x


def erfinv_far(t: mpf) -> mpf:
    """The same of ``t = (sqrt(w) - 4) / (sqrt(w) + 4)``."""
    return erfinv_over(_x(t, 4) ** 2)


def stirling(z: mpf) -> mpf:
    with mp.extradps(30):
        x = 1 / mp.sqrt(z)
        return x * (mp.loggamma(x) - (x - mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def digamma_over(w: mpf) -> mpf:
    """``digamma(ROOT + w) / w``."""
    with mp.extradps(40):
        return mp.digamma(ROOT + w) / w if abs(w) > mpf(10) ** -20 else mp.psi(1, ROOT)


def digamma_tail(z: mpf) -> mpf:
    with mp.extradps(30):
        x = 1 / mp.sqrt(z)
        return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) * x * x


def log2_tail(z: mpf) -> mpf:
    with mp.extradps(60):
        s = mp.sqrt(z)
        return (2 * mp.atanh(s) / s - 2 - 2 * z / 3) / (z * z) / mp.log(2)


E8, E9 = mpf(10) ** -8, mpf(10) ** -9

# name: function, weight, interval, numbers of coefficients for float64 and float32, how many are rounded alone
FITS: dict[str, tuple] = {
    "EXP": (
        _tail(2)(lambda r: (mp.exp(r) - 1 - r) / r**2), lambda r: r * r + mpf("0.03"),
        -HALF_LN2, HALF_LN2 * mpf("1.00001"), 10, 5, 0,
    ),
    "EXP2": (_tail(1)(lambda f: (mpf(2) ** f - 1) / f), lambda f: abs(f) + mpf("0.05"), mpf(-0.5), mpf(0.50001), 11, 6, 0),
    "LOG": (_at_square(_tail(3)(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3)), lambda z: z, E8, S_LIMIT, 7, 3, 2),
    "LOG2": (log2_tail, lambda z: z * z, E8, S_LIMIT, 7, 3, 1),
    "SIN": (_at_square(_tail(3)(lambda r: (mp.sin(r) - r) / r**3)), lambda z: z, E8, HALF_PI2, 8, 4, 2),
    "SIN_SHORT": (_at_square(_tail(3)(lambda r: (mp.sin(r) - r) / r**3)), lambda z: z, E8, QUARTER**2, 6, 3, 2),
    "COS_SHORT": (
        _at_square(_tail(4)(lambda r: (mp.cos(r) - 1 + r * r / 2) / r**4)), lambda z: z * z, E8, QUARTER**2, 6, 3, 2,
    ),
    "ARCTAN": (_at_square(_tail(3)(lambda t: (mp.atan(t) - t) / t**3)), lambda z: z, E8, mpf(1), 20, 8, 2),
    "ARCSIN": (_at_square(_tail(3)(lambda t: (mp.asin(t) - t) / t**3)), lambda z: z, E8, mpf("0.2501"), 12, 5, 2),
    "ERF": (_at_square(_tail(1)(lambda x: mp.erf(x) / x - 1)), lambda z: mpf(1), E8, mpf("0.37"), 10, 5, 2),
    "ERF_FAR": (
        lambda t: mp.erfc(_x(t, 3)) * mp.exp(_x(t, 3) ** 2), lambda t: mp.exp(-_x(t, 3) ** 2), _t(0.59, 3), _t(6, 3), 14, 6, 0,
    ),
    "ERFC": (erfc_scaled("4.0859375"), lambda t: mpf(1), -1 - E9, _t("27.3", "4.0859375"), 23, 0, 0),
    "ERFC_NEAR": (erfc_scaled("1.96875"), lambda t: mpf(1), -1 - E9, _t("10.2", "1.96875"), 0, 10, 0),
    "ERFINV": (erfinv_over, lambda w: 1 / erfinv_over(w), mpf(0), mpf("6.25"), 24, 11, 2),
    "ERFINV_FAR": (erfinv_far, lambda t: 1 / erfinv_far(t), _t("2.5", 4), _t("6.005", 4), 25, 10, 0),
    "GAMMALN": (_tail(1)(lambda u: mp.loggamma(2 + u) / u), lambda u: mpf(1), mpf(-0.5), mpf(0.5), 19, 9, 0),
    "STIRLING": (stirling, lambda z: mp.sqrt(z), E8, mpf("0.16"), 13, 5, 1),
    "DIGAMMA": (digamma_over, lambda w: mpf(1), 1 - ROOT, 2 - ROOT, 22, 10, 0),
    "DIGAMMA_TAIL": (digamma_tail, lambda z: z, E8, mpf(1) / 9, 11, 5, 1),
    "CBRT": (lambda m: m ** (mpf(-1) / 3), lambda m: m ** (mpf(1) / 3), mpf(0.7071), mpf(1.4143), 6, 3, 0),
}  # fmt: skip


def main() -> None:
    names = sys.argv[1:] or list(FITS)
    for name in names:
        f, weight, low, high, double, single, exact = FITS[name]
        for dtype, size in ((np.float64, double), (np.float32, single)):
            if size == 0:
                continue
            suffix = "" if dtype is np.float64 else "_SINGLE"
            print(f"{name}{suffix} = (")
            for c in fit(f, weight, low, high, size, dtype, exact):
                print(f"    {c},")
            print(")")


if __name__ == "__main__":
    main()
