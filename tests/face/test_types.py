"""The types of the public functions, as type checkers see them: what is right passes, each mistake is found on its line."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parents[1] / "typing"
PATHS = os.pathsep.join([str(ROOT), str(ROOT / "runtime")])
MISTAKES = {k for k, line in enumerate((FOLDER / "bad.py").read_text().splitlines(), 1) if "# mistake:" in line}


def mypy(file: Path, cache: Path) -> set[int]:
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--ignore-missing-imports",
               "--cache-dir", str(cache), "--no-error-summary", str(file)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ, "MYPYPATH": PATHS})
    assert not done.stderr, done.stderr
    return {int(n) for n in re.findall(rf"{file.name}:(\d+): error:", done.stdout)}


def pyright(file: Path, cache: Path) -> set[int]:
    settings = cache / "pyrightconfig.json"
    settings.write_text(json.dumps({"extraPaths": PATHS.split(os.pathsep), "typeCheckingMode": "standard"}))
    command = [
        sys.executable,
        "-m",
        "pyright",
        "--outputjson",
        "--project",
        str(settings),
        "--pythonpath",
        sys.executable,
    ]
    done = subprocess.run([*command, str(file)], capture_output=True, text=True, timeout=600)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {d["range"]["start"]["line"] + 1 for d in found if d["severity"] == "error"}


@pytest.mark.quick
@pytest.mark.parametrize("checker", [mypy, pyright], ids=["mypy", "pyright"])
def test_what_is_right_passes_and_mistakes_are_found(checker, tmp_path):
    if importlib.util.find_spec(checker.__name__) is None:
        pytest.skip(f"{checker.__name__} is not installed: make check has it")
    assert checker(FOLDER / "good.py", tmp_path) == set()
    assert checker(FOLDER / "bad.py", tmp_path) == MISTAKES


def test_both_packages_say_that_they_have_types():
    assert (ROOT / "transpile" / "py.typed").is_file() and (
        ROOT / "runtime" / "transpile_runtime" / "py.typed"
    ).is_file()
