"""What LLVM is told of a loop."""

from __future__ import annotations

from typing import Any

from transpile.core import nodes
from transpile.core.walk import statements
from transpile.loops.short_vectors import reads_along_rows

SHORT = 10  # statements of a trip of which several are worth writing out
FEW = 16  # trips, and LLVM takes a loop for one of few
LARGE = 500  # statements of a function of which less code is made, so that a first call does not take long


def group_of_accesses(module: Any) -> Any:
    """A name for what a loop does to memory; no two are the same."""
    from llvmlite.ir.values import MDValue

    class Group(MDValue):
        def descr(self, buf: list[str]) -> None:
            buf += ("distinct !{ }", "\n")

        __eq__, __hash__ = object.__eq__, object.__hash__

    return Group(module, (), name=str(len(module.metadata)))


def describe(
    module: Any,
    back: Any,
    loop: nodes.For | nodes.While,
    group: Any = None,
    lanes: int | None = None,
    single: bool = False,
) -> None:
    """Says of the branch ``back`` to the head of a loop what LLVM may do with the loop.

    Trips whose number only the run knows are not written out, unless they are short. What LLVM makes vectors of is the same either
    way; of the rest a trip waits for the one before, or is long, and the copies would cost a fifth of the compiler's time.

    The accesses of the ``group`` do not meet in different trips (`transpile.loops.independent_iterations`). If there are
    ``lanes``, the trips are those of one vector (`transpile.loops.short_vectors`); with one lane no vectors are made.
    A ``single`` vector is made of trips at a time, not several of them.
    """
    if lanes is None or isinstance(loop, nodes.While):
        hints = _usual(module, loop.body, single)
    else:
        hints = _vector(module, lanes, group is not None and reads_along_rows(loop))
    if group is not None:
        hints.append(_hint(module, "parallel_accesses", group))
    if not hints:
        return
    from llvmlite.ir.values import MDValue

    node = MDValue(module, (), name=str(len(module.metadata)))
    node.operands = (node, *hints)  # its own first operand, so that it is no other loop's
    back.set_metadata("llvm.loop", node)


def _is_short(body: nodes.Block) -> bool:
    inner = list(statements(body))
    return len(inner) <= SHORT and not any(isinstance(s, (nodes.For, nodes.While)) for s in inner)


def _usual(module: Any, body: nodes.Block, single: bool) -> list[Any]:
    from llvmlite import ir

    hints = [] if _is_short(body) else [_hint(module, "unroll.runtime.disable")]
    return [*hints, _hint(module, "interleave.count", ir.IntType(32)(1))] if single else hints


def _vector(module: Any, lanes: int, is_known: bool) -> list[Any]:
    """All trips at once, or each alone; none of them written out.

    Of few trips LLVM makes no vector where it would have to ask, when they run, whether they meet in memory or how far apart their
    elements are. Had it been told how many are one, it would say so on the process's error stream. ``is_known``: it need not ask.
    """
    from llvmlite import ir

    if lanes == 1:
        return [_hint(module, "unroll.disable"), _hint(module, "vectorize.enable", ir.IntType(1)(0))]
    width = [_hint(module, "vectorize.width", ir.IntType(32)(lanes))] if is_known or lanes >= FEW else []
    return [_hint(module, "unroll.disable"), *width, _hint(module, "interleave.count", ir.IntType(32)(1))]


def _hint(module: Any, name: str, *values: Any) -> Any:
    return module.add_metadata([f"llvm.loop.{name}", *values])
