"""Ufuncs: ``out=``, ``where=`` and ``dtype=``; ``np.add.outer``, ``.reduce``, ``.accumulate`` and ``.at``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.frontend.calls import building, library_calls
from transpile.frontend.calls.call_arguments import OPTIONS, Passed, passed
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import memory, subscripts
from transpile.frontend.values.convert import exprs, from_rule, shown
from transpile.frontend.values.operators import check_cast
from transpile.frontend.values.values import Array, Scalar, Static
from transpile.numpy_api.api_arguments import strong
from transpile.numpy_api.entries import entries
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.signatures import stretches
from transpile.ops.tables import prims

Args = list[Any]
Kwargs = dict[str, Any]


def with_options(lx: Lifter, name: str, entry: Entry, given: Passed, node: Any) -> Any:
    """A call with ``out=``, ``where=``, ``dtype=`` or ``casting=`` that the entry does not know; None if none says anything."""
    args, kwargs = given.args, given.kwargs
    out, where, dtype, casting = (given.options.get(k) for k in OPTIONS)
    if casting is not None:
        casting = building.static_argument(lx, "casting", casting, node)
        types = {x.dtype if x.type.is_float else "" for x in map(lx.array, args[: 2 if entry.elementwise else 0])}
        if casting in ("no", "equiv") and dtype is None and types not in ({"float64"}, {"float32"}):
            message = f"{shown(name)} with casting={casting!r} is only supported for floats of one dtype"
            raise lx.error("T131", message, node, "leave casting out, and convert with .astype(...)")
    if isinstance(where, Scalar) and isinstance(where.op, ir.Const) and where.op.value is True:
        where = None
    if out is None and where is None and dtype is None:
        return None
    if dtype is not None:
        to = building.static_argument(lx, "dtype", dtype, node)
        how = "same_kind" if casting is None else casting
        args = args if to is None else _computed_in(lx, name, entry, args, np.dtype(to).name, how, node)
    if where is not None and entry.elementwise:
        return _where(lx, name, entry, args, kwargs, where, None if _is_none(out) else out, node)
    if where is not None:
        message = f"the argument where= of {shown(name)} is not supported"
        raise lx.error("T131", message, node, "use np.where, or index with the mask")
    found = building.build(lx, name, entry, args, kwargs, node)
    if dtype is not None and to is not None and (not isinstance(found, Expr) or found.dtype != np.dtype(to).name):
        hint = "leave dtype out, and convert the result with .astype(...)"
        raise lx.error("T131", f"{shown(name)} with dtype={to} is not supported", node, hint)
    made = from_rule(lx, found)
    return building.stored(lx, out, made, node, stretched=bool(entry.elementwise) or stretches(name))


def _computed_in(lx: Lifter, name: str, entry: Entry, args: Args, to: str, casting: Any, node: Any) -> Args:
    """The operands of a ufunc whose result is to be of a type: theirs as well, but where it is a truth or one is an exponent."""
    given = [lx.array(a) for a in args]
    if entry.elementwise and not all(x.type.is_bool for x in given):
        like = [Type(x.dtype) for x in given]
        if getattr(prims()[entry.elementwise].type_rule(like, {}), "is_bool", False):
            if to != "bool":
                message = f"{shown(name)} returns truth values, not {to}"
                raise lx.error("T131", message, node, f"convert the result: .astype(np.{to})")
            return args
    cast = [k == 0 or not name.endswith(".ldexp") for k in range(len(args))]
    for x, is_cast in zip(given, cast):
        if is_cast and not np.can_cast(x.dtype, to, casting):
            message = f"{shown(name)} does not cast {x.dtype} to {to} (casting={casting!r})"
            raise lx.error("T131", message, node, f"convert it first: .astype(np.{to})")
    return [lx.value(lx.b.cast(x, to)) if is_cast else a for a, x, is_cast in zip(args, given, cast)]


def _where(lx: Lifter, name: str, entry: Entry, args: Args, kwargs: Kwargs, where: Any, out: Any, node: Any) -> Any:
    """The result where the mask is true, what was there elsewhere."""
    if out is None:
        raise lx.error("T131", "where= without out= leaves elements undefined", node, hint="pass an array as out=")
    mask = lx.array(where)
    record = prims()[entry.elementwise]
    if not record.quiet:  # not computed where it might warn
        args = [lx.value(_only(mask, lx.array(a), record.inside)) for a in args]
    x = building.build(lx, name, entry, args, kwargs, node)
    old = lx.array(out)
    check_cast(lx, x.op, old.op, "out=", node)
    kept = lx.value(lx.b.elementwise("where", mask, lx.b.cast(x, old.dtype), old))
    return building.stored(lx, out, kept, node, stretched=True)


def _only(mask: Expr, x: Expr, elsewhere: float) -> Expr:
    """``x`` where the mask holds, a harmless number elsewhere."""
    return x.b.elementwise("where", mask, x, elsewhere if x.type.is_float else x.b.cast(1, x.dtype))


def method(lx: Lifter, owner: Static, which: str, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``np.add.outer(x, y)`` and its like."""
    name = owner.value.name
    entry = entries()[name]
    if not entry.elementwise:
        raise lx.error("T130", f"{shown(name)} is not a ufunc", node, f"call {shown(name)} itself, or write a loop")
    rule = _METHODS.get(which)
    if rule is None:
        hint = f"call {shown(name)} itself, its {', '.join(sorted(_METHODS))}, or write a loop"
        raise lx.error("T130", f"{shown(name)}.{which} is not supported", node, hint)
    with lx.rules(node):
        return rule(lx, owner, args, dict(kwargs), node)


def _outer(lx: Lifter, owner: Static, args: Args, kwargs: Kwargs, node: Any) -> Any:
    entry = entries()[owner.value.name]
    if len(args) != 2:
        message = f"{shown(owner.value.name)}.outer takes two arguments, not {len(args)}"
        raise lx.error("T132", message, node, f"write {shown(owner.value.name)}.outer(x, y)")
    x, y = (lx.array(a) for a in args)
    wide = lx.b.let("reshape", x, dims=(*x.dims, *[Dim(1)] * y.rank)) if y.rank and x.rank else x
    if kwargs:
        return lx.table_call(owner.value.name, [lx.value(strong(wide)), lx.value(strong(y))], kwargs, node)
    return lx.value(lx.b.elementwise(entry.elementwise, wide, y, strong=True))


def _folded(which: str) -> Callable[..., Any]:
    """``reduce``, ``accumulate``, ``reduceat``: by the table, else a loop over the axis."""

    def rule(lx: Lifter, owner: Static, args: Args, kwargs: Kwargs, node: Any) -> Any:
        names = [f"{name}.{which}" for name in owner.value.names]
        name = next((name for name in names if name in entries()), None)
        if name is not None:
            return lx.table_call(name, args, kwargs, node)
        if owner.value.name in _UNSTABLE and which != "accumulate":
            text = f"the result of {shown(owner.value.name)}.{which} depends on the memory layout"
            raise lx.error("T130", text, node, hint="write a loop")
        entry = Entry(source=f"library_ufuncs:{which}")
        own = inspect.signature(library_calls.function(entry.source))
        takes = own.replace(parameters=list(own.parameters.values())[1:])
        given = passed(lx, names[0], entry, takes, args, kwargs, node)
        operand, *rest = given.args
        options = own.replace(parameters=list(own.parameters.values())[2:]).bind(*rest, **given.kwargs).arguments
        operand = lx.value(_in_its_dtype(lx, owner.value.name, which, lx.array(operand), options, node))
        made = library_calls.call(lx, entry.source, [owner, operand, *rest], given.kwargs, node)
        return building.stored(lx, given.options.get("out"), building.as_numbers(lx, made), node)

    return rule


def _in_its_dtype(lx: Lifter, name: str, which: str, x: Expr, options: Kwargs, node: Any) -> Expr:
    """The operand of a fold in the dtype in which NumPy computes it: what it does of one element, refused where it does not."""
    said = {k: building.static_argument(lx, k, options[k], node) for k in ("axis", "dtype") if k in options}
    if not x.rank:
        return x
    places = ([0],) if which == "reduceat" else ()
    with np.errstate(all="ignore"):
        try:
            one: Any = getattr(getattr(np, name.rpartition(".")[2]), which)(
                np.ones((1,) * x.rank, x.dtype), *places, **said
            )
        except (TypeError, ValueError) as e:
            hint = "correct the argument, as NumPy refuses it too"
            raise lx.error("T131", f"{shown(name)}.{which} of {x.type}: {e}", node, hint)  # noqa: B904
    return lx.b.cast(x, np.asarray(one).dtype.name)


_UNSTABLE = ("numpy.power", "numpy.arctan2", "numpy.float_power")  # vectorised loops that NumPy folds wrongly


def _is_none(value: Any) -> bool:
    return value is None or (isinstance(value, Static) and value.value is None)


def _at(lx: Lifter, owner: Static, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``np.add.at(a, index, b)``: repeated indices all count."""
    prim = entries()[owner.value.name].elementwise
    if not isinstance(args[0], Array):
        raise lx.error("T131", "the first argument must be an array", node, "make an array of it: np.array(...)")
    signs = prims()[prim].signs
    whole = memory.type_of(lx, args[0].cell).dtype
    is_rounded = len(args) == 3 and not np.can_cast(
        lx.array(args[2]).dtype, whole, "same_kind"
    )  # each sum, not what is added
    if len(signs) != 2 or is_rounded:  # neither + nor -
        which = "at" if len(args) == 3 else "at_alone"
        return library_calls.call(lx, f"library_ufuncs:{which}", [owner, *args], kwargs, node)
    target, index = args[0], args[1]
    path, ops = subscripts.parse(lx, memory.type_of(lx, target.cell).dims, index, node)
    value: Expr = exprs(lx, args[2], node) if isinstance(args[2], Array) else lx.array(args[2])
    memory.write(lx, target.cell, path, ops, -value if signs[1] < 0 else value, add=True)
    return Static(None)


_METHODS: dict[str, Callable[..., Any]] = {
    "outer": _outer,
    "reduce": _folded("reduce"),
    "accumulate": _folded("accumulate"),
    "reduceat": _folded("reduceat"),
    "at": _at,
}
