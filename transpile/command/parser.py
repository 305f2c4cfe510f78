"""The options of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from transpile import __version__
from transpile.driver.cache import eviction
from transpile.driver.cache.directory import cache_directory

COMMANDS = {
    "grad": "the gradient of a function that returns one number",
    "jvp": "the forward derivative: f_jvp(x, ..., x_dot)",
    "vjp": "the reverse derivative: f_vjp(x, ..., y_bar)",
    "jacfwd": "the Jacobian, by forward mode: cheap where the arguments are few",
    "jacrev": "the Jacobian, by reverse mode: cheap where the results are few",
    "hessian": "the second derivatives",
    "hvp": "the product of the Hessian with a vector: f_hvp(x, ..., x_dot)",
    "vmap": "the function of all lanes; types are those of one lane",
}
WITH_VALUE = ("grad", "jvp", "vjp")
EMIT = "any stack of transforms: 'jit(grad(f, argnums=(0, 1)))'"


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    top = argparse.ArgumentParser(prog="transpile", description="Derivatives of Python functions, as Python source.")
    top.add_argument("--version", action="version", version=f"transpile {__version__}")
    top.add_argument(
        "--clear-cache", action=_ClearCache, nargs=0, help="remove all compiled functions from the disk cache, and exit"
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in {**COMMANDS, "emit": EMIT}.items():
        one = commands.add_parser(name, help=text, description=f"Emit {text}. The file is parsed, never executed.")
        one.add_argument("function", metavar="FILE.py:FUNC",
                         help="the function to transform, several as FILE.py:F,G, a method as FILE.py:CLASS.METHOD; "
                         "-:FUNC reads standard input")  # fmt: skip
        if name == "emit":
            one.add_argument("stack", metavar="STACK", help="the transforms around f, with literal arguments")
        elif name == "vmap":
            one.add_argument(
                "--in-axes", default="0", metavar="AXES", help="the axis of the lanes in each argument: 0, '(None, 0)'"
            )
            one.add_argument("--out-axes", default="0", metavar="AXES", help="where the results have the lanes")
            one.add_argument(
                "--axis-name", metavar="NAME", help="what the collectives of lax call the axis of the lanes"
            )
        else:
            first = "the first, if not given; of a method, the first behind self"
            one.add_argument("--wrt", metavar="x,w", help=f"the arguments to differentiate ({first})")
        if name in WITH_VALUE:
            one.add_argument("--value", action="store_true", help="return the function's value as well")
        one.add_argument("--arg", action="append", default=[], metavar="'x=float64[n,d]'",
                         help="the type of an argument, or its value; else its annotation says the type; "
                         "'F.x=...' is for one of several functions")  # fmt: skip
        one.add_argument("-o", dest="output", metavar="OUT.py", help="write to a file instead of stdout")
        one.add_argument("--force", action="store_true", help="replace OUT.py where it is there already")
        one.add_argument("--standalone", action="store_true", help="import nothing of the package 'transpile_runtime'")
        one.add_argument("--jit", action="store_true", help="emit the loops that Numba compiles")
    return top


class _ClearCache(argparse.Action):
    """Removes the files of the disk cache, says how many, and exits."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: Any,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        folder = cache_directory()
        removed, left = eviction.clear(folder)
        files = "1 file" if removed.files == 1 else f"{removed.files:,} files"
        print(f"removed {files} ({removed.size / 2**20:.1f} MiB) from {folder}")
        parser.exit(bool(left), f"{left:,} could not be removed\n" if left else None)
