"""What the README shows is what comes out; `make golden` rewrites it."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import numpy as np

import transpile as tp

README = Path(__file__).parents[2] / "README.md"
GENERATED = re.compile(r"(<!-- generated:begin -->\n```python\n)(.*?)(```\n<!-- generated:end -->)", re.S)


REPORT = re.compile(r"(<!-- report:begin -->\n```python\n(.*?)```\n.*?```text\n)(.*?)(```\n<!-- report:end -->)", re.S)


def _module(name: str, text: str, folder: Path, monkeypatch):
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _generated(text: str, folder: Path, monkeypatch) -> str:
    first = re.search(r"```python\n(.*?)```", text, re.S)
    assert first is not None
    loss = _module("loss", first.group(1), folder, monkeypatch).loss
    return tp.source(tp.grad(loss), np.ones(3), np.ones((5, 3)), np.ones(5))


def test_readme_shows_the_generated_gradient(tmp_path, monkeypatch):
    text = README.read_text(encoding="utf-8")
    generated = _generated(text, tmp_path, monkeypatch)
    shown = GENERATED.search(text)
    assert shown is not None
    if os.environ.get("TRANSPILE_GOLDEN") == "rewrite":
        README.write_text(GENERATED.sub(lambda m: m[1] + generated + m[3], text), encoding="utf-8")
        shown = GENERATED.search(README.read_text(encoding="utf-8"))
    assert shown.group(2) == generated


def test_readme_shows_the_report(tmp_path, monkeypatch):
    text = README.read_text(encoding="utf-8")
    shown = REPORT.search(text)
    assert shown is not None
    growth = _module("growth", f"import numpy as np\n\n\n{shown.group(2)}", tmp_path, monkeypatch).growth
    printed = f"{tp.report(tp.grad(growth), np.full(1000, 0.5), 0.1, 50)}\n"
    assert "tp.report(tp.grad(growth), np.full(1000, 0.5), 0.1, 50)" in shown.group(1)
    if os.environ.get("TRANSPILE_GOLDEN") == "rewrite":
        README.write_text(REPORT.sub(lambda m: m[1] + printed + m[4], text), encoding="utf-8")
        shown = REPORT.search(README.read_text(encoding="utf-8"))
    assert shown.group(3) == printed


def test_readme_table_of_names_is_the_public_list():
    text = README.read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)(?:\(|`)", text))
    assert {n for n in tp.__all__ if n.islower() and n not in ("linearize", "eval_shape")} <= named
