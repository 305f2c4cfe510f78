"""The text that Numba compiles: a module of lowered functions, each of one signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from transpile.analysis.messages import sites
from transpile.codegen.numba.loop_text import Text, emit
from transpile.core import nodes as ir
from transpile.loops.size_assumptions import Assumed

MODULES = (
    "again",
    "arrays",
    "blas",
    "draws",
    "errors",
    "intmath",
    "linalg",
    "random",
    "scalars",
    "shares",
    "special",
    "vector",
)


@dataclass(frozen=True)
class Options:
    """How a function is compiled. ``sizes``: what is assumed of those of its parameters (`transpile.loops.size_assumptions`)."""

    fastmath: Any = ("contract", "reassoc")
    threads: int = 0  # of loops that run in parallel
    sizes: tuple[Assumed, ...] = ()
    vectors: bool = True  # whether `transpile_runtime.compiled.vector` may be called

    @property
    def text(self) -> str:
        """The arguments of ``njit``."""
        flags = self.fastmath
        shown = flags if isinstance(flags, bool) else "{" + ", ".join(repr(f) for f in flags) + "}"
        threads = f", parallel={PRANGE}" if self.threads else ""
        return f'error_model="numpy", fastmath={shown}{threads}'


PRANGE = {
    "prange": True,
    **dict.fromkeys(("comprehension", "reduction", "inplace_binop", "setitem", "numpy", "stencil"), False),
}
"""Numba makes parallel what is written as such, nothing else."""


def written(
    lowered: Sequence[ir.Function], options: Options, own: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, dict[int, ir.Loc]]:
    """The module, and the user's line of each of its lines; ``own``: the arguments of ``njit`` of a function that has others."""
    found = {number: entry for fn in lowered for number, entry in sites(fn).items()}
    names = [fn.name for fn in lowered]
    bodies = [emit(fn, own.get(fn.name, options.text), ", ".join(MODULES), names) for fn in lowered]
    used = [m for m in MODULES if any(f"{m}." in line for body in bodies for line in body.lines[7:])]
    if found and "errors" not in used:
        used = sorted([*used, "errors"])
    return _assemble(_joined(bodies), used, found)


def _joined(bodies: Sequence[Text]) -> Text:
    """The functions of several modules in one, under the header of the first."""
    whole = bodies[0]
    for body in bodies[1:]:
        start = _start(body)
        whole.lines += ["", ""]
        shift = len(whole.lines) - start
        whole.lines += body.lines[start:]
        whole.locs.update((k + shift, loc) for k, loc in body.locs.items())
    return whole


def _start(body: Text) -> int:
    return next(k for k, line in enumerate(body.lines) if line.startswith("@njit"))


def _assemble(body: Text, used: Sequence[str], found: dict[int, Any]) -> tuple[str, dict[int, ir.Loc]]:
    start = _start(body)
    rest = body.lines[start:]
    head = []
    if any("math." in line for line in rest):
        head += ["import math", ""]
    head += ["import numpy as np", "from numba import njit"]
    if any(" in prange(" in line for line in rest):
        head += ["from numba import prange"]
    if used:
        head += ["", f"from transpile_runtime.compiled import {', '.join(used)}"]
    if found:
        head += ["", "errors.SITES.update({"]
        head += [f"    {k}: {v!r}," for k, v in found.items()]
        head += ["})"]
    head += ["", ""]
    shift = len(head) - start
    return "\n".join([*head, *rest]) + "\n", {k + shift: loc for k, loc in body.locs.items()}
