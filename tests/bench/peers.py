"""Who computes a problem: each peer is a call without arguments, blocked on until its result is there."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from differences import copied

import transpile as tp
from bench.problem import Problem

GRADIENTS = ("ours", "jax", "torch", "c")  # each computes the value and what is wanted
FUNCTIONS = ("function", "numba", "jax function")  # the value alone: our compiled one, plain Numba's, JAX's
INTERPRETED = ("interpreted",)  # what ours is, before it is compiled
RIVALS = ("jax", "torch")  # the best of these is what ours is measured against


def taking_part(problem: Problem) -> tuple[str, ...]:
    """Who is asked: where lanes are batched, nobody writes C, and what a lane takes alone says nothing."""
    if problem.suite != "batching":
        return GRADIENTS + FUNCTIONS
    return ("ours", *RIVALS, *(INTERPRETED if problem.interpreted is not None else ()))


class Missing(Exception):
    """This peer does not take part; the text says why."""


def call_of(peer: str, problem: Problem) -> Callable[[], Any]:
    """A call that computes the problem, compiled by its first call. Raises `Missing` where the peer has none."""
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
    """The function under ``numba.njit``, and with it the Python functions that it calls."""
    import numba

    names = {
        name: plain_numba(value)
        for name, value in fn.__globals__.items()
        if name in fn.__code__.co_names and isinstance(value, types.FunctionType) and value is not fn
    }
    return numba.njit(error_model="numpy")(types.FunctionType(fn.__code__, {**fn.__globals__, **names}, fn.__name__))


def warm_up() -> None:
    """Compiles something small with each compiler, so that the first problem does not pay for what a process does once: what is
    imported for a call of a library too."""
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
