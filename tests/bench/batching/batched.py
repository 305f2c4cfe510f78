"""A row of the suite: the transformed function, compiled and interpreted, and the peers' versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import transpile as tp
from bench.problem import Problem

SUITE = "batching"
NO_CONTROL = "control flow that depends on data, under torch.func.vmap"


def batched(
    name: str,
    fn: Callable,
    transform: Callable[[Callable], Callable],
    args: Callable[[], tuple],
    jax: Callable[[], Callable],
    torch: Callable[[], Callable] | None = None,
    wanted: str = "values of all lanes",
    interpreted: bool = True,
    refused: Mapping[str, str] | None = None,
    size: str = "medium",
) -> Problem:
    """The problem in which ``transform`` is applied to ``fn``, the function of a lane. Without ``interpreted`` the text is not
    run: its loops would take Python minutes."""
    return Problem(
        name,
        SUITE,
        size,
        fn,
        args,
        (0,),
        wanted=wanted,
        ours=lambda: tp.jit(transform(fn), cache=False),
        jax=jax,
        torch=torch,
        interpreted=(lambda: transform(fn)) if interpreted else None,
        numba_ok=False,
        refused=refused or {},
    )
