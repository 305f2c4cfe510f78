"""What the integers of a function are: from its symbols, its definitions and its loops, and from nothing on a variable."""

from __future__ import annotations

from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.dims import ANY, Dim
from transpile.core.integers import Integers
from transpile.core.types import FLOAT, INT, Type
from transpile.core.walk import Cloner
from transpile.ops.tables import prims

N = Dim.symbol("n")
ONE = ir.Const(1, INT)


def function(stmts, symbols, dims=(N,)):
    return ir.Function("f", (ir.Var("x", FLOAT.with_dims(dims)),), ir.Block((), stmts), symbols)


def forms(fn):
    return Integers(prims(), fn).of


def let(name, prim, *args, **params):
    return ir.Let(ir.Var(name, INT), prim, args, params)


def test_a_variable_has_no_facts():
    assert set(ir.Var.__slots__) == {"name", "type", "buffer"}


def test_of_definitions():
    k = ir.Var("k", INT)
    fn = function([], {"k": k})
    n = let("n", "dim", fn.params[0], axis=0)
    fn.symbols["n"] = n.var
    less = let("less", "sub", n.var, ir.Const(2, INT))
    size = let("size", "maximum", less.var, ir.Const(0, INT))
    half = let("half", "floordiv", n.var, ir.Const(2, INT))
    least = let("least", "minimum", n.var, half.var)
    other = let("other", "mod", n.var, k)
    fn.body.stmts += [n, less, size, half, least, other]
    of = forms(fn)
    found = [of(s.var) for s in (n, less, size, half, least)]
    assert list(map(str, found)) == ["n", "n - 2", "max(n - 2, 0)", "n // 2", "min(n, n // 2)"]
    assert of(k) == Dim.integer("k") and of(other.var) is None


def test_narrow_integers_wrap():
    n = ir.Var("n", INT)
    narrow = ir.Var("narrow", Type("int32"))
    fn = function([ir.Let(narrow, "add", (n, n))], {"n": n})
    assert forms(fn)(narrow) is None


def test_a_size_without_a_value_is_not_named():
    fn = function([], {}, (ANY,))
    size = let("size", "dim", fn.params[0], axis=0)
    fn.body.stmts.append(size)
    assert forms(fn)(size.var) is None


def test_each_of_two_loops_has_the_symbol_that_it_names():
    loop = ir.For(ir.Var("i", INT), ir.Const(0, INT), ONE, ONE, (), ir.Block(), symbol=Dim.symbol("i"))
    again = Cloner({}, {"i": Dim.symbol("j")}.get).stmt(loop)
    of = forms(function([loop, again], {}))
    assert (of(loop.index), of(again.index)) == (Dim.symbol("i"), Dim.symbol("j"))


def test_a_builder_knows_the_function_that_something_is_made_from():
    n = ir.Var("n", INT)
    known = let("known", "add", n, ONE)
    fn = function([known], {"n": n})
    b = Builder(prims(), dict(fn.symbols), fn)
    assert b.form(known.var) == N + 1
    assert b.form((b.expr(known.var) * 2).op) == N * 2 + 2
    assert list(b.symbols) == ["n"]
    assert b.own_symbol(known.var) == b.form(known.var) and len(b.symbols) == 2


def test_a_fresh_symbol_is_none_of_the_function_s():
    """Not one that only a type names, nor that of an index: what is known of these would be taken for known of it."""
    k, i = ir.Var("k", INT), ir.Var("i", INT)
    loop = ir.For(i, ir.Const(0, INT), ONE, ONE, (), ir.Block(), symbol=Dim.symbol("k.2"))
    fn = function([loop], {}, dims=(Dim.symbol("k.1"),))
    assert str(Builder(prims(), {}, fn).own_symbol(k)) == "k.3"
    assert str(Builder(prims(), {"k.1": k}).own_symbol(k)) == "k.2"
