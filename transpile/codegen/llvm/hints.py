"""Hints to LLVM about loops."""

from __future__ import annotations

from typing import Any

from transpile.core import nodes
from transpile.core.walk import statements
from transpile.loops.short_vectors import reads_along_rows

SHORT = 10  # statements in the body of a loop that is worth unrolling
FEW = 16  # iterations; LLVM treats a loop with fewer as short
LARGE = 500  # statements of a function for which less code is generated, so that a first call is not slow


def group_of_accesses(module: Any) -> Any:
    """A new access group for the memory accesses of a loop, distinct from all others."""
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
    """Attaches metadata with optimisation hints to ``back``, the branch instruction to the head of a loop.

    A loop whose trip count is known only at run time is not unrolled, unless its body is short. This does not affect
    vectorisation; in other loops an iteration depends on the previous one, or is long, and copies of it would cost a fifth of
    the compile time.

    Accesses in the ``group`` do not overlap between iterations (`transpile.loops.independent_iterations`). With ``lanes``, the
    iterations form one vector (`transpile.loops.short_vectors`); with one lane the loop is not vectorised. With ``single``,
    iterations are processed one vector at a time, without interleaving.
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
    node.operands = (node, *hints)  # its own first operand, which makes it distinct from other loops' metadata
    back.set_metadata("llvm.loop", node)


def _is_short(body: nodes.Block) -> bool:
    """Whether the body has few statements and no loop."""
    inner = list(statements(body))
    return len(inner) <= SHORT and not any(isinstance(s, (nodes.For, nodes.While)) for s in inner)


def _usual(module: Any, body: nodes.Block, single: bool) -> list[Any]:
    """Hints for a loop that LLVM may vectorise as it likes: no unrolling unless the body is short; with ``single`` no
    interleaving."""
    from llvmlite import ir

    hints = [] if _is_short(body) else [_hint(module, "unroll.runtime.disable")]
    return [*hints, _hint(module, "interleave.count", ir.IntType(32)(1))] if single else hints


def _vector(module: Any, lanes: int, is_known: bool) -> list[Any]:
    """Hints for a loop whose iterations form one vector, or which is not vectorised (``lanes`` 1); the loop is never unrolled.

    LLVM does not vectorise a short loop that needs a run-time test for overlap or strides. If a vector width were requested,
    LLVM would report this on the process's error stream. ``is_known``: no such test is needed.
    """
    from llvmlite import ir

    if lanes == 1:
        return [_hint(module, "unroll.disable"), _hint(module, "vectorize.enable", ir.IntType(1)(0))]
    width = [_hint(module, "vectorize.width", ir.IntType(32)(lanes))] if is_known or lanes >= FEW else []
    return [_hint(module, "unroll.disable"), *width, _hint(module, "interleave.count", ir.IntType(32)(1))]


def _hint(module: Any, name: str, *values: Any) -> Any:
    """The metadata node of one hint, ``llvm.loop.<name>``."""
    return module.add_metadata([f"llvm.loop.{name}", *values])
