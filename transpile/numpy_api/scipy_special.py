"""The functions of ``scipy.special``, by dotted name."""

from __future__ import annotations

import math
from typing import Any

from transpile.core.builder import Builder, Expr
from transpile.core.promotion import OPERAND_TYPES
from transpile.errors import RuleError
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.numpy_elementwise import float_operand, operand


def _same_type(prim: str, arity: int) -> Entry:
    """The entry of a function of one to three arguments (``arity``), promoted together, that equals the primitive."""

    def build(b: Builder, *args: Any) -> Expr:
        return b.elementwise(prim, *(operand(b, a) for a in args), strong=True)

    def one(b: Builder, x: Any) -> Expr:
        return build(b, x)

    def two(b: Builder, x: Any, y: Any) -> Expr:
        return build(b, x, y)

    def three(b: Builder, a: Any, b2: Any, x: Any) -> Expr:
        return build(b, a, b2, x)

    return Entry((one, two, three)[arity - 1], elementwise=prim)


def _as_numpy(prim: str) -> Entry:
    """The entry of a function of one argument that NumPy has too; SciPy's has no loops for small dtypes, so they are cast
    first."""

    def build(b: Builder, x: Any) -> Expr:
        x = operand(b, x)
        (wanted,) = OPERAND_TYPES["special"]([x.type])
        return b.elementwise(prim, b.cast(x, wanted), strong=True)

    return Entry(build, elementwise=prim)


def _polygamma(b: Builder, n: Any, x: Any) -> Expr:
    return b.elementwise("polygamma", operand(b, n), float_operand(b, x), strong=True)


def _exp10(b: Builder, x: Any) -> Expr:
    return b.elementwise("pow", 10.0, float_operand(b, x), strong=True)


def _multigammaln(b: Builder, a: Any, d: int) -> Expr:
    """The logarithm of the multivariate gamma function: a sum of ``gammaln``."""
    if d < 1:
        raise RuleError("multigammaln takes a dimension of 1 or more", "T131")
    x = float_operand(b, a)
    total = b.elementwise("gammaln", x)
    for j in range(1, d):
        total = total + b.elementwise("gammaln", x - 0.5 * j)
    return total + 0.25 * d * (d - 1) * math.log(math.pi)


ONE = (
    "gammaln loggamma gamma digamma erf erfc erfcx erfi erfinv erfcinv ndtr ndtri log_ndtr expit log_expit logit entr "
    "i0 i1 i0e i1e j0 j1 dawsn"
).split()
TWO = "betaln beta gammainc gammaincc xlogy xlog1py rel_entr kl_div iv ive jv".split()
THREE = "betainc betaincc".split()
NUMPY = "exp2 expm1 log1p cbrt sinc".split()

SPECIAL: dict[str, Entry] = {
    **{name: _same_type(name, 1) for name in ONE},
    **{name: _same_type(name, 2) for name in TWO},
    **{name: _same_type(name, 3) for name in THREE},
    **{name: _as_numpy(name) for name in NUMPY},
    "psi": _same_type("digamma", 1),
    "jn": _same_type("jv", 2),
    "polygamma": Entry(_polygamma, memory="array"),
    "exp10": Entry(_exp10),
    "multigammaln": Entry(_multigammaln, static=("d",)),
    "logsumexp": Entry(source="logsumexp", static=("axis", "keepdims", "return_sign")),
    "softmax": Entry(source="softmax", static=("axis",)),
    "log_softmax": Entry(source="log_softmax", static=("axis",)),
    "softplus": Entry(source="softplus"),
    "huber": Entry(source="huber"),
    "pseudo_huber": Entry(source="pseudo_huber"),
}

TABLE: dict[str, Entry] = {f"scipy.special.{name}": entry for name, entry in SPECIAL.items()}
