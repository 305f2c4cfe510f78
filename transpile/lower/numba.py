"""The text that Numba compiles for a core function: a module with one function, of one signature."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from transpile.analysis.sites import sites
from transpile.core.nodes import Function, Loc
from transpile.core.output import Output
from transpile.core.types import Type
from transpile.errors import error
from transpile.loops import optimise
from transpile.loops.assume import Assumed
from transpile.lower.adjoints import known_adjoints
from transpile.lower.emit import Text, emit
from transpile.lower.entry import Guard, guarded
from transpile.lower.kept import functions
from transpile.lower.lowering import lower
from transpile.lower.outward import outward
from transpile.transform.guards import say_guards
from transpile.transform.placeholders import is_any, with_placeholders

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


IS_DIRECT = os.environ.get("TRANSPILE_DIRECT", "1") != "0"
"""Whether lowered core becomes machine code without Numba's front end (`transpile.native`), where that can be."""


@dataclass(frozen=True)
class Options:
    """How a function is compiled. ``sizes``: what is assumed of those of its parameters (`transpile.loops.assume`)."""

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


def text_of(core: Function, options: Options = Options()) -> tuple[str, dict[int, Loc]]:
    """The module that Numba compiles for a core function, and the user's line of each of its lines."""
    return _written(lowered(core, options), options)


def text_of_several(cores: Sequence[Function], options: Options, decorators: Sequence[str]) -> str:
    """The module of several core functions, no two of one name, each with its arguments of ``njit``."""
    each = [lowered(core, options) for core in cores]
    own = {fns[-1].name: given for fns, given in zip(each, decorators)}
    return _written(list({fn.name: fn for fns in each for fn in fns}.values()), options, own)[0]


def lowered(core: Function, options: Options) -> list[Function]:
    """The function as scalar statements and calls, optimised; before it those that it keeps."""
    vectors = options.vectors and has_fused()
    (*kept, entry), names = functions(core)
    kept, entry = [with_placeholders(one, is_any) for one in kept], with_placeholders(entry, is_any)
    found = [optimise(lower(known_adjoints(one), names, is_kept=True), (), 0, vectors) for one in kept]
    threads = 0 if kept else options.threads  # a call may raise, which a thread of a loop must not
    return [*found, optimise(lower(known_adjoints(say_guards(entry, False)), names), options.sizes, threads, vectors)]


def _written(
    lowered: Sequence[Function], options: Options, own: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, dict[int, Loc]]:
    """The text; ``own``: the arguments of ``njit`` of a function that has others."""
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


def has_fused() -> bool:
    """Whether vector functions are worth while: without a fused multiply-add they are slower than the C library."""
    try:
        from transpile_runtime.compiled import machine
    except ImportError:  # no Numba: nothing is compiled
        return True
    return machine.has_fused()


def _assemble(body: Text, used: Sequence[str], found: dict[int, Any]) -> tuple[str, dict[int, Loc]]:
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


# --------------------------------------------------------------------------------------------------- compiling


def compile_core(core: Function, options: Options, cache: bool, guard: Guard | None = None) -> Any:
    """The compiled function: it takes the parameters of ``core`` (arrays C-contiguous) and gives a tuple of results.

    It raises `transpile_runtime.compiled.again.Again` for arguments of other types. With a ``guard`` also for calls that this
    keeps out; and then it takes the results that its ``outputs`` list as further arguments.
    """
    try:
        import numba  # noqa: F401
    except ImportError:
        raise error("T503", "jit needs Numba, which is not installed", hint="pip install numba") from None
    from transpile.lower.build import build

    for p in core.params:
        check_type(p.type, p.name, core.loc)
    outputs: tuple[Output, ...] = ()
    *kept, fn = lowered(core, options)
    if guard is not None:
        fn, outputs = outward(fn)
    text, lines = _written([*kept, fn], options)
    if guard is not None:
        text, lines = guarded(text, lines, core.name, guard)
    kinds = tuple([(p.type.dtype, p.type.rank) for p in fn.params])

    def direct(name: str) -> Any:
        from transpile.native import compile_function

        return compile_function(fn, name, options.fastmath, guard, kept, outputs)

    kernel = build(core.name, text, lines, kinds, cache, core.loc, direct if IS_DIRECT else None, bool(kept))
    kernel.outputs = outputs
    return kernel


def check_type(type_: Type, name: str, loc: Loc) -> None:
    if type_.dtype == "float16":
        raise error("T502", f"argument {name!r} is float16, which Numba does not have", loc, hint="use float32")
