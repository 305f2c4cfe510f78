"""Interpreted programs: they run the generated text as a Python function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from transpile.aggregates import ArgSpec, flatten, unflatten
from transpile.base.captured import Place, Stale, reader
from transpile.base.loader import load
from transpile.codegen.numpy import render
from transpile.core import nodes as ir
from transpile.core.functions import reached
from transpile.core.walk import statements
from transpile.driver.conditions import Scope, checker
from transpile.driver.errstate import collecting, warning
from transpile.driver.fast_path import Call, Otherwise
from transpile.driver.lifted_request import leaf_slots
from transpile.driver.program import Program, slim
from transpile.driver.request import Request
from transpile.driver.result_kinds import converters
from transpile.driver.results import adjust_tree
from transpile.driver.shared_arguments import instead, is_twice, overlap, refuse_copied
from transpile.driver.tracebacks import framed
from transpile.driver.what_raised import is_raise, last
from transpile.errors import NO_COMPLEX, error
from transpile.ops.tables import record_of


class Interpreted(Program):
    """The program that runs the generated text; ``quiet``, for derivatives, turns floating-point warnings off."""

    def __init__(self, target: Any, core: ir.Function, request: Request, quiet: bool) -> None:

        super().__init__()
        rendered = render(core)
        function = load(rendered.text, rendered.name, rendered.line_map, rendered.classes, rendered.raises)
        code = function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.name, self.protected = core.name, protected(function, core, quiet, warning(target))
        self.warns = warning(target) is not None
        self.hidden = names[len(names) - len(core.captured) :]
        self.printed = printed_names(core, names)
        self.place = placement(core, request, self.printed)
        self.taken, self.slots = core.taken, leaf_slots(core, request)
        self.places = [Place.of(c) for c in core.captured]
        self.reads = request.reads
        self.outside, self.unchanged = reader(self.places), checker(request.reads)
        self.trees = [*request.args, *request.kwargs.values()]
        self.named = tuple(request.kwargs)
        self.examples = [slim(v) for v in request.leaves]
        self.known = {k: request.leaves[k] for k in request.known}
        self.target, self.changes_containers = target, request.changes_containers
        self.pairs = shared_pairs(request, self.examples, self.places)
        self.writes = any(p.buffer for p in core.params) or bool(request.written) or request.changes_containers

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any], leaves: list[Any]) -> Any:
        if self.unchanged is not None and not self.unchanged():
            raise Stale
        values = self.outside() if self.outside is not None else []
        if self.changes_containers or self.pairs:
            refuse_copied(self.target, self.places, self.reads if self.changes_containers else ())
        if self.changes_containers and is_twice((*args, *kwargs.values()), self.reads):
            return instead(self.target, args, kwargs)
        if self.pairs and overlap([*leaves, *reversed(values)], self.pairs):
            return instead(self.target, args, kwargs)
        given = (args, kwargs)
        if self.place is not None:
            args, kwargs = self.place(args, kwargs)
        if self.warns:
            kwargs = {**kwargs, "__given": given}
        if values:
            kwargs = {**kwargs, **dict(zip(self.hidden, values))}
        return self.protected(*args, **kwargs)

    def front(self, otherwise: Otherwise) -> Callable[..., Any] | None:
        if self.place is not None:
            return None
        every = range(-len(self.places), len(self.examples))
        call = Call(self.name, self.trees, self.examples, self.known, every, self.reads, self.places)
        call.pairs, call.once = self.pairs, self.changes_containers
        return call.write(otherwise, self._call)

    def _call(self, scope: Scope, leaves: Mapping[int, str], values: list[str]) -> None:
        """Writes to ``scope`` the call of the generated function, and what happens if it raises; ``leaves`` and ``values`` are
        the texts of leaves and of outside values."""
        own = len(self.trees) - len(self.named)
        given = [f"__a{k}" for k in range(own)]
        given += [f"{self.printed.get(name, name)}=__a{own + k}" for k, name in enumerate(self.named)]
        given += [f"{name}={value}" for name, value in zip(self.hidden, values)]
        if self.warns:
            positional = "".join(f"__a{k}, " for k in range(own))
            named = ", ".join(f"{name!r}: __a{own + k}" for k, name in enumerate(self.named))
            given.append(f"__given=(({positional}), {{{named}}})")
        call = f"return {scope.constant(self.protected)}({', '.join(given)})"
        scope.lines += ["try:", f"    {call}", f"except {scope.constant(KeyboardInterrupt)} as __error:"]
        scope.line(f"    raise {scope.constant(framed)}(__error)")
        scope.lines += [f"except {scope.constant(Exception)} as __error:"]
        if self.taken.pairs:
            scope.lines += self._other_sizes(scope, leaves)
        scope.line(f"    raise {scope.constant(framed)}({self._failed(scope, len(self.trees))})")


def interpreted(target: Any, core: ir.Function, request: Request, quiet: bool) -> Interpreted:
    """The program that runs the generated text of a core function, for calls like ``request``; ``quiet``: without
    floating-point warnings."""
    return Interpreted(target, core, request, quiet)


def shared_pairs(request: Request, leaves: Sequence[Any], places: Sequence[Place]) -> tuple[tuple[int, int], ...]:
    """Pairs ``(k, j)`` of a written leaf and an array that must not share memory with it: another leaf, or an outside place as
    -1 - its index."""
    outside = [-1 - k for k, place in enumerate(places) if isinstance(place.read(), np.ndarray)]
    others = [k for k in sorted(request.own) if isinstance(leaves[k], np.ndarray)]
    return tuple([(k, j) for k in sorted(request.written) for j in (*others, *outside) if j != k])


def protected(
    function: Any, core: ir.Function, quiet: bool, warn: Callable[..., None] | None = None
) -> Callable[..., Any]:
    """A function that calls the generated one with the error settings of ``core``, without warnings if ``quiet``, and converts
    the leaves of its result.

    With ``warn``, each call of it must also have the keyword ``__given``, the pair of the original arguments ``(args, kwargs)``;
    after a floating-point fault it calls ``warn(args, kwargs)``. If Python's float arithmetic raises where NumPy gives inf or
    NaN, a derivative (``quiet``) is run again with NumPy's floats. T311 if a power gives a complex result.
    """
    finish = adjust_tree(core.out_tree, converters(core.body.yields, core.out_tree))
    settings: dict[str, Any] = {"all": "ignore"} if quiet and warn is None else dict(core.errstate)
    errstate = np.errstate
    power, has_powers = fraction(core), fraction(core, weak=False) is not None

    def call(*args: Any, **kwargs: Any) -> Any:
        faults: list[str] = []
        if warn is None:
            return quietly(faults, args, kwargs)
        given = kwargs.pop("__given")
        with collecting(faults):
            out = quietly(faults, args, kwargs)
        if faults:
            warn(*given)
        return out

    def quietly(faults: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        failed: Exception | None = None
        try:
            if settings:
                with errstate(**settings):
                    out = function(*args, **kwargs)
            else:
                out = function(*args, **kwargs)
        except Exception as e:
            if not quiet or not _is_pythons(e):
                raise
            failed = e
        if failed is not None or (power is None and has_powers and _is_complex(out)):
            faults.append("of Python's floats")
            out = again(function, args, kwargs)
        if power is not None and _is_complex(out):
            message = "a negative number to a power that is not a whole number is complex"
            raise error("T311", message, power, NO_COMPLEX)
        return out if finish is None else finish(out)

    return call


def _is_complex(out: Any) -> bool:
    return any(type(v) is complex or np.iscomplexobj(v) for v in flatten(out)[0])


def fraction(core: ir.Function, weak: bool = True) -> ir.Loc | None:
    """The place in the source of the first power of Python floats (``weak`` False: any floats), whose result is complex where
    NumPy gives NaN; None without one.

    A power with a constant whole exponent does not count. Kept functions are searched too.
    """
    bodies = [core.body, *(routine.body.body for routine in reached(core))]
    found = (
        stmt.loc
        for body in bodies
        for stmt in statements(body)
        if isinstance(stmt, ir.Let)
        and record_of(stmt).is_power
        and stmt.var.type.is_float
        and (stmt.var.type.weak or not weak)
        if not (isinstance(stmt.args[1], ir.Const) and float(stmt.args[1].value).is_integer())
    )
    return next(found, None)


PYTHON_ONLY = (ZeroDivisionError, OverflowError, ValueError)
"""Exceptions of Python's float arithmetic in cases where NumPy's gives inf or nan."""


def _is_pythons(error: Exception) -> bool:
    """True for an error of Python's float arithmetic that NumPy's floats would not raise, or a TypeError whose message mentions
    complex numbers; not for one that a *raise* statement raised."""
    if type(error) is TypeError:
        return "complex" in str(error)
    return type(error) in PYTHON_ONLY and not _is_raised(error)


def _is_raised(error: Exception) -> bool:
    """True if a *raise* statement raised the error: the user's or a check's."""
    at = last(error)
    return at is not None and is_raise(at)


def again(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a generated derivative run again with NumPy's floats for Python's, without warnings: ``0.0 ** -0.5`` is
    then inf and does not raise."""
    args, kwargs = _numpy_floats((args, kwargs))
    with np.errstate(all="ignore"):
        return in_numpy_floats(function)(*args, **kwargs)


def in_numpy_floats(function: FunctionType) -> FunctionType:
    """A copy of a generated function with NumPy floats for float literals and for results of `math` and ``float``, also in the
    functions of its module that it calls."""
    names = dict(function.__globals__)
    for name, value in function.__globals__.items():
        if isinstance(value, FunctionType) and value.__globals__ is function.__globals__:
            names[name] = FunctionType(_literals(value.__code__), names, name, value.__defaults__, value.__closure__)
    if "math" in names:
        names["math"] = _NUMPY_MATH
    names["float"] = np.float64
    return FunctionType(
        _literals(function.__code__), names, function.__name__, function.__defaults__, function.__closure__
    )


def _literals(code: CodeType) -> CodeType:
    """A copy of the code object with its float literals, also those of functions in it, replaced by NumPy floats."""

    def literal(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(literal, value))
        return np.float64(value) if type(value) is float else _literals(value) if type(value) is CodeType else value

    return code.replace(co_consts=tuple(map(literal, code.co_consts)))


class _Math:
    """A stand-in for `math` that returns NumPy floats and raises as `math` does."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(math, name)

        def call(*args: Any) -> Any:
            value = found(*args)
            return np.float64(value) if type(value) is float else value

        return call if callable(found) else found


_NUMPY_MATH = _Math()


def _numpy_floats(values: Any) -> Any:
    leaves, tree = flatten(values)
    return unflatten(tree, [np.float64(v) if type(v) is float else v for v in leaves])


def printed_names(core: ir.Function, names: Sequence[str]) -> dict[str, str]:
    """``{name: name in the generated text}`` of each argument that may be passed by name; the two differ if a module or
    function has the name.

    ``names`` are the parameters of the generated function.
    """
    single = [s.name for kind in ("pos", "kw") for s in core.arg_tree or () if s.kind == kind]
    return dict(zip(single, names))


def placement(
    core: ir.Function, request: Request, printed: Mapping[str, str]
) -> Callable[[Any, Any], tuple[Any, Any]] | None:
    """The function from ``(args, kwargs)`` of a call to those of the generated function, which has no defaults: an absent
    argument becomes None.

    The result is None if both are always equal. ``printed`` is as made by `printed_names`.
    """
    specs: Sequence[ArgSpec] = core.arg_tree or ()
    count, names = len(request.args), tuple(request.kwargs)
    plain = [s for s in specs if s.kind == "pos"]
    if all(s.kind in ("pos", "varpos", "kw") for s in specs):
        fits = len(plain) <= count or {s.name for s in plain[count:]} <= set(names)
        keywords = {s.name for s in specs if s.kind == "kw"} <= set(names)
        if fits and keywords and all(printed[name] == name for name in names):
            return None

    def place(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
        rest = dict(kwargs)
        out: list[Any] = []
        named: dict[str, Any] = {}
        given = list(args)
        for spec in specs:
            if spec.kind == "pos":
                out.append(given.pop(0) if given else rest.pop(spec.name, None))
            elif spec.kind == "varpos":
                out += given
                given = []
            elif spec.kind == "kw":
                named[printed[spec.name]] = rest.pop(spec.name, None)
            else:
                named.update(rest)
        return out, named

    return place
