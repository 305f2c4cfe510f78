"""Canonical dotted names of what NumPy, SciPy and Python provide, by identity and by text.

Nothing is imported for a look-up: SciPy is asked only if the user's process has it already, and in static mode its
names are taken as they are written.

>>> import math, numpy as np
>>> known_object(np.abs).name, known_object(math.pi).name, known_object(np.linalg.norm).name
('numpy.absolute', 'math.pi', 'numpy.linalg.norm')
>>> known_path("numpy.max").names
('numpy.max',)
"""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from types import FunctionType, MethodType, ModuleType
from typing import Any

from transpile.frontend.resolve.bindings import Known

# Where an object stands in several, the first names it.
MODULES = (
    "builtins", "numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.lib.stride_tricks", "math", "cmath",
    "operator", "functools", "itertools", "collections", "dataclasses", "copy", "random", "time", "scipy.special",
    "scipy.linalg", "scipy",
)  # fmt: skip
# Roots of modules that are never lifted: what their tables lack is not supported.
ROOTS = frozenset(
    "numpy scipy math cmath operator functools itertools collections dataclasses typing typing_extensions builtins copy"
    " random statistics warnings time enum abc numbers contextlib logging os sys re json pathlib numba transpile"
    " jaxtyping nptyping __future__ types string io pdb pandas matplotlib tqdm sklearn torch jax".split()
)

_VOCABULARY = (
    "transpile.random",
    "transpile_runtime.random",
)  # functions that the tables list by the name of their package


OWN = ("transpile.api", "transpile.at", "transpile.base.intrinsics")
"""Where our functions stand that mean more than their Python text: the transforms, `transpile.stop_gradient`."""

COMPOSITES = "transpile.numpy_api.library_composites"
"""Functions of NumPy's as plain Python that is read as if it were built: its variables have no names of their own in what is
printed, and what it raises for sure is a diagnostic."""

OWN_TEXT = ("transpile.lax", "transpile.tree")
"""Our own vocabulary that is plain Python: what no rule of the frontend's stands for is lifted like a function of the user's."""


SAME = dict.fromkeys(("numba.prange", "numba.misc.special.prange"), "builtins.range")
"""What is Python's under another name: the compiler itself finds the loops whose trips are independent."""


def _own_name(module: str, name: str) -> str:
    """What a function of our own vocabulary is called by its users, or else by its module."""
    package = module.rpartition(".")[0]
    return f"{package}.{name}" if name in getattr(sys.modules.get(package), "__all__", ()) else f"{module}.{name}"


def known_object(obj: Any) -> Known | None:
    """What a live object is known as, or None: functions, classes and float constants of the known modules."""
    for module in MODULES:
        if module in sys.modules:
            found = _table(module).get(id(obj))
            if found is not None:
                return found
    return None


def known_path(dotted: str) -> Known:
    """What a dotted name means: canonical where the module is loaded, as it is written where it is not."""
    if dotted in SAME:
        return known_path(SAME[dotted])
    obj = _walk(dotted)
    found = None if obj is _MISSING else known_object(obj)
    if found is not None and found.name.partition(".")[0] == dotted.partition(".")[0]:
        return found
    value = obj if isinstance(obj, float) else None
    return Known(dotted, value=value)


def exists(dotted: str) -> bool | None:
    """Whether a module that is loaded has the name; None if that cannot be said without importing."""
    root = dotted.partition(".")[0]
    if root == "transpile":
        module, _, name = dotted.rpartition(".")
        return name in import_module(module).__all__ if module in _OWN_MODULES else None
    if root not in ("numpy", "math", "builtins", "operator") or root not in sys.modules:
        return None
    return _walk(dotted) is not _MISSING


_OWN_MODULES = ("transpile", "transpile.lax", "transpile.tree", "transpile.random")


def static_constant(dotted: str) -> tuple[Any] | None:
    """The value of a name that is None, a flag or a string (``np.newaxis``), as a tuple of one; else None."""
    obj = _walk(dotted)
    return (obj,) if obj is None or isinstance(obj, (bool, str)) else None


_MISSING = object()


def _walk(dotted: str) -> Any:
    root, *rest = dotted.split(".")
    obj: Any = sys.modules.get(root, _MISSING)
    for k, name in enumerate(rest):
        if isinstance(obj, ModuleType):
            inner = sys.modules.get(".".join([root, *rest[: k + 1]]))
            obj = vars(obj).get(name, inner if inner is not None else _MISSING)
        else:
            obj = getattr(obj, name, _MISSING)
        if obj is _MISSING:
            return _MISSING
    return obj


@functools.cache
def _table(module: str) -> dict[int, Known]:
    """The objects of a module by identity; they live as long as the process."""
    names: dict[int, list[str]] = {}
    objects: dict[int, Any] = {}
    for name, obj in vars(sys.modules[module]).items():
        if not name.startswith("_") and not isinstance(obj, ModuleType) and (callable(obj) or isinstance(obj, float)):
            names.setdefault(id(obj), []).append(name)
            objects[id(obj)] = obj
    table: dict[int, Known] = {}
    for key, found in names.items():
        obj = objects[key]
        own = getattr(obj, "__name__", None)
        first = own if own in found else min(found, key=lambda n: (len(n), n))
        aliases = tuple(f"{module}.{n}" for n in sorted(found) if n != first)
        table[key] = Known(f"{module}.{first}", aliases, obj if isinstance(obj, float) else None)
    return table


def foreign(obj: Any) -> str | None:
    """The dotted name of a function or class of a known root that no table lists: it is not lifted."""
    module = getattr(obj, "__module__", None) or type(obj).__module__
    root = module.partition(".")[0]
    if isinstance(obj, MethodType) and (owner := public_name(obj.__self__)) is not None:
        return f"{owner}.{obj.__name__}"
    if isinstance(obj, FunctionType) and (root == "builtins" or "__transpile_form__" in obj.__dict__):
        return None  # made by exec, which gives no module; or by vjp or linearize
    if module in OWN:
        return f"transpile.{obj.__name__}"
    if module.startswith(OWN_TEXT) and isinstance(obj, FunctionType) and "." not in obj.__qualname__:
        return _own_name(module, obj.__name__)
    for package in _VOCABULARY:
        if f"{module}.".startswith(f"{package}.") and not obj.__name__.startswith("_"):
            return f"{package}.{obj.__name__}"
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", type(obj).__name__)
    if f"{module}.{name}" in SAME:
        return SAME[f"{module}.{name}"]
    if root in ROOTS - {"transpile"}:
        return f"{module}.{name}"
    return None


def public_name(obj: Any) -> str | None:
    """The dotted name of an object of NumPy or SciPy in their modules, as users write it; None if it is not there.

    >>> import scipy.stats
    >>> public_name(scipy.stats.norm)
    'scipy.stats.norm'
    """
    module = str(getattr(obj, "__module__", None) or type(obj).__module__)
    if module.partition(".")[0] not in ("numpy", "scipy"):
        return None
    package = ".".join(part for part in module.split(".") if not part.startswith("_"))
    members = vars(sys.modules[package]) if package in sys.modules else {}
    name = getattr(obj, "__name__", None) or next((n for n, held in members.items() if held is obj), None)
    return f"{package}.{name}" if name in members else None


def known_value(found: Known) -> Any:
    """The object that a dotted name is: the type ``numpy.float32``, the constant ``math.pi``."""
    if found.value is not None:
        return found.value
    obj = _walk(found.name)
    return found if obj is _MISSING else obj
