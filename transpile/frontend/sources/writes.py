"""Which arrays a loop or branch is likely to write, by its text: they become buffers before it begins.

What this misses is found when the write is lifted (`NeedBuffer`), at the price of lifting the loop or branch again.
"""

from __future__ import annotations

from collections.abc import Sequence

import gast

from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import name_lookup
from transpile.frontend.sources.name_liveness import rebound
from transpile.frontend.values import memory
from transpile.frontend.values.values import Array, Held

_METHODS = {"fill", "sort", "itemset", "put", "partition"}
_FIRST = {"at", "copyto", "fill_diagonal", "put", "place", "putmask"}


def prepare(lx: Lifter, stmts: Sequence[gast.stmt]) -> None:
    """Makes buffers of the arrays that statements write."""
    others = rebound(stmts)
    for name in written_names(stmts):
        frame = name_lookup.scope(lx, lx.frame, name)
        value = lx.state.vars.get((frame, name)) if frame is not None and name not in others else None
        if isinstance(value, Array):
            base = memory.root(lx, value.cell)
            state = lx.state.cells[base]
            if isinstance(state, Held) and not base.readonly and not memory.has_dtypes(lx, state):
                memory.to_buffer(lx, base)


def written_names(stmts: Sequence[gast.stmt]) -> list[str]:
    """The names that arrays written by the statements are reached by, in the order of the source."""
    found: dict[str, None] = {}
    parts: dict[str, dict[str, None]] = {}  # name -> names whose arrays it may be a part of
    for stmt in stmts:
        for node in gast.walk(stmt):
            for name in _written(node):
                found[name] = None
            for name, base in _parts(node):
                parts.setdefault(name, {})[base] = None
    grown = list(found)
    for name in grown:
        for base in parts.get(name, ()):
            if base not in found:
                found[base] = None
                grown.append(base)
    return list(found)


def _written(node: gast.AST) -> list[str]:
    match node:
        case gast.Subscript(ctx=gast.Store()):
            return _root(node.value)
        case gast.AugAssign(target=gast.Name()):
            return [node.target.id]
        case gast.AugAssign(target=gast.Subscript()):
            return _root(node.target.value)
        case gast.Call():
            found = [n for k in node.keywords if k.arg == "out" for n in _root(k.value)]
            if isinstance(node.func, gast.Attribute):
                if node.func.attr in _METHODS:
                    found += _root(node.func.value)
                if node.func.attr in _FIRST and len(node.args) > 1:  # not at(x), which writes nothing
                    found += _root(node.args[0])
            return found
        case gast.Expr(value=gast.Call(func=gast.Name())) if node.value.func.id != "print":
            return [n for a in node.value.args for n in _root(a)]
    return []


def _parts(node: gast.AST) -> list[tuple[str, str]]:
    if isinstance(node, gast.Assign) and len(node.targets) == 1:
        return _pairs(node.targets[0], node.value)
    if isinstance(node, gast.For):
        targets = [n.id for n in gast.walk(node.target) if isinstance(n, gast.Name)]
        bases = [n.id for n in gast.walk(node.iter) if isinstance(n, gast.Name)]
        return [(t, b) for t in targets for b in bases]
    return []


def _pairs(target: gast.expr, value: gast.expr) -> list[tuple[str, str]]:
    if isinstance(target, gast.Name):
        return [(target.id, base) for base in _root(value)]
    if isinstance(target, (gast.Tuple, gast.List)) and isinstance(value, (gast.Tuple, gast.List)):
        return [p for t, v in zip(target.elts, value.elts) for p in _pairs(t, v)]
    return []


def _root(node: gast.AST) -> list[str]:
    """The name that a part of an array is reached by: ``a`` of ``a.T[1:]`` and of ``a.reshape(3)[0]``."""
    while True:
        match node:
            case gast.Name():
                return [node.id]
            case gast.Subscript() | gast.Attribute():
                node = node.value
            case gast.Call(func=gast.Attribute()) if not node.func.attr.startswith("copy"):
                node = node.func.value
            case _:
                return []
