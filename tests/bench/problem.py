"""A problem of the benchmark: one function at one size, and how each peer computes the same.

A suite is a package with `PROBLEMS: tuple[Problem, ...]` (`bench.problems`, `bench.kernels2`, `bench.batching`). Peers are
made when they are measured, never at import: `jax`, `torch` and `c` are functions without arguments that import what they
need and return a callable of the arguments of `fn`, all of them in the order of `args()`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

SUITES = ("problems", "kernels", "batching")
SIZES = ("small", "medium", "large")


@dataclass(frozen=True)
class Problem:
    """A function, its arguments, and the peers that compute its value and derivative.

    All peers return the pair (value, derivative), so that all do the same work: the derivative with respect to the arguments at
    `wrt`, a tuple if `wrt` has several positions or is a tuple of one such as `(0,)` (a tuple of one and its item count as
    equal). Arguments are NumPy arrays (float64, or integers), Python numbers, or trees of them. The runner passes NumPy's
    arrays to us, to Numba and to `c`; to `jax` their `jnp.asarray` (Python numbers stay Python numbers), to `torch` their
    `torch.from_numpy`. A peer may return arrays of its own kind: the runner converts them, and compares them with the others'
    before timing. `fn` may write into its arguments only where plain NumPy code would; derivatives never do.
    """

    name: str  # "gmm", "jacobi_2d"
    suite: str  # one of SUITES
    size: str  # one of SIZES
    fn: Callable  # natural NumPy or loops, as a user writes it; a scalar result, or a vector for Jacobians
    args: Callable[[], tuple]  # fresh arguments, float64
    wrt: tuple[int, ...]  # differentiated positions
    wanted: str = "gradient"  # the derivative to compute: "gradient", "jacobian", "hessian_diagonal", "vmap(grad)"
    ours: Callable | None = None  # () -> callable of the arguments; None: jit(value_and_grad(fn, argnums=wrt))
    jax: Callable | None = None  # () -> callable of the arguments as JAX arrays giving (value, derivative), jitted
    torch: Callable | None = None  # the same for PyTorch tensors on the CPU
    c: Callable | None = None  # the same for NumPy arrays: a hand-written C adjoint, compiled when it is measured
    numba_ok: bool = True  # whether plain Numba can compile `fn` as it is (for the function's own time)
    refused: Mapping[str, str] = field(default_factory=dict)  # peer -> why there is none: {"jax": "dynamic trip count"}
    jax_function: Callable | None = None  # () -> callable of the arguments as JAX arrays giving the value alone, jitted
    interpreted: Callable | None = None  # () -> callable of the arguments: the text that `ours` compiles, interpreted

    @property
    def key(self) -> str:
        """The key under which results are stored."""
        return f"{self.suite}/{self.name}/{self.size}"
