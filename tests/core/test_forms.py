"""One algebra of integer forms: whatever the atoms are, a form has the value of the sums that it was made from."""

from __future__ import annotations

import itertools

import pytest

from transpile.analysis.affine import Linear
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.forms import Form, NotLinear, of_operation
from transpile.core.integers import Integers
from transpile.core.types import FLOAT, INT
from transpile.ops.tables import records
from transpile.reports.formula import Formula

pytestmark = pytest.mark.quick
I, J = ir.Var("i", INT), ir.Var("j", INT)
PAIRS = [
    (Form.atom("i"), Form.atom("j")),
    (Linear.atom(I), Linear.atom(J)),
    (Dim.symbol("i"), Dim.integer("j")),
    (Formula.symbol("i"), Formula.symbol("j")),
]


@pytest.mark.parametrize("i, j", PAIRS, ids=lambda form: type(form).__name__)
def test_sums_are_equal_in_any_order(i: Form, j: Form) -> None:
    parts = [i * 3, -j, i.times(-1), j - i * 2, 5 - j]
    totals = {sum(order, type(i)()) for order in itertools.permutations(parts)}
    assert totals == {5 - j}
    assert (j - j).is_const and not (j - j).terms


@pytest.mark.parametrize("i, j", PAIRS, ids=lambda form: type(form).__name__)
def test_an_atom_is_replaced_by_a_form(i: Form, j: Form) -> None:
    (atom,) = i.atoms
    assert i.as_atom == atom and (i + 1).as_atom is None and i.times(2).as_atom is None
    assert (i * 3 + j).replaced(atom, j - 1) == j * 4 - 3
    assert (j + 1).replaced(atom, i) == j + 1


def test_products_of_forms() -> None:
    """Sizes keep a product as an atom, amounts multiply it out, subscripts have none."""
    n, m = Dim.symbol("n"), Dim.symbol("m")
    assert (n - 1) * m == m * (n - 1) and str((n - 1) * m) == "m * (n - 1)"
    assert Formula.symbol("n") * (Formula.symbol("n") - 1) == Formula.symbol("n") ** 2 - Formula.symbol("n")
    with pytest.raises(NotLinear):
        Linear.atom(I) * Linear.atom(J)
    assert of_operation(records()["mul"], (Linear.atom(I), Linear.atom(J))) is None
    assert of_operation(records()["mul"], (Linear.atom(I), Linear(2))) == Linear.atom(I).times(2)
    assert of_operation(records()["maximum"], (Linear.atom(I), Linear(2))) is None


def test_what_is_no_integer_has_no_form() -> None:
    """``np.pad(x, 1, constant_values=0.5)`` is not padded with 0."""
    found = Integers({})
    assert found.of(ir.Const(2, INT)) == Dim(2)
    assert found.of(ir.Const(0.5, FLOAT)) is None and found.of(ir.Const(float("inf"), FLOAT)) is None
