"""What an import costs: neither Numba nor SciPy comes in before it is needed; the runtime does not know the compiler."""

from __future__ import annotations

import subprocess
import sys

import pytest


def _loaded(code: str) -> list[str]:
    run = [sys.executable, "-c", f"{code}\nimport sys; print(*sorted(sys.modules))"]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.quick
def test_import_brings_in_neither_numba_nor_scipy():
    loaded = _loaded("import transpile")
    assert "transpile.api" in loaded
    assert not [m for m in loaded if m.split(".")[0] in ("numba", "scipy", "llvmlite")]


@pytest.mark.quick
def test_runtime_does_not_import_the_compiler():
    assert not [m for m in _loaded("import transpile_runtime") if m.split(".")[0] == "transpile"]
