"""``if``, and every other choice between two paths: both are lifted from one state, then what they leave is joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.frontend.control import dynamic_lists
from transpile.frontend.control.phi import Join, Side
from transpile.frontend.control.truth_values import negated
from transpile.frontend.lifter import Lifter
from transpile.frontend.restarts import Dead, NeedBuffer
from transpile.frontend.sources.name_liveness import loads
from transpile.frontend.state import Opposite
from transpile.frontend.values import memory
from transpile.ops.tables import record_of

Lift = Callable[[], Any]


def choose(lx: Lifter, test: ir.Operand, then: Lift, orelse: Lift, node: Any) -> Any:
    """The value of the path that is taken; a path that raises contributes nothing."""
    with lx.at(node):
        opposite = Opposite(test)
        while True:
            try:
                sides = (_side(lx, test, then), _side(lx, opposite, orelse))
                alive = [s.state for s in sides if not s.dead]
                if len(alive) == 2 and dynamic_lists.meet_as_arrays(lx, node, alive):
                    continue
                break
            except NeedBuffer as needed:
                memory.to_buffer(lx, needed.cell)
            except dynamic_lists.NeedRoom as needed:
                dynamic_lists.make_room(lx, needed.cell)
        if sides[0].dead or sides[1].dead:
            return _survivor(lx, test, opposite, sides)
        return _meet(lx, test, sides, node)


def _side(lx: Lifter, fact: Any, lift: Lift) -> Side:
    side = Side(ir.Block(), lx.state.fork())
    with lx.forked(side.state), lx.region(), lx.into(side.block):
        assume(lx, fact)
        try:
            side.value = lift()
        except Dead:
            side.dead = True
    return side


def assume(lx: Lifter, fact: Any) -> None:
    """Notes what is known on a path; both parts of an ``and`` are."""
    lx.facts.append(fact)
    for block in (lx.b.block, *reversed(lx.open_blocks)):
        for stmt in reversed(block.stmts[-20:]):
            if isinstance(stmt, ir.Let) and stmt.var is fact and record_of(stmt).is_conjunction:
                for part in stmt.args:
                    assume(lx, part)
                return


def _survivor(lx: Lifter, test: ir.Operand, opposite: Any, sides: tuple[Side, Side]) -> Any:
    """One path raises: what the other does stands behind the *if*, for whoever comes there took it."""
    if sides[0].dead:
        lx.b.emit(ir.If(test, sides[0].block, ir.Block(), (), lx.b.loc))
    else:
        lx.b.emit(ir.If(negated(lx, test).op, sides[1].block, ir.Block(), (), lx.b.loc))
    if sides[0].dead and sides[1].dead:
        lx.b.block.stmts.extend(sides[1].block.stmts)
        raise Dead
    alive = sides[1] if sides[0].dead else sides[0]
    lx.b.block.stmts.extend(alive.block.stmts)
    _adopt(lx, alive.state)
    lx.facts.append(opposite if sides[0].dead else test)
    return alive.value


def _adopt(lx: Lifter, state: Any) -> None:
    lx.state.vars, lx.state.cells = state.vars, state.cells


def _meet(lx: Lifter, test: ir.Operand, sides: tuple[Side, Side], node: Any) -> Any:
    is_statement = isinstance(node, gast.stmt)
    join = Join(lx, test, sides, dynamic_lists.at_branch(node, lx))
    before = lx.state
    vars_: dict[Any, Any] = {}
    left, right = sides[0].state.vars, sides[1].state.vars
    for key in {**left, **right}:
        frame, name = key
        a, b = left.get(key), right.get(key)
        if a is b:
            vars_[key] = a
        elif not _is_read(lx, frame, name, is_statement):
            continue
        elif name in frame.code.flags:
            vars_[key] = a if b is None else b if a is None else join.flag(a, b, name)
        else:
            vars_[key] = join.value(a, b, name)
    value = None if is_statement else join.value(sides[0].value, sides[1].value)
    cells = {cell: join.state_of(cell, state) for cell, state in before.cells.items()}
    lx.state.vars, lx.state.cells = vars_, {**cells, **_kept(join, sides, before.cells), **join.cells}
    then, orelse = sides[0].block, sides[1].block
    then.yields, orelse.yields = tuple(join.yields[0]), tuple(join.yields[1])
    if then.stmts or orelse.stmts or join.results:
        lx.b.emit(ir.If(test, then, orelse, tuple(join.results), lx.b.loc))
    join.close()
    return value


def _kept(join: Join, sides: tuple[Side, Side], before: Any) -> dict[Any, Any]:
    """Cells that captured arrays got inside: both sides have the same."""
    both = sides[0].state.cells.keys() & sides[1].state.cells.keys()
    return {cell: sides[0].state.cells[cell] for cell in sides[0].state.cells if cell in both and cell not in before}


def _is_read(lx: Lifter, frame: Any, name: str, is_statement: bool) -> bool:
    """Whether a name may be read after the statement."""
    if frame.live is None or name in frame.live:
        return True
    return (frame is not lx.frame or not is_statement) and frame.stmt is not None and name in loads(frame.stmt)
