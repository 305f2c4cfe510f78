"""Stacks of numbers, and of arrays of few elements: one piece of memory that grows, used from the start."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from transpile.native.failures import Failures
from transpile.native.values import Array, Scalar, Value

FIRST = 32  # numbers for which there is room at the beginning


@dataclass(frozen=True, slots=True)
class Stack:
    """Cells of the stack frame: where the numbers are, how many, and for how many there is room. ``sizes`` of what is pushed."""

    dtype: Any
    meminfo: Any
    data: Any
    size: Any
    room: Any
    sizes: Sequence[int] | None


class Stacks(Failures):
    def stack(self, dtype: Any, sizes: Sequence[int] | None) -> Stack:
        b = self.builder
        element = self.context.get_data_type(dtype)
        room = max(FIRST, 4 * math.prod(sizes or ()))
        meminfo = self.context.nrt.meminfo_new_varsize_unchecked(b, self.number(room * self.itemsize(dtype)))
        self.unless_found(meminfo)
        self.hold(meminfo)
        cells = (self.cell(element.as_pointer()), self.cell(self.int), self.cell(self.int))
        data = self.context.nrt.meminfo_data(b, meminfo)
        for cell, start in zip(cells, (b.bitcast(data, element.as_pointer()), self.number(0), self.number(room))):
            b.store(start, cell)
        return Stack(dtype, meminfo, *cells, sizes)

    def pushed(self, stack: Stack, value: Value) -> None:
        b, width = self.builder, math.prod(stack.sizes or ())
        size = b.load(stack.size)
        after = b.add(size, self.number(width), flags=["nsw"])
        with b.if_then(b.icmp_signed(">", after, b.load(stack.room)), likely=False):
            self.grow(stack)
        given = (
            [value] if isinstance(value, Scalar) else [self.load(value, at) for at in self.elements(stack.sizes or ())]
        )
        model = self.context.data_model_manager[stack.dtype]
        data = b.load(stack.data)
        for k, x in enumerate(given):
            place = b.gep(data, [b.add(size, self.number(k), flags=["nsw"])], inbounds=True)
            b.store(model.as_data(b, self.cast(x, stack.dtype).value), place)
        b.store(after, stack.size)

    def grow(self, stack: Stack) -> None:
        b = self.builder
        room = b.mul(b.load(stack.room), self.number(2))
        bytes_ = b.mul(room, self.number(self.itemsize(stack.dtype)))
        data = self.context.nrt.meminfo_varsize_realloc_unchecked(b, stack.meminfo, bytes_)
        self.unless_found(data)
        self.advise(b, data, bytes_)
        b.store(b.bitcast(data, stack.data.type.pointee), stack.data)
        b.store(room, stack.room)

    def popped(self, stack: Stack) -> Value:
        b, width = self.builder, math.prod(stack.sizes or ())
        size = b.sub(b.load(stack.size), self.number(width), flags=["nsw"])
        self.fail_if(b.icmp_signed("<", size, self.number(0)), "IndexError", (), ("pop from empty list",))
        b.store(size, stack.size)
        model = self.context.data_model_manager[stack.dtype]
        data = b.load(stack.data)
        found = []
        for k in range(width):
            place = b.gep(data, [b.add(size, self.number(k), flags=["nsw"])], inbounds=True)
            found.append(Scalar(model.from_data(b, b.load(place)), stack.dtype))
        if stack.sizes is None:
            return found[0]
        array: Array = self.local(stack.dtype, stack.sizes)
        for at, x in zip(self.elements(stack.sizes), found):
            self.store(array, at, x)
        return array
