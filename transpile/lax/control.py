"""Branches and loops as functions: `cond`, `switch`, `while_loop`, `fori_loop`, `select`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transpile import tree
from transpile.base.intrinsics import stop_gradient as _constant
from transpile.lax import checks

_UNSET: Any = object()


def cond(pred: Any, true_fun: Any, false_fun: Any, *operands: Any, operand: Any = _UNSET) -> Any:
    """``true_fun(*operands)`` if ``pred`` is true, else ``false_fun(*operands)``; only the selected branch is computed.

    ``pred`` is one boolean or number (T211). Both results must have the same structure (T118), shapes and dtypes (T205): the
    branch that is not selected is checked without being run. The older forms ``cond(pred, true_operand, true_fun,
    false_operand, false_fun)`` and, for one operand, ``operand=`` are accepted too.

    >>> cond(3 > 2, lambda x: x + 1, lambda x: x - 1, 10)
    11
    >>> cond(3 < 2, 10, lambda x: x + 1, 20, lambda x: x - 1)
    19
    """
    if len(operands) == 2 and not callable(true_fun) and callable(false_fun) and callable(operands[1]):
        return checks.either(pred, false_fun, (true_fun,), operands[1], (operands[0],))
    if operand is not _UNSET:
        operands = (operand,)
    checks.functions(true_fun, false_fun)
    return checks.either(pred, true_fun, operands, false_fun, operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = _UNSET) -> Any:
    """``branches[index](*operands)``, with ``index`` clipped to the valid range; only the selected branch is computed.

    ``index`` is one integer, ``branches`` a sequence of functions (T131). All results must have the same structure (T118),
    shapes and dtypes (T205). ``operand=`` is an older form for one operand.

    >>> [switch(k, [lambda x: x, lambda x: 2 * x, lambda x: x**2], 5) for k in (-3, 0, 1, 2, 9)]
    [5, 5, 10, 25, 25]
    """
    if operand is not _UNSET:
        operands = (operand,)
    return checks.one_of(index, branches, operands)


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any) -> Any:
    """The last ``val`` of ``val = body_fun(val)``, repeated while ``cond_fun(val)`` is true, starting with ``init_val``.

    ``cond_fun(val)`` is one boolean (T211). The carried value keeps its structure (T119), shapes and dtypes (T206); a Python
    number may take another type. Forward and reverse mode are supported.

    >>> while_loop(lambda c: c[0] < 100, lambda c: (2 * c[0], c[1] + 1), (1, 0))
    (128, 7)
    """
    val = init_val
    while checks.one_truth("cond_fun of while_loop returns", cond_fun(val), "b"):
        val = checks.carried("while_loop", val, body_fun(val))
    return val


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any, *, unroll: Any = None) -> Any:
    """The last ``val`` of ``val = body_fun(i, val)``, for ``i`` in ``range(lower, upper)``, starting with ``init_val``.

    The bounds are integers (T131); their values may be known only at run time. The carried value keeps its structure (T119),
    shapes and dtypes (T206); a Python number may take another type. ``unroll``, a boolean or a nonnegative integer (T131),
    has no effect.

    >>> fori_loop(0, 4, lambda i, x: x * np.arange(1, 3), np.ones(2))
    array([ 1., 16.])
    """
    checks.integer("lower of fori_loop", lower)
    checks.integer("upper of fori_loop", upper)
    if unroll is not None:
        checks.unrolled("fori_loop", unroll)
    val = init_val
    for i in range(lower, upper):
        val = checks.carried("fori_loop", val, body_fun(i, val))
    return val


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """An array with the elements of ``on_true`` where ``pred`` is true, else of ``on_false``.

    ``on_true`` and ``on_false`` have the same shape (T203) and dtype (T201); ``pred`` has their shape or is one boolean.

    >>> select(np.array([True, False]), np.array([1.0, 2.0]), np.array([10.0, 20.0]))
    array([ 1., 20.])
    """
    checks.selected(pred, on_true, on_false)
    return np.where(pred, on_true, on_false)


def stop_gradient(x: Any) -> Any:
    """``x``, an array, a number or a tree of them, treated as a constant by every derivative.

    >>> stop_gradient({"a": 1.0})
    {'a': 1.0}
    """
    return tree.map(_constant, x)
