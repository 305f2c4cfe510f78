"""What stands between Python and a compiled function: Numba's wrapper, with copies of arrays that other threads might write, and
with the watch of a long call.

Arrays that say where memory is touched (`transpile.loops.steering`) must say the same as often as they are read. Where there are
other threads, which may write them at any time, the function gets copies; what it writes into them goes back.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from transpile.native import watch


class Copied(NamedTuple):
    """The parameters that may have to be copied by their numbers, those that the function writes, and the pairs that it wants to
    share no memory."""

    params: tuple[int, ...] = ()
    written: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()


def write_wrapper(context: Any, library: Any, own: Any, environment: Any, has_watch: bool, copied: Copied) -> None:
    """The function that Python calls. ``own`` describes the function, its last parameter the watch if it has one."""
    from llvmlite import ir

    module = context.create_module("wrapper")
    type_ = context.call_conv.get_function_type(own.restype, own.argtypes)
    callee = ir.Function(module, type_, own.llvm_func_name)
    made = _kind()(context, module, callee, own, environment, call_helper=None, release_gil=False)
    made.has_watch, made.copied, made.returned = has_watch, copied.params, copied.written
    made.pairs = [p for p in copied.pairs if {*p} & {*copied.params}]
    made.build()
    library.add_ir_module(module)


@lru_cache(maxsize=1)
def _kind() -> type:
    from numba.core import cgutils
    from numba.core.callwrapper import PyCallWrapper, _ArgManager

    class Wrapper(PyCallWrapper):
        has_watch: bool
        copied: Sequence[int]
        returned: Sequence[int]
        pairs: Sequence[tuple[int, int]]

        def build_wrapper(self, api: Any, builder: Any, closure: Any, args: Any, kws: Any) -> None:
            context, convention = self.context, self.context.call_conv
            types = self.fndesc.argtypes[: len(self.fndesc.argtypes) - self.has_watch]
            objects = [api.alloca_obj() for _ in types]
            parsed = api.unpack_tuple(args, self.fndesc.qualname, len(types), len(types), *objects)
            with cgutils.if_unlikely(builder, builder.icmp_unsigned("==", parsed, parsed.type(0))):
                builder.ret(api.get_null_object())
            end = builder.append_basic_block("arg.end")
            with builder.goto_block(end):
                builder.ret(api.get_null_object())
            environment = self.get_env(api, builder)
            held = _ArgManager(context, builder, api, environment, end, len(types))
            given = [held.add_arg(builder.load(o), t) for o, t in zip(objects, types)]
            copies = self.copies(api, builder, types, given, held.nextblk) if self.copied else []
            memory = None
            if self.has_watch:
                memory = self.watch(builder)
                given.append(builder.bitcast(memory, cgutils.voidptr_t))
            status, found = convention.call_function(
                builder, self.func, self.fndesc.restype, self.fndesc.argtypes, given, attrs=("noinline",)
            )
            if memory is not None:
                watch.end(builder, self.module, memory)
            self.release(builder, types, copies, self.returned)
            held.emit_cleanup()
            with builder.if_then(status.is_ok, likely=True):
                with builder.if_then(status.is_none):
                    api.return_none()
                result = self._simplified_return_type()
                builder.ret(api.from_native_return(result, found, environment))
            convention.raise_error(builder, api, status)
            builder.ret(api.get_null_object())

        def watch(self, builder: Any) -> Any:
            number, pointer, type_ = watch.types()
            memory = cgutils.alloca_once(builder, type_)
            builder.store(number(watch.FIRST), watch.field(builder, memory, watch.LEFT))
            builder.store(pointer(None), watch.field(builder, memory, watch.THREAD))
            return memory

        def copies(self, api: Any, builder: Any, types: Any, given: list[Any], failed: Any) -> list[Any]:
            """Puts copies in the place of arrays: of each its number, and where its data were; NULL if there is no copy."""
            nrt = self.context.nrt
            arrays = {k: self.array(builder, types, given, k) for k in {*self.copied, *sum(self.pairs, ())}}
            cells = []
            for k in self.copied:
                taken = cgutils.alloca_once_value(builder, given[k])  # what the function is given
                before = cgutils.alloca_once_value(builder, arrays[k].data.type(None))
                cells.append((k, taken, before))
            alone = builder.icmp_unsigned("==", builder.call(watch.several(self.module), []), watch.types()[0](0))
            for x, y in self.pairs:  # then the function says that it is not for this call
                alone = builder.or_(alone, _share(builder, arrays[x], arrays[y]))
            ready, copy = (builder.append_basic_block(n) for n in ("ready", "copy"))
            builder.cbranch(alone, ready, copy)
            builder.position_at_end(copy)
            for k, taken, before in cells:
                old, new = arrays[k], self.array(builder, types, given, k)
                size = builder.mul(old.nitems, old.itemsize)
                info = nrt.meminfo_alloc_aligned_unchecked(builder, size, 64)
                with builder.if_then(cgutils.is_null(builder, info), likely=False):
                    self.release(builder, types, cells)
                    api.err_set_string("PyExc_MemoryError", "unable to allocate a copy of an array of indices")
                    builder.branch(failed)
                data = nrt.meminfo_data(builder, info)
                cgutils.raw_memcpy(builder, data, builder.bitcast(old.data, cgutils.voidptr_t), size, 1)
                new.data, new.meminfo = builder.bitcast(data, new.data.type), info
                new.parent = new.parent.type(None)
                builder.store(new._getvalue(), taken)
                builder.store(old.data, before)
            builder.branch(ready)
            builder.position_at_end(ready)
            for k, taken, _ in cells:
                given[k] = builder.load(taken)
            return cells

        def array(self, builder: Any, types: Any, given: list[Any], k: int) -> Any:
            return self.context.make_array(types[k])(self.context, builder, given[k])

        def release(self, builder: Any, types: Any, cells: Any, returned: Collection[int] = ()) -> None:
            """Frees the copies, and writes those back that the function may have written."""
            for k, taken, before in cells:
                there = builder.load(before)
                with builder.if_then(cgutils.is_not_null(builder, there), likely=False):
                    copy = builder.load(taken)
                    if k in returned:
                        array = self.context.make_array(types[k])(self.context, builder, copy)
                        to, data = (builder.bitcast(p, cgutils.voidptr_t) for p in (there, array.data))
                        cgutils.raw_memcpy(builder, to, data, builder.mul(array.nitems, array.itemsize), 1)
                    self.context.nrt.decref(builder, types[k], copy)

    return Wrapper


def _share(builder: Any, x: Any, y: Any) -> Any:
    """Whether two arrays in C order have memory in common (`transpile_runtime.compiled.entry`)."""
    number = watch.types()[0]
    starts = [builder.ptrtoint(a.data, number) for a in (x, y)]
    sizes = [builder.mul(a.nitems, a.itemsize) for a in (x, y)]
    begins = [builder.icmp_unsigned("<", starts[k], builder.add(starts[1 - k], sizes[1 - k])) for k in (0, 1)]
    some = [builder.icmp_signed("!=", s, number(0)) for s in sizes]
    return builder.and_(builder.and_(*begins), builder.and_(*some))
