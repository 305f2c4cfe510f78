"""The header and the result of a printed function: containers are unpacked into parameters, results are packed."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from transpile.aggregates import ArgSpec, Leaf, Node, Static
from transpile.base import making
from transpile.codegen.container_parts import part_of
from transpile.codegen.default_values import default_texts
from transpile.codegen.expression_nodes import variable
from transpile.codegen.layout import Line
from transpile.codegen.numpy.printed_imports import Imports
from transpile.codegen.templates import literal
from transpile.core import nodes as ir


def whole(fn: ir.Function) -> set[str]:
    """The names of the arguments that are no parameter of the core function themselves: containers and static values."""
    return {spec.name for spec in fn.arg_tree or () if not isinstance(spec.tree, Leaf)}


def unpack(
    fn: ir.Function, names: Mapping[ir.Var, str], read: set[ir.Var], reserved: Collection[str], imports: Imports
) -> tuple[list[Line], ast.expr]:
    """A pair: the lines that unpack containers of arguments, and the parameter list as a node that prints in parentheses.

    ``read``: the variables that the body reads; others are not unpacked, unless they are buffers. An argument keeps its name,
    since the caller may pass it by keyword, except that one in ``reserved`` gets underscores. A variable of the body may have
    the same name: the argument is not read any more by then.
    """
    if fn.arg_tree is None:
        return [], _parameters([variable(names[p]) for p in fn.params])
    used = read | {p for p in fn.params if p.buffer}
    lines: list[Line] = []
    nodes: list[ast.expr] = []
    starred, defaults = False, default_texts(fn)
    for spec in fn.arg_tree:
        name = spec.name
        if isinstance(spec.tree, Leaf):
            name = names[fn.params[spec.tree.k]]
        while name in reserved:
            name += "_"
        if spec.kind == "kw" and not starred:
            nodes.append(variable("*"))
            starred = True
        starred = starred or spec.kind == "varpos"
        default = f"={defaults[spec.name]}" if spec.name in defaults else ""
        nodes.append(variable({"varpos": "*", "varkw": "**"}.get(spec.kind, "") + name + default))
        if not isinstance(spec.tree, Leaf):
            lines += [Line(1, parts) for parts in _taken_apart(spec.tree, variable(name), fn, names, used, imports)]
    hidden = fn.params[len(fn.params) - len(fn.captured) :] if fn.captured else ()
    rest = [nodes.pop()] if fn.arg_tree and fn.arg_tree[-1].kind == "varkw" else []
    nodes += [variable(names[p]) for p in hidden]
    return lines, _parameters([*nodes, *rest])


def _parameters(nodes: Sequence[ast.expr]) -> ast.expr:
    """The nodes as a list that prints in parentheses."""
    return ast.Call(ast.Name("", ast.Load()), list(nodes), [])


def _taken_apart(
    tree: Any, base: ast.expr, fn: ir.Function, names: Mapping[ir.Var, str], used: set[ir.Var], imports: Imports
) -> Iterator[tuple[str | ast.expr, ...]]:
    """Yields the parts of assignments, to the parameters in ``used``, of the leaves below ``tree``, read from ``base``.

    A sequence of leaves is one assignment, with ``_`` for those that are not used.
    """
    if isinstance(tree, Leaf):
        if fn.params[tree.k] in used:
            yield (f"{names[fn.params[tree.k]]} = ", base)
        return
    if not isinstance(tree, Node):
        return
    if tree.kind == "registered":
        flattened = ast.Call(imports.of_class(tree.cls, "flatten"), [base], [])
        base = ast.Subscript(flattened, literal(0), ast.Load())
    if (
        tree.kind in ("tuple", "list", "namedtuple", "registered")
        and tree.children
        and all(isinstance(c, Leaf) for c in tree.children)
    ):
        leaves = [fn.params[c.k] for c in tree.children]
        if sum(p in used for p in leaves) > 1 or len(leaves) == 1:
            targets = ", ".join(names[p] if p in used else "_" for p in leaves)
            if any(p in used for p in leaves):
                yield (f"{targets}{',' if len(leaves) == 1 else ''} = ", base)
            return
    for k, child in enumerate(tree.children):
        yield from _taken_apart(child, part_of(tree, k, base), fn, names, used, imports)


# ------------------------------------------------------------------------------------------------------ results


def pack(tree: Any, nodes: Sequence[ast.expr], imports: Imports) -> ast.expr:
    """The node of a result with structure ``tree``, whose leaf ``k`` is ``nodes[k]``; None is a tuple of all nodes.

    With None, a single node is the result itself. Classes that it needs are noted in ``imports``.
    """
    if tree is None:
        return nodes[0] if len(nodes) == 1 else ast.Tuple(list(nodes), ast.Load())
    if isinstance(tree, Leaf):
        return nodes[tree.k]
    if isinstance(tree, Static):
        return imports.static(tree.value)
    children = [pack(c, nodes, imports) for c in tree.children]
    match tree.kind:
        case "tuple":
            return ast.Tuple(children, ast.Load())
        case "list":
            return ast.List(children, ast.Load())
        case "dict":
            made: ast.expr = ast.Dict([literal(k) for k in tree.keys], children)
            return made if tree.cls is None else ast.Call(imports.cls(tree.cls), [made], [])
    if tree.kind == "registered":
        given = [imports.static(tree.keys[0].value), ast.Tuple(children, ast.Load())]
        return ast.Call(imports.of_class(tree.cls, "unflatten"), given, [])
    keywords = [ast.keyword(name, child) for name, child in zip(tree.keys, children)]
    if making.is_made_by_keywords(tree.cls, tree.keys):
        return ast.Call(imports.cls(tree.cls), [], keywords)
    return ast.Call(imports.ours(["transpile_runtime", "instances", "made"]), [imports.cls(tree.cls)], keywords)


__all__ = ["ArgSpec", "pack", "unpack"]
