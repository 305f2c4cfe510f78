"""Functions, blocks and statements with what is nested in them replaced: the same ones where nothing is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from transpile.core.nodes import Block, For, Function, If, Stmt, While


def with_body(fn: Function, body: Block) -> Function:
    return fn if body is fn.body else replace(fn, body=body)


def with_stmts(block: Block, stmts: Sequence[Stmt]) -> Block:
    if len(stmts) == len(block.stmts) and all(a is b for a, b in zip(stmts, block.stmts)):
        return block
    return replace(block, stmts=list(stmts))


def with_blocks(stmt: Stmt, f: Callable[[Block], Block]) -> Stmt:
    match stmt:
        case If():
            then, orelse = f(stmt.then), f(stmt.orelse)
            return stmt if then is stmt.then and orelse is stmt.orelse else replace(stmt, then=then, orelse=orelse)
        case For():
            body = f(stmt.body)
            return stmt if body is stmt.body else replace(stmt, body=body)
        case While():
            test, body = f(stmt.test), f(stmt.body)
            return stmt if test is stmt.test and body is stmt.body else replace(stmt, test=test, body=body)
    return stmt
