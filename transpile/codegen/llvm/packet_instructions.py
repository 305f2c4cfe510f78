"""Packets as LLVM vectors: a single instruction is written once for all lanes, anything else lane by lane.

A mask is a vector of bits. ``any_lane`` and ``all_lanes`` compare it, as one integer, with 0 and with -1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from transpile.codegen.llvm.llvm_values import Packet, Scalar, Unsupported, Value, scalar_type
from transpile.codegen.llvm.operands import Operands, plain
from transpile.codegen.llvm.packet_elements import at_once
from transpile.core import nodes as ir
from transpile.core.packets import ALL, ANY, COMBINED, NUMBERS, SPLAT
from transpile.core.types import Type
from transpile.ops.element import Element
from transpile.ops.tables import record_of


def vector(written: Operands, type_: Type) -> Any:
    """LLVM's vector type for a packet of this type."""
    from llvmlite import ir as llvm

    return llvm.VectorType(written.context.get_value_type(scalar_type(Type(type_.dtype))), type_.lanes)


# ------------------------------------------------------------------------------------------------------------- lets


def let(written: Operands, stmt: ir.Let) -> Value:
    """The value of a *let* that reads or gives a packet: a packet, or a number for a combination of lanes."""
    across = _ACROSS.get(stmt.prim)
    if across is not None:
        return across(written, stmt)
    args = [operand(written, a, stmt) for a in stmt.args]
    return _at_once(written, stmt, args) or _each(written, stmt, args)


def operand(written: Operands, op: ir.Operand, stmt: ir.Let) -> Packet:
    """The packet of an operand of ``stmt``; a constant is repeated in every lane."""
    if isinstance(op, ir.Const):
        lanes = next(t.lanes for t in (stmt.var.type, *(a.type for a in stmt.args)) if t.lanes)
        type_ = scalar_type(op.type)
        number = written.constant(plain(op.value, op.type), type_).value
        return Packet(spread(written, number, lanes), type_)
    found = written.value(op)
    assert isinstance(found, Packet)
    return found


def spread(written: Operands, number: Any, lanes: int) -> Any:
    """A vector with the number, an LLVM value, in all lanes; a constant if the number is one."""
    from llvmlite import ir as llvm

    b, type_ = written.builder, llvm.VectorType(number.type, lanes)
    if isinstance(number, llvm.Constant):
        return llvm.Constant(type_, [number] * lanes)
    one = b.insert_element(llvm.Constant(type_, llvm.Undefined), number, llvm.IntType(32)(0))
    indices = llvm.Constant(llvm.VectorType(llvm.IntType(32), lanes), [0] * lanes)
    return b.shuffle_vector(one, llvm.Constant(type_, llvm.Undefined), indices)


def _at_once(written: Operands, stmt: ir.Let, args: Sequence[Packet]) -> Packet | None:
    """The value computed by one or a few instructions in all lanes; None if there are none."""
    if stmt.prim == "cast":
        if stmt.var.type.is_float and args[0].type == written.types.int64:
            found = written.builder.sitofp(args[0].value, vector(written, stmt.var.type))
            return Packet(found, scalar_type(Type(stmt.var.type.dtype)))
        return None
    own = {name: value for name, value in stmt.params.items() if name != "vector"}  # "vector" calls a function
    element = _element(stmt, own)
    return None if element is None else at_once(written, element, args)


def _element(stmt: ir.Let, params: Mapping[str, Any]) -> Element | None:
    """The element of the statement's primitive with these params, on scalars of the operands' dtypes; None if it has none."""
    types = [Type(a.type.dtype, weak=a.type.weak) for a in stmt.args]
    return record_of(stmt).element_of(types, Type(stmt.var.type.dtype), params)


def _each(written: Operands, stmt: ir.Let, args: Sequence[Packet]) -> Packet:
    """The value computed lane by lane, as for scalars; `Unsupported` if the primitive has no element."""
    from llvmlite import ir as llvm

    b, result = written.builder, scalar_type(Type(stmt.var.type.dtype))
    element = _element(stmt, stmt.params)
    if element is None:
        raise Unsupported(stmt.prim)
    found = llvm.Constant(vector(written, stmt.var.type), llvm.Undefined)
    for k in range(stmt.var.type.lanes):
        at = llvm.IntType(32)(k)
        lane = [Scalar(b.extract_element(a.value, at), a.type) for a in args]
        number = written.cast(written.element(element, lane, result), result)
        found = b.insert_element(found, number.value, at)
    return Packet(found, result)


# ------------------------------------------------------------------------------------------------- across the lanes


def _splat(written: Operands, stmt: ir.Let) -> Packet:
    """The packet with a number in all lanes, cast to the dtype of the variable."""
    type_ = scalar_type(Type(stmt.var.type.dtype))
    number = written.cast(written.scalar(stmt.args[0]), type_)
    return Packet(spread(written, number.value, stmt.var.type.lanes), type_)


def _numbers(written: Operands, stmt: ir.Let) -> Packet:
    """The constant packet 0, 1, 2, ... of int64."""
    from llvmlite import ir as llvm

    type_ = vector(written, stmt.var.type)
    return Packet(llvm.Constant(type_, list(range(type_.count))), written.types.int64)


def _asked(written: Operands, stmt: ir.Let) -> Scalar:
    """Whether the mask is set in any lane, or in all, as the primitive says: a number of bool."""
    from llvmlite import ir as llvm

    b, mask = written.builder, operand(written, stmt.args[0], stmt)
    bits = b.bitcast(mask.value, llvm.IntType(mask.lanes))
    sign, wanted = ("!=", 0) if stmt.prim == ANY else ("==", -1)
    return Scalar(b.icmp_unsigned(sign, bits, bits.type(wanted)), written.types.boolean)


def _combined(written: Operands, stmt: ir.Let) -> Scalar:
    """The number that combines all lanes by the primitive ``params["combiner"]``.

    One half of the lanes is combined with the other until one is left.
    """
    from llvmlite import ir as llvm

    b, found = written.builder, operand(written, stmt.args[0], stmt)
    while found.lanes > 1:
        half = found.lanes // 2
        parts = [
            b.shuffle_vector(found.value, found.value, llvm.Constant(llvm.VectorType(llvm.IntType(32), half), own))
            for own in (list(range(half)), list(range(half, 2 * half)))
        ]
        type_ = Type(stmt.var.type.dtype, kind="packet", lanes=half)
        pair = ir.Let(ir.Var("", type_), stmt.params["combiner"], (ir.Undef(type_), ir.Undef(type_)), {})
        packets = [Packet(p, found.type) for p in parts]
        found = _at_once(written, pair, packets) or _each(written, pair, packets)
    return Scalar(b.extract_element(found.value, llvm.IntType(32)(0)), found.type)


_ACROSS: dict[str, Callable[[Operands, ir.Let], Value]] = {
    SPLAT: _splat,
    NUMBERS: _numbers,
    ANY: _asked,
    ALL: _asked,
    COMBINED: _combined,
}

# ----------------------------------------------------------------------------------------------------------- memory


def read(written: Operands, stmt: ir.PacketRead) -> Packet:
    """The packet that is read: in one load if its elements are contiguous and there is no mask, else lane by lane.

    Lanes not in the mask are 0.
    """
    from llvmlite import ir as llvm

    b, array, type_ = written.builder, written.whole(stmt.buf), vector(written, stmt.var.type)
    if stmt.mask is None and _lies_together(written, stmt):
        address = written.place(array, [written.index(a) for a in stmt.args])
        found = b.load(b.bitcast(address, type_.as_pointer()), align=written.itemsize(array.dtype))
        written.mark(found, array)
        return Packet(found, array.dtype)
    cell = written.cell(type_)
    b.store(llvm.Constant(type_, [type_.element(0)] * type_.count), cell)

    def lane(k: int, at: Sequence[Any]) -> None:
        number = written.load(array, at).value
        b.store(b.insert_element(b.load(cell), number, llvm.IntType(32)(k)), cell)

    _each_lane(written, stmt, type_.count, lane)
    return Packet(b.load(cell), array.dtype)


def store(written: Operands, stmt: ir.PacketStore) -> None:
    """Stores a packet: in one store if its elements are contiguous and there is no mask, else each lane in the mask by
    itself."""
    from llvmlite import ir as llvm

    b, array, value = written.builder, written.whole(stmt.buf), written.value(stmt.value)
    assert isinstance(value, Packet)
    if stmt.mask is None and _lies_together(written, stmt):
        address = written.place(array, [written.index(a) for a in stmt.args])
        made = b.store(value.value, b.bitcast(address, value.value.type.as_pointer()), written.itemsize(array.dtype))
        written.mark(made, array)
        return

    def lane(k: int, at: Sequence[Any]) -> None:
        written.store(array, at, Scalar(b.extract_element(value.value, llvm.IntType(32)(k)), value.type))

    _each_lane(written, stmt, value.lanes, lane)


def _lies_together(written: Operands, stmt: ir.PacketRead | ir.PacketStore) -> bool:
    """Whether the elements are contiguous, in the form in which a register holds them; elements of bool are bytes.

    They are if the array is C-contiguous and no subscript is a packet.
    """
    is_number = not stmt.buf.type.is_bool and written.whole(stmt.buf).strides is None
    return is_number and not any(a.type.lanes for a in stmt.args)


def _each_lane(
    written: Operands, stmt: ir.PacketRead | ir.PacketStore, lanes: int, do: Callable[[int, Sequence[Any]], None]
) -> None:
    """Calls ``do`` with the number of each lane, an int, and its subscripts; what it writes runs only where the mask is set.

    If no subscript is a packet, lane ``k`` is ``k`` further along the last axis.
    """
    from llvmlite import ir as llvm

    b = written.builder
    mask = None if stmt.mask is None else written.value(stmt.mask)
    given = [written.value(a) for a in stmt.args]
    is_spread = any(isinstance(g, Packet) for g in given)
    for k in range(lanes):
        at = [_subscript(written, a, g, k) for a, g in zip(stmt.args, given)]
        if not is_spread:
            at[-1] = b.add(at[-1], written.number(k), flags=["nsw"])
        if isinstance(mask, Packet):
            with b.if_then(b.extract_element(mask.value, llvm.IntType(32)(k))):
                do(k, at)
        else:
            do(k, at)


def _subscript(written: Operands, op: ir.Operand, given: Value, lane: int) -> Any:
    """The subscript of a lane, an LLVM integer: that lane of a packet, else the number itself."""
    from llvmlite import ir as llvm

    if isinstance(given, Packet):
        return written.builder.extract_element(given.value, llvm.IntType(32)(lane))
    return written.index(op)
