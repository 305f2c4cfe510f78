"""The request ``FILE.py:f,Class.method``: the functions, the trees of their arguments, the parameters to differentiate.

``-`` is standard input. The file and the local files that it imports are parsed; nothing is executed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transpile.aggregates import Static, Tree
from transpile.command import STDIN
from transpile.errors import TranspileError, error
from transpile.frontend.resolve.annotations import annotation_tree, class_tree, parse_arg
from transpile.frontend.resolve.bindings import StaticValue
from transpile.frontend.resolve.static import StaticModule, decoded
from transpile.frontend.resolve.static_file import StaticFunction
from transpile.frontend.sources.origin import register


@dataclass(frozen=True)
class Asked:
    """A requested function with the trees of its arguments.

    ``names`` are the parameters that have a tree, in order; ``first`` is the first one that is differentiated by default (the
    one after ``self``).
    """

    function: StaticFunction
    name: str
    args: Sequence[Tree]
    kwargs: Mapping[str, Tree]
    names: Sequence[str]
    first: int = 0

    def argnums(self, wanted: Sequence[str]) -> Any:
        """The position of the one parameter named in ``wanted``, a tuple of positions for several; for none that of the first
        parameter after ``self``. Positions are those in `names`."""
        found = (
            tuple(self.names.index(w) for w in wanted) if wanted else (min(self.first, max(len(self.names) - 1, 0)),)
        )
        return found[0] if len(found) == 1 else found


def functions(request: str, given: Sequence[str], wrt: str | None) -> tuple[list[Asked], list[str], StaticModule]:
    """``(functions, chosen, module)`` for a request ``FILE.py:f,g``: its functions, the names in ``wrt`` as a list, and the
    module.

    ``given`` are the texts of ``--arg``, ``wrt`` that of ``--wrt`` or None. T901 if the request cannot be read, T407 for a name
    that the functions lack.
    """
    path, colon, names = request.rpartition(":")
    if not colon and os.path.isfile(request):
        raise _nothing_named(request)
    wanted = [n.strip() for n in names.split(",")]
    if not colon or not path or not all(p.isidentifier() for n in wanted for p in n.split(".")):
        raise error(
            "T901", f"cannot read {request!r}", hint="write it as FILE.py:FUNC, FILE.py:F,G or FILE.py:CLASS.METHOD"
        )
    for name in wanted:
        if wanted.count(name) > 1:
            raise error("T901", f"{name!r} is named twice", hint="name it once")
    module = standard_input() if path == STDIN else StaticModule.read(path)
    types = [parse_arg(text) for text in given]
    found = [_asked(module.function(name), name, types) for name in wanted]
    for name, _ in types:
        if not any(_concerns(name, a.name, {p.id for p in _parameters(a.function)}) for a in found):
            raise _unknown("--arg", name, found)
    chosen = [w.strip() for w in wrt.split(",")] if wrt else []
    for k, name in enumerate(chosen):
        if not all(name in a.names for a in found):
            raise _unknown("--wrt", name, [a for a in found if name not in a.names])
        if name in chosen[:k]:
            raise error("T407", f"--wrt: {name!r} is named twice", hint="name it once")
    return found, chosen, module


def _nothing_named(path: str) -> Exception:
    """The error, for the caller to raise, for a request that names a file but no function; it lists the functions of the
    file."""
    entries = StaticModule.read(path).entries
    names = [n for n, e in entries.items() if e.kind == "def"]
    names += [f"{n}.METHOD" for n, e in entries.items() if e.kind == "class"]
    if not names:
        return error("T901", f"no function is named, and {path} defines none", hint=f"write {path}:FUNC")
    more = ", ..." if len(names) > 6 else ""
    return error(
        "T901", f"no function is named: {path} defines {', '.join(names[:6])}{more}", hint=f"write {path}:{names[0]}"
    )


def standard_input() -> StaticModule:
    """The module whose text is read from standard input; its imports are searched in the working directory."""
    text = decoded(sys.stdin.buffer.read(), STDIN)
    return StaticModule(register(text, STDIN), text)


def _concerns(name: str, function: str, parameters: set[str]) -> bool:
    """True if ``name``, of an ``--arg``, refers to a parameter of the function: ``x``, or ``function.x``."""
    owner, _, parameter = name.rpartition(".")
    return parameter in parameters and (not owner or owner == function)


def _unknown(option: str, name: str, functions: Sequence[Asked]) -> Exception:
    """The T407 error, for the caller to raise, for a ``name`` in ``--arg`` or ``--wrt`` (``option``) that the functions
    lack."""
    owner = name.rpartition(".")[0]
    functions = [f for f in functions if f.name == owner] or functions
    shown = " and ".join(repr(f.name) for f in functions)
    hint = "; ".join(
        f"{'its arguments are' if len(functions) == 1 else f'those of {f.name} are'} "
        f"{', '.join(repr(p.id) for p in _parameters(f.function)) or 'none'}"
        for f in functions
    )
    return error("T407", f"{option}: {shown} has no argument {name.rpartition('.')[2]!r}", hint=hint)


def _parameters(function: StaticFunction) -> list[Any]:
    spec = function.node.args
    return [*getattr(spec, "posonlyargs", ()), *spec.args, *spec.kwonlyargs]


def _asked(function: StaticFunction, name: str, given: Sequence[tuple[str, Tree]]) -> Asked:
    """The request for one function, with the types ``given`` by ``--arg`` or else those of the annotations.

    A parameter with a default but no type keeps its default; so does one with default None whose annotation cannot be read,
    with a warning. ``self`` has the structure of its class.
    """
    spec = function.node.args
    positional = [*getattr(spec, "posonlyargs", ()), *spec.args]
    types = {n.rpartition(".")[2]: t for n, t in given if _concerns(n, name, {p.id for p in _parameters(function)})}
    optional = {a.id for a in positional[len(positional) - len(spec.defaults) :]} if spec.defaults else set()
    optional |= {a.id for a, d in zip(spec.kwonlyargs, spec.kw_defaults) if d is not None}
    absent = {n for n, d in function.defaults().items() if isinstance(d, StaticValue) and d.value is None} & optional
    args: list[Tree] = []
    kwargs: dict[str, Tree] = {}
    names: list[str] = []
    bound = set(_bound(function, positional))
    for a in _parameters(function):
        if a.id not in types and a.annotation is None and a.id in optional:
            continue
        loc = function.located.loc(a)
        if a.id in types:
            tree = types[a.id]
        elif function.owner is not None and a.id in bound and a.annotation is None:
            tree = Static(function.owner) if function.kind == "class" else class_tree(function.owner, a.id, loc)
        else:
            try:
                tree = annotation_tree(a.annotation, function.scope, a.id, loc)
            except TranspileError as failed:
                if a.id not in absent or not {"T414", "T415"}.issuperset(failed.codes):
                    raise
                _warn(failed, a.id)
                continue
        if a in positional and len(args) == positional.index(a):
            args.append(tree)
        else:
            kwargs[a.id] = tree
        names.append(a.id)
    return Asked(function, name, args, kwargs, names, len(bound))


def _warn(failed: TranspileError, name: str) -> None:
    """Writes a warning to standard error: why the argument ``name`` has no type and keeps its default, None."""
    why = replace(failed.diagnostics[0], notes=(f"{name!r} keeps its default: None",))
    print(why.said("warning"), file=sys.stderr)


def _bound(function: StaticFunction, positional: Sequence[Any]) -> Iterator[str]:
    """Yields the name of the parameter that a call of the method binds: ``self``, or ``cls`` of a class method; nothing for
    functions and static methods."""
    if function.owner is not None and function.kind != "static" and positional:
        yield positional[0].id
