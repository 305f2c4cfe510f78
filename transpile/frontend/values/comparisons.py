"""Comparisons: ``==``, ``<``, ``is`` and ``in`` of any two values, in Python's order. What is known now folds.

Of objects of the user's the class decides: ``__eq__`` of the left, then of the right, then whether they are one object. Lists and
tuples are compared item by item, and the first that differ decide.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from transpile.core import nodes as ir
from transpile.core.types import BOOL
from transpile.frontend.calls import library_calls
from transpile.frontend.control import dynamic_list_reads, iteration, iterators, live, truth
from transpile.frontend.control.truth import either
from transpile.frontend.control.truth_values import FALSE, TRUE, answer, negated
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.resolve.bindings import Known
from transpile.frontend.values import aliases, contents, memory, overloads
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Array, Iteration, RangeOf, Ref, Scalar, Static, Text, Tuple
from transpile.ops.record import Op
from transpile.ops.tables import by_token, operator_of

RECORDS = {getattr(gast, t): r for t, r in by_token().items() if r.relation is not None}


def _methods(record: Op) -> tuple[str, str]:
    """The special method of the left side, and the reflected one of the right side."""
    assert record.relation is not None
    first, second = (f"__{operator_of(name).method}__" for name in (record.name, record.relation.turned.name))
    return first, second


def _python(op: gast.cmpop) -> Callable[[Any, Any], bool]:
    return operator_of(RECORDS[type(op)].name).function


def compare(lx: Lifter, op: gast.cmpop, left: Any, right: Any, node: Any) -> Any:
    """One comparison of two values."""
    if isinstance(op, (gast.Is, gast.IsNot)):
        if _are_pythons(lx, left, right):
            return compare(lx, gast.Eq() if isinstance(op, gast.Is) else gast.NotEq(), left, right, node)
        return lx.const(same_object(lx, left, right, node) == isinstance(op, gast.Is))
    if isinstance(op, (gast.In, gast.NotIn)):
        found = contains(lx, right, left, node)
        return answer(lx, found if isinstance(op, gast.In) else negated(lx, found).op)
    numbers = isinstance(left, (Scalar, Array)) and isinstance(right, (Scalar, Array))
    if not numbers:
        found = _of_keys(lx, op, left, right, node)
        if found is None:
            found = _of_objects(lx, op, left, right, node)
        if found is None:
            found = _of_containers(lx, op, left, right, node)
            if isinstance(found, Scalar):
                return answer(lx, found.op)
        if found is not None:
            return found
    if statics.is_known(lx, left) and statics.is_known(lx, right):
        try:
            with np.errstate(all="ignore"):
                return lx.const(bool(_python(op)(_in_its_dtype(lx, left), _in_its_dtype(lx, right))))
        except TypeError as e:
            raise lx.error("T120", str(e), node, "compare values of one kind") from None
    x, y = lx.operand(left, node), lx.operand(right, node)
    known = _by_form(lx, op, x, y)
    if known is not None:
        return lx.const(known)
    return lx.value(memory.of_either(lx, lx.b.elementwise(RECORDS[type(op)].name, x, y).op, x, y))


def _in_its_dtype(lx: Lifter, value: Any) -> Any:
    """What is known of a value; of a number of NumPy's that number, which meets others as NumPy says."""
    found = statics.known(lx, value)
    type_ = lx.operand(value).type if isinstance(value, (Scalar, Array)) else BOOL
    return found if type_.weak else np.dtype(type_.dtype).type(found)


def _by_form(lx: Lifter, op: gast.cmpop, x: ir.Operand, y: ir.Operand) -> bool | None:
    """What the forms of two integers say of them: sizes are not negative, equal forms are equal."""
    if not (x.type.is_int and y.type.is_int) or x.type.dims or y.type.dims:
        return None
    if not all(isinstance(o, ir.Const) or o.type.weak for o in (x, y)):
        return None  # sums of NumPy's integers wrap
    left, right = lx.b.form_of(x), lx.b.form_of(y)
    if left is None or right is None:
        return None
    difference = lx.symbols.resolve(left - right)
    if difference.is_const:
        return bool(_python(op)(difference.const, 0))
    return None


# -------------------------------------------------------------------------------------------------------- identity


def _are_pythons(lx: Lifter, *values: Any) -> bool:
    """Whether both are truth values of Python's, of which there is one True and one False."""
    return all(
        isinstance(v, Scalar) and v.op.type == BOOL and v.op not in lx.b.either and not isinstance(v.op, ir.Undef)
        for v in values
    )


_SIGNS = {gast.Is: "is", gast.IsNot: "is not", gast.Eq: "==", gast.NotEq: "!=", gast.In: "in", gast.NotIn: "not in"}


def same_object(lx: Lifter, left: Any, right: Any, node: Any) -> bool:
    """``left is right``."""
    if isinstance(left, Static) and isinstance(right, Static):
        a, b = statics.known(lx, left), statics.known(lx, right)
        return a is b or (type(a) is type(b) and isinstance(a, (str, int)) and a == b)
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        if all(isinstance(o, ir.Const) for o in (left.op, right.op)):
            return left.op == right.op
        if left.op.type.is_bool and right.op.type.is_bool and left.op.type.weak != right.op.type.weak:
            if not {left.op, right.op} & lx.b.either:
                return False  # NumPy's truth values are others than Python's
        if left.op.type.dtype == right.op.type.dtype:
            what = "truth values" if left.op.type.is_bool else "numbers"
            message = f"'is' of {what} that are only known at run time"
            raise lx.error("T120", message, node, hint="use == or just the value")
        return False
    if isinstance(left, (Array, Ref)) and type(left) is type(right):
        if left.cell is not right.cell and _may_be_one(lx, left, right):
            written = [_SIGNS[type(op)] for op in getattr(node, "ops", ()) if type(op) in _SIGNS]
            asked = written[0] if len(written) == 1 else "is"
            text = f"the answer to {asked!r} depends on the data"
            raise lx.error("T120", text, node, hint="compare the contents, or the positions of the two in a list")
        return left.cell is right.cell
    return left is right


def _may_be_one(lx: Lifter, left: Any, right: Any) -> bool:
    """Whether two names may stand for one object: where paths met, and of what a list holds that a loop grew."""
    cells = [memory.root(lx, v.cell) if isinstance(v, Array) else v.cell for v in (left, right)]
    in_lists = any(aliases.is_in_list(lx, c) for c in cells)
    return in_lists or (cells[0] is not cells[1] and aliases.is_related(lx, *cells))


# --------------------------------------------------------------------------------------------------------- objects


def _of_objects(lx: Lifter, op: gast.cmpop, left: Any, right: Any, node: Any) -> Any:
    """What the classes of objects of the user's say; None if neither side is one."""
    classes = [overloads.class_of(lx, v) for v in (left, right)]
    if classes == [None, None]:
        return None
    own, reflected = _methods(RECORDS[type(op)])
    sides = [(left, right, own), (right, left, reflected)]
    if _is_derived(classes[1], classes[0]) and overloads.method(lx, right, reflected) is not None:
        sides.reverse()
    for one, other, name in sides:
        found = _answer(lx, one, other, name, node)
        if found is not None:
            return found
    if _is_equality(op) and any(isinstance(v, Ref) and c is not None for v, c in zip((left, right), classes)):
        if not any(isinstance(v, Array) for v in (left, right)):
            return lx.const(same_object(lx, left, right, node) == isinstance(op, gast.Eq))
    return None


def _is_derived(cls: Any, base: Any) -> bool:
    return isinstance(cls, type) and isinstance(base, type) and cls is not base and issubclass(cls, base)


def _answer(lx: Lifter, one: Any, other: Any, name: str, node: Any) -> Any:
    """What ``one.name(other)`` gives; None if there is no such method, or it says that it does not know."""
    made = _generated(lx, one, other, name, node)
    if made is not None:
        return made
    found = overloads.call(lx, one, name, [other], node)
    if found is None and name == "__ne__":  # the opposite of what __eq__ says
        found = _answer(lx, one, other, "__eq__", node)
        return None if found is None else negated(lx, truth.truth(lx, found, node))
    return None if _is_not_implemented(lx, found) else found


def _is_not_implemented(lx: Lifter, found: Any) -> bool:
    held = found.value if isinstance(found, Static) else None
    return held is NotImplemented or isinstance(held, Known) and held.name == "builtins.NotImplemented"


def _generated(lx: Lifter, one: Any, other: Any, name: str, node: Any) -> Any:
    """A comparison that ``dataclass`` made: of the fields, one after the other, of two instances of one class."""
    cls = overloads.class_of(lx, one)
    ops = {_methods(r)[0]: op for op, r in RECORDS.items() if op is not gast.NotEq}
    if name not in ops or not isinstance(one, Ref) or not overloads.is_made_by_dataclass(cls, name):
        return None
    if overloads.class_of(lx, other) is not cls or not isinstance(other, Ref):
        return None
    fields = [f.name for f in dataclasses.fields(cls) if f.compare]
    parts = []
    for value in (one, other):
        state = contents.items(lx, value, node)
        held = dict(zip(state.keys or (), state.items))
        parts.append([held[f] for f in fields])
    return _item_by_item(lx, ops[name](), parts[0], parts[1], node)


# ------------------------------------------------------------------------------------------------- lists and tuples


def _of_containers(lx: Lifter, op: gast.cmpop, left: Any, right: Any, node: Any) -> Any:
    kinds = [_kind(lx, v) for v in (left, right)]
    if kinds == [None, None]:
        if statics.is_known(lx, left) and statics.is_known(lx, right):
            return None
        if isinstance(left, RangeOf) and isinstance(right, RangeOf):
            message = "a comparison of two ranges is not supported"
            raise lx.error("T120", message, node, hint="compare their bounds, or lists of them")
        _refuse_text(lx, left, right, node)
        return lx.const(isinstance(op, gast.NotEq)) if _is_equality(op) and _has_static(lx, left, right) else None
    if any(isinstance(v, Array) or isinstance(v, Scalar) and not v.op.type.weak for v in (left, right)):
        return None  # NumPy makes an array of the list
    if kinds[0] != kinds[1]:
        if not _is_equality(op):
            message = f"{describe(lx, left)} and {describe(lx, right)} cannot be compared by order"
            raise lx.error("T120", message, node, "compare two lists or two tuples")
        return lx.const(isinstance(op, gast.NotEq))
    if kinds[0] is dict:
        return _of_dicts(lx, op, left, right, node)
    if dynamic_list_reads.is_grown(lx, left) or dynamic_list_reads.is_grown(lx, right):
        return _of_grown(lx, op, left, right, node)
    return _item_by_item(lx, op, _items(lx, left, node), _items(lx, right, node), node)


def _is_equality(op: gast.cmpop) -> bool:
    return isinstance(op, (gast.Eq, gast.NotEq))


def _has_static(lx: Lifter, left: Any, right: Any) -> bool:
    """Whether one side is known now, and no number: it is equal to nothing else."""
    held = [statics.known(lx, v) for v in (left, right) if isinstance(v, Static)]
    return any(not isinstance(h, (bool, int, float, np.generic)) for h in held)


def _refuse_text(lx: Lifter, left: Any, right: Any, node: Any) -> None:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Text) and (isinstance(other, Text) or isinstance(getattr(other, "value", None), str)):
            message = f"a comparison of {describe(lx, one)} is not supported"
            raise lx.error("T120", message, node, hint="compare the numbers in it")


def _kind(lx: Lifter, value: Any) -> type | None:
    """Whether a value is a list, a tuple or a dict."""
    if isinstance(value, Tuple):
        return tuple
    if isinstance(value, Ref):
        kind = lx.state.cells[value.cell].kind
        kind = contents.items(lx, value).kind if kind == "conflict" else kind
        return {"dict": dict, "instance": None}.get(kind, list)
    if isinstance(value, Static):
        held = statics.known(lx, value)
        return next((c for c in (tuple, list) if isinstance(held, c)), None)
    return None


def _items(lx: Lifter, value: Any, node: Any) -> Sequence[Any]:
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, Ref):
        return contents.items(lx, value, node).items
    return [lx.const(v) for v in statics.known(lx, value)]


def _item_by_item(lx: Lifter, op: gast.cmpop, left: Sequence[Any], right: Sequence[Any], node: Any) -> Any:
    if _is_equality(op):
        same = FALSE if len(left) != len(right) else _all_equal(lx, list(zip(left, right)), node)
        return Scalar(same) if isinstance(op, gast.Eq) else negated(lx, same)

    def later(k: int) -> Any:
        """What the items from number ``k`` on say."""
        if k == min(len(left), len(right)):
            return lx.const(_python(op)(len(left), len(right)))
        same = is_equal(lx, left[k], right[k], node)
        return either(lx, same, lambda: later(k + 1), lambda: compare(lx, op, left[k], right[k], node), node)

    return later(0)


def is_equal(lx: Lifter, a: Any, b: Any, node: Any) -> ir.Operand:
    """Whether two items are one object or equal, as containers ask."""
    if isinstance(a, (Ref, Array)) and a == b:
        return TRUE
    ops = [getattr(v, "op", None) for v in (a, b)]
    if isinstance(ops[0], ir.Const) and isinstance(ops[1], ir.Const) and ops[0].value is ops[1].value:
        return TRUE  # np.nan is itself
    return truth.truth(lx, compare(lx, gast.Eq(), a, b, node), node)


def _all_equal(lx: Lifter, pairs: Sequence[tuple[Any, Any]], node: Any) -> ir.Operand:
    same: ir.Operand = TRUE
    for a, b in pairs:
        one = is_equal(lx, a, b, node)
        if one == FALSE:
            return FALSE
        same = one if same == TRUE else same if one == TRUE else lx.b.elementwise("logical_and", same, one).op
    return same


def _of_keys(lx: Lifter, op: gast.cmpop, left: Any, right: Any, node: Any) -> Any:
    """``d.keys() == e.keys()``: as sets."""
    if not all(isinstance(v, Iteration) and v.kind == "dict_keys" for v in (left, right)):
        return None
    keys = [frozenset(contents.items(lx, v.parts[0], node).keys or ()) for v in (left, right)]
    return lx.const(_python(op)(*keys))


def _of_dicts(lx: Lifter, op: gast.cmpop, left: Ref, right: Ref, node: Any) -> Any:
    if not _is_equality(op):
        raise lx.error("T120", "dicts cannot be compared by order", node, "compare their values")
    held = [dict(zip(s.keys or (), s.items)) for s in (contents.items(lx, v, node) for v in (left, right))]
    same: ir.Operand = FALSE
    if held[0].keys() == held[1].keys():
        same = _all_equal(lx, [(v, held[1][k]) for k, v in held[0].items()], node)
    return Scalar(same) if isinstance(op, gast.Eq) else negated(lx, same)


def _of_grown(lx: Lifter, op: gast.cmpop, left: Ref, right: Ref, node: Any) -> Any:
    """Of lists of which only the run knows how many elements they have."""
    if _is_equality(op):
        same = _equal_grown(lx, left, right, node)
        return Scalar(same) if isinstance(op, gast.Eq) else negated(lx, same)
    test = Static(Known(f"operator.{operator_of(RECORDS[type(op)].name).name}"))
    return _library(lx, "ordered", [left, right, test], node)


def _equal_grown(lx: Lifter, left: Ref, right: Ref, node: Any) -> ir.Operand:
    if not dynamic_list_reads.is_grown(lx, left):
        left, right = right, left
    if dynamic_list_reads.is_grown(lx, right):
        return truth.truth(lx, _library(lx, "equal", [left, right], node), node)
    known = contents.items(lx, right, node).items
    as_long = truth.truth(
        lx, compare(lx, gast.Eq(), dynamic_list_reads.length(lx, left), lx.const(len(known)), node), node
    )

    def later(k: int) -> Any:
        if k == len(known):
            return lx.const(True)
        same = is_equal(lx, dynamic_list_reads.at(lx, left, lx.b.expr(k)), known[k], node)
        return either(lx, same, lambda: later(k + 1), lambda: lx.const(False), node)

    return truth.truth(lx, either(lx, as_long, lambda: later(0), lambda: lx.const(False), node), node)


def _library(lx: Lifter, name: str, args: list[Any], node: Any) -> Any:
    return library_calls.call(lx, f"library_lists:{name}", args, {}, node)


# -------------------------------------------------------------------------------------------------------------- in


def contains(lx: Lifter, container: Any, item: Any, node: Any) -> ir.Operand:
    """``item in container``."""
    own = overloads.call(lx, container, "__contains__", [item], node)
    if own is not None:
        return truth.truth(lx, own, node)
    if dynamic_list_reads.is_grown(lx, container):
        return truth.truth(lx, _library(lx, "contains", [container, item], node), node)
    if isinstance(container, Static):
        return TRUE if lx.static(item, "the left side of 'in'", node) in statics.known(lx, container) else FALSE
    if isinstance(container, RangeOf):
        return _in_range(lx, container, item, node)
    state = contents.items(lx, container, node) if isinstance(container, Ref) else None
    if state is not None and state.kind == "dict":
        return TRUE if lx.static(item, "the key of a dict", node) in (state.keys or ()) else FALSE
    items = list(container.items) if isinstance(container, Tuple) else None
    if state is not None and state.kind == "list":
        items = list(state.items)
    if items is None and (isinstance(container, Iteration) or overloads.class_of(lx, container) is not None):
        container = iteration.opened(lx, container, node)
        iterators.use(lx, container, node)
        items = live.known_items(lx, container, node)
    if items is None:
        hint = (
            "use np.any(x == value)" if isinstance(container, Array) else "search in a list, a tuple, a dict or a set"
        )
        raise lx.error("T120", f"'in' is not supported for {describe(lx, container)}", node, hint)
    found: ir.Operand = FALSE
    for one in items:
        same = is_equal(lx, one, item, node)
        if same == TRUE:
            return TRUE
        found = same if found == FALSE else found if same == FALSE else lx.b.elementwise("logical_or", found, same).op
    return found


def _in_range(lx: Lifter, container: RangeOf, item: Any, node: Any) -> ir.Operand:
    x = lx.array(item)
    start, stop, step = (lx.b.expr(o) for o in (container.start, container.stop, container.step))
    if not (isinstance(step.op, ir.Const) and step.op.value == 1):
        message = "'in' is not supported for a range with a step"
        raise lx.error("T120", message, node, "compare with its bounds, and test the remainder with %")
    if x.type.dims or not (x.type.is_int or x.type.is_bool):
        message = "'in' of a range is only supported for an integer"
        raise lx.error("T120", message, node, hint="compare with its bounds")
    return lx.b.elementwise("logical_and", start <= x, x < stop).op


def chain(lx: Lifter, left: Any, ops: list[gast.cmpop], nodes: list[gast.expr], node: Any) -> Any:
    """``a < b < c``: the middle is evaluated once, what follows a false part not at all."""
    right = lx.expr(nodes[0])
    first = compare(lx, ops[0], left, right, node)
    if len(ops) == 1:
        return first
    decided = truth.truth(lx, first, node)

    def rest() -> Any:
        return chain(lx, right, ops[1:], nodes[1:], node)

    if isinstance(decided, ir.Const):
        return rest() if decided.value else first
    return truth.follow(lx, True, decided, first, rest, node)
