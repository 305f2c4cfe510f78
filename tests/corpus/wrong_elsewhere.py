"""What tools in use today get silently wrong or refuse; each with its gradient by hand."""

import math

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("wrong-elsewhere")
program = PROGRAMS.program


@program(
    args=lambda: (normal(3), 2.0, 5.0),
    wrt=(0, 1, 2),
    tags="inplace repeated index",
    expect=(np.array([0.0, 1.0, 1.0]), 0.0, 10.0),
)
def repeated_index_set(x, p, q):
    """Only the last of two writes to one place counts, in the gradient too."""
    y = x.copy()
    y[[0, 0]] = [p, q]
    return np.sum(y) + 9.0 * y[0]


@program(args=lambda: (np.array([1.0, 2.0, 3.0]),), tags="inplace repeated index", expect=np.array([0.0, 0.0, 12.0]))
def repeated_index_set_array(v):
    """The same with an array on the right and three writes."""
    y = np.zeros(2)
    y[[1, 1, 1]] = v
    return y[1] * y[1] + y[0] + 6.0 * y[1]


@program(
    args=lambda: (normal(3), normal(3, seed=1)),
    wrt=(0, 1),
    tags="fanout shared",
    expect=(np.array([3.0, 1.0, 1.0]), np.array([1.0, 1.0, 1.0])),
)
def adjoints_of_a_sum(x, y):
    """The two adjoints of z = x + y must not be one array: x gets more afterwards."""
    a = x[0] * 2.0
    z = x + y
    return np.sum(z) + a


@program(args=lambda: (normal(3), normal(3, seed=1)), wrt=(0, 1), tags="fanout shared inplace")
def adjoints_of_a_stored_sum(x, y):
    """As above through a buffer that is written later."""
    z = x + y
    w = z.copy()
    z[0] = x[0] * y[0]
    return np.sum(w * w) + np.sum(z) + np.sum(x - y)


@program(args=lambda: (2.0,), tags="while scalar", expect=32.0)
def multiply_until(x):
    """x to the fourth: the derivative at 2 is 32."""
    c = 1.0
    while c < 10.0:
        c *= x
    return c


@program(args=lambda: (2.0,), tags="while scalar integer", expect=32.0)
def multiply_integer_until(x):
    """The same from an integer, which becomes a float in the first trip."""
    c = 1
    while c < 10:
        c *= x
    return c


@program(args=lambda: (1.5, 4), tags="for runtime trips scalar", expect=4 * 1.5**3)
def product_over_trips(x, n):
    """A product over a number of trips that is known when it runs."""
    p = 1.0
    for _ in range(n):
        p = p * x
    return p


@program(args=lambda: (3.0, 2), tags="for scalar", expect=2.0 * 3.0 + 3 * 9.0)
def used_around_loop(x, n):
    """A value from before the loop is used after it."""
    y = x * x
    z = 1.0
    for _ in range(n):
        z = z * x
    return y + (z * y) / x


@program(args=lambda: (np.array([1.0, 2.0, -3.0]),), tags="inplace for mutates", expect=np.array([2.0, 4.0, -6.0]))
def square_in_place(y):
    """y[i] = y[i] * y[i] reads what it overwrites."""
    for i in range(len(y)):
        y[i] = y[i] * y[i]
    return np.sum(y)


@program(
    args=lambda: (np.array([1.0, -2.0, 3.0, -4.0]), 4),
    tags="for continue exit",
    expect=np.array([2.0 * 9.0, 0.0, 2.0 * 3.0 * 1.0, 0.0]),
)
def continue_in_dynamic_loop(x, n):
    """A trip that ends early must not be undone as if it had not."""
    p = 1.0
    for i in range(n):
        if x[i] < 0.0:
            continue
        p = p * x[i] * x[i]
    return p


@program(
    args=lambda: (np.array([2.0, 3.0]),), tags="inplace overwrite", expect=np.array([2.0 * 2.0 * 9.0, 2.0 * 4.0 * 3.0])
)
def overwritten_but_needed(x):
    """A product reads y[0]; then y[0] is overwritten by it."""
    y = x.copy()
    y[0] = y[0] * y[1]
    y[1] = 7.0
    return y[0] * y[0]


@program(
    args=lambda: (np.array([-1.0, 0.0, 4.0]),),
    tags="where nan errstate",
    expect=np.array([1.0, 1.0, 0.25]),
    smooth=False,
)
def nan_in_other_branch(x):
    """sqrt has a NaN and an infinite slope where it is not taken."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sum(np.where(x > 0.0, np.sqrt(np.maximum(x, -9.0)), x))


@program(args=lambda: (np.array([0.0, 2.0]),), tags="where nan errstate", expect=np.array([0.0, -0.25]), smooth=False)
def division_in_other_branch(x):
    """1 / x is infinite where it is not taken."""
    with np.errstate(divide="ignore"):
        return np.sum(np.where(x != 0.0, 1.0 / x, 0.0))


@program(args=lambda: (np.zeros(3),), tags="norm convention", smooth=False, expect=np.zeros(3))
def norm_at_zero(x):
    """The Euclidean norm at 0 has the gradient 0."""
    return np.linalg.norm(x)


@program(args=lambda: (0.0, 0.0), wrt=(0, 1), tags="hypot convention scalar", smooth=False, expect=(0.0, 0.0))
def hypot_at_zero(x, y):
    """hypot(0, 0) has the gradient 0."""
    return np.hypot(x, y)


@program(args=lambda: (0.0, 0.0), wrt=(0, 1), tags="hypot convention scalar", smooth=False, expect=(0.0, 0.0))
def math_hypot_at_zero(x, y):
    """The same by the math module."""
    return math.hypot(x, y)


@program(args=lambda: (np.array([0.0, -2.0]),), tags="abs convention", smooth=False, expect=np.array([0.0, -1.0]))
def abs_at_zero(x):
    """|x| at 0 has the derivative 0."""
    return np.sum(np.abs(x))


@program(args=lambda: (np.array([0.0, 4.0]),), tags="sqrt where", smooth=False, expect=np.array([0.0, 0.25]))
def guarded_sqrt_at_zero(x):
    """sqrt at 0, guarded from both sides by where."""
    safe = np.where(x > 0.0, x, 1.0)
    return np.sum(np.where(x > 0.0, np.sqrt(safe), 0.0))


@program(args=lambda: (np.zeros(2),), tags="norm convention inplace", smooth=False, expect=np.zeros(2))
def distance_to_itself(x):
    """The norm of a difference that is zero is an ordinary case among pairs."""
    y = x * 1.0
    d = y - x
    return np.sqrt(np.sum(d * d) + 1.0) + np.linalg.norm(d)


@program(args=lambda: (0.0,), tags="power zero scalar", expect=3.0)
def powers_at_zero(x):
    """x**0, x**1 and x**2 at 0 have finite derivatives."""
    return x**0 + 3.0 * x**1 + x**2


@program(args=lambda: (np.array([1.0, 2.0, 3.0]),), tags="gather repeated", expect=np.array([7.0, 4.0, 0.0]))
def repeated_gather(x):
    """An element that is read several times gets every contribution."""
    index = np.array([0, 1, 0, 0])
    return np.sum(x[index] * np.array([1.0, 4.0, 2.0, 4.0]))


@program(
    args=lambda: (np.array([1.0, 2.0, 3.0]),), tags="gather scatter repeated inplace", expect=np.array([2.0, 0.0, 3.0])
)
def augmented_repeated_index(x):
    """y[[0, 0]] += v adds once only, as NumPy does."""
    y = np.zeros(2)
    y[[0, 0]] += x[[1, 0]]
    return 2.0 * y[0] + 3.0 * x[2]


@program(
    args=lambda: (np.array([1.0, 2.0, 3.0, 4.0]),),
    tags="inplace overlap mutates",
    expect=np.array([2.0, 2.0, 2.0, 1.0]),
)
def overlapping_add(x):
    """x[1:] += x[:-1] is no running sum."""
    x[1:] += x[:-1]
    return np.sum(x)


@program(args=lambda: (2.0, 0), tags="for empty undefined scalar", expect=4.0)
def empty_loop_keeps_value(x, n):
    """What an empty loop would have overwritten stays."""
    y = x * x
    for i in range(n):
        y = 0.0
    return y


@program(args=lambda: (1.0, 3.0), wrt=(0, 1), tags="min max ties scalar", expect=(1.0, 1.0))
def clipped_twice(x, y):
    """Extremes away from a tie choose one side wholly."""
    return np.minimum(x, y) + np.maximum(x, y)


@program(args=lambda: (np.array([0.0, 0.5]),), tags="sinc", expect=np.array([0.0, -4.0 / math.pi]))
def sinc_at_zero(x):
    """sinc is smooth at 0."""
    return np.sum(np.sinc(x))


@program(args=lambda: (1.5, 100.0), wrt=(0, 1), tags="overflow scalar")
def stable_softplus(x, y):
    """logaddexp of large numbers neither overflows nor gives a NaN."""
    return np.logaddexp(0.0, 10.0 * y) + np.logaddexp(x, -10.0 * y)


@program(args=lambda: (np.array([0.7, 0.41, 0.55]),), tags="where nan errstate")
def nan_in_two_branches(x):
    """The square root, a NaN in the middle, is taken in part by one choice and in part by another."""
    with np.errstate(invalid="ignore"):
        root = np.sqrt(x - 0.5)
    return np.sum(np.where(x > 0.5, root, 0.0) * np.where(x > 0.6, root, 1.0))
