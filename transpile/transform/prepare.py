"""Preparation that all derivatives share: written arguments are copied, values that calls keep for the user's pullbacks are
computed by ordinary statements, refusals name the user's line."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, NoReturn

from transpile.core import nodes as ir
from transpile.core.rebuild import own_arguments, with_blocks, with_body, with_stmts
from transpile.core.types import INT
from transpile.errors import error
from transpile.ops.record import UNWRITTEN
from transpile.ops.run_spelling import spelling
from transpile.ops.tables import record_of
from transpile.simplify.expansion import expanded
from transpile.transform.custom_rules import with_kept_apart, without_again
from transpile.transform.squares import with_smooth_squares

_PLAIN = ("copy", "full", "empty")


def own_memory(fn: ir.Function) -> ir.Function:
    """The function in the form that the transforms expect: arguments that it writes are copied first, each size of a parameter
    has a variable, and every buffer begins as a copy, as one number everywhere, or empty.

    The reverse sweep may read the initial content after it has been overwritten. Primitives that have an expansion are expanded
    too.
    """
    fn = with_kept_apart(with_smooth_squares(without_again(own_arguments(expanded(fn)))))
    symbols = dict(fn.symbols)
    sizes: list[ir.Stmt] = []
    for param in fn.params:
        for axis, dim in enumerate(param.type.dims):
            name = dim.as_symbol
            if name is not None and name not in symbols:
                size = ir.Var(name, INT)
                sizes.append(ir.Let(size, "dim", (param,), {"axis": axis}, fn.loc))
                symbols[name] = size
    body = _plain_block(fn.body)
    if body is fn.body and not sizes:
        return fn
    return replace(fn, body=replace(body, stmts=[*sizes, *body.stmts]), symbols=symbols)


def _plain_block(block: ir.Block) -> ir.Block:
    """The block in which each buffer that begins with a computed value begins with a copy of that value instead."""
    stmts: list[ir.Stmt] = []
    for stmt in block.stmts:
        match stmt:
            case ir.Alloc() if stmt.prim not in _PLAIN:
                value = ir.Var(ir.SYNTHETIC, stmt.var.type)
                stmts.append(ir.Let(value, stmt.prim, stmt.args, stmt.params, stmt.loc))
                stmts.append(replace(stmt, prim="copy", args=(value,), params={}))
            case _:
                stmts.append(with_blocks(stmt, _plain_block))
    return with_stmts(block, stmts)


def with_items(fn: ir.Function) -> ir.Function:
    """The function in which each result of a primitive with several results has its own variable, by an ``item`` statement, so
    that each can be recorded."""
    return with_body(fn, _with_items(fn.body))


def _with_items(block: ir.Block) -> ir.Block:
    """The block with an ``item`` statement for each result that has none, after the primitive with several results, also in
    nested blocks."""
    stmts: list[ir.Stmt] = []
    taken = {(s.args[0], s.params["k"]) for s in block.stmts if isinstance(s, ir.Let) and s.prim == "item"}
    for stmt in block.stmts:
        stmts.append(with_blocks(stmt, _with_items))
        if isinstance(stmt, ir.Let) and stmt.var.type.kind == "tuple":
            for k, type_ in enumerate(stmt.var.type.items):
                if (stmt.var, k) not in taken:
                    stmts.append(ir.Let(ir.Var(ir.SYNTHETIC, type_), "item", (stmt.var,), {"k": k}, stmt.loc))
    return with_stmts(block, stmts)


def count_trips(fn: ir.Function) -> ir.Function:
    """The function in which each while loop and each loop that may stop early returns its trip count in a variable
    (``trips``)."""
    return with_body(fn, _count_block(fn.body))


def _count_block(block: ir.Block) -> ir.Block:
    return with_stmts(block, [_count(s) for s in block.stmts])


def _count(stmt: ir.Stmt) -> ir.Stmt:
    stmt = with_blocks(stmt, _count_block)
    if isinstance(stmt, (ir.For, ir.While)) and stmt.trips is None:
        if isinstance(stmt, ir.While) or stmt.body.stop is not None:
            return replace(stmt, trips=ir.Var("trips", INT))
    return stmt


def refuse(stmt: ir.Let | ir.Alloc, why: Any, k: int = 0) -> NoReturn:
    """Raises T303 for a primitive that has no derivative (``why`` is REFUSED), or T304 for one whose rule for operand ``k``,
    counted from 0, is not written yet (UNWRITTEN)."""
    name = _called(stmt)
    if why is UNWRITTEN:
        nth = {0: "1st", 1: "2nd", 2: "3rd"}.get(k, f"{k + 1}th")
        of = f"the derivative of {name} with respect to its {nth} argument" if name else "this higher derivative"
        raise error("T304", f"{of} is not implemented yet", stmt.loc, _OWN_RULE)
    message, hint = record_of(stmt).why_refused
    message = message or f"{name or 'this operation'} has no derivative, and the result depends on it"
    raise error("T303", message, stmt.loc, hint or _OWN_RULE)


_OWN_RULE = "to take its argument as a constant, write tp.stop_gradient(...); to define a derivative, use tp.custom_jvp"


def _called(stmt: ir.Let | ir.Alloc) -> str:
    """The dotted name of the function of NumPy, SciPy or ``math`` that users call for the primitive, such as ``np.sin``; empty
    if there is none."""
    args = stmt.args if isinstance(stmt, ir.Let) else ()
    try:
        text = spelling(
            record_of(stmt).render, [f"x{k}" for k in range(len(args))], stmt.params, [a.type for a in args]
        )
    except (KeyError, TypeError, AttributeError):
        return ""
    name = text.partition("(")[0]
    return name if name.startswith(("np.", "scipy.", "math.")) else ""


def refuse_forward(stmt: ir.Call) -> NoReturn:
    """Raises T303 for forward mode through ``stmt``, a call of a function that has only a reverse rule."""
    message = f"'{stmt.custom.fn.name}' has a custom_vjp rule, which forward mode cannot use"
    hint = "write a custom_jvp rule, which both modes use; to check the rule, use check_grads with modes=('rev',)"
    raise error("T303", message, stmt.loc, hint)


def refuse_rule(stmt: ir.Call, active: Collection[ir.Operand]) -> None:
    """Raises the stored error if the rule of the called function was refused, T307 if the function reads a variable from an
    enclosing scope that is in ``active``; its rule does not cover that."""
    if stmt.custom.refusal is not None:
        raise stmt.custom.refusal
    given, name = stmt.custom.given, stmt.custom.fn.name
    if given is not None and any(a in active for a in stmt.args[given:]):
        message = f"{name!r} has a custom derivative, but reads a variable from outside that is differentiated"
        raise error("T307", message, stmt.loc, "pass the variable as an argument, or through tp.stop_gradient(...)")
