"""Runners: a core function made callable, interpreted or compiled, for calls of one structure and type."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from transpile.arguments import leaf_sources
from transpile.core.nodes import Function
from transpile.fastpath import Fast, guard, is_plain, never, while_unchanged
from transpile.frontend.reads import checker
from transpile.loader import explain, load
from transpile.pipeline import core_of, is_derivative, jit_level
from transpile.results import adjust_tree, assemble_flat, converters
from transpile.signature import collect
from transpile.specialize import Request, Stale
from transpile.tree import ArgSpec, Static, flatten, unflatten

ndarray = np.ndarray


def runner(target: Any, core: Function, request: Request) -> Program:
    """What runs ``core`` on the arguments of a call."""
    level = jit_level(target)
    if level is not None:
        return compiled(target, core, request, level)
    return interpreted(core, request, is_derivative(target))


def text(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], stage: str) -> str:
    """The generated text for a call with these arguments."""
    from transpile.errors import error

    request = Request.of(args, kwargs)
    request.make_static(target)
    core = request.lift(target)
    if stage == "core":
        from transpile.core.text import dump

        return dump(core) + "\n"
    if stage == "loops":
        from transpile.lower.numba import text_of

        return text_of(core)[0]
    if stage != "derivative":
        raise error("T505", f"unknown stage {stage!r}", hint="one of 'derivative', 'core', 'loops'")
    from transpile.render import render

    return render(core).text


# ----------------------------------------------------------------------------------------------- captured values


def captured_reader(core: Function) -> Callable[[], list[Any]] | None:
    """Reads the captured values, in order, and raises `Stale` if one is not of the type that was lifted."""
    if not core.captured:
        return None
    readers = [partial(_read, c) for c in core.captured]
    expected: list[Any] = []
    collect([r() for r in readers], [], expected)

    def read() -> list[Any]:
        values = [r() for r in readers]
        key: list[Any] = []
        collect(values, [], key)
        if key != expected:
            raise Stale
        return values

    return read


_held: ContextVar[dict[Any, Any] | None] = ContextVar("held", default=None)


def _read(captured: Any) -> Any:
    """What a captured value is now; inside `holding`, what it was when it was first read there."""
    held = _held.get()
    if held is None:
        return captured.read()
    if captured not in held:
        value = captured.read()
        held[captured] = value.copy() if isinstance(value, ndarray) else value
    return held[captured]


@contextmanager
def holding(held: dict[Any, Any]) -> Iterator[None]:
    """Captured values are as they are in ``held``, which keeps copies of what is read for the first time."""
    token = _held.set(held)
    try:
        yield
    finally:
        _held.reset(token)


# --------------------------------------------------------------------------------------------------- interpreted


@dataclass
class Program:
    """A runner: called with the arguments and the leaves of a call. ``fast``: see `transpile.fastpath`."""

    run: Callable[[Sequence[Any], Mapping[str, Any], list[Any]], Any]
    fast: Fast = never
    kernel: Any = None

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any], leaves: list[Any]) -> Any:
        return self.run(args, kwargs, leaves)


def interpreted(core: Function, request: Request, quiet: bool) -> Program:
    """Runs the generated text; a derivative (``quiet``) does so without floating-point warnings."""
    from transpile.render import render

    rendered = render(core)
    function = load(rendered.text, rendered.name, rendered.line_map, rendered.classes)
    finish = adjust_tree(core.out_tree, converters(core.body.yields, core.out_tree))
    place = placement(core, request)
    read, unchanged = captured_reader(core), checker(request.reads)
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    hidden = names[len(names) - len(core.captured) :]
    errstate = np.errstate
    settings: dict[str, Any] = {"all": "ignore"} if quiet else dict(core.errstate)

    def run(args: Sequence[Any], kwargs: Mapping[str, Any], leaves: list[Any]) -> Any:
        if unchanged is not None and not unchanged():
            raise Stale
        if place is not None:
            args, kwargs = place(args, kwargs)
        if read is not None:
            kwargs = {**kwargs, **dict(zip(hidden, read()))}
        return protected(*args, **kwargs)

    def protected(*args: Any, **kwargs: Any) -> Any:
        failed: Exception | None = None
        try:
            if settings:
                with errstate(**settings):
                    out = function(*args, **kwargs)
            else:
                out = function(*args, **kwargs)
        except Exception as error:
            if not quiet or type(error) not in PYTHON_ONLY:
                explain(error)
                raise
            failed = error
        if failed is not None:
            out = again(function, args, kwargs, failed)
        return out if finish is None else finish(out)

    program = Program(run)
    if place is None and read is None and is_plain(request.values, request.leaves) and not request.known:
        program.fast = while_unchanged(guard(request.leaves, check_dtype=True)(protected), unchanged)
    return program


PYTHON_ONLY = (ZeroDivisionError, OverflowError, ValueError)
"""What Python's float arithmetic raises where NumPy's gives inf or nan."""


def again(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> Any:
    """A derivative once more with NumPy's floats for Python's: ``0.0 ** -0.5`` is then inf and raises nothing that the
    function itself does not."""
    (args, kwargs), changed = _numpy_floats((args, kwargs))
    try:
        if changed or "math" in function.__globals__:
            names = {**function.__globals__, **({"math": _NUMPY_MATH} if "math" in function.__globals__ else {})}
            with np.errstate(all="ignore"):
                return FunctionType(function.__code__, names, function.__name__)(*args, **kwargs)
    except Exception as second:
        explain(second)
        raise
    explain(error)
    raise error


class _Math:
    """`math` with NumPy's floats as results; it raises what `math` raises."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(math, name)

        def call(*args: Any) -> Any:
            value = found(*args)
            return np.float64(value) if type(value) is float else value

        return call if callable(found) else found


_NUMPY_MATH = _Math()


def _numpy_floats(values: Any) -> tuple[Any, bool]:
    leaves, tree = flatten(values)
    floats = [np.float64(v) if type(v) is float else v for v in leaves]
    return unflatten(tree, floats), any(type(v) is float for v in leaves)


def placement(core: Function, request: Request) -> Callable[[Any, Any], tuple[Any, Any]] | None:
    """How the arguments of a call become those of the generated function, which has no defaults; None: as they are."""
    specs: Sequence[ArgSpec] = core.arg_tree or ()
    count, names = len(request.args), tuple(request.kwargs)
    plain = [s for s in specs if s.kind == "pos"]
    if all(s.kind in ("pos", "varpos", "kw") for s in specs):
        fits = len(plain) <= count or {s.name for s in plain[count:]} <= set(names)
        keywords = {s.name for s in specs if s.kind == "kw"} <= set(names)
        if fits and keywords:
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
                named[spec.name] = rest.pop(spec.name, None)
            else:
                named.update(rest)
        return out, named

    return place


# ------------------------------------------------------------------------------------------------------ compiled


@dataclass(frozen=True)
class Slot:
    """Where a parameter of a kernel comes from: leaf ``leaf`` of the call, made of type ``dtype`` if it is another."""

    leaf: int
    is_array: bool
    written: bool


def compiled(target: Any, core: Function, request: Request, level: Any) -> Program:
    """Runs the function that Numba compiled, on the leaves."""
    from transpile.lower.numba import compile_core

    kernel = compile_core(core, level.fastmath, level.cache)
    slots = leaf_slots(core, request)
    finish = assemble_flat(core.out_tree, converters(core.body.yields, core.out_tree))
    read, unchanged = captured_reader(core), checker(request.reads)
    order = [s.leaf for s in slots]
    straight = order == list(range(len(request.leaves)))
    zero_dim = [k for k in order if isinstance(request.leaves[k], ndarray) and not request.leaves[k].ndim]
    overlaps = overlap(core, slots)

    def run(args: Sequence[Any], kwargs: Mapping[str, Any], leaves: list[Any]) -> Any:
        if unchanged is not None and not unchanged():
            raise Stale
        for k in zero_dim:
            leaves[k] = leaves[k][()]
        values = leaves if straight else [leaves[k] for k in order]
        if read is not None:
            values = [*values, *map(_without_rank_zero, read())]
        if overlaps is not None and overlaps(values):
            return run_plain(target, args, kwargs)
        return protected(*values)

    def protected(*values: Any) -> Any:
        try:
            out = kernel(*values)
        except Exception as error:
            if type(error) is not TypeError or hasattr(error, "site"):
                explain(error)
                raise
            out = run_converted(kernel, values, slots, error)
        return finish(out)

    def apart(*values: Any) -> Any:
        return run_plain(target, values, {}) if overlaps(values) else protected(*values)  # type: ignore[misc]

    program = Program(run, kernel=kernel)
    if straight and read is None and not zero_dim and is_plain(request.values, request.leaves) and not request.known:
        called = protected if overlaps is None else apart
        program.fast = while_unchanged(guard(request.leaves, check_dtype=True)(called), unchanged)
    return program


def _without_rank_zero(value: Any) -> Any:
    return value[()] if isinstance(value, ndarray) and not value.ndim else value


def overlap(core: Function, slots: Sequence[Slot]) -> Callable[[Sequence[Any]], bool] | None:
    """Whether an array that the function writes shares memory with another that it is given; None if it cannot be.

    Compiled code takes its arrays for different ones.
    """
    arrays = [k for k, p in enumerate(core.params) if p.type.dims]
    pairs = [(k, j) for k, s in enumerate(slots) if s.written for j in arrays if j != k]
    if not pairs:
        return None

    def found(values: Sequence[Any]) -> bool:
        for k, j in pairs:
            a, b = values[k], values[j]
            if np.may_share_memory(a, b) and (a is b or np.shares_memory(a, b)):
                return True
        return False

    return found


def run_plain(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The call of the user's function as it is; the results have memory of their own."""
    while hasattr(target, "__transpile_level__"):
        target = target.__wrapped__
    leaves, tree = flatten(target(*args, **kwargs))
    return unflatten(tree, [np.array(v) if isinstance(v, ndarray) else v for v in leaves])


def run_converted(kernel: Any, values: Sequence[Any], slots: Sequence[Slot], refusal: Exception) -> Any:
    """The call again with arrays in C order that may be written; what the function writes is copied back.

    ``refusal`` is the dispatcher's, raised before anything ran.
    """
    ready = list(values)
    back: list[tuple[ndarray, ndarray]] = []
    changed = False
    for k, v in enumerate(values):
        if not isinstance(v, ndarray) or (v.flags.carray and type(v) is ndarray):
            continue
        changed = True
        written = k < len(slots) and slots[k].written
        if written and not v.flags.writeable:
            raise ValueError("assignment destination is read-only") from None
        ready[k] = np.array(v, order="C")
        if written:
            back.append((v, ready[k]))
    if not changed:
        raise refusal
    try:
        return kernel(*ready)
    except Exception as error:
        explain(error)
        raise
    finally:  # what was written before an exception too
        for original, copy in back:
            original[...] = copy


def leaf_slots(core: Function, request: Request) -> list[Slot]:
    """For each parameter that is the user's, the leaf of the call that it is."""
    found = leaf_sources(core.arg_tree, request.args, request.kwargs)
    count = len(core.params) - len(core.captured)
    return [Slot(found[k], bool(core.params[k].type.dims), core.params[k].buffer) for k in range(count)]


__all__ = ["Static", "core_of", "runner", "text"]


# -------------------------------------------------------------------------------------------------------- shapes


def shapes(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], make: Callable[[Any, str], Any]) -> Any:
    """The result's structure with ``make(shape, dtype)`` for each leaf."""
    from transpile.core.nodes import Let
    from transpile.results import rebuild

    request = Request.of(args, kwargs)
    core = request.lift(target)
    values: dict[Any, Any] = {core.params[k]: request.leaves[s.leaf] for k, s in enumerate(leaf_slots(core, request))}
    sizes: dict[str, int] = {}
    found: dict[Any, int] = {}
    for stmt in core.body.stmts:
        if isinstance(stmt, Let) and stmt.prim == "dim" and stmt.args[0] in values:
            found[stmt.var] = np.shape(values[stmt.args[0]])[stmt.params["axis"]]
    for param, value in values.items():
        for dim, n in zip(param.type.dims, np.shape(value)):
            if dim.as_symbol is not None:
                sizes[dim.as_symbol] = n
        if param.type.is_int and not param.type.dims:
            found[param] = int(value)
    sizes.update({name: found[op] for name, op in core.symbols.items() if op in found})

    def leaf(op: Any) -> Any:
        dims = [d.evaluate(sizes) for d in op.type.dims]
        return make(tuple(d.const if d.is_const else None for d in dims), op.type.dtype)

    return rebuild(core.out_tree, [leaf(y) for y in core.body.yields])
