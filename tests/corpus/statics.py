"""Static arguments: None, strings, callables, dtypes, flags; branches on them fold."""

import math

import numpy as np

from .program import Collection, normal, positive

PROGRAMS = Collection("static")
program = PROGRAMS.program


@program(args=lambda: (normal(3), None), tags="none")
def optional_missing(x, y):
    """The optional argument is not given."""
    if y is None:
        y = np.ones_like(x)
    return np.sum(x * x * y)


@program(args=lambda: (normal(3), normal(3, seed=1)), wrt=(0, 1), tags="none")
def optional_given(x, y=None):
    """The optional argument is given, and differentiated."""
    z = x * x
    if y is not None:
        z = z * y
    return np.sum(z)


def activate(x, mode):
    """One of several functions by name."""
    if mode == "relu":
        return np.maximum(x, 0.0)
    elif mode in ("tanh", "sigmoid"):
        return np.tanh(x) if mode == "tanh" else 1.0 / (1.0 + np.exp(-x))
    raise ValueError(f"unknown mode {mode!r}")


@program(args=lambda: (normal(4), "tanh"), tags="string")
def mode_string(x, mode):
    """A string chooses; the other sides are not looked at."""
    return activate(x, mode) * activate(x, "relu") + activate(-x, mode="sigmoid")


@program(args=lambda: (normal(3), math.sin), tags="callable")
def callable_argument(x, f):
    """A function is an argument of the differentiated function."""
    total = 0.0
    for v in x:
        total += f(v) * v
    return total


@program(args=lambda: (normal(3), np.float32), tags="type float32", tol=1e-5, smooth=False, expect=3.0 * normal(3) ** 2)
def dtype_argument(x, dtype):
    """A dtype as an argument: float32 in between is too coarse for differences."""
    y = np.zeros(3, dtype=dtype)
    y[:] = x * x
    return np.sum(y.astype(dtype) * np.asarray(x, dtype=dtype))


@program(args=lambda: (normal(2, 3), 1, True), tags="axis flag")
def axis_argument(a, axis, keep):
    """An axis and a flag that the result's rank depends on."""
    s = np.sum(a * a, axis=axis, keepdims=keep)
    return a / s if keep else s


@program(args=lambda: (positive(3), {"order": 2, "name": "log", "offset": 0.5}), tags="dict")
def options(x, config):
    """Settings in a dictionary: names are static, numbers are not."""
    y = x ** config["order"]
    if config["name"] == "log":
        y = np.log(y + config["offset"])
    if "scale" in config:
        y = y * config["scale"]
    return y


@program(args=lambda: (normal(3), 3), tags="unroll tuple")
def static_tuple_loop(x, n):
    """A loop over names and functions unrolls."""
    total = 0.0
    for name, f in (("sin", np.sin), ("exp", np.exp), ("square", lambda t: t * t)):
        y = f(x)
        total = total + (np.sum(y) if name != "exp" else y[0] * n)
    return total


@program(args=lambda: (1.5, "b"), tags="dict table scalar")
def table_of_functions(x, key):
    """A dictionary of functions, looked up by a string."""
    table = {"a": math.sin, "b": lambda t: t**3, "c": abs}
    return table[key](x) + table["a"](x)


@program(args=lambda: (normal(4), (0, 2)), tags="tuple index")
def tuple_of_integers(x, picks):
    """A tuple of indices."""
    i, j = picks
    total = x[i] * x[j]
    for k in picks:
        total = total + x[k + 1] ** 2
    return total


@program(args=lambda: (normal(2, 2), (4,)), tags="shape")
def shape_argument(a, shape):
    """A shape as an argument, and one that is read."""
    b = a.reshape(shape) * 2.0
    return b * np.ones(shape) + a.ravel()[::-1] * a.ndim


DEBUG = False
METHOD = "fast"


@program(args=lambda: (1.2,), tags="global scalar")
def module_switches(x):
    """Flags and strings of the module fold."""
    if DEBUG:
        print("x is", x)
        x = undefined_name(x)  # noqa: F821
    return x * x if METHOD == "fast" else x**2.0
