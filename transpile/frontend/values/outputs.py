"""What a function returns: the structure of the result, and its leaves."""

from __future__ import annotations

import dataclasses
from typing import Any

from transpile.aggregates import Leaf, Node
from transpile.aggregates import Static as StaticTree
from transpile.base import making
from transpile.core import nodes as ir
from transpile.frontend.calls import kept_functions
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.values import contents, derived_containers, memory, registered
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import (
    Array,
    Bound,
    Cell,
    Closure,
    Conflict,
    Generator,
    Items,
    Iteration,
    Ref,
    Scalar,
    Static,
    Tuple,
)


class _Results:
    def __init__(self, lx: Lifter, params: dict[Cell, ir.Var]) -> None:
        self.lx, self.params = lx, params
        self.leaves: list[ir.Operand] = []

    def tree(self, value: Any) -> Any:
        match value:
            case Scalar():
                return self._leaf(value.op)
            case Array():
                return self._leaf(self._array(value), not memory.type_of(self.lx, value.cell).dims)
            case Tuple():
                cls = value.cls
                kind = "tuple" if cls is None else "namedtuple"
                keys = () if cls is None else tuple(getattr(cls, "_fields", None) or (f[0] for f in cls.fields))
                return Node(kind, tuple(self.tree(v) for v in value.items), keys, cls)
            case Ref():
                return self._ref(value)
            case Iteration() | Generator():
                return Node("list", tuple(self.tree(v) for v in self.lx.unrolled(value)))
            case Bound() | Closure() | Static() if kept_functions.is_kept(self.lx, value):
                return kept_functions.taken_apart(self.lx, value, self.tree)
            case Static() if not type(known := statics.known(self.lx, value)).__module__.startswith(
                "transpile.frontend"
            ):
                return StaticTree(known)
        if isinstance(value, Conflict):
            raise self.lx.error(value.code, value.message, hint=value.hint)
        hint = "return numbers, arrays, and tuples, lists, dicts or dataclasses of them"
        raise self.lx.error("T417", f"{describe(self.lx, value)} cannot be returned", hint=hint)

    def _leaf(self, op: ir.Operand, zero_dim: bool = False) -> Leaf:
        self.leaves.append(op)
        return Leaf(len(self.leaves) - 1, zero_dim)

    def _array(self, value: Array) -> ir.Operand:
        """An array; a copy of an argument has memory of its own."""
        lx = self.lx
        op = memory.read(lx, value.cell)
        if not op.type.dims:
            return op
        shared = memory.root(lx, value.cell) in self.params or not isinstance(op, ir.Var)
        if not shared and (op in lx.params or op in lx.captures) and not value.cell.readonly:
            op = lx.b.let("copy", op).op
        return op

    def _ref(self, value: Ref) -> Any:
        if self.lx.state.cells[value.cell].kind == "grown":
            message = "a list whose length depends on the data cannot be returned"
            raise self.lx.error("T204", message, hint="return np.array(...) of it")
        state = contents.items(self.lx, value)
        if derived_containers.base_of(state.cls) is not None:
            return self._registered(value, state.cls)
        kind = {"instance": "dataclass"}.get(state.kind, state.kind)
        cls = state.cls if kind == "dataclass" else None
        if isinstance(cls, type):
            return self._instance(value, state, cls)
        return Node(kind, tuple(self.tree(v) for v in state.items), state.keys or (), cls)

    def _instance(self, value: Ref, state: Items, cls: type) -> Any:
        """A dataclass: it has the attributes that are fields, those that only its class has too."""
        if registered.of(cls) is not None:
            return self._registered(value, cls)
        fields = tuple(f.name for f in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else ()
        other = next((k for k in state.keys or () if k not in fields), None)
        if other is not None or not dataclasses.is_dataclass(cls) or any(making.is_descriptor(cls, k) for k in fields):
            why = f": its attribute {other!r} is not a dataclass field" if other is not None else ""
            hint = "return numbers, arrays, and tuples, lists, dicts or dataclasses of them"
            raise self.lx.error("T417", f"{describe(self.lx, value)} cannot be returned{why}", hint=hint)
        held = dict(zip(state.keys or (), state.items))
        items = [held[k] if k in held else self.lx.attribute(value, k) for k in fields]
        return Node("dataclass", tuple(self.tree(v) for v in items), fields, cls)

    def _registered(self, value: Ref, cls: type) -> Node:
        return registered.as_node(self.lx, value, cls, self.tree)


def results(lx: Lifter, value: Any, params: dict[Cell, ir.Var]) -> tuple[Any, tuple[ir.Operand, ...]]:
    """The structure of what is returned, with `Leaf` in the places of numbers and arrays, and these."""
    found = _Results(lx, params)
    tree = found.tree(value)
    return tree, tuple(found.leaves)
