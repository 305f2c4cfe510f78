"""Straight-line programs: names, rebinding, fan-out, unused and unchanged values."""

import math

import numpy as np

from .program import Collection, normal, positive

PROGRAMS = Collection("straight")
program = PROGRAMS.program

RATE = 0.75
SCALE = 2.5
WEIGHTS = np.array([0.5, -1.0, 2.0, 0.25])


@program(args=lambda: (1.3,), tags="scalar")
def cubic(x):
    """Arithmetic of Python floats."""
    return 3 * x**3 - 2 * x**2 + x / 4 - 1


@program(args=lambda: (1.3, -0.4, 2.1), wrt=(0, 1, 2), tags="scalar")
def quotient(x, y, z):
    """Three differentiated arguments, each used more than once."""
    top = x * y + z
    bottom = x * x + y * y + 1.0
    return top / bottom - z / (top + 3.0)


@program(args=lambda: (normal(4), normal(4, seed=1)), wrt=(0, 1), tags="array")
def weighted_energy(x, y):
    """Elementwise expressions that end in a sum."""
    d = x - y
    return np.sum(np.exp(-d * d) * np.sin(x) + 0.5 * y)


@program(args=lambda: (normal(3),), tags="array")
def array_result(x):
    """The result is an array: the harness contracts it."""
    return np.tanh(x) * x + 2.0


@program(args=lambda: (1.7,), tags="rebinding scalar")
def rebinding(x):
    """One name for several values: each definition is another variable."""
    x = x * x
    y = x + 1.0
    x = math.sin(x) * y
    x = x * y
    return x


@program(args=lambda: (0.8,), tags="augmented scalar")
def augmented_scalar(x):
    """Augmented assignment of scalars rebinds."""
    y = x
    y += 2.0
    y *= x
    y -= 1.0
    y /= x + 3.0
    y **= 2
    return x * y


@program(args=lambda: (0.8, 1.9), wrt=(0, 1), tags="unpack scalar")
def several_targets(x, y):
    """Tuple and chained assignment."""
    a, b = x + y, x * y
    c = d = a * b
    a, b = b, a
    (p, q), r = (a, c), d
    return p * q + r / b


@program(args=lambda: (normal(3),), tags="fanout array")
def fan_out(x):
    """One value read by many: its adjoint is a sum."""
    a = np.exp(x)
    b = a * a
    c = a + b
    d = a * c
    return np.sum(a + b * c + d)


@program(args=lambda: (1.1, 2.2), wrt=(0, 1), tags="unused scalar", expect=(5.0, 0.0))
def unused_argument(x, y):
    """A differentiated argument that reaches nothing has the gradient zero."""
    spare = y * x
    return 5.0 * x


@program(args=lambda: (normal(3),), tags="constant", expect=np.zeros(3))
def constant_result(x):
    """Nothing differentiated reaches the result."""
    return 4.0


@program(args=lambda: (normal(3),), tags="identity array")
def same_object(x):
    """The argument itself is the result: the gradient must not share the cotangent's memory."""
    return x


@program(args=lambda: (1.4,), tags="identity scalar tuple")
def repeated_result(x):
    """One value twice in the result."""
    y = x * x
    return y, y, x


@program(args=lambda: (positive(4),), tags="inactive array")
def inactive_middle(x):
    """Integers and shapes between active values have no adjoint."""
    n = len(x)
    half = n // 2
    steps = np.arange(n)
    weight = 1.0 / (1.0 + steps)
    return np.sum(weight * np.log(x)) * half


@program(args=lambda: (normal(4),), tags="global captured array")
def module_constants(x):
    """Module constants and a captured array."""
    return SCALE * np.sum(WEIGHTS * np.sin(RATE * x)) * math.pi


@program(args=lambda: (1.2,), tags="annotation assert print effect scalar")
def annotated(x: float) -> float:
    """Annotations, an assertion, a print and a pass."""
    y: float = x * x
    z: float
    assert y > 0.0, "y must be positive"
    z = math.sqrt(y + 1.0)
    if z < 0.0:
        raise ValueError(f"z is {z}")
    print(f"z = {z:.3f}")
    pass
    return z * y


@program(args=lambda: (positive(3),), tags="errstate with array")
def quiet_division(x):
    """A `with np.errstate` around active statements."""
    with np.errstate(divide="ignore", invalid="ignore"):
        y = 1.0 / x
        z = np.log(y + 1.0)
    return np.sum(y * z)


@program(args=lambda: (normal(3),), tags="method array")
def chained_methods(x):
    """Methods on arrays, chained."""
    return (x * x).reshape(3, 1).sum(axis=1).dot(x).item() + x.mean()


@program(args=lambda: (normal(3), 2.0), wrt=(0, 1), tags="broadcast array scalar")
def scalar_times_array(x, s):
    """A scalar that meets an array: its adjoint is a sum over the array."""
    return s * x + x / s - s


@program(args=lambda: (normal(3), normal(2, seed=1)), wrt=(0, 1), tags="broadcast array")
def outer_by_broadcast(x, y):
    """A row meets a column: both adjoints are un-broadcast."""
    return np.sum(np.cos(x[:, None] * y) + y)


@program(args=lambda: (np.array(1.5), np.array([0.7])), wrt=(0, 1), tags="rank0 broadcast")
def rank_zero(x, y):
    """A 0-d array and an array of one element."""
    return x * y + np.sin(x) * y**2


@program(args=lambda: (np.zeros((0,)), 1.5), wrt=(0, 1), tags="empty array")
def nothing_to_sum(x, y):
    """An array without elements has an empty gradient."""
    return np.sum(x * y) + y * y
