"""The wrapper between Python and a compiled function.

It is Numba's, with copies of arrays that other threads may write, and with the watch of long calls.

Arrays whose contents decide which memory is accessed (`transpile.loops.steering`) must read the same each time. While a call
has released the interpreter's lock, other threads may write them at any time. So the function gets

    copies    if there are other threads and the previous call took long; its changes in them are copied back
    originals in all other calls, where copies would not pay: such a call is bare, that is, it keeps the lock, and no
              Python code runs meanwhile (`long_calls`)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from transpile.codegen.llvm import long_calls as watch


class _Copy(NamedTuple):
    """Cells of LLVM for a parameter that may be copied; ``param`` is its number.

    ``taken``: the array that the function gets; ``before``: the address of the original data, NULL if there is no copy;
    ``first``: the memory with the initial content of the copy, None if the function does not write it.
    """

    param: int
    taken: Any
    before: Any
    first: Any


ALWAYS = False  # copies in each call, for tests whose calls end before another thread gets the lock


class Copied(NamedTuple):
    """Whether the function relies on the contents of arrays that are not its own, and which parameters may have to be copied.

    ``params``: numbers of those parameters; ``written``: those of them that the function writes; ``pairs``: pairs of parameters
    that must not share memory.
    """

    is_bare: bool
    params: tuple[int, ...] = ()
    written: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()


def write_wrapper(context: Any, library: Any, own: Any, environment: Any, has_watch: bool, copied: Copied) -> None:
    """Writes the function that Python calls into a module of its own, which is added to the library.

    ``own`` describes the compiled function; with ``has_watch`` its last parameter is the watch. ``copied``: see `Copied`.
    """
    from llvmlite import ir

    module = context.create_module("wrapper")
    type_ = context.call_conv.get_function_type(own.restype, own.argtypes)
    callee = ir.Function(module, type_, own.llvm_func_name)
    made = _kind()(context, module, callee, own, environment, call_helper=None, release_gil=False)
    made.has_watch, made.is_bare, made.copied, made.returned = has_watch, copied.is_bare, copied.params, copied.written
    made.pairs = [p for p in copied.pairs if {*p} & {*copied.params}]
    made.build()
    library.add_ir_module(module)


@lru_cache(maxsize=1)
def _kind() -> type:
    from numba.core import cgutils
    from numba.core.callwrapper import PyCallWrapper, _ArgManager

    class Wrapper(PyCallWrapper):
        has_watch: bool
        is_bare: bool
        copied: Sequence[int]
        returned: Sequence[int]
        pairs: Sequence[tuple[int, int]]

        def build_wrapper(self, api: Any, builder: Any, closure: Any, args: Any, kws: Any) -> None:
            """Writes the wrapper: it unpacks the arguments, copies some, calls the function, and packs its result or raises."""
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
                memory = self.watch(builder, types, copies)
                given.append(builder.bitcast(memory, cgutils.voidptr_t))
            status, found = convention.call_function(
                builder, self.func, self.fndesc.restype, self.fndesc.argtypes, given, attrs=("noinline",)
            )
            if memory is not None:
                watch.end(builder, self.module, memory)
                if copies and not ALWAYS:
                    builder.store(builder.load(watch.field(builder, memory, watch.ASKED)), self.was_long())
            self.release(builder, types, copies, goes_back=True)
            held.emit_cleanup()
            with builder.if_then(status.is_ok, likely=True):
                with builder.if_then(status.is_none):
                    api.return_none()
                result = self._simplified_return_type()
                builder.ret(api.from_native_return(result, found, environment))
            convention.raise_error(builder, api, status)
            builder.ret(api.get_null_object())

        def watch(self, builder: Any, types: Any, copies: Sequence[_Copy]) -> Any:
            """A new watch in the frame, initialised: the call is bare if the function can be and nothing was copied."""
            number, _, type_ = watch.types()
            memory, bare = cgutils.alloca_once(builder, type_), number(int(self.is_bare))
            if copies:  # all parameters are copied or none
                bare = builder.zext(cgutils.is_null(builder, builder.load(copies[0].before)), number)
            watch.begin(builder, memory, bare)
            return memory

        def copies(self, api: Any, builder: Any, types: Any, given: list[Any], failed: Any) -> list[_Copy]:
            """Writes code that copies arrays, unless the call needs no copies; gives the cells of each parameter it may copy.

            ``given``, the arguments' values, is changed in place: it then has what the function gets. ``failed``: the block for
            no memory.
            """
            arrays = {k: self.array(builder, types, given[k], k) for k in {*self.copied, *sum(self.pairs, ())}}
            cells = []
            for k in self.copied:
                taken = cgutils.alloca_once_value(builder, given[k])
                before = cgutils.alloca_once_value(builder, arrays[k].data.type(None))
                first = cgutils.alloca_once_value(builder, cgutils.voidptr_t(None)) if k in self.returned else None
                cells.append(_Copy(k, taken, before, first))
            number, _, _ = watch.types()
            ready, ask, copy = (builder.append_basic_block(n) for n in ("ready", "ask", "copy"))
            builder.cbranch(builder.icmp_unsigned("==", builder.load(self.was_long()), number(0)), ready, ask)
            builder.position_at_end(ask)
            alone = builder.icmp_unsigned("==", builder.call(watch.several(self.module), []), number(0))
            for x, y in self.pairs:  # then the function rejects this call
                alone = builder.or_(alone, _share(builder, arrays[x], arrays[y]))
            builder.cbranch(alone, ready, copy)
            builder.position_at_end(copy)
            for cell in cells:
                old, new = arrays[cell.param], self.array(builder, types, given[cell.param], cell.param)
                info = self.copy(api, builder, types, cells, old, failed)
                if cell.first is not None:
                    builder.store(self.copy(api, builder, types, cells, old, failed, info), cell.first)
                data = self.context.nrt.meminfo_data(builder, info)
                new.data, new.meminfo = builder.bitcast(data, new.data.type), info
                new.parent = new.parent.type(None)
                builder.store(new._getvalue(), cell.taken)
                builder.store(old.data, cell.before)
            builder.branch(ready)
            builder.position_at_end(ready)
            for cell in cells:
                given[cell.param] = builder.load(cell.taken)
            return cells

        def was_long(self) -> Any:
            """The global number of this module that says whether the previous call polled its watch; made at first use."""
            number, _, _ = watch.types()
            name = f"{self.func.name}.was_long"
            found = self.module.globals.get(name) or cgutils.add_global_variable(self.module, number, name)
            found.linkage, found.initializer = "internal", number(int(ALWAYS))
            return found

        def copy(
            self,
            api: Any,
            builder: Any,
            types: Any,
            cells: Any,
            array: Any,
            failed: Any,
            other: Any = None,
        ) -> Any:
            """The meminfo of new memory with the content of ``array``, or of ``other``, the meminfo of memory of the same size.

            If there is no memory, it releases ``other`` and the copies in ``cells``, and branches to ``failed``.
            """
            size = builder.mul(array.nitems, array.itemsize)
            info = self.context.nrt.meminfo_alloc_aligned_unchecked(builder, size, 64)
            with builder.if_then(cgutils.is_null(builder, info), likely=False):
                if other is not None:
                    self.forget(builder, other)
                self.release(builder, types, cells)
                api.err_set_string("PyExc_MemoryError", "unable to allocate a copy of an array of indices")
                builder.branch(failed)
            data = self.context.nrt.meminfo_data
            held = builder.bitcast(array.data, cgutils.voidptr_t) if other is None else data(builder, other)
            cgutils.raw_memcpy(builder, data(builder, info), held, size, 1)
            return info

        def forget(self, builder: Any, info: Any) -> None:
            from numba.core import types

            self.context.nrt.decref(builder, types.MemInfoPointer(types.voidptr), info)  # type: ignore[attr-defined]

        def array(self, builder: Any, types: Any, value: Any, k: int) -> Any:
            return self.context.make_array(types[k])(self.context, builder, value)

        def release(self, builder: Any, types: Any, cells: Sequence[_Copy], goes_back: bool = False) -> None:
            """Writes the release of the copies in ``cells`` that exist.

            If ``goes_back``, changed elements are copied back first: only these, since other threads may have written the rest.
            """
            for cell in cells:
                there = builder.load(cell.before)
                with builder.if_then(cgutils.is_not_null(builder, there), likely=False):
                    copy = builder.load(cell.taken)
                    if cell.first is not None:
                        first = builder.load(cell.first)
                        if goes_back:
                            array = self.array(builder, types, copy, cell.param)
                            _put_changes(builder, array, self.context.nrt.meminfo_data(builder, first), there)
                        self.forget(builder, first)
                    self.context.nrt.decref(builder, types[cell.param], copy)

    return Wrapper


def _put_changes(builder: Any, array: Any, first: Any, there: Any) -> None:
    """Writes those elements of the copy ``array`` that differ from ``first``, its initial content, to the address ``there``."""
    from llvmlite import ir
    from numba.core import cgutils

    size = array.itemsize.constant if isinstance(array.itemsize, ir.Constant) else 1
    word = ir.IntType(8 * size) if size in (1, 2, 4, 8) else ir.IntType(8)
    count = builder.udiv(builder.mul(array.nitems, array.itemsize), array.nitems.type(word.width // 8))
    now, then, to = (builder.bitcast(p, word.as_pointer()) for p in (array.data, first, there))
    with cgutils.for_range(builder, count) as loop:
        value, old = (builder.load(builder.gep(p, [loop.index])) for p in (now, then))
        with builder.if_then(builder.icmp_unsigned("!=", value, old)):
            builder.store(value, builder.gep(to, [loop.index]))


def _share(builder: Any, x: Any, y: Any) -> Any:
    """A bit: whether two C-contiguous arrays overlap; an empty one overlaps none (as in `transpile_runtime.compiled.entry`)."""
    number = watch.types()[0]
    starts = [builder.ptrtoint(a.data, number) for a in (x, y)]
    sizes = [builder.mul(a.nitems, a.itemsize) for a in (x, y)]
    begins = [builder.icmp_unsigned("<", starts[k], builder.add(starts[1 - k], sizes[1 - k])) for k in (0, 1)]
    some = [builder.icmp_signed("!=", s, number(0)) for s in sizes]
    return builder.and_(builder.and_(*begins), builder.and_(*some))
