"""The command line: ``transpile grad FILE.py:FUNC`` and its kin. The file is parsed, never executed.

Exit status: 0; 1 where the program cannot be transformed (diagnostics on stderr); 2 where the request cannot be read.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from transpile.errors import TranspileError, error
from transpile.levels import Flat, Grad, Level

REQUESTS = ("T404", "T407", "T413", "T901", "T903")
"""Codes that mean that the request, not the program, is wrong."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; the exit status."""
    options = parser().parse_args(argv)
    try:
        text = emit(options)
        if options.output is None:
            sys.stdout.write(text)
        else:
            write(options.output, text)
    except TranspileError as failed:
        print(failed, file=sys.stderr)
        return 2 if all(d.code in REQUESTS or d.code == "T414" and not d.loc.line for d in failed.diagnostics) else 1
    except RecursionError:
        message, hint = "something in this program is nested too deeply", "set parts of it to variables of their own"
        print(error("T135", message, hint=hint), file=sys.stderr)
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="transpile", description="Derivatives of Python functions, as Python source.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in (
        ("grad", "the gradient of a function that returns one number"),
        ("jvp", "the forward derivative: f_jvp(x, ..., x_dot)"),
        ("vjp", "the reverse derivative: f_vjp(x, ..., y_bar)"),
    ):
        one = commands.add_parser(name, help=text, description=f"Emit {text}. The file is parsed, never executed.")
        one.add_argument("function", metavar="FILE.py:FUNC", help="the function to transform")
        one.add_argument("--wrt", metavar="x,w", help="the arguments to differentiate (the first, if not given)")
        one.add_argument("--value", action="store_true", help="return the function's value as well")
        one.add_argument("--arg", action="append", default=[], metavar="'x=float64[n,d]'",
                         help="the type of an argument, or its value; else its annotation says the type")  # fmt: skip
        one.add_argument("-o", dest="output", metavar="OUT.py", help="write to a file instead of stdout")
        one.add_argument("--standalone", action="store_true", help="import nothing of the package 'transpile_runtime'")
        one.add_argument("--jit", action="store_true", help="emit the loops that Numba compiles")
    return top


def emit(options: argparse.Namespace) -> str:
    """The text of the module that is asked for."""
    from transpile.frontend.static import StaticModule

    path, colon, name = options.function.rpartition(":")
    if not colon or not path or not name:
        raise error("T901", f"cannot read {options.function!r}", hint="write it as FILE.py:FUNC")
    function = StaticModule.read(path).function(name)
    args, kwargs, names = argument_types(function, options.arg)
    level = wanted_level(options, names, name)
    core = lifted(level, function, args, kwargs)
    if options.jit:
        from transpile.lower.module import module_text

        return module_text(core, standalone=options.standalone)
    from transpile.render import render

    try:
        return render(core, runtime=not options.standalone).text
    except ValueError as failed:
        hint = "leave --standalone out, and install the package with the emitted file"
        raise error("T901", f"--standalone: {failed}", core.loc, hint) from None


def lifted(level: Level, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The core function under the level; a value that must be known is asked for with ``--arg``."""
    from transpile.frontend import NeedStatic, lift
    from transpile.pipeline import clean

    try:
        return clean(level.lift(lift, function, args, kwargs))
    except NeedStatic as needed:
        raise needed.why or error(
            "T210", "the value of an argument must be known: give it with --arg 'name=value'"
        ) from None


def wanted_level(options: argparse.Namespace, names: list[str], function: str) -> Level:
    """The transform of the command. ``names`` are the parameters in order."""
    wanted = [w.strip() for w in options.wrt.split(",")] if options.wrt else names[:1]
    for w in wanted:
        if w not in names:
            known = ", ".join(repr(n) for n in names)
            raise error("T407", f"--wrt: {function!r} has no argument {w!r}", hint=f"its arguments are {known}")
        if wanted.count(w) > 1:
            raise error("T407", f"--wrt: {w!r} is named twice")
    argnums = tuple(names.index(w) for w in wanted)
    chosen: Any = argnums[0] if len(argnums) == 1 else argnums
    if options.command == "grad":
        return Grad(chosen, value=options.value)
    return Flat(options.command == "jvp", chosen, value=options.value)


def argument_types(function: Any, given: Sequence[str]) -> tuple[list[Any], dict[str, Any], list[str]]:
    """The trees of the positional and the named arguments, and the names of those that have one, in order.

    A parameter with a default and no type keeps its default.
    """
    from transpile.frontend.annotations import annotation_tree, parse_arg

    types = dict(parse_arg(text) for text in given)
    spec = function.node.args
    positional = [*getattr(spec, "posonlyargs", ()), *spec.args]
    every = [*positional, *spec.kwonlyargs]
    for name in types:
        if name not in [a.id for a in every]:
            known = ", ".join(repr(a.id) for a in every)
            raise error(
                "T407", f"--arg: {function.node.name!r} has no argument {name!r}", hint=f"its arguments are {known}"
            )
    optional = {a.id for a in positional[len(positional) - len(spec.defaults) :]} if spec.defaults else set()
    optional |= {a.id for a, d in zip(spec.kwonlyargs, spec.kw_defaults) if d is not None}
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    names: list[str] = []
    for a in every:
        if a.id not in types and a.annotation is None and a.id in optional:
            continue
        loc = function.located.loc(a)
        tree = types[a.id] if a.id in types else annotation_tree(a.annotation, function.scope, a.id, loc)
        if a in positional and len(args) == positional.index(a):
            args.append(tree)
        else:
            kwargs[a.id] = tree
        names.append(a.id)
    return args, kwargs, names


def write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
    except OSError as failed:
        raise error("T903", f"cannot write {path!r}: {failed.strerror}") from None


if __name__ == "__main__":
    sys.exit(main())
