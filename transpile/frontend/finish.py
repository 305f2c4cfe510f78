"""The end of lifting: sizes get their names, checks and sizes come to the top, what nobody reads goes.

In: what was emitted. Out: the function, its symbols canonical. Names of the lifter's own stay out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.places import FormOf, _itself
from transpile.core.types import Type
from transpile.core.walk import Cloner, blocks, defined, statements, uses
from transpile.frontend.control.in_place import in_place
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import symbols as symbolic
from transpile.numpy_api.api_arguments import from_nested
from transpile.ops.tables import prims, record_of
from transpile.simplify.unread import prune


def finish(lx: Lifter, fn: ir.Function) -> ir.Function:
    """The function with its sizes named and checked, and without what is dead."""
    lx.symbols.forget_unread()
    taken = [v.name for v in fn.params]
    renamed = {k: Dim.symbol(v) for k, v in lx.symbols.final_names(taken).items()}

    def final(name: str) -> Dim:
        return lx.symbols.resolve(Dim.symbol(name) if name in lx.symbols.origins else _atom(lx, name)).substitute(
            renamed.get
        )

    top = _sizes(lx, fn, renamed)
    fn.body.stmts[:0] = top
    fn.symbols = _used_symbols(lx, fn, final)
    cloner = _Finisher(lx.b.form_of, final)
    done = cloner.function(fn)
    done.symbols = {_final_name(final, k): cloner.operand(v) for k, v in fn.symbols.items()}
    merge_copies(done.body)
    done.taken = lx.symbols.taken(lx.first_capture)
    return prune(in_place(done))


def _atom(lx: Lifter, name: str) -> Dim:
    """The atom of a name that is no argument's size: an index or a computed integer."""
    op = lx.b.symbols.get(name)
    form = lx.b.form_of(op) if isinstance(op, ir.Var) else None
    if form is not None and form.as_symbol == name:
        return form
    for kind in (Dim.integer, Dim.symbol):
        return kind(name)
    raise AssertionError


def _final_name(final: Any, name: str) -> str:
    return final(name).as_symbol or name


def _sizes(lx: Lifter, fn: ir.Function, renamed: Mapping[str, Dim]) -> list[ir.Stmt]:
    """The sizes of the arguments, and the checks that those taken to be equal are."""
    params = fn.params
    block = ir.Block()
    lx.b.canonical = _itself
    with lx.b.into(block):
        symbols = lx.symbols
        for guard in (
            *symbols.guards.values(),
            *symbols.unequal.values(),
        ):  # numbers now, perhaps
            lx.symbols.operand(lx, guard.a)
            lx.symbols.operand(lx, guard.b)
        for name, origin in lx.symbols.origins.items():
            var = lx.b.symbols.get(name)
            if isinstance(var, ir.Var):
                var.name = renamed[name].as_symbol or name if name in renamed else name
                lx.b.emit(ir.Let(var, "dim", (params[origin.param],), {"axis": origin.axis}, fn.loc))
        for guard in lx.symbols.guards.values():
            a, b = lx.b.dim(guard.a), lx.b.dim(guard.b)
            symbolic.emit_check(lx, a.op, b.op, guard.message, guard.loc)
        for guard in symbols.unequal.values():
            symbolic.emit_apart(lx, guard)
        for var, value in lx.checked.items():
            _check_known(lx, fn, var, value)
    return block.stmts


def _check_known(lx: Lifter, fn: ir.Function, var: ir.Var, value: Any) -> None:
    """``if var != value: raise ValueError``; of an array, if an entry is another."""
    what = f"{fn.name} was transformed for {lx.captures[var]} = "
    if var.type.dims:
        entries = from_nested(lx.b, value.tolist(), var.type.dtype)
        test = lx.b.let(
            "any", lx.b.elementwise("not_equal", var, entries), axes=tuple(range(var.type.rank)), keepdims=False
        )
        symbolic.emit_failure(lx, test.op, (f"{what}{value.tolist()}",), (), fn.loc)
    else:
        test = lx.b.elementwise("not_equal", var, value)
        symbolic.emit_failure(lx, test.op, (f"{what}{value.value}, not ", (0, "", "")), (var,), fn.loc)


def _used_symbols(lx: Lifter, fn: ir.Function, final: Any) -> dict[str, ir.Operand]:
    """The symbols that types and subscripts speak of, with the operands that hold their values."""
    found: dict[str, None] = {}
    for var in (*fn.params, *defined(fn.body)):
        parts = [d for t in (var.type, *var.type.items) for d in t.dims]
        form = lx.b.form_of(var)
        for dim in parts if form is None else (*parts, form):
            found.update(dict.fromkeys(lx.symbols.resolve(dim).symbols()))
    for stmt in statements(fn.body):
        if isinstance(stmt, (ir.Let, ir.Alloc)):
            for value in stmt.params.values():
                for dim in value if isinstance(value, tuple) else (value,):
                    if isinstance(dim, Dim):
                        found.update(dict.fromkeys(lx.symbols.resolve(dim).symbols()))
    return {name: lx.b.symbols[name] for name in found if name in lx.b.symbols}


class _Finisher(Cloner):
    """Clones with canonical symbols; what a loop carries unchanged is not carried."""

    def __init__(self, form_of: FormOf, final: Callable[[str], Dim]) -> None:
        super().__init__({}, final)
        self.form_of, self.final = form_of, final
        self.same: dict[ir.Var, ir.Operand] = {}  # sizes that a check has found equal to others

    def operand(self, operand: ir.Operand) -> ir.Operand:
        if isinstance(operand, ir.Undef) and operand.type.dims:
            return ir.Undef(self.type(operand.type))
        return super().operand(self.same.get(operand, operand))  # type: ignore[arg-type]

    def block(self, block: ir.Block) -> ir.Block:
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            if self._is_of_equals(stmt):
                assert isinstance(stmt, ir.Let)
                self.same[stmt.var] = self.same.get(stmt.args[0], stmt.args[0])  # type: ignore[arg-type]
            else:
                stmts.append(stmt)
        return super().block(replace(block, stmts=stmts))

    def _is_of_equals(self, stmt: ir.Stmt) -> bool:
        """Whether it is the smaller of two sizes that a check has found equal (``zip`` of two arrays)."""
        if (
            not isinstance(stmt, ir.Let)
            or record_of(stmt).extreme >= 0
            or not all(isinstance(a, ir.Var) for a in stmt.args)
        ):
            return False
        first, second = (self.form_of(a) for a in stmt.args)
        if first is None or second is None:
            return False
        return first.substitute(self.final) == second.substitute(self.final)

    def fresh(self, var: ir.Var) -> ir.Var:
        new = super().fresh(var)
        if new.type.dims and new.type.kind == "array":
            new.type = Type(new.type.dtype, new.type.dims)
        return new

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        return super().stmt(self._without_constant_carries(stmt) if isinstance(stmt, (ir.For, ir.While)) else stmt)

    def _without_constant_carries(self, stmt: Any) -> Any:
        keep: list[int] = []
        for k, (param, end, init) in enumerate(zip(stmt.body.params, stmt.body.yields, stmt.inits)):
            if end is param and not isinstance(init, ir.Undef):
                value = self.operand(init)
                self.mapping[param] = self.mapping[stmt.results[k]] = value
                if isinstance(stmt, ir.While):
                    self.mapping[stmt.test.params[k]] = value
            else:
                keep.append(k)
        if len(keep) == len(stmt.inits):
            return stmt

        def kept(items: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(items[k] for k in keep)

        body = replace(stmt.body, params=kept(stmt.body.params), yields=kept(stmt.body.yields))
        new = replace(stmt, inits=kept(stmt.inits), results=kept(stmt.results), body=body)
        if isinstance(new, ir.While):
            new.test = replace(stmt.test, params=kept(stmt.test.params))
        return new


def merge_copies(block: ir.Block) -> None:
    """``y = zeros(n); buffer = copy of y`` becomes ``buffer = zeros(n)`` where nobody else reads ``y``."""
    counts: dict[ir.Var, int] = {}
    for op in uses(block):
        if isinstance(op, ir.Var):
            counts[op] = counts.get(op, 0) + 1
    _merge(block, counts)


def _merge(block: ir.Block, counts: dict[ir.Var, int]) -> None:
    table = prims()
    made = {s.var: k for k, s in enumerate(block.stmts) if isinstance(s, ir.Let)}
    gone: set[int] = set()
    for k, stmt in enumerate(block.stmts):
        for inner in blocks(stmt):
            _merge(inner, counts)
        if not (isinstance(stmt, ir.Alloc) and stmt.prim == "copy"):
            continue
        source = stmt.args[0]
        at = made.get(source) if isinstance(source, ir.Var) else None
        if at is None or counts.get(source, 0) != 1:  # type: ignore[arg-type]
            continue
        let = block.stmts[at]
        assert isinstance(let, ir.Let)
        if table[let.prim].is_fresh:
            if let.var.name != ir.SYNTHETIC:
                stmt.var.name = let.var.name
            block.stmts[at] = ir.Alloc(stmt.var, let.prim, let.args, let.params, let.loc)
            gone.add(k)
    block.stmts[:] = [s for k, s in enumerate(block.stmts) if k not in gone]
