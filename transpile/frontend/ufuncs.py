"""Ufuncs: ``out=``, ``where=`` and ``dtype=``; ``np.add.outer``, ``.reduce``, ``.accumulate`` and ``.at``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.frontend import memory, subscripts, table_calls
from transpile.frontend.convert import exprs, from_rule
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import Array, Static
from transpile.rules.api import Entry, entries

Args = list[Any]
Kwargs = dict[str, Any]


def with_options(lx: Lifter, name: str, entry: Entry, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """A call with ``out=``, ``where=``, ``dtype=`` or ``casting=`` that the entry does not know itself; None if it has none."""
    signature = entry.signature
    own = signature.parameters if signature is not None else {}
    out = kwargs.pop("out", None) if "out" not in own else None
    where = kwargs.pop("where", None) if "where" not in own else None
    dtype = kwargs.pop("dtype", None) if "dtype" not in own else None
    kwargs.pop("casting", None) if "casting" not in own else None
    arity = sum(p.default is p.empty for p in own.values()) if entry.elementwise else None
    if entry.elementwise and arity is not None and len(args) > arity and len(args) == arity + 1:
        out, args = args[-1], args[:-1]
    if out is None and where is None and dtype is None:
        return None
    if isinstance(out, Static) and out.value is None:
        out = None
    if dtype is not None:
        to = table_calls.static_argument(lx, "dtype", dtype, node)
        args = [lx.value(lx.b.cast(lx.array(a), to)) if to is not None else a for a in args]
    if where is not None and entry.elementwise:
        return _where(lx, name, entry, args, kwargs, where, out, node)
    if where is not None:
        raise lx.error("T131", f"where= of {name.replace('numpy.', 'np.')} is not supported", node)
    result = from_rule(lx, table_calls.build(lx, name, entry, args, kwargs, node))
    return result if out is None else table_calls.store_out(lx, out, result, node)


def _where(lx: Lifter, name: str, entry: Entry, args: Args, kwargs: Kwargs, where: Any, out: Any, node: Any) -> Any:
    """The result where the mask is true, what was there elsewhere."""
    if out is None:
        raise lx.error("T131", "where= without out= leaves elements undefined", node, hint="give out= an array")
    mask = lx.array(where)
    x = table_calls.build(lx, name, entry, args, kwargs, node)
    old = lx.array(out)
    return table_calls.store_out(lx, out, lx.value(lx.b.elementwise("where", mask, lx.b.cast(x, old.dtype), old)), node)


def method(lx: Lifter, name: str, which: str, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``np.add.outer(x, y)`` and its like."""
    entry = entries()[name]
    if not entry.elementwise:
        raise lx.error("T130", f"{name.replace('numpy.', 'np.')} is not a ufunc", node)
    rule = _METHODS.get(which)
    if rule is None:
        raise lx.error("T130", f"{name.replace('numpy.', 'np.')}.{which} is not supported", node)
    with lx.rules(node):
        return rule(lx, entry, args, kwargs, node)


def _outer(lx: Lifter, entry: Entry, args: Args, kwargs: Kwargs, node: Any) -> Any:
    x, y = (lx.array(a) for a in args[:2])
    wide = lx.b.let("reshape", x, dims=(*x.dims, *[Dim(1)] * y.rank)) if y.rank and x.rank else x
    return lx.value(lx.b.elementwise(entry.elementwise, wide, y, strong=True))


_REDUCE = {"add": "numpy.sum", "mul": "numpy.prod", "maximum": "numpy.max", "minimum": "numpy.min",
           "logical_and": "numpy.all", "logical_or": "numpy.any"}  # fmt: skip
_ACCUMULATE = {"add": "numpy.cumsum", "mul": "numpy.cumprod", "maximum": "numpy.maximum.accumulate",
               "minimum": "numpy.minimum.accumulate"}  # fmt: skip


def _reduce(lx: Lifter, entry: Entry, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return _as_function(lx, entry, _REDUCE, args, kwargs, node, "reduce")


def _accumulate(lx: Lifter, entry: Entry, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return _as_function(lx, entry, _ACCUMULATE, args, kwargs, node, "accumulate")


def _as_function(
    lx: Lifter, entry: Entry, names: dict[str, str], args: Args, kwargs: Kwargs, node: Any, what: str
) -> Any:
    name = names.get(entry.elementwise)
    if name is None or name not in entries():
        raise lx.error("T130", f"the ufunc method {what!r} of this function is not supported", node)
    given = list(args)
    if len(given) < 2 and "axis" not in kwargs:
        kwargs = {**kwargs, "axis": lx.const(0)}
    if len(given) > 1:
        given, kwargs = given[:1], {**kwargs, "axis": given[1]}
    if entry.elementwise in ("logical_and", "logical_or"):
        given[0] = lx.value(lx.b.cast(lx.array(given[0]), "bool"))
    return table_calls.call(lx, name, given, kwargs, node)


def _at(lx: Lifter, entry: Entry, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``np.add.at(a, index, b)``: repeated indices all count."""
    target, index = args[0], args[1]
    if not isinstance(target, Array):
        raise lx.error("T131", "the first argument must be an array", node)
    if entry.elementwise not in ("add", "sub"):
        raise lx.error("T130", "of the ufunc methods 'at', only np.add.at and np.subtract.at are supported", node)
    step, ops = subscripts.parse(lx, memory.type_of(lx, target.cell).dims, index, node)
    value: Expr = exprs(lx, args[2], node) if isinstance(args[2], Array) else lx.array(args[2])
    if entry.elementwise == "sub":
        value = -value
    memory.write(lx, target.cell, step, ops, value, add=True)
    return Static(None)


_METHODS: dict[str, Callable[..., Any]] = {"outer": _outer, "reduce": _reduce, "accumulate": _accumulate, "at": _at}
