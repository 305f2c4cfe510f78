"""What to do about a call that is not supported: the hint of each T130, by what is called."""

from __future__ import annotations

import difflib
import sys
from typing import Any

import numpy as np

from transpile.numpy_api.entries import entries

LIBRARIES = {
    "jax": "JAX", "jaxlib": "JAX", "torch": "PyTorch", "tensorflow": "TensorFlow", "cupy": "CuPy", "autograd": "Autograd",
    "mxnet": "MXNet", "paddle": "Paddle", "warp": "Warp",
}  # fmt: skip
"""Libraries with arrays of their own, by the names of their packages."""

_PUBLIC = ("jax.numpy", "jax.scipy.special", "jax.scipy.linalg", "jax.nn", "jax.lax", "jax", "torch", "autograd.numpy")
_NUMPYS = ("jax.numpy.", "autograd.numpy.", "cupy.", "torch.", "tensorflow.math.", "tensorflow.", "jax.lax.")
_SOLVERS = ("scipy.optimize.", "scipy.integrate.", "scipy.sparse.linalg.", "scipy.interpolate.")
_EFFECTS = frozenset("open input exec eval compile __import__ breakpoint globals locals vars setattr delattr".split())
OUTSIDE = "compute it outside of the function and pass it as an argument"
CALLABLE = "call a function, a method, a class, or an object with __call__"
SUPER = "call it in a method whose first parameter is the object, or write Base.method(self, ...)"
IN_LINE = (
    "call it outside; a transformed function can call grad, value_and_grad, jacfwd, jacrev, hessian, vmap, jvp, vjp, hvp, "
    "linearize and linear_transpose"
)
TREES = "work on its parts, or on all of them at once: tp.tree.map(lambda p, g: p - 0.1 * g, params, grads)"
STARS = "pass a dict after '**', and a list or tuple after '*'"
LOOP = "write a loop"


def of_call(name: str) -> str:
    """What to do instead of calling what has this dotted name."""
    package, _, rest = name.partition(".")
    last = rest.rpartition(".")[2] or package
    if package in LIBRARIES:
        return _of_library(name, package)
    if name.startswith(("numpy.random.", "random.")):
        return "draw random numbers from a key, tp.random.normal(key, shape), or outside of the function, and pass them"
    if name.startswith(_SOLVERS):
        return "call it outside of the function, with jac=tp.jit(tp.grad(f)), or write the iteration as a loop"
    found = _of_object(name, package)
    if found:
        return found
    if package == "builtins" and last in _EFFECTS:
        return "call it outside of the function, and pass the result as an argument"
    if name in ("builtins.set", "builtins.frozenset"):
        return "use np.unique for distinct values"
    if package in ("numpy", "scipy", "math", "builtins"):
        near = difflib.get_close_matches(last, _names(package), 1, 0.75)
        is_near = bool(near) and near[0][0] == last[0] and package != "builtins"
        also = f"{package.replace('numpy', 'np')}.{near[0]} is supported; otherwise " if is_near else ""
        return f"{also}write it in Python (loops are fast), or {OUTSIDE}"
    return f"write it in Python, or {OUTSIDE}"


def _of_object(name: str, package: str) -> str:
    """What to do instead of calling what belongs to an object of a library that is no array."""
    own = next((hint for start, hint in _OBJECTS.items() if name == start or name.startswith(f"{start}.")), "")
    is_method = package == "builtins" and name.count(".") > 1
    if is_method and name.split(".")[1] in ("set", "frozenset"):
        return "use a list or a dict; a set can only be read in the function (x in s, len(s), for x in s)"
    return own


_LOG = "log the result outside of the function; print(...) is supported inside"
_OBJECTS = {
    "logging": _LOG,
    "warnings": "warn outside of the function; print(...) is supported inside",
    "pandas": "pass the numbers as arrays: frame['x'].to_numpy()",
    "polars": "pass the numbers as arrays: frame['x'].to_numpy()",
    "scipy.sparse": "pass A.toarray(), or A.data, A.indices and A.indptr with a loop over the rows",
    "matplotlib": "return the values, and plot them outside of the function",
}
"""By the module of a library, or the start of its name: the way out for what is no function of numbers."""


def _names(package: str) -> list[str]:
    """The functions of the package that are supported, those of modules in it left out."""
    start = f"{package}."
    return [n[len(start) :] for n in entries() if n.startswith(start) and "." not in n[len(start) :]]


def _of_library(name: str, package: str) -> str:
    own = next((name.removeprefix(p) for p in _NUMPYS if name.startswith(p)), "")
    what = f"write np.{own}" if callable(getattr(np, own, None)) else "write it with NumPy"
    return f"{what}: arrays are NumPy's here, and functions of {LIBRARIES[package]} have no source to transform"


def library_name(held: Any) -> str | None:
    """The public dotted name of a function, or of an object that is called, of one of these libraries."""
    module = str(getattr(held, "__module__", "") or type(held).__module__)
    package = module.partition(".")[0]
    if package not in LIBRARIES:
        package = type(held).__module__.partition(".")[0]
    if package not in LIBRARIES:
        return None
    name = str(getattr(held, "__name__", type(held).__name__))
    for public in _PUBLIC:
        if public.partition(".")[0] == package and getattr(sys.modules.get(public), name, None) is held:
            return f"{public}.{name}"
    return f"{package}.{name}"
