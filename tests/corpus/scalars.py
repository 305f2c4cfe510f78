"""Scalars: the math module, Python's builtins, comparison and boolean operators."""

import math

import numpy as np

from .program import Collection, normal, positive, spread

PROGRAMS = Collection("scalar")
program = PROGRAMS.program


@program(args=lambda: (0.6,), tags="math")
def trigonometry(x):
    """Circular functions and their inverses."""
    a = math.sin(x) + math.cos(x) * math.tan(x)
    b = math.asin(x) * math.acos(0.5 * x) + math.atan(x)
    return a * b + math.atan2(x, 1.5) * math.hypot(x, 2.0)


@program(args=lambda: (1.6,), tags="math")
def hyperbolic(x):
    """Hyperbolic functions and their inverses."""
    a = math.sinh(x) / math.cosh(x) - math.tanh(2.0 * x)
    return a + math.asinh(x) * math.acosh(x) + math.atanh(0.3 * x)


@program(args=lambda: (1.6,), tags="math")
def exponentials(x):
    """Exponentials, logarithms, roots and powers."""
    a = math.exp(-x) + math.expm1(x) * math.log(x) + math.log1p(x)
    b = math.log2(x) + math.log10(x) + math.log(x, 3.0)
    return a * b + math.sqrt(x) + math.pow(x, 2.5)


@program(args=lambda: (1.3,), tags="math special")
def gamma_and_erf(x):
    """The special functions of the math module."""
    return math.gamma(x) + math.lgamma(x + 1.0) * math.erf(x) - math.erfc(0.5 * x)


@program(args=lambda: (2.7, -1.2), wrt=(0, 1), tags="math")
def parts_of_numbers(x, y):
    """fabs, copysign, fmod, degrees, radians, floor, ceil and trunc."""
    a = math.fabs(y) + math.copysign(x, y) + math.fmod(x, 1.5)
    b = math.degrees(y) / 100.0 + math.radians(x)
    return a * b + math.floor(x) * y + math.ceil(y) * x + math.trunc(x)


@program(args=lambda: (2.3, -0.7, 1.1), wrt=(0, 1, 2), tags="builtin")
def smallest_and_largest(x, y, z):
    """min, max and abs of two and three numbers."""
    return max(x, y) * min(x, y, z) + abs(y) * max(x * y, z, 0.0)


@program(args=lambda: (1.7, -2.2), wrt=(0, 1), tags="builtin")
def powers(x, y):
    """pow and ** with an integer, a number and an active exponent."""
    return pow(x, 3) + x**y + pow(2.0, y) + x**-1 + y**2 + x**0


@program(args=lambda: (7.3, 2.1), wrt=(0, 1), tags="builtin")
def whole_division(x, y):
    """//, % and divmod: the quotient is locally constant."""
    q, r = divmod(x, y)
    return q * x + r * r + (x // y) * y + (-x) % y


@program(args=lambda: (2.6,), tags="builtin")
def conversions(x):
    """int, float, bool and round: what has no derivative contributes none."""
    n = int(x)
    near = round(x)
    flag = bool(n)
    return float(n) * x + near * x**2 + (x if flag else 0.0) + round(x, 1) * 0.0


@program(args=lambda: (normal(4),), tags="builtin array")
def sums(x):
    """sum, len, min and max of an array and of a list."""
    parts = [x[0] * x[1], x[2] ** 2, x[3]]
    return sum(x) * len(x) + sum(parts, 1.0) + max(parts) * min(x)


@program(args=lambda: (normal(4),), tags="builtin genexp any all")
def any_and_all(x):
    """any, all and sum over generated values."""
    total = sum(v * v for v in x)
    if any(v > 0.0 for v in x) and not all(v > 0.0 for v in x):
        total = total * x[0]
    return total


@program(args=lambda: (1.7, -0.6, 0.9), wrt=(0, 1, 2), tags="builtin sorted unpack")
def sorted_numbers(x, y, z):
    """sorted gives the values back in another order."""
    low, middle, high = sorted([x, y, z])
    top, *rest = sorted((x * y, y, z), reverse=True)
    return low * middle**2 + high / 2.0 + top * rest[0]


@program(args=lambda: (0.6, 1.4), wrt=(0, 1), tags="compare")
def chained_comparison(x, y):
    """The middle of a chain is computed once."""
    if 0.0 < x * y < 1.0 <= y:
        return x * y
    return x - y if not (x < y < 1.0) else x


@program(args=lambda: (0.6, 1.4), wrt=(0, 1), tags="and or value")
def values_of_and_or(x, y):
    """and / or give one of their operands."""
    a = max(x - 1.0, 0.0) or y
    b = x and y * x
    c = 0.0 or x * x
    return a * b + c


@program(args=lambda: (0.6,), tags="walrus")
def walrus(x):
    """An assignment within an expression, and in a test."""
    y = (a := x * x) + a
    if (b := math.sin(y)) > 0.0:
        return a * b
    return b


@program(args=lambda: (1.3, 2), tags="isinstance")
def type_tests(x, k):
    """isinstance is decided by the types."""
    if isinstance(k, int):
        x = x * k
    if isinstance(x, (int, str)):
        return 0.0 * x
    return x * x if isinstance(x, float) else x


@program(args=lambda: (1.3,), tags="numpy scalar")
def numpy_scalars(x):
    """NumPy functions of a Python number."""
    a = np.float64(x) * np.sqrt(x)
    b = np.maximum(x, 0.5) + np.square(x) - np.sign(x) * np.cbrt(x)
    return a / b + np.power(x, 3) + np.clip(x, 0.0, 2.0)


@program(args=lambda: (spread(5),), tags="numpy array")
def elementwise_array(x):
    """Elementwise functions of arrays with sides."""
    a = np.abs(x) + np.maximum(x, 0.2) * np.minimum(x, 0.3)
    b = np.where(x > 0.0, np.exp(-x), x * x) + np.clip(x, -0.8, 0.9)
    return a * b + np.heaviside(x, 0.5) * x + np.sign(x)


@program(args=lambda: (positive(4), normal(4)), wrt=(0, 1), tags="numpy array binary")
def binary_array(x, y):
    """Functions of two arrays."""
    a = np.arctan2(x, y) + np.hypot(x, y) + np.logaddexp(x, y)
    b = np.power(x, y) + np.float_power(x, 1.5) + np.fmax(x, y) * np.copysign(x, y)
    return a * b + np.fmod(y, 0.7) + np.logaddexp2(x, y)


@program(args=lambda: (1.3,), tags="bool arithmetic")
def booleans_as_numbers(x):
    """Truth values take part in arithmetic."""
    inside = x > 1.0
    return x * inside + (x < 0.0) * x**2 + (not inside) + True * x


@program(args=lambda: (0.7,), tags="unary constants")
def signs_and_constants(x):
    """Unary operators, constants and infinite bounds."""
    y = -x + +x * -2.0
    bound = math.inf
    if y < bound and not math.isnan(y) and math.isfinite(y):
        y = -((-y) ** 2)
    return y + math.tau * x + math.e


@program(args=lambda: (2.0, 20), tags="math loop")
def sine_series(x, n):
    """Factorials that feed floats only: the last ones have more than 64 bits."""
    return sum((-1.0) ** r * x ** (2 * r + 1) / math.factorial(2 * r + 1) for r in range(n))


@program(args=lambda: (0.7, 12), tags="loop")
def binomial_sum(x, n):
    """Integers that a loop carries and a branch sets back."""
    total, weight, count = 0.0, 1, 0
    for k in range(n):
        total += weight * x**k * math.comb(n, k)
        weight = (3 * weight + k) % 1009
        count = count + 1 if weight % 2 == 0 else 0
    return total + count * x
