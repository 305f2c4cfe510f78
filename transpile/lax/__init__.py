"""Control flow as functions, slices with dynamic positions, running sums, collectives over lanes and implicit differentiation.

The names and signatures are those of ``jax.lax``. The functions are plain Python over NumPy and run as such outside transformed
functions, except for collectives, which need a `transpile.vmap`. In a transformed function they and the functions passed to
them are inlined: `scan` becomes a loop, `cond` a branch, and everything that holds for loops and branches holds for them.
Reverse mode works through `while_loop`, and through `fori_loop` with bounds that are known only at run time.

>>> import numpy as np
>>> fori_loop(0, 5, lambda i, total: total + i, 0)
10
"""

from typing import Any

from transpile.base.jax_names import missing as _missing
from transpile.lax.collectives import (
    all_gather,
    axis_index,
    axis_size,
    pmax,
    pmean,
    pmin,
    ppermute,
    psum,
    psum_scatter,
)
from transpile.lax.control import cond, fori_loop, select, stop_gradient, switch, while_loop
from transpile.lax.implicit import custom_linear_solve, custom_root
from transpile.lax.running_folds import cumlogsumexp, cummax, cummin, cumprod, cumsum
from transpile.lax.scans import associative_scan, map, scan
from transpile.lax.slices import (
    dynamic_index_in_dim,
    dynamic_slice,
    dynamic_slice_in_dim,
    dynamic_update_index_in_dim,
    dynamic_update_slice,
    dynamic_update_slice_in_dim,
    top_k,
)

__all__ = [
    "all_gather", "associative_scan", "axis_index", "axis_size", "cond", "cumlogsumexp", "cummax", "cummin", "cumprod",
    "cumsum", "custom_linear_solve", "custom_root",
    "dynamic_index_in_dim", "dynamic_slice", "dynamic_slice_in_dim", "dynamic_update_index_in_dim", "dynamic_update_slice",
    "dynamic_update_slice_in_dim", "fori_loop", "map", "pmax", "pmean", "pmin", "ppermute", "psum", "psum_scatter", "scan",
    "select", "stop_gradient", "switch", "top_k", "while_loop",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name)
