"""Runs the loops that Numba compiles, without Numba: each access of memory is checked, thousands of small programs a minute.

    loops = Loops(f, args)              the core of the call, lowered
    loops.run("lowered", args)          `Outcome` of the unoptimised loops
    loops.run("optimised", args)        of the loops after `transpile.loops`
    loops.run("assumed", args)          the same, with sizes that were equal assumed to be one
    loops.run("parallel", args)         the same, with loops cut into chunks, which run in another order than written, and
                                        with loops whose iterations are independent run backwards

A `loop_memory.Violation` is raised where compiled code would touch memory that is not its own.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import loop_memory
import numpy as np
import plain_runtime
from differences import copied
from verified import checked_passes

import transpile as tp
from transpile.aggregates import flatten
from transpile.analysis.messages import sites
from transpile.base.captured import Place
from transpile.base.levels import jit_level
from transpile.codegen.numba.loop_text import emit
from transpile.codegen.numba.numba_text import UNWRAPPED, Module, printed
from transpile.core import nodes as ir
from transpile.core.functions import reached
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.driver.lifted_request import leaf_slots, lift
from transpile.driver.request import Request
from transpile.driver.result_kinds import converters
from transpile.driver.results import assemble_flat
from transpile.driver.shared_arguments import overlap
from transpile.errors import TranspileError
from transpile.loops import optimise
from transpile.loops.check_elimination import eliminate_checks
from transpile.loops.independent_iterations import loops_apart
from transpile.loops.size_assumptions import assumed
from transpile.lower import lower
from transpile.lower.half_precision import in_single_precision
from transpile_runtime.compiled import errors
from transpile_runtime.compiled.again import OtherSizes

STAGES = ("lowered", "optimised", "assumed", "parallel")
THREADS = 3


def text_of(fn: ir.Function) -> str:
    """The function's text for Numba."""
    return printed(emit(fn), UNWRAPPED)[0]


@dataclass
class Outcome:
    """The outcome of a call: a result or an exception, the arguments afterwards, the printed text."""

    value: Any
    error: Exception | None
    args: tuple[Any, ...]
    printed: str

    def __str__(self) -> str:
        return repr(self.value) if self.error is None else f"{type(self.error).__name__}: {self.error}"


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Outcome:
    """The outcome of a call with copies of the arguments."""
    args, value, error = copied(args), None, None
    printed = io.StringIO()
    with redirect_stdout(printed), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = function(*args)
        except Exception as e:
            error = e
    return Outcome(value, error, args, printed.getvalue())


def made_of(fn: ir.Function, label: str) -> Callable[..., Any]:
    """The function as Python code, whose name in tracebacks begins with ``label``: its text for Numba, run without Numba."""
    errors.SITES.update(sites(fn))
    names = plain_runtime.namespace()
    exec(plain_runtime.code_of(module_text(fn), f"<{label} {fn.name}>"), names)
    return names[fn.name]


def module_text(fn: ir.Function) -> str:
    """The text of the module for Numba that has the function alone."""
    return Module({}, tuple(emit(fn))).text(UNWRAPPED)[0]


def turned(fn: ir.Function) -> ir.Function:
    """The function with those loops reversed whose iterations LLVM is told are independent."""
    apart = loops_apart(fn)
    return reversed_loops(fn, lambda loop: loop.index in apart and not loop.inits)


def reversed_loops(fn: ir.Function, is_chosen: Callable[[ir.For], bool]) -> ir.Function:
    """The function with the chosen loops run the other way; itself if there are none."""

    def block(old: ir.Block) -> ir.Block:
        return with_stmts(old, [stmt(s) for s in old.stmts])

    def stmt(old: ir.Stmt) -> ir.Stmt:
        new = with_blocks(old, block)
        if not isinstance(new, ir.For) or not is_chosen(new):
            return new
        return replace(new, backwards=not new.backwards)

    return with_body(fn, block(fn.body))


def stages_of(program: Any, threads: int) -> Iterator[tuple[str, Loops, tuple[ir.Function, ...]]]:
    """``"gradient"``, if the program of the corpus has one, and ``"value"``: the loops of each, and the functions that are lowered,
    optimised, and optimised for so many threads. Without what is refused, and what calls functions compiled beside it."""
    gradient = [("gradient", tp.grad(program.fn, argnums=program.wrt))] if program.wrt else []
    for kind, target in [*gradient, ("value", program.fn)]:
        try:
            loops = Loops(target, program.args())
        except TranspileError:
            continue
        if not reached(loops.core):
            low = loops.lowered
            yield kind, loops, (low, optimise(low), optimise(low, threads=threads, least=1.0))


class Loops:
    """One function for arguments of one type, as loops. ``target`` may be a transformed function."""

    def __init__(self, target: Any, args: tuple[Any, ...]) -> None:
        self.target = target if jit_level(target) is not None else tp.jit(target)
        self.args = copied(args)
        self.request = Request.of(args, {})
        self.request.make_static(self.target)
        self.core = lift(self.request, self.target)
        self.slots = leaf_slots(self.core, self.request)
        self.places = [Place.of(c) for c in self.core.captured]
        self.functions: dict[str, ir.Function] = {}
        self.made: dict[str, Callable[..., Any]] = {}
        arrays = [k for k, p in enumerate(self.core.params) if p.type.dims]
        self.pairs = [(k, j) for k, p in enumerate(self.core.params) if p.buffer for j in arrays if j != k]

    # ---- text

    @cached_property
    def lowered(self) -> ir.Function:
        return eliminate_checks(lower(in_single_precision(self.core)))

    @property
    def sizes(self) -> tuple[Any, ...]:
        return assumed(
            [np.shape(v) if p.type.dims else None for v, p in zip(self.values(self.request.leaves), self.core.params)]
        )

    def function(self, stage: str) -> ir.Function:
        """The scalar core at a stage."""
        if stage not in self.functions:
            if stage == "lowered":
                self.functions[stage] = self.lowered
            else:
                with checked_passes():
                    sizes = self.sizes if stage == "assumed" else ()
                    threads = THREADS * (stage == "parallel")
                    fn = optimise(self.lowered, sizes, threads, least=1.0)
                    self.functions[stage] = turned(fn) if stage == "parallel" else fn
        return self.functions[stage]

    def text(self, stage: str) -> str:
        return module_text(self.function(stage))

    def callable(self, stage: str) -> Callable[..., Any]:
        if stage not in self.made:
            self.made[stage] = made_of(self.function(stage), stage)
        return self.made[stage]

    # ---- calls

    def values(self, leaves: Sequence[Any]) -> list[Any]:
        """The value of each parameter."""
        return [*(leaves[k] for k in self.slots), *(p.read() for p in self.places)]

    def is_for(self, args: tuple[Any, ...]) -> bool:
        """Whether a call with these arguments runs this code: their types, the sizes that are 1, and constants that were
        compiled in."""
        other = Request.of(args, {})
        if len(other.leaves) != len(self.request.leaves) or str(other.args) != str(self.request.args):
            return False
        if not self.core.taken.holds([np.shape(v) for v in other.leaves], [np.shape(p.read()) for p in self.places]):
            return False
        return all(
            type(a) is type(b)
            and np.result_type(a) == np.result_type(b)
            and np.ndim(a) == np.ndim(b)
            and [n == 1 for n in np.shape(a)] == [n == 1 for n in np.shape(b)]
            and (k not in self.request.known or a == b)
            for k, (a, b) in enumerate(zip(self.request.leaves, other.leaves))
        )

    def run(self, stage: str, args: tuple[Any, ...]) -> Outcome:
        """The outcome of a call; of the "optimised" code if an assumption about sizes does not hold."""
        found = outcome(lambda *copies: self.call(stage, copies), args)
        return self.run("optimised", args) if isinstance(found.error, OtherSizes) else found

    def call(self, stage: str, args: tuple[Any, ...]) -> Any:
        leaves = flatten(args)[0]
        values = self.values(leaves)
        arrays = [np.ndarray] * len(values)
        if overlap([v for v in values if True], self.pairs):
            return self.plain(*args)
        passed, back = [], []
        for p, v, _ in zip(self.core.params, values, arrays):
            if not p.type.dims:
                passed.append(np.dtype(p.type.dtype).type(np.asarray(v)[()]))
                continue
            if p.buffer and not v.flags.writeable:
                raise ValueError("assignment destination is read-only")
            data = np.array(v, order="C")
            passed.append(loop_memory.given(data, p.buffer))
            back += [(v, data)] if p.buffer else []
        try:
            out = self.callable(stage)(*passed)
        finally:
            for v, data in back:
                v[...] = data
        count = len(self.core.body.yields)
        results = [loop_memory.taken(r) for r in ((out,) if count == 1 else out or ())]
        finish = assemble_flat(self.core.out_tree, converters(self.core.body.yields, self.core.out_tree))
        return finish(results[0] if count == 1 else tuple(results))

    def plain(self, *args: Any) -> Any:
        """The call of the user's function itself."""
        target = self.target
        while hasattr(target, "__transpile_level__"):
            target = target.__wrapped__
        return target(*args)
