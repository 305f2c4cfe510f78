"""What differs between lanes: the values, memory and sizes that depend on mapped parameters, through data or control.

while y > tol: y = g(y); k = k + 1      y is mapped, so the test is too, and with it k, although k depends on no data of a lane
z = x[mask]                             mask is mapped: the size of z differs; that of x[idx] does not
"""

from __future__ import annotations

from collections.abc import Iterable

from transpile.analysis.called import NOTHING, Summaries, Summary, may_act
from transpile.core import nodes as ir
from transpile.core.functions import is_custom
from transpile.core.types import Type
from transpile.core.walk import blocks, defines, dim_symbols, statements
from transpile.ops.tables import record_of


class Mapped:
    """A fixed point. ``values``: the variables that differ between lanes, including buffers and stacks; ``sizes``: the symbols
    that differ.

    ``called`` gives the summaries of calls; ``axis`` is the parameter that collectives over these lanes take as their axis.
    """

    def __init__(self, fn: ir.Function, given: Iterable[ir.Var], called: Summaries, axis: ir.Var | None = None) -> None:
        self.called, self.axis = called, axis
        self.values: set[ir.Var] = set(given)
        self.sizes: set[str] = set()
        self.made: dict[ir.Var, ir.Stmt] = {v: s for s in statements(fn.body) for v in defines(s)}
        self.under: set[ir.Var] = set()  # results of branches and loops at which lanes diverge
        size = (-1, -1, -1)
        while size != (size := (len(self.values), len(self.sizes), len(self.under))):
            self.block(fn.body, False)
            self.sizes.update(name for name, op in fn.symbols.items() if self.differs(name, op))

    def has(self, *operands: ir.Operand | None) -> bool:
        """Whether one of the operands differs between lanes."""
        return any(isinstance(o, ir.Var) and o in self.values for o in operands)

    def has_size(self, type_: Type) -> bool:
        """Whether values of the type have sizes that differ between lanes."""
        return any(name in self.sizes for d in type_.dims for name in d.symbols())

    def diverges(self, stmt: ir.Stmt) -> bool:
        """Whether lanes may take different sides of a branch, or run a loop for different numbers of iterations."""
        match stmt:
            case ir.If():
                return self.has(stmt.test)
            case ir.For():
                return self.has(stmt.start, stmt.bound, stmt.step, stmt.body.stop)
            case ir.While():
                return self.has(*stmt.test.yields, stmt.body.stop)
        return False

    def called_as(self, stmt: ir.Stmt) -> Summary:
        """The summary of a call with its mapped arguments; an empty one for other statements."""
        if not isinstance(stmt, ir.Call):
            return NOTHING
        return self.called.of(stmt, self.given(stmt))

    def given(self, stmt: ir.Call) -> list[bool | None]:
        """For each argument of a call, whether the batched call gets it with lanes; None for the axis of these lanes.

        In a linear solve the right-hand side has lanes if any argument has, because its derivative solves with one that
        differs.
        """
        found = self.pattern(stmt.args)
        if is_custom(stmt) and (any(found) or self.axis in stmt.args):
            if stmt.custom.rule == "linear":
                found[: stmt.custom.outputs] = [True] * stmt.custom.outputs
            elif stmt.custom.again:  # and so do the calls in its rule, where any argument may differ
                given = range(stmt.custom.given or 0)
                found = [
                    True if k in given and a.type.is_float else g for k, (a, g) in enumerate(zip(stmt.args, found))
                ]
        return found

    def pattern(self, args: Iterable[ir.Operand]) -> list[bool | None]:
        """For each argument of a call, whether it differs between lanes; None for the axis of these lanes."""
        return [None if a is self.axis else self.has(a) for a in args]

    def collective(self, stmt: ir.Stmt) -> bool | None:
        """Whether a collective over these lanes gives each of them a different result; None if the statement is no such
        collective."""
        if not isinstance(stmt, ir.Let) or not record_of(stmt).collective or stmt.args[-1] is not self.axis:
            return None
        return record_of(stmt).is_own

    # ---- sizes

    def differs(self, name: str, op: ir.Operand) -> bool:
        """Whether the size symbol ``name``, whose value is the operand ``op``, differs between lanes."""
        let = self.made.get(op) if isinstance(op, ir.Var) else None
        if not isinstance(let, ir.Let) or let.prim != "dim":
            return self.has(op)
        source = let.args[0]
        if name not in source.type.dims[let.params["axis"]].symbols() or not isinstance(source, ir.Var):
            return self.has(op)
        return self.decides(source)  # the symbol is the size that a value turns out to have

    def decides(self, var: ir.Var) -> bool:
        """Whether the size of a variable depends on something that differs between lanes."""
        stmt = self.made.get(var)
        match stmt:
            case None:
                return False  # a parameter
            case ir.Call():
                return bool(self.called_as(stmt).sizes[stmt.results.index(var)])
            case ir.Let(prim="index"):
                return self.has(*_deciding(stmt)) or any(self.has_size(a.type) for a in stmt.args)
            case ir.Let() | ir.Alloc():
                return self.has(*stmt.args) or any(self.has_size(a.type) for a in stmt.args)
            case ir.If():
                k = stmt.results.index(var)
                return var in self.under or any(self.has_size(side.yields[k].type) for side in (stmt.then, stmt.orelse))
            case ir.For() | ir.While():
                k = stmt.results.index(var)
                return var in self.under or self.has_size(stmt.inits[k].type) or self.has_size(stmt.body.yields[k].type)
        return self.has(var)

    # ---- values

    def note(self, *found: ir.Operand) -> None:
        """Marks variables as different between lanes."""
        self.values.update(v for v in found if isinstance(v, ir.Var))

    def block(self, block: ir.Block, under: bool) -> None:
        """Marks what the statements of a block make different between lanes; ``under``: not all lanes run it equally often."""
        for stmt in block.stmts:
            self.stmt(stmt, under)

    def stmt(self, stmt: ir.Stmt, under: bool) -> None:
        """Marks what one statement, nested blocks included, makes different between lanes; ``under``: not all lanes run it
        equally often."""
        match stmt:
            case ir.Let(prim="dim"):
                dims = stmt.args[0].type.dims
                if dims and any(name in self.sizes for name in dims[stmt.params["axis"]].symbols()):
                    self.note(stmt.var)
            case ir.Let() if (own := self.collective(stmt)) is not None:
                if own:
                    self.note(stmt.var)
            case ir.Let() | ir.Alloc():
                if self.has(*stmt.args) or any(name in self.sizes for name in dim_symbols(stmt)):
                    self.note(stmt.var)
            case ir.Store() | ir.Add():
                if under or self.has(stmt.value, *stmt.args):
                    self.note(stmt.buf)
            case ir.Push():
                if under or self.has(stmt.value):
                    self.note(stmt.stack)
            case ir.Pop():
                if under or self.has(stmt.stack):
                    self.note(stmt.var, stmt.stack)
            case ir.Call(function=ir.Routine()):
                if self.has(*stmt.args) or self.axis in stmt.args:
                    self.note(*stmt.results)
            case ir.Call():
                # floating-point results always: each lane has an adjoint of its own
                if self.has(*stmt.args) or self.axis in stmt.args:
                    values = self.called_as(stmt).values
                    self.note(*(r for r, differs in zip(stmt.results, values) if differs or is_out(stmt, r)))
            case ir.If():
                diverges = self.diverges(stmt)
                for side in (stmt.then, stmt.orelse):
                    self.block(side, under or diverges)
                for result, a, b in zip(stmt.results, stmt.then.yields, stmt.orelse.yields):
                    self.join(result, diverges, a, b)
            case ir.For() | ir.While():
                self.loop(stmt, under)

    def join(self, result: ir.Var, diverges: bool, *given: ir.Operand) -> None:
        """Marks the result of a branch or loop if it differs between lanes: because the lanes take different ways
        (``diverges``), or because a ``given`` operand differs."""
        if diverges:
            self.under.add(result)
        if diverges or self.has(*given):
            self.note(result)

    def loop(self, stmt: ir.For | ir.While, under: bool) -> None:
        """Marks what a loop makes different between lanes: index, carried values, results, trip count, and what its blocks do.
        ``under``: not all lanes run the loop equally often."""
        if isinstance(stmt, ir.While):
            self.block(stmt.test, under or self.diverges(stmt))
        elif self.has(stmt.start, stmt.bound, stmt.step):
            self.note(stmt.index)
        diverges = self.diverges(stmt)
        tests = [stmt.test.params] if isinstance(stmt, ir.While) else []
        for carried in (stmt.results, stmt.body.params, *tests):
            for var, init, out in zip(carried, stmt.inits, stmt.body.yields):
                self.join(var, diverges, init, out)
        if diverges and stmt.trips is not None:
            self.note(stmt.trips)
        self.block(stmt.body, under or diverges)


def is_out(stmt: ir.Call, result: ir.Var) -> bool:
    """Whether a result of a call of a function with a user-defined derivative has an adjoint: it is a floating-point output."""
    return result.type.is_float and result in stmt.results[: stmt.custom.outputs]


def _deciding(stmt: ir.Let) -> list[ir.Operand]:
    """The operands of an ``index`` statement that determine the size of its result: masks, bounds of slices, sizes of a
    reshape."""
    found: list[ir.Operand] = []
    operands = stmt.args[1:]
    for step in stmt.params["path"]:
        match step:
            case ir.Index():
                for item in step.items:
                    if isinstance(item, ir.Mask):
                        found.append(operands[item.arg])
                    elif isinstance(item, ir.Slice):
                        found += [operands[k] for k in (item.start, item.stop, item.step) if k is not None]
            case ir.Reshape():
                found += [operands[k] for k in step.args]
    return found


def below_branches(mapped: Mapped, fn: ir.Function) -> set[int]:
    """The ids of statements that lanes may execute different numbers of times."""
    found: set[int] = set()
    for stmt in statements(fn.body):
        if mapped.diverges(stmt):
            found.update(id(s) for b in blocks(stmt) for s in statements(b))
    return found


def acts_in_lanes(mapped: Mapped, stmt: ir.Stmt, under: set[int]) -> bool:
    """Whether a statement prints or checks, or raises in some lanes only, itself or in a function that it calls. ``under``: the
    ids of statements that not all lanes reach."""
    if isinstance(stmt, ir.Effect):
        return not isinstance(stmt, ir.Raise) or mapped.has(*stmt.args) or id(stmt) in under
    found = mapped.called_as(stmt)
    return found.acts or id(stmt) in under and may_act(stmt)
