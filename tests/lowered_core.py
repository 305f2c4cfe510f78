"""Lowered core in the form that transforms take: it adds what `transpile.lower` omits because loops do not need it.

Lowered arrays have no symbolic sizes, and a check of an index is one statement; in core every dimension has a name, and a check
is a branch that raises. Views that only library calls read have no rule: `NotScalar`.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.functions import reached
from transpile.core.rebuild import with_blocks
from transpile.core.types import BOOL, INT
from transpile.core.walk import blocks, statements
from transpile.loops.check_elimination import eliminate_checks, in_floats
from transpile.lower import lower
from transpile.lower.half_precision import in_single_precision
from transpile.ops.tables import record_of


class NotScalar(Exception):
    """The lowered function calls a library, or carries arrays whose sizes have no name."""


def _is_of_library(let: ir.Let) -> bool:
    return let.prim == "item" or record_of(let).kind == "number"


def lowered_core(core: ir.Function) -> ir.Function:
    """The function as scalar statements, with the trees of ``core``; a transform can follow."""
    if reached(core):
        raise NotScalar("a function that calls itself")
    fn = eliminate_checks(lower(in_single_precision(core)))
    for stmt in statements(fn.body):
        if isinstance(stmt, (ir.Call, ir.View)) or isinstance(stmt, ir.Let) and _is_of_library(stmt):
            raise NotScalar("a call of a library")
        if isinstance(stmt, ir.Print):
            raise NotScalar("print")
        carried = (
            stmt.body.params
            if isinstance(stmt, (ir.For, ir.While))
            else stmt.results
            if isinstance(stmt, ir.If)
            else ()
        )
        if any(v.type.dims for v in carried) or (isinstance(stmt, ir.NewStack) and stmt.var.type.dims):
            raise NotScalar("an array that is handed on")
    filled = _Filled(fn)
    body = filled.block(fn.body)
    return replace(
        fn,
        body=replace(body, stmts=[*filled.sizes, *body.stmts]),
        symbols=filled.symbols,
        arg_tree=core.arg_tree,
        out_tree=core.out_tree,
        doc=core.doc,
        captured=core.captured,
        errstate=core.errstate,
    )


class _Filled:
    def __init__(self, fn: ir.Function) -> None:
        self.symbols: dict[str, ir.Operand] = {}
        self.sizes: list[ir.Stmt] = []
        self.known: dict[ir.Var, Dim] = {}
        for p in fn.params:
            for axis, dim in enumerate(p.type.dims):
                size = ir.Var("size", INT)
                self.sizes.append(ir.Let(size, "dim", (p,), {"axis": axis}))
                for atom, _ in dim.terms:
                    if dim == Dim.symbol(atom.name):
                        self.symbols.setdefault(atom.name, size)
        for stmt in statements(fn.body):
            if isinstance(stmt, ir.Let) and stmt.prim == "dim":
                self.known[stmt.var] = stmt.args[0].type.dims[stmt.params["axis"]]  # type: ignore[union-attr]

    def block(self, block: ir.Block) -> ir.Block:
        return replace(block, stmts=[new for s in block.stmts for new in self.stmt(s)])

    def stmt(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        match stmt:
            case ir.Alloc():
                dims = tuple(self.dim(a) for a in stmt.args)
                stmt.var.type = replace(stmt.var.type, dims=dims)
                return [replace(stmt, prim="empty", params={"dims": dims, "dtype": stmt.var.type.dtype})]
            case ir.Let(prim="index"):
                return [replace(stmt, params={**stmt.params, "dims": ()})]
            case ir.Let(prim="cast"):
                return [replace(stmt, params={**stmt.params, "dtype": stmt.var.type.dtype, "weak": stmt.var.type.weak})]
            case ir.Let(prim="quick_div" | "quick_mod"):
                return [replace(stmt, prim="floordiv" if stmt.prim == "quick_div" else "mod")]
            case ir.Let() if stmt.prim.startswith("overflows_"):
                return []
            case ir.Let(prim="factorial_float" | "comb_float" | "perm_float"):
                whole = ir.Var("", INT)
                return [
                    replace(stmt, var=whole, prim=stmt.prim.removesuffix("_float")),
                    replace(stmt, prim="cast", args=(whole,), params={"dtype": "float64", "weak": stmt.var.type.weak}),
                ]
            case ir.Let() if stmt.prim == "true_divide" or stmt.prim.startswith("exact_"):
                return list(in_floats(stmt))
            case ir.Check():
                return []
            case ir.BoundsCheck():
                return self.check(stmt)
            case ir.Raise():
                return [_raised(stmt)]
        return [with_blocks(stmt, self.block) if blocks(stmt) else stmt]

    def dim(self, size: ir.Operand) -> Dim:
        if isinstance(size, ir.Const):
            return Dim.of(size.value)
        assert isinstance(size, ir.Var)
        if size not in self.known:
            name = f"lowered{len(self.symbols)}"
            self.symbols[name] = size
            self.known[size] = Dim.symbol(name)
        return self.known[size]

    def check(self, stmt: ir.BoundsCheck) -> list[ir.Stmt]:
        at, size = stmt.at, stmt.size
        found: list[ir.Stmt] = []

        def test(prim: str, *args: ir.Operand) -> ir.Var:
            found.append(ir.Let(ir.Var("", BOOL), prim, args, {}, stmt.loc))
            return found[-1].var  # type: ignore[union-attr]

        wrong = test("greater_equal", at, size)
        if stmt.low:
            wrong = test("logical_or", wrong, test("less", at, ir.Const(0, INT)))
        if stmt.guard is not None:
            wrong = test("logical_and", stmt.guard, wrong)
        return [*found, ir.If(wrong, ir.Block((), [_raised(stmt)]), ir.Block(), (), stmt.loc)]


def _raised(stmt: ir.Raise | ir.BoundsCheck) -> ir.Raise:
    return ir.Raise((), stmt.exception, ("wrong",), loc=stmt.loc)
