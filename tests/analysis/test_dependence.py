"""The dependence test: kernels by hand, then random loop nests against a run of the program."""

from __future__ import annotations

import random

import numpy as np
import pytest
from verified import verify

from transpile.analysis.dependence import may_overwrite
from transpile.analysis.scopes import definitions, sites
from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.dims import Dim
from transpile.core.integers import Integers
from transpile.core.types import INT, Type
from transpile.ops.tables import prims

N = Dim.symbol("n")


class Nest(Builder):
    """A loop nest over one buffer ``a`` of ``rank`` axes of length n."""

    def __init__(self, rank: int) -> None:
        super().__init__(prims())
        source = ir.Var("a", Type("float64", (N,) * rank))
        self.params = (source, ir.Var("m", INT))
        n = self.bind("n", INT, "dim", (source,), {"axis": 0})
        self.bind_symbol(N, n)
        self.n, self.m = self.expr(n), self.expr(self.params[1])
        self.a = self.copy("a", source)
        self.named: dict[str, object] = {}

    def loop(self, start, bound, body, step=1, backwards=False, signed=False):
        name = f"i.{len(self.symbols)}"
        index, symbol = ir.Var("i", INT), Dim.integer(name) if signed else Dim.symbol(name)
        self.bind_symbol(symbol, index)
        with self.into(ir.Block()) as block:
            body(self.expr(index))
        step = step if isinstance(step, int) else self.operand(step)
        step = ir.Const(step, INT) if isinstance(step, int) else step
        ends = (self.operand(start), self.operand(bound), step)
        self.emit(ir.For(index, *ends, (), block, backwards=backwards, symbol=symbol))

    def down(self, start, bound, body):
        self.loop(start, bound, body, step=-1)

    def repeat(self, body):
        with self.into(ir.Block()) as test:
            test.yields = (self.operand(self.m < 3),)
        with self.into(ir.Block()) as block:
            body()
        self.emit(ir.While((), test, block))

    def when(self, condition, then, orelse=lambda: None):
        blocks = []
        for build in (then, orelse):
            with self.into(ir.Block()) as block:
                build()
            blocks.append(block)
        self.emit(ir.If(self.operand(condition), *blocks))

    def path(self, subscripts):
        items, args = [], []

        def slot(value):
            if value is None:
                return None
            args.append(value)
            return len(args) - 1

        for s in subscripts:
            if isinstance(s, slice):
                items.append(ir.Slice(slot(s.start), slot(s.stop), slot(s.step)))
            else:
                items.append(ir.Point(slot(s)))
        return (ir.Index(tuple(items)),), args

    def get(self, name, *subscripts):
        path, args = self.path(subscripts)
        value = self.read(self.a, path, args, name=name)
        self.named[name] = self.block.stmts[-1] if value.dims == () else self._last_index()
        return value

    def _last_index(self):
        return next(s for s in reversed(self.block.stmts) if isinstance(s, ir.Let) and s.prim == "index")

    def put(self, name, *subscripts):
        path, args = self.path(subscripts)
        place = self.read(self.a, path, args)
        self.store(self.a, path, args, place * 2.0)
        self.named[name] = self.block.stmts[-1]

    def function(self):
        return ir.Function(
            "f", self.params, ir.Block((), self.block.stmts, (self.operand(self.read(self.a)),)), self.symbols
        )

    def overwritten(self, first, write):
        fn = verify(self.function())
        at = {id(s.stmt): s for s in sites(fn)}
        return may_overwrite(
            definitions(fn), fn.symbols, Integers(prims(), fn).of, at[id(self.named[first])], at[id(self.named[write])]
        )


def test_recurrence_is_its_own_tape():
    p = Nest(1)
    p.loop(1, p.n, lambda i: (p.get("read", i - 1), p.put("write", i)))
    assert not p.overwritten("read", "write")
    assert not p.overwritten("write", "write")


def test_recurrence_downwards():
    p = Nest(1)
    p.down(p.n - 2, -1, lambda i: (p.get("read", i + 1), p.put("write", i)))
    assert not p.overwritten("read", "write")


def test_recurrence_backwards():
    p = Nest(1)
    p.loop(0, p.n - 1, lambda i: (p.get("read", i + 1), p.put("write", i)), backwards=True)
    assert not p.overwritten("read", "write")


def test_shift_is_overwritten():
    p = Nest(1)
    p.loop(0, p.n - 1, lambda i: (p.get("read", i + 1), p.put("write", i + 1)))
    assert p.overwritten("read", "write")


def test_next_element_is_overwritten_later():
    p = Nest(1)
    p.loop(0, p.n - 1, lambda i: (p.get("read", i + 1), p.put("write", i)))
    assert p.overwritten("read", "write")


def test_negative_index_counts_from_the_end():
    p = Nest(1)
    p.loop(0, p.n, lambda i: (p.get("read", i - 1), p.put("write", i)))
    assert p.overwritten("read", "write")  # a[-1] is read in the first trip and written in the last


def test_gaussian_elimination():
    p = Nest(2)

    def rows(k):
        def row(i):
            p.get("pivot", k, k)
            p.get("factor", i, k)
            p.loop(k, p.n, lambda j: (p.get("upper", k, j), p.get("old", i, j), p.put("write", i, j)))

        p.loop(k + 1, p.n, row)

    p.loop(0, p.n, rows)
    assert not p.overwritten("upper", "write")
    assert not p.overwritten("pivot", "write")
    assert p.overwritten("factor", "write")
    assert p.overwritten("old", "write")


def test_elimination_by_rows():
    p = Nest(2)
    p.loop(
        0,
        p.n,
        lambda k: p.loop(
            k + 1,
            p.n,
            lambda i: (
                p.get("upper", k, slice(k, None)),
                p.get("old", i, slice(k, None)),
                p.put("write", i, slice(k, None)),
            ),
        ),
    )
    assert not p.overwritten("upper", "write")
    assert p.overwritten("old", "write")


def test_elimination_keeps_the_factors():
    p = Nest(2)  # a[i, k] is read, then the row is changed from k + 1 on only
    p.loop(
        0,
        p.n,
        lambda k: p.loop(
            k + 1,
            p.n,
            lambda i: (
                p.get("factor", i, k),
                p.put("write", i, slice(k + 1, None)),
            ),
        ),
    )
    assert not p.overwritten("factor", "write")


def test_cholesky():
    p = Nest(2)

    def column(j):
        p.loop(0, j, lambda k: p.get("left", j, k))
        p.put("diagonal", j, j)

        def below(i):
            p.loop(0, j, lambda k: (p.get("left_i", i, k), p.get("left_j", j, k)))
            p.get("root", j, j)
            p.put("write", i, j)

        p.loop(j + 1, p.n, below)

    p.loop(0, p.n, column)
    for read in ("left", "left_i", "left_j", "root"):
        for write in ("diagonal", "write"):
            assert not p.overwritten(read, write), (read, write)


@pytest.mark.parametrize("shift", [0, 1])
def test_time_steps_with_rows(shift):
    p = Nest(2)
    p.loop(0, p.n - 1, lambda t: (p.get("row", t, slice(None)), p.put("write", t + shift, slice(None))))
    assert p.overwritten("row", "write") == (shift == 0)


def test_time_steps_element_by_element():
    p = Nest(2)
    p.loop(
        1,
        p.n,
        lambda t: p.loop(
            1,
            p.n - 1,
            lambda i: (
                p.get("left", t - 1, i - 1),
                p.get("right", t - 1, i + 1),
                p.put("write", t, i),
            ),
        ),
    )
    assert not p.overwritten("left", "write")
    assert not p.overwritten("right", "write")


def test_substitution_forward_and_back():
    forward = Nest(1)
    forward.loop(
        0, forward.n, lambda i: (forward.loop(0, i, lambda j: forward.get("read", j)), forward.put("write", i))
    )
    assert not forward.overwritten("read", "write")
    back = Nest(1)
    back.down(back.n - 1, -1, lambda i: (back.loop(i + 1, back.n, lambda j: back.get("read", j)), back.put("write", i)))
    assert not back.overwritten("read", "write")


def test_stencil_in_place_is_overwritten():
    p = Nest(1)
    inner = slice(1, -1)
    p.loop(0, p.m, lambda t: (p.get("left", slice(None, -2)), p.get("right", slice(2, None)), p.put("write", inner)))
    assert p.overwritten("left", "write")
    assert p.overwritten("right", "write")


def test_gauss_seidel_in_place():
    p = Nest(1)
    p.loop(0, p.m, lambda t: p.loop(1, p.n - 1, lambda i: (p.get("l", i - 1), p.get("r", i + 1), p.put("write", i))))
    assert p.overwritten("l", "write")  # in the next sweep
    assert p.overwritten("r", "write")
    once = Nest(1)
    once.loop(1, once.n - 1, lambda i: (once.get("l", i - 1), once.get("r", i + 1), once.put("write", i)))
    assert not once.overwritten("l", "write")
    assert once.overwritten("r", "write")


def test_boundary_values_stay():
    p = Nest(1)
    p.repeat(lambda: (p.get("first", 0), p.get("last", -1), p.put("write", slice(1, -1))))
    assert not p.overwritten("first", "write")
    assert not p.overwritten("last", "write")


def test_red_and_black():
    p = Nest(1)
    p.repeat(lambda: (p.get("black", slice(None, None, 2)), p.put("red", slice(1, None, 2))))
    assert not p.overwritten("black", "red")
    odd = Nest(1)
    odd.repeat(
        lambda: (
            odd.loop(1, odd.n, lambda i: odd.get("read", i), step=2),
            odd.loop(0, odd.n, lambda i: odd.put("write", i), step=2),
        )
    )
    assert not odd.overwritten("read", "write")


def test_halves():
    p = Nest(1)
    p.repeat(lambda: (p.get("low", slice(None, p.m)), p.put("high", slice(p.m, None))))
    assert not p.overwritten("low", "high")


def test_tests_around_are_used():
    p = Nest(1)
    p.loop(0, p.n, lambda i: p.loop(0, p.n, lambda j: p.when((i < j), lambda: (p.get("read", i), p.put("write", j)))))
    assert not p.overwritten("read", "write")  # a[1] is written for i = 0 and read for i = 1
    q = Nest(1)
    q.loop(0, q.n, lambda i: q.when(i.ne(3), lambda: q.put("write", i), lambda: q.get("read", i)))
    assert not q.overwritten("read", "write")


def test_alternatives_in_one_trip():
    p = Nest(1)
    p.when(p.m < 2, lambda: p.get("read", 0), lambda: p.put("write", 0))
    assert not p.overwritten("read", "write")
    q = Nest(1)
    q.loop(0, q.n, lambda i: q.when(i < 2, lambda: q.get("read", 0), lambda: q.put("write", 0)))
    assert q.overwritten("read", "write")
    r = Nest(1)  # the test is the same in every trip
    r.repeat(lambda: r.when(r.m < 2, lambda: r.get("read", 0), lambda: r.put("write", 0)))
    assert not r.overwritten("read", "write")


def test_two_loops_one_after_the_other():
    p = Nest(1)
    p.loop(0, p.m, lambda i: p.get("read", i))
    p.loop(p.m, p.n, lambda i: p.put("write", i))
    assert not p.overwritten("read", "write")


def test_unknown_step():
    p = Nest(1)
    p.loop(p.m, p.n, lambda i: (p.get("read", i - 1), p.put("write", i)), step=p.m, signed=True)
    assert p.overwritten("read", "write")


# -------------------------------------------------------------------------------------------- against a run


def run(fn, n, m):
    """Every touch of the buffer in the order of the run, up to a bad index: (id of the statement, the set of elements)."""
    rank = fn.params[0].type.rank
    grid = np.arange(n**rank).reshape((n,) * rank)
    touched = []
    env = {fn.params[1]: m}
    binary = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "less": lambda a, b: a < b,
        "less_equal": lambda a, b: a <= b,
        "greater": lambda a, b: a > b,
        "greater_equal": lambda a, b: a >= b,
        "not_equal": lambda a, b: a != b,
        "equal": lambda a, b: a == b,
    }

    def value(o):
        return o.value if isinstance(o, ir.Const) else env[o]

    def touch(stmt, path, args):
        part = grid
        for step in path:
            subscript = []
            for item in step.items:
                if isinstance(item, ir.Point):
                    subscript.append(value(args[item.arg]))
                else:
                    subscript.append(
                        slice(*(None if s is None else value(args[s]) for s in (item.start, item.stop, item.step)))
                    )
            part = part[tuple(subscript)]
        touched.append((id(stmt), frozenset(np.ravel(part).tolist())))

    def block(b):
        for s in b.stmts:
            match s:
                case ir.Let(prim="dim"):
                    env[s.var] = n
                case ir.Let(prim="index"):
                    touch(s, s.params["path"], s.args[1:])
                case ir.Let() if s.prim in binary and not s.var.type.dims and not s.var.type.is_float:
                    env[s.var] = binary[s.prim](*map(value, s.args))
                case ir.Store():
                    touch(s, s.path, s.args)
                case ir.If():
                    block(s.then if value(s.test) else s.orelse)
                case ir.For():
                    numbers = range(value(s.start), value(s.bound), value(s.step))
                    for env[s.index] in reversed(numbers) if s.backwards else numbers:
                        block(s.body)

    try:
        block(fn.body)
    except IndexError:
        pass
    return touched


def random_nest(rng):
    p = Nest(rng.choice([1, 1, 2]))
    count = [0]

    def number(indices):
        shift = rng.choice([-2, -1, 0, 0, 1, 2])
        base = rng.choice([*indices, *indices, p.n, p.m, None])
        return shift if base is None else base + shift

    def subscript(indices):
        kind = rng.random()
        if kind < 0.7:
            return number(indices)
        parts = [number(indices) if rng.random() < 0.5 else None for _ in range(2)]
        return slice(*parts, rng.choice([None, None, None, 2, -1, -2, 3]))

    def access(indices):
        count[0] += 1
        place = [subscript(indices) for _ in range(p.a.type.rank)]
        getattr(p, rng.choice(["get", "put"]))(f"s{count[0]}", *place)

    def body(indices, depth):
        for _ in range(rng.randint(1, 3)):
            kind = rng.random()
            if depth < 3 and kind < 0.45:
                p.loop(number(indices), number(indices), lambda i: body([*indices, i], depth + 1),
                       step=rng.choice([1, 1, 1, -1, 2, -2]), backwards=rng.random() < 0.3, signed=True)  # fmt: skip
            elif depth < 3 and kind < 0.6 and indices:
                a, b = number(indices), number(indices)
                test = rng.choice(
                    [lambda: a < b, lambda: p.expr(a).eq(b), lambda: p.expr(a).ne(b), lambda: p.expr(a) >= b]
                )
                p.when(test(), lambda: body(indices, depth + 1), lambda: body(indices, depth + 1))
            else:
                access(indices)

    while count[0] < 2:
        body([], 0)
    return p


@pytest.mark.parametrize("seed", range(60))
def test_never_says_no_where_a_run_says_yes(seed):
    rng = random.Random(seed)
    p = random_nest(rng)
    fn = p.function()
    at = {id(s.stmt): s for s in sites(fn)}
    defs, form_of = definitions(fn), Integers(prims(), fn).of
    overwritten: set = set()
    for n, m in ((1, 0), (3, 1), (4, 2), (5, -1), (6, 3)):
        touched = run(fn, n, m)
        for k, (later, part) in enumerate(touched):
            if isinstance(at[later].stmt, ir.Store):
                overwritten.update((first, later) for first, other in touched[:k] if part & other)
    writes = [s for s in at.values() if isinstance(s.stmt, ir.Store)]
    touches = [s for s in at.values() if isinstance(s.stmt, ir.Store) or getattr(s.stmt, "prim", "") == "index"]
    for first in touches:
        for write in writes:
            if not may_overwrite(defs, fn.symbols, form_of, first, write):
                assert (id(first.stmt), id(write.stmt)) not in overwritten, f"seed {seed}"
