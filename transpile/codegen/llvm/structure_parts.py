"""Folds the extraction of a member from a structure that was built here: no instruction is written for it.

    s.1 = insertvalue undef, %data, 0
    s.2 = insertvalue s.1, %size, 1           ->      %size
    x = extractvalue s.2, 1

Numba passes arrays as structures, and a function takes each apart. LLVM would fold this too, but at a higher cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any


def new_builder(block: Any) -> Any:
    """An llvmlite ``IRBuilder`` at the end of ``block``, whose ``extract_value`` looks through ``insertvalue`` instructions.

    It emits no instruction if the member is a value that was inserted: the result is that value.
    """
    return _kind()(block)


@lru_cache(maxsize=1)
def _kind() -> type:
    from llvmlite import ir

    class Builder(ir.IRBuilder):
        def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
            agg, path = within(agg, list(idx) if isinstance(idx, (tuple, list)) else [idx])
            return super().extract_value(agg, path, name) if path else agg

    return Builder


def within(whole: Any, path: list[int]) -> tuple[Any, list[int]]:
    """The innermost value known to hold the member of the structure ``whole`` at ``path``, and the member's path in it.

    The path is empty if the value is the member itself.
    """
    from llvmlite.ir.instructions import InsertValue

    while path and isinstance(whole, InsertValue):
        at = list(whole.indices)
        if at == path[: len(at)]:
            whole, path = whole.value, path[len(at) :]
        elif path == at[: len(path)]:  # only a part of it was inserted
            break
        else:
            whole = whole.aggregate
    return whole, path


def remove_unread(function: Any) -> None:
    """Removes from a function, in place, the ``insertvalue`` instructions whose results are never read."""
    from llvmlite.ir.instructions import InsertValue, PhiInstr

    read: dict[int, int] = {}

    def count(operands: Sequence[Any], by: int) -> None:
        for op in operands:
            if isinstance(op, InsertValue):
                read[id(op)] = read.get(id(op), 0) + by

    for block in function.blocks:
        for one in block.instructions:
            count([v for v, _ in one.incomings] if isinstance(one, PhiInstr) else one.operands, 1)
    for block in function.blocks:
        kept = []
        for one in reversed(block.instructions):
            if isinstance(one, InsertValue) and not read.get(id(one)):
                count(one.operands, -1)
            else:
                kept.append(one)
        block.instructions[:] = kept[::-1]
