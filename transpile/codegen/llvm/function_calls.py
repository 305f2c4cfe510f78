"""Calls of kept functions, each of which is a function of the same library; recursive calls are direct.

After an exception of a callee the caller releases its memory and passes the exception on.
"""

from __future__ import annotations

from typing import Any

from transpile.codegen.llvm.llvm_values import Array, Scalar, Value, numba_type_of
from transpile.codegen.llvm.operands import Operands
from transpile.core import nodes as ir


def described(context: Any, fn: ir.Function, name: str, has_watch: bool = False) -> Any:
    """Numba's description of the function ``fn`` under the unique ``name``: the types of its parameters and result.

    With ``has_watch`` it has one more parameter, the last: the address of the watch (`transpile.codegen.llvm.long_calls`).
    """
    from numba import types as numba_types

    results = result_types(fn)
    restype = numba_types.none
    if results:
        restype = results[0] if len(results) == 1 else numba_types.BaseTuple.from_types(tuple(results))
    params = [numba_type_of(p.type) for p in fn.params] + [numba_types.voidptr] * has_watch
    return describe(context, name, tuple(params), restype)


def describe(context: Any, name: str, types: tuple[Any, ...], restype: Any) -> Any:
    """Numba's description of a function of this unique name, argument types and result type."""
    from numba.core.funcdesc import PythonFunctionDescriptor
    from numba.core.utils import _dynamic_modname as dynamic_name

    return PythonFunctionDescriptor(
        native=True,
        modname=dynamic_name,
        qualname=name,
        unique_name=name,
        doc="",
        typemap={},
        restype=restype,
        calltypes={},
        args=tuple(f"a{k}" for k in range(len(types))),
        kws=(),
        mangler=context.mangler,
        argtypes=types,
        global_dict={"__name__": "transpile.codegen.llvm"},
    )


def result_types(fn: ir.Function) -> list[Any]:
    """Numba's types of the function's results, in order; empty for none."""
    return [numba_type_of(y.type) for y in fn.body.yields]


def call(written: Operands, stmt: ir.Call) -> Scalar:
    """Writes a call of a kept function and gives its result, a tuple if it has several; if it raises, so does the caller."""
    b, context = written.builder, written.context
    target = written.kept[stmt.function.name]  # type: ignore[union-attr]
    given: list[Value] = [written.value(a) for a in stmt.args]
    passed = [written.struct(v) if isinstance(v, Array) else v for v in given]
    values = [written.cast(v, wanted).value for v, wanted in zip(passed, target.argtypes)]
    callee = context.declare_function(written.module, target)
    if len(target.argtypes) > len(values):
        values.append(written.handed_watch())
    status, found = context.call_conv.call_function(b, callee, target.restype, target.argtypes, values)
    written.watch_back()
    with b.if_then(status.is_error, likely=False):
        written.pass_on(status.code, status.excinfoptr)
    return Scalar(found, target.restype)
