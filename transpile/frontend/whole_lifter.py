"""The lifter with all parts of the language: who answers what `transpile.frontend.lifter` lets the parts ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from transpile.core import nodes as ir
from transpile.core.watch import station
from transpile.frontend import entry
from transpile.frontend.calls import calls, known_calls, number_calls, recursive_body, table_calls
from transpile.frontend.control import comprehensions, live
from transpile.frontend.control.statements import STATEMENTS
from transpile.frontend.lifter import Lifter
from transpile.frontend.lifting import Transforms
from transpile.frontend.resolve import statics
from transpile.frontend.values import attributes, comparisons, convert, memory, structure_values, subscripts
from transpile.frontend.values.expressions import EXPRESSIONS


class WholeLifter(Lifter):
    """Each method is a function of the file whose subject it is."""

    expressions = EXPRESSIONS
    statements = STATEMENTS
    operand = convert.operand
    new_array = memory.new_array
    static = statics.python
    need = statics.need
    apply = calls.apply
    known_call = known_calls.call
    table_call = table_calls.call
    user_call = calls.user
    run = calls.run
    outside = calls.outside
    lift_body = recursive_body.lift_body
    unrolled = live.unrolled
    generated = comprehensions.unrolled
    sorted_items = number_calls.sorted_items
    structural = structure_values.fixed
    item = subscripts.read
    attribute = attributes.read
    is_equal = comparisons.is_equal

    def lift_inside(self, target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], mutable: bool) -> ir.Function:
        return entry.lift(WholeLifter, target, args, kwargs, outer=self, mutable=mutable)


@station("lift")
def lift(
    target: Any,
    arg_trees: Sequence[Any],
    kwarg_trees: Mapping[str, Any] | None = None,
    *,
    name: str | None = None,
    mutable: bool = False,
    pinned: ir.Loc | None = None,
    transforms: Transforms | None = None,
) -> ir.Function:
    """The core function of a Python function for arguments of these types.

    Trees have `transpile.aggregates.ArgLeaf` in the places of leaves. Raises `TranspileError`, or `NeedStatic` with the number of
    an integer leaf (counted over the positional, then the named arguments) whose value must be known. ``pinned`` is the place
    of all statements where the function is not the user's own text. ``transforms`` lifts a stack of transforms that is called in
    the function, given what lifts the function under it; a function inside another one asks that one's.
    """
    return entry.lift(
        WholeLifter, target, arg_trees, kwarg_trees, name=name, mutable=mutable, pinned=pinned, transforms=transforms
    )
