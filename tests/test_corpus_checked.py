"""Corpus programs under `check_grads`: derivatives of derivatives in both modes, inside a function, against differences.

A part of them in `make test`, all with `make test-all`.
"""

from __future__ import annotations

import contextlib
import io
import warnings

import numpy as np
import pytest
from corpus import all_programs

import transpile as tp

PROGRAMS = [p for p in all_programs() if p.wrt]
SAMPLE = 12  # one in so many
NO_DIFFERENCES = {
    "statics.dtype_argument": "it computes in float32 what is given in float64",
    "linalg.determinants_of_singular": "the second derivative of det at a singular matrix wants its singular values apart: a limit",
    "nested_transforms.stopped_factor": "stop_gradient is no derivative of the function",
    "nested_transforms.straight_through": "stop_gradient is no derivative of the function",
    "nested_transforms.stopped_in_loop": "stop_gradient is no derivative of the function",
    "kernels_chemistry.weak_acid": "its arguments are as small as the step of the differences",
}
REFUSED = (
    "T210",
    "T123",
)  # a value that must be known, and one memory for two arguments, inside the function that differentiates


def cases():
    for k, program in enumerate(PROGRAMS):
        yield pytest.param(program, id=program.name, marks=[pytest.mark.slow] if k % SAMPLE else [])


@pytest.mark.parametrize("program", cases())
def test_a_program(program):
    if program.name in NO_DIFFERENCES:
        pytest.skip(NO_DIFFERENCES[program.name])
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            tp.check_grads(program.fn, program.args())
        except tp.TranspileError as refused:
            if set(refused.codes) - set(REFUSED) - {"T302", "T303", "T304", "T305"}:
                raise


def test_what_is_left_out_is_there():
    assert set(NO_DIFFERENCES) <= {p.name for p in PROGRAMS}
