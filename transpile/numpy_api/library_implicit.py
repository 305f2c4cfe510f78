"""Derivatives of solutions by the implicit function theorem (`transpile.lax.custom_root`, `custom_linear_solve`): plain Python,
lifted. ``f(params, x)`` is the user's function with all that it reads around it as an argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transpile import tree
from transpile.base.intrinsics import jvp, vjp

Function = Callable[..., Any]


def root_tangent(f: Function, tangent_solve: Function, params: Any, x: Any, params_dot: Any) -> Any:
    """``f(p, x(p)) = 0``: ``x_dot`` solves ``f_x x_dot = -f_p p_dot``."""
    _, y = jvp(lambda p: f(p, x), (params,), (params_dot,))
    return tree.map(np.negative, tangent_solve(lambda v: jvp(lambda z: f(params, z), (x,), (v,))[1], y))


def solution_tangent(matvec: Function, again: Function, params: Any, x: Any, params_dot: Any, b_dot: Any) -> Any:
    """``A(p) x = b``: ``x_dot`` solves ``A x_dot = b_dot - A_p p_dot x``."""
    if len(params) > 0:
        _, y = jvp(lambda p: matvec(p, x), (params,), (params_dot,))
        b_dot = tree.map(np.subtract, b_dot, y)
    return again(lambda v: matvec(params, v), b_dot)


def solution_pullback(matvec: Function, again: Function, symmetric: bool, params: Any, x: Any, x_bar: Any) -> Any:
    """``A(p) x = b``: ``b_bar`` solves ``A^T b_bar = x_bar``, and ``p_bar = -(A_p x)^T b_bar``."""
    if symmetric:
        b_bar = again(lambda v: matvec(params, v), x_bar)
    else:
        b_bar = again(lambda v: vjp(lambda z: matvec(params, z), x)[1](v)[0], x_bar)
    if len(params) == 0:
        return (), b_bar
    (params_bar,) = vjp(lambda p: matvec(p, x), params)[1](b_bar)
    return tree.map(np.negative, params_bar), b_bar
