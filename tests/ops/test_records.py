"""One record a primitive: what its kind needs it has, what others ask of it stands in it, and nobody asks for its name instead."""

from __future__ import annotations

import ast
import importlib
import itertools
import math
import operator
from dataclasses import fields

import numpy as np
import pytest
from house import named
from house.asked import asked, asked_in
from house.imports import modules

import transpile as tp
from transpile.codegen.numpy.value_nodes import SPELLED
from transpile.core.types import BOOL, FLOAT, INT, Type
from transpile.errors import RuleError
from transpile.ops.element import SAME, Apply, Arg, Infix, applied, infix, parts
from transpile.ops.interval_arithmetic import as_it_is
from transpile.ops.lowering_kinds import BY_KIND, NOT_LOWERED, Convolution
from transpile.ops.record import FAMILIES, REQUIRED, Op
from transpile.ops.run_spelling import run, run_spelling
from transpile.ops.spelling import Form
from transpile.ops.tables import neutral_of, prims, record_of, records
from transpile.ops.traits import LESS, RELATIONS
from transpile_runtime.compiled import arrays

pytestmark = pytest.mark.quick
COMPUTED = [r for r in records().values() if r.element is not None]


# ------------------------------------------------------------------------------------------------------ names


def test_the_structural_primitives_are_few():
    assert named.STRUCTURAL <= set(prims()) and len(named.STRUCTURAL) <= 16


@pytest.mark.parametrize("what", ["compared", "tables"])
def test_nobody_asks_for_more_names(what):
    """A new entry is a mistake; one that is gone leaves the list: ``python tests/house/named.py --write``."""
    assert named.found()[what] == named.listed()[what]


SAMPLE = """
from transpile.ops.record import FAMILIES
FAST = frozenset("exp log".split())
SIGNS = {"add": 1, "sub": -1, "other": 0}
RULES = {**{"sin": 1}, **dict.fromkeys(("cos", "tan"), 2)}
COLOURS = {"red": 1, "min": 2, "green": 3}
def f(let, prim, word):
    if let.prim == "add" or prim not in ("mul", "index") or word == "sub":
        return let.prim in FAST
    match let.prim:
        case "exp" | "none": return 1
    match let:
        case Let(prim="div", name="neg"): return 2
    one = "equal" if word == "pow" else "less"
    for other in ("tan", "word"):
        if let.prim == other or let.prim in FAMILIES or prim.startswith("nan_to") or record_of(let).folds == one:
            return {"floor": 1}[let.prim] or {"tanh": "sinh"}.get(prim)
    return let.prim == CEIL or let.name == "trunc" or f(let.params.get("cosh", let.prim)) == prim, Let("exp", prim)
CEIL = "ceil"
NUMBERS = "expm1", f("log1p"), f("sqrt")
"""


def test_every_name_is_seen():
    tree = ast.parse(SAMPLE)
    compared = {"add", "div", "exp", "index", "mul", "equal", "less", "tan", "nan_to_num", "floor", "tanh", "ceil"}
    assert set(named.comparisons(tree)) == compared | FAMILIES & set(prims())
    assert dict(named.named_tables(tree)) == {"FAST": 2, "SIGNS": 2, "RULES": 3}


@pytest.mark.parametrize("place", named.OTHERS)
def test_a_table_of_other_names_is_one(place):
    """It has none that is not one of those that it says, and it is there."""
    module, _, variable = place.rpartition(".")
    tree = ast.parse(modules()[module].read_text())
    assert variable in dict(named.named_tables(tree))
    assert variable not in dict(named.named_tables(tree, module))


# ---------------------------------------------------------------------------------------------------- records


@pytest.mark.parametrize("kind", [k for k, fields in REQUIRED.items() if fields])
def test_a_record_has_what_its_kind_needs(kind):
    fields = {"render": "np.f({0})", "partials": (1,), "element": Arg(0), "family": "lane"}
    fields |= {"jvp": 1, "vjp": 1, "fold": "add", "entry": "linalg.inv", "lowering": NOT_LOWERED}
    fields |= {"collective": "folded"}
    full = {"name": "f", "type_rule": lambda types, params: FLOAT, "render": None, "kind": kind}
    full |= {f: fields[f] for f in REQUIRED[kind]}
    assert Op(**full).kind == kind
    for field in REQUIRED[kind]:
        if (kind, field) != ("elementwise", "family"):  # which is its own
            with pytest.raises(ValueError, match=f"'f' of kind '{kind}' has no {field}"):
                Op(**{**full, field: None})


def test_a_record_says_how_it_is_lowered():
    """Itself, or by its kind: no array primitive is just forgotten."""
    assert BY_KIND.keys() < REQUIRED.keys()
    assert [r.name for r in prims().values() if r.lowering is None] == []
    assert {k for k, fields in REQUIRED.items() if "lowering" in fields} & BY_KIND.keys() == set()


NUMBERS = (0, 3, -2, True, 0.0, -1.5, 1e308, math.inf, math.nan)
"""Of Python's."""
TOTAL = [r for r in prims().values() if r.elementwise and r.total([FLOAT] * 3, [1] * 3)]


def _takes(record, type_):
    try:
        record.type_rule([type_] * record.operands, {})
    except RuleError:
        return False
    return True


@pytest.mark.parametrize("record", TOTAL, ids=lambda r: r.name)
@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")  # of the operator, from Python 3.12 on
@pytest.mark.filterwarnings("error")
def test_what_is_total_has_a_value_and_says_nothing(record):
    """Whatever the numbers are: it may be computed where no trip of a loop would have come to it."""
    tried = 0
    for values in itertools.product(NUMBERS, repeat=record.operands):
        types = [{bool: BOOL, int: INT, float: FLOAT}[type(v)] for v in values]
        if record.total(types, values) and all(_takes(record, t) for t in types):
            run_spelling(record.python or record.render, values, {}, types)
            tried += 1
    assert tried


def test_only_few_are_total():
    """A power may be too large, a quotient of integers too, what `math` has may have no value."""
    names = {r.name for r in TOTAL}
    assert {"add", "mul", "less", "bitwise_and", "maximum", "where"} < names
    assert names.isdisjoint(("pow", "left_shift", "exp", "fabs", "sqrt", "isqrt"))
    assert not record_of("div").total([INT, INT], [1, 2]) and record_of("div").total([FLOAT, INT], [None, 2])
    assert not record_of("mod").total([INT, INT], [1, None])


def test_each_form_of_text_is_written_and_wanted():
    assert {r.form for r in prims().values()} - {None} == set(Form) == set(SPELLED)


def test_a_record_is_of_a_kind_and_a_family():
    with pytest.raises(ValueError, match="is of no kind: 'none'"):
        Op("f", lambda types, params: FLOAT, None, "none")
    with pytest.raises(ValueError, match="is of no family of batching: 'none'"):
        Op("f", lambda types, params: FLOAT, None, "statement", family="none")
    with pytest.raises(ValueError, match="is no such collective: 'none'"):
        Op("f", lambda types, params: FLOAT, None, "statement", collective="none")


def test_every_field_is_asked_for():
    """By somebody outside of the records, or by a question of the record's own; the examples are for the walk over the rules."""
    assert {f.name for f in fields(Op)} - asked() == {"examples"}


def test_what_other_things_have_is_not_asked_of_a_record():
    text = """
def f(x: Op, y, tables: Mapping[str, Op]):
    record, other = record_of(y), y.op
    own = tables["add"] if y.view else prims().get(y.name)
    return record.kind, x.form, other.family, own.unit, [r.signs for r in records().values()], lambda: record.fold
"""
    assert asked_in(ast.parse(text)) == {"kind", "form", "unit", "signs", "fold"}


def test_no_name_stands_twice():
    assert len(records()) == len(prims()) + len({r.name for r in records().values()} - set(prims()))


# --------------------------------------------------------------------------------------------------- elements


def _element(record: Op, dtype: str):
    """The element for operands of a dtype."""
    params = {"decimals": 2, "rtol": 1.0, "atol": 1.0, "equal_nan": False, "vector": "joined"}
    if record.kind == "elementwise":
        del params["vector"]
    return record.element_of([Type(dtype)] * (record.operands or 2), Type(dtype), params)


@pytest.mark.parametrize("record", COMPUTED, ids=lambda r: r.name)
@pytest.mark.parametrize("dtype", ["float64", "int64", "bool"])
def test_an_element_is_made_of_all_operands(record, dtype):
    read = {p.k for p in parts(_element(record, dtype)) if isinstance(p, Arg)}
    if record.kind == "elementwise":
        assert read == set(range(record.operands))


@pytest.mark.parametrize("record", COMPUTED, ids=lambda r: r.name)
def test_functions_of_elements_are_there(record):
    """Also those of other dtypes, of Python's numbers, and of vectors."""
    called = {p.function for d in ("float64", "int64") for p in parts(_element(record, d)) if isinstance(p, Apply)}
    vector = record.vector
    if vector is not None:
        called |= {f"vector.{name}" for name in (vector.name, *(vector.near or ())) if name}
    for name in called:
        module, _, function = name.rpartition(".")
        owner = math if module == "math" else None
        if module not in ("math", "np", "random", ""):
            owner = importlib.import_module(f"transpile_runtime.compiled.{module}")
        assert owner is None or hasattr(owner, function), name


def test_an_element_depends_on_types():
    add, power = records()["add"], records()["pow"]
    assert add.element_of([FLOAT, FLOAT], FLOAT, {}) == infix("+")
    assert add.element_of([Type("bool")] * 2, Type("bool"), {}) == Infix("or", Arg(0), Arg(1))
    assert power.element_of([Type("int64")] * 2, Type("int64"), {}) == applied("scalars.int_pow", 2)


# ----------------------------------------------------------------------------------------------------- traits


def test_relations_are_what_python_compares():
    for relation in RELATIONS:
        compare = getattr(operator, records()[relation.name].operator.method)
        for a, b in ((1, 2), (2, 2), (2, 1)):
            holds = compare(a, b)
            assert holds == relation.cases[(a == b) + 2 * (a > b)]
            assert relation.negated.cases[(a == b) + 2 * (a > b)] == (not holds)
            assert relation.turned.cases[(b == a) + 2 * (b > a)] == holds
    assert LESS.negated.name == "greater_equal" and LESS.turned.name == "greater"


@pytest.mark.parametrize("record", [r for r in records().values() if r.implies is not None], ids=lambda r: r.name)
def test_what_a_test_implies(record):
    """Of all operands for which the test holds, or does not."""
    compute = {
        "logical_and": lambda a, b: a and b,
        "logical_or": lambda a, b: a or b,
        "logical_not": lambda a, b: not a,
        "both": lambda a, b: a & b,
    }
    for holds in (True, False):
        cases = [(a, b) for a in (True, False) for b in (True, False) if compute[record.name](a, b) == holds]
        known = {
            (k, t)
            for k in range(1 if record.is_negation else 2)
            for t in (True, False)
            if all(c[k] == t for c in cases)
        }
        assert set(record.implies(holds)) == known


def _run(name: str, *values, **params):
    """What NumPy gives by the record's own spelling."""
    return run(name, values, params, [Type(np.asarray(v).dtype.name, weak=isinstance(v, int)) for v in values])


def _having(field: str):
    return pytest.mark.parametrize(
        "name", [r.name for r in prims().values() if getattr(r, field) not in (None, "", False)]
    )


@_having("unit")
def test_a_unit_changes_nothing(name):
    """Also of infinity and minus zero, where only sums have another zero; the first operand of what commutes is as good."""
    record = prims()[name]
    numbers = [np.int64(k) for k in (-3, 0, 5)]
    if record.operator.sign not in "& | ^ << >>".split():
        numbers += map(np.float64, (-2.5, -0.0, 0.0, np.inf, -np.inf, np.nan))
    for x in numbers:
        unit = type(x)(record.unit)
        for found in (_run(name, x, unit), *([_run(name, unit, x)] if record.commutes else ())):
            np.testing.assert_array_equal(found, x)
            assert np.signbit(found) == np.signbit(x) or record.signs == (1, 1) and x == 0


@_having("undoes_itself")
def test_what_undoes_itself(name):
    for x in (np.int64(5), np.int64(0), np.float64(-0.0), np.float64(np.inf)) if name == "neg" else (True, False):
        x = np.bool_(x) if isinstance(x, bool) else x
        assert _run(name, _run(name, x)) == x and np.signbit(_run(name, _run(name, x))) == np.signbit(x)
    assert name != "invert" or _run(name, _run(name, np.int64(6))) == 6


@_having("same")
def test_what_is_its_operand(name):
    record = prims()[name]
    assert record.element in (SAME, None) and record.interval in (as_it_is, None)
    assert record.element is not None or name in named.STRUCTURAL  # the core knows how those are computed


def test_nothing_else_is_its_operand():
    assert not [r.name for r in records().values() if r.element == SAME and not r.same]


@_having("of_one")
@pytest.mark.parametrize("x", [2.5, -0.0, np.inf, np.nan])
def test_a_fold_of_one_element_is_it(name, x):
    found = _run(name, np.array([x]), axes=(0,), keepdims=False)
    np.testing.assert_array_equal(found, x)
    assert np.signbit(found) == np.signbit(x) or prims()[name].fold == "add"  # which begins at 0


@_having("division")
def test_divisions_are_rounded_down(name):
    for a, b in itertools.product((-7, -1, 0, 3, 9), (-4, -1, 2, 5)):
        assert _run(name, np.int64(a), np.int64(b)) == (a // b if prims()[name].division == "//" else a % b)


@pytest.mark.parametrize("record", [r for r in records().values() if r.below is not None], ids=lambda r: r.name)
def test_what_lies_below_its_last_operand(record):
    """It is the first operand where that does already; "at most" cuts off what is more."""
    module, _, function = record.name.rpartition(".")
    compute = getattr(arrays, function).py_func if module else lambda a, b: a % b
    for size, place in itertools.product((1, 2, 7), range(-9, 10)):
        found = compute(place, size)
        assert 0 <= found < size + record.below.equal
        assert found == place or not 0 <= place < size + record.below.equal
        assert found == size or not (record.below.equal and place > size)


KNOWN = [r for r in prims().values() if r.magnitude is not None and r.integers is not None]


@pytest.mark.parametrize("record", KNOWN, ids=lambda r: r.name)
def test_magnitudes_hold_the_results(record):
    """Of small integers."""
    magnitude = record.magnitude
    for point in itertools.product((-5, -2, 0, 1, 4), repeat=record.operands):
        sizes = [abs(p) for p in point]
        bound = sizes[magnitude.first]
        if magnitude.joined:
            bound = records()[magnitude.joined].integers(*sizes[magnitude.first :])
        try:
            assert abs(record.integers(*point)) <= bound, point
        except ZeroDivisionError:
            continue


def test_views_have_a_place():
    """What NumPy always gives a view of by other axes says by which steps, so that a write goes through it."""
    views = {r.name for r in prims().values() if r.view in ("writable", "read_only") and r.kind in ("map", "product")}
    assert {r.name for r in prims().values() if r.place is not None} == views | {"einsum", "transpose"}


@_having("plain")
def test_plain_folds_only_fold(name):
    x = np.array([1.5, -2.0, 4.0, 0.5]) if prims()[name].fold[:7] != "logical" else np.array([True, False])
    folded = _run(prims()[name].fold, _run(prims()[name].fold, *x[:2]), x[-1])
    params = {"axes": (0,), "keepdims": False}
    assert _run(name, np.array([*x[:2], x[-1]]), **params) == folded


@_having("skips_nan")
def test_what_skips_nan(name):
    record, x = prims()[name], np.array([np.nan, 1.5, 2.5])
    given = [x, x[::-1]][: record.operands or 1]
    params = {} if record.elementwise else {"axes": (0,), "keepdims": False}
    assert not np.isnan(_run(name, *given, **params)).any()


@_having("rounds")
def test_what_rounds_to_an_integer(name):
    for x in (-2.5, -0.3, 0.0, 1.5, 2.5, 3.7):
        assert _run(name, x) == int(_run(prims()[name].rounds, np.float64(x)))


@_having("integers")
def test_integers_are_as_numpy_has_them(name):
    record, numbers, tried = prims()[name], (-3, -1, 0, 1, 2, 5), 0
    for point in itertools.product(numbers, repeat=record.operands):
        try:
            found = record.integers(*point)
        except (ArithmeticError, ValueError):
            continue
        if found is not None and not (name == "clip" and point[1] > point[2]):
            tried += 1
            assert type(found) is int and found == _run(name, *map(np.int64, point)), point
    assert tried >= len(numbers)


@pytest.mark.parametrize(
    "function",
    [
        lambda n: (n << 0) + (n | 0),
        lambda n: ~~n & -1,
        lambda n: np.max(np.float64(n) * 1.5, axis=()) * np.prod(np.float64(n)),
    ],
)
def test_more_than_sums_and_products_are_simplified(function):
    """What a unit leaves as it is, what undoes itself, folds of one number."""
    assert not any(sign in tp.source(function, 3) for sign in ("<<", "|", "~", "&", "np.max", "np.prod"))
    assert function(3) == tp.jit(function)(3)


def _function(record: Op):
    """What computes it of Python's integers."""
    method = record.operator.method if record.operator is not None else ""
    of_parts = {"quick_div": operator.floordiv, "quick_mod": operator.mod, "maximum": max, "minimum": min, "cast": int}
    for found in (of_parts.get(record.name), getattr(operator, f"{method}_", None), getattr(operator, method, None)):
        if found is not None:
            return found
    return getattr(math, record.name, None)


@pytest.mark.parametrize("name", [r.name for r in records().values() if r.interval is not None and _function(r)])
def test_intervals_hold_the_results(name):
    """Of small integers."""
    record, count = records()[name], records()[name].operands or (1 if name == "cast" else 2)
    numbers = (-3, -1, 0, 2, 5)
    for ends in itertools.product([(a, b) for a in numbers for b in numbers if a <= b], repeat=count):
        bounds = record.interval(*ends)
        for point in itertools.product(*(range(a, b + 1) for a, b in ends)):
            try:
                value = _function(record)(*point)
            except (ValueError, ZeroDivisionError):
                continue
            assert bounds is None or not isinstance(value, int) or bounds[0] <= value <= bounds[1], (ends, point)


# ------------------------------------------------------------------------------------------------------ folds


@pytest.mark.parametrize("record", [r for r in prims().values() if r.kind in ("fold", "scan")], ids=lambda r: r.name)
def test_folds_are_by_what_has_a_neutral_number(record):
    by = records()[record.fold]
    functions = {"logical_and": lambda a, b: a and b, "logical_or": lambda a, b: a or b}
    combine = functions.get(by.name) or getattr(np, by.names[0])
    for dtype in ("bool",) if by.name.startswith("logical") else ("float64", "int64"):
        for number in (0, 1, -3) if dtype != "bool" else (False, True):
            assert combine(neutral_of(by.name, dtype), number) == combine(number, neutral_of(by.name, dtype)) == number


@pytest.mark.parametrize("record", [r for r in prims().values() if r.entry], ids=lambda r: r.name)
def test_entries_are_in_the_runtime(record):
    modes = ("full", "same") if isinstance(record.lowering, Convolution) else ("reduced", "r")
    params = {"mode": modes[0], "dtype": "float64" if record.name != "random_bits" else "uint64", "side": "left"}
    for entry in {
        record.entry_of(params, 1),
        record.entry_of({**params, "mode": modes[1], "robust": True}, 2),
        record.factored,
    } - {""}:
        module, _, function = entry.partition(".")
        assert hasattr(importlib.import_module(f"transpile_runtime.compiled.{module}"), function), entry


# ------------------------------------------------------------------------------------------------- expansions


def test_only_lowering_knows_what_has_an_expansion():
    def fn(x):
        return np.sum(np.linalg.cholesky(x) ** 3)

    x = np.eye(3) + 0.1
    assert "cholesky_adjoint" in tp.source(tp.grad(fn), x, stage="core")
    assert "cholesky_adjoint" not in tp.source(tp.grad(fn), x) + tp.source(tp.jit(tp.grad(fn)), x)
    for outer in (tp.jacfwd, tp.jacrev):
        assert "cholesky_adjoint(" not in tp.source(tp.vmap(outer(tp.grad(fn))), x[None])
    step, small = np.arange(9.0).reshape(3, 3) / 9, 1e-6
    step += step.T
    slope = (tp.grad(fn)(x + small * step) - tp.grad(fn)(x - small * step)) / (2 * small)
    np.testing.assert_allclose(tp.jvp(tp.grad(fn), (x,), (step,))[1], slope, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(tp.vmap(tp.grad(fn))(np.stack([x, 2 * x]))[1], tp.grad(fn)(2 * x), rtol=1e-12)


def test_an_expansion_is_in_place_of_derivatives_and_spelling():
    bare = Op("f", lambda types, params: FLOAT, None, "matrix", entry="linalg.inv", expansion=lambda x: x)
    assert bare.expansion is not None
    with pytest.raises(ValueError, match="has no entry"):
        Op("f", lambda types, params: FLOAT, None, "matrix", expansion=lambda x: x)
