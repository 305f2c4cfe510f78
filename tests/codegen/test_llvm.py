"""Machine code that is written without Numba's front end: results as through it, no memory lost, arrays of few elements."""

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

import transpile as tp
from transpile import api
from transpile.codegen.llvm import Unsupported, function, llvm_library
from transpile.driver import backend

pytestmark = pytest.mark.numba

RNG = np.random.default_rng(5)


def relax(x, w, n):
    """Arrays that loops carry, exchange and fill."""
    u, v = x.copy(), np.zeros_like(x)
    for k in range(n):
        v = np.tanh(w * u) + v[::-1]
        if k % 3 == 2:
            u, v = v, u
        else:
            u = u * 0.5
    return np.sum(u * v)


def swing(start, step, n):
    """Arrays of two elements that a loop carries, and a stack of them in the gradient."""
    x, v = np.array([start, 1.0]), np.array([0.0, 0.5])
    k = 0
    while x[0] > -1.0 and k < n:
        force = np.array([-x[1] * x[0], x[0] - v[0] ** 2])
        x, v = x + step * v, v + step * force
        k += 1
    return x @ v + x[1]


def turned(a, n):
    """Small arrays that are exchanged in a circle: each has to be read before one is written."""
    x, y, z = np.array([a[0], 1.0, 2.0]), np.array([a[1], 3.0, 4.0]), np.array([a[0] * a[1], 5.0, 6.0])
    for _ in range(n):
        x, y, z = y, z, x
    return x[0] * 100.0 + y[1] * z[2] + z[0]


def leapfrog(x, n):
    """Buffers that move on by one, of which one is at first the argument's memory, and the others are small."""
    before, now, after = x.copy(), x * x, np.zeros_like(x)
    for _ in range(n):
        after[:] = 0.5 * now - before + 0.1 * now**2
        before, now, after = now, after, before
    return np.sum(now * x)


def last_two(a, x, n):
    """What a branch gives, and what a loop carries, goes on into memory that is not small."""
    old, new = x, np.array([a, 2.0, 3.0])
    k = 0
    while k < n:
        if k % 2 == 0:
            found = np.array([new[0] * 0.5, new[1] + a, new[2]])
        else:
            found = new * old
        old, new = new, found
        k += 1
    return np.sum(old * new) + old[0]


def chosen(a, flag):
    """A branch gives an array of few elements, the other one of another memory."""
    if flag > 0:
        w = np.array([a[0], a[1] * 2.0])
    elif flag == 0:
        w = np.zeros(2)
    else:
        w = np.array([a[1], a[0]])
    w[0] += 1.0
    return w[0] * w[1]


def late(x, k):
    """Fails after memory was taken."""
    total = 0.0
    for i in range(x.shape[0]):
        row = np.exp(x[i] * x)
        held = np.array([row[0], row[-1]])
        total += row[k] + held[1] + np.sum(row)
    return total


def grown(x):
    rows = []
    for i in range(x.shape[0]):
        if x[i] > 0:
            rows.append(x * x[i])
    out = np.zeros_like(x)
    for row in rows:
        out = out + row * row
    return np.sum(out)


def ramp(n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = i
    return out


CASES = [
    (relax, (RNG.normal(size=5), RNG.normal(size=5), 7), (0, 1)),
    (relax, (RNG.normal(size=5), RNG.normal(size=5), 0), (0, 1)),
    (swing, (0.9, 0.1, 50), (0, 1)),
    (swing, (0.9, 0.1, 0), (0, 1)),
    (turned, (np.array([2.0, 3.0]), 4), (0,)),
    (turned, (np.array([2.0, 3.0]), 0), (0,)),
    *[(leapfrog, (np.array([0.3, -0.2, 0.5]), n), (0,)) for n in (0, 1, 2, 5)],
    *[(last_two, (0.4, np.array([0.3, -0.2, 0.5]), n), (0, 1)) for n in (0, 1, 2, 5)],
    (chosen, (np.array([2.0, 3.0]), 1), (0,)),
    (chosen, (np.array([2.0, 3.0]), 0), (0,)),
    (chosen, (np.array([2.0, 3.0]), -1), (0,)),
    (late, (RNG.normal(size=4), -1), (0,)),
    (grown, (RNG.normal(size=9),), (0,)),
]
_made: dict = {}


def compiled(f, wrt):
    if (f, wrt) not in _made:
        _made[f, wrt] = tp.jit(f if wrt is None else tp.value_and_grad(f, argnums=wrt), cache=False)
    return _made[f, wrt]


def same(got, wanted):
    got, wanted = (x if isinstance(x, tuple) else (x,) for x in (got, wanted))
    for a, b in zip(got, wanted, strict=True):
        if isinstance(a, tuple):
            same(a, b)
        else:
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@pytest.fixture
def direct(monkeypatch):
    """Whoever cannot be written directly fails here."""

    def refused(*args):
        try:
            return original(*args)
        except Unsupported as error:
            raise AssertionError(str(error)) from error

    original = function.compile_function
    monkeypatch.setattr("transpile.codegen.llvm.compile_function", refused)


@pytest.mark.parametrize(("f", "args", "wrt"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_as_interpreted(f, args, wrt, direct):
    same(compiled(f, None)(*args), f(*args))
    same(compiled(f, wrt)(*args), tp.value_and_grad(f, argnums=wrt)(*args))


@pytest.mark.parametrize("f", [swing, relax], ids=lambda f: f.__name__)
def test_as_through_the_front_end(f, monkeypatch):
    args, wrt = next((a, w) for g, a, w in CASES if g is f)
    monkeypatch.setattr(backend, "IS_DIRECT", False)
    api._kept.cache_clear()  # else it is what was compiled directly
    by_text = tp.jit(tp.value_and_grad(f, argnums=wrt), cache=False)(*args)
    monkeypatch.undo()
    api._kept.cache_clear()
    same(tp.jit(tp.value_and_grad(f, argnums=wrt), cache=False)(*args), by_text)


def taken():
    """How many pieces of memory were taken and not given back."""
    stats = rtsys.get_allocation_stats()
    return stats.mi_alloc - stats.mi_free


@pytest.fixture
def counted_memory():
    """Numba counts what is taken and given back."""
    before = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    yield
    if not before:
        _nrt_python.memsys_disable_stats()


def test_no_memory_is_lost(counted_memory):
    for f, args, wrt in CASES:
        for call in (compiled(f, None), compiled(f, wrt)):
            call(*args)
            start = taken()
            for _ in range(3):
                call(*args)
            assert taken() == start, f.__name__
    x = np.ones(4)
    for call in (compiled(late, None), compiled(late, (0,))):
        call(x, 0)
        start = taken()
        for _ in range(3):
            with pytest.raises(IndexError):
                call(x, 9)
        assert taken() == start


@pytest.mark.parametrize(("n", "error"), [(-1, ValueError), (2**61, (ValueError, MemoryError)), (2**45, MemoryError)])
def test_memory_that_cannot_be_had(n, error):
    with pytest.raises(error):
        compiled(ramp, None)(n)


@pytest.mark.parametrize("is_direct", [True, False])
def test_what_is_not_written_directly(is_direct, capsys, monkeypatch):
    """It goes through the text, and works."""
    asked = []

    def noted(*args):
        asked.append(is_direct)
        if not is_direct:
            raise Unsupported("all")
        return original(*args)

    original = function.compile_function
    monkeypatch.setattr("transpile.codegen.llvm.compile_function", noted)

    def f(x, a):
        print("at", x, a[1:], np.float32(x), sep="; ")
        print()
        return x * a[0]

    assert tp.jit(f, cache=False)(2.0, np.array([2.0, 3.0])) == 4.0
    assert asked == [is_direct] and capsys.readouterr().out == "at; 2.0; [3.]; 2.0\n\n"


def test_small_arrays_need_no_memory(counted_memory):
    """Nothing is asked for in the loop of a function whose arrays have two elements."""
    call = compiled(swing, None)
    call(0.9, 0.1, 50)
    start = rtsys.get_allocation_stats().mi_alloc
    call(0.9, 0.1, 50)
    assert rtsys.get_allocation_stats().mi_alloc == start


def test_vectors_that_are_not_well_formed(monkeypatch):
    """What LLVM makes wrong is made again, without them: found in a random program, which is too long to stand here."""
    kind = llvm_library._kind()
    original, runs = kind._run_passes, []

    def run(self, **options):
        def wrong():
            raise RuntimeError("Instruction does not dominate all uses!")

        runs.append(options)
        original(self, **options)
        if not options:
            self._final_module.verify = wrong

    monkeypatch.setattr(kind, "_run_passes", run)
    x = np.linspace(0.0, 1.0, 9)
    np.testing.assert_allclose(tp.jit(lambda x: np.sum(x * x), cache=False)(x), np.sum(x * x))
    assert runs == [{}, {"loop_vectorize": False}]


def sorted_often(x):
    total = 0.0
    for k in (1.0, 2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0, 29.0, 31.0):
        x = np.sort(np.sin(k * x))
        total += x[0] * x[1]
    return total


def test_exits_do_not_choose_for_each_array_where_they_come_from(monkeypatch):
    """Each array may be there or not where another one cannot be made: choices for all of them take longer than all else."""
    kind = llvm_library._kind()
    original, texts = kind._run_passes, []

    def run(self, **options):
        original(self, **options)
        texts.append(str(self._final_module))

    monkeypatch.setattr(kind, "_run_passes", run)
    x = np.linspace(1.0, 0.0, 9)
    np.testing.assert_allclose(tp.jit(sorted_often, cache=False)(x), sorted_often(x))
    own, _, _ = texts[0].partition("define ptr @_ZN7cpython")  # what Python calls has few, and more exits of its own
    wide = [line for line in own.splitlines() if " = phi ptr" in line and line.count("[ null,") > 8]
    assert not wide, wide[0]
