"""Helpers of the thread tests: functions whose loops are always cut, and comparisons of results."""

import numpy as np

import transpile as tp
from transpile import api
from transpile.loops.schedule.parallel import parallelise


def cut(fn, count, least):
    """The function with its loops cut, however little work they have."""
    return parallelise(fn, count, 1.0)


def compiled(f, wrt):
    api._kept.cache_clear()  # drop programs that another test has compiled
    return tp.jit(tp.value_and_grad(f, argnums=wrt), cache=False, parallel=True)


def flat(found):
    return [x for part in found for x in (part if isinstance(part, tuple) else (part,))]


def same(got, wanted):
    """Asserts that results agree up to another order of summation: relative to the largest term."""
    for x, y in zip(flat(got), flat(wanted), strict=True):
        largest = float(np.max(np.abs(y), initial=1.0, where=np.isfinite(y)))
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14 * largest)
