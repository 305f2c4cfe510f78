"""Parallel loops on the threads of Numba's layer: when they run there, and what a process sees of it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_parallel import weighted
from thread_calls import compiled, flat, same

import transpile as tp
from transpile.codegen.llvm.llvm_statements import Statements
from transpile.driver import backend

pytestmark = pytest.mark.numba

RNG = np.random.default_rng(7)


def smoothed(a, steps):
    """Its gradient adds to three rows in each trip."""
    a = a.copy()
    for _ in range(steps):
        b = np.zeros_like(a)
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a = b * b
    return np.sum(a)


def swept(a, b, steps):
    """In place; its gradient needs a row of its own in each chunk."""
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return np.sum(a) + np.sum(b * b)


def apart(x, w):
    """Sums, adjoints of two rows and one that all rows share, in one loop."""
    total = 0.0
    for i in range(x.shape[0] - 2):
        for j in range(x.shape[1]):
            total += w[j] * x[i, j] * x[i + 2, j]
    return total


def pairs(x, scale):
    """Trips that are more and more work."""
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(i):
            total += np.exp(-scale * (x[i] - x[j]) ** 2)
    return total


def picked(a, w, k):
    """Fails before its loops, or after them."""
    first = w[k]
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * a[i, j] * w[j]
    return first * total * a[k, 0]


CASES = [
    (weighted, (RNG.normal(size=(31, 7)), RNG.normal(size=7)), (0, 1)),
    (weighted, (RNG.normal(size=(1, 7)), RNG.normal(size=7)), (0, 1)),
    (weighted, (RNG.normal(size=(0, 7)), RNG.normal(size=7)), (0, 1)),
    (smoothed, (RNG.normal(size=(23, 11)), 3), (0,)),
    (smoothed, (RNG.normal(size=(7, 11)), 2), (0,)),
    (smoothed, (RNG.normal(size=(3, 4)), 1), (0,)),
    (apart, (RNG.normal(size=(17, 5)), RNG.normal(size=5)), (0, 1)),
    (apart, (RNG.normal(size=(9, 5)), RNG.normal(size=5)), (0, 1)),
    (apart, (RNG.normal(size=(2, 5)), RNG.normal(size=5)), (0, 1)),
    (swept, (RNG.normal(size=(23, 11)), RNG.normal(size=(23, 11)), 4), (0, 1)),
    (swept, (RNG.normal(size=(6, 9)), RNG.normal(size=(6, 9)), 1), (0, 1)),
    (pairs, (RNG.normal(size=29), 0.5), (0, 1)),
    (pairs, (RNG.normal(size=2), 0.5), (0, 1)),
    (picked, (RNG.normal(size=(9, 5)), RNG.normal(size=5), 2), (0, 1)),
]


@pytest.mark.parametrize(("f", "args", "wrt"), CASES, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.sampled(8)
def test_as_interpreted_and_the_same_each_time(f, args, wrt, always, forks):
    call = compiled(f, wrt)
    assert "prange(" in tp.source(call, *args, stage="loops")
    found = call(*args)
    same(found, tp.value_and_grad(f, argnums=wrt)(*args))
    for _ in range(3):
        for x, y in zip(flat(found), flat(call(*args)), strict=True):
            assert np.array_equal(x, y)


@pytest.mark.parametrize("f", [weighted, apart], ids=lambda f: f.__name__)
def test_on_threads_and_through_the_front_end(f, always, monkeypatch):
    args, wrt = next((a, w) for g, a, w in CASES if g is f)
    found = compiled(f, wrt)(*args)
    same(found, tp.value_and_grad(f, argnums=wrt)(*args))
    monkeypatch.setattr(backend, "IS_DIRECT", False)
    same(found, compiled(f, wrt)(*args))


@pytest.mark.parametrize("f", [weighted, smoothed, apart, swept, pairs], ids=lambda f: f.__name__)
@pytest.mark.sampled(2)
def test_chunks_are_as_many_as_threads(f, always, forks):
    args, wrt = next((a, w) for g, a, w in CASES if g is f)
    compiled(f, wrt)(*args)
    assert set(forks) <= {1, 2} and 2 in forks


def test_little_work_starts_no_threads(forks):
    call = compiled(weighted, (0, 1))
    call(RNG.normal(size=(40, 40)), RNG.normal(size=40))
    assert forks == []
    call(RNG.normal(size=(600, 600)), RNG.normal(size=600))
    assert 2 in forks


def test_exceptions_around_loops(always, forks):
    a, w = RNG.normal(size=(9, 5)), RNG.normal(size=12)
    call = compiled(picked, (0, 1))
    for k in (12, 10):  # of ``w``, then of ``a``
        with pytest.raises(IndexError):
            call(a, w, k)
    same(call(a, w, 2), tp.value_and_grad(picked, argnums=(0, 1))(a, w, 2))


def softened(a):
    """Each trip has a row of its own, which it reads twice."""
    total = 0.0
    for i in range(a.shape[0]):
        row = np.exp(a[i])
        total += np.sum((row / np.sum(row)) ** 3 * a[i])
    return total


def test_no_memory_in_a_chunk(always, forks, monkeypatch):
    """The exception of a chunk is raised when all have ended."""

    def made(self, dtype, sizes, root):
        if "chunk" in self.builder.function.name:
            sizes = [self.number(2**60)]
        return original(self, dtype, sizes, root)

    original = Statements.made
    monkeypatch.setattr(Statements, "made", made)
    call = compiled(softened, (0,))
    for _ in range(3):
        with pytest.raises((MemoryError, ValueError), match=r"too big|too large"):
            call(RNG.normal(size=(23, 11)))


# ---------------------------------------------------------------------------------------------- other processes

PROGRAM = """
import os, sys, threading
import numpy as np
import transpile as tp
import transpile.codegen.llvm as native
from test_parallel import weighted

a, w = np.arange(360000.0).reshape(600, 600) / 1e5, np.arange(600.0)
call = tp.jit(tp.grad(weighted, argnums=1), parallel=True)
wanted = 2.0 * (a @ w) @ a
def right():
    return bool(np.allclose(call(a, w), wanted, rtol=1e-10))
"""
ENDINGS = {
    "alone": """
made = []
original = native.compile_function
native.compile_function = lambda *args: made.append(args) or original(*args)
print(right(), len(made))""",
    "forked": """
print(right())
sys.stdout.flush()
child = os.fork()
if not child:
    os._exit(0 if right() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0)""",
    "several": """
found = []
lots = [threading.Thread(target=lambda: found.append(all(right() for _ in range(50)))) for _ in range(3)]
for t in lots: t.start()
for t in lots: t.join()
print(*found)""",
}


def run(folder, ending, layer="workqueue"):
    program = folder / "program.py"
    program.write_text(f"{PROGRAM}\n{ENDINGS[ending]}\n")
    settings = {
        "TRANSPILE_CACHE_DIR": str(folder / "kernels"),
        "NUMBA_THREADING_LAYER": layer,
        "NUMBA_NUM_THREADS": "2",
    }
    here = Path(__file__).parent
    paths = os.pathsep.join([*map(str, (here.parents[1], here.parent, here)), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, **settings, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=env, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("layer", ["workqueue", pytest.param("omp", marks=pytest.mark.slow)])
def test_kept_on_disk(tmp_path, layer):
    """A fresh process starts the threads before it loads code that uses them."""
    assert run(tmp_path, "alone", layer) == ["True", "1"]
    assert run(tmp_path, "alone", layer) == ["True", "0"]


def test_after_a_fork(tmp_path):
    assert run(tmp_path, "forked") == ["True", "True"]


def test_calls_from_several_threads(tmp_path):
    """The layer ends the process at a second loop while one runs; calls wait for each other."""
    assert run(tmp_path, "several") == ["True"] * 3


def test_the_work_of_a_loop_that_counts_down():
    """It was negative, so that a loop around it looked as if it had too little work for several threads."""
    from transpile.core import nodes as ir
    from transpile.core.types import FLOAT64, INT
    from transpile.loops.schedule.cost_model import Work

    def work(start, bound, step):
        let = ir.Let(ir.Var("y", FLOAT64), "sin", (ir.Const(1.0, FLOAT64),))
        ends = (ir.Const(k, INT) for k in (start, bound, step))
        return Work({}, set(), None, None).loop(ir.For(ir.Var("i", INT), *ends, (), ir.Block((), [let])))

    assert work(9, -1, -1) == work(0, 10, 1) > 0.0 and work(10, 0, -2) == work(0, 10, 2) > 0.0
