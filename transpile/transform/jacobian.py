"""Jacobians by a loop over directions, core to core.

    for j in range(n):
        x_dot = zeros(n); x_dot[j] = 1
        ...                                     (the forward derivative of f, in line)
        jac[:, j] = y_dot

Rows by reverse mode likewise. Every direction repeats the function's own sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from transpile.core.builder import Builder
from transpile.core.dims import Dim
from transpile.core.nodes import Block, Const, For, Function, Index, Operand, Path, Point, Slice, Var
from transpile.core.types import FLOAT, INT, Type
from transpile.core.walk import Cloner
from transpile.errors import error
from transpile.transform.custom import splice
from transpile.transform.routines import silenced


def by_columns(core: Function, wrt: Sequence[int], rows: Sequence[int], aux: Sequence[int]) -> Function:
    """The Jacobian by forward mode, one direction for each element of the parameters ``wrt``.

    Results: for each of ``rows`` (results of ``core``) one array for each of ``wrt``, its dims those of the result and then those
    of the parameter; behind them the results ``aux``.
    """
    from transpile.transform.forward import jvp

    _check_results(core, rows)
    main = _keep(core, rows)
    plan = _Plan(core, wrt, rows, aux)
    for column, k in enumerate(wrt):
        derivative = jvp(main, [k], value=False)
        plan.directions(derivative, core.params[k].type, column, forward=True)
    return plan.finish()


def by_rows(core: Function, wrt: Sequence[int], rows: Sequence[int], aux: Sequence[int]) -> Function:
    """The Jacobian by reverse mode, one direction for each element of the results ``rows``; results as `by_columns`."""
    from transpile.transform.reverse import vjp

    _check_results(core, rows)
    plan = _Plan(core, wrt, rows, aux)
    for row, k in enumerate(rows):
        derivative = vjp(_keep(core, [k]), list(wrt), value=False, seeds=True)
        plan.directions(derivative, core.body.yields[k].type, row, forward=False)
    return plan.finish()


def _check_results(core: Function, rows: Sequence[int]) -> None:
    for k in rows:
        type_ = core.body.yields[k].type
        if not type_.is_float:
            raise error("T305", f"{core.name!r} returns {type_}, which has no derivative", core.loc)


def _keep(core: Function, results: Sequence[int]) -> Function:
    return replace(core, body=replace(core.body, yields=tuple(core.body.yields[k] for k in results)))


class _Plan:
    """Builds the outer function: the values, result buffers, the loops over directions."""

    def __init__(self, core: Function, wrt: Sequence[int], rows: Sequence[int], aux: Sequence[int]) -> None:
        self.core, self.wrt, self.rows, self.aux = core, wrt, rows, aux
        self.b = b = Builder()
        b.loc = core.loc
        self.params = tuple(Var(p.name, p.type) for p in core.params)
        # the values once: they are what is auxiliary and give the sizes of the results; dead code if neither is read
        cloner = Cloner(dict(zip(core.params, self.params)))
        block = cloner.block(core.body)
        b.block.stmts.extend(block.stmts)
        b.symbols.update({name: cloner.operand(op) for name, op in core.symbols.items()})
        self.values = block.yields
        self.results: dict[tuple[int, int], Operand] = {}
        for i, r in enumerate(rows):
            for j, k in enumerate(wrt):
                self._prepare(i, j, core.body.yields[r], core.params[k])

    def _prepare(self, i: int, j: int, y: Operand, x: Var) -> None:
        dims = (*y.type.dims, *x.type.dims)
        if dims:  # the derivative of a scalar by a scalar needs no buffer
            name = f"{getattr(y, 'label', 'y')}_{x.label}"
            self.results[i, j] = self.b.zeros(name, Type(y.type.dtype, dims))

    def directions(self, derivative: Function, along: Type, number: int, forward: bool) -> None:
        """Loops over the elements of ``along``; in each, the derivative with the seed that is 1 there."""
        at = len(derivative.params) - len(derivative.captured) - 1  # the only seed is the last of the user's parameters

        def body(indices: list[Var]) -> None:
            unit = self._unit(derivative.params[at].name, along, indices)
            for k, out in enumerate(self._inline(derivative, at, unit)):
                self._put((k, number) if forward else (number, k), indices, out, forward)

        self._nest(along.dims, body, [])

    def _nest(self, dims: Sequence[Dim], body: Callable[[list[Var]], None], indices: list[Var]) -> None:
        if not dims:
            body(indices)
            return
        index = Var("jklm"[len(indices)] if len(indices) < 4 else "j", INT)
        b = self.b
        with b.into(Block()) as block:
            self._nest(dims[1:], body, [*indices, index])
        b.emit(For(index, Const(0, INT), b.dim(dims[0]).op, Const(1, INT), (), block, loc=b.loc))

    def _unit(self, name: str, along: Type, indices: list[Var]) -> Operand:
        one = Const(1.0, FLOAT if along.weak else Type(along.dtype))
        if not indices:
            return one
        buf = self.b.zeros(name, along)
        self.b.store(buf, (Index(tuple(Point(i) for i in range(len(indices)))),), indices, one)
        return self.b.read(buf, name=name).op

    def _inline(self, derivative: Function, at: int, unit: Operand) -> Sequence[Operand]:
        """The derivative's statements with the seed ``unit``; sizes that it computes have symbols of their own."""
        rest = iter(self.params)
        args = [unit if i == at else next(rest) for i in range(len(derivative.params))]
        return splice(self.b, silenced(derivative), args)

    def _put(self, slot: tuple[int, int], indices: list[Var], out: Operand, forward: bool) -> None:
        buf = self.results.get(slot)
        if buf is None:
            self.results[slot] = out
            return
        assert isinstance(buf, Var)
        points = tuple(Point(i) for i in range(len(indices)))
        free = (Slice(),) * (buf.type.rank - len(indices))
        path: Path = (Index((*free, *points) if forward else (*points, *free)),)
        self.b.store(buf, path, indices, self.b.cast(out, buf.type.dtype))

    def finish(self) -> Function:
        core, b = self.core, self.b
        outs: list[Operand] = []
        for i in range(len(self.rows)):
            for j in range(len(self.wrt)):
                found = self.results[i, j]
                outs.append(b.read(found, name=found.name).op if isinstance(found, Var) and found.buffer else found)
        outs += [self.values[k] for k in self.aux]
        body = Block((), b.block.stmts, tuple(outs))
        return replace(core, name=f"{core.name}_jac", params=self.params, body=body, symbols=b.symbols)
