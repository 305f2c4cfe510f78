"""The evaluator: runs core functions on NumPy, statement by statement. Every pass is tested against it.

The caller supplies ``run``, which runs a primitive on values. (`transpile.ops.run_spelling` does so by the primitive's own
spelling, and so tests that as well.) Memory, places and sizes are handled here. Every value is checked against its declared
type: dtype, rank, and the dims whose symbols are known.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from functools import singledispatchmethod
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.packets import ACROSS
from transpile.core.types import Type
from transpile.core.walk import defined

Run = Callable[[str, list[Any], Mapping[str, Any], list[Type]], Any]
"""Runs a primitive, given by name, on values of these types with its params."""


def evaluate(fn: ir.Function, args: Sequence[Any], run: Run, strict: bool = False) -> tuple[Any, ...]:
    """The results of ``fn`` for ``args``, one value for each yield. Buffer parameters are written in place.

    ``run`` computes primitives. With ``strict``, divisions by 0 and invalid values raise FloatingPointError; else there are no
    warnings.
    """
    machine = _Machine(fn.symbols, run, "raise" if strict else "ignore")
    if len(args) != len(fn.params):
        raise TypeError(f"{fn.name} takes {len(fn.params)} leaves, got {len(args)}")
    for var, value in zip(fn.params, args):
        machine.env[var] = value if var.buffer else _typed(value, var.type)
    machine.block(fn.body)
    return tuple(machine.value(o) for o in fn.body.yields)


class _Machine:
    def __init__(self, symbols: Mapping[str, ir.Operand], run: Run, errors: Any) -> None:
        self.symbols, self.run, self.errors = symbols, run, errors
        self.env: dict[ir.Var, Any] = {}

    def value(self, operand: ir.Operand) -> Any:
        """The value of an operand: a Python scalar for a weak constant, a NumPy scalar for another one; 0 or None if
        undefined."""
        if isinstance(operand, ir.Const):
            plain = operand.type.weak or not isinstance(operand.value, (bool, int, float, complex))
            return operand.value if plain else np.dtype(operand.type.dtype).type(operand.value)
        if isinstance(operand, ir.Undef):
            return _undefined(operand.type)
        return self.env[operand]

    def values(self, operands: Sequence[ir.Operand]) -> list[Any]:
        return [self.value(o) for o in operands]

    def dim(self, dim: Dim) -> int:
        found = self.known(dim)
        assert found is not None, f"the dimension {dim} is not known here"
        return found

    def known(self, dim: Dim) -> int | None:
        """The size that a dimension has now, or None if one of its symbols has no value yet."""

        def lookup(name: str) -> Dim | None:
            operand = self.symbols.get(name)
            if operand is None or (isinstance(operand, ir.Var) and operand not in self.env):
                return None
            return Dim(int(self.value(operand)))

        found = dim.substitute(lookup)
        return found.const if found.is_const else None

    def define(self, var: ir.Var, value: Any) -> None:
        self.env[var] = self.checked(var, _typed(value, var.type))

    def checked(self, var: ir.Var, value: Any) -> Any:
        """The value itself; AssertionError if its dtype, its rank, or a size that is known now is not that of the variable's
        type."""
        if var.type.kind != "array" or value is None:  # None: undefined, never read
            return value
        if type(value) is int and var.type.is_int and var.type.weak:  # Python integers are unbounded
            return value
        assert np.asarray(value).dtype.name == var.type.dtype, f"{var} holds {np.asarray(value).dtype}"
        sizes = tuple(self.known(d) for d in var.type.dims)
        shape = np.shape(value)
        fits = len(shape) == len(sizes) and all(k is None or k == n for k, n in zip(sizes, shape))
        assert fits, f"{var} holds an array of shape {shape}, its dims are {sizes}"
        return value

    # ---- statements

    def block(self, block: ir.Block) -> None:
        for stmt in block.stmts:
            self.stmt(stmt)

    @singledispatchmethod
    def stmt(self, stmt: Any) -> None:
        raise TypeError(stmt)

    @stmt.register
    def _(self, stmt: ir.Let) -> None:
        if stmt.prim in ACROSS:
            self.define(stmt.var, _ACROSS[stmt.prim](self, stmt, self.values(stmt.args)))
            return
        self.define(stmt.var, self.prim(stmt.prim, self.values(stmt.args), stmt.params, stmt.args, stmt.var.type))

    @stmt.register
    def _(self, stmt: ir.Call) -> None:
        body = stmt.custom.fn if isinstance(stmt.function, ir.Custom) else stmt.routine.body
        found = evaluate(body, self.values(stmt.args), self.run)
        for var, value in zip(stmt.results, found):
            self.define(var, value)

    @stmt.register
    def _(self, stmt: ir.Alloc) -> None:
        value = self.prim(stmt.prim, self.values(stmt.args), stmt.params, stmt.args, stmt.var.type)
        self.env[stmt.var] = self.checked(stmt.var, np.array(value, order="C"))

    @stmt.register
    def _(self, stmt: ir.PacketRead) -> None:
        at, mask = self.lanes(stmt, stmt.var.type.lanes)
        found = np.zeros(stmt.var.type.lanes, stmt.var.type.dtype)
        found[mask] = self.env[stmt.buf][at]
        self.env[stmt.var] = found

    @stmt.register
    def _(self, stmt: ir.PacketStore) -> None:
        at, mask = self.lanes(stmt, stmt.value.type.lanes)
        self.env[stmt.buf][at] = self.value(stmt.value)[mask]

    def lanes(self, stmt: ir.PacketRead | ir.PacketStore, lanes: int) -> tuple[tuple[Any, ...], np.ndarray]:
        """The subscripts of the lanes where the mask is true, one array per axis, and the mask; all true if there is none."""
        mask = np.full(lanes, True) if stmt.mask is None else self.value(stmt.mask)
        at = [np.broadcast_to(v, lanes) for v in self.values(stmt.args)]
        if not any(a.type.lanes for a in stmt.args):
            at[-1] = at[-1] + np.arange(lanes)
        return tuple(a[mask] for a in at), mask

    @stmt.register
    def _(self, stmt: ir.Store) -> None:
        places, flat = self.places(stmt)
        flat[places] = self.value(stmt.value)

    @stmt.register
    def _(self, stmt: ir.Add) -> None:
        places, flat = self.places(stmt)
        np.add.at(flat, places, self.value(stmt.value))

    def places(self, stmt: ir.Store | ir.Add) -> tuple[Any, np.ndarray]:
        """The positions in the buffer's flat memory that the statement's path selects, and that memory, as an array of rank
        1."""
        buf = self.env[stmt.buf]
        flat = buf.reshape(-1)
        assert buf.size == 0 or np.shares_memory(flat, buf), "a buffer is contiguous"
        return subscript(np.arange(buf.size).reshape(buf.shape), stmt.path, self.values(stmt.args)), flat

    @stmt.register
    def _(self, stmt: ir.If) -> None:
        side = stmt.then if self.value(stmt.test) else stmt.orelse
        self.block(side)
        for var, value in zip(stmt.results, self.values(side.yields)):
            self.define(var, value)

    @stmt.register
    def _(self, stmt: ir.For) -> None:
        trips = range(*(int(v) for v in self.values((stmt.start, stmt.bound, stmt.step))))
        carried = self.values(stmt.inits)
        done = 0
        for k in reversed(trips) if stmt.backwards else trips:
            self.env[stmt.index] = k
            carried, stop = self.trip(stmt.body, carried)
            done += 1
            if stop:
                break
        self.finish(stmt, carried, done)

    @stmt.register
    def _(self, stmt: ir.While) -> None:
        carried = self.values(stmt.inits)
        done = 0
        while True:
            for var, value in zip(stmt.test.params, carried):
                self.define(var, value)
            self.block(stmt.test)
            if not self.value(stmt.test.yields[0]):
                break
            carried, stop = self.trip(stmt.body, carried)
            done += 1
            if stop:
                break
        self.finish(stmt, carried, done)

    def trip(self, body: ir.Block, carried: list[Any]) -> tuple[list[Any], bool]:
        """The values that an iteration hands on, and whether the loop stops after it; what the last iteration defined is
        forgotten."""
        for var in defined(body):  # the values and sizes of the last iteration are gone
            self.env.pop(var, None)
        for var, value in zip(body.params, carried):
            self.define(var, value)
        self.block(body)
        return self.values(body.yields), body.stop is not None and bool(self.value(body.stop))

    def finish(self, stmt: ir.For | ir.While, carried: list[Any], done: int) -> None:
        """Defines the results and the trip count of a loop."""
        for var, value in zip(stmt.results, carried):
            self.define(var, value)
        if stmt.trips is not None:
            self.env[stmt.trips] = done

    @stmt.register
    def _(self, stmt: ir.NewStack) -> None:
        self.env[stmt.var] = []

    @stmt.register
    def _(self, stmt: ir.Push) -> None:
        self.env[stmt.stack].append(np.copy(v) if np.ndim(v := self.value(stmt.value)) else v)

    @stmt.register
    def _(self, stmt: ir.Pop) -> None:
        self.define(stmt.var, self.env[stmt.stack].pop())

    @stmt.register
    def _(self, stmt: ir.Print) -> None:
        values = self.values(stmt.args)
        print(*[_message(p, values) for p in stmt.parts], sep=stmt.sep, end=stmt.end)

    @stmt.register
    def _(self, stmt: ir.Raise) -> None:

        raise getattr(builtins, stmt.exception)(_message(stmt.parts, self.values(stmt.args)))

    # ---- primitives

    def prim(
        self, name: str, values: list[Any], params: Mapping[str, Any], args: Sequence[ir.Operand], type_: Type
    ) -> Any:
        """The result of a primitive for these values: computed here if it is in `_SPECIAL`, else by the caller's ``run``."""
        special = _SPECIAL.get(name)
        with np.errstate(divide=self.errors, invalid=self.errors, over="ignore", under="ignore"):
            if special is not None:
                return special(self, values, params)
            return self.run(name, values, self.sized(params), [a.type for a in args])

    def sized(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """A copy of the params with numbers for the sizes in ``dims`` that are known before the primitive runs."""
        if "dims" not in params:
            return params
        sizes = [self.known(d) for d in params["dims"]]
        return {**params, "dims": tuple(d if size is None else size for d, size in zip(params["dims"], sizes))}


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}


def _message(parts: Sequence[Any], values: Sequence[Any]) -> str:
    """The text of a message, with the values at its slots converted and formatted as in an f-string."""

    def text(part: Any) -> str:
        if isinstance(part, str):
            return part
        slot, conversion, form = part if isinstance(part, tuple) else (part, "", "")
        value = values[slot]
        if conversion:
            value = _CONVERSIONS[conversion](value)
        return format(value, form or "")

    return "".join(text(p) for p in parts)


def _undefined(type_: Type) -> Any:
    if type_.kind != "array" or type_.dims:
        return None
    return np.dtype(type_.dtype).type(0).item() if type_.weak else np.dtype(type_.dtype).type(0)


def _typed(value: Any, type_: Type) -> Any:
    """The value as a Python scalar if the type is weak, as a NumPy scalar for other types of rank 0; arrays unchanged."""
    if type_.kind == "array" and type_.weak and isinstance(value, (np.generic, np.ndarray)):
        return value.item()
    if type_.kind == "array" and not type_.dims and not type_.weak and isinstance(value, (bool, int, float, complex)):
        return np.dtype(type_.dtype).type(value)
    return value


# ------------------------------------------------------------------------------------------------------ places


def subscript(x: Any, path: ir.Path, args: Sequence[Any]) -> Any:
    """``x[path]``, as NumPy evaluates it: a view where NumPy gives one; ``args`` are the values of the path's operands."""
    for step in path:
        match step:
            case ir.Permute():
                x = np.transpose(x, step.axes)
            case ir.Reshape():
                x = np.reshape(x, [int(args[a]) for a in step.args])
            case ir.Diagonal():
                x = np.einsum("...ii->...i", x)
            case ir.Index():
                x = x[tuple(_subscript_item(i, args) for i in step.items)]
    return x


def _copied(x: Any) -> Any:
    return np.copy(x) if isinstance(x, np.ndarray) else x  # an element stays a scalar


def _subscript_item(item: Any, args: Sequence[Any]) -> Any:
    """The Python object that stands for an item in a NumPy subscript; ``args`` are the values of the path's operands."""
    match item:
        case ir.Point(k) | ir.Gather(k) | ir.Mask(k):
            return args[k]
        case ir.NewAxis():
            return None
        case ir.Slice(a, b, c):
            return slice(*(None if k is None else args[k] for k in (a, b, c)))
    raise TypeError(item)


# ------------------------------------------------------------------------------------- primitives that are run here


def _combined(machine: _Machine, stmt: ir.Let, values: list[Any]) -> Any:
    """All lanes reduced to one number by the primitive ``params["combiner"]``: one half combined with the other, again and
    again."""
    found = values[0]
    while len(found) > 1:
        half = len(found) // 2
        found = machine.run(stmt.params["combiner"], [found[:half], found[half:]], {}, [])
    return found[0]


_ACROSS: dict[str, Callable[[_Machine, ir.Let, list[Any]], Any]] = {
    "splat": lambda m, s, v: np.full(s.var.type.lanes, v[0], s.var.type.dtype),
    "lane_numbers": lambda m, s, v: np.arange(s.var.type.lanes),
    "any_lane": lambda m, s, v: np.any(v[0]),
    "all_lanes": lambda m, s, v: np.all(v[0]),
    "combined_lanes": _combined,
}


_SPECIAL: dict[str, Callable[[_Machine, list[Any], Mapping[str, Any]], Any]] = {
    "index": lambda m, v, p: _copied(subscript(v[0], p["path"], v[1:]) if np.ndim(v[0]) else v[0]),
    "broadcast": lambda m, v, p: np.broadcast_to(v[0], [m.dim(d) for d in p["dims"]]),
    "stretch": lambda m, v, p: np.broadcast_to(v[0], [m.dim(d) for d in p["dims"]]),
    "sized": lambda m, v, p: np.reshape(v[0], [m.dim(d) for d in p["dims"]]),
    "reshape": lambda m, v, p: np.reshape(v[0], [m.dim(d) for d in p["dims"]]),
    "transpose": lambda m, v, p: np.transpose(v[0], p["axes"]),
    "full": lambda m, v, p: np.full(
        [m.dim(d) for d in p["dims"]], v[0], dtype=p.get("dtype") or np.asarray(v[0]).dtype
    ),
    "empty": lambda m, v, p: np.full([m.dim(d) for d in p["dims"]], 77, dtype=p["dtype"]),
    "copy": lambda m, v, p: np.array(v[0]),
    "item": lambda m, v, p: v[0][p["k"]],
    "dim": lambda m, v, p: int(np.shape(v[0])[p["axis"]]),
    "cast": lambda m, v, p: np.asarray(v[0]).astype(p["dtype"])[()],
}
