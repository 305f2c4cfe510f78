"""A whole function: from lowered core to what Numba's compiler would have given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transpile.core.nodes import Alloc, Function, Var
from transpile.core.walk import statements
from transpile.lower.entry import Guard
from transpile.native.library import new_library
from transpile.native.small import small_arrays
from transpile.native.statements import Statements
from transpile.native.values import Array, Scalar, Unsupported, Value

Kinds = tuple[tuple[str, int], ...]


def compile_function(fn: Function, kinds: Kinds, name: str, fastmath: Any, guard: Guard | None) -> Any:
    """The compiled function, for parameters of these kinds, as `numba.core.compiler.CompileResult`.

    ``name`` is no other function's. Raises `Unsupported` for what is not written here.
    """
    from numba.core import callconv, compiler
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.cpu_options import FastMathOptions
    from numba.core.registry import cpu_target

    from runtime.compiled.kernel import numba_type

    with global_compiler_lock:
        typing, target = cpu_target.typing_context, cpu_target.target_context
        typing.refresh()
        target.refresh()
        context = target.subtarget(
            enable_nrt=True,
            fastmath=FastMathOptions(set(fastmath) if isinstance(fastmath, (tuple, set)) else fastmath),
            error_model=callconv.create_error_model("numpy", target),
        )
        library = new_library(context.codegen(), name)
        written = Statements(context, typing)
        params = tuple(numba_type(*kind) for kind in kinds)
        with context.push_code_library(library):
            described = _write(written, fn, params, name, guard)
            environment = context.environment
            context.post_lowering(written.module, library)
            library.add_ir_module(written.module)
            context.create_cpython_wrapper(library, described, environment, None, release_gil=False)
        entry = context.get_executable(library, described, environment)
        return compiler.compile_result(
            typing_context=typing,
            target_context=context,
            entry_point=entry,
            typing_error=None,
            type_annotation="",
            library=library,
            call_helper=None,
            signature=described_signature(described),
            objectmode=False,
            lifted=(),
            fndesc=described,
            environment=environment,
            metadata={},
            reload_init=list(library._reload_init),
        )


def described_signature(described: Any) -> Any:
    from numba.core.typing import signature

    return signature(described.restype, *described.argtypes)


def _write(written: Statements, fn: Function, params: Sequence[Any], name: str, guard: Guard | None) -> Any:
    from llvmlite import ir
    from numba.core import types
    from numba.core.environment import Environment
    from numba.core.funcdesc import PythonFunctionDescriptor
    from numba.core.utils import _dynamic_modname as dynamic_name

    context = written.context
    restype = types.none
    results = [_result_type(y.type) for y in fn.body.yields]
    if results:
        restype = results[0] if len(results) == 1 else written.types.Tuple(tuple(results))
    described = PythonFunctionDescriptor(
        native=True,
        modname=dynamic_name,
        qualname=name,
        unique_name=name,
        doc="",
        typemap={},
        restype=restype,
        calltypes={},
        args=tuple(f"a{k}" for k in range(len(params))),
        kws=(),
        mangler=context.mangler,
        argtypes=tuple(params),
        global_dict={"__name__": "transpile.native"},
    )
    context.fndesc, context.environment = described, Environment.from_fndesc(described)
    written.module = context.create_module(name)
    context.declare_env_global(written.module, context.get_env_name(described))
    function = context.declare_function(written.module, described)
    written.builder = ir.IRBuilder(function.append_basic_block("entry"))
    start = function.append_basic_block("start")
    written.builder.branch(start)  # cells are made before it
    written.builder.position_at_end(start)
    given = context.call_conv.decode_arguments(written.builder, described.argtypes, function)
    makes = [s.var for s in statements(fn.body) if isinstance(s, Alloc)]
    written.separate([*(p for p in fn.params if p.type.dims), *makes], name)
    values = [_parameter(written, p, v, t) for p, v, t in zip(fn.params, given, params)]
    if guard is not None:
        _ask(written, values, guard)
    written.values.update(zip(fn.params, values))
    written.small = small_arrays(fn)
    written.open()
    written.block(fn.body)
    found = [written.taken(written.value(y)) for y in fn.body.yields]
    written.close()
    _return(written, found, results, restype)
    written.write_exits(name)
    return described


def _result_type(type_: Any) -> Any:
    from runtime.compiled.kernel import numba_type

    return numba_type(type_.dtype, len(type_.dims))


def _parameter(written: Statements, param: Var, value: Any, type_: Any) -> Value:
    given = Scalar(value, type_)
    return written.array(given, param) if param.type.dims else given


def _ask(written: Statements, values: Sequence[Value], guard: Guard) -> None:
    """Whether the call is one that the function is compiled for."""
    from runtime.compiled import entry

    b = written.builder
    for value, ones in zip(values, guard.ones):
        for size, one in zip(value.sizes if isinstance(value, Array) else (), ones):
            written.fail_if(b.icmp_signed("!=" if one else "==", size, written.number(1)), "again.Again", ())
    for k, j in guard.pairs:
        shared = written.call(entry.share, (values[k], values[j]))
        written.fail_if(written.truth(shared), "again.Again", ())


def _return(written: Statements, found: Sequence[Value], results: Sequence[Any], restype: Any) -> None:
    context, builder = written.context, written.builder
    passed = []
    for value, type_ in zip(found, results):
        if isinstance(value, Array):
            if value.strides is not None:
                raise Unsupported("a result that does not lie in C order")
            value = written.struct(value)
        passed.append(written.cast(value, type_).value)
    if not results:
        whole = context.get_dummy_value()
    elif len(results) == 1:
        whole = passed[0]
    else:
        whole = context.make_tuple(builder, restype, passed)
    context.call_conv.return_value(builder, context.get_return_value(builder, restype, whole))
