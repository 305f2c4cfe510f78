"""Solutions of equations, differentiated by the implicit function theorem instead of through the solver's iterations.

Outside transformed functions `custom_root` and `custom_linear_solve` just call ``solve``. Transformed, they become calls with
custom derivatives (`transpile.frontend.calls.implicit_calls`); the rules are in `transpile.numpy_api.library_implicit`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transpile.lax import checks

Function = Callable[..., Any]


def custom_root(
    f: Function, initial_guess: Any, solve: Function, tangent_solve: Function, has_aux: bool = False
) -> Any:
    """``solve(f, initial_guess)``, a root of ``f``, differentiated by the implicit function theorem and not through ``solve``.

    ``f(x)`` has the structure of ``x``. The root is differentiated with respect to the variables that ``f`` reads from
    enclosing functions. ``tangent_solve(g, y)`` solves ``g(x) = y`` for a linear function ``g``, the derivative of ``f`` at the
    root; for numbers ``y / g(1.0)``. With ``has_aux``, ``solve`` returns a pair of the root and an auxiliary value without
    derivative. Raises `TranspileError` T131 for an argument that is not a function.

    >>> def cube_root(a):
    ...     def newton(f, x):
    ...         return while_loop(lambda x: abs(f(x)) > 1e-12, lambda x: x - f(x) / (3 * x * x), x)
    ...     return custom_root(lambda x: x**3 - a, 1.0, newton, lambda g, y: y / g(1.0))
    >>> from transpile import grad
    >>> from transpile.lax import while_loop
    >>> round(cube_root(8.0), 9), round(grad(cube_root)(8.0), 9)
    (2.0, 0.083333333)
    """
    checks.callables("custom_root", f=f, solve=solve, tangent_solve=tangent_solve)
    return checks.solution("custom_root", "f of custom_root", solve(f, initial_guess), initial_guess, has_aux, f)


def custom_linear_solve(
    matvec: Function,
    b: Any,
    solve: Function,
    transpose_solve: Function | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """``solve(matvec, b)``, the solution ``x`` of ``matvec(x) = b``, differentiated by solving again and not through ``solve``.

    ``matvec`` is linear and ``matvec(x)`` has the structure of ``x``. ``transpose_solve(vecmat, y)`` solves with the transpose,
    which reverse mode needs; if ``symmetric``, ``solve`` is used for it. Without either, reverse mode differentiates the
    operations of ``solve``; if these stop gradients, it solves once for each unknown. With ``has_aux`` both solvers return a
    pair of the solution and an auxiliary value without derivative. Raises `TranspileError` T131 for an argument that is not a
    function.

    >>> def solved(a, b):
    ...     return custom_linear_solve(lambda x: a * x, b, lambda matvec, b: b / matvec(1.0), symmetric=True)
    >>> from transpile import grad
    >>> solved(2.0, 3.0), grad(solved, (0, 1))(2.0, 3.0)
    (1.5, (-0.75, 0.5))
    """
    checks.callables("custom_linear_solve", matvec=matvec, solve=solve)
    if transpose_solve is not None:
        checks.callables("custom_linear_solve", transpose_solve=transpose_solve)
    wanted = "matvec of custom_linear_solve"
    solved = checks.solution("custom_linear_solve", wanted, solve(matvec, b), b, has_aux, matvec)
    return checks.same_side(solved, b, has_aux)
