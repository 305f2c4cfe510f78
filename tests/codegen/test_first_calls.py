"""The first compiled call of a process: what Numba has is installed only as far as it is wanted, and the code is the same."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from corpus import all_programs

pytestmark = pytest.mark.numba
HERE = Path(__file__).parents[1]
SOME = [
    "loops.counted",
    "straight.outer_by_broadcast",
    "branches.nested_branches",
    "exits.while_else",
    "matmul.matrix_vector",
]
SAMPLE = 150  # one program of so many, besides


def names():
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        known = [p.name for p in all_programs() if p.wrt and isinstance(p.fn(*p.args()), float)]
    return [*(n for n in SOME if n in known), *known[::SAMPLE]]


def run(*arguments: str) -> str:
    paths = os.pathsep.join([str(HERE.parent), str(HERE.parent / "runtime")])
    found = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=500,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
@pytest.mark.parametrize("count", [4, pytest.param(None, marks=pytest.mark.slow)])
def test_the_code_is_the_same(count):
    wanted = names()[:count]
    lines = run(str(HERE / "first_calls.py"), *wanted).splitlines()
    assert [line for line in lines if line.split()[1] != "same"] == []
    assert len(lines) == len(wanted)
    few = [line for line in lines if line.endswith(" some")]
    assert len(few) > len(lines) / 2, lines  # most programs want little


def test_what_is_not_imported():
    """A function of numbers and loops needs neither SciPy's linear algebra nor Numba's strings, dicts and random numbers."""
    text = """
import os, sys, tempfile
os.environ["TRANSPILE_CACHE_DIR"] = tempfile.mkdtemp()
import numpy as np
import transpile as tp
g = tp.jit(tp.grad(lambda x: np.sum(np.sin(x) * x)))
assert abs(g(np.ones(3))[0] - 1.3817732906760363) < 1e-12
unwanted = "scipy.linalg numba.np.linalg numba.np.random.generator_core numba.typed.typeddict".split()
print([m for m in unwanted if m in sys.modules])
"""
    assert run("-c", text).strip() == "[]"


def test_numba_is_whole_afterwards():
    """What the user compiles with Numba after a call of ours has all that Numba has."""
    text = """
import numpy as np
import transpile as tp
tp.jit(lambda x: np.sum(x * 2.0), cache=False)(np.ones(3))
import numba

@numba.njit
def f(n):
    d = {"a": 1.5}
    return np.linalg.det(np.eye(n) * d["a"])

print(f(3))
tp.jit(lambda x: np.sum(np.sort(x)) + np.linalg.det(np.eye(2) * x[0]), cache=False)(np.ones(3))
"""
    assert run("-c", text).split() == ["3.375"]
