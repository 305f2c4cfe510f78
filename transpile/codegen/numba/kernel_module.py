"""The module that ``transpile ... --jit`` emits: the kernel that Numba compiles, and the function that users call.

With ``standalone`` the functions of `transpile_runtime.compiled` that the kernel calls are copied into the text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from transpile.aggregates import Leaf, Node, Static, Tree
from transpile.codegen.container_parts import part_of
from transpile.codegen.default_values import default_texts
from transpile.codegen.expression_nodes import LOAD, call, dotted, number, variable
from transpile.codegen.layout import Line
from transpile.codegen.numba.kernel_nodes import dtype_node
from transpile.codegen.numba.numba_text import Module, Options, printed
from transpile.codegen.numba.standalone import inlined
from transpile.codegen.templates import literal
from transpile.core import nodes as ir
from transpile.errors import error

Kernels = Callable[[Sequence[ir.Function], Options], list[ir.Function]]
"""Lowers several functions and their kept functions."""


def modules_text(
    cores: Sequence[tuple[ir.Function, set[int]]], kernels: Kernels, standalone: bool = False, level: Any = None
) -> str:
    """The text of one module with the kernels and wrappers of several functions.

    ``cores``: array core functions, each with the numbers of the parameters that it writes; ``kernels`` lowers them. With
    ``standalone`` the module includes what it calls of ``transpile_runtime``. ``level``: the requested `Jit`, or None; T505 if
    it is parallel.
    """
    if level is not None and level.parallel:
        hint = "leave parallel=True out, or call tp.jit in a program"
        raise error("T505", "parallel=True is not supported for an emitted file, which runs on one thread", hint=hint)
    options = Options(vectors=not standalone)  # those are made of Numba's internals
    if level is not None:
        options = replace(options, fastmath=level.fastmath)
    named = [replace(core, name=f"_{core.name}") for core, _ in cores]
    decorators = {f"_{core.name}": decorator(core, options) for core, _ in cores}
    module = Module.of(kernels(named, options), options, decorators)
    text = inlined(module, cores[0][0]) if standalone else module.text()[0]
    return "\n\n".join([text, *(printed(wrapper(core, written))[0] for core, written in cores)])


def decorator(core: ir.Function, options: Options) -> ast.expr:
    """The node of ``njit(...)`` with the types of the arguments, compiled at import and cached, and the ``options``."""
    usual = options.decorator
    return ast.Call(usual.func, [literal(signature(core))], [ast.keyword("cache", literal(True)), *usual.keywords])


def signature(core: ir.Function) -> str:
    """The argument types for ``njit`` as text, such as ``(float64[:, ::1], int64)``: arrays are C-contiguous.

    With them Numba converts ints that are passed for floats.
    """
    names = []
    for p in core.params:
        dtype = "boolean" if p.type.dtype == "bool" else p.type.dtype
        names.append(f"{dtype}[{', '.join([':'] * (p.type.rank - 1) + ['::1'])}]" if p.type.dims else dtype)
    return f"({', '.join(names)}{',' * (len(names) == 1)})"


# ----------------------------------------------------------------------------------------------------- wrapper


def wrapper(core: ir.Function, written: Collection[int] = ()) -> list[Line]:
    """The lines of the function that users call: it takes the arguments, calls the kernel and returns the result.

    ``written``: the numbers of parameters that the kernel writes; if one was copied for the kernel, the copy is written back,
    also if the kernel raises. T501 for structures that are not supported.
    """
    header: list[ast.expr] = []
    given: dict[int, ast.expr] = {}
    starred, defaults = False, default_texts(core)
    for spec in core.arg_tree:
        if spec.kind == "kw" and not starred:
            header.append(variable("*"))
            starred = True
        starred = starred or spec.kind == "varpos"
        default = f"={defaults[spec.name]}" if spec.name in defaults else ""
        header.append(variable({"varpos": "*", "varkw": "**"}.get(spec.kind, "") + spec.name + default))
        given.update(_paths(spec.tree, variable(spec.name)))
    args = [_argument(given[k], p.type) for k, p in enumerate(core.params)]
    lines = [Line(0, (f"def {core.name}", call(variable(""), *header), ":"))]
    lines += [Line(1, (f'"""{core.doc}"""',))] if core.doc else []
    for k in sorted(written):
        lines.append(Line(1, (f"{_copy(core, k)} = ", args[k])))
        args[k] = variable(_copy(core, k))
    lines += [Line(1, ("try:",))] if written else []
    lines += _called(core, call(variable(f"_{core.name}"), *args), 2 if written else 1)
    lines += [Line(1, ("finally:",))] if written else []
    for k in sorted(written):
        lines.append(Line(2, (f"if {_copy(core, k)} is not ", given[k], ":")))
        lines.append(Line(3, (given[k], f"[...] = {_copy(core, k)}")))
    return lines


def _called(core: ir.Function, kernel: ast.expr, depth: int) -> list[Line]:
    """The lines that call the kernel and return its results in their structure; T501 if that contains a class."""
    count, tree = len(core.body.yields), core.out_tree
    is_one = isinstance(tree, Leaf) and count == 1
    if is_one or tree == Node("tuple", tuple(Leaf(k) for k in range(count))) and count > 1:
        return [Line(depth, ("return ", kernel))]
    classes = set(_classes(tree))
    if classes:
        names = ", ".join(sorted(c.__name__ for c in classes))
        message = f"--jit does not support a result of class {names}"
        raise error("T501", message, core.loc, "return a tuple, a list or a dict, or leave --jit out")
    return [Line(depth, ("out = ", kernel)), Line(depth, ("return ", _result(tree, count)))]


def _copy(core: ir.Function, k: int) -> str:
    """The name of the variable that holds parameter ``k`` as the kernel takes it, in C order."""
    return f"{core.params[k].name}_in_rows"


def _paths(tree: Tree, base: ast.expr) -> Iterator[tuple[int, ast.expr]]:
    """Yields for each leaf below ``base`` its parameter number and the node that reads it; T501 for a registered class."""
    if isinstance(tree, Leaf):
        yield tree.k, base
    elif isinstance(tree, Node) and tree.kind == "registered":
        name = getattr(tree.cls, "__name__", "?")
        message = f"--jit does not support an argument of the registered class {name!r}"
        raise error("T501", message, hint="pass a tuple, a dict or a dataclass, or leave --jit out")
    elif isinstance(tree, Node):
        for k, child in enumerate(tree.children):
            yield from _paths(child, part_of(tree, k, base))


def _argument(node: ast.expr, type_: Any) -> ast.expr:
    """The node that is passed to the kernel: an array goes through ``np.ascontiguousarray`` with its dtype, a number
    unchanged."""
    return call(dotted("np.ascontiguousarray"), node, dtype_node(type_.dtype)) if type_.dims else node


def _classes(tree: Tree) -> Iterator[Any]:
    """Yields the classes of all containers in the tree."""
    if isinstance(tree, Node):
        if tree.cls is not None:
            yield tree.cls
        for child in tree.children:
            yield from _classes(child)


def _result(tree: Tree, count: int) -> ast.expr:
    """The node of a result with structure ``tree``, read from the variable ``out``, which holds ``count`` results.

    If ``count`` is 1, ``out`` is the result itself, else a tuple.
    """
    if isinstance(tree, Leaf):
        return variable("out") if count == 1 else ast.Subscript(variable("out"), number(tree.k), LOAD)
    if isinstance(tree, Static):
        return literal(tree.value)
    assert isinstance(tree, Node)
    parts = [_result(c, count) for c in tree.children]
    if tree.kind == "dict":
        return ast.Dict([literal(k) for k in tree.keys], parts)
    return ast.List(parts, LOAD) if tree.kind == "list" else ast.Tuple(parts, LOAD)
