"""Compares a compiled function and its gradient with interpreted ones and with differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from differences import Subject

import transpile as tp

rng = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return rng.normal(size=shape)


def check(fn: Callable, args: tuple, wrt: tuple[int, ...] | None = None) -> str:
    """The loops of the compiled function, after it and its gradient have been compared with interpreted ones and with
    differences."""
    wrt = tuple(range(len(args))) if wrt is None else wrt
    gradient = tp.value_and_grad(fn, argnums=wrt)
    before = [np.copy(a) for a in args]
    compiled, plain = tp.jit(gradient), tp.jit(fn)
    np.testing.assert_allclose(plain(*args), fn(*args), rtol=1e-11)
    (value, found), (wanted_value, wanted) = compiled(*args), gradient(*args)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-11)
    for x, y in zip(found, wanted):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)
    for x, y in zip(args, before):
        np.testing.assert_array_equal(x, y)
    floats = tuple(args[k] for k in wrt)
    if all(np.size(x) for x in floats):

        def of_floats(*values):
            given = list(args)
            for k, v in zip(wrt, values):
                given[k] = v
            return fn(*given)

        subject = Subject(of_floats, lambda: floats)
        slope = sum(np.sum(x * t) for x, t in zip(found, subject.tangents))
        np.testing.assert_allclose(slope, float(subject.difference.leaves[0]), rtol=1e-6, atol=1e-7)
    return tp.source(plain, *args, stage="loops")
