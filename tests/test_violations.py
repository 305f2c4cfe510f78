"""Bad inputs of really compiled functions and gradients, in a process of their own: it ends well, and says that none went wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.numba

SCRIPT = Path(__file__).parent / "violations.py"


def run(folder: Path, *options: str, direct: str = "1") -> None:
    environment = {**os.environ, "TRANSPILE_CACHE_DIR": str(folder), "TRANSPILE_DIRECT": direct}
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(SCRIPT), *options], env=environment, capture_output=True, text=True
    )
    lines = done.stdout.splitlines()
    wrong = "\n".join(line for line in lines if line.startswith("WRONG"))
    assert done.returncode in (0, 1), (
        f"the process ended with {done.returncode} in: {lines[-1:]}\n{done.stderr[-2000:]}"
    )
    assert not wrong, wrong
    assert lines[-1].endswith(" calls, 0 wrong") and int(lines[-1].split()[0]) > 500


def test_bad_inputs(tmp_path: Path) -> None:
    run(tmp_path, "few")


@pytest.mark.slow
@pytest.mark.parametrize("direct", ["1", "0"])
def test_bad_inputs_of_all_programs(direct: str, tmp_path: Path) -> None:
    """By `transpile.codegen.llvm`, and by Numba."""
    run(tmp_path, direct=direct)
