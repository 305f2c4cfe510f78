"""Numbers, and the entries of arrays, that can be said when the function is transformed.

Literals, arrays from outside that were asked for, and what is computed from these alone:

    order = np.array([2, 0, 1])
    x.transpose(order[::-1])          the axes are known
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.evaluate import evaluate
from transpile.frontend.lifter import Lifter
from transpile.ops.run_spelling import run

MOST = 1000  # statements that are run


def learn(lx: Lifter, op: ir.Operand) -> bool:
    """Whether the entries of an array, or what is one of them, are known: `Lifter.known_arrays` has them then."""
    if op in lx.known_arrays:
        return True
    if not isinstance(op, ir.Var):
        return False
    found = _value(lx, op, lx.known_arrays)
    if found is None:
        return False
    lx.known_arrays[op] = np.asarray(found)
    return True


def example(lx: Lifter, op: ir.Operand) -> Any:
    """The value that an operand has for these arguments and for what stands outside now, or None."""
    outside = {var: found.example for var, found in lx.captures.items() if getattr(found, "example", None) is not None}
    return _value(lx, op, {**outside, **lx.examples, **lx.known_arrays})


def _value(lx: Lifter, op: ir.Operand, known: Mapping[ir.Var, Any]) -> Any:
    """The value of an operand, or None: what it is computed from is run, if that rests on what is known alone."""
    lets = {s.var: s for block in (*lx.open_blocks, lx.b.block) for s in block.stmts if isinstance(s, ir.Let)}
    given: dict[ir.Var, Any] = {}
    needed: set[ir.Var] = set()
    stack: list[ir.Operand] = [op]
    while stack:
        here = stack.pop()
        if isinstance(here, ir.Const) or here in given or here in needed:
            continue
        if isinstance(here, ir.Undef):
            return None
        form = lx.b.form_of(here)
        if here in known:
            given[here] = known[here]
        elif form is not None and form.is_const:
            given[here] = form.const
        elif here in lets and (op.type.is_float or not here.type.is_float) and len(needed) < MOST:
            needed.add(here)
            stack += lets[here].args
        else:
            return None
    return _run(tuple(given), [s for var, s in lets.items() if var in needed], op, list(given.values()))


def _run(params: tuple[ir.Var, ...], stmts: list[ir.Stmt], op: ir.Operand, values: list[Any]) -> Any:
    fn = ir.Function("known", params, ir.Block(stmts=stmts, yields=(op,)), {})
    try:
        return evaluate(fn, [np.asarray(v).astype(p.type.dtype)[()] for p, v in zip(params, values)], run)[0]
    except Exception:  # whatever is wrong with it, the run says
        return None
