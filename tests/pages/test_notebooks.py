"""The notebooks are stored without outputs, and run from end to end."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "docs/_generate"))

from notebook_pages import NOTEBOOKS, cells, run

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))


@pytest.mark.quick
@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_is_stored_without_outputs(path: Path) -> None:
    stored = json.loads(path.read_text(encoding="utf-8"))
    code = [c for c in stored["cells"] if c["cell_type"] == "code"]
    assert code and all(not c["outputs"] and c["execution_count"] is None for c in code)
    assert cells(path)[0].text.startswith("# ")
    for cell in cells(path):
        if cell.kind == "code":
            ast.parse(cell.text)


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_runs(path: Path, cache_directory: None) -> None:
    pytest.importorskip("matplotlib")
    found = [cell for cell in run(path) if cell.kind == "code"]
    assert sum(bool(cell.printed or cell.pictures) for cell in found) > len(found) / 2
