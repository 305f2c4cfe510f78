"""What LLVM is told of a loop."""

from __future__ import annotations

from typing import Any

from transpile.core.nodes import Block, For, While
from transpile.core.walk import statements

SHORT = 10  # statements of a trip of which several are worth writing out


def once_a_trip(module: Any, back: Any, body: Block) -> None:
    """Says of the branch ``back`` to the head of a loop that trips whose number only the run knows are not written out, unless
    they are short.

    What LLVM makes vectors of is the same either way. Of the rest a trip waits for the one before, or is long; the copies would
    cost a fifth of the compiler's time.
    """
    inner = list(statements(body))
    if len(inner) <= SHORT and not any(isinstance(s, (For, While)) for s in inner):
        return
    from llvmlite.ir.values import MDValue

    hint = module.add_metadata(["llvm.loop.unroll.runtime.disable"])
    node = MDValue(module, (), name=str(len(module.metadata)))
    node.operands = (node, hint)  # its own first operand, so that it is no other loop's
    back.set_metadata("llvm.loop", node)
