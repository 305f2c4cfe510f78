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
    "jacfwd": "the Jacobian by forward mode, for functions with few arguments",
    "jacrev": "the Jacobian by reverse mode, for functions with few results",
    "hessian": "the second derivatives",
    "hvp": "the product of the Hessian with a vector: f_hvp(x, ..., x_dot)",
    "vmap": "the function of a batch; the types are those of one case",
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
                         help="the function to transform; several: FILE.py:F,G; a method: FILE.py:CLASS.METHOD; "
                         "from standard input: -:FUNC")  # fmt: skip
        if name == "emit":
            one.add_argument("stack", metavar="STACK", help="the transforms around f, with literal arguments")
        elif name == "vmap":
            one.add_argument(
                "--in-axes", default="0", metavar="AXES", help="the batch axis of each argument: 0, '(None, 0)'"
            )
            one.add_argument("--out-axes", default="0", metavar="AXES", help="the batch axis of the results")
            one.add_argument(
                "--axis-name", metavar="NAME", help="the name of the batch axis, for the collectives of lax"
            )
        else:
            first = "default: the first; of a method, the first after self"
            one.add_argument("--wrt", metavar="x,w", help=f"the arguments to differentiate ({first})")
        if name in WITH_VALUE:
            one.add_argument("--value", action="store_true", help="return the function's value as well")
        one.add_argument("--arg", action="append", default=[], metavar="'x=float64[n,d]'",
                         help="the type or the value of an argument; default: the type of its annotation; "
                         "for one of several functions: 'F.x=...'")  # fmt: skip
        one.add_argument("-o", dest="output", metavar="OUT.py", help="write to a file instead of stdout")
        one.add_argument("--force", action="store_true", help="replace OUT.py if it exists")
        one.add_argument("--standalone", action="store_true", help="do not import the package 'transpile_runtime'")
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
