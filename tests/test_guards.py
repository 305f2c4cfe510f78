"""Compiled programs in memory with guard pages, a few (`make test-guards` runs all), and functions that must be found out."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.numba,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pages are guarded by the system's own numbers"),
]

SCRIPT = Path(__file__).parent / "guards" / "run.py"


def run(kind: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(SCRIPT), kind], capture_output=True, text=True)


def test_a_few_programs(cache_directory) -> None:
    done = run("sample")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 functions in guarded memory, 0 wrong" in done.stdout


def test_arguments_that_are_written_meanwhile(cache_directory) -> None:
    done = run("raced")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 functions in guarded memory, 0 wrong" in done.stdout


@pytest.mark.slow
def test_faults_are_found() -> None:
    done = run("faulty")
    assert done.returncode == 1
    for name, wrong in (
        ("behind", "the process ended with -11"), ("before", "the process ended with -11"),
        ("unwritten", "the result depends on what was in memory"), ("beside", "the process ended with -11"),
    ):  # fmt: skip
        assert f"WRONG {name}: {wrong}" in done.stdout
