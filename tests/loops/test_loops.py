"""The passes of `transpile.loops`, one by one: where each acts, and where it must not. No Numba: text, and loops run by Python.

Every pass's result is verified (`verified`), and what the loops give is compared with the interpreted call, each access watched.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from corpus.indexing import mask_write_array
from corpus.shapes import triangles
from loop_compare import Subject
from loop_text import Loops, text_of
from verified import check

import transpile as tp
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import FLOAT64, INT, Type
from transpile.errors import InternalError
from transpile.loops.allocation_motion import hoist_allocations
from transpile.loops.array_contraction import contract_arrays, points
from transpile.loops.buffer_reuse import reuse_buffers
from transpile.loops.check_hoisting import hoist_checks
from transpile.loops.fusion import fuse_loops
from transpile.loops.interchange import interchange_loops
from transpile.loops.invariant_motion import move_invariants
from transpile.loops.power_expansion import expand_powers
from transpile.loops.scalar_replacement import replace_with_scalars
from transpile.loops.schedule.parallel import parallelise
from transpile.loops.size_assumptions import assume_sizes, assumed
from transpile.loops.store_forwarding import forward_stores
from transpile.loops.unroll import unroll_loops
from transpile.loops.vector_functions import call_vector_functions
from transpile.simplify.dead_code import remove_dead_lowered

Pass = Callable[[ir.Function], ir.Function]
READY = (forward_stores, hoist_checks, forward_stores)  # what stands before most passes

X, Y, K = np.linspace(0.5, 2.0, 4), np.linspace(-1.0, 1.0, 4), np.array([0, 2, 2, 1])
A = np.linspace(-1.0, 2.0, 12).reshape(4, 3)
VECTOR = Type("float64", (Dim.symbol("n"),))


def text(f: Any, args: tuple[Any, ...], *passes: Pass) -> str:
    """The body of the function after the passes, without the numbers of messages."""
    fn = check(Loops(f, args).lowered)
    for p in passes:
        fn = check(p(fn), getattr(p, "__name__", "pass"))
    _, *lines = text_of(fn).splitlines()
    found = "\n".join(line[4:] for line in lines)
    return re.sub(r"errors\.(\w+)_\(\d+(, )?", r"\1(", found) + "\n"


def stays(p: Pass, f: Any, args: tuple[Any, ...], *before: Pass) -> None:
    """The pass leaves the function as it is."""
    assert text(f, args, *before, p) == text(f, args, *before)


def agree(f: Any, *calls: tuple[Any, ...]) -> None:
    """All stages give what the interpreted calls give, errors included."""
    subject = Subject(f)
    for args in calls:
        subject.check(args)


# ------------------------------------------------------------------------------------------------------- assume


def product(a, y):
    t = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t += a[i, j] * y[j]
    return t


def test_assume_guards_equal_sizes() -> None:
    y = np.ones(9)
    found = text(product, (np.ones((9, 9)), y), lambda fn: assume_sizes(fn, assumed([(9, 9), (9,)])))
    assert found.count("raise again.OtherSizes") == 2 and "if d != n:" in found and "if m != n:" in found
    assert "if d != 3:" in text(product, (A, np.ones(3)), lambda fn: assume_sizes(fn, assumed([(4, 3), (3,)])))


def test_assume_takes_nothing_of_sizes_that_differ_or_are_one() -> None:
    assert assumed([(4, 7), (5,), None]) == ()
    assert assumed([(1, 1), (0,), (0,)]) == ()
    agree(product, (np.ones((9, 9)), np.ones(9)), (np.ones((9, 8)), np.ones(9)), (np.ones((9, 9)), np.ones(8)))


# ------------------------------------------------------------------------------------------- forward, simplify


def read_twice(x, y):
    n = x.shape[0]
    for i in range(n):
        y[i] = x[i] * 2.0
        x[i] = y[i] + (1.0 if i < n else 0.0)


def test_forward_reads_and_tests_nothing_twice() -> None:
    found = text(read_twice, (X, Y), forward_stores)
    assert found.count("x[i]") == 2 and found.count("y[i]") == 1 and "i < n" not in found


def written_between(x, k):
    x[0] = 2.0
    x[k[1]] = 3.0
    return x[0]


def test_forward_reads_again_what_a_write_may_have_changed() -> None:
    assert re.search(r"x\[np.uint64\(at\)\] = 3.0\n.*x\[0\]", text(written_between, (X, K), forward_stores), re.DOTALL)
    agree(written_between, (X, K), (X, 0 * K), (X, K + 9), (X[:0], K))


def around(x):
    n, total = x.shape[0], 0.0
    for i in range(n):
        total += x[(i + 1) % n] * x[n - 1 - i] * x[n // 2]
    return total


def test_forward_knows_the_results_of_a_branch_that_is_always_taken() -> None:
    agree(tp.jacrev(mask_write_array), (np.linspace(0.5, 2.0, 5),))


def test_a_size_is_not_said_by_what_is_computed_from_it() -> None:
    """The checks say that ``n`` is ``min(n, 2) + 1``."""
    a = np.linspace(-1.0, 2.0, 9).reshape(3, 3)
    agree(tp.jacrev(triangles), (a,))
    assert "compiled: 2,664 bytes" in str(tp.report(tp.jacrev(triangles), a))  # its loops are read, and the search ends


def test_simplify_knows_remainders_and_mirrored_indices() -> None:
    assert (
        "raise" in text(around, (X,)) and text(around, (X,), forward_stores).count("raise") == 1
    )  # n // 2 is not below 0
    agree(around, (X,), (X[:0],), (X[:1],))


# ------------------------------------------------------------------------------------------- integers that wrap

LEAST, MOST = -(2**63), 2**63 - 1


def sum_of_two(x, p, q):
    if p < 2:
        if q < 2:
            if p + q >= 0:
                x[p + 1] = 1.0


def one_less(x, p):
    if p - 1 >= 0:
        if p < 3:
            x[p] = 1.0


def temporary(x, p):
    total = 0.0
    if p >= 0:
        for i in range(x.shape[0]):
            t = np.zeros(p + i)
            t[i] = x[i]
            total += t[i]
    return total


def steps(x, p):
    for i in range(p):
        x = x * np.sin(x)
    return x


def ranged(x, p, q):
    for i in range(p, q):
        x = x * np.sin(x)
    return x


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (sum_of_two, (np.ones(9), LEAST, LEAST)),
        (one_less, (np.ones(9), LEAST)),
        (temporary, (X, MOST - 1)),
        (tp.grad(steps), (0.5, LEAST)),
        (tp.grad(ranged), (0.5, 0, LEAST)),
        (tp.grad(ranged), (0.5, LEAST, 10)),
        (tp.grad(ranged), (0.5, MOST, LEAST)),
    ],
)
def test_no_fact_rests_on_a_sum_that_wraps(f: Any, args: tuple[Any, ...]) -> None:
    """With these numbers sums wrap, tests come out as they would not in Python; but nothing is touched that is not there."""
    loops = Loops(f, args)
    for stage in ("optimised", "assumed", "parallel"):
        loops.run(stage, args)  # a `Violation` is no Exception: it comes through


def test_checks_of_all_wild_ranges_stay() -> None:
    def wild(x, p, q, r):
        t = 0.0
        for i in range(p, q):
            t += x[i + r]
        return t

    stays(hoist_checks, wild, (X, 0, 1, 0), forward_stores)
    found = text(tp.grad(steps), (0.5, 3), *READY)
    assert "raise" not in found and "range(max(p, 0) - 1, -1, -1)" in found


def test_sums_that_may_wrap_are_no_sums_of_numba() -> None:
    """Numba tells LLVM that its sums do not wrap: a check of ``3 * p`` would then be one of ``p``."""

    def read(x, p):
        t = x[3 * p] + x[p]
        for i in range(1, x.shape[0]):
            t += x[i - 1] * p
        return t + p + 1

    found = text(read, (X, 1), *READY)
    assert found.count("scalars.times(3, p)") == 1 and "at = t + n if t < 0 else t" in found
    assert "scalars.plus" not in found and "scalars.minus" not in found and "x[i - 1]" in found


# ------------------------------------------------------------------------------------------------------- checks


def test_checks_stand_before_loops() -> None:
    assert text(product, (A, np.ones(3)), forward_stores, hoist_checks, forward_stores, remove_dead_lowered) == (
        "n = a.shape[0]\n"
        "d = a.shape[1]\n"
        "m = y.shape[0]\n"
        "if 0 < n and d - 1 >= m:\n"
        "    raise IndexError(m, m)\n"
        "t = 0.0\n"
        "for i in range(n):\n"
        "    for j in range(d):\n"
        "        t = t + a[i, j] * y[j]\n"
        "return t\n"
    )
    agree(product, (A, np.ones(3)), (A, np.ones(2)), (A[:0], np.ones(2)), (A[:, :0], np.ones(0)))


def only_some(x, p):
    t = 0.0
    for i in range(x.shape[0]):
        if x[i] > 1.0:
            t += x[p]
    return t


def stops(x, y):
    t = 0.0
    for i in range(x.shape[0]):
        if x[i] > 1.4:
            break
        t += y[i]
    return t


def raises_itself(x, y):
    t = 0.0
    for i in range(x.shape[0]):
        if x[i] > 1.4:
            raise ValueError("too much")
        t += y[i]
    return t


def says(x, y):
    for i in range(x.shape[0]):
        print(x[i])
        y[i] = 1.0


def test_checks_stay_where_trips_may_not_come_to_them() -> None:
    for f, args in ((only_some, (X, 9)), (stops, (X, Y[:3])), (raises_itself, (X, Y[:3])), (says, (X, Y[:3]))):
        stays(hoist_checks, f, args, forward_stores)
        agree(f, args)
    agree(only_some, (X - 9.0, 9), (X, -4), (X, -5))


# --------------------------------------------------------------------------------------------------------- fuse


def in_step(x):
    y = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = 2.0 * x[i]
    for i in range(x.shape[0]):
        y[i] += y[i] * x[i]
    return y


def looks_ahead(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0] - 1):
        y[i] = 2.0 * x[i]
    for i in range(x.shape[0] - 1):
        y[i] += y[i + 1]
    return y


def looks_back(x):
    y = np.zeros(x.shape[0])
    for i in range(1, x.shape[0]):
        y[i] = 2.0 * x[i]
    for i in range(1, x.shape[0]):
        x[i] = y[i - 1]
    return x


def raises_between(x, y):
    for i in range(x.shape[0]):
        x[i] = 1.0
    for i in range(x.shape[0]):
        if y[i] > 0.5:
            raise ValueError("too much")
        x[i] += y[i]


def test_fuse_joins_loops_in_step() -> None:
    assert (
        text(in_step, (X,), forward_stores).count("for ") == 2
        and text(in_step, (X,), forward_stores, fuse_loops).count("for ") == 1
    )
    agree(in_step, (X,), (X[:0],))


def test_fuse_leaves_what_a_later_trip_writes() -> None:
    for f, args in ((looks_ahead, (X,)), (raises_between, (X, Y))):
        stays(fuse_loops, f, args, *READY)
        agree(f, args, tuple(a[:0] for a in args))
    agree(looks_back, (X,), (X[:0],), (X[:1],))


# ----------------------------------------------------------------------------------------------------- contract


def row_by_row(a):
    t = np.empty(a.shape)
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[i, j] = a[i, j] + 1.0
        for j in range(a.shape[1]):
            s += t[i, j] * t[i, 0]
    return s


def of_two_rows(a):
    t = np.empty(a.shape)
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[i, j] = a[i, j] + 1.0
        for j in range(a.shape[1]):
            s += t[i, j] * (t[i - 1, j] if i > 0 else 1.0)
    return s


def read_after(a):
    t = np.empty(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[i, j] = a[i, j] + 1.0
    return t[-1, 0]


def test_contract_keeps_a_row_of_what_a_trip_makes() -> None:
    found = text(row_by_row, (A,), *READY, contract_arrays)
    assert "t[j] = a[i, j] + 1.0" in found and "t = np.empty((d,), np.float64)" in found
    agree(row_by_row, (A,), (A[:0],), (A[:, :1],))


def test_contract_leaves_what_other_trips_or_later_statements_read() -> None:
    for f in (of_two_rows, read_after):
        stays(contract_arrays, f, (A,), *READY)
        agree(f, (A,), (A[:0],), (A[:, :0],))


# -------------------------------------------------------------------------------------------------------- order


def columns(a):
    out = np.zeros(a.shape[1])
    for k in range(a.shape[1]):
        t = 0.0
        for i in range(a.shape[0]):
            t += a[i, k]
        out[k] = t
    return out


def upwards(a):
    for k in range(1, a.shape[1]):
        for i in range(a.shape[0] - 1):
            a[i, k] = a[i + 1, k - 1] + a[i, k]


def last_of_columns(a):
    last = 0.0
    for k in range(a.shape[1]):
        for i in range(a.shape[0]):
            last = a[i, k] - 0.5 * last
    return last


def test_order_walks_along_rows() -> None:
    assert text(columns, (A,), *READY, interchange_loops, remove_dead_lowered) == (
        "d = a.shape[1]\n"
        "out = np.empty((d,), np.float64)\n"
        "for i in range(d):\n"
        "    out[i] = 0.0\n"
        "t = np.empty((max(d, 0),), np.float64)\n"
        "for k in range(d):\n"
        "    t[k] = 0.0\n"
        "for i in range(a.shape[0]):\n"
        "    for k in range(d):\n"
        "        t[k] = t[k] + a[i, k]\n"
        "for k in range(d):\n"
        "    out[k] = t[k]\n"
        "return out\n"
    )
    agree(columns, (A,), (A[:0],), (A[:, :0],))


def test_order_keeps_loops_that_depend_on_each_other() -> None:
    for f in (upwards, last_of_columns):
        stays(interchange_loops, f, (A,), *READY)
        agree(f, (A,), (A[:0],), (A[:, :0],))


# ------------------------------------------------------------------------------------------------------- unroll


def pairs(x):
    s = 0.0
    for i in range(x.shape[0]):
        for d in range(2):
            s += x[i] * d
    return s


def until(x):
    s = 0.0
    for i in range(x.shape[0]):
        for d in range(2):
            if x[i] > d + 0.7:
                break
            s += x[i] * d
    return s


def alone(x):
    s = 0.0
    for d in range(2):
        s += x[d]
    return s


def test_unroll_writes_short_loops_out() -> None:
    assert text(pairs, (X,), forward_stores, unroll_loops).count("for ") == 1
    agree(pairs, (X,), (X[:0],))


def test_unroll_keeps_loops_that_end_early_or_stand_alone() -> None:
    for f in (until, alone):
        stays(unroll_loops, f, (X,), forward_stores)
        agree(f, (X,), (X[:1],), (X[:0],))


# ---------------------------------------------------------------------------------------------------- invariant


def scaled(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        for c in range(w.shape[0]):
            s += x[i] * np.exp(w[c])
    return s


def rescaled(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        for c in range(w.shape[0]):
            s += x[i] * np.exp(w[c])
        w[0] = s
    return s


def test_invariants_are_computed_once() -> None:
    found = text(scaled, (X, Y), *READY, move_invariants, remove_dead_lowered)
    assert "if 0 < n:\n    for c in range(m):\n        t[c] = math.exp(w[c])" in found and "x[i] * t[c]" in found
    agree(scaled, (X, Y), (X[:0], Y), (X, Y[:0]))


def test_what_a_trip_changes_is_no_invariant() -> None:
    stays(move_invariants, rescaled, (X, Y), *READY)
    agree(rescaled, (X, 0.1 * Y), (X, Y[:0]), (X[:0], Y[:0]))


# ------------------------------------------------------------------------------------------------------ promote


def weighted(a, x):
    t = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t += a[i, j] * x[i]
    return t


def chained(a, x):
    t = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t += a[i, j] * x[i] * x[j]
    return t


def test_promote_adds_up_in_a_register() -> None:
    by_x = tp.grad(weighted, argnums=1)
    before = text(by_x, (A, X), *READY)
    assert "        x_bar[i] += a[i, j]" in before
    found = text(by_x, (A, X), *READY, replace_with_scalars)
    assert "    x_bar[i] += total" in found and "total = total + a[i, j]" in found
    agree(by_x, (A, X), (A[:, :0], X), (A[:, :0], X[:2]), (A, X[:2]), (A[:0], X[:0]))


def test_promote_leaves_elements_that_the_loop_touches_otherwise() -> None:
    by_x = tp.grad(chained, argnums=1)
    stays(replace_with_scalars, by_x, (A, X), *READY)
    agree(by_x, (A, X), (A[:, :0], X[:0]), (A, X[:2]))


def one_place(x, y, k):
    m, t = k.shape[0], 0.0
    for i in range(m):
        t += x[k[i] * 0] * 2.0 + y[2 * m + k[i] * 0 - 1] * i
    return t


def test_promote_computes_a_place_without_what_a_trip_reads() -> None:
    by_both = tp.grad(one_place, argnums=(0, 1))
    y = np.linspace(0.0, 1.0, 8)
    found = text(by_both, (X, y, K), *READY, replace_with_scalars)
    assert "\nt_4 = 2 * m - 1\ntotal = 0.0\n" in found
    assert "    y_bar[np.uint64(t_4)] += total\n    x_bar[0] += total_2\n" in found
    agree(by_both, (X, y, K), (X, y, K[:0]), (X[:0], y[:0], K[:0]), (X[:1], y, K), (X, y[:7], K))


# -------------------------------------------------------------------------------------------------------- hoist


def row_of_its_own(a):
    s = 0.0
    for i in range(a.shape[0]):
        t = np.zeros(a.shape[1])
        for j in range(a.shape[1]):
            t[a.shape[1] - 1 - j] = a[i, j]
        for j in range(a.shape[1]):
            s += t[j] * j
    return s


def of_given_size(x, p):
    s = 0.0
    for i in range(x.shape[0]):
        t = np.zeros(p)
        t[1:] = x[i]
        s += np.sum(t)
    return s


def swapped(x, m):
    u = np.zeros(x.shape[0])
    for i in range(m):
        v = np.zeros(x.shape[0])
        for j in range(x.shape[0]):
            v[j] = u[x.shape[0] - 1 - j] + x[j]
        u = v
    return u


def test_hoist_allocates_once() -> None:
    before, after = text(row_of_its_own, (A,), *READY), text(row_of_its_own, (A,), *READY, hoist_allocations)
    assert "    t = np.empty((d,), np.float64)" in before
    assert "\nt = np.empty((d,), np.float64)\n" in after and "    t = np.empty" not in after
    agree(row_of_its_own, (A,), (A[:0],), (A[:, :0],))


def test_hoist_raises_only_where_a_trip_does() -> None:
    assert "np.empty((p if 0 < n else 0,), np.float64)" in text(of_given_size, (X, 2), *READY, hoist_allocations)
    agree(of_given_size, (X, 2), (X, 0), (X, -3), (X[:0], -3), (X[:0], 2**62))


def test_hoist_leaves_what_a_trip_hands_on() -> None:
    found = text(swapped, (X, 3), *READY, hoist_allocations)
    assert "    v = np.empty" in found
    agree(swapped, (X, 3), (X, 0), (X[:0], 2))


# -------------------------------------------------------------------------------------------------------- reuse


def normalised(x):
    t = np.exp(x)
    u = t / np.sum(t)
    return u / np.max(u)


def normalised_rows(a):
    t = np.exp(a)
    u = t / np.sum(t, axis=0)
    return u / np.max(u, axis=0)


def mirrored(x):
    t = np.exp(x)
    u = t[::-1] * np.sum(t)
    return u + np.sum(u)


def shifted(x):
    t = np.exp(x)
    u = np.zeros(x.shape[0])
    for i in range(1, x.shape[0]):
        u[i] = t[i - 1]
    return u


def all_of_it(x):
    t = np.exp(x)
    u = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[0]):
            s += t[j] * x[i]
        u[i] = s
    return u


def again_and_again(x, m):
    t = np.exp(x)
    u = np.zeros(x.shape[0])
    for k in range(m):
        for i in range(x.shape[0]):
            u[i] = t[i] + k
    return u


def too_late(x):
    t = np.exp(x)
    whole = np.sum(t)
    u = np.zeros(x.shape[0])
    s = 0.0
    for i in range(x.shape[0]):
        u[i] = x[i] * whole
        s += t[i] * u[i]
    u[0] = s
    return u


def transposed(a):
    n = a.shape[0]
    t = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            t[i, j] = np.exp(a[i, 0] * a[j, 1])
    u = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            u[i, j] = t[j, i] + i
    return u


def both_kept(x):
    t = np.exp(x)
    return t, t / np.sum(t)


def arrays_in(found: str) -> int:
    return len(re.findall(r"np\.empty\(\(", found))


@pytest.mark.parametrize(("f", "args", "saved"), [(normalised, (X,), 2), (normalised_rows, (A,), 3)])
def test_memory_of_what_is_not_read_any_more_is_used_again(f: Any, args: tuple[Any, ...], saved: int) -> None:
    passes = (*READY, fuse_loops, forward_stores, remove_dead_lowered, contract_arrays)
    before, after = (arrays_in(text(f, args, *passes, *last)) for last in ((), (reuse_buffers,)))
    assert before - after == saved, text(f, args, *passes, reuse_buffers)
    agree(f, args)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (mirrored, (X,)),
        (shifted, (X,)),
        (all_of_it, (X,)),
        (again_and_again, (X, 3)),
        (too_late, (X,)),
        (transposed, (A,)),
        (both_kept, (X,)),
    ],
)
def test_memory_that_another_trip_reads_is_left(f: Any, args: tuple[Any, ...]) -> None:
    """Each has two arrays that must stay two."""
    found = text(f, args, *READY, fuse_loops, forward_stores, remove_dead_lowered, contract_arrays, reuse_buffers)
    assert arrays_in(found) == 2, found
    agree(f, args)


# ----------------------------------------------------------------------------------------------------- parallel


def in_chunks(fn: ir.Function) -> ir.Function:
    return parallelise(fn, 2, 1.0)


def rows(a):
    out = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * a[i, j]
        out[i] = s
    return out


def running(a):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += 0.5 * a[i - 1, j]


def leaning(a):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] += 0.5 * a[i - 1, j - 1]


def scattered(a, k, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[k[i]] = a[i, j]


def test_parallel_cuts_independent_trips() -> None:
    found = text(rows, (A,), *READY, in_chunks)
    assert "for c in prange(chunks):" in found and "// chunks" in found
    agree(rows, (A,), (A[:0],), (A[:1],), (A[:, :0],))
    shared = tp.grad(product, argnums=1)
    assert "prange" in text(shared, (A, np.ones(3)), *READY, in_chunks)  # `y_bar[j] += ...` into parts of its own
    agree(shared, (A, np.ones(3)), (A[:0], np.ones(3)), (A[:2], np.ones(3)))


def test_parallel_cuts_columns_where_rows_wait() -> None:
    found = text(running, (A,), *READY, in_chunks).splitlines()
    at = next(k for k, line in enumerate(found) if "prange(" in line)
    assert "for i in range(1, n):" in "".join(found[at : at + 4])
    agree(running, (A,), (A[:0],), (A[:1],), (A[:, :0],))


def test_parallel_leaves_trips_that_share_or_raise() -> None:
    stays(in_chunks, leaning, (A,), *READY)
    stays(in_chunks, scattered, (A, K, Y), *READY)
    agree(leaning, (A,), (A[:0],), (A[:1],))
    agree(scattered, (A, K, Y), (A, K + 2, Y), (A, K, Y[:0]))


# ------------------------------------------------------------------------------------------------ blocks, powers


def sines(x):
    return np.sin(x)


def chain_of_sines(x):
    s = 0.5
    for i in range(x.shape[0]):
        s = np.sin(s) + x[i]
    return s


def sines_of_the_last(x):
    for i in range(1, x.shape[0]):
        x[i] = np.sin(x[i - 1])


def test_blocks_choose_the_vector_function() -> None:
    found = text(sines, (X,), forward_stores, call_vector_functions)
    assert "for start in range(0, n, 512):" in found and "vector.sin_bounded(x[np.uint64(i)])" in found
    long = np.linspace(-1e3, 1e3, 1300)
    wild = long.copy()
    wild[[3, 700]] = 1e300, np.inf
    agree(sines, (long,), (wild,), (X[:0],))


def test_blocks_leave_trips_that_wait_for_each_other() -> None:
    for f in (chain_of_sines, sines_of_the_last):
        stays(call_vector_functions, f, (X,), forward_stores)
        agree(f, (X,), (X[:0],))


def test_powers_are_products() -> None:
    assert "t_2 * t_2 * t_2" in text(lambda x: x**3, (X,), forward_stores, expand_powers)
    stays(expand_powers, lambda x, p: x**p + x**0.3, (X, 2.0), forward_stores)


# --------------------------------------------------------------------------------------------------------- dead


def last_read_after(x):
    last = 0.0
    for i in range(x.shape[0]):
        last = x[i]
        x[i] = 1.0
    return last


def parts() -> tuple[ir.Function, ir.Var, ir.Var]:
    """A function of ``x`` and ``n`` with a loop that writes an array that nobody reads, and one that writes ``x``."""
    x, n, i = ir.Var("x", VECTOR, buffer=True), ir.Var("n", INT), ir.Var("i", INT)
    own = ir.Var("t", VECTOR, buffer=True)
    value = ir.Var("v", FLOAT64)
    read = ir.Let(value, "index", (x, i), {"path": points(1), "dims": ()})
    body = [read, ir.Store(own, points(1), (i,), value), ir.Store(x, points(1), (i,), ir.Const(1.0, FLOAT64))]
    loop = ir.For(i, ir.Const(0, INT), n, ir.Const(1, INT), (), ir.Block((), body), ())
    return ir.Function("f", (x, n), ir.Block((), [ir.Alloc(own, "empty", (n,), {}), loop], ()), {}), own, value


def test_dead_arrays_go_with_their_writes() -> None:
    fn, own, value = parts()
    found = remove_dead_lowered(check(fn))
    (loop,) = check(found).body.stmts
    assert isinstance(loop, ir.For) and [type(s) for s in loop.body.stmts] == [ir.Store]


def test_what_is_read_after_a_loop_stays() -> None:
    stays(remove_dead_lowered, last_read_after, (X,))
    agree(last_read_after, (X,), (X[:0],))


# --------------------------------------------------------------------------------------------------- the verifier


def test_the_verifier_refuses_what_a_pass_must_not_leave() -> None:
    fn, own, value = parts()
    loop = fn.body.stmts[1]
    assert isinstance(loop, ir.For)
    loop.body.stmts.append(loop.body.stmts[0])
    with pytest.raises(InternalError, match="defined twice"):
        check(fn)
    fn, own, value = parts()
    fn.body.yields = (value,)
    with pytest.raises(InternalError, match="outside the block"):
        check(fn)
    fn, own, value = parts()
    fn.body.stmts.pop(0)
    with pytest.raises(InternalError, match="before it is defined|is written"):
        check(fn)
