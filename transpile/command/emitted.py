"""The text of the module that a command emits."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from transpile.aggregates import number_leaves
from transpile.base.levels import jit_level
from transpile.base.matching import leaf_sources
from transpile.codegen.numba.standalone import copied
from transpile.codegen.numpy import render_module
from transpile.command import asked, destination, stack
from transpile.driver.backend import modules_text
from transpile.driver.pipeline import core_of
from transpile.errors import TranspileError, error
from transpile.frontend.resolve.static_rules import with_rule
from transpile.frontend.restarts import NeedStatic
from transpile.frontend.values import changes
from transpile.transform.program_functions import apart, renamed


def emit(options: argparse.Namespace) -> tuple[str, list[str]]:
    """``(text, files)``: the text of the module that the command line asks for, and the paths of the source files that were
    read."""
    found, wrt, module = asked.functions(options.function, options.arg, getattr(options, "wrt", None))
    if options.output not in (None, "-"):
        destination.check(options.output, module.program, options.force)  # also before the work is done
    cores: list[tuple[Any, set[int]]] = []
    for one in found:
        if options.command == "emit":
            levels = stack.levels(options.stack, [one.name])
        else:
            levels = stack.of_command(options, one.argnums(wrt))
        target = stack.stacked(levels, with_rule(one.function))
        core, written = lifted(one, target, *stack.arguments(levels, one), options.jit)
        if core.name in [c.name for c, _ in cores]:
            own = one.function.__name__
            core = renamed(core, f"{one.name.replace('.', '_')}{core.name.removeprefix(own)}")
        cores.append((core, written))
    cores = list(zip(apart([core for core, _ in cores]), [written for _, written in cores]))
    level = jit_level(stack.stacked(levels, None))
    if options.jit or level is not None:
        return modules_text(cores, options.standalone, level), list(module.program)
    return printed([core for core, _ in cores], options.standalone), list(module.program)


def lifted(
    one: asked.Asked, target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], is_compiled: bool
) -> tuple[Any, set[int]]:
    """The core function of the stack ``target``, and the indices of the parameters that it writes; T210 if lifting needs the
    value of an argument."""
    try:
        with changes.recorded() as found:
            core = core_of(target, args, kwargs, is_compiled)
    except NeedStatic as needed:
        raise _unknown_value(one, needed) from None
    trees, leaves = number_leaves([*args, *kwargs.values()])
    sources = leaf_sources(core.arg_tree, trees[: len(args)], dict(zip(kwargs, trees[len(args) :])))
    return core, {k for k, leaf in sources.items() if id(leaves[leaf]) in found.written}


def _unknown_value(request: asked.Asked, needed: NeedStatic) -> TranspileError:
    """The T210 error, for the caller to raise, that says how the value is given on the command line."""
    name, before = "NAME", 0
    for one, tree in zip(request.names, [*request.args, *request.kwargs.values()]):
        many = len(number_leaves([tree])[1])
        if before <= needed.leaf < before + many:
            name = one
        before += many
    why = needed.why or error("T210", "the value of an argument must be known before the function runs")
    hint = f"give its value with --arg '{name}={0 if 'axis' in name else 2}'"
    return TranspileError([replace(d, hint=hint) for d in why.diagnostics])


def printed(cores: Sequence[Any], standalone: bool) -> str:
    """The text of the module as NumPy code; ``standalone``: it includes what it calls of the runtime (T901 if that is not
    possible)."""
    try:
        rendered = render_module(cores, runtime=not standalone)
    except ValueError as failed:
        hint = "leave --standalone out, and install the package with the emitted file"
        raise error("T901", f"--standalone: {failed}", cores[0].loc, hint) from None
    if standalone:
        return copied(rendered, cores[0])
    return rendered.text
