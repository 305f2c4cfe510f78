"""Calls that take long: other threads run meanwhile, Ctrl-C ends them, and what others write into index arrays does no harm."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np
import pytest

import transpile as tp
from transpile.loops.steering import steering

pytestmark = pytest.mark.numba
HERE = Path(__file__).parents[1]


@pytest.mark.parametrize("beside", [pytest.param("alone", marks=pytest.mark.slow), "beside"])
@pytest.mark.skipif(sys.platform == "win32", reason="the test sends signals from a shell")
def test_signals(beside):
    """Each kind of loop is interrupted within a second, and holds no memory then."""
    lines = lines_of(beside)
    assert len(lines) == 19
    assert [line for line in lines if not line.endswith(": in time")] == []


@pytest.mark.skipif(sys.platform == "win32", reason="the test sends signals from a shell")
def test_handlers_of_signals(cache_directory):
    """What they write, or threads that they start, comes when the call has ended that relies on it."""
    assert lines_of("handlers") == [
        f"{name} {how} 0.0 True" for name in ("INT", "USR1") for how in ("written", "a thread written")
    ]


def lines_of(kind):
    paths = os.pathsep.join([str(HERE.parent), str(HERE.parent / "runtime")])
    found = subprocess.run(
        [sys.executable, str(HERE / "long_calls.py"), kind],
        capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return found.stdout.splitlines()


# ------------------------------------------------------------------------------------------------ the lock


def burnt(x, n):
    value = x[0]
    for _ in range(n):
        value = value * 0.5 + 1.0 / (1.0 + value)
    return value


class Ticking(threading.Thread):
    """Notes the time, again and again: each note needs the interpreter's lock."""

    def __init__(self):
        super().__init__(daemon=True)
        self.found, self.is_over = [], False

    def __enter__(self):
        self.start()
        while not self.found:
            time.sleep(0.001)
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.join()

    def run(self):
        while not self.is_over:
            self.found.append(time.perf_counter())
            time.sleep(0.005)

    def between(self, start, end):
        return sum(start < t < end for t in self.found)


def products(x, n):
    return np.sum(np.linalg.inv(np.eye(n) * x[0] + 1.0))


def vectors(x, n):
    return np.sum(np.sin(np.arange(n) * x[0]))


@pytest.mark.parametrize("fn, n", [(burnt, 10_000_000), (products, 600), (vectors, 10_000_000)])
def test_others_run_meanwhile(cache_directory, fn, n):
    g = tp.jit(fn)
    x = np.array([1.5])
    n, wanted = long_enough(g, x, n)
    with Ticking() as others:
        start = time.perf_counter()
        found = g(x, n)
        end = time.perf_counter()
        seen = others.between(start, end)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert end - start > 0.05, "too short to see anything"
    assert seen >= 3


def long_enough(g, x, n):
    """``n`` or more, so that a call takes 0.2 s, and what it gives."""
    g(x, n)
    while True:
        start = time.perf_counter()
        found = g(x, n)
        if time.perf_counter() - start > 0.2:
            return n, found
        n *= 2


def test_a_short_call_keeps_the_lock(cache_directory):
    """What takes less than 20 µs is not worth a change of threads: another that waits for the lock does not get it."""
    g = tp.jit(burnt)
    x = np.array([1.5])
    g(x, 10), g(x, 10)
    turns, is_over = [], []

    def other():
        while not is_over:
            turns.append(0)
            time.sleep(0)  # gives the lock away, and waits for it

    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # nobody has to give the lock away
    thread = threading.Thread(target=other)
    thread.start()
    try:
        start = len(turns)
        for _ in range(100):
            g(x, 100)
        short = len(turns)
        for _ in range(3):
            g(x, 1_000_000)
        long = len(turns)
    finally:
        sys.setswitchinterval(before)
        is_over.append(True)
        thread.join()
    assert short == start
    assert long > short


def failing(x, idx, n):
    total = 0.0
    for k in range(n):
        total = total * 0.5 + x[idx[k // 10_000_000]]
    return total


def printing(x, n):
    value = x[0]
    for k in range(n):
        value = value * 0.5 + 1.0 / (1.0 + value)
        if k % 10_000_000 == 0:
            print("at", k)
    return value


def test_what_is_raised_and_printed_meanwhile(cache_directory, capsys):
    x, idx = np.linspace(0.0, 1.0, 5), np.array([1, 2, 7])
    with Ticking():
        for _ in range(2):
            with pytest.raises(IndexError, match="index 7 is out of range for size 5") as raised:
                tp.jit(failing)(x, idx, 30_000_000)
            assert traceback.extract_tb(raised.tb)[-1].line == "total = total * 0.5 + x[idx[k // 10_000_000]]"
        tp.jit(printing)(x, 30_000_000)
    assert capsys.readouterr().out == "at 0\nat 10000000\nat 20000000\n"


def test_many_threads(cache_directory):
    """Calls side by side give what calls one after another give."""
    g = tp.jit(tp.value_and_grad(burnt))
    given = [np.array([1.0 + k]) for k in range(8)]
    wanted = [g(x, 100_000) for x in given]
    found = [None] * 8

    def run(k):
        for _ in range(20):
            found[k] = g(given[k], 100_000)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for (a, b), (c, d) in zip(found, wanted):
        assert a == c
        assert np.array_equal(b, d)


# ------------------------------------------------------------------------------------------------ what is written meanwhile


def counted_then_taken(x, mask, n):
    before = np.sum(mask)
    value = 0.0
    for k in range(n):
        value = value * 0.5 + 1.0 / (1.0 + value)
    return before - len(x[mask]) + 0.0 * value


def repeated(x, times, n):
    before = np.sum(times)
    value = 0.0
    for k in range(n):
        value = value * 0.5 + 1.0 / (1.0 + value)
    return before - len(np.repeat(x, times)) + 0.0 * value


def gathered(x, idx, n):
    before = np.sum(x[idx])
    value = 0.0
    for k in range(n):
        value = value * 0.5 + 1.0 / (1.0 + value)
    return before - np.sum(x[idx]) + 0.0 * value


CHANGES = {
    "mask": (counted_then_taken, np.zeros(1000, bool), True),
    "repeat": (repeated, np.ones(1000, np.int64), 5),
    "gather": (gathered, np.zeros(1000, np.int64), 10**9),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_arrays_of_indices_are_what_they_were(cache_directory, kind):
    fn, array, other = CHANGES[kind]
    g = tp.jit(fn)
    x = np.linspace(1.0, 2.0, 1000)
    n, found = long_enough(lambda x, n: g(x, array, n), x, 10_000_000)
    assert found == 0.0
    given = array.copy()

    def change():
        time.sleep(0.05)
        given[:] = other

    thread = threading.Thread(target=change)
    thread.start()
    start = time.perf_counter()
    found = g(x, given, n)
    took = time.perf_counter() - start
    thread.join()
    assert took > 0.1, "too short to be changed meanwhile"
    assert (given == other).all()
    assert found == 0.0


def sorted_in_place(x, order, n):
    for _ in range(n):
        for i in range(1, len(order)):
            k = i
            while k > 0 and x[order[k - 1]] > x[order[k]]:
                order[k - 1], order[k] = order[k], order[k - 1]
                k -= 1
    return x[order[0]]


@pytest.mark.parametrize("threads", [0, 1])
def test_what_the_function_writes_is_written(cache_directory, threads):
    x = np.random.default_rng(1).random(50)
    order = np.arange(50)
    stop = threading.Event()
    others = [threading.Thread(target=stop.wait, daemon=True) for _ in range(threads)]
    for t in others:
        t.start()
    try:
        assert tp.jit(sorted_in_place)(x, order, 1) == x.min()
        assert np.array_equal(order, np.argsort(x))
        shared = np.arange(10)
        with pytest.raises(IndexError):  # what was written until then
            tp.jit(written_until)(shared)
        assert shared.tolist() == [1, 2, 3, 4, 100, 5, 6, 7, 8, 9]
        both = np.arange(6)
        assert tp.jit(from_other)(both[1:], both[:-1]) == 5.0  # which share memory
        assert both.tolist() == [0, 0, 0, 0, 0, 0]
    finally:
        stop.set()


def marked(todo, x, lo, hi, n):
    total = 0.0
    for _ in range(n):
        found = np.zeros(np.sum(todo[lo:hi]))
        k = 0
        for i in range(lo, hi):
            if todo[i] > 0:
                found[k] = x[i]
                k += 1
                todo[i] = 1
        total += np.sum(found)
    for i in range(lo, hi):
        todo[i] = 2
    return total


def column(out, j, n):
    for i in range(len(out)):
        value = 0.0
        for k in range(n):
            value = value * 0.5 + 1.0 / (1.0 + value + i)
        out[i, j] = value + 1.0
    return 0.0


@pytest.mark.parametrize("order", ["C", "F"])
def test_each_thread_writes_its_part(cache_directory, order):
    """What one call has not written is not put back as it was."""
    x = np.linspace(0.1, 1.0, 100)
    todo, table = np.ones(100, np.int64), np.zeros((200, 2), order=order)
    if order == "F":
        todo = np.repeat(todo, 2)[::2]
    mark, fill = tp.jit(marked), tp.jit(column)
    mark(todo.copy() if order == "C" else np.repeat(todo, 2)[::2], x, 0, 50, 1000)  # one that takes long, too
    fill(table.copy(order), 0, 1000)
    calls = [(mark, (todo, x, lo, lo + 50, 100_000)) for lo in (0, 50)] + [(fill, (table, j, 10_000)) for j in (0, 1)]
    threads = [threading.Thread(target=g, args=args) for g, args in calls]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert (todo == 2).all()
    assert (table > 0).all()


def sum_of_some(x, order, mask, lo, hi):
    total = 0.0
    for k in range(lo, hi):
        total += x[order[k]] ** 2
    return total + np.sum(x[:3][mask[:3]])


def test_short_calls_copy_nothing(cache_directory):
    """Beside another thread, too: a call that takes no time keeps the lock. The one after a long one is the only one that pays."""
    from numba.core.runtime import _nrt_python, rtsys

    _nrt_python.memsys_enable_stats()
    g = tp.jit(tp.grad(sum_of_some))
    x, order, mask = np.linspace(0.1, 1.0, 1000), np.arange(10**7) % 1000, np.ones(5, bool)
    stop = threading.Event()
    other = threading.Thread(target=stop.wait, daemon=True)
    other.start()
    made = []
    try:
        for hi in (10, 10, 10, 10**7, 10, 10):
            before = rtsys.get_allocation_stats().alloc
            g(x, order, mask, 0, hi)
            made.append(rtsys.get_allocation_stats().alloc - before)
    finally:
        stop.set()
    _, usual, third, long, copied, last = made
    assert usual == third == last
    assert copied == usual + 1 and long == usual


def test_first_calls_of_threads():
    """The locks of Numba's compiler and of its contexts are taken in one order, that of Numba's own functions."""
    paths = os.pathsep.join([str(HERE.parent), str(HERE.parent / "runtime")])
    for _ in range(2):  # the second one finds kernels on the disk
        found = subprocess.run(
            [sys.executable, "-c", FIRST_CALLS],
            capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": paths}, cwd=HERE,
        )  # fmt: skip
        assert (found.returncode, found.stdout) == (0, "True\n3.0 3.0 [2. 2. 2.]\n"), found.stderr


FIRST_CALLS = """
import threading
import traceback
import numpy as np
import transpile as tp
from first_of_threads import in_order, scanned, user
from numba.core import compiler_lock
from numba.core.registry import cpu_target

taken = []
class Lock(type(compiler_lock.global_compiler_lock)):
    def acquire(self):
        makes_it = "_toplevel_target_context" in [f.name for f in traceback.extract_stack()]
        taken.append(makes_it or "_toplevel_target_context" in vars(cpu_target))
        super().acquire()
compiler_lock.global_compiler_lock.__class__ = Lock
x, found = np.ones(3), {}
def run(name, g, *args):
    found[name] = g(*args)
threads = [threading.Thread(target=run, args=args) for args in (
    ("scanned", tp.jit(tp.grad(scanned)), x), ("in order", tp.jit(tp.grad(in_order)), x), ("user", user, 3),
    ("again", user, 3))]
threads[0].run()
print(all(taken))
for t in threads[1:]: t.start()
for t in threads[1:]: t.join()
print(found["user"], found["again"], found["in order"])
"""


def written_until(a):
    k = 0
    while k < 6:
        a[k] = a[a[k]] + 1 if k < 4 else 100
        k += 1
        a[a[k - 1]] = a[k]
    return a[0]


def from_other(a, b):
    for i in range(len(a)):
        a[i] = b[b[i]]
    return 5.0


# ------------------------------------------------------------------------------------------------ which arrays these are


def plain(x, idx):
    return np.sum(x * 2.0 + idx)


def masked(x, idx):
    return np.sum(x[idx > 2])


def branched(x, idx):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.5:
            total += x[i]
    return total + idx[0]


def counted(x, idx):
    found = np.zeros(len(x))
    k = 0
    for i in range(len(x)):
        if x[i] > 0.5:
            found[k] = x[i]
            k += 1
    return np.sum(found) + idx[0]


def taken(x, idx):
    return np.sum(x[idx])


def bounded(x, idx):
    total = 0.0
    for i in range(3):
        for j in range(idx[i]):
            total += x[j]
    return total


def helped(x, idx):
    return picked(x, idx, 3) * 2.0


def picked(x, idx, depth):
    if depth == 0:
        return np.sum(x[idx[1:3]])
    return picked(x, idx, depth - 1) * 0.5


STEERED = {  # in the value, in the gradient
    plain: ("", ""),
    masked: ("idx", ""),
    branched: ("", ""),
    counted: ("x", "x"),
    taken: ("", "idx"),
    bounded: ("idx", "idx"),
    helped: ("", "idx"),
}
"""A subscript that is checked where it is used steers nothing; one that is read again in the reverse sweep does."""


@pytest.mark.parametrize("fn", STEERED, ids=lambda f: f.__name__)
def test_which_arrays_steer(fn):
    args = np.linspace(0.1, 1.0, 5), np.array([0, 1, 2, 3, 4])
    for g, wanted in zip((tp.jit(fn), tp.jit(tp.grad(fn))), STEERED[fn]):
        assert [p.name for p in steered(g, *args)] == wanted.split()


def steered(g, *args):
    *kept, fn = as_loops(g, *args)
    return steering(fn, kept)


def as_loops(g, *args):
    from transpile.base.levels import jit_level
    from transpile.driver.backend import Options, lowered
    from transpile.driver.lifted_request import lift
    from transpile.driver.request import Request

    request = Request.of(args, {})
    request.make_static(g)
    assert jit_level(g) is not None
    return lowered(lift(request, g), Options())


# ------------------------------------------------------------------------------------------------ the work of a trip


def logarithms(x, y):
    total = 0.0
    for i in range(len(x)):
        total += np.sum(np.log(y + x[i]) ** 2)
    return total


@pytest.mark.parametrize("transformed", [logarithms, tp.grad(logarithms)])
def test_a_block_is_no_longer_than_it_is_written(transformed):
    """So its work is a number before it runs, and not one that is computed from the sizes of arrays."""
    from transpile.codegen.llvm.long_call_code import Work
    from transpile.core import nodes
    from transpile.core.walk import statements

    (fn,) = as_loops(tp.jit(transformed), np.ones(3), np.ones(1000))
    around = [s for s in statements(fn.body) if isinstance(s, nodes.For) and isinstance(s.step, nodes.Const)]
    blocks = [s for s in around if s.step.value > 1]
    assert blocks
    for block in blocks:
        inner = [s for s in statements(block.body) if isinstance(s, nodes.For)]
        assert inner and {Work(None, block).trips(loop) for loop in inner} == {block.step.value}
