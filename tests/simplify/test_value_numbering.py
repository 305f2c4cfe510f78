"""Equal values have equal numbers, in both dialects by one numbering."""

from __future__ import annotations

import pytest

from transpile.core import nodes as ir
from transpile.core.types import FLOAT64, Type
from transpile.loops.store_forwarding import _Forward
from transpile.simplify.tidy import _Tidy
from transpile.simplify.value_numbering import Numbering

pytestmark = pytest.mark.quick
WEAK = Type("float64", weak=True)


def let(prim: str, *args: ir.Operand, type_: Type = FLOAT64, **params: object) -> ir.Let:
    return ir.Let(ir.Var("", type_), prim, args, params)


DIALECTS = {
    "array": lambda: _Tidy(lambda old, new: None),
    "loops": lambda: _Forward(ir.Function("f", (), ir.Block(), {})),
}


@pytest.fixture(params=DIALECTS)
def numbering(request: pytest.FixtureRequest) -> Numbering:
    return DIALECTS[request.param]()


def test_both_dialects_have_one_numbering() -> None:
    for dialect in (_Tidy, _Forward):
        own = {name for name in vars(dialect) if name in vars(Numbering) and not name.startswith("__")} - {"__init__"}
        assert own == {"scoped", "form_of_variable"}, dialect


def test_a_number_is_of_the_type_too(numbering: Numbering) -> None:
    """A value of another type does not hide one of the same type that comes before or behind it."""
    x = ir.Var("x", FLOAT64)
    first, other, again = let("sin", x), let("sin", x, type_=WEAK), let("sin", x)
    assert numbering.earlier(other) is None and numbering.earlier(first) is None
    assert numbering.earlier(again) == (first.var, 0)
    assert numbering.earlier(let("cos", x)) is None and numbering.earlier(let("sin", x, axis=0)) is None


def test_what_is_computed_in_a_block_is_known_there_alone(numbering: Numbering) -> None:
    x = ir.Var("x", FLOAT64)
    inner, outer = let("sin", x), let("sin", x)
    with numbering.inside():
        assert numbering.earlier(inner) is None and numbering.earlier(outer) == (inner.var, 1)
    assert numbering.earlier(outer) is None
