"""Calls: whom they reach, with which arguments; functions of the user's are lifted in place."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from typing import Any

import gast
import numpy as np

from transpile.base.levels import level_of
from transpile.core import nodes as ir
from transpile.custom import Custom
from transpile.errors import TranspileError
from transpile.frontend.calls import (
    arity,
    custom_calls,
    inner_transforms,
    methods,
    numba_calls,
    object_calls,
    recursion,
    ways_out,
)
from transpile.frontend.control import iterators
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import name_lookup, resolve
from transpile.frontend.resolve.bindings import Known, Module, StaticClass, User
from transpile.frontend.resolve.known import COMPOSITES, OWN_TEXT
from transpile.frontend.restarts import NeedRoutine
from transpile.frontend.sources.locate import is_numba_ufunc
from transpile.frontend.sources.sources import Code, maybe_unassigned
from transpile.frontend.state import Frame
from transpile.frontend.values import classes, contents
from transpile.frontend.values.convert import describe, new_dict
from transpile.frontend.values.values import Bound, Closure, Method, Ref, Static, Tuple

MAX_DEPTH = 60
MAX_NESTED = 4  # runs of one function inside itself; what is deeper is kept as a function (`recursion`)

Args = list[Any]
Kwargs = dict[str, Any]


def call(lx: Lifter, node: gast.Call) -> Any:
    """``function(*args, **kwargs)``."""
    function = lx.expr(node.func)
    args, kwargs = arguments(lx, node)
    return apply(lx, function, args, kwargs, node)


def arguments(lx: Lifter, node: gast.Call) -> tuple[Args, Kwargs]:
    """The values of a call's arguments, stars spread out."""
    args: Args = []
    kwargs: Kwargs = {}
    for a in node.args:
        if isinstance(a, gast.Starred):
            value = lx.expr(a.value)
            iterators.use(lx, value, a)
            args += lx.unrolled(value, a)
        else:
            args.append(lx.expr(a))
    for k in node.keywords:
        value = lx.expr(k.value)
        state = contents.items(lx, value, k.value) if isinstance(value, Ref) and k.arg is None else None
        if k.arg is None and (state is None or state.kind != "dict"):
            raise lx.error("T117", f"'**' needs a dict, not {describe(lx, value)}", k.value, ways_out.STARS)
        pairs = [(k.arg, value)] if state is None else zip(state.keys or (), state.items)
        for name, item in pairs:
            if name in kwargs:
                message = f"got multiple values for keyword argument {name!r}"
                raise lx.error("T132", message, k.value, "pass it once")
            kwargs[name] = item
    return args, kwargs


def apply(lx: Lifter, function: Any, args: Args, kwargs: Kwargs, node: Any = None) -> Any:
    """The result of a call."""
    rule = _CALLABLES.get(type(function))
    if rule is None:
        raise lx.error("T130", f"{describe(lx, function)} cannot be called", node, ways_out.CALLABLE)
    return rule(lx, function, args, kwargs, node)


def _bound(lx: Lifter, function: Bound, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return apply(lx, function.function, [*function.args, *args], {**dict(function.kwargs), **kwargs}, node)


def _static(lx: Lifter, function: Static, args: Args, kwargs: Kwargs, node: Any) -> Any:
    held = function.value
    rule = _HELD.get(type(held))
    if rule is not None:
        return rule(lx, held, args, kwargs, node)
    if hasattr(type(held), "__lifter_call__"):
        return held.__lifter_call__(lx, args, kwargs, node)
    if "__call__" in getattr(type(held), "__lifter_methods__", ()):
        return lx.known_call(held.__lifter_methods__["__call__"], [function, *args], kwargs, node)
    if isinstance(held, type):
        return classes.construct(lx, held, args, kwargs, node)
    if held is None or isinstance(held, (str, dict, list, tuple)):
        raise lx.error("T130", f"{describe(lx, function)} cannot be called", node, ways_out.CALLABLE)
    own = _own_call(held)
    if own is not None:
        return own(lx, held, args, kwargs, node)
    found = resolve.bind(held, resolve.Captured(resolve.Root("it", "object", held), (), held))
    if isinstance(found, Known):
        return lx.known_call(found.name, args, kwargs, node)
    return user(lx, held, args, kwargs, node)


def _user(lx: Lifter, held: User, args: Args, kwargs: Kwargs, node: Any) -> Any:
    own = _own_call(held.target)
    return user(lx, held.target, args, kwargs, node) if own is None else own(lx, held.target, args, kwargs, node)


def _own_call(held: Any) -> Callable[..., Any] | None:
    """How a function that was transformed, or has a derivative of its own, is called."""
    if isinstance(held, types.MethodType):
        return None if _own_call(held.__func__) is None else _method_of_ours
    if isinstance(held, inner_transforms.Stand):
        return lambda lx, held, args, kwargs, node: apply(lx, held.value, args, kwargs, node)
    if level_of(held) is not None:
        return inner_transforms.call
    if isinstance(held, np.vectorize):
        return _of_vectorize
    if is_numba_ufunc(held):
        return numba_calls.vectorized
    if isinstance(held, Custom):
        return custom_calls.custom
    return None


def _method_of_ours(lx: Lifter, held: types.MethodType, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return apply(lx, outside(lx, held.__func__), [outside(lx, held.__self__), *args], kwargs, node)


def _of_vectorize(lx: Lifter, held: np.vectorize, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if held.signature is not None or held.excluded:
        which = "signature" if held.signature is not None else "excluded"
        raise lx.error("T131", f"np.vectorize with {which} is not supported", node, ways_out.LOOP)
    made = object_calls.vectorized(lx, outside(lx, held.pyfunc), lx.const(held.otypes), node)
    return apply(lx, made, args, kwargs, node)


def outside(lx: Lifter, value: Any) -> Any:
    """The abstract value of an object that stands outside the function."""
    return name_lookup.from_binding(
        lx, resolve.bind(value, resolve.Captured(resolve.Root("it", "object", value), (), value))
    )


def _method(lx: Lifter, function: Method, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return methods.call(lx, function.owner, function.name, args, kwargs, node)


def _instance(lx: Lifter, function: Any, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """A call of an object of the program's own: of its ``__call__``."""
    items = None if isinstance(function, Tuple) else lx.state.cells[function.cell]
    if not (_has_call(function.cls) if items is None else items.kind == "instance" or _has_call(items.cls)):
        raise lx.error("T130", f"{describe(lx, function)} cannot be called", node, ways_out.CALLABLE)
    return apply(lx, lx.attribute(function, "__call__", node), args, kwargs, node)


def _has_call(cls: Any) -> bool:
    """Whether the class of a tuple or list says what a call of it is."""
    if isinstance(cls, StaticClass):
        return "__call__" in cls.methods
    return any("__call__" in vars(c) for c in getattr(cls, "__mro__", ()))


def _class(lx: Lifter, held: Any, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return classes.construct(lx, held, args, kwargs, node)


_HELD: dict[type, Callable[..., Any]] = {
    Known: lambda lx, held, args, kwargs, node: lx.known_call(held, args, kwargs, node),
    User: _user,
    StaticClass: _class,
    Module: lambda lx, held, args, kwargs, node: _no_call(lx, "a module", node),
}


def _no_call(lx: Lifter, what: str, node: Any) -> Any:
    raise lx.error("T130", f"{what} cannot be called", node, ways_out.CALLABLE)


# ---------------------------------------------------------------------------------------------- the user's functions


def closure(lx: Lifter, node: Any, name: str) -> Closure:
    """The function that a ``def`` or ``lambda`` makes; its defaults are evaluated now."""
    lx.frame.keep = True
    frame: Frame | None = lx.frame.parent
    while frame is not None:
        frame.keep, frame = True, frame.parent
    args = node.args
    defaults = tuple(lx.expr(d) for d in args.defaults)
    kw_defaults = {a.id: lx.expr(d) for a, d in zip(args.kwonlyargs, args.kw_defaults) if d is not None}
    return Closure(lx.frame.code.inside(node, name), lx.frame, defaults, kw_defaults)


def _closure(lx: Lifter, function: Closure, args: Args, kwargs: Kwargs, node: Any) -> Any:
    positional = [*getattr(function.code.args, "posonlyargs", ()), *function.code.args.args]
    defaults = dict(zip((a.id for a in positional[len(positional) - len(function.defaults) :]), function.defaults))
    return run(lx, function.code, function.frame, {**defaults, **function.kw_defaults}, args, kwargs, node)


def user(lx: Lifter, target: Any, args: Args, kwargs: Kwargs, node: Any = None) -> Any:
    """A call of a Python function, live or static."""
    if isinstance(target, functools.partial):
        return apply(lx, *_opened(lx, target, args, kwargs), node)
    of_library = ways_out.library_name(target)
    if of_library is not None:
        raise lx.error("T130", f"{of_library} is not supported", node, ways_out.of_call(of_library))
    opened = resolve.open_function(target, lx.b.loc)
    code = code_of(lx, opened)
    given = [*(name_lookup.from_binding(lx, a) for a in opened.args), *args]
    keywords = {**{k: name_lookup.from_binding(lx, v) for k, v in opened.kwargs.items()}, **kwargs}
    return run(lx, code, None, dict(opened.defaults), given, keywords, node)


def _opened(lx: Lifter, target: functools.partial[Any], args: Args, kwargs: Kwargs) -> tuple[Any, Args, Kwargs]:
    """What a partial calls, with all the arguments."""
    given = [outside(lx, a) for a in target.args]
    named = {k: outside(lx, v) for k, v in target.keywords.items()}
    return outside(lx, target.func), [*given, *args], {**named, **kwargs}


def code_of(lx: Lifter, opened: Any) -> Code:
    """The code of a function outside; one for each function, so that it is desugared once."""
    found: Code | None = lx.codes.get(opened.key)
    if found is None:
        located = opened.located
        name = "<lambda>" if located.is_lambda else located.node.name
        found = Code(located.node, name, _placed(opened), opened.scope.lookup, function=opened.key)
        found.ours = _is_ours(opened)
        found.named = _module(opened) != COMPOSITES
        if not located.is_lambda:
            found.unassigned = maybe_unassigned(located.node)
        lx.codes[opened.key] = found
    return found


def _placed(opened: Any) -> Callable[[Any, ir.Loc | None], ir.Loc]:
    """Where the lines of a function are: those of our own vocabulary are at the call, those of the functions that it is given
    not."""
    if not _is_ours(opened):
        locate: Callable[[Any, ir.Loc | None], ir.Loc] = opened.located.loc
        return locate
    return lambda node, caller: ir.NOWHERE if caller is None else caller


def _is_ours(opened: Any) -> bool:
    return _module(opened).startswith(OWN_TEXT)


def _module(opened: Any) -> str:
    return getattr(getattr(opened.scope, "fn", None), "__module__", None) or ""


def run(
    lx: Lifter, code: Code, parent: Frame | None, defaults: Mapping[str, Any], args: Args, kwargs: Kwargs, node: Any
) -> Any:
    """The result of a function of the user's with these arguments: its body is lifted here, unless the function is kept."""
    depth = lx.frame.depth + 1
    count = 0 if code.ours else _running(lx, code)  # a scan in the body of a scan is no recursion
    if count and (count > MAX_NESTED or depth > MAX_DEPTH):
        raise NeedRoutine(code)
    if depth > MAX_DEPTH:
        message = f"calls are nested more than {MAX_DEPTH} levels deep"
        raise lx.error("T115", message, node, "write the recursion as a loop")
    bound = bind_arguments(lx, code, defaults, args, kwargs, node)
    if lx.kept.is_kept(code):
        values = {name: name_lookup.settled(lx, value) for name, value in bound.items()}
        return recursion.call(lx, code, parent, values, node)
    try:
        return enter(lx, code, parent, bound, _caller(lx, node), depth)
    except TranspileError:
        if count:  # what does not fit in line may fit if its sizes are any
            raise NeedRoutine(code) from None
        raise


def enter(
    lx: Lifter, code: Code, parent: Frame | None, bound: Mapping[str, Any], caller: ir.Loc | None, depth: int
) -> Any:
    """Lifts the body of a function whose parameters are ``bound``; its result."""
    turns = lx.turn(code, caller)
    frame = Frame(code, parent, caller, code.locals, depth=depth, up=lx.frame, turns=turns)
    for name, value in bound.items():
        if not name_lookup.is_outside(value):
            lx.state.vars[frame, name] = value
    saved, lx.frame = lx.frame, frame
    loc = lx.b.loc
    try:
        for name, value in bound.items():  # defaults that stand outside the function
            if (frame, name) not in lx.state.vars:
                lx.state.vars[frame, name] = name_lookup.from_binding(lx, value)
        return body(lx, frame)
    finally:
        lx.frame, lx.b.loc = saved, loc
        if not frame.keep:
            for key in [k for k in lx.state.vars if k[0] is frame]:
                del lx.state.vars[key]


def body(lx: Lifter, frame: Frame) -> Any:
    """Lifts the statements of the function that ``frame`` runs; what it returns."""
    lx.block(frame.code.body)
    result = frame.result
    frame.result = None
    return Static(None) if result is None else result


def _caller(lx: Lifter, node: Any) -> ir.Loc | None:
    if lx.frame.up is None:
        return lx.frame.caller
    return lx.loc(node) if node is not None and getattr(node, "lineno", None) is not None else lx.b.loc


def _running(lx: Lifter, code: Code) -> int:
    frame: Frame | None = lx.frame
    count = 0
    while frame is not None:
        count += frame.code is code
        frame = frame.up
    return count


def bind_arguments(
    lx: Lifter, code: Code, defaults: Mapping[str, Any], args: Args, kwargs: Kwargs, node: Any
) -> dict[str, Any]:
    """Python's binding of arguments to parameters, with Python's messages."""

    def misfit(message: str) -> TranspileError:
        names = [*positional, *(a.id for a in spec.kwonlyargs)]
        hint = arity.its_arguments(names)
        return lx.error("T408" if lx.frame.up is None else "T132", f"{code.name}() {message}", node, hint)

    spec = code.args
    only = [a.id for a in getattr(spec, "posonlyargs", ())]
    positional = [*only, *(a.id for a in spec.args)]
    bound: dict[str, Any] = dict(zip(positional, args))
    rest = args[len(positional) :]
    if spec.vararg is not None:
        bound[spec.vararg.id] = Tuple(tuple(rest))
    elif rest:
        required = sum(name not in defaults for name in positional)
        raise misfit(
            f"takes {_arity(required, len(positional))} but {len(args)} {'was' if len(args) == 1 else 'were'} given"
        )
    extra: Kwargs = {}
    named = [*positional[len(only) :], *(a.id for a in spec.kwonlyargs)]
    for key, value in kwargs.items():
        if key in named and key in bound:
            raise misfit(f"got multiple values for argument {key!r}")
        (bound if key in named else extra)[key] = value
    if extra and spec.kwarg is None:
        by_name = ", ".join(key for key in extra if key in only)
        if by_name:
            raise misfit(f"got some positional-only arguments passed as keyword arguments: {by_name!r}")
        raise misfit(f"got an unexpected keyword argument {next(iter(extra))!r}")
    if spec.kwarg is not None:
        bound[spec.kwarg.id] = new_dict(lx, list(extra), list(extra.values()))
    for kind, names_ in (("positional", positional), ("keyword-only", [a.id for a in spec.kwonlyargs])):
        missing = [name for name in names_ if name not in bound and name not in defaults]
        if missing:
            raise misfit(f"missing {_count(len(missing), f'required {kind} argument')}: {_listed(missing)}")
        bound.update((name, defaults[name]) for name in names_ if name not in bound)
    return bound


def _arity(required: int, most: int) -> str:
    """How many positional arguments a function takes, as Python says it."""
    if required == most:
        return _count(most, "positional argument")
    return f"from {required} to {_count(most, 'positional argument')}"


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _listed(names_: list[str]) -> str:
    quoted = [repr(n) for n in names_]
    if len(quoted) < 3:
        return " and ".join(quoted)
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"


_CALLABLES: dict[type, Callable[..., Any]] = {
    Static: _static, Closure: _closure, Bound: _bound, Method: _method, Ref: _instance, Tuple: _instance,
}  # fmt: skip
