"""Name resolution: what a name of the user's program stands for, live or static, behind one interface.

Both kinds of scope have ``lookup(name, loc) -> Binding`` and ``loc(node, caller) -> Loc``. `open_function` gives for
a live callable or a `StaticFunction` its definition, its scope, its defaults and the arguments that are already
bound, so that the lifter need not know which it has.

>>> import math
>>> import numpy as np
>>> scale = 2.0
>>> f = lambda x: np.abs(x) * scale * math.pi
>>> scope = LiveScope(f)
>>> scope.lookup("np").attr("abs").name
'numpy.absolute'
"""

from __future__ import annotations

import builtins
import difflib
import functools
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from transpile.aggregates import flatten, has_content
from transpile.base.jax_names import way_out
from transpile.base.levels import level_of
from transpile.core import nodes as ir
from transpile.custom import Custom
from transpile.errors import TranspileError, error
from transpile.frontend.resolve import reads
from transpile.frontend.resolve.bindings import (
    Binding,
    Captured,
    Known,
    Literal,
    Module,
    Root,
    StaticClass,
    StaticValue,
    User,
)
from transpile.frontend.resolve.known import ROOTS, foreign, known_object
from transpile.frontend.resolve.static import StaticModule, static_module
from transpile.frontend.resolve.static_file import StaticFunction, StaticScope
from transpile.frontend.sources.locate import (
    Located,
    Target,
    head,
    is_array_method,
    is_of_numba,
    locate,
    transparent,
    unwrap,
)

__all__ = [
    "Binding", "Captured", "Known", "Literal", "LiveScope", "Module", "Opened", "Root", "StaticClass", "StaticFunction",
    "StaticModule", "StaticScope", "StaticValue", "User", "attribute", "bind", "open_function", "static_module",
]  # fmt: skip


class LiveScope:
    """The names outside a live function: its closure, its globals, Python's builtins; as they are now."""

    def __init__(self, fn: types.FunctionType, located: Located | None = None) -> None:
        self.fn, self.located = fn, located
        self.cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))

    def lookup(self, name: str, loc: ir.Loc = ir.NOWHERE) -> Binding:
        """What the name stands for; T405 if it has no value."""
        if name in self.cells:
            cell = self.cells[name]
            try:
                return _noted("cell", cell, name, cell.cell_contents, Root(name, "cell", cell))
            except ValueError:
                message = f"{name!r} is read before the enclosing function sets it"
                raise error("T405", message, loc, f"set {name!r} before this function is transformed") from None
        if name in self.fn.__globals__:
            value = self.fn.__globals__[name]
            return _noted("global", self.fn.__globals__, name, value, Root(name, "global", self.fn.__globals__))
        if hasattr(builtins, name):
            value = getattr(builtins, name)
            reads.note_absent(self.fn.__globals__, name)
            return bind(value, Captured(Root(name, "object", value), (), value))
        raise unknown_name(name, [*self.cells, *self.fn.__globals__], loc)

    def loc(self, node: Any, caller: ir.Loc | None = None) -> ir.Loc:
        return ir.NOWHERE if self.located is None else self.located.loc(node, caller)


def _noted(kind: str, holder: Any, name: str, value: Any, root: Root) -> Binding:
    """What a value outside is to the program; that it was read is remembered."""
    found = bind(value, Captured(root, (), value))
    _note(kind, holder, name, value, found)
    return found


def _note(kind: str, holder: Any, name: str, value: Any, found: Binding) -> None:
    (reads.note_data if isinstance(found, Captured) else reads.note)(kind, holder, name, value)


def unknown_name(name: str, names: Iterable[str], loc: ir.Loc) -> TranspileError:
    """T405 with what was probably meant."""
    close = difflib.get_close_matches(name, [n for n in names if not n.startswith("__")], 1)
    hint = f"did you mean {close[0]!r}?" if close else "define it, or pass it as an argument"
    return error("T405", f"name {name!r} is not defined", loc, hint)


# ------------------------------------------------------------------------------------------ live objects


def bind(obj: Any, captured: Captured) -> Binding:
    """What a live object is to a transformed program; ``captured`` says how it is read if it is data."""
    if obj is None or obj is Ellipsis or isinstance(obj, (bool, str, bytes, np.dtype, np.bool_)):
        return StaticValue(obj)
    known = known_object(obj)
    if known is not None:
        return known
    if isinstance(obj, types.ModuleType):
        return live_module(obj)
    if isinstance(obj, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, np.ufunc)):
        return _bind_callable(obj)
    if isinstance(obj, functools.partial) or transparent(obj) is not None or (is_of_numba(obj) and callable(obj)):
        return User(obj)
    leaves, tree = flatten(obj)
    if isinstance(obj, slice):
        leaves = [k for k in (obj.start, obj.stop, obj.step) if isinstance(k, np.ndarray)]
    return captured if leaves or has_content(tree) else StaticValue(obj)


def _bind_callable(obj: Any) -> Binding:
    elsewhere = None if is_array_method(obj) else foreign(obj)
    if elsewhere is not None:
        return Known(elsewhere)
    return StaticValue(obj) if isinstance(obj, type) else User(obj)


def live_module(module: types.ModuleType) -> Module:
    """A loaded module; those of known roots are asked by name, others by their objects."""
    dotted = module.__name__

    def members(name: str, loc: ir.Loc) -> Binding:
        try:
            value = getattr(module, name)
        except AttributeError:
            hint = way_out(dotted, name, getattr(module, "__all__", vars(module)))
            raise error("T416", f"module {dotted!r} has no attribute {name!r}", loc, hint=hint) from None
        bound = bind(value, Captured(Root(dotted, "object", module), (("attr", name),), value))
        if dotted.partition(".")[0] not in ROOTS:
            _note("attr", module, name, value, bound)
        if isinstance(bound, Captured) and dotted.partition(".")[0] in ROOTS - {"transpile"}:
            return Known(f"{dotted}.{name}", value=value if isinstance(value, (int, float)) else None)
        return bound

    return Module(dotted, members)


def attribute(binding: StaticValue | Captured, name: str, loc: ir.Loc = ir.NOWHERE) -> Binding | None:
    """``value.name`` of a live object (an instance with parameters, a class, an enum); None if it has none."""
    value = binding.value if isinstance(binding, StaticValue) else binding.example
    if not hasattr(value, name):
        return None
    if isinstance(binding, Captured):
        captured = binding.child("attr", name)
    else:
        root = Root(type(value).__name__ if not isinstance(value, type) else value.__name__, "object", value)
        captured = Captured(root, (("attr", name),), getattr(value, name))
        found = bind(captured.example, captured)
        _note("attr", value, name, captured.example, found)
        return found
    return bind(captured.example, captured)


# ---------------------------------------------------------------------------------------- opening a function


@dataclass(frozen=True)
class Opened:
    """A function that is about to be lifted.

    ``args`` and ``kwargs`` are bindings that come before and beside those of the call: ``self``, those of a partial.
    ``defaults`` are bindings by parameter name; a number among them is a StaticValue. ``key`` identifies the
    function, for finding recursion.
    """

    located: Located
    scope: Any
    args: tuple[Binding, ...] = ()
    kwargs: Mapping[str, Binding] = field(default_factory=dict)
    defaults: Mapping[str, Binding] = field(default_factory=dict)
    key: Any = None


def open_function(target: Any, loc: ir.Loc = ir.NOWHERE) -> Opened:
    """The definition and the scope of a live callable or of a `StaticFunction`; ``loc`` is where it is called.

    Raises T103, T104, T401, T402, T403, T411 or T412 where there is nothing to lift.
    """
    if isinstance(target, StaticFunction):
        located = target.located
        return Opened(located, target.scope, tuple(target.args), target.kwargs, target.defaults(), target.node)
    found = unwrap(target, loc)
    located = locate(found.fn, loc)
    return Opened(
        located,
        LiveScope(found.fn, located),
        tuple(_bound(v, _argument_name(found, k)) for k, v in enumerate(found.args)),
        {name: _bound(v, name) for name, v in found.kwargs.items()},
        live_defaults(found.fn),
        found.fn,  # not its code: the functions that a factory makes share that and differ in their closures
    )


def definition_loc(target: Any) -> ir.Loc:
    """Where a function is defined, whatever wraps it; nowhere if there is no source."""
    return parameter_loc(target, "")


def parameter_loc(target: Any, at: int | str) -> ir.Loc:
    """Where the parameter stands that a positional (a number) or named argument of a call gets; else the function's name;
    nowhere if there is no source."""
    while level_of(target) is not None or isinstance(target, Custom):
        target = target.__wrapped__
    try:
        opened = None if hasattr(target, "__transpile_function__") else open_function(target)
    except TranspileError:
        opened = None
    if opened is None:
        return ir.NOWHERE
    found = _parameter(opened, at)
    return head(opened.located) if found is None else opened.located.loc(found)


def _parameter(opened: Opened, at: int | str) -> Any:
    spec = opened.located.node.args
    positional = [*spec.posonlyargs, *spec.args][len(opened.args) :]
    named = [a for a in (*positional, *spec.kwonlyargs) if a.id == at]
    found = positional[at : at + 1] if isinstance(at, int) else named
    return found[0] if found else None


def parameter_name(target: Any, at: int | str) -> str | None:
    """What the parameter is called that an argument of a call gets; None if that cannot be said."""
    while level_of(target) is not None or isinstance(target, Custom):
        target = target.__wrapped__
    try:
        found = None if hasattr(target, "__transpile_function__") else _parameter(open_function(target), at)
    except TranspileError:
        found = None
    return None if found is None else str(found.id)


def _argument_name(found: Target, k: int) -> str:
    names = found.fn.__code__.co_varnames
    return names[k] if k < found.fn.__code__.co_argcount else f"{found.fn.__name__}_{k}"


def _bound(value: Any, name: str) -> Binding:
    return bind(value, Captured(Root(name, "object", value), (), value))


def live_defaults(fn: types.FunctionType) -> dict[str, Binding]:
    """The default values of a live function's parameters."""
    code = fn.__code__
    positional = fn.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(positional) : code.co_argcount]
    values = {**dict(zip(names, positional)), **(fn.__kwdefaults__ or {})}
    for held in ("__code__", "__defaults__", "__kwdefaults__"):  # modules that are reloaded in place set them anew
        if getattr(fn, held) is not None:  # defaults that come later make calls valid which are refused now
            reads.note("function", fn, held, getattr(fn, held))
    for name, value in (fn.__kwdefaults__ or {}).items():  # a dict that may be written
        reads.note("default", fn.__kwdefaults__, name, value)
    return {name: _default(value, name) for name, value in values.items()}


def _default(value: Any, name: str) -> Binding:
    # a number among the defaults stands in the function's own source: a constant, not something to read at each call
    return StaticValue(value) if type(value) in (int, float, complex) else _bound(value, name)


Scope = LiveScope | StaticScope
