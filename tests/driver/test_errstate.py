"""``np.errstate`` with "raise" or "call": around a call it is honoured by every transform, inside a function refused by name."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import transpile as tp


def inverse(x):
    return np.sum(1.0 / x)


def logarithm(x):
    for k in range(len(x)):
        x[k] = np.log(x[k])
    print("written")
    return np.sum(x)


def large(x):
    return np.sum(np.exp(x) * 1e300)


FAULTS = {
    "divide": (inverse, np.array([1.0, 0.0])),
    "invalid": (logarithm, np.array([1.0, -1.0])),
    "over": (large, np.array([1.0, 700.0])),
}
X = np.array([1.0, 2.0])
WRAPS = {
    "grad": tp.grad,
    "jacfwd": tp.jacfwd,
    "hessian": tp.hessian,
    "vjp": lambda f: lambda x: tp.vjp(f, x)[1](1.0),
    "jvp": lambda f: lambda x: tp.jvp(f, (x,), (x,)),
    "hvp": lambda f: lambda x: tp.hvp(f, (x,), (x,)),
    "jit": pytest.param(tp.jit, marks=pytest.mark.numba),
    "jit of grad": pytest.param(lambda f: tp.jit(tp.grad(f)), marks=pytest.mark.numba),
}


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
@pytest.mark.parametrize("fault", FAULTS)
def test_around_a_call(cache_directory, capsys, fault, wrap):
    fn, bad = FAULTS[fault]
    g = wrap(fn)
    with np.errstate(all="ignore"):
        for _ in range(3):  # the first call, the second, and the short way
            g(X.copy())
            capsys.readouterr()
        for _ in range(2):
            given = bad.copy()
            with np.errstate(**{fault: "raise"}):
                wanted = g(X.copy())  # it has no fault
                with pytest.raises(FloatingPointError):
                    g(given)
            other = next(k for k in ("divide", "over", "invalid") if k != fault)
            with np.errstate(**{other: "raise"}):
                g(bad.copy())
        assert str(wanted) == str(g(X.copy()))


def test_what_is_called():
    seen = []
    with np.errstate(divide="call"):
        previous = np.seterrcall(lambda kind, flag: seen.append(kind))
        try:
            tp.grad(inverse)(np.array([1.0, 0.0]))
        finally:
            np.seterrcall(previous)
    assert seen == ["divide by zero"]


def test_seterr():
    g = tp.grad(inverse)
    g(X)
    before = np.seterr(divide="raise")
    try:
        with pytest.raises(FloatingPointError):
            g(np.array([1.0, 0.0]))
    finally:
        np.seterr(**before)


def test_a_derivative_writes_into_no_argument_and_prints_once(capsys):
    given = X.copy()
    with np.errstate(all="raise"):
        tp.grad(logarithm)(given)
    assert np.array_equal(given, X) and capsys.readouterr().out == "written\n"


@pytest.mark.numba
def test_jit_writes_into_its_argument_once(cache_directory, capsys):
    given = X.copy()
    with np.errstate(all="raise"):
        tp.jit(logarithm)(given)
    np.testing.assert_array_equal(given, np.log(X))
    assert capsys.readouterr().out == "written\n"


@pytest.mark.parametrize("setting", ["raise", "call"])
def test_inside_a_function(setting):
    def inside(x):
        with np.errstate(divide=setting):
            return np.sum(1.0 / x)

    with pytest.raises(tp.TranspileError, match=f"np.errstate.divide='{setting}'. inside a function") as refused:
        tp.grad(inside)(X)
    assert refused.value.codes == ("T106",) and "around the call" in str(refused.value)


@pytest.mark.parametrize("setting", ["ignore", "warn", "print", "log", None])
def test_other_settings_inside_a_function(setting):
    def inside(x):
        with np.errstate(divide=setting):
            return np.sum(1.0 / x)

    np.testing.assert_array_equal(tp.grad(inside)(X), -1.0 / X**2)


def test_what_other_threads_print_arrives(capsys):
    """The function runs once more than is asked for: what that prints is not seen, all else is."""
    from transpile.driver.errstate import _silent

    with _silent():
        print("inside")
        thread = threading.Thread(target=print, args=("outside",))
        thread.start()
        thread.join()
        kept = sys.stdout
    print("after", file=kept)
    assert capsys.readouterr().out.split() == ["outside", "after"]
