"""Jacobians: one derivative in all directions at once, core to core.

    x_dot = np.eye(n)                            one direction per row
    ...                                          the forward derivative, batched over the rows; the primal runs once
    jac = y_dot.T

Reverse mode gives the rows in the same way. If an axis of directions costs more than it saves
(`transpile.transform.batching.direction_cost`), the directions are the iterations of a loop, each of which repeats the
function's own sweep:

    for j in range(n):
        x_dot = zeros(n); x_dot[j] = 1
        ...
        jac[:, j] = y_dot
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.dims import Dim, product
from transpile.core.inline import splice
from transpile.core.rebuild import with_results
from transpile.core.types import FLOAT, INT, Type
from transpile.core.walk import Cloner
from transpile.core.watch import station
from transpile.errors import error
from transpile.ops.tables import prims
from transpile.simplify.dead_code import remove_dead
from transpile.simplify.tidy import tidy
from transpile.transform.batching import batch, is_worth_an_axis
from transpile.transform.function_derivatives import silenced
from transpile.transform.jvp import jvp
from transpile.transform.vjp import vjp

Sizes = Mapping[str, int]


@station("Jacobian by columns")
def by_columns(
    core: ir.Function, wrt: Sequence[int], rows: int, sizes: Sizes | None = None, is_compiled: bool = False
) -> ir.Function:
    """The Jacobian by forward mode, one direction for each element of the parameters ``wrt``.

    Results: for each of the first ``rows`` results of ``core`` one array for each of ``wrt``, whose dims are those of the
    result followed by those of the parameter; after them the other results of ``core``. ``sizes``: example values of the size
    symbols. ``is_compiled``: all directions are computed at once; else only if that pays.
    """
    _check_results(core, rows)
    plan = _Plan(core, wrt, rows, sizes or {}, is_compiled)
    for column, k in enumerate(wrt):
        main = plan.first(range(rows))
        aux = len(main.body.yields) - rows
        derivative = jvp(main, [k], aux=aux)
        dots = derivative.body.yields[len(main.body.yields) :]
        derivative = with_results(derivative, (*derivative.body.yields[rows : rows + aux], *dots))
        plan.directions(derivative, core.params[k].type, [(row, column) for row in range(rows)], forward=True)
    return plan.finish()


@station("Jacobian by rows")
def by_rows(
    core: ir.Function, wrt: Sequence[int], rows: int, sizes: Sizes | None = None, is_compiled: bool = False
) -> ir.Function:
    """The Jacobian by reverse mode, one direction for each element of the first ``rows`` results; arguments and results are as
    for `by_columns`."""
    _check_results(core, rows)
    plan = _Plan(core, wrt, rows, sizes or {}, is_compiled)
    for row in range(rows):
        main = plan.first([row])
        derivative = vjp(main, list(wrt), seeds=True, aux=len(main.body.yields) - 1)
        slots = [(row, column) for column in range(len(wrt))]
        plan.directions(derivative, core.body.yields[row].type, slots, forward=False)
    return plan.finish()


def _check_results(core: ir.Function, rows: int) -> None:
    """Raises T305 if one of the first ``rows`` results is not floating-point."""
    for y in core.body.yields[:rows]:
        if not y.type.is_float:
            raise error("T305", f"{core.title!r} returns {y.type}, which has no derivative", core.loc, NO_FLOATS)


NO_FLOATS = "return a float: the value itself, not its index or its count"


class _Plan:
    """Builds the outer function: the auxiliary results, and the derivatives in all directions.

    The first derivative gives the auxiliary results too. The function itself runs for them if it prints, since derivatives are
    silent, or if the sizes of its results are known only at run time.
    """

    def __init__(self, core: ir.Function, wrt: Sequence[int], rows: int, sizes: Sizes, is_compiled: bool) -> None:
        self.core, self.wrt, self.rows = core, wrt, rows
        self.sizes, self.is_compiled = sizes, is_compiled
        self.b = b = Builder(prims(), fn=core)
        b.loc = core.loc
        self.params = tuple(ir.Var(p.name, p.type) for p in core.params)
        self.values: Sequence[ir.Operand] | None = None  # the function's results, once it has run
        self.aux: Sequence[ir.Operand] | None = None
        self.results: dict[tuple[int, int], ir.Operand] = {}
        self.sizes_given: dict[str, ir.Operand] = {}  # values of the size symbols of the parameters
        for param in self.params:
            for axis, dim in enumerate(param.type.dims):
                name = dim.as_symbol
                if name is not None and name not in self.sizes_given:
                    self.sizes_given[name] = size = ir.Var(name, INT)
                    b.learn(size, dim)
                    b.emit(ir.Let(size, "dim", (param,), {"axis": axis}, core.loc))
        known = all(n in self.sizes_given for y in core.body.yields[:rows] for d in y.type.dims for n in d.symbols())
        if not known or silenced(core) is not core:
            self.run()

    def run(self) -> Sequence[ir.Operand]:
        """The results of the function itself, whose statements are emitted by the first call; they give the auxiliary results
        if no derivative has."""
        if self.values is None:
            b, core = self.b, self.core
            cloner = Cloner(dict(zip(core.params, self.params)))
            block = cloner.block(core.body)
            b.block.stmts.extend(block.stmts)
            symbols = {name: cloner.operand(op) for name, op in core.symbols.items()}
            b.symbols.update(symbols)
            b.integers.include(block, symbols)
            self.values = block.yields
            if self.aux is None:
                self.aux = block.yields[self.rows :]
        return self.values

    def first(self, results: Sequence[int]) -> ir.Function:
        """The function to differentiate: it returns the results at these positions, then the auxiliary ones, unless these are
        known already."""
        found = [self.core.body.yields[k] for k in results]
        if self.aux is None:
            found += self.core.body.yields[self.rows :]
        return with_results(self.core, found)

    def directions(self, derivative: ir.Function, along: Type, slots: Sequence[tuple[int, int]], forward: bool) -> None:
        """Emits ``derivative`` in all directions, the elements of ``along``, and sets the blocks of the Jacobian at ``slots``
        (row, column).

        ``derivative`` returns the auxiliary results, if these are not known yet, then one result for each slot. ``forward``: it
        is a pushforward, else a pullback.
        """
        at = len(derivative.params) - len(derivative.captured) - 1  # the only seed is the last of the user's parameters
        derivative = remove_dead(tidy(silenced(derivative)))
        lead = len(derivative.body.yields) - len(slots)
        if not along.dims:
            found = self.inline(derivative, at, ir.Const(1.0, FLOAT if along.weak else Type(along.dtype)))
        elif self.is_compiled or is_worth_an_axis(derivative, at, self.sizes):
            found = self.at_once(derivative, at, along, lead, forward)
        else:
            found = self.one_by_one(derivative, at, along, slots, forward)
        if self.aux is None:
            self.aux = found[:lead]
        for slot, out in zip(slots, found[lead:]):
            y = self.core.body.yields[slot[0]]
            self.results[slot] = self.b.cast(out, y.type.dtype).op if out.type.dims else out

    def inline(self, derivative: ir.Function, at: int, seed: ir.Operand) -> Sequence[ir.Operand]:
        """The results of ``derivative``, whose statements are emitted with ``seed`` as parameter ``at`` and the parameters of
        the Jacobian as all others. Sizes computed in it get new symbols."""
        rest = iter(self.params)
        args = [seed if i == at else next(rest) for i in range(len(derivative.params))]
        found = splice(self.b, derivative, args)
        self.b.symbols = {**self.sizes_given, **self.b.symbols}  # from here on: the first run has checked these sizes
        return found

    def size(self, dim: Dim) -> ir.Operand:
        """The operand that holds the value of a size; computed here if necessary, from the sizes of the parameters too."""
        b, before = self.b, self.b.symbols
        b.symbols = {**self.sizes_given, **before}
        found = b.dim(dim).op
        b.symbols = before
        return found

    # ---- an axis of directions

    def at_once(self, derivative: ir.Function, at: int, along: Type, lead: int, forward: bool) -> Sequence[ir.Operand]:
        """The results of the derivative batched over the directions, which is emitted here. After the first ``lead`` results,
        which are the same in all directions, each has the axes of ``along`` last (``forward``) or first. ``at``: the position
        of the seed."""
        b = self.b
        axes = [0 if k == at else None for k in range(len(derivative.params))]
        ranks = [y.type.rank if forward else 0 for y in derivative.body.yields]
        outs = [None if k < lead else rank for k, rank in enumerate(ranks)]
        done = batch(derivative, axes, outs, together=self.is_compiled, unit=at)
        count = b.canonical(product(along.dims))
        size = self.size(count)
        name = derivative.params[at].name
        seeds = b.let("eye", size, size, dims=(count, count), k=0, dtype=along.dtype, name=name).op
        found = self.inline(done, at, self.shaped(seeds, (count, *along.dims)))
        return [*found[:lead], *(self.unfolded(out, along.dims, forward) for out in found[lead:])]

    def unfolded(self, out: ir.Operand, along: tuple[Dim, ...], forward: bool) -> ir.Operand:
        """A result whose one axis of directions, the last (``forward``) or the first, is replaced by the axes ``along``: a
        reshape."""
        dims = (*out.type.dims[:-1], *along) if forward else (*along, *out.type.dims[1:])
        return self.shaped(out, dims)

    def shaped(self, op: ir.Operand, dims: tuple[Dim, ...]) -> ir.Operand:
        """The operand reshaped to ``dims``; the operand itself if it has as many axes."""
        if len(dims) == op.type.rank:
            return op
        return self.b.bind("", op.type.with_dims(dims), "reshape", (op,), {"dims": dims})

    # ---- directions one after another

    def one_by_one(
        self, derivative: ir.Function, at: int, along: Type, slots: Sequence[tuple[int, int]], forward: bool
    ) -> Sequence[ir.Operand]:
        """The results of the derivative in all directions: emits loops over the elements of ``along`` that run it with a seed
        of zeros and a 1 at the element, and store the blocks for ``slots`` in new arrays. ``at``: the position of the seed."""
        b = self.b
        values = self.run()
        buffers: list[ir.Var] = []
        for row, column in slots:
            y, x = values[row], self.params[self.wrt[column]]
            name = f"{getattr(y, 'label', 'y')}_{x.label}"
            buffers.append(b.zeros(name, Type(y.type.dtype, (*y.type.dims, *x.type.dims))))
        lead = len(derivative.body.yields) - len(slots)

        def body(indices: list[ir.Var]) -> None:
            unit = b.zeros(derivative.params[at].name, along)
            points: tuple[ir.Point | ir.Slice, ...] = tuple(ir.Point(i) for i in range(len(indices)))
            b.store(unit, (ir.Index(points),), indices, ir.Const(1.0, Type(along.dtype)))
            found = self.inline(derivative, at, b.read(unit, name=unit.name).op)
            for buf, out in zip(buffers, found[lead:]):
                free = (ir.Slice(),) * (buf.type.rank - len(indices))
                path: ir.Path = (ir.Index((*free, *points) if forward else (*points, *free)),)
                b.store(buf, path, indices, b.cast(out, buf.type.dtype))

        self.nest(along.dims, body, [])
        return [*values[self.rows :][:lead], *(b.read(buf, name=buf.name).op for buf in buffers)]

    def nest(self, dims: Sequence[Dim], body: Callable[[list[ir.Var]], None], indices: list[ir.Var]) -> None:
        """Emits one loop for each of ``dims``, nested, the first outermost; ``body`` emits what is inside and gets the indices
        of all loops, those in ``indices`` first."""
        if not dims:
            body(indices)
            return
        index = ir.Var("jklm"[len(indices)] if len(indices) < 4 else "j", INT)
        b = self.b
        with b.into(ir.Block()) as block:
            self.nest(dims[1:], body, [*indices, index])
        b.emit(ir.For(index, ir.Const(0, INT), b.dim(dims[0]).op, ir.Const(1, INT), (), block, loc=b.loc))

    def finish(self) -> ir.Function:
        """The function that returns the blocks of the Jacobian, row by row, then the auxiliary results; the function itself
        runs here if nothing else has given these."""
        if self.aux is None:
            self.run()
        assert self.aux is not None
        outs = [self.results[i, j] for i in range(self.rows) for j in range(len(self.wrt))]
        body = ir.Block((), self.b.block.stmts, (*outs, *self.aux))
        return replace(self.core, name=f"{self.core.name}_jac", params=self.params, body=body, symbols=self.b.symbols)
