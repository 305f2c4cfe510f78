"""Names that begin with two underscores, which Python puts the name of the class before in whose text they stand.

>>> private("__solve", "Spline"), private("__solve", "_Spline"), private("__init__", "Spline"), private("__x", "__")
('_Spline__solve', '_Spline__solve', '__init__', '__x')

Python 3.10's reference manual, section 6.2.1.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from typing import Any

import gast


def private(name: str, owner: str) -> str:
    """The name that Python gives a name in the text of a class; ``owner`` is the name of the innermost one, or empty."""
    bare = owner.lstrip("_")
    is_private = name.startswith("__") and not name.endswith("__") and "." not in name
    return f"_{bare}{name}" if bare and is_private else name


def as_written(name: str) -> str:
    """A name of a definition as it stands in the text."""
    start = name.find("__", 1) if name.startswith("_") and not name.startswith("__") else -1
    return name[start:] if start > 0 and not name.endswith("__") else name


def rename(node: Any, owner: str) -> None:
    """Gives a gast node, that was made just now, the names that its text stands for in a class."""
    for field in _NAMES.get(type(node), ()):
        name = getattr(node, field)
        if isinstance(name, str):
            setattr(node, field, private(name, owner))
        elif isinstance(name, list):
            setattr(node, field, [private(n, owner) for n in name])


_NAMES: dict[type, tuple[str, ...]] = {
    gast.Name: ("id",),
    gast.Attribute: ("attr",),
    gast.FunctionDef: ("name",),
    gast.AsyncFunctionDef: ("name",),
    gast.ClassDef: ("name",),
    gast.alias: ("name", "asname"),
    gast.Global: ("names",),
    gast.Nonlocal: ("names",),
}


def owned(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """The nodes of a tree, breadth first, each with the name of the class whose text it is in; what stands in the head of a class
    is outside."""
    todo: deque[tuple[ast.AST, str]] = deque([(tree, "")])
    while todo:
        node, owner = todo.popleft()
        yield node, owner
        body = {id(s) for s in node.body} if isinstance(node, ast.ClassDef) else ()
        for child in ast.iter_child_nodes(node):
            todo.append((child, node.name if id(child) in body else owner))  # type: ignore[attr-defined]


def owner_of(qualname: str) -> str:
    """The class of a function by its qualified name, where its text is all there is.

    >>> owner_of("model.<locals>.Spline.value.<locals>.inner"), owner_of("model.<locals>.f")
    ('Spline', '')
    """
    *parts, _ = qualname.split(".")
    while parts and parts[-1] == "<locals>":
        del parts[-2:]
    return parts[-1] if parts else ""
