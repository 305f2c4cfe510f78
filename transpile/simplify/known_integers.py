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
    """An operand that has the value of the *let*, or an equal *let* that is cheaper, or the *let* itself; from the bounds that
    ``facts`` know."""
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
    """The function that simplifies a *let* of this primitive, given the facts; None if there is none."""
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
    """``found``; if it is a sum of integers whose linear form is a constant, an integer, or an integer plus a constant, that
    constant, that integer, or a *let* of this sum."""
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
    """The constant True or False if the bounds decide the comparison of two integers; else the *let*."""
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
    """An index ``args[0]`` clipped to at most a size ``args[1]``: the index, the size, or their minimum; the *let* if the index
    may be negative."""
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
    """Quotient or remainder of integers, if it follows from bounds; else the *let*. Of ``i * n + j`` by ``n`` these are ``i``
    and ``j`` if ``0 <= j < n``, only for the runtime's primitives of positions in arrays, whose operands cannot have
    wrapped."""
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
    """The *let*; a Python remainder of integers whose divisor is known to be positive becomes one that cannot raise
    (``arrays.wrap``)."""
    record = record_of(let)
    if record.division != "%" or record.raises is None or not all(map(is_integer, (let.var, *let.args))):
        return let
    return replace(let, prim="arrays.wrap", params={}) if facts.is_not_negative(facts.form(let.args[1]) - 1) else let


def _split(product: ir.Operand, rest: ir.Operand, n: ir.Operand, facts: Facts) -> ir.Operand | None:
    """The factor ``i`` if ``product`` is ``i * n`` and ``0 <= rest < n`` is known; else None."""
    let = facts.forms.lets.get(product) if isinstance(product, ir.Var) else None
    if let is None or not record_of(let).multiplies:
        return None
    size, form = facts.form(n), facts.form(rest)
    for i, by in (let.args, let.args[::-1]):
        if facts.form(by) == size and facts.is_not_negative(form) and facts.compare(LESS, form, size):
            return i
    return None


def _cast(let: ir.Let, facts: Facts) -> ir.Operand | ir.Let:
    """The constant to which a cast of a constant bool or int (below 2**53) leads, if the result is a float64 or int64 scalar;
    else the *let*."""
    (a,) = let.args
    if not isinstance(a, ir.Const) or not isinstance(a.value, (bool, int)) or abs(a.value) >= 2**53:
        return let
    as_type = {"float64": float, "int64": int}.get(let.var.type.dtype)
    return let if as_type is None or let.var.type.dims else ir.Const(as_type(a.value), let.var.type)


def _fits(let: ir.Let, facts: Facts) -> ir.Operand | ir.Let:
    """The constant False for an overflow test that is never true, of a sum with 0, or a product with 0 or 1; else the *let*."""
    a, b = (x.value if isinstance(x, ir.Const) else None for x in let.args)
    record = record_of(record_of(let).asks)
    never = a in (0, 1) or b in (0, 1) if record.multiplies else b == 0 or a == 0 and record.commutes
    return ir.Const(False, BOOL) if never else let
