"""What a call gives is NumPy's to the type: a number or an array of rank 0, the dtype, the exception."""

from __future__ import annotations

import linecache
import warnings

import numpy as np
import pytest

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

VALUES = {
    "x": 3.0,
    "w": -2.5,
    "s": 0.7,
    "m": 1.6,
    "one": 1.0,
    "k": 1,
    "o": 0.0,
    "yes": True,
    "no": False,
    "large": 2**62,
    "z": np.array(3.0),
    "i": np.array(3),
    "u": np.array([1.5]),
    "v": np.array([0.5, -2.0]),
    "h": np.array([0.5, 2.0], np.float32),
    "t": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "j": np.array([0, 1]),
    "far": np.array([0, 2]),
    "before": np.array([0, -1]),
}
CALLS = """
    np.imag(z) | np.imag(x) | np.imag(i) | np.imag(v) | z.imag | x.imag | np.imag(np.sum(v)) | np.real(z) | np.real(x) | z.real |
    np.imag([x, 1.0]) | np.real_if_close(z) | np.conj(z) | np.vdot(x, (0,)) | np.vdot(z, (0,)) | np.vdot((0,), z) |
    np.vdot(u, (0,)) | np.vdot(x, 2.0) | np.vdot(z, z) | np.vdot(t, t) | np.dot(x, (0,)) | np.dot(z, (0,)) | np.inner(z, (2.0,)) |
    np.outer(z, (1.0,)) | np.choose(far, [v, 2 * v]) | np.choose(before, [v, 2 * v]) | np.choose(j, [v, 2 * v]) |
    np.choose(5, [v, v]) | np.choose(k, [v, 2 * v]) | np.choose(far, [v, 2 * v], mode='clip') |
    np.choose(before, [v, 2 * v], mode='wrap') | np.choose(before, [v, 2 * v], mode='clip') | np.choose(j, t) |
    np.choose(far, t) | np.choose(v, [1.0, 2.0]) | np.choose(v > 0, [1.0, v]) | np.choose(k, [2, 3]) | np.choose(k, [x, 3]) |
    np.choose(np.array([[0], [1]]), [v, 2 * v]) | np.choose(0, [v, np.ones((3, 2))]) | np.choose([[0], [0]], [v]) |
    np.choose(j, [h, 1]) | np.choose(j, [v, 2 * v], mode='no') | j.choose([v, 2 * v]) | far.choose([v, 2 * v]) |
    np.choose(j, [v, v], out=np.zeros(2)) | np.choose(far[:0], [v[:0], v[:0]]) | np.kaiser(5, w) | np.kaiser(1, w) |
    np.kaiser(0, w) | np.kaiser(-2, w) | np.kaiser(4, np.float32(w)) | np.kaiser(4, 0.0) | np.kaiser(5, -3) | np.kaiser(s, -1) |
    np.kaiser(np.array(s), w) | np.kaiser(m, w) | np.kaiser(one, w) | np.kaiser(-m, w) | np.kaiser(k, w) | np.kaiser(-k, w) |
    np.hanning(s) | np.hanning(m) | np.hamming(s) | np.hamming(m) | np.bartlett(m) | np.bartlett(s) | np.blackman(m) |
    np.blackman(-m) | np.hanning(one) | np.bartlett(one) | np.hanning(k) | np.blackman(k) | np.hamming(k - 1) |
    np.hanning(np.array(6)) | np.bartlett(k - 2) | np.arange(1 - np.array(6), np.array(6), 2) | np.divide(x, 0.0) |
    np.divide(k, o) | np.divide(k, 0) | np.divide(yes, no) | np.power(0.0, w) | np.power(x, w) | np.power(w, x - 2.5) |
    np.float_power(o, w) | np.float_power(k, -1) | np.remainder(x, o) | np.remainder(k, 0) | np.mod(w, 0.0) |
    np.floor_divide(x, 0.0) | np.floor_divide(k, 0) | np.invert(yes) | np.invert(no) | np.invert(k) | np.bitwise_not(yes) |
    np.left_shift(k, -k) | np.right_shift(k, -k) | np.multiply(large, 4) | np.add(large, large) | np.subtract(-large, large + 1) |
    np.negative(k) | np.power(large, 3) | np.left_shift(large, 9) | np.true_divide(np.add(x, 1.0), 0.0) | np.add(x, 1.0) / 0.0 |
    np.multiply(x, 2.0) | np.roll(x, ()) | np.roll(v, 1, axis=()) | np.roll(2.5, ()) |
    np.histogram(v, (0.5,))[0] | np.histogram(x, [0])[1] | np.histogram(v, [0.5, 0.6])[0] | np.histogram(v, 3)[0] |
    np.full_like(x, (2.0,)) | np.full((), [k]) | np.full(2, [[x, x]]) | np.full((2, 2), [x, 1.0]) | np.full_like(v, x)
"""


def function(text):
    """``text`` as a function of what it reads, from lines that its source is found in."""
    names = [n for n in VALUES if n in compile(text, "", "eval").co_names]
    name = f"<as numpy {text}>"
    lines = f"def f({', '.join(names)}):\n    return {text}\n"
    linecache.cache[name] = (len(lines), None, lines.splitlines(keepends=True), name)
    space = {"np": np}
    exec(compile(lines, name, "exec"), space)
    return space["f"], [VALUES[n] for n in names]


def outcome(f, args):
    """What it gives: the exception's type, or that of the result with its shape and dtype, and the result."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = f(*args)
    except (ArithmeticError, ValueError, TypeError, IndexError) as e:
        return type(e), None
    return (type(found), np.shape(found), np.asarray(found).dtype), found


def check(text, transform):
    f, args = function(text)
    (wanted, value), (found, ours) = outcome(f, args), outcome(transform(f), args)
    assert found == wanted
    if value is not None:
        np.testing.assert_allclose(ours, value, rtol=1e-12, atol=1e-15)


TEXTS = [one.strip() for one in CALLS.split(" |")]


@pytest.mark.parametrize("text", TEXTS)
def test_interpreted(text):
    check(text, lambda f: Transformed(f, Level()))


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("text", TEXTS)
def test_compiled(text):
    check(text, tp.jit)
