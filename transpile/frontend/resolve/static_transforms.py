"""Functions that a file which is not executed transforms: ``@partial(vmap, in_axes=(None, 0))``, ``loss_grad = grad(loss)``.

>>> from transpile.frontend.resolve.static import StaticModule
>>> text = "from transpile import grad, vmap\\n@vmap\\ndef f(x): return x\\ng = grad(f, argnums=0)\\n"
>>> StaticModule("<file>", text).scope.lookup("g").target
Grad of Vmap of f
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gast

from transpile.base import options
from transpile.base.levels import Stacked
from transpile.core import nodes as ir
from transpile.errors import TranspileError, error
from transpile.frontend.resolve import static_rules
from transpile.frontend.resolve.bindings import Binding, Known, User
from transpile.frontend.resolve.known import known_value
from transpile.frontend.resolve.literals import evaluate, not_literal
from transpile.frontend.resolve.static_file import StaticFile, StaticFunction

# Decorators and wrappers that leave what a function computes as it is.
TRANSPARENT = frozenset(
    "numba.njit numba.jit numba.core.decorators.njit numba.core.decorators.jit transpile.jit functools.lru_cache"
    " functools.cache builtins.staticmethod functools.wraps jaxtyping.jaxtyped typing.no_type_check typing.final"
    " typing.override typing_extensions.override typing.overload abc.abstractmethod".split()
)
NAMES = frozenset(f"transpile.{n}" for n in "grad value_and_grad jacfwd jacrev hessian vmap".split())


def decorated(function: StaticFunction) -> Any:
    """The function, with what its decorators make of it: a derivative of its own, transforms."""
    module, made = function.module, function.module.customs
    decorators = getattr(function.node, "decorator_list", [])
    opened = [static_rules.opened(module, d)[0] for d in decorators]
    at = next((k for k, name in enumerate(opened) if name in NAMES), None)
    if at is None or any(name not in TRANSPARENT for name in opened[:at]):
        return static_rules.ruled(function)
    key = f"{opened[at]} of {function.qualname} below {at}"
    if key not in made:
        node = copy.copy(function.node)
        node.decorator_list = decorators[at + 1 :]
        inner = decorated(replace(function, node=node))
        made[key] = _transformed(module, opened[at], inner, *_options(module, decorators[at]))
    return made[key]


def _options(module: StaticFile, decorator: gast.expr) -> tuple[list[gast.expr], list[gast.keyword]]:
    """The arguments beside the function: none of ``@vmap``, those of ``@vmap(in_axes=1)`` and ``@partial(vmap, in_axes=1)``."""
    return ([], decorator.keywords) if isinstance(decorator, gast.Call) else ([], [])


def assigned(module: StaticFile, name: str, node: gast.Call) -> Binding | None:
    """``g = vmap(f, (None, 0))`` or ``vmap(in_axes=(None, 0))(f)`` at module level; None where the function is not known."""
    if not node.args:
        return None
    options: tuple[Sequence[gast.expr], Sequence[gast.keyword]] = (node.args[1:], node.keywords)
    transform = static_rules.opened(module, node.func)[0]
    if isinstance(node.func, gast.Call):
        options = _options(module, node.func)
    if transform not in NAMES:
        return None
    try:
        found = module.resolve(name, node.args[0])
    except TranspileError:
        return None
    target = found.target if isinstance(found, User) else known_value(found) if isinstance(found, Known) else None
    if target is None:
        return None
    key = f"{name} at {node.lineno}:{node.col_offset}"
    if key not in module.customs:
        module.customs[key] = _transformed(module, transform, target, *options)
    return User(module.customs[key])


def _transformed(
    module: StaticFile, name: str, target: Any, args: Sequence[gast.expr], keywords: Sequence[gast.keyword]
) -> Any:

    for node in (*args, *(k.value for k in keywords)):
        problem = not_literal(node, module.scope)
        if problem is not None:
            short = name.rpartition(".")[2]
            message = f"an option of {short} is not a literal: {gast.unparse(problem).strip()!r}"
            hint = "write the value, or call the transform inside the function"
            raise error("T406", message, module.loc(problem), hint)
    values = [evaluate(a, module.scope) for a in args]
    named = {k.arg: evaluate(k.value, module.scope) for k in keywords if k.arg is not None}
    try:
        levels = options.BY_NAME[name.rpartition(".")[2]](*values, **named)
    except TypeError as failed:
        raise error("T132", str(failed), _place(module, args, keywords), "correct the options") from None
    except TranspileError as failed:
        at = _place(module, args, keywords)
        raise TranspileError([replace(d, loc=at) for d in failed.diagnostics]) from None
    for level in reversed(levels):
        target = Stacked(target, level)
    return target


def _place(module: StaticFile, args: Sequence[gast.expr], keywords: Sequence[gast.keyword]) -> ir.Loc:
    return module.loc((*args, *(k.value for k in keywords))[0])
