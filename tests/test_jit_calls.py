"""What a compiled function is called with and what it does: arguments of any layout, overlapping ones, exceptions, printing."""

import math

import numpy as np
import pytest

import transpile as tp
from runtime.compiled import errors
from transpile.lower.effects import CLASSES

pytestmark = pytest.mark.numba


def shifts(x, y):
    x[1:] += y[:-1]
    x[0] = 5.0
    y[:] = x * 2
    return x


SHIFTS = tp.jit(shifts)
BASE = np.random.default_rng(0).normal(size=(8, 8))
LAYOUTS = {
    "contiguous": lambda z: (z[0], z[1]),
    "Fortran": lambda z: (np.asfortranarray(z), np.asfortranarray(2 * z)),
    "strided": lambda z: (z[::2, 1], z[1::2, 0]),
    "backwards": lambda z: (z[0, ::-1], z[1, ::-1]),
    "the same": lambda z: (z[0], z[0]),
    "overlapping": lambda z: (z[0, :4], z[0, 2:6]),
    "interleaved": lambda z: (z[0, ::2], z[0, 1::2]),
    "reversed": lambda z: (z[0], z[0, ::-1]),
    "unaligned": lambda z: (unaligned(z[0]), z[1]),
}


def unaligned(x):
    raw = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype)
    raw[:] = x
    return raw


@pytest.mark.parametrize("name", LAYOUTS)
def test_arguments_are_changed_whatever_their_layout(name):
    plain, mine = BASE.copy(), BASE.copy()
    wanted, given = LAYOUTS[name](plain), LAYOUTS[name](mine)
    result, found = shifts(*wanted), SHIFTS(*given)
    np.testing.assert_array_equal(found, result)
    np.testing.assert_array_equal(mine, plain)
    for f, w in zip(given, wanted):
        np.testing.assert_array_equal(f, w)
        assert not np.shares_memory(found, f)


def test_a_captured_array_that_is_also_written():
    def f(x):
        x[1:] = table[:-1] + 1.0
        return x.sum()

    table = np.arange(4.0)
    wanted = table.copy()
    wanted[1:] = wanted[:-1] + 1.0
    assert tp.jit(f)(table) == wanted.sum()
    np.testing.assert_array_equal(table, wanted)


def test_what_is_written_before_an_exception_stays():
    def f(x, k):
        x[0] = 7.0
        x[k] = 1.0

    compiled = tp.jit(f)
    for x in (np.zeros(4), np.zeros(8)[::2]):
        with pytest.raises(IndexError, match="index 9 is out of range for size 4"):
            compiled(x, 9)
        assert x[0] == 7.0


def test_a_captured_array_of_rank_zero():
    def f(x):
        return x * scale

    scale = np.array(2.0)
    compiled = tp.jit(f)
    assert compiled(1.5) == 3.0
    scale[...] = 4.0
    assert compiled(1.5) == 6.0


def raises(x, k):
    if k == 0:
        raise StopIteration
    if k == 1:
        raise OSError(f"{x[0]} {x[0]!r} at {x}")
    if k == 2:
        raise np.linalg.LinAlgError(f"{k} is large")
    if k == 3:
        raise UnicodeError("not a letter")
    return x.sum()


def test_exceptions_are_of_their_class_and_say_the_same():
    compiled = tp.jit(raises)
    for x in (np.array([0.1, 2.0], np.float32), np.array([0.1, 2.0])):
        for k in range(4):
            with pytest.raises(Exception) as wanted:
                raises(x, k)
            with pytest.raises(wanted.type) as found:
                compiled(x, k)
            message = str(found.value).partition("\ntests")[0]  # Python 3.10 has no notes: the line is in the message
            assert type(found.value) is wanted.type and message == str(wanted.value)
        assert compiled(x, 4) == x.sum()


def test_an_exception_while_another_is_handled():
    try:
        raise KeyError("first")
    except KeyError:
        with pytest.raises(OSError, match=r"0.1 np.float64\(0.1\) at \[0.1 2. \]"):
            tp.jit(raises)(np.array([0.1, 2.0]), 1)


def test_every_class_can_be_raised():
    assert [name for name in CLASSES if not hasattr(errors, f"{name}_")] == []


def leaves(x):
    if x < 0:
        raise SystemExit
    return math.sqrt(x)


def test_a_class_that_cannot_be_raised():
    with pytest.raises(tp.TranspileError, match="'SystemExit' cannot be raised by compiled code") as e:
        tp.jit(leaves)(1.0)
    assert e.value.codes == ("T501",)
    assert e.value.diagnostics[0].loc.line == leaves.__code__.co_firstlineno + 2


def shows(x, n):
    print("x is", x, x[0], f"{x[1]:.2f} {x[1]!r}", n, n > 2, sep=" | ")
    print(x[0] > 1.0, x.T, end="!\n")
    print()
    return x.sum()


def test_print_is_as_python_prints(capfd):
    for x in (np.array([[0.1, 2.0], [3.0, 4.0]], np.float32)[:, 1], np.array([0.1, 3.0])):
        shows(x, 2**60 + 1)
        wanted = capfd.readouterr().out
        tp.jit(shows)(x, 2**60 + 1)
        assert capfd.readouterr().out == wanted


@pytest.mark.parametrize("value", [np.ones(2, complex), 1j, np.ones(2, np.float16)])
def test_types_that_cannot_be_compiled(value):
    with pytest.raises(tp.TranspileError) as e:
        tp.jit(lambda x: x * 2)(value)
    assert e.value.codes == ("T502",)


def masks(x, m, n, k):
    a, b = x[m, 0], x[:, m[:2], 1:]
    y = x.copy()
    y[m, 1] += 5.0
    y[k, m] *= 2.0
    y[0, n] = y[1, n]
    return a, b, x[1, n], x[k, m], x[m, None], y


def test_a_mask_beside_other_indices():
    rng = np.random.default_rng(0)
    x, m, k = rng.normal(size=(2, 2, 3)), np.array([True, True]), np.array([1, 0])
    n = rng.normal(size=(2, 3)) > 0
    f = tp.jit(masks)
    for m in (m, np.array([False, True])):
        k = k[: m.sum()]
        for found, wanted in zip(f(x, m, n, k), masks(x, m, n, k)):
            np.testing.assert_array_equal(found, wanted)
    with pytest.raises(IndexError, match="index arrays of sizes"):
        f(x, np.array([True, True]), n, np.array([0, 1, 0]))
    with pytest.raises((IndexError, ValueError), match="3"):
        f(x, np.array([True, True, False]), n, k)
