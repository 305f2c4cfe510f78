"""`make new-op`: the skeleton of a primitive is a primitive that lacks its derivative, and says so."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
from house.imports import ROOT
from house.new_op import Refused, of_kind, of_special

TRY = """
import numpy as np, scipy.special as sp, transpile as tp
def f(x):
    return np.sum(sp.{name}(x, *{more}))
x = np.array([0.3, 0.7])
print(abs(tp.jit(f)(x) - f(x)) < 1e-12, tp.jit(f, cache=False)(x) == tp.vmap(f)(x[None])[0])
try:
    tp.grad(f)(x)
except tp.TranspileError as error:
    print(error.diagnostics[0].code)
"""


@pytest.mark.parametrize(("name", "more"), [("ellipk", ()), ("powm1", (1.5,))])
def test_a_skeleton(name, more, tmp_path):
    for part in ("transpile", "runtime"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests/rule_points.py", tmp_path / "tests")
    assert f"{name} is a primitive" in of_special(name, tmp_path)
    with pytest.raises(Refused, match="is a primitive already"):
        of_special(name, tmp_path)
    (tmp_path / "model.py").write_text(TRY.format(name=name, more=more))
    env = {
        "PYTHONPATH": f"{tmp_path}:{tmp_path / 'runtime'}",
        "TRANSPILE_CACHE_DIR": str(tmp_path / "cache"),
        "PATH": "",
    }
    run = subprocess.run([sys.executable, str(tmp_path / "model.py")], env=env, capture_output=True, text=True)
    assert run.stdout.split() == ["True", "True", "T304"], run.stdout + run.stderr


def test_what_has_no_skeleton():
    with pytest.raises(Refused, match="has no function 'nothing'"):
        of_special("nothing")
    with pytest.raises(Refused, match="there is no kind 'nothing'"):
        of_kind("f", "nothing")
    assert "fold=...," in of_kind("f", "fold") and 'kind="fold"' in of_kind("f", "fold")
