"""What a row of the suite has: the transformed function, compiled and run as text, and the peers'."""

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
    """``transform`` makes of ``fn``, the function of a lane, what is computed. Without ``interpreted`` the text is not run: it has
    loops that take Python minutes."""
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
