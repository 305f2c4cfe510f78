"""What generated code imports: `transpile_runtime`, once in a process, whatever a user's own files are called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATHS = {"checkout": [ROOT], "both": [ROOT, ROOT / "runtime"], "runtime first": [ROOT / "runtime", ROOT]}
OWN = "def special(x):\n    return 'mine'\n"
MODEL = """
import numpy as np
import runtime
import transpile as tp
from scipy import special

def f(a, x):
    return np.sum(special.gammainc(a, x))

class P:
    pass
"""
USE = """
import runtime, model, sys
import numpy as np
found = model.tp.grad(model.f)(np.array([1.5, 2.0]), 0.5)  # its text calls the runtime
assert runtime.special(1) == "mine"
import transpile_runtime.special
assert not [m for m in sys.modules if m.startswith("runtime.")]
"""


def _python(code: str, where: Path, paths: list[Path], **more: str) -> subprocess.CompletedProcess:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), **more}
    return subprocess.run([sys.executable, "-c", code], cwd=where, env=env, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("paths", PATHS)
def test_a_users_own_runtime(tmp_path, paths):
    (tmp_path / "runtime.py").write_text(OWN)
    (tmp_path / "model.py").write_text(MODEL)
    done = _python(USE, tmp_path, PATHS[paths])
    assert done.returncode == 0, done.stderr


@pytest.mark.numba
def test_a_users_own_runtime_beside_compiled_code(tmp_path):
    (tmp_path / "runtime.py").write_text(OWN)
    (tmp_path / "model.py").write_text(MODEL)
    code = USE.replace("model.tp.grad(model.f)", "model.tp.jit(model.tp.grad(model.f, 1))").replace(
        "0.5)", "np.ones(2))"
    )
    cache = {"TRANSPILE_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):  # the second time from disk
        done = _python(code, tmp_path, [ROOT], **cache)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("paths", PATHS)
def test_nothing_of_ours_is_called_runtime(tmp_path, paths):
    code = "import transpile, importlib.util as u; s = u.find_spec('runtime'); print(s and s.loader and s.origin)"
    done = _python(code, tmp_path, PATHS[paths])
    assert done.stdout.strip() == "None", done.stdout + done.stderr


@pytest.mark.parametrize("first", ["", "import transpile; "])
def test_it_has_one_name(tmp_path, first):
    done = _python(f"{first}import runtime.transpile_runtime", tmp_path, [ROOT])
    assert "imported as 'transpile_runtime', not as 'runtime.transpile_runtime'" in done.stderr


def test_it_is_the_one_of_this_tree(tmp_path):
    other = tmp_path / "transpile_runtime"
    other.mkdir()
    (other / "__init__.py").write_text("")
    code = "import transpile, transpile_runtime; print(transpile_runtime.__file__)"
    done = _python(code, tmp_path, [tmp_path, ROOT])
    assert Path(done.stdout.strip()) == ROOT / "runtime" / "transpile_runtime" / "__init__.py"
    done = _python("import transpile_runtime; import transpile", tmp_path, [tmp_path, ROOT])
    assert "is imported already: import transpile first" in done.stderr
