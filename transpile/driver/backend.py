"""The back end: array core is lowered to loops, which are optimised and become text or machine code."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from transpile.analysis.messages import size_checks
from transpile.codegen.entry_guard import Guard
from transpile.codegen.numba import kernel_module
from transpile.codegen.numba.numba_text import UNWRAPPED, Module, Options
from transpile.codegen.results_passed_in import pass_results_in
from transpile.codegen.size_guards import say_guards
from transpile.core import nodes as ir
from transpile.core.functions import Routine
from transpile.core.output import Output
from transpile.core.pass_list import Chain, Pass, Property
from transpile.core.types import Type
from transpile.driver.machine_code import Source, build
from transpile.errors import error
from transpile.loops import optimise
from transpile.lower import lower
from transpile.lower.half_precision import HALF, in_single_precision
from transpile.lower.lowered_functions import functions
from transpile.simplify.placeholders import is_any, with_placeholders
from transpile.transform.array_passes import CLEAN, EXPANDED, LIVE, PROPERTIES

IS_DIRECT = os.environ.get("TRANSPILE_DIRECT", "1") != "0"
"""True if lowered core is compiled without Numba's front end (`transpile.codegen.llvm`) where possible."""

USUAL = Options()


def text_of(core: ir.Function, options: Options = USUAL) -> tuple[str, dict[int, ir.Loc]]:
    """``(text, lines)``: the module that Numba compiles for a core function, and the user's place for each of its line
    numbers."""
    return Module.of(lowered(core, options), options).text(UNWRAPPED)


def lowered_together(cores: Sequence[ir.Function], options: Options) -> list[ir.Function]:
    """The lowered forms of several core functions, whose names differ, and of the functions that they keep, each name once;
    T502 for a float16 result."""
    for core in cores:
        if any(y.type.dtype == HALF for y in core.body.yields):
            message = f"a result of {core.title.removeprefix('_')!r} is float16, which compiled code does not support"
            raise error("T502", message, core.loc, hint="use float32: x.astype(np.float32)")
    return list({fn.name: fn for core in cores for fn in lowered(core, options)}.values())


def modules_text(cores: Sequence[tuple[ir.Function, set[int]]], standalone: bool = False, level: Any = None) -> str:
    """The text of the emitted module. Each of ``cores`` comes with the indices of the parameters that it writes.

    ``standalone``: the text includes what it calls of ``transpile_runtime``. ``level`` is the requested `Jit`, or None; T505 if
    it is parallel.
    """
    return kernel_module.modules_text(cores, lowered_together, standalone, level)


def lowered(core: ir.Function, options: Options) -> list[ir.Function]:
    """The optimised loop core of the functions that ``core`` keeps, then of ``core`` itself."""
    vectors = options.vectors and has_fused()
    (*kept, entry), names = functions(core)
    found = [optimise(LOWERING.run(one, Lowered(names, is_kept=True)), (), 0, vectors) for one in kept]
    threads = 0 if kept else options.threads  # a call may raise, which a thread of a loop must not
    return [*found, optimise(LOWERING.run(entry, Lowered(names)), options.sizes, threads, vectors)]


@dataclass(frozen=True)
class Lowered:
    """The options of lowering one function: the ``names`` of the kept functions, and whether it is one of them."""

    names: Mapping[Routine, str]
    is_kept: bool = False

    @property
    def is_entry(self) -> bool:
        return not self.is_kept


VALUES = Property(
    "values defined", "every value that is read has been assigned", lambda fn: with_placeholders(fn, is_any) is fn
)

LOWERING = Chain(
    "array",
    (
        Pass(
            "placeholders",
            partial(with_placeholders, is_asked=is_any),
            "compiled code cannot raise for a name without value, so each gets a placeholder",
            requires=(EXPANDED,),
            ensures=(VALUES,),
            breaks=(LIVE,),
        ),
        Pass(
            "checks of sizes said",
            partial(say_guards, is_printed=False),
            "checks of sizes become statements and are compiled with the rest",
            when="is_entry",
            breaks=(LIVE,),
        ),
        Pass(
            "half precision",
            in_single_precision,
            "compiled code has no float16",
            breaks=(LIVE,),
        ),
        Pass(
            "lowering",
            lower,
            "from here on the passes of `transpile.loops`",
            requires=(EXPANDED, VALUES),
            given=("names", "is_kept"),
            dialect="loops",
        ),
    ),
    (*PROPERTIES, VALUES),
    begins=CLEAN.wanted,
)
"""The passes from a clean function of array core to loop core."""


def has_fused() -> bool:
    """True if this processor has a fused multiply-add, without which vector functions are slower than the C library; also True
    if Numba is missing."""
    try:
        from transpile_runtime.compiled import machine
    except ImportError:  # no Numba: nothing is compiled
        return True
    return machine.has_fused()


# --------------------------------------------------------------------------------------------------- compiling


def compile_core(core: ir.Function, options: Options, cache: bool, guard: Guard | None = None) -> Any:
    """The compiled function, which takes the parameters of ``core`` (C-contiguous arrays) and returns its results: a tuple, or
    the only one alone.

    It raises `transpile_runtime.compiled.again.Again` for arguments of other types and, with a ``guard``, for calls that the
    guard rejects. With a guard it also takes, as last arguments, arrays for the results listed in its own ``outputs``, which it
    fills and does not return. ``cache`` allows to load it from disk and to store it. T503 without Numba, T502 for a float16
    parameter.
    """
    try:
        import numba  # noqa: F401
    except ImportError:
        raise error("T503", "jit needs Numba, which is not installed", hint="install it: pip install numba") from None
    for p in core.params:
        check_type(p.type, p.name, core.loc)
    outputs: tuple[Output, ...] = ()
    *kept, fn = lowered(core, options)
    if guard is not None:
        fn, outputs = pass_results_in(fn)
    kernel = build(Source((*kept, fn), options, guard, outputs), cache, core.loc, IS_DIRECT)
    kernel.outputs, kernel.of_sizes = outputs, size_checks(fn)
    return kernel


def check_type(type_: Type, name: str, loc: ir.Loc) -> None:
    """Raises T502 if the type of the argument ``name`` cannot be compiled, because it is float16."""
    if type_.dtype == "float16":
        message = f"argument {name!r} is float16, which compiled code does not support"
        raise error("T502", message, loc, hint="convert it: x.astype(np.float32)")


__all__ = ["Guard", "Options", "compile_core", "lowered", "modules_text", "text_of"]
