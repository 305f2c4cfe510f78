"""Derivatives of solutions by the implicit function theorem (`transpile.lax.custom_root`, `custom_linear_solve`): plain Python,
lifted.

``f(params, x)`` is the user's function, with its captured values as an argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transpile import tree
from transpile.base.intrinsics import jvp, vjp

Function = Callable[..., Any]


def root_tangent(f: Function, tangent_solve: Function, params: Any, x: Any, params_dot: Any) -> Any:
    """The tangent of a root ``x(p)`` of ``f(p, x(p)) = 0``: ``x_dot`` solves ``f_x x_dot = -f_p p_dot``. ``tangent_solve(g,
    y)`` returns the solution of ``g(x) = y`` for a linear ``g``."""
    _, y = jvp(lambda p: f(p, x), (params,), (params_dot,))
    return tree.map(np.negative, tangent_solve(lambda v: jvp(lambda z: f(params, z), (x,), (v,))[1], y))


def transposed_solution(matvec: Function, solve: Function, x_bar: Any) -> Any:
    """The solution ``b_bar`` of ``A^T b_bar = x_bar``, where ``matvec`` is the product with A, by ``solve(product with A^T,
    x_bar)``; ``matvec`` is linear, so it may be differentiated at any point."""
    return solve(lambda v: vjp(matvec, x_bar)[1](v)[0], x_bar)


def transposed_by_entries(matvec: Function, solve: Function, x_bar: Any) -> Any:
    """As `transposed_solution`, if ``solve`` solves only with ``matvec`` itself and cannot be transposed: one solve for each
    unknown."""
    flat, unravel = tree.ravel_pytree(x_bar)
    b_bar = np.zeros_like(flat)
    for k in range(len(flat)):
        unit = np.zeros_like(flat)
        unit[k] = 1.0
        b_bar[k] = tree.ravel_pytree(solve(matvec, unravel(unit)))[0] @ flat
    return unravel(b_bar)
