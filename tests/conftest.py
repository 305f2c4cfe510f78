"""What all tests share: the tests' own modules can be imported, linear algebra runs on one thread, and what each pass over loops
makes is verified."""

import os
import sys
from pathlib import Path

import pytest

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # two workers on two cores; and the same sums in every run

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)


@pytest.fixture(scope="session", autouse=True)
def verified_loops():
    """Whatever is compiled in tests: each pass of `transpile.loops` leaves well-formed scalar core."""
    from loop_check import checked_passes

    with checked_passes():
        yield


@pytest.fixture(scope="module")
def cache_directory(tmp_path_factory):
    """A directory for compiled code, for the tests of one module; the one that is set, if one is."""
    previous = os.environ.get("TRANSPILE_CACHE_DIR")
    os.environ.setdefault("TRANSPILE_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
    yield
    if previous is None:
        del os.environ["TRANSPILE_CACHE_DIR"]
