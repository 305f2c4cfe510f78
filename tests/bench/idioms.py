"""The peers' usual way to a value and its gradient, for problems that need nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def jax_gradient(fn: Callable, wrt: tuple[int, ...], static: tuple[int, ...] = ()) -> Callable:
    """``jax.jit(jax.value_and_grad(fn))``; ``static`` are the positions of arguments that decide shapes and trip counts."""
    import jax

    return jax.jit(jax.value_and_grad(fn, argnums=wrt), static_argnums=static)


def torch_gradient(fn: Callable, wrt: tuple[int, ...]) -> Callable:
    """Eager PyTorch: the call records a graph, and one backward pass follows."""
    import torch

    def value_and_gradient(*args: Any) -> tuple[Any, Any]:
        args = tuple(a.detach().requires_grad_() if k in wrt else a for k, a in enumerate(args))
        value = fn(*args)
        return value.detach(), torch.autograd.grad(value, [args[k] for k in wrt])

    return value_and_gradient
