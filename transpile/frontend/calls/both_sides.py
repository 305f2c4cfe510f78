"""The branches of a `cond` of which it is known which one is taken: they must be alike as well, as in a plain run and in JAX.

Each is lifted by itself, and what comes of it is thrown away: no size of the branch that is not taken is assumed, and what else is
wrong with it does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transpile.errors import TranspileError
from transpile.frontend.calls.implicit_calls import Run
from transpile.frontend.calls.inner_transforms import Stand, at_call, from_tree, lifted
from transpile.frontend.calls.lax_kinds import asked
from transpile.frontend.lifter import Lifter
from transpile.frontend.restarts import Dead, NeedBuffer, NeedRoutine, NeedStatic, NeedValue, Restart
from transpile.frontend.values.values import Static
from transpile.lax import checks
from transpile.lax.checks import Asked

_HERE = object()


def compared(lx: Lifter, sides: Sequence[tuple[Any, Any]], what: str, names: tuple[str, str], node: Any) -> None:
    """T118 or T205 if two functions of these arguments give different structures, ranks or dtypes."""
    if _is_inside(lx):
        return
    found = [_given(lx, f, args, node) for f, args in sides]
    if found[0] is None or found[1] is None:
        return
    message = checks.BRANCHES.format(what, *names)
    wrong = checks.difference(message, found[0], found[1], _may_meet, ("T118", "T205"))
    if wrong is not None:
        raise lx.error(wrong[0], wrong[1], node, checks.BRANCH_HINT)


def _given(lx: Lifter, f: Any, args: Any, node: Any) -> Asked | None:
    """What a function gives; None where that cannot be said."""

    def run(lx: Lifter, node: Any, f: Any, args: Any) -> Any:
        return lx.apply(f, list(args.items), {}, node)

    lx.customs.append(_HERE)
    try:
        fn = at_call(lx, lambda: lifted(lx, Stand(Static(Run(lx, [f, args], run)), lx), [], {}), node)
        return asked(lx, from_tree(lx, fn.out_tree, list(fn.body.yields)), node)
    except (TranspileError, RecursionError, NeedStatic, NeedValue, NeedBuffer, NeedRoutine, Restart, Dead):
        return None
    finally:
        lx.customs.pop()


def _may_meet(a: checks.Kind, b: checks.Kind) -> bool:
    return len(a.shape) == len(b.shape) and (checks.becomes(a, b) or checks.becomes(b, a))


def _is_inside(lx: Lifter) -> bool:
    """Whether branches around these are being compared: a recursion that ends by its tests would not end."""
    around: Lifter | None = lx
    while around is not None:
        if _HERE in around.customs:
            return True
        around = around.outer
    return False
