"""Ownership of memory: a block releases the memory it allocates at its end, unless it passes it on.

An owner is a cell of the stack frame with the address of the memory's meminfo, or NULL. If the function fails, all are
released.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from transpile.codegen.llvm.arrays import Arrays
from transpile.codegen.llvm.llvm_values import Array, Scalar, Value

GIVE_BACK = "transpile.give_back"


class Memory(Arrays):
    """Writes the reference counting of arrays, and arrays in the stack frame."""

    def __init__(self, context: Any, typing: Any) -> None:
        super().__init__(context, typing)
        self.cells: list[Any] = []
        self.free: list[Any] = []  # cells not in use
        self.blocks: list[dict[Any, Any]] = []  # for each open block: meminfo -> cell

    # ---- cells

    def cell(self, type_: Any) -> Any:
        """A new cell of the stack frame for a value of this LLVM type: its address."""
        with self.builder.goto_entry_block():
            return self.builder.alloca(type_)

    def owner(self) -> Any:
        """A cell for an owner, empty: one no longer in use, or a new one. It is registered for release on failure."""
        if self.free:
            return self.free.pop()
        pointer = self.cgutils.voidptr_t
        with self.builder.goto_entry_block():
            cell = self.builder.alloca(pointer)
            self.builder.store(pointer(None), cell)
        self.cells.append(cell)
        return cell

    # ---- the stack frame

    def local(self, dtype: Any, sizes: Sequence[int], root: Any = None) -> Array:
        """A new array in the stack frame, without reference count, of known sizes; its content is undefined.

        ``root``: the variable whose alias scope it belongs to, None for none.
        """
        from llvmlite import ir

        type_ = self.context.get_data_type(dtype)
        with self.builder.goto_entry_block():
            whole = self.builder.alloca(ir.ArrayType(type_, math.prod(sizes)))
            whole.align = 32
            data = self.builder.bitcast(whole, type_.as_pointer())
        return Array(dtype, data, tuple([self.number(n) for n in sizes]), None, self.cgutils.voidptr_t(None), root)

    def is_local(self, array: Array) -> bool:
        """Whether the array has no reference count, since it lies in the stack frame or has no memory."""
        return bool(getattr(array.meminfo, "constant", True) is None)

    def elements(self, sizes: Sequence[int]) -> Iterator[list[Any]]:
        """Yields the indices of all elements of an array of these sizes, in C order, as lists of LLVM constants."""
        for at in product(*(range(n) for n in sizes)):
            yield [self.number(i) for i in at]

    # ---- holding

    def hold(self, meminfo: Any) -> None:
        """Makes the open block the owner of the memory; the block releases it at its end."""
        cell = self.owner()
        self.builder.store(meminfo, cell)
        self.blocks[-1][meminfo] = cell

    def open(self) -> None:
        """Begins a block, which owns what is allocated from here on."""
        self.blocks.append({})

    def close(self) -> None:
        """Ends the block opened last: writes the release of the memory that it still owns."""
        for meminfo, cell in self.blocks.pop().items():
            self.builder.store(self.cgutils.voidptr_t(None), cell)
            self.count_down(meminfo)
            self.free.append(cell)

    def taken(self, value: Value) -> Value:
        """The value itself, now with a reference of its own to its memory, for use outside the open block.

        If the block owned the memory, it passes the ownership on; else the reference count grows. Numbers and arrays in the
        frame need nothing.
        """
        if not isinstance(value, Array) or self.is_local(value):
            return value
        cell = self.blocks[-1].pop(value.meminfo, None)
        if cell is None:
            self.count_up(value.meminfo)
        else:  # ownership is passed on
            self.builder.store(self.cgutils.voidptr_t(None), cell)
            self.free.append(cell)
        return value

    def count_up(self, meminfo: Any) -> None:
        self._counted("NRT_incref", meminfo)

    def count_down(self, meminfo: Any) -> None:
        self._counted("NRT_decref", meminfo)

    def _counted(self, name: str, meminfo: Any) -> None:
        """Writes a call of Numba's runtime function ``name``, which changes the reference count of a meminfo."""
        from numba.core.runtime.nrtdynmod import incref_decref_ty

        function = self.cgutils.get_or_insert_function(self.module, incref_decref_ty, name)
        function.args[0].add_attribute("noalias")
        function.args[0].add_attribute("captures(none)")
        self.builder.call(function, [meminfo])

    def give_back_all(self) -> None:
        """Writes the release of all memory in any owner's cell, for an exit at which the function fails.

        The cells are passed to a function, which keeps them in memory. Else each exit would have a phi for each cell over all
        places that lead there, which take longer to compile than the rest.
        """
        for cell in self.cells:
            self.builder.call(self.giver(), [cell])

    def giver(self) -> Any:
        """The function of this module that releases the memory whose owner's cell it gets, and empties the cell; written
        once."""
        from llvmlite import ir

        found = self.module.globals.get(GIVE_BACK)
        if found is None:
            type_ = ir.FunctionType(ir.VoidType(), [self.cgutils.voidptr_t.as_pointer()])
            found = ir.Function(self.module, type_, GIVE_BACK)
            found.linkage = "internal"
            found.attributes.add("noinline")
            found.attributes.add("nounwind")
            outside, self.builder = self.builder, ir.IRBuilder(found.append_basic_block("entry"))
            (cell,) = found.args
            self.count_down(self.builder.load(cell))
            # else LLVM would pass the cell's content in its place
            self.builder.store(self.cgutils.voidptr_t(None), cell)
            self.builder.ret_void()
            self.builder = outside
        return found

    def held(self, x: Scalar) -> None:
        """Makes the open block the owner of all memory in a call's result; nothing for numbers."""
        for _, meminfo in self.context.nrt.get_meminfos(self.builder, x.type, x.value):
            self.hold(meminfo)
