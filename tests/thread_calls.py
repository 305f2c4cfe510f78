"""What the tests of threads share: functions cut however little there is to do, and how results are compared."""

import numpy as np

import transpile as tp
from transpile import api
from transpile.loops.schedule.parallel import parallelise


def cut(fn, count, least):
    """Loops are cut whatever their work."""
    return parallelise(fn, count, 1.0)


def compiled(f, wrt):
    api._kept.cache_clear()  # what another test has compiled
    return tp.jit(tp.value_and_grad(f, argnums=wrt), cache=False, parallel=True)


def flat(found):
    return [x for part in found for x in (part if isinstance(part, tuple) else (part,))]


def same(got, wanted):
    """Sums in another order: what cancels is as exact as the largest of the terms."""
    for x, y in zip(flat(got), flat(wanted), strict=True):
        largest = float(np.max(np.abs(y), initial=1.0, where=np.isfinite(y)))
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14 * largest)
