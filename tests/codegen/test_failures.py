"""What compiled code leaves behind where it fails: nothing. Memory that is not to be had is an error with line and bytes."""

import gc
import resource
import subprocess
import sys

import numpy as np
import pytest

import transpile as tp

pytestmark = pytest.mark.numba

# ------------------------------------------------------------------------------------------- exceptions leak nothing


def index(a, k):
    c = np.sin(a)
    return np.sum(c) / c[k, 0]


def user(a, b):
    c = np.sin(a)
    if np.sum(c) < 1e9:
        raise ValueError(f"bad {c[0, 0]} {b}")
    return np.sum(c)


def zero(a, n):
    return np.sum(np.sin(a) * (3 // n))


def singular(a, b):
    return np.sum(np.linalg.solve(a * 2.0, b))


def not_positive(a, b):
    return np.sum(np.linalg.cholesky(a - 1.0) @ b)


def deep(a, n):
    if n == 0:
        return a[7, n] + a[int(a[0, 0]) + 99, 0]
    c = np.sin(a) * n
    return deep(c, n - 1) + np.sum(c)


def halted(a, n):
    total = 0.0
    k = 0
    while total < 1e9:
        v = np.cos(a) * k
        if k == n:
            raise KeyError(f"{k}")
        total += np.sum(v @ v)
        k += 1
    return total


A, B = np.zeros((9, 9)), np.ones(9)
RAISING = [
    (index, (A, 77), IndexError), (user, (A, B), ValueError), (zero, (A, 0), ZeroDivisionError),
    (singular, (A, B), np.linalg.LinAlgError), (not_positive, (A, B), np.linalg.LinAlgError), (deep, (A, 3), IndexError),
    (halted, (A, 5), KeyError),
]  # fmt: skip
QUICK = (0, 3)


def size():
    """What the process holds, in bytes."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def raised(g, args, times):
    for _ in range(times):
        try:
            g(*args)
        except Exception as error:
            found = type(error)  # an exception holds frames, and these what they have
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the size of the process is read from /proc")
@pytest.mark.parametrize(
    "fn,args,error",
    [
        pytest.param(*r, marks=() if k in QUICK else (pytest.mark.slow,), id=r[0].__name__)
        for k, r in enumerate(RAISING)
    ],
)
@pytest.mark.sampled(16)
def test_exceptions_leak_nothing(fn, args, error):
    for g in (tp.jit(fn), tp.jit(tp.grad(fn))):
        assert issubclass(raised(g, args, 500), error)
        before, owners = size(), [sys.getrefcount(a) for a in args]
        blocks = sys.getallocatedblocks()
        raised(g, args, 5000)
        gc.collect()  # what is left of the last exceptions holds itself
        assert sys.getallocatedblocks() - blocks < 500
        assert [sys.getrefcount(a) for a in args] == owners
        assert size() - before < 5000 * 60


# ------------------------------------------------------------------------------------------------------ memory

PROGRAM = '''
import resource
import numpy as np
import transpile as tp

def waves(x, n):
    v = np.ones(10**5) * x
    i = 0
    while i < n:
        v = np.sin(v) * 1.1
        i += 1
    return np.sum(v)

def size():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()

g = tp.jit(tp.grad(waves))
right = g(1.0, 60)
resource.setrlimit(resource.RLIMIT_AS, (size() + 10**8, size() + 10**8))
for _ in range(3):
    try:
        g(1.0, 2000)
    except MemoryError as error:
        print(str(error).splitlines()[0].rpartition("/")[2])  # the working directory takes memory to find out
print(g(1.0, 60) == right)
'''  # fmt: skip


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is set by the system")
def test_tape_that_cannot_grow(tmp_path):
    file = tmp_path / "waves.py"
    file.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "waves.py:9:5: unable to allocate 800000 bytes\n" * 3 + "True\n", done.stderr


# ------------------------------------------------------------------------------------------------ the stack frame

DEEP = '''
import numpy as np
import transpile as tp

def walk(x, n):
    if n <= 0.0:
        return x
    a, b, c = np.zeros(512), np.zeros(500), np.zeros(512)
    for i in range(512):
        a[i] = x * i
        c[511 - i] = a[i] * 0.5
    for i in range(500):
        b[i] = c[i] + a[511 - i]
    y = walk(x * 0.5 + b[3] * 1e-9, n - 1.0)
    total = 0.0
    for i in range(500):
        total += a[i] * b[i] * c[i] * 1e-12
    return y + total

for f in (tp.jit(walk), tp.jit(tp.grad(walk))):
    print(f(1.0, 950.0) > 0.0)
    try:
        f(1.0, 5000.0)
    except RecursionError:
        print("too deep")
'''  # fmt: skip


@pytest.mark.slow
def test_small_arrays_of_deep_calls(tmp_path):
    """A thousand frames fit on the stack."""
    file = tmp_path / "walk.py"
    file.write_text(DEEP)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "True\ntoo deep\n" * 2, (done.returncode, done.stderr)


# ------------------------------------------------------------------------------------------------------- threads


def rows(x, n):
    """Each trip needs memory of its own."""
    total = 0.0
    for i in range(n):
        v = np.zeros(int(x[i])) + x[i]
        total += np.sum(np.sort(v) * x[i])
    return total


def test_memory_of_threads(monkeypatch):
    """Of the trips of which each has no memory the first is named, and the others leave nothing."""
    from thread_calls import cut

    from transpile.driver import compiling
    from transpile.loops import passes

    monkeypatch.setattr(passes, "PASSES", passes.PASSES.instead("parallel schedule", cut))
    monkeypatch.setattr(compiling, "threads_of", lambda level: 2 if level.parallel else 0)
    f = tp.jit(rows, cache=False, parallel=True)
    x = np.array([3.0, 4.0, 5.0, 6.0])
    right = rows(x, 4)
    np.testing.assert_allclose(f(x, 4), right)
    for _ in range(3):
        with pytest.raises(MemoryError, match=r"test_failures\.py:\d+:\d+: unable to allocate 562949953421312 bytes"):
            f((x + 1.0) * 2.0**44, 4)
    np.testing.assert_allclose(f(x, 4), right)
