"""The module that ``transpile ... --jit`` emits: the kernel that Numba compiles, and the function that one calls.

With ``standalone`` the functions of `transpile_runtime.compiled` that the kernel calls are copied into the text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from transpile.aggregates import Leaf, Node, Static, Tree
from transpile.base import making
from transpile.codegen.numba.numba_text import Options
from transpile.codegen.numba.standalone import inlined
from transpile.codegen.numpy.layout import WIDTH, Line, wrap
from transpile.core import nodes as ir
from transpile.errors import error

Kernels = Callable[[Sequence[ir.Function], Options, Sequence[str]], str]
"""The text of several kernels, each with its arguments of ``njit``."""


def modules_text(
    cores: Sequence[tuple[ir.Function, set[int]]], kernels: Kernels, standalone: bool = False, level: Any = None
) -> str:
    """Kernels and wrappers of several functions as one module; with each the parameters that it writes into.

    ``level`` is the `Jit` that was asked for, if one was.
    """
    if level is not None and level.parallel:
        hint = "leave parallel=True out, or call tp.jit in a program"
        raise error("T505", "parallel=True: an emitted file runs on one thread", hint=hint)
    options = Options(vectors=not standalone)  # those are made of Numba's internals
    if level is not None:
        options = replace(options, fastmath=level.fastmath)
    named = [replace(core, name=f"_{core.name}") for core, _ in cores]
    decorators = [f"{signature(core)}, cache=True, {options.text}" for core, _ in cores]
    text = kernels(named, options, decorators)
    if standalone:
        text = inlined(text, cores[0][0])
    whole = "\n\n".join([text, "\n\n".join(wrapper(core, written) for core, written in cores)])
    return "\n".join(wrapped(line) for line in whole.split("\n"))


def wrapped(line: str) -> str:
    """A line of code that is too long in several, wrapped as the renderer does it.

    >>> print(wrapped("    y = " + " + ".join(["alpha_parameter * x"] * 5)))
        y = (
            alpha_parameter * x
            + alpha_parameter * x
            + alpha_parameter * x
            + alpha_parameter * x
            + alpha_parameter * x
        )
    """
    code, _, note = line.partition("  # ")
    if len(line) <= WIDTH:
        return line
    lead = "@" if code.startswith("@") else _KEY.match(code.strip())[0]  # type: ignore[index]
    code_of = code.strip().removeprefix(lead)
    try:
        (stmt,) = ast.parse(f"{code_of} pass" if code.endswith(":") else code_of.rstrip(",")).body
    except (SyntaxError, ValueError):
        return line  # the text of a docstring
    parts = _parts(stmt)
    if lead and parts is not None:
        parts = (lead, *parts, "," * code.endswith(","))
    if parts is None:
        return line
    depth = (len(code) - len(code.lstrip())) // 4
    return "\n".join([*([f"{' ' * 4 * depth}# {note}"] if note else []), *wrap(Line(depth, parts))])


def _parts(stmt: ast.stmt) -> tuple[str | ast.expr, ...] | None:
    """The parts of a statement of which the expression may be wrapped."""
    match stmt:
        case ast.Assign(targets=[target]):
            return (target, " = ", stmt.value)
        case ast.AugAssign():
            return (stmt.target, f" {SIGNS[type(stmt.op)]}= ", stmt.value)
        case ast.Return(value=ast.expr() as value):
            return ("return ", value)
        case ast.If() | ast.While():
            return ("if " if isinstance(stmt, ast.If) else "while ", stmt.test, ":")
        case ast.Raise(exc=ast.expr() as exc):
            return ("raise ", exc)
        case ast.Expr():
            return (stmt.value,)
    return None


_KEY = re.compile(r"(\d+: )?")  # of an entry in a dictionary that has a line for each
SIGNS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//"}


def signature(core: ir.Function) -> str:
    """The argument types for ``njit``, so that ints given for floats are converted."""
    names = []
    for p in core.params:
        dtype = "boolean" if p.type.dtype == "bool" else p.type.dtype
        names.append(f"{dtype}[{', '.join([':'] * (p.type.rank - 1) + ['::1'])}]" if p.type.dims else dtype)
    return f'"({", ".join(names)}{"," * (len(names) == 1)})"'


# ----------------------------------------------------------------------------------------------------- wrapper


def wrapper(core: ir.Function, written: Collection[int] = ()) -> str:
    """The function with the user's arguments and results. Of ``written`` parameters that are copied, the copy is written back."""
    header: list[str] = []
    given: dict[int, str] = {}
    starred = False
    for spec in core.arg_tree:
        if spec.kind == "kw" and not starred:
            header.append("*")
            starred = True
        starred = starred or spec.kind == "varpos"
        header.append({"varpos": "*", "varkw": "**"}.get(spec.kind, "") + spec.name)
        given.update(_paths(spec.tree, spec.name))
    args = [_argument(given[k], p.type) for k, p in enumerate(core.params)]
    lines = [f"def {core.name}({', '.join(header)}):"]
    if core.doc:
        lines.append(f'    """{core.doc}"""')
    for k in sorted(written):
        lines.append(f"    {_copy(core, k)} = {args[k]}")
        args[k] = _copy(core, k)
    tab = "        " if written else "    "
    lines += ["    try:"] if written else []
    call = f"_{core.name}({', '.join(args)})"
    count = len(core.body.yields)
    tree = core.out_tree
    if (
        isinstance(tree, Leaf)
        and count == 1
        or tree == Node("tuple", tuple(Leaf(k) for k in range(count)))
        and count > 1
    ):
        lines.append(f"{tab}return {call}")
    else:
        classes = set(_classes(tree))
        if classes:
            names = ", ".join(sorted(c.__name__ for c in classes))
            raise error("T501", f"--jit: a result of class {names} cannot be put together in an emitted file", core.loc)
        lines += [f"{tab}out = {call}", f"{tab}return {_result(tree, count)}"]
    lines += ["    finally:"] if written else []
    for k in sorted(written):
        lines += [f"        if {_copy(core, k)} is not {given[k]}:", f"            {given[k]}[...] = {_copy(core, k)}"]
    return "\n".join(lines) + "\n"


def _copy(core: ir.Function, k: int) -> str:
    """What the parameter is called as the kernel takes it."""
    return f"{core.params[k].name}_in_rows"


def _paths(tree: Tree, base: str) -> Iterator[tuple[int, str]]:
    if isinstance(tree, Leaf):
        yield tree.k, base
    elif isinstance(tree, Node) and tree.kind == "registered":
        name = getattr(tree.cls, "__name__", "?")
        raise error(
            "T501", f"--jit: an argument of the registered class {name!r} cannot be taken apart in an emitted file"
        )
    elif isinstance(tree, Node):
        for k, child in enumerate(tree.children):
            if (
                tree.kind == "dataclass"
                or tree.kind == "namedtuple"
                and not making.is_descriptor(tree.cls, tree.keys[k])
            ):
                yield from _paths(child, f"{base}.{tree.keys[k]}")
            else:
                yield from _paths(child, f"{base}[{(tree.keys[k] if tree.kind == 'dict' else k)!r}]")


def _argument(text: str, type_: Any) -> str:
    return f"np.ascontiguousarray({text}, np.{_dtype(type_.dtype)})" if type_.dims else text


def _dtype(dtype: str) -> str:
    return "bool_" if dtype == "bool" else dtype


def _classes(tree: Tree) -> Iterator[Any]:
    if isinstance(tree, Node):
        if tree.cls is not None:
            yield tree.cls
        for child in tree.children:
            yield from _classes(child)


def _result(tree: Tree, count: int) -> str:
    if isinstance(tree, Leaf):
        return "out" if count == 1 else f"out[{tree.k}]"
    if isinstance(tree, Static):
        return repr(tree.value)
    assert isinstance(tree, Node)
    parts = [_result(c, count) for c in tree.children]
    if tree.kind == "dict":
        return "{" + ", ".join(f"{k!r}: {p}" for k, p in zip(tree.keys, parts)) + "}"
    if tree.kind == "list":
        return f"[{', '.join(parts)}]"
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
