"""Where primitives are named outside of their records: what compares one with a name, and tables keyed by names.

A pass that asks for the name of a primitive knows what a record should say. Both are counted by layer; the counts only shrink:
``python tests/house/named.py --write`` writes `named.json` anew.
"""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from house.imports import modules  # noqa: E402
from house.plan import layer  # noqa: E402
from transpile.ops.tables import records  # noqa: E402

FILE = HERE / "named.json"
STRUCTURAL = frozenset(
    "index dim item copy full empty cast where broadcast stretch sized reshape transpose identity matmul".split()
)
"""What the core itself is said in: these may be compared."""
HOME = ("ops", "numpy_api")  # the records, and what is written in their names
LEAST = 2  # names in a table

Found = dict[str, dict[str, int]]


@cache
def found() -> dict[str, Found]:
    """``compared``: layer -> primitive -> how often; ``tables``: layer -> module and variable -> how many names."""
    compared: dict[str, Counter[str]] = {}
    tables: dict[str, Counter[str]] = {}
    for module, path in modules().items():
        if layer(module) in HOME:
            continue
        tree = ast.parse(path.read_text())
        compared.setdefault(layer(module), Counter()).update(n for n in comparisons(tree) if n not in STRUCTURAL)
        here = tables.setdefault(layer(module), Counter())
        here.update({f"{module}.{name}": count for name, count in named_tables(tree)})
    return {"compared": _sorted(compared), "tables": _sorted(tables)}


def _sorted(counts: dict[str, Counter[str]]) -> Found:
    return {place: dict(sorted(c.items())) for place, c in sorted(counts.items()) if c}


# ------------------------------------------------------------------------------------------------ comparisons


def comparisons(tree: ast.AST) -> Iterator[str]:
    """The names that a primitive is compared with, or that a case of `match` says."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(_is_primitive, sides)):
                yield from (n for s in sides for n in _strings(s) if n in records())
        elif isinstance(node, ast.Match):
            about = _is_primitive(node.subject)
            for case in node.cases:
                yield from _in_pattern(case.pattern, about)


def _is_primitive(node: ast.expr) -> bool:
    """Whether it is ``let.prim``, or what functions call the name of a primitive."""
    if isinstance(node, ast.Tuple):
        return any(map(_is_primitive, node.elts))
    return isinstance(node, ast.Attribute) and node.attr == "prim" or isinstance(node, ast.Name) and node.id == "prim"


def _in_pattern(pattern: ast.pattern, about: bool) -> Iterator[str]:
    """The names in ``case "add" | "sub"`` of a primitive, and in ``case Let(prim="add")`` of anything."""
    if about:
        yield from (n for n in _strings(pattern) if n in records())
        return
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchClass):
            for name, inner in zip(node.kwd_attrs, node.kwd_patterns):
                if name == "prim":
                    yield from (n for n in _strings(inner) if n in records())


def _strings(node: ast.AST) -> list[str]:
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


# ----------------------------------------------------------------------------------------------------- tables


def named_tables(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The sets, tuples and dictionaries, most of whose entries or keys are names of primitives."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            names = _listed(node.value)
            known = [n for n in names if n in records()]
            if len(known) >= LEAST and 2 * len(known) >= len(names) and not set(known) <= STRUCTURAL:
                yield ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target), len(known)


def _listed(node: ast.expr | None) -> list[str]:
    """The strings that a literal lists; the keys of a dictionary, or its values where the keys are something else."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
            return [n for e in elts for n in _listed(e)]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split")):
            return text.split()
        case ast.Call(args=[inner, *_]):
            return _listed(inner)
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
