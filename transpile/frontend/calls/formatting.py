"""f-strings and the arguments of ``print`` and exceptions: text and slots, see `transpile.core.nodes.Parts`."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.core.types import INT
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Array, Items, Ref, Scalar, Static, Text, Tuple

Parts = tuple[Any, ...]


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}


def joined(lx: Lifter, node: Any) -> Any:
    """An f-string: a string if all its values are known now."""
    values = node.values if isinstance(node, gast.JoinedStr) else [node]
    parts: list[Any] = []
    ops: list[ir.Operand] = []
    for value in values:
        if isinstance(value, gast.Constant):
            parts.append(value.value)
            continue
        spec = "" if value.format_spec is None else lx.static(lx.expr(value.format_spec), "a format", value)
        conversion = chr(value.conversion) if value.conversion > 0 else ""
        add(lx, parts, ops, lx.expr(value.value), conversion, spec, value)
    return made(parts, ops)


def add(
    lx: Lifter,
    parts: list[Any],
    ops: list[ir.Operand],
    value: Any,
    conversion: str = "",
    spec: str = "",
    node: Any = None,
) -> None:
    """Appends one formatted value."""
    if isinstance(value, Text):
        if spec or conversion not in ("", "s"):
            message = f"{describe(lx, value)} cannot be quoted or formatted with a width"
            raise lx.error("T133", message, node, "write {value} alone, without '!r' and without a format")
        shifted = [(p[0] + len(ops), *p[1:]) if isinstance(p, tuple) else p for p in value.parts]
        parts += shifted
        ops += value.ops
        return
    if isinstance(value, (Scalar, Array)) and not statics.is_known(lx, value):
        parts.append((len(ops), conversion, spec))
        ops.append(lx.operand(value))
        return
    if statics.is_known(lx, value):
        known = statics.known(lx, value)
        convert = _CONVERSIONS.get(conversion)
        parts.append(format(known if convert is None else convert(known), spec))
        return
    items = _items(lx, value)
    if items is None:
        raise lx.error("T133", f"{describe(lx, value)} cannot be formatted", node, "format its numbers")
    if spec:
        message = f"{describe(lx, value)} that depends on the data cannot be formatted with a width"
        raise lx.error("T133", message, node, "format its numbers one by one")
    opening, closing = ("(", ")") if isinstance(value, Tuple) else ("[", "]")
    parts.append(opening)
    for k, item in enumerate(items):
        if k:
            parts.append(", ")
        add(lx, parts, ops, item, "r", "", node)
    parts.append(",)" if isinstance(value, Tuple) and len(items) == 1 else closing)


def concatenated(lx: Lifter, texts: list[Any]) -> Static | Text:
    """Strings one after the other."""
    parts: list[Any] = []
    ops: list[ir.Operand] = []
    for text in texts:
        add(lx, parts, ops, text)
    return made(parts, ops)


def made(parts: list[Any], ops: list[ir.Operand]) -> Static | Text:
    """A string, known now if nothing in it depends on the run."""
    return Text(tuple(parts), tuple(ops)) if ops else Static("".join(parts))


def braces(lx: Lifter, text: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Static | Text:
    """``text.format(*args, **kwargs)``."""
    parts: list[Any] = []
    ops: list[ir.Operand] = []
    count = 0
    try:
        fields = list(string.Formatter().parse(text))
        for literal, name, spec, conversion in fields:
            parts.append(literal)
            if name is None:
                continue
            if name == "":
                name, count = str(count), count + 1
            value = args[int(name)] if name.isdigit() else kwargs[name]
            add(lx, parts, ops, value, conversion or "", spec or "", node)
    except (ValueError, LookupError) as e:
        raise lx.error("T131", f"{text!r}.format: {e}", node, "correct the format or its arguments") from None
    return made(parts, ops)


_PERCENT = re.compile(r"%(?:\((\w+)\))?([-+ 0#]*)(\d*)(\.\d+)?([srdifFeEgGx%])")


_FORMAT = "write one '%' format for each argument, or an f-string"


def percent(lx: Lifter, text: str, values: Any, node: Any = None) -> Static | Text:
    """``text % values``."""
    if statics.is_known(lx, values):
        return Static(text % statics.known(lx, values))
    given = list(values.items) if isinstance(values, Tuple) else [values]
    parts: list[Any] = []
    ops: list[ir.Operand] = []
    end = 0
    for found in _PERCENT.finditer(text):
        parts.append(text[end : found.start()])
        end = found.end()
        name, flags, width, precision, kind = found.groups()
        if kind == "%":
            parts.append("%")
            continue
        if not given or name is not None:
            raise lx.error("T131", f"the format {text!r} does not fit its arguments", node, _FORMAT)
        value = given.pop(0)
        if kind in "di" and isinstance(value, Scalar) and value.op.type.is_float:
            value = Scalar(lx.b.cast(value.op, INT).op)
        shape = "".join(c for c in flags if c in "+ 0#") + width + (precision or "")
        side = "<" if "-" in flags else ">" if kind in "sr" and width else ""
        spec = side + shape + ("" if kind in "sr" else "d" if kind == "i" else kind)
        add(lx, parts, ops, value, kind if kind in "sr" else "", spec, node)
    if given or "%" in text[end:]:
        raise lx.error("T131", f"the format {text!r} does not fit its arguments", node, _FORMAT)
    parts.append(text[end:])
    return made(parts, ops)


def _items(lx: Lifter, value: Any) -> tuple[Any, ...] | None:
    if isinstance(value, Tuple):
        return value.items
    state = lx.state.cells.get(value.cell) if isinstance(value, Ref) else None
    return state.items if isinstance(state, Items) and state.kind == "list" else None


def message(lx: Lifter, args: list[gast.expr]) -> tuple[Parts, list[ir.Operand]]:
    """The text of an exception's arguments."""
    parts: list[Any] = []
    ops: list[ir.Operand] = []
    for k, node in enumerate(args):
        if k:
            parts.append(", ")
        add(lx, parts, ops, lx.expr(node), "", "", node)
    return merged(parts), ops


def merged(parts: list[Any]) -> Parts:
    """Neighbouring texts as one."""
    found: list[Any] = []
    for part in parts:
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        elif part != "":
            found.append(part)
    return tuple(found)


def breakpoint_call(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Static:
    """``breakpoint()``: it stops where it stands, as a print would print there."""
    if args or kwargs:
        raise lx.error("T131", "breakpoint takes no arguments here", node, hint="write breakpoint()")
    lx.b.emit(ir.Breakpoint((), (), loc=lx.b.loc))
    return Static(None)


def print_call(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Static:
    """``print(...)``."""
    ops: list[ir.Operand] = []
    shown: list[Parts] = []
    for value in args:
        parts: list[Any] = []
        add(lx, parts, ops, value, "", "", node)
        shown.append(merged(parts))
    sep, end = (lx.static(kwargs[k], k, node) if k in kwargs else d for k, d in (("sep", " "), ("end", "\n")))
    lx.b.emit(ir.Print(tuple(ops), tuple(shown), sep, end, loc=lx.b.loc))
    return Static(None)
