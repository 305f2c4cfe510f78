"""A compact text form of core, for readers and tests: one statement per line, blocks indented.

>>> from transpile.core.nodes import Block, Const, Function, Let, Var
>>> from transpile.core.types import FLOAT
>>> x, y = Var("x", FLOAT), Var("y", FLOAT)
>>> print(dump(Function("double", (x,), Block(stmts=[Let(y, "mul", (Const(2.0, FLOAT), x))], yields=(y,)), {})))
double(x: float):
  y: float = mul 2.0 x
  yield y
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from transpile.core import nodes as ir
from transpile.core.functions import helpers


def dump(fn: ir.Function, *, locs: bool = False) -> str:
    """The text of a function; with ``locs``, the user's line number follows each statement."""
    printer = _Printer(locs)
    params = ", ".join(printer.declare(v) for v in fn.params)
    lines = [f"{fn.name}({params}):", *printer.block(fn.body, 1)]
    if fn.symbols:
        values = ", ".join(f"{k} = {printer.operand(v)}" for k, v in fn.symbols.items())
        lines.append(f"  where {values}")
    return "\n".join(lines)


def dump_all(fn: ir.Function) -> str:
    """The text of a function, preceded by the texts of the kept functions that it reaches, with empty lines between."""
    return "\n\n".join(dump(one) for one in (*(r.body for r in helpers(fn)), fn))


def dump_block(block: ir.Block) -> str:
    """The text of a single block; variables defined outside are shown by name only."""
    return "\n".join(_Printer(False).block(block, 0))


def dump_stmt(stmt: ir.Stmt) -> str:
    """The text of one statement, including nested blocks."""
    return "\n".join(_Printer(False).stmt(stmt, 0))


class _Printer:
    def __init__(self, locs: bool) -> None:
        self.locs = locs
        self.names: dict[ir.Var, str] = {}
        self.counts: dict[str, int] = {}

    def name(self, var: ir.Var) -> str:
        """The variable's name, with a number from the second variable of this name on (``x``, ``x.2``)."""
        if var not in self.names:
            count = self.counts[var.label] = self.counts.get(var.label, 0) + 1
            self.names[var] = var.label if count == 1 else f"{var.label}.{count}"
        return self.names[var]

    def declare(self, var: ir.Var) -> str:
        return f"{'buffer ' if var.buffer else ''}{self.name(var)}: {var.type}"

    def operand(self, operand: ir.Operand | None) -> str:
        """The text of an operand: a variable's name, a constant with its dtype unless it is weak, "undef", or "none"."""
        match operand:
            case ir.Var():
                return self.name(operand)
            case ir.Const():
                strong = "" if operand.type.weak else f":{operand.type.dtype}"
                return f"{operand.value!r}{strong}"
            case ir.Undef():
                return "undef"
        return "none"

    def many(self, operands: Sequence[ir.Operand]) -> str:
        return ", ".join(self.operand(o) for o in operands)

    # ---- places

    def place(self, root: ir.Operand, path: ir.Path, args: Sequence[ir.Operand]) -> str:
        return self.operand(root) + ("".join(self.step(s, args) for s in path) or "[...]")

    def step(self, step: Any, args: Sequence[ir.Operand]) -> str:
        """The text of one step of a path, as it follows the source: ``[i, :]``, ``.permute(1, 0)``; ``args`` are the path's
        operands."""
        match step:
            case ir.Index():
                return f"[{', '.join(self.item(i, args) for i in step.items)}]"
            case ir.Permute():
                return f".permute{step.axes}"
            case ir.Reshape():
                return f".view({', '.join(self.operand(args[a]) for a in step.args)})"
            case ir.Diagonal():
                return ".diagonal"
        return f".{step}"

    def item(self, item: Any, args: Sequence[ir.Operand]) -> str:
        """The text of one item of a subscript; ``args`` are the operands of its path."""
        match item:
            case ir.Point():
                return self.operand(args[item.arg])
            case ir.Gather():
                return f"gather {self.operand(args[item.arg])}"
            case ir.Mask():
                return f"mask {self.operand(args[item.arg])}"
            case ir.NewAxis():
                return "None"
            case ir.Slice():
                ends = [("" if k is None else self.operand(args[k])) for k in (item.start, item.stop, item.step)]
                return ":".join(ends[:2] if item.step is None else ends)
        return str(item)

    def lanes(self, s: ir.PacketRead | ir.PacketStore) -> str:
        mask = "" if s.mask is None else f" where {self.operand(s.mask)}"
        return f"lanes {self.operand(s.buf)}[{self.many(s.args)}]{mask}"

    # ---- statements

    def block(self, block: ir.Block, depth: int) -> list[str]:
        """The lines of a block, with its yields and its stop, indented by ``depth`` levels."""
        lines = [line for stmt in block.stmts for line in self.stmt(stmt, depth)]
        pad = "  " * depth
        if block.yields:
            lines.append(f"{pad}yield {self.many(block.yields)}")
        if block.stop is not None:
            lines.append(f"{pad}stop if {self.operand(block.stop)}")
        return lines

    def stmt(self, stmt: ir.Stmt, depth: int) -> list[str]:
        """The lines of a statement, nested blocks included, indented by ``depth`` levels."""
        lines = list(_STMTS[type(stmt)](self, stmt, depth))
        pad = "  " * depth
        loc = f"  # {stmt.loc.line}" if self.locs and stmt.loc.line else ""
        return [pad + lines[0] + loc, *lines[1:]]

    def value(self, prim: str, args: Sequence[ir.Operand], params: Mapping[str, Any]) -> str:
        if prim == "index":
            return self.place(args[0], params["path"], args[1:])
        words = [prim, *(self.operand(a) for a in args)]
        words += [f"{k}={_param(v)}" for k, v in params.items()]
        return " ".join(words)

    def results(self, results: Sequence[ir.Var]) -> str:
        return ", ".join(self.declare(v) for v in results) + (" = " if results else "")

    def carries(self, params: Sequence[ir.Var], inits: Sequence[ir.Operand]) -> str:
        pairs = ", ".join(f"{self.declare(p)} := {self.operand(i)}" for p, i in zip(params, inits))
        return f" with {pairs}" if pairs else ""


def _param(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(_param(v) for v in value)}{',' if len(value) == 1 else ''})"
    return repr(value) if isinstance(value, str) else str(value)


def _let(p: _Printer, s: ir.Let, depth: int) -> Iterator[str]:
    value = p.value(s.prim, s.args, s.params)
    yield f"{p.declare(s.var)} = {value}"


def _view(p: _Printer, s: ir.View, depth: int) -> Iterator[str]:
    yield f"{p.declare(s.var)} = view {p.place(s.base, (s.step,), s.args[1:])}"


def _alloc(p: _Printer, s: ir.Alloc, depth: int) -> Iterator[str]:
    value = p.value(s.prim, s.args, s.params)
    space = "" if s.space == "heap" else f"in the {s.space} "
    yield f"{p.declare(s.var)} = new {space}{value}" + (f"  -- {s.reason}" if s.reason else "")


def _store(p: _Printer, s: ir.Store, depth: int) -> Iterator[str]:
    yield f"{p.place(s.buf, s.path, s.args)} <- {p.operand(s.value)}"


def _packet_read(p: _Printer, s: ir.PacketRead, depth: int) -> Iterator[str]:
    yield f"{p.declare(s.var)} = {p.lanes(s)}"


def _packet_store(p: _Printer, s: ir.PacketStore, depth: int) -> Iterator[str]:
    yield f"{p.lanes(s)} <- {p.operand(s.value)}"


def _add(p: _Printer, s: ir.Add, depth: int) -> Iterator[str]:
    yield f"{p.place(s.buf, s.path, s.args)} += {p.operand(s.value)}"


def _if(p: _Printer, s: ir.If, depth: int) -> Iterator[str]:
    test = p.operand(s.test)
    then, orelse = p.block(s.then, depth + 1), p.block(s.orelse, depth + 1)
    yield f"{p.results(s.results)}if {test}:"
    yield from then
    if orelse:
        yield "  " * depth + "else:"
        yield from orelse


def _for(p: _Printer, s: ir.For, depth: int) -> Iterator[str]:
    way = "backwards " if s.backwards else ""
    way += "" if s.kind == "serial" else f"{s.kind} "
    carries = p.carries(s.body.params, s.inits)
    span = ", ".join(p.operand(o) for o in (s.start, s.bound, s.step))
    carries += f" combined by {', '.join(s.combiners)}" if s.combiners else ""
    carries += f" in vectors of {s.width}" if s.width else ""
    head = f"for {p.declare(s.index)} in {way}range({span}){carries}:"
    body = p.block(s.body, depth + 1)
    yield f"{p.results(s.results)}{head}" + (f" -> {p.declare(s.trips)}" if s.trips is not None else "")
    yield from body


def _call(p: _Printer, s: ir.Call, depth: int) -> Iterator[str]:
    if isinstance(s.function, ir.Custom):
        more = f" rule={s.function.rule}"
        name = s.function.fn.name
    elif isinstance(s.function, ir.Routine):
        more, name = "", s.function.name
    else:
        more = f" fills {', '.join(p.operand(s.args[k]) for k in s.written)}" if s.written else ""
        name = s.function.name
    yield f"{p.results(s.results)}call {name} {p.many(s.args)}{more}"


def _while(p: _Printer, s: ir.While, depth: int) -> Iterator[str]:
    carries = p.carries(s.body.params, s.inits)
    test = [f"{'  ' * depth}test{p.carries(s.test.params, s.body.params)}:", *p.block(s.test, depth + 1)]
    body = p.block(s.body, depth + 1)
    yield f"{p.results(s.results)}while{carries}:" + (f" -> {p.declare(s.trips)}" if s.trips is not None else "")
    yield from test
    yield "  " * depth + "do:"
    yield from body


def _print(p: _Printer, s: ir.Print, depth: int) -> Iterator[str]:
    yield f"print {p.many(s.args)} {_param(s.parts)} sep={s.sep!r} end={s.end!r}"


def _raise(p: _Printer, s: ir.Raise, depth: int) -> Iterator[str]:
    yield f"raise {s.exception} {p.many(s.args)} {_param(s.parts)}"


def _check(p: _Printer, s: ir.Check, depth: int) -> Iterator[str]:
    yield f"check not {p.operand(s.test)} else {s.exception} {_param(s.parts)}"


def _bounds_check(p: _Printer, s: ir.BoundsCheck, depth: int) -> Iterator[str]:
    low = "0 <= " if s.low else ""
    guard = "" if s.guard is None else f" if {p.operand(s.guard)}"
    text = f"check {low}{p.operand(s.at)} < {p.operand(s.size)}{guard} else {s.exception} of {p.operand(s.given)}"
    yield f"{text} {_param(s.parts)}"


_STMTS: dict[type, Callable[[_Printer, Any, int], Iterator[str]]] = {
    ir.Let: _let,
    ir.View: _view,
    ir.Alloc: _alloc,
    ir.Store: _store,
    ir.PacketRead: _packet_read,
    ir.PacketStore: _packet_store,
    ir.Add: _add,
    ir.If: _if,
    ir.For: _for,
    ir.While: _while,
    ir.Call: _call,
    ir.NewStack: lambda p, s, depth: iter(
        [f"{p.declare(s.var)} = new stack" + (f"  -- {s.reason}" if s.reason else "")]
    ),
    ir.Push: lambda p, s, depth: iter([f"push {p.operand(s.stack)} {p.operand(s.value)}"]),
    ir.Pop: lambda p, s, depth: iter([f"{p.declare(s.var)} = pop {p.operand(s.stack)}"]),
    ir.Print: _print,
    ir.Breakpoint: lambda p, s, depth: iter(["breakpoint"]),
    ir.Raise: _raise,
    ir.Check: _check,
    ir.BoundsCheck: _bounds_check,
}
