"""The disk cache of compiled code: other processes find it, and nothing that happens to its files makes a call fail or lie."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.numba
ROOT = str(Path(__file__).parent.parent)

PROGRAM = """
import sys
import numpy as np
import transpile as tp
from numba.core import compiler

compiled = []
original = compiler.compile_extra
compiler.compile_extra = lambda *a, **k: compiled.append(a[2].__name__) or original(*a, **k)


def f(x, k):
    if k > 5:
        raise ValueError(f"{k} is more than 5 at {x}")
    print("k is", k, x[0])
    return np.sum(np.tanh(x)) + x[k] * np.linalg.det(np.outer(x, x) + np.eye(3))


g = tp.jit(tp.value_and_grad(f))
v, d = g(np.ones(3), 1)
try:
    g(np.ones(3), 9)
except ValueError as e:
    print(e)
print(v, d, file=sys.stdout)
print(len(compiled))
"""


def run(folder, cache, **more):
    (folder / "prog.py").write_text(PROGRAM)
    env = {**os.environ, "TRANSPILE_CACHE_DIR": str(cache), "PYTHONPATH": ROOT, **more}
    return subprocess.Popen(
        [sys.executable, "prog.py"], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def result(process):
    out, err = process.communicate()
    assert process.returncode == 0, err[-3000:]
    *lines, count = out.splitlines()
    return lines, int(count)


@pytest.mark.slow
def test_the_cache_in_all_its_states(tmp_path):
    """Two processes at once, a third that only loads, damaged and truncated files, a directory that cannot be written."""
    cache = tmp_path / "cache"
    both = [run(tmp_path, cache) for _ in range(2)]
    (lines, _), (others, _) = (result(p) for p in both)
    assert lines == others and lines[0] == "k is 1 1.0" and "9 is more than 5 at [1. 1. 1.]" in lines

    again, count = result(run(tmp_path, cache))
    assert again == lines and count == 0

    for damage in (lambda data: data[:-5] + b"wrong", lambda data: data[:40], lambda data: b""):
        for file in (cache / "__pycache__").glob("*.nb[ci]"):
            file.write_bytes(damage(file.read_bytes()))
        assert result(run(tmp_path, cache))[0] == lines
    again, count = result(run(tmp_path, cache))
    assert again == lines and count == 0  # what was damaged has been replaced

    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    assert result(run(tmp_path, blocked / "cache", TMPDIR=str(tmp_path)))[0] == lines
    assert not list(tmp_path.glob("transpile-*"))  # what was used instead is removed


def test_each_signature_has_a_data_file_of_its_own(tmp_path):
    """Numba numbers them, and two processes may choose the same number."""
    from numba import njit

    from runtime.compiled.cache import keep

    source = tmp_path / "twice.py"
    source.write_text("def twice(x):\n    return x + x\n")
    names = {}
    exec(compile(source.read_text(), str(source), "exec"), names)
    names["twice"].__module__ = "twice"
    caches = [keep(njit(names["twice"]))._cache for _ in range(2)]
    kernels = [keep(njit(names["twice"])) for _ in range(2)]
    for kernel, value in zip(kernels, (1, 1.5)):
        kernel._cache._cache_file._load_index = dict  # neither sees what the other has written
        assert kernel(value) == 2 * value
    assert len(list((tmp_path / "__pycache__").glob("*.nbc"))) == 2
    assert all(type(c).__name__ == "Cache" for c in caches)
