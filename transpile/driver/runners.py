"""From the first call of a kind to its program, interpreted or compiled."""

from __future__ import annotations

from typing import Any

from transpile.base.levels import is_derivative, jit_level
from transpile.driver.interpreted import interpreted
from transpile.driver.lifted_request import lift, nesting
from transpile.driver.program import Program
from transpile.driver.request import Request


def runner(target: Any, request: Request) -> Program:
    """A new program that runs ``target`` on arguments like those of the request: interpreted, or compiled if a level is
    `jit`."""
    core = lift(request, target)
    level = jit_level(target)
    with nesting(target):
        if level is None:
            return interpreted(target, core, request, is_derivative(target))
        from transpile.driver.compiling import compiled

        return compiled(target, core, request, level)
