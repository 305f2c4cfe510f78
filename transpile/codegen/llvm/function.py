"""Compiles a whole function: from lowered core to the result of Numba's compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from transpile.codegen.entry_guard import Guard
from transpile.codegen.llvm.frame_arrays import placed
from transpile.codegen.llvm.function_calls import described, result_types
from transpile.codegen.llvm.hints import LARGE
from transpile.codegen.llvm.llvm_library import new_library
from transpile.codegen.llvm.llvm_statements import Statements
from transpile.codegen.llvm.llvm_values import Array, Scalar, Unsupported, Value
from transpile.codegen.llvm.long_call_code import takes_long
from transpile.codegen.llvm.wrapper import Copied, write_wrapper
from transpile.core import nodes as ir
from transpile.core.output import Output
from transpile.core.walk import statements, uses
from transpile.loops.independent_iterations import loops_apart
from transpile.loops.steering import steering
from transpile_runtime.compiled.threads import launch

MOST = 100  # number of arrays declared disjoint to LLVM: each lists all others


def compile_function(
    fn: ir.Function,
    name: str,
    fastmath: Any,
    guard: Guard | None,
    kept: Sequence[ir.Function] = (),
    outputs: Sequence[Output] = (),
) -> Any:
    """The compiled function as `numba.core.compiler.CompileResult`, under the unique ``name``.

    With a ``guard`` it first tests its call; with None its parameters may overlap. ``kept`` are the kept functions it calls,
    ``outputs`` describes its last parameters, arrays allocated by the caller for results. Raises `Unsupported` for operations
    that only Numba's compiler supports.
    """
    from numba.core import callconv, compiler
    from numba.core.cpu_options import FastMathOptions
    from numba.core.environment import Environment
    from numba.core.typing import signature

    from transpile_runtime.compiled import registries
    from transpile_runtime.compiled.convention import Context
    from transpile_runtime.compiled.machine import addresses_as_written

    with registries.compiler() as (typing, target), registries.quiet():
        context = Context.under(
            target,
            enable_nrt=True,
            fastmath=_flags(FastMathOptions(set(fastmath) if isinstance(fastmath, (tuple, set)) else fastmath)),
            error_model=callconv.create_error_model("numpy", target),
        )
        library = new_library(context.codegen(), name)
        has_watch = any(takes_long(one) for one in (fn, *kept))
        own = described(context, fn, name, has_watch)
        names = {one.name: described(context, one, f"{name}.{one.name}", has_watch) for one in kept}
        context.fndesc, context.environment = own, Environment.from_fndesc(own)
        with context.push_code_library(library):
            module = context.create_module(name)
            environment = context.environment
            context.declare_env_global(module, context.get_env_name(own))
            written = Statements(context, typing)
            written.gives_lock = not any(_is_parallel(one) for one in (fn, *kept))
            for one in kept:
                inner = Statements(context, typing)
                inner.sites, inner.is_narrow, inner.gives_lock = written.sites, True, written.gives_lock
                _write(inner, module, one, names[one.name], names)
            _write(written, module, fn, own, names, guard, outputs)
            context.post_lowering(module, library)
            library.add_ir_module(module)
            copied = _copied(fn, kept, guard, len(outputs), has_watch and written.gives_lock)
            write_wrapper(context, library, own, environment, has_watch, copied)
        with addresses_as_written() if written.is_large else nullcontext():
            entry = context.get_executable(library, own, environment)
        return compiler.compile_result(
            typing_context=typing,
            target_context=context,
            entry_point=entry,
            typing_error=None,
            type_annotation="",
            library=library,
            call_helper=None,
            signature=signature(own.restype, *own.argtypes),
            objectmode=False,
            lifted=(),
            fndesc=own,
            environment=environment,
            metadata={"sites": written.sites},
            reload_init=[*library._reload_init, *([launch] if written.starts_threads else [])],
        )


def _flags(options: Any) -> Any:
    """``options`` themselves, with their flags sorted in place: Numba keeps them in a set, whose order varies."""
    options.flags = sorted(options.flags)
    return options


def _is_parallel(fn: ir.Function) -> bool:
    return any(isinstance(s, ir.For) and s.kind == "parallel" for s in statements(fn.body))


def _copied(
    fn: ir.Function, kept: Sequence[ir.Function], guard: Guard | None, outputs: int, gives_lock: bool
) -> Copied:
    """The `Copied` for the wrapper: the parameters of ``fn`` whose contents decide which memory the code touches.

    Copies cannot be written by another thread. The last ``outputs`` parameters never count. Nothing is copied unless
    ``gives_lock``, which says that the code may give up Python's lock.
    """
    found = steering(fn, kept)
    given = fn.params[: len(fn.params) - outputs]
    params = [k for k, p in enumerate(given) if p in found]
    if not gives_lock:
        return Copied(bool(params))
    written = tuple([k for k in params if given[k].buffer])
    return Copied(bool(params), tuple(params), written, () if guard is None else guard.pairs)


def _write(
    written: Statements,
    module: Any,
    fn: ir.Function,
    own: Any,
    kept: Mapping[str, Any],
    guard: Guard | None = None,
    outputs: Sequence[Output] = (),
) -> None:
    """Writes one function of the module, which ``own`` describes; ``kept``: names of kept functions to their descriptions.

    ``guard`` and ``outputs`` are as for `compile_function`, None and empty for a kept function.
    """
    name = own.qualname
    fn, written.small = placed(fn, written.is_narrow)
    written.read_somewhere = set(uses(fn.body))
    written.module, written.kept = module, dict(kept)
    _, given = written.begin(own)
    written.begin_watch(fn, given)
    written.loc = fn.loc
    written.is_large = sum(1 for _ in statements(fn.body)) > LARGE
    makes = [s.var for s in statements(fn.body) if isinstance(s, ir.Alloc) and s.space == "heap"]
    apart = [p for p in fn.params if p.type.dims] if guard is not None else []  # disjoint only if the guard tests it
    written.separate([*apart, *makes][:MOST], name)
    written.apart = loops_apart(fn) if guard is not None else set()
    values = [_parameter(written, p, v, t) for p, v, t in zip(fn.params, given, own.argtypes)]
    for k, output in enumerate(outputs, len(values) - len(outputs)):
        values[k] = _of_sizes(written, values[k], output, values)
    if guard is not None:
        values = _asked(written, values, guard)
    written.values.update(zip(fn.params, values))
    written.open()
    written.block(fn.body)
    found = [written.taken(written.value(y)) for y in fn.body.yields]
    written.close()
    written.end_watch()
    _return(written, found, result_types(fn), own.restype)
    written.write_exits(name)


def _parameter(written: Statements, param: ir.Var, value: Any, type_: Any) -> Value:
    """The value of a parameter, from its LLVM value and Numba's type: an array or a scalar."""
    given = Scalar(value, type_)
    return written.array(given, param) if param.type.dims else given


def _of_sizes(written: Statements, value: Value, output: Output, values: Sequence[Value]) -> Value:
    """The array ``value``, allocated by the caller for a result, with the sizes of its description in place of those passed.

    They are constants, or sizes of parameters among ``values``: LLVM optimises known values better than loaded ones.
    """
    assert isinstance(value, Array)
    known = [s if isinstance(s, int) else (values[s[0]], s[1]) for s in output.sizes]
    sizes = [written.number(s) if isinstance(s, int) else s[0].sizes[s[1]] for s in known]  # type: ignore[union-attr]
    return replace(value, sizes=tuple(sizes))


def _asked(written: Statements, values: Sequence[Value], guard: Guard) -> list[Value]:
    """All parameters' values, with sizes that must be 1 as constants; writes the tests of the ``guard`` before.

    They test which sizes are 1, and which arrays are disjoint; if one fails, the code raises `Again`.
    """
    from transpile_runtime.compiled import entry

    b = written.builder
    for value, ones in zip(values, guard.ones):
        for size, one in zip(value.sizes if isinstance(value, Array) else (), ones):
            written.fail_if(b.icmp_signed("!=" if one else "==", size, written.number(1)), "again.Again", ())
    for k, j in guard.pairs:
        shared = written.call(entry.share, (values[k], values[j]))
        written.fail_if(written.truth(shared), "again.Again", ())
    known = [_with_ones(written, v, ones) for v, ones in zip(values, guard.ones)]
    return [*known, *values[len(known) :]]


def _with_ones(written: Statements, value: Value, ones: Sequence[bool]) -> Value:
    """The value; in an array the sizes marked in ``ones`` become the constant 1."""
    if not isinstance(value, Array):
        return value
    return replace(value, sizes=tuple([written.number(1) if one else n for n, one in zip(value.sizes, ones)]))


def _return(written: Statements, found: Sequence[Value], results: Sequence[Any], restype: Any) -> None:
    """Writes the return of the values in ``found``, cast to the types ``results``; several are one tuple of type
    ``restype``."""
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
