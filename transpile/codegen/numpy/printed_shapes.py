"""Chooses how shapes are spelled for arrays that are filled, left empty, broadcast or reshaped.

The spelling is a `Shape` in ``params["shape"]``; the variables it reads become additional operands of the statement, so that
every later step sees them. It is ``np.zeros_like(x)`` if a parameter has exactly this type and a matching name, else ``(n,
d)``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import INT, Type
from transpile.core.walk import blocks, defines, leaves, reads, statements, written_in
from transpile.ops.spelling import Form
from transpile.ops.tables import record_of

Dims = tuple[Dim, ...]


@dataclass(frozen=True)
class Shape:
    """The spelling of a shape; the slots are numbers of the statement's operands.

    ``like``: the slot of an array of the same shape and dtype; ``of``: the slot of an array of the same shape. Else ``dims``,
    with the slots of their symbols.
    """

    dims: Dims = ()
    like: int | None = None
    of: int | None = None
    slots: Mapping[str, int] = field(default_factory=dict)


def say_shapes(fn: ir.Function) -> ir.Function:
    """``fn`` with a `Shape` in ``params["shape"]`` of each statement whose text has a shape."""
    return replace(fn, body=_Shaper(fn).block(fn.body, []))


class _Shaper:
    """Rewrites blocks in order, and knows the variables and arrays that are in scope."""

    def __init__(self, fn: ir.Function) -> None:
        self.fn = fn
        written = set(written_in(fn.body))
        self.stable = [p for p in fn.params if p.type.dims and p not in written]  # may be read for their shape
        self.scope: set[ir.Var] = set(fn.params)
        self.arrays: list[ir.Var] = list(self.stable)
        self.shaped = _reshaped(fn)
        self.counted = _symbols_used(fn)

    def block(self, block: ir.Block, extra: list[ir.Var]) -> ir.Block:
        """The block with shapes; ``extra`` are variables defined at its beginning beside its params."""
        saved, arrays = set(self.scope), list(self.arrays)
        self.define((*block.params, *extra))
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            stmts += self.stmt(stmt)
            self.define(defines(stmt))
        self.scope, self.arrays = saved, arrays
        return ir.Block(block.params, stmts, block.yields, block.stop)

    def define(self, found: tuple[ir.Var, ...]) -> None:
        """Adds the variables to those in scope, arrays among them also to those whose sizes may be read."""
        self.scope.update(found)
        self.arrays += [v for v in found if v.type.dims and v.type.kind == "array"]

    def stmt(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        """The statements that stand for a statement; reads of sizes that its text needs come first."""
        match stmt:
            case ir.If():
                return [replace(stmt, then=self.block(stmt.then, []), orelse=self.block(stmt.orelse, []))]
            case ir.For():
                return [replace(stmt, body=self.block(stmt.body, [stmt.index]))]
            case ir.While():
                return [replace(stmt, test=self.block(stmt.test, []), body=self.block(stmt.body, []))]
            case ir.Let() | ir.Alloc():
                if (wanted := _wanted(stmt)) is not None:
                    return self.shape(stmt, wanted)
        return [stmt]

    def shape(self, stmt: Any, wanted: Dims) -> list[ir.Stmt]:
        """The statement with the spelling of the shape ``wanted``, after reads of sizes that this needs."""
        args = list(stmt.args)
        if stmt.prim in ("full", "empty") and stmt.var not in self.shaped:
            like = self.natural(stmt.var) or self.same(Type(stmt.var.type.dtype, wanted))
            if like is not None:
                return [self.said(stmt, [*args, like], Shape(wanted, like=len(args)))]
        whole = self.same(Type("", wanted)) if len(wanted) > 1 else None
        if whole is not None and not self.is_cheap(wanted):
            return [self.said(stmt, [*args, whole], Shape(wanted, of=len(args)))]
        before: list[ir.Stmt] = []
        slots: dict[str, int] = {}
        for dim in wanted:
            for symbol in dim.symbols():
                if symbol not in slots:
                    slots[symbol] = len(args)
                    args.append(self.symbol(symbol, before, stmt))
        return [*before, self.said(stmt, args, Shape(wanted, slots=slots))]

    @staticmethod
    def said(stmt: Any, args: list[ir.Operand], shape: Shape) -> ir.Stmt:
        """The statement with these operands and this shape."""
        return replace(stmt, args=tuple(args), params={**stmt.params, "shape": shape})

    def symbol(self, name: str, before: list[ir.Stmt], stmt: Any) -> ir.Operand:
        """The operand that holds the value of the symbol ``name``; LookupError if nothing in scope has it.

        If the value must be read from an array, the statement is added to ``before``.
        """
        operand = self.fn.symbols.get(name)
        if operand is not None and (not isinstance(operand, ir.Var) or operand in self.scope):
            return operand
        for array in self.arrays:
            for axis, dim in enumerate(array.type.dims):
                if dim.as_symbol == name:
                    var = ir.Var(ir.SYNTHETIC, INT)
                    before.append(ir.Let(var, "dim", (array,), {"axis": axis}, stmt.loc))
                    return var
        raise LookupError(f"no value for the size {name!r} in {self.fn.name} (line {stmt.loc.line})")

    # ---- arrays of the same shape

    def natural(self, var: ir.Var) -> ir.Var | None:
        """The parameter after which an adjoint or a tangent is named (``x`` for ``x_bar``), if dims and dtype are the same;
        else None."""
        found = re.fullmatch(r"(\w+?)_(bar|dot)", var.name)
        for other in self.stable if found else ():
            if other.name == found[1] and other.type.dims == var.type.dims and other.type.dtype == var.type.dtype:  # type: ignore[index]
                return other
        return None

    def same(self, type_: Type) -> ir.Var | None:
        """A parameter, never written, with these dims, and this dtype unless that is ""; None if there is none.

        None too if all sizes have names in the text: then they are spelled.
        """
        if self.is_cheap(type_.dims):
            return None
        for other in self.stable:
            if other.type.dims == type_.dims and type_.dtype in ("", other.type.dtype):
                return other
        return None

    def is_cheap(self, dims: Dims) -> bool:
        """Whether the sizes are constants or have names in the text already."""
        return all(d.is_const or all(s in self.counted for s in d.symbols()) for d in dims)


def _reshaped(fn: ir.Function) -> set[ir.Var]:
    """The buffers that are reshaped, or accessed through a reshape: they must be C-contiguous."""
    found: set[ir.Var] = set()
    for stmt in statements(fn.body):
        if isinstance(stmt, (ir.Store, ir.Add)) and any(isinstance(step, ir.Reshape) for step in stmt.path):
            found.add(stmt.buf)
        if isinstance(stmt, ir.Let) and stmt.prim in ("index", "reshape") and isinstance(stmt.args[0], ir.Var):
            steps = stmt.params.get("path", ())
            if stmt.prim == "reshape" or any(isinstance(s, ir.Reshape) for s in steps):
                found.add(stmt.args[0])
    return found


def _symbols_used(fn: ir.Function) -> set[str]:
    """The symbols whose operand must stay: it is a constant, read as a value, or not the size of an array read by ``dim``."""
    read = {o for stmt in statements(fn.body) for o in _reads(stmt)}
    read.update(o for o in fn.body.yields)
    sizes = {s.var for s in fn.body.stmts if isinstance(s, ir.Let) and s.prim == "dim"}
    return {name for name, o in fn.symbols.items() if isinstance(o, ir.Const) or o in read or o not in sizes}


def _reads(stmt: ir.Stmt) -> tuple[ir.Operand, ...]:
    """The operands that a statement, and the ends of its blocks, read."""
    return (*reads(stmt), *(o for b in blocks(stmt) for o in leaves(b)))


# --------------------------------------------------------------------------------------- which prims say a shape


SIZED = (Form.FILLED, Form.UNWRITTEN, Form.SPREAD, Form.KEYS, Form.DRAWN)


def _wanted(stmt: ir.Let | ir.Alloc) -> Dims | None:
    """The sizes that the statement's text contains; None if it contains none."""
    form = record_of(stmt).form
    if form is Form.RESHAPED:
        is_said = reshape_form(stmt.args[0].type.dims, stmt.var.type.dims) == "sizes"
        return stmt.var.type.dims if is_said else None
    return tuple(stmt.params["dims"]) if form in SIZED else None


def reshape_form(source: Dims, dims: Dims) -> str:
    """The spelling of a reshape from the dims ``source`` to ``dims``, a word.

    "newaxis": only axes of size 1 are inserted; "squeeze": only such axes are removed; "infer": NumPy infers one size, the
    others are constants; "numbers": all sizes are constants; "sizes": anything else.
    """
    if [d for d in source if not d.is_one] == [d for d in dims if not d.is_one]:
        if len(dims) > len(source) and _is_subsequence(source, dims):
            return "newaxis"
        if len(dims) < len(source) and _is_subsequence(dims, source):
            return "squeeze"
    unknown = [d for d in dims if not d.is_const]
    if len(dims) == 1 or (len(unknown) == 1 and all(d.const > 0 for d in dims if d.is_const)):
        return "infer"
    return "numbers" if not unknown else "sizes"


def _is_subsequence(short: Dims, long: Dims) -> bool:
    """Whether the sizes ``short`` occur in ``long`` in this order, perhaps with others between them."""
    rest = iter(long)
    return all(any(d == e for e in rest) for d in short)


__all__ = ["Shape", "reshape_form", "say_shapes"]
