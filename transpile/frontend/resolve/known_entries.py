"""The entries of arrays of integers that can be said when the function is transformed.

Literals, arrays from outside that were asked for, and parts, casts and arrangements of these:

    order = np.array([2, 0, 1])
    x.transpose(order[::-1])          the axes are known
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.evaluate import subscript
from transpile.frontend.lifter import Lifter

Lets = dict[ir.Var, ir.Let]
NOTHING: Mapping[ir.Var, Any] = {}


def learn(lx: Lifter, op: ir.Operand) -> bool:
    """Whether the entries of an array, or what is one of them, are known: `Lifter.known_arrays` has them then."""
    if op in lx.known_arrays:
        return True
    if not isinstance(op, ir.Var) or not op.type.is_int:
        return False
    found = _value(lx, _lets(lx), op)
    if found is None:
        return False
    lx.known_arrays[op] = found
    return True


def example(lx: Lifter, op: ir.Operand) -> Any:
    """The value that an operand has for these arguments and for what stands outside now, or None."""
    outside = {var: found.example for var, found in lx.captures.items() if getattr(found, "example", None) is not None}
    return _value(lx, _lets(lx), op, {**outside, **lx.examples})


def _lets(lx: Lifter) -> Lets:
    return {s.var: s for block in (*lx.open_blocks, lx.b.block) for s in block.stmts if isinstance(s, ir.Let)}


def _value(lx: Lifter, lets: Lets, op: ir.Operand, outside: Mapping[ir.Var, Any] = NOTHING) -> Any:
    """The value of an operand, or None."""
    if isinstance(op, ir.Const):
        return np.asarray(op.value)
    if isinstance(op, ir.Undef):
        return None
    if op in lx.known_arrays or op in outside:
        return np.asarray(outside[op] if op in outside else lx.known_arrays[op])
    form = lx.b.form_of(op)
    if form is not None and form.is_const:
        return np.asarray(form.const)
    let = lets.get(op)
    rule = None if let is None else _RULES.get(let.prim)
    if let is None or rule is None:
        return None
    given = [_value(lx, lets, a, outside) for a in let.args]
    if any(v is None for v in given):
        return None
    try:
        return np.asarray(rule(let, given)).astype(op.type.dtype)
    except (IndexError, ValueError):
        return None  # the run says what is wrong with it


_RULES: dict[str, Callable[[ir.Let, list[Any]], Any]] = {
    "stack": lambda let, given: np.stack(given, let.params["axis"]),
    "index": lambda let, given: subscript(given[0], let.params["path"], given[1:]),
    "cast": lambda let, given: given[0],
    "copy": lambda let, given: given[0],
    "transpose": lambda let, given: np.transpose(given[0], let.params["axes"]),
}
