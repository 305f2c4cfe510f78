"""Runners: the first call of a kind becomes a program, interpreted or compiled."""

from __future__ import annotations

from typing import Any

from transpile.base.levels import is_derivative, jit_level
from transpile.driver.interpreted import interpreted
from transpile.driver.lifted_request import lift, nesting
from transpile.driver.program import Program
from transpile.driver.request import Request


def runner(target: Any, request: Request) -> Program:
    """What runs the function on the arguments of a call."""
    core = lift(request, target)
    level = jit_level(target)
    with nesting(target):
        if level is None:
            return interpreted(target, core, request, is_derivative(target))
        from transpile.driver.compiling import compiled

        return compiled(target, core, request, level)
