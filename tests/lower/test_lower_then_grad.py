"""Lower then differentiate equals differentiate then lower: both give what the gradient of the function gives.

Lowered core is core: the verifier takes it, and so does the reverse sweep. The gradient of the loops over scalars is compared with
the gradient of the array expressions, which other tests compare with differences and with its own lowering.
"""

import warnings

import numpy as np
import pytest
from differences import same_tree
from lowered_core import NotScalar, lowered_core
from test_corpus import ACTIVE, gives_number
from verified import verify

import transpile as tp
from transpile.driver import pipeline
from transpile.driver.pipeline import clean

PARTS = 12
ACROSS_LOOPS = {
    "wrong_elsewhere.nan_in_two_branches"
}  # what a choice leaves out is made in another loop: NaN (docs/limits.md)
lift = pipeline.lift_source


def lowering(*args, **kwargs):
    return verify(lowered_core(clean(lift(*args, **kwargs))))


@pytest.mark.parametrize("part", [pytest.param(k, marks=pytest.mark.slow if k > 1 else ()) for k in range(PARTS)])
def test_gradient_of_the_loops(part, monkeypatch):
    compared, programs = 0, [p for p in ACTIVE[part::PARTS] if gives_number(p) and p.name not in ACROSS_LOOPS]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for program in programs:
            wanted = tp.value_and_grad(program.fn, argnums=program.wrt)(*program.args())
            with monkeypatch.context() as patch:
                patch.setattr(pipeline, "lift_source", lowering)
                try:
                    got = tp.value_and_grad(lambda *args, f=program.fn: f(*args), argnums=program.wrt)(*program.args())
                except NotScalar:
                    continue
            if np.all(np.isfinite(wanted[0])):  # a value that is NaN has no derivative that both must agree on
                same_tree(got, wanted, program.name, 1e-9, 1e-9)
            compared += 1
    assert compared >= len(programs) // 2, (compared, len(programs))
