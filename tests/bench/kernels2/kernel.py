"""A kernel of the suite, and how its JAX peer is found.

A module `subject.py` holds the functions as a NumPy user writes them, for each a function from sizes to its arguments, and
`KERNELS`; `subject_jax.py` holds the functions of a JAX user under the same names. It is imported only for that peer.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.problem import Problem


@dataclass(frozen=True, eq=False)
class Kernel:
    """A function that returns the sum of its outputs, with its arguments by size; all float arguments are differentiated.

    `tiny` and `medium` are arguments of `args`: for tests, and for measurements of 1 to 50 ms.
    """

    fn: Callable
    args: Callable[..., tuple]
    tiny: tuple[int, ...]
    medium: tuple[int, ...]
    numba_ok: bool = True  # plain Numba compiles the function unchanged
    refused: Mapping[str, str] = field(default_factory=dict)  # peer -> why it has none

    @property
    def name(self) -> str:
        return self.fn.__name__

    @property
    def wrt(self) -> tuple[int, ...]:
        """The positions of floats and of float arrays."""
        kinds = [
            getattr(getattr(a, "dtype", None), "kind", "f" if isinstance(a, float) else "i") for a in self.tiny_args()
        ]
        return tuple(k for k, kind in enumerate(kinds) if kind == "f")

    def tiny_args(self) -> tuple:
        return self.args(*self.tiny)

    def jax(self) -> Callable:
        """Value and gradient by JAX, compiled for the values of the Python integers among the arguments."""
        jax, peer, static = self.peer()
        return jax.jit(jax.value_and_grad(peer, argnums=self.wrt), static_argnums=static)

    def jax_function(self) -> Callable:
        """The value alone, compiled in the same way."""
        jax, peer, static = self.peer()
        return jax.jit(peer, static_argnums=static)

    def peer(self) -> tuple[Any, Callable, tuple[int, ...]]:
        """The module JAX, the peer's function, and the positions of Python integers."""
        import jax

        jax.config.update("jax_enable_x64", True)
        peer = getattr(importlib.import_module(self.fn.__module__ + "_jax"), self.name)
        return jax, peer, tuple(k for k, a in enumerate(self.tiny_args()) if isinstance(a, int))

    def problem(self) -> Problem:
        """The kernel at its medium size."""
        return Problem(
            name=self.name,
            suite="kernels",
            size="medium",
            fn=self.fn,
            args=lambda: self.args(*self.medium),
            wrt=self.wrt,
            jax=None if "jax" in self.refused else self.jax,
            numba_ok=self.numba_ok,
            refused=self.refused,
            jax_function=self.jax_function,
        )


def kernels_of(*modules: Any) -> tuple[Kernel, ...]:
    """The kernels of these modules, in their order."""
    return tuple(kernel for module in modules for kernel in module.KERNELS)
