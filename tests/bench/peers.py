"""The peers that compute a problem: each is a call without arguments that returns when its result is ready."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from differences import copied

import transpile as tp
from bench.problem import Problem

GRADIENTS = ("ours", "jax", "torch", "c")  # each computes the value and the wanted derivative
FUNCTIONS = ("function", "numba", "jax function")  # the value alone: our compiled one, plain Numba's, JAX's
INTERPRETED = ("interpreted",)  # ours, not compiled
RIVALS = ("jax", "torch")  # ours is compared with the best of these


def taking_part(problem: Problem) -> tuple[str, ...]:
    """The peers for a problem. Batched problems have no C version, and the time of a single lane is not measured."""
    if problem.suite != "batching":
        return GRADIENTS + FUNCTIONS
    return ("ours", *RIVALS, *(INTERPRETED if problem.interpreted is not None else ()))


class Missing(Exception):
    """A peer does not take part; the text says why."""


def call_of(peer: str, problem: Problem) -> Callable[[], Any]:
    """A call that computes the problem, compiled by its first call. Raises `Missing` if the peer has none."""
    if peer in problem.refused:
        raise Missing(problem.refused[peer])
    return MAKERS[peer](problem)


def _ours(problem: Problem) -> Callable[[], Any]:
    if problem.ours is not None:
        compute = problem.ours()
    else:
        compute = tp.jit(tp.value_and_grad(problem.fn, argnums=problem.wrt), cache=False)
    args = problem.args()
    return lambda: compute(*args)


def _function(problem: Problem) -> Callable[[], Any]:
    compute, args = tp.jit(problem.fn, cache=False), problem.args()
    return lambda: compute(*args)


def _interpreted(problem: Problem) -> Callable[[], Any]:
    if problem.interpreted is None:
        raise Missing("not run")
    compute, args = problem.interpreted(), problem.args()
    return lambda: compute(*args)


def _numba(problem: Problem) -> Callable[[], Any]:
    if not problem.numba_ok:
        raise Missing("not Numba's language")
    compute, args = plain_numba(problem.fn), problem.args()
    return lambda: compute(*args)


def _c(problem: Problem) -> Callable[[], Any]:
    if problem.c is None:
        raise Missing("not written")
    compute, args = problem.c(), problem.args()
    return lambda: compute(*args)


def _jax(problem: Problem, factory: Callable | None) -> Callable[[], Any]:
    if factory is None:
        raise Missing("not written")
    try:
        import jax
    except ImportError:
        raise Missing("JAX is not installed") from None
    compute, args = factory(), converted(problem.args(), jax.numpy.asarray)
    return lambda: jax.block_until_ready(compute(*args))


def _torch(problem: Problem) -> Callable[[], Any]:
    if problem.torch is None:
        raise Missing("not written")
    try:
        import torch
    except ImportError:
        raise Missing("PyTorch is not installed") from None
    torch.set_num_threads(1)
    compute, args = problem.torch(), converted(problem.args(), torch.from_numpy)
    return lambda: compute(*args)


MAKERS: Mapping[str, Callable[[Problem], Callable[[], Any]]] = {
    "ours": _ours,
    "jax": lambda problem: _jax(problem, problem.jax),
    "torch": _torch,
    "c": _c,
    "function": _function,
    "interpreted": _interpreted,
    "numba": _numba,
    "jax function": lambda problem: _jax(problem, problem.jax_function),
}


def converted(tree: Any, convert: Callable[[np.ndarray], Any]) -> Any:
    """The arguments with each NumPy array converted; numbers stay Python numbers."""
    if isinstance(tree, np.ndarray):
        return convert(copied(tree))
    if isinstance(tree, dict):
        return {key: converted(value, convert) for key, value in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(converted(value, convert) for value in tree))
    if isinstance(tree, (tuple, list)):
        return type(tree)(converted(value, convert) for value in tree)
    return tree


def plain_numba(fn: Callable) -> Callable:
    """The function under ``numba.njit``, together with the Python functions that it calls."""
    import numba

    names = {
        name: plain_numba(value)
        for name, value in fn.__globals__.items()
        if name in fn.__code__.co_names and isinstance(value, types.FunctionType) and value is not fn
    }
    return numba.njit(error_model="numpy")(types.FunctionType(fn.__code__, {**fn.__globals__, **names}, fn.__name__))


def warm_up() -> None:
    """Compiles something small with each compiler, so that the first problem does not pay for one-time costs of a process, such
    as imports."""
    lanes = np.ones((3, 2))
    tp.jit(tp.value_and_grad(_square), cache=False)(lanes[0])
    tp.jit(tp.vmap(tp.grad(_square)), cache=False)(lanes)
    try:
        import jax
    except ImportError:
        return

    def square(x: Any) -> Any:
        return jax.numpy.sum(x * x)

    jax.jit(jax.value_and_grad(square))(lanes[0]).__class__
    jax.jit(jax.vmap(jax.grad(square)))(lanes).block_until_ready()


def _square(x):
    return np.sum(x * x)
