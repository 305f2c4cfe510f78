"""What the functions of `transpile.lax` ask of their arguments, answered of types: see `transpile.lax.checks`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from transpile.core import nodes as ir
from transpile.frontend.calls import both_sides, inner_transforms, tree_calls
from transpile.frontend.calls.lax_kinds import asked, is_function, kind_of, same_shape
from transpile.frontend.control import branches, carries, dynamic_list_reads, truth
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.values import attributes
from transpile.frontend.values.convert import describe, new_list
from transpile.frontend.values.values import (
    Cell,
    Items,
    Ref,
    Scalar,
    SliceOf,
    Static,
    Tuple,
)
from transpile.lax import checks
from transpile.lax.checks import Asked, Kind

Args = list[Any]
Kwargs = dict[str, Any]


def _carried(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    what, before, after = args
    found = checks.difference(
        checks.CARRIED.format(what.value), asked(lx, before, node), asked(lx, after, node),
        lambda a, b: checks.becomes(a, b) and same_shape(lx, a, b), ("T119", "T206"),
    )  # fmt: skip
    if found is not None:
        raise lx.error(found[0], found[1], node, checks.CARRY_HINT)
    return after


# ------------------------------------------------------------------------------------------------------- branches


def _integer(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    what, value, *code = args
    wrong = checks.wrong_integer(what.value, kind_of(lx, value))
    if wrong is not None:
        raise lx.error(code[0].value if code else "T131", wrong, node, checks.INTEGER_HINT)
    return value


def _functions(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Static:
    for name, value in zip(("true_fun", "false_fun"), args):
        if not is_function(lx, value):
            message = f"{name} of cond is {describe(lx, value)}, not a function"
            raise lx.error("T131", message, node, checks.COND_HINT)
    return Static(None)


def _either(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    pred, then, given, orelse, others = args
    _one_truth(lx, [Static("pred of cond is"), pred], {}, node)
    sides = [
        lambda: lx.apply(then, list(given.items), {}, node),
        lambda: lx.apply(orelse, list(others.items), {}, node),
    ]
    test, names = truth.truth(lx, pred, node), ("true_fun", "false_fun")
    if isinstance(test, ir.Const):
        both_sides.compared(lx, [(then, given), (orelse, others)], "cond", names, node)
    return _chosen(lx, test, sides, "cond", names, node)


def _one_truth(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    what, value, *kinds = args
    is_known = isinstance(value, Static) and isinstance(value.value, (bool, int, float))
    kind = checks.kind_of(value.value) if is_known else kind_of(lx, value)
    if not checks.is_one_truth(kind, kinds[0].value if kinds else "biuf"):
        failed = checks.not_one(what.value, kind.word)
        raise tree_calls.placed(lx, failed, node)
    return value


def _unrolled(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Static:
    what, given, *names = args
    name = names[0].value if names else "unroll"
    wrong = checks.wrong_unrolling(what.value, lx.static(given, f"the argument {name!r}", node), name)
    if wrong is not None:
        raise lx.error("T131", wrong, node, checks.UNROLL_HINT)
    return Static(None)


def _chosen(
    lx: Lifter, test: ir.Operand, sides: Sequence[Callable[[], Any]], what: str, names: tuple[str, str], node: Any
) -> Any:
    """What the side that is taken gives; T118 or T205 unless both are alike."""
    if isinstance(test, ir.Const):
        return sides[not test.value]()
    found: dict[int, Asked] = {}

    def noted(k: int) -> Callable[[], Any]:
        def lift() -> Any:
            found.pop(k, None)
            value = sides[k]()
            found[k] = asked(lx, value, node)
            return value

        return lift

    value = branches.choose(lx, test, noted(0), noted(1), node)
    if len(found) == 2:  # else one raises
        message = checks.BRANCHES.format(what, *names)
        wrong = checks.difference(message, found[0], found[1], _alike(lx), ("T118", "T205"))
        if wrong is not None:
            raise lx.error(wrong[0], wrong[1], node, checks.BRANCH_HINT)
    return lx.readable(value, node)


def _alike(lx: Lifter) -> Callable[[Kind, Kind], bool]:
    return lambda a, b: (checks.becomes(a, b) or checks.becomes(b, a)) and same_shape(lx, a, b)


def _one_of(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    index, functions, operands = args
    given = operands.items
    wrong = _wrong_branches(lx, functions, node) or checks.wrong_integer("the index of switch", kind_of(lx, index))
    if wrong is not None:
        raise lx.error("T131", wrong, node, checks.SWITCH_HINT)
    several = lx.unrolled(functions, node)
    last = len(several) - 1

    def at(k: int) -> Any:
        def own() -> Any:
            return lx.apply(several[k], list(given), {}, node)

        if k == last:
            return own()
        test = lx.b.elementwise("less_equal" if k == 0 else "equal", lx.operand(index), k).op
        place = lx.memo.setdefault((lx.key(node), "branch", k), copy.copy(node))
        return _chosen(lx, test, [own, lambda: at(k + 1)], "switch", (f"branch {k}", f"branch {k + 1}"), place)

    return at(0)


def _wrong_branches(lx: Lifter, functions: Any, node: Any) -> str | None:
    is_sequence = (
        isinstance(functions, Tuple) or isinstance(functions, Ref) and lx.state.cells[functions.cell].kind == "list"
    )
    if not is_sequence:
        return checks.wrong_branches((lambda: None) if is_function(lx, functions) else None)
    several = lx.unrolled(functions, node)
    return checks.wrong_branches([(lambda: None) if is_function(lx, f) else None for f in several])


def _selected(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Static:
    pred, a, b = (kind_of(lx, v) for v in args)

    def same(p: Sequence[Any], q: Sequence[Any]) -> bool:
        return all(lx.b.same(m, n) for m, n in zip(p, q))

    found = checks.wrong_selection(pred, a, b, same)
    if found is not None:
        raise lx.error(found[0], found[1], node, found[2])
    return Static(None)


# ---------------------------------------------------------------------------------------------------------- scans


def _length(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    what, xs, given = args
    kinds = [kind_of(lx, leaf) for leaf in tree_calls.flat(lx, xs, None, node)[0]]
    if any(not len(k.shape) for k in kinds):
        raise lx.error("T203", checks.no_rows(what.value), node, checks.ROWS_HINT)
    lengths = [k.shape[0] for k in kinds]
    if not (isinstance(given, Static) and given.value is None):
        _integer(lx, [Static(f"the length of {what.value}"), given], {}, node)
        if not kinds:
            return given
        lengths.append(lx.b.form(lx.operand(given, node)))
    if not lengths:
        raise lx.error("T203", checks.no_length(what.value), node, checks.ROWS_HINT)
    for other in lengths[1:]:
        if not lx.b.same(lengths[0], other):
            raise lx.error("T203", checks.different_rows(what.value, lengths), node, checks.ROWS_HINT)
    return attributes.size(lx, lengths[0])


def _is_nothing(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return lx.const(statics.is_known(lx, args[0]) and statics.known(lx, args[0]) == 0)


def _pair(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    (found,) = args
    items = found.items if isinstance(found, Tuple) else ()
    if isinstance(found, Ref) and lx.state.cells[found.cell].kind == "list":
        items = tuple(lx.unrolled(found, node))
    if len(items) != 2:
        kinds, shape = asked(lx, found, node)
        raise lx.error("T131", checks.no_pair(checks.typed(shape, iter(kinds))), node, checks.PAIR_HINT)
    return Tuple(tuple(items))


def _now(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return inner_transforms.copied(lx, args[0])


def _stacked(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    ys, reverse = args
    backwards = bool(lx.static(reverse, "the argument 'reverse'", node))

    def turned(column: Any) -> Any:
        return lx.item(column, SliceOf(None, None, lx.const(-1)), node) if backwards else column

    state: Items = lx.state.cells[ys.cell]
    if state.kind == "grown":
        wholes = iter(
            [dynamic_list_reads.filled_part(lx, cell, dynamic_list_reads.count(state)) for cell in state.cls.cells]
        )
        return _columns(lx, state.cls.like, (turned(lx.value(w.op)) for w in wholes))
    rows = [tree_calls.flat(lx, y, None, node) for y in state.items]
    columns = [turned(lx.known_call("numpy.stack", [new_list(lx, list(c))], {}, node))
               for c in zip(*(leaves for leaves, _ in rows))]  # fmt: skip
    return tree_calls.filled(lx, rows[0][1], columns, node)


def _equally_long(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Static:
    for a, b in zip(*(lx.unrolled(v, node) for v in args)):
        for p, q in zip(attributes.type_of(lx, a).dims, attributes.type_of(lx, b).dims):
            lx.b.same(p, q)
    return Static(None)


def _cumulative(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Static:
    what, operand, axis, *kinds = args
    _integer(lx, [Static(f"the axis of {what.value}"), axis], {}, node)
    k = lx.static(axis, f"the axis of {what.value}", node)
    found = checks.wrong_cumulative(what.value, kind_of(lx, operand), kinds[0].value if kinds else "iuf", k)
    if found is not None:
        raise lx.error(found[0], found[1], node, found[2])
    return Static(None)


def _columns(lx: Lifter, like: Any, wholes: Iterator[Any]) -> Any:
    """A tree like an element of a list, of whole arrays."""
    match like:
        case Scalar() | carries.ArrayOf():
            return next(wholes)
        case Tuple():
            return Tuple(tuple(_columns(lx, v, wholes) for v in like.items), like.cls)
        case carries.RefOf():
            cell = Cell(like.items.kind)
            items = tuple(_columns(lx, v, wholes) for v in like.items.items)
            lx.state.cells[cell] = Items(like.items.kind, items, like.items.keys, like.items.cls)
            return Ref(cell)
    return like


TABLE: dict[str, Any] = {
    f"transpile.lax.checks.{name}": rule
    for name, rule in {
        "carried": _carried, "either": _either, "functions": _functions, "one_of": _one_of, "selected": _selected,
        "length": _length, "is_nothing": _is_nothing, "pair": _pair, "now": _now, "stacked": _stacked,
        "equally_long": _equally_long, "integer": _integer, "one_truth": _one_truth, "unrolled": _unrolled,
        "cumulative": _cumulative,
    }.items()
}  # fmt: skip
