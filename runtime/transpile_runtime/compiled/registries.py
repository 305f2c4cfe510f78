"""What Numba knows of operations: a little of it at first, all of it where that is not enough.

Numba fills its contexts with everything that it has for arrays, strings, dicts and random numbers, and imports SciPy's linear
algebra for it: 0.3 s of a fresh process. It does so again and again: for each array that it meets, and each intrinsic. What
`transpile.codegen.llvm` writes by itself wants numbers and `math` only. So while it writes, the contexts ask for nothing, until
something is not known, or a function goes through Numba's own compiler.
"""

from contextlib import contextmanager

from numba.core.base import BaseContext
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

_state = {"is_full": False}


@contextmanager
def compiler():
    """Numba's compiler for this thread alone.

    Its contexts are made before: who makes them holds a lock of theirs (up to Python 3.11) when it asks for this one.
    """
    typing, context = cpu_target.typing_context, cpu_target.target_context
    with global_compiler_lock:
        yield typing, context


@contextmanager
def quiet():
    """The contexts of the CPU, as they are filled now."""
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
    """Numbers, their operators, `math`, and what was declared in modules that are imported."""
    from numba.core.imputils import builtin_registry
    from numba.core.runtime import rtsys
    from numba.core.typing import mathdecl
    from numba.cpython import builtins, mathimpl, numbers, tupleobj  # noqa: F401
    from numba.np import arrayobj  # noqa: F401

    rtsys.initialize(cpu_target.target_context)
    context.install_registry(builtin_registry)  # declarations look where to put what they define
    typing._load_builtins()
    typing.install_registry(mathdecl.registry)
    context.install_registry(builtin_registry)
    context.install_registry(mathimpl.registry)


def all_(typing, context):
    """Everything, from here on."""
    _state["is_full"] = True
    for one in (cpu_target.target_context, context):
        one.__dict__.pop("refresh", None)
    typing.refresh()
    BaseContext.refresh(context)


def _nothing():
    pass
