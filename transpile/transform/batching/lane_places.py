"""Places for all lanes: the path of one lane, where the memory or the indices have a lane axis in front.

x[1:, i]     ->   x[:, 1:, i]            the memory differs between lanes
x[i]         ->   x[lanes, i]            the index differs too
table[i]     ->   table[i]               the index differs, the memory does not
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.walk import statements
from transpile.simplify.dead_code import remove_dead

Differs = Callable[[ir.Operand], bool]


@dataclass(frozen=True)
class Shifted:
    """A path for all lanes. ``order[k]`` is the axis of the path's result that holds axis k of the wanted result (lanes, *axes
    of a lane); None if the order is the same. ``gathers``: slots of indices that have a lane axis now, with ``rank`` axes after
    it. ``lane``: the slot of the lane numbers, with as many axes; ``size``: the slot of the number of lanes."""

    path: ir.Path
    order: tuple[int, ...] | None = None
    gathers: tuple[int, ...] = ()
    rank: int = 0
    lane: int | None = None
    size: int | None = None


def can_shift(path: ir.Path, args: Sequence[ir.Operand], differs: Differs) -> bool:
    """Whether the path can be taken for all lanes at once: of its operands only subscripts of its last step, points and index
    arrays, differ."""
    for k, step in enumerate(path):
        mapped = {a for a in _slots(step) if differs(args[a])}
        if not mapped:
            continue
        if not isinstance(step, ir.Index) or k != len(path) - 1 or any(isinstance(i, ir.Mask) for i in step.items):
            return False
        if any(isinstance(i, ir.Slice) and mapped.intersection(_of_item(i)) for i in step.items):
            return False
    return True


def with_constant_fills(fn: ir.Function) -> ir.Function:
    """The function in which ``x[mask] = 0.5`` stores the constant itself, without a broadcast to the number of selected
    elements; ``fn`` itself if there is nothing to change."""
    constants = {
        s.var: s.args[0]
        for s in statements(fn.body)
        if isinstance(s, ir.Let) and s.prim == "broadcast" and isinstance(s.args[0], ir.Const)
    }

    def block(old: ir.Block) -> ir.Block:
        return with_stmts(old, [with_blocks(stmt(s), block) for s in old.stmts])

    def stmt(old: ir.Stmt) -> ir.Stmt:
        filled = constants.get(old.value) if isinstance(old, ir.Store) and isinstance(old.value, ir.Var) else None
        new = replace(old, value=filled) if filled is not None and isinstance(old, ir.Store) else old
        return new if new is not old and is_fill(new) else old  # type: ignore[arg-type]

    body = block(fn.body)
    return fn if body is fn.body else remove_dead(with_body(fn, body))


def is_fill(stmt: ir.Store | ir.Add) -> bool:
    """Whether the statement stores a constant where a mask is true, with full slices after the mask: the masks of all lanes
    then form one mask."""
    step = stmt.path[0] if len(stmt.path) == 1 else None
    if not isinstance(stmt, ir.Store) or not isinstance(stmt.value, ir.Const) or not isinstance(step, ir.Index):
        return False
    return isinstance(step.items[0], ir.Mask) and all(
        isinstance(i, ir.Slice) and not _of_item(i) for i in step.items[1:]
    )


def shift(path: ir.Path, args: Sequence[ir.Operand], source: bool, differs: Differs) -> Shifted:
    """The path for all lanes; ``source``: the memory has a lane axis in front too. An added operand, lane numbers or their
    count, gets the slot ``len(args)``."""
    extra = len(args)
    steps: list[ir.Step] = []
    size = None
    for k, step in enumerate(path):
        if any(differs(args[a]) for a in _slots(step)):
            assert isinstance(step, ir.Index)
            return _by_index(steps, step, args, source, differs, extra)
        if not source:
            steps.append(step)
            continue
        match step:
            case ir.Permute():
                steps.append(ir.Permute((0, *(a + 1 for a in step.axes))))
            case ir.Diagonal():
                steps.append(step)
            case ir.Reshape():
                size = extra
                steps.append(ir.Reshape((extra, *step.args)))
            case ir.Index():
                steps.append(ir.Index((ir.Slice(), *step.items)))
                if not step.is_basic and not _are_adjacent(
                    step
                ):  # NumPy puts the axes of the indices before all others
                    count, rest = _index_rank(step, args), len(_basic(step))
                    order = (count, *range(count), *range(count + 1, count + 1 + rest))
                    if k == len(path) - 1:
                        return Shifted(tuple(steps), order, size=size)
                    steps.append(ir.Permute(order))
    return Shifted(tuple(steps), size=size)


def _by_index(
    before: list[ir.Step], step: ir.Index, args: Sequence[ir.Operand], source: bool, differs: Differs, extra: int
) -> Shifted:
    """The path for all lanes: the steps ``before``, done already, and the last step ``step``, some of whose subscripts differ.
    ``source`` is as for `shift`; the lane numbers get the slot ``extra``."""
    gathers = [i.arg for i in step.items if isinstance(i, (ir.Point, ir.Gather)) and differs(args[i.arg])]
    items: list[ir.Item] = [ir.Gather(i.arg) if isinstance(i, ir.Point) and i.arg in gathers else i for i in step.items]
    if source:
        items.insert(0, ir.Gather(extra))
    rank, rest = _index_rank(step, args), len(_basic(step))
    leading = next(k for k, i in enumerate(step.items) if isinstance(i, (ir.Point, ir.Gather)))
    wanted = 0 if step.is_basic or not _are_adjacent(step) else leading
    given = 0 if source or not _are_adjacent(step) else leading
    # NumPy gives `given` axes of slices, then (lanes, *indices), then the other slices
    indices = range(given + 1, given + 1 + rank)
    slices = [*range(given), *range(given + 1 + rank, rest + 1 + rank)]
    order = (given, *slices[:wanted], *indices, *slices[wanted:])
    path = (*before, ir.Index(tuple(items)))
    lane = extra if source else None
    return Shifted(path, None if order == tuple(range(len(order))) else order, tuple(gathers), rank, lane)


def _basic(step: ir.Index) -> list[ir.Item]:
    """The slices and new axes of a step."""
    return [i for i in step.items if isinstance(i, (ir.Slice, ir.NewAxis))]


def _are_adjacent(step: ir.Index) -> bool:
    """Whether the subscripts of a step stand side by side, without a slice or new axis between; as in NumPy, points count as
    index arrays."""
    where = [k for k, i in enumerate(step.items) if not isinstance(i, (ir.Slice, ir.NewAxis))]
    return where[-1] - where[0] == len(where) - 1


def _index_rank(step: ir.Index, args: Sequence[ir.Operand]) -> int:
    """The rank to which the index arrays and masks of a step broadcast; 0 if it has only points."""
    ranks = [
        1 if isinstance(i, ir.Mask) else args[i.arg].type.rank
        for i in step.items
        if isinstance(i, (ir.Gather, ir.Mask))
    ]
    return max(ranks, default=0)


def _slots(step: ir.Step) -> list[int]:
    """The positions of the step's operands among the operands of the path."""
    match step:
        case ir.Index():
            return [s for i in step.items for s in _of_item(i)]
        case ir.Reshape():
            return list(step.args)
    return []


def _of_item(item: ir.Item) -> list[int]:
    """The positions of the item's operands among the operands of the path."""
    match item:
        case ir.Point() | ir.Gather() | ir.Mask():
            return [item.arg]
        case ir.Slice():
            return [s for s in (item.start, item.stop, item.step) if s is not None]
    return []


def of_lane(path: ir.Path, rank: int, slot: int) -> ir.Path:
    """The path, in memory for all lanes, of the place ``path`` in one lane's. ``rank`` is the rank of one lane's memory,
    ``slot`` the position of the operand with the lane's number."""
    first = path[0] if path else None
    if isinstance(first, ir.Index) and first.is_basic:
        return (ir.Index((ir.Point(slot), *first.items)), *path[1:])
    return (ir.Index((ir.Point(slot), *(ir.Slice(),) * rank)), *path)
