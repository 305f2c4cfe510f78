"""Primitives named outside their records: comparisons with a name, and tables keyed by names.

A pass that asks for the name of a primitive knows a fact that a record should state. Both are counted by layer; the counts only
shrink: ``python tests/house/named.py --write`` writes `named.json` anew.
"""

from __future__ import annotations

import ast
import builtins
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from inspect import signature
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from house.imports import modules  # noqa: E402
from house.plan import layer  # noqa: E402
from transpile.ops.record import FAMILIES  # noqa: E402
from transpile.ops.tables import records  # noqa: E402

FILE = HERE / "named.json"
STRUCTURAL = frozenset(
    "index dim item copy full empty cast where broadcast stretch sized reshape transpose identity matmul".split()
)
"""The structural primitives of core, which may be compared."""
HOME = ("ops", "numpy_api")  # the records, and the code that builds statements by name
LEAST = 2  # the fewest names in a table

Found = dict[str, dict[str, int]]


@cache
def found() -> dict[str, Found]:
    """``compared``: layer -> primitive -> number of comparisons; ``tables``: layer -> module and variable -> number of
    names."""
    compared: dict[str, Counter[str]] = {}
    tables: dict[str, Counter[str]] = {}
    for module, path in modules().items():
        if layer(module) in HOME:
            continue
        tree = ast.parse(path.read_text())
        compared.setdefault(layer(module), Counter()).update(n for n in comparisons(tree) if n not in STRUCTURAL)
        here = tables.setdefault(layer(module), Counter())
        here.update({f"{module}.{name}": count for name, count in named_tables(tree, module)})
    return {"compared": _sorted(compared), "tables": _sorted(tables)}


def _sorted(counts: dict[str, Counter[str]]) -> Found:
    return {place: dict(sorted(c.items())) for place, c in sorted(counts.items()) if c}


# ------------------------------------------------------------------------------------------------ comparisons


def comparisons(tree: ast.AST) -> Iterator[str]:
    """The names that a primitive is compared with, in a comparison, a case of `match`, or a lookup in a literal table."""
    named = _named(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
                if any(map(_is_primitive, sides)):
                    yield from (n for s in sides if not _has_primitive(s) for n in _said(s, named) if n in records())
            case ast.Match(subject=subject, cases=cases):
                about = _is_primitive(subject)
                for case in cases:
                    yield from _in_pattern(case.pattern, about)
            case (
                ast.Subscript(value=ast.Dict() as table, slice=asked)
                | ast.Call(func=ast.Attribute(value=ast.Dict() as table, attr="get"), args=[asked, *_])
            ) if _is_primitive(asked):
                yield from (n for n in _listed(table) if n in records())
            case ast.Call(func=ast.Attribute(value=value, attr="startswith" | "endswith" as way), args=[ending]) if (
                _is_primitive(value)
            ):
                yield from (n for end in _strings(ending) for n in records() if getattr(n, way)(end))


FIELDS = ("prim", "folds", "fold", "asks", "in_floats")
"""Attributes of statements and records that hold the name of a primitive."""


def _is_primitive(node: ast.expr) -> bool:
    """Whether the expression is ``let.prim``, or another usual name for a primitive's name."""
    match node:
        case ast.Tuple(elts=elts):
            return any(map(_is_primitive, elts))
        case ast.Attribute(value=value, attr="name"):
            return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "record_of"
        case ast.Attribute(attr=name):
            return name in FIELDS
        case ast.Name(id=name):
            return name in ("prim", "combiner")
        case ast.Subscript(slice=ast.Constant(value="combiner")):
            return True
    return False


def _has_primitive(side: ast.expr) -> bool:
    return any(_is_primitive(n) for n in ast.walk(side) if isinstance(n, ast.expr))


def _named(tree: ast.AST) -> dict[str, list[str]]:
    """The strings that variables stand for in comparisons: single strings, wherever assigned, and lists from the records'
    modules. A list in the module itself is a table (`named_tables`)."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value):
                found.setdefault(name, []).extend(_strings(value))
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.IfExp(body=body, orelse=orelse)):
                found.setdefault(name, []).extend((*_strings(body), *_strings(orelse)))
            case ast.For(target=ast.Name(id=name), iter=value):
                found.setdefault(name, []).extend(_listed(value))
            case ast.ImportFrom(module=str(module), names=names) if module in modules() and layer(module) in HOME:
                for alias in names:
                    found.setdefault(alias.asname or alias.name, []).extend(_list_of(module, alias.name))
    return found


@cache
def _list_of(module: str, name: str) -> list[str]:
    """The strings in a list variable of a module."""
    for node in ast.parse(modules()[module].read_text()).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return _listed(node.value)
    return []


def _said(side: ast.expr, named: Mapping[str, list[str]]) -> list[str]:
    """The names on one side of a comparison."""
    return [*_strings(side), *(n for x in ast.walk(side) if isinstance(x, ast.Name) for n in named.get(x.id, ()))]


def _in_pattern(pattern: ast.pattern, about: bool) -> Iterator[str]:
    """The names in ``case "add" | "sub"`` for a primitive, and in ``case Let(prim="add")`` for anything."""
    if about:
        yield from (n for n in _strings(pattern) if n in records())
        return
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchClass):
            for name, inner in zip(node.kwd_attrs, node.kwd_patterns):
                if name == "prim":
                    yield from (n for n in _strings(inner) if n in records())


def _strings(node: ast.AST) -> list[str]:
    return [
        w for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str) for w in n.value.split()
    ]


# ----------------------------------------------------------------------------------------------------- tables


OTHERS: Mapping[str, tuple[str, Callable[[str], bool]]] = {
    "transpile.transform.batching.families.FAMILIES": ("families of batching", lambda name: name in FAMILIES),
    "transpile.frontend.resolve.literals._ARRAYS": ("methods of arrays", lambda name: hasattr(np.ndarray, name)),
    "transpile.frontend.calls.number_calls._SOURCE": ("functions of Python", lambda name: hasattr(builtins, name)),
    "transpile.frontend.calls.number_calls.given": (
        "parameters of `pow`",
        lambda name: name in signature(pow).parameters,
    ),
}
"""Tables of other names that some primitives share: what the names are, and a test for them."""


def is_of_others(place: str, names: Iterable[str]) -> bool:
    return place in OTHERS and all(map(OTHERS[place][1], names))


def named_tables(tree: ast.AST, module: str = "") -> Iterator[tuple[str, int]]:
    """The sets, tuples and dictionaries that consist mostly of names of primitives, with their numbers of names."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            names = _listed(node.value)
            known = [n for n in names if n in records()]
            if len(known) >= LEAST and 2 * len(known) >= len(names) and not set(known) <= STRUCTURAL:
                name = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
                if not is_of_others(f"{module}.{name}", names):
                    yield name, len(known)


MAKERS = ("frozenset", "set", "tuple", "list", "dict", "map", "zip", "fromkeys")
"""Functions that build tables; other functions use the names they are given."""


def _listed(node: ast.expr | None) -> list[str]:
    """The strings in a literal; for a dictionary its keys, or its values if the keys are no strings."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
            return [n for e in elts for n in _listed(e)]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split")):
            return text.split()
        case ast.Call(func=ast.Name(id=maker) | ast.Attribute(attr=maker), args=args) if maker in MAKERS:
            return [n for a in args for n in _listed(a)]
        case ast.BinOp(left=left, right=right):
            return [*_listed(left), *_listed(right)]
        case ast.Dict(keys=keys, values=values):
            inner = [n for k, v in zip(keys, values) if k is None for n in _listed(v)]
            return [*(n for k in keys for n in _listed(k)), *inner] or [n for v in values for n in _listed(v)]
        case ast.DictComp(generators=[first, *_]) | ast.SetComp(generators=[first, *_]):
            return _listed(first.iter)
    return []


# ------------------------------------------------------------------------------------------------------- list


def listed() -> dict[str, Found]:
    listed: dict[str, Found] = json.loads(FILE.read_text())
    return listed


def totals(what: Found) -> int:
    return sum(sum(c.values()) for c in what.values())


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        FILE.write_text(json.dumps(found(), indent=1) + "\n")
    print(f"{totals(found()['compared'])} comparisons with primitives that are not structural")
    print(f"{sum(map(len, found()['tables'].values()))} tables of {totals(found()['tables'])} names")
