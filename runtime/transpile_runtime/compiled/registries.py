"""Fills Numba's registries of operations: with few at first, with all if these do not suffice.

Numba fills its contexts with all operations on arrays, strings, dicts and random numbers, and imports SciPy's linear algebra
for them: 0.3 s of a fresh process. It repeats this for each array and each intrinsic. `transpile.codegen.llvm` itself
needs only numbers and `math`. So while it writes, the contexts are not refilled, until an operation is unknown, or a function
goes through Numba's own compiler.
"""

from contextlib import contextmanager

from numba.core.base import BaseContext
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

_state = {"is_full": False}


@contextmanager
def compiler():
    """A context that reserves Numba's compiler for this thread; its value is the pair of typing and target context.

    The contexts are created first: whoever creates them holds one of their locks (up to Python 3.11) when requesting this one.
    """
    typing, context = cpu_target.typing_context, cpu_target.target_context
    with global_compiler_lock:
        yield typing, context


@contextmanager
def quiet():
    """A context in which Numba's contexts for the CPU are not refilled with all operations, but have the few of `some`; if they
    are full already, they are refilled as usual."""
    typing, context = cpu_target.typing_context, cpu_target.target_context
    if _state["is_full"]:
        typing.refresh()
        context.refresh()
        yield
        return
    context.refresh = _nothing
    try:
        some(typing, context)
        yield
    finally:
        context.__dict__.pop("refresh", None)


def some(typing, context):
    """Installs, in these two contexts of Numba's, numbers, their operators, `math`, and declarations of modules that are
    imported."""
    from numba.core.imputils import builtin_registry
    from numba.core.runtime import rtsys
    from numba.core.typing import mathdecl
    from numba.cpython import builtins, mathimpl, numbers, tupleobj  # noqa: F401
    from numba.np import arrayobj  # noqa: F401

    rtsys.initialize(cpu_target.target_context)
    context.install_registry(builtin_registry)  # declarations look up the registry in which they define operations
    typing._load_builtins()
    typing.install_registry(mathdecl.registry)
    context.install_registry(builtin_registry)
    context.install_registry(mathimpl.registry)


def all_(typing, context):
    """Installs all of Numba's operations in these two contexts, now and in later refills."""
    _state["is_full"] = True
    for one in (cpu_target.target_context, context):
        one.__dict__.pop("refresh", None)
    typing.refresh()
    BaseContext.refresh(context)


def _nothing():
    pass
