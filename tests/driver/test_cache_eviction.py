"""The bound on the size of the cache: what is removed, in which order, and what never is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from transpile import cli
from transpile.driver.cache import directory, eviction

ROOT = Path(__file__).parents[2]
DAY = 86400
ONE, TWO, THREE = (c * 32 for c in "123")
STEM = "f_grad_0123456789abcdef0123"


def put(folder, name, size=100, days=0.0):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"x" * size)
    then = time.time() - days * DAY
    os.utime(path, (then, then))
    return path


def names(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_the_longest_unused_go_first(tmp_path):
    for name, days in ((ONE, 3), (TWO, 1), (THREE, 2)):
        put(tmp_path, f"{name}.calls", 100, days)
    assert eviction.trim(tmp_path, 300) == (0, 0)
    assert eviction.trim(tmp_path, 299) == (1, 100)
    assert names(tmp_path) == [f"{TWO}.calls", f"{THREE}.calls"]


def test_a_seventh_less_than_the_bound_is_left(tmp_path):
    for k in range(100):
        put(tmp_path, f"{k:032x}.calls", 10, k)
    assert eviction.trim(tmp_path, 800) == (30, 300)
    assert names(tmp_path) == [f"{k:032x}.calls" for k in range(70)]


def test_the_files_of_a_kernel_go_together(tmp_path):
    """Its text and what Numba keeps for it were written long ago; the object code was read today."""
    put(tmp_path, f"{STEM}.kernel", 100, 0)
    put(tmp_path, f"{STEM}.py", 100, 9)
    put(tmp_path, f"__pycache__/{STEM}.f_grad-3.py311.nbi", 100, 9)
    put(tmp_path, f"__pycache__/{STEM}.f_grad-3.py311.0011223344556677.nbc", 100, 9)
    put(tmp_path, f"{ONE}.calls", 100, 1)
    assert eviction.trim(tmp_path, 480) == (1, 100)
    assert len(names(tmp_path)) == 4
    assert eviction.trim(tmp_path, 399) == (4, 400)


FOREIGN = [
    "model.py",
    "model_0123.py",
    f"{ONE}.txt",
    f"{ONE}0.calls",
    "notes.kernel",
    f"{STEM}.pyx",
    "__pycache__/m.pyc",
    "t.tmp",
]


def test_files_of_the_user_stay(tmp_path):
    for name in FOREIGN:
        put(tmp_path, name, 100, 50)
    (tmp_path / f"{TWO}.calls").mkdir()
    (tmp_path / f"{THREE}.calls").symlink_to(tmp_path / "model.py")
    put(tmp_path, f"{ONE}.calls")
    assert eviction.trim(tmp_path, 0) == (1, 100)
    assert eviction.clear(tmp_path) == ((0, 0), 0)
    assert names(tmp_path) == sorted([*FOREIGN, f"{THREE}.calls"])


def test_half_written_files(tmp_path):
    """That of a process that died is removed; one that may be under way is not, unless all is cleared."""
    put(tmp_path, "tmpabcd_123.tmp", 100, 1)
    fresh = put(tmp_path, "tmpabcd_124.tmp", 100, 0)
    assert eviction.trim(tmp_path, 10) == (1, 100) and fresh.exists()
    assert eviction.clear(tmp_path) == ((1, 100), 0)


def test_a_read_counts_as_a_use(tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSPILE_CACHE_DIR", str(tmp_path))
    for name in (ONE, TWO):
        assert directory.write(f"{name}.calls", b"content")
        os.utime(tmp_path / f"{name}.calls", (time.time() - 2 * DAY,) * 2)
    assert directory.read(f"{ONE}.calls") == b"content"
    size = (tmp_path / f"{ONE}.calls").stat().st_size
    assert eviction.trim(tmp_path, 2 * size - 1) == (1, size)
    assert names(tmp_path) == [f"{ONE}.calls"]


@pytest.mark.parametrize(
    "text, most",
    [("", 1024 * 2**20), ("2", 2 * 2**20), ("0.5", 2**19), (" 7 ", 7 * 2**20), ("0", 0), ("-1", None), ("-0.5", None)],
)
def test_the_bound(monkeypatch, text, most):
    monkeypatch.setenv("TRANSPILE_CACHE_SIZE", text)
    assert eviction.bound() == most


@pytest.mark.parametrize("text", ["1 GB", "much", "nan", "inf"])
def test_a_bound_that_is_no_number(monkeypatch, text):
    monkeypatch.setenv("TRANSPILE_CACHE_SIZE", text)
    with pytest.warns(RuntimeWarning, match=r"not a number of MiB: 1024 is used"):
        assert eviction.bound() == 1024 * 2**20


WRITER = """
import sys
from transpile.driver.cache import directory
for k in range(int(sys.argv[1])):
    directory.write(f"{k:032x}.calls", bytes(10_000))
    print(len(list(directory.folder().iterdir())))
"""


@pytest.mark.parametrize(
    "size, during, after",
    [("-1", 200, 200), ("1", 100, 104), ("0", 200, 0), ("2", 200, 200)],
)
def test_a_process_keeps_to_the_bound(tmp_path, size, during, after):
    """200 files of 10 kB: 2 MB. ``during`` is how many there were at most, ``after`` when the process had ended."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "runtime")])
    env = {**os.environ, "TRANSPILE_CACHE_DIR": str(tmp_path), "TRANSPILE_CACHE_SIZE": size, "PYTHONPATH": paths}
    ran = subprocess.run([sys.executable, "-c", WRITER, "200"], env=env, capture_output=True, text=True, check=True)
    most = max(map(int, ran.stdout.split()))
    assert len(names(tmp_path)) <= after and most >= during
    if size == "1":
        assert most <= 2**20 * 17 / 16 / 10_048 + 1 and len(names(tmp_path)) > 80


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TRANSPILE_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(SystemExit) as ended:
        cli.main(["--clear-cache"])
    assert ended.value.code == 0 and capsys.readouterr().out.startswith("removed 0 files (0.0 MiB) from ")
    put(tmp_path / "cache", f"{ONE}.calls", 2**20)
    put(tmp_path / "cache", "model.py")
    with pytest.raises(SystemExit):
        cli.main(["--clear-cache"])
    assert capsys.readouterr().out == f"removed 1 file (1.0 MiB) from {tmp_path / 'cache'}\n"
    assert names(tmp_path / "cache") == ["model.py"]


def test_files_that_cannot_be_removed_are_counted(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TRANSPILE_CACHE_DIR", str(tmp_path))
    put(tmp_path, f"{ONE}.calls")

    def refused(path):
        raise PermissionError(path)

    monkeypatch.setattr(os, "unlink", refused)
    with pytest.raises(SystemExit) as ended:
        cli.main(["--clear-cache"])
    assert ended.value.code == 1 and capsys.readouterr().err == "1 could not be removed\n"
