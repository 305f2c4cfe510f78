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
def test_exceptions_leak_nothing(fn, args, error):
    for g in (tp.jit(fn), tp.jit(tp.grad(fn))):
        assert issubclass(raised(g, args, 500), error)
        before, owners = size(), [sys.getrefcount(a) for a in args]
        raised(g, args, 5000)
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
        print(str(error).rpartition("/")[2])  # the working directory takes memory to find out
print(g(1.0, 60) == right)
'''  # fmt: skip


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is set by the system")
def test_tape_that_cannot_grow(tmp_path):
    file = tmp_path / "waves.py"
    file.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "waves.py:9:5: unable to allocate 800000 bytes\n" * 3 + "True\n", done.stderr
