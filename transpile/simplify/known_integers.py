"""Integer operations and tests whose result follows from known bounds: in a loop over ``range(n - 1)``, ``max(n - 1, 0)`` is
``n - 1``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from transpile.analysis.affine import Forms
from transpile.analysis.value_ranges import Facts, as_extremum, is_integer
from transpile.core import nodes as ir
from transpile.core.peephole import identity
from transpile.core.types import BOOL, INT
from transpile.ops.tables import record_of
from transpile.ops.traits import LESS


def simpler(let: ir.Let, facts: Facts) -> ir.Operand | ir.Let:
    """The operand that has the value of the *let*, or a cheaper *let*, or the *let* itself."""
    kind, args = as_extremum(let)
    if kind:
        chosen = facts.chosen(kind, args)
        if chosen is not None:
            return chosen
        name = "maximum" if kind == "max" else "minimum"
        return let if record_of(let).folds else replace(let, prim=name, params={"py": True})
    same = identity(record_of(let), let.args)
    if same is not None and same.type.dtype == let.var.type.dtype:
        return same
    rule = _rule(let)
    return let if rule is None else rule(let, facts)


def _rule(let: ir.Let) -> Callable[[ir.Let, Facts], ir.Operand | ir.Let] | None:
    record = record_of(let)
    if record.relation is not None:
        return _compare
    if record_of(record.asks).is_polynomial:
        return _fits
    if record.division and all(is_integer(a) for a in let.args):
        return _quotient
    if record.below is not None:
        return _bound
    return _cast if let.prim == "cast" else None


def shorter(found: ir.Operand | ir.Let, forms: Forms) -> ir.Operand | ir.Let:
    """The *let*, or a simpler form of its sum: an integer plus a constant, or only the integer or the constant, if its linear
    form is no more than that."""
    if not isinstance(found, ir.Let) or not record_of(found).is_sum:
        return found
    if not all(map(is_integer, (found.var, *found.args))):
        return found
    form = forms.of(found.var)
    if not form.terms:
        return ir.Const(form.const, INT)
    ((var, coef), *more) = form.terms
    if more or coef != 1 or var is found.var:
        return found
    if form.const == 0:
        return var
    args = (var, ir.Const(abs(form.const), INT))
    prim = "add" if form.const > 0 else "sub"
    return found if (found.prim, found.args) == (prim, args) else replace(found, prim=prim, args=args)


def _compare(let: ir.Let, facts: Facts) -> ir.Operand | ir.Let:
    if not all(is_integer(a) for a in let.args):
        return let
    a, b = (facts.forms.of(x) for x in let.args)
    relation = record_of(let).relation
    assert relation is not None
    if relation.less != relation.greater or b.plus(a, -1).terms:
        a, b = (facts.form(x) for x in let.args)
    known = facts.compare(relation, a, b)
    return let if known is None else ir.Const(known, BOOL)


def _bound(let: ir.Let, facts: Facts) -> ir.Operand | ir.Let:
    """An index clipped to a range: the index, the size, or the smaller of both."""
    if not all(is_integer(a) for a in let.args):
        return let
    x, n = (facts.form(a) for a in let.args)
    if facts.is_not_negative(x):
        if facts.is_not_negative(n - x):
            return let.args[0]
        if facts.is_not_negative(x - n):
            return let.args[1]
        return replace(let, prim="minimum", params={"py": True})
    return let


def _quotient(let: ir.Let, facts: Facts) -> ir.Operand | ir.Let:
    """Quotient and remainder of ``i * n + j`` by ``n`` are ``i`` and ``j`` if ``0 <= j < n``. Only for the runtime's primitives
    of positions in arrays, whose operands cannot have wrapped."""
    is_rest = record_of(let).division == "%"
    a, by = let.args
    if isinstance(a, ir.Const) and isinstance(by, ir.Const) and by.value > 0:
        return ir.Const(a.value % by.value if is_rest else a.value // by.value, let.var.type)
    flat = facts.forms.lets.get(let.args[0]) if isinstance(let.args[0], ir.Var) else None
    if flat is not None and record_of(let).kind == "scalar" and record_of(flat).signs == (1, 1):
        for product, rest in (flat.args, flat.args[::-1]):
            found = _split(product, rest, let.args[1], facts)
            if found is not None:
                return rest if is_rest else found
    x, n = (facts.form(a) for a in let.args)
    if facts.is_not_negative(x) and facts.is_not_negative(n - x - 1):
        return let.args[0] if is_rest else ir.Const(0, let.var.type)
    return let


def without_zero(let: ir.Let, facts: Facts) -> ir.Let:
    """The *let*; a Python remainder whose divisor is known to be positive becomes one that cannot raise."""
    record = record_of(let)
    if record.division != "%" or record.raises is None or not all(map(is_integer, (let.var, *let.args))):
        return let
    return replace(let, prim="arrays.wrap", params={}) if facts.is_not_negative(facts.form(let.args[1]) - 1) else let


def _split(product: ir.Operand, rest: ir.Operand, n: ir.Operand, facts: Facts) -> ir.Operand | None:
    """``i`` if the product is ``i * n`` and ``0 <= rest < n``; else None."""
    let = facts.forms.lets.get(product) if isinstance(product, ir.Var) else None
    if let is None or not record_of(let).multiplies:
        return None
    size, form = facts.form(n), facts.form(rest)
    for i, by in (let.args, let.args[::-1]):
        if facts.form(by) == size and facts.is_not_negative(form) and facts.compare(LESS, form, size):
            return i
    return None


def _cast(let: ir.Let, facts: Facts) -> ir.Operand | ir.Let:
    """A constant boolean or small integer cast to a constant of another type."""
    (a,) = let.args
    if not isinstance(a, ir.Const) or not isinstance(a.value, (bool, int)) or abs(a.value) >= 2**53:
        return let
    as_type = {"float64": float, "int64": int}.get(let.var.type.dtype)
    return let if as_type is None or let.var.type.dims else ir.Const(as_type(a.value), let.var.type)


def _fits(let: ir.Let, facts: Facts) -> ir.Operand | ir.Let:
    """An overflow test that is never true: of a sum with 0, or of a product with 0 or 1."""
    a, b = (x.value if isinstance(x, ir.Const) else None for x in let.args)
    record = record_of(record_of(let).asks)
    never = a in (0, 1) or b in (0, 1) if record.multiplies else b == 0 or a == 0 and record.commutes
    return ir.Const(False, BOOL) if never else let
