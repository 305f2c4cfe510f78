"""Stacks of numbers, of small arrays, and of arrays: in the stack frame at first, then in one block of memory that grows.

For an array the stack holds the address of its meminfo, the address of its data, and its sizes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from transpile.codegen.llvm.failures import Failures
from transpile.codegen.llvm.llvm_values import Array, Scalar, Unsupported, Value

FIRST, FEWER = (
    32,
    4,
)  # initial capacity; the second for a function that may call itself
GROW, FREE = "PyMem_RawRealloc", "PyMem_RawFree"  # the functions NRT uses, without its reference counts


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack of scalars, or of arrays by value or by address; the fields from ``frame`` on are addresses of cells.

    ``rank``: the rank of arrays that are pushed by address, else 0; ``sizes``: those of arrays that are pushed by value, else
    None. ``frame`` is the memory in the stack frame; the cells hold the address of the numbers, memory outside the frame or
    NULL, the number of numbers, and the capacity.
    """

    dtype: Any
    rank: int
    sizes: Sequence[int] | None
    first: int  # capacity in the frame
    frame: Any
    data: Any
    memory: Any
    size: Any
    room: Any

    @property
    def width(self) -> int:
        """How many numbers one push stores."""
        return _width(self.rank, self.sizes)


def _width(rank: int, sizes: Sequence[int] | None) -> int:
    """How many numbers one push stores: an array by address has two addresses and its sizes, by value its elements."""
    return 2 + rank if rank else math.prod(sizes or ())


class Stacks(Failures):
    """Writes stacks."""

    def __init__(self, context: Any, typing: Any) -> None:
        super().__init__(context, typing)
        self.made_stacks: list[Stack] = []
        self.held_stacks: list[list[Stack]] = []  # for each open block
        self.is_narrow = False  # whether the frame must be small

    def stack(self, dtype: Any, rank: int, sizes: Sequence[int] | None) -> Stack:
        """A new empty stack, which the open block releases.

        Its entries are numbers if ``rank`` is 0, arrays by value if their ``sizes`` are known, else arrays by address.
        """
        from llvmlite import ir

        rank = rank if sizes is None else 0
        element = self.int if rank else self.context.get_data_type(dtype)
        pointer = self.cgutils.voidptr_t
        cells = [self.cell(t) for t in (element.as_pointer(), pointer, self.int, self.int)]
        first = max(FEWER if self.is_narrow else FIRST, _width(rank, sizes))
        made = Stack(dtype, rank, sizes, first, self.cell(ir.ArrayType(element, first)), *cells)
        with self.builder.goto_entry_block():
            self.begin_stack(made)
        self.begin_stack(made)
        self.made_stacks.append(made)
        self.held_stacks[-1].append(made)
        return made

    def begin_stack(self, stack: Stack) -> None:
        """Writes the initialisation of a stack as empty, in its memory in the frame."""
        b = self.builder
        b.store(self.cgutils.gep_inbounds(b, stack.frame, 0, 0), stack.data)
        b.store(stack.memory.type.pointee(None), stack.memory)
        b.store(self.number(0), stack.size)
        b.store(self.number(stack.first), stack.room)

    def end_stack(self, stack: Stack) -> None:
        """Writes the release of a stack's memory and of the arrays in it."""
        b = self.builder
        if stack.rank:
            b.call(self.releaser(stack.width), [b.load(stack.data), b.load(stack.size)])
            b.store(self.number(0), stack.size)
        b.call(self.function(FREE, None, stack.memory.type.pointee), [b.load(stack.memory)])
        b.store(stack.memory.type.pointee(None), stack.memory)

    def function(self, name: str, result: Any, *args: Any) -> Any:
        """A function of the runtime or of C of this name, declared in the module; ``result`` is None for void."""
        from llvmlite import ir

        type_ = ir.FunctionType(ir.VoidType() if result is None else result, args)
        return self.cgutils.get_or_insert_function(self.module, type_, name)

    def releaser(self, width: int) -> Any:
        """The function of this module that decrements the reference counts of the arrays in a stack, ``width`` numbers each.

        It takes the address of the numbers and how many they are, and is written at first use.
        """
        from llvmlite import ir

        name = f"transpile.release.{width}"
        found = self.module.globals.get(name)
        if found is not None:
            return found
        type_ = ir.FunctionType(ir.VoidType(), [self.int.as_pointer(), self.int])
        found = ir.Function(self.module, type_, name)
        found.linkage = "internal"
        found.attributes.add("noinline")
        outside, self.builder = self.builder, ir.IRBuilder(found.append_basic_block("entry"))
        with self.cgutils.for_range_slice(self.builder, self.int(0), found.args[1], self.int(width)) as (k, _):
            word = self.builder.load(self.builder.gep(found.args[0], [k]))
            self.count_down(self.builder.inttoptr(word, self.cgutils.voidptr_t))
        self.builder.ret_void()
        self.builder = outside
        return found

    # ---- blocks

    def open(self) -> None:
        super().open()
        self.held_stacks.append([])

    def close(self) -> None:
        for stack in self.held_stacks.pop():
            self.end_stack(stack)
        super().close()

    def give_back_all(self) -> None:
        super().give_back_all()
        for stack in self.made_stacks:
            self.end_stack(stack)

    # ---- use

    def pushed(self, stack: Stack, value: Value) -> None:
        """Writes a push of the value, a number or an array; the stack grows if it is full."""
        b = self.builder
        size = b.load(stack.size)
        after = b.add(size, self.number(stack.width), flags=["nsw"])
        with b.if_then(b.icmp_signed(">", after, b.load(stack.room)), likely=False):
            self.grow(stack)
        data = b.load(stack.data)
        for k, number in enumerate(self.numbers_of(stack, value)):
            b.store(number, b.gep(data, [b.add(size, self.number(k), flags=["nsw"])], inbounds=True))
        b.store(after, stack.size)

    def numbers_of(self, stack: Stack, value: Value) -> list[Any]:
        """The LLVM values that a push stores; an array by address gets a reference for the stack.

        `Unsupported` if such an array has strides or lies in the stack frame.
        """
        b = self.builder
        if stack.rank:
            if not isinstance(value, Array) or value.strides is not None or self.is_local(value):
                raise Unsupported("a stack of what does not lie in C order")
            self.count_up(value.meminfo)
            return [b.ptrtoint(value.meminfo, self.int), b.ptrtoint(value.data, self.int), *value.sizes]
        model = self.context.data_model_manager[stack.dtype]
        given = (
            [value] if isinstance(value, Scalar) else [self.load(value, at) for at in self.elements(stack.sizes or ())]
        )
        return [model.as_data(b, self.cast(x, stack.dtype).value) for x in given]

    def grow(self, stack: Stack) -> None:
        """Writes code that doubles the capacity; if that fails, the stack is unchanged and MemoryError is raised."""
        b, pointer = self.builder, self.cgutils.voidptr_t
        room = b.mul(b.load(stack.room), self.number(2))
        itemsize = self.number(self.context.get_abi_sizeof(stack.data.type.pointee.pointee))
        total = b.mul(room, itemsize)
        memory = b.load(stack.memory)
        new = b.call(self.function(GROW, pointer, pointer, self.int), [memory, total])
        with b.if_then(self.cgutils.is_null(b, new), likely=False):
            self.fail_for_memory(total)
        with b.if_then(self.cgutils.is_null(b, memory)):
            self.cgutils.raw_memcpy(b, new, stack.frame, b.load(stack.size), itemsize)
        self.advise(b, new, total)
        b.store(new, stack.memory)
        b.store(b.bitcast(new, stack.data.type.pointee), stack.data)
        b.store(room, stack.room)

    def popped(self, stack: Stack) -> Value:
        """Writes a pop and gives the value: a number, a new array in the frame, or an array that the open block now owns.

        IndexError at run time if the stack is empty.
        """
        b, width = self.builder, stack.width
        size = b.sub(b.load(stack.size), self.number(width), flags=["nsw"])
        self.fail_if(b.icmp_signed("<", size, self.number(0)), "IndexError", (), ("pop from empty list",))
        b.store(size, stack.size)
        data = b.load(stack.data)
        places = [b.gep(data, [b.add(size, self.number(k), flags=["nsw"])], inbounds=True) for k in range(width)]
        if stack.rank:
            meminfo, start, *sizes = (b.load(p) for p in places)
            meminfo = b.inttoptr(meminfo, self.cgutils.voidptr_t)
            self.hold(meminfo)
            pointer = self.context.get_data_type(stack.dtype).as_pointer()
            return Array(stack.dtype, b.inttoptr(start, pointer), tuple(sizes), None, meminfo)
        model = self.context.data_model_manager[stack.dtype]
        found = [Scalar(model.from_data(b, b.load(p)), stack.dtype) for p in places]
        if stack.sizes is None:
            return found[0]
        array: Array = self.local(stack.dtype, stack.sizes)
        for at, x in zip(self.elements(stack.sizes), found):
            self.store(array, at, x)
        return array
