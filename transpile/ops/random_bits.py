"""Random numbers as functions of a key: the draws of `transpile_runtime.random`.

``params["dims"]`` is the requested shape. A key is ``uint32[2]``; with keys ``uint32[*lanes, 2]`` each lane gets the numbers
that its key alone would give. So batching a draw puts the lane axes in front of its key and of its result. A draw is pure: it
may be repeated, also in a reverse sweep. It has no derivative in the key. A gamma variable has one in its shape ``a``, by the
implicit function theorem: ``P(a, x)`` stays constant, so ``dx/da = -(dP/da) / (dP/dx)`` (Figurnov, Mohamed and Mnih, 2018).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.ops.arithmetic import same
from transpile.ops.element import applied
from transpile.ops.language import elementwise as f
from transpile.ops.language import exp, where
from transpile.ops.lowering_kinds import FoldedIn, ShapedDraw, SplitKeys
from transpile.ops.record import ZERO, Op
from transpile.ops.spelling import Form
from transpile.ops.traits import Vector

DRAWS = ("random_bits", "random_unit", "random_normal")
NEAR_ZERO = -37.0  # the logarithm of a number that is lost when added to 1


def _split_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return Type("uint32", (*types[0].dims[:-1], *params["dims"], Dim(2)))


def _draw_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return Type(params["dtype"], (*types[0].dims[:-1], *params["dims"]))


def _draw(name: str) -> Op:
    """The record of the draw ``name``, such as ``random_normal``, in the dtype of its params."""

    def entry(params: Mapping[str, Any], operands: int) -> str:
        """The runtime function that draws one number, such as ``random.normal64``."""
        return f"random.{name.removeprefix('random_')}{8 * np.dtype(params['dtype']).itemsize}"

    spelling = f"transpile_runtime.random.{name.removeprefix('random_')}({{0}}, {{dims}}, '{{dtype}}')"
    return Op(
        name, _draw_type, spelling, "draw", form=Form.DRAWN, entry=entry, jvp=ZERO, vjp=ZERO, cost=3, linear=True, family="draw"
    )  # fmt: skip


def log_gamma_slope(y, a):  # type: ignore[no-untyped-def]
    """The derivative in ``a`` of the logarithm ``y`` of a gamma variable, with ``P``, the distribution function at it, held
    constant.

    Near 0, ``P = x**a / gamma(a + 1)`` to all digits; there the general quotient would divide numbers that underflow.
    """
    near = y < NEAR_ZERO
    x = exp(where(near, 0.0, y))
    far = -f("gammainc_moment1", a, x) / exp(a * where(near, 0.0, y) - x - f("gammaln", a))
    return where(near, (f("digamma", a) + 1 / a - y) / a, far)


def _log_gamma_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return None if dots[1] is None else log_gamma_slope(y, args[1]) * dots[1]


def _log_gamma_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return None, (y_bar * log_gamma_slope(y, args[1]) if wants[1] else None)


def _counts(name: str, operands: int) -> Op:
    """The record of a draw of event counts with the distribution ``name``, which has this number of operands after the key."""
    args = ", ".join(f"{{{k}}}" for k in range(operands + 1))
    return Op(
        f"random_{name}", lambda types, params: types[1].strong, f"transpile_runtime.random.{name}({args})", kind="draw",
        lowering=ShapedDraw(), entry=f"random.{name}", jvp=ZERO, vjp=ZERO, cost=3, linear=True, family="draw",
    )  # fmt: skip


TABLE = [
    # random_split(key): new keys
    Op("random_split", _split_type, "transpile_runtime.random.split({0}, {dims})", kind="draw", lowering=SplitKeys(),
         form=Form.KEYS, entry="random.word", jvp=ZERO, vjp=ZERO, cost=2, linear=True, family="draw"),
    # random_fold_in(key, n): a new key from a key and an integer, or from keys and as many integers
    Op("random_fold_in", lambda types, params: types[0], "transpile_runtime.random.fold_in({0}, {1})", kind="draw",
         lowering=FoldedIn(), joins_lanes=True, entry="random.word", jvp=ZERO, vjp=ZERO, cost=2, linear=True, family="draw"),
    *map(_draw, DRAWS),
    # the logarithms of gamma variables; args[1]: their shape parameters, an array of params["dims"] behind the lane axes
    Op("random_log_gamma", lambda types, params: types[1].strong, "transpile_runtime.random.log_gamma({0}, {1})",
         kind="draw", lowering=ShapedDraw(), entry="random.log_gamma", jvp=_log_gamma_jvp, vjp=_log_gamma_vjp, cost=3,
         family="draw"),
    # the number of events, as a float: from a mean; from a number of trials and a probability
    _counts("poisson", 1),
    _counts("binomial", 2),
    # args[0] in [0, 1) scaled to the interval between two bounds
    Op("random_between", same, "transpile_runtime.random.between({0}, {1}, {2})", "elementwise", partials=(
        lambda y, u, low, high: where(high < low, 0.0, high - low),  # if the interval is empty, the result is the lower bound
        lambda y, u, low, high: where(high < low, 1.0, 1 - u),
        lambda y, u, low, high: where(high < low, 0.0, u)),
        element=applied("random.between", 3), vector=Vector("random_between", alone=True)),
    # an integer below args[2] (0: any integer) from the bits args[0] and args[1]
    Op("random_offset", same, "transpile_runtime.random.offset({0}, {1}, {2})", "elementwise", "as_is", (ZERO,) * 3,
         element=lambda types, result, params: applied(f"random.offset_{result.dtype}", 3), cost=2),
]  # fmt: skip
