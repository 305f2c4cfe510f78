"""Functions whose source is in no file: of ``python -c``, standard input, the prompt, ``exec``, texts."""

from __future__ import annotations

import linecache
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import transpile as tp

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
SNIPPET = re.search(r"```python\n(.*?)```", README, re.S)[1]
SHOWN = re.search(r"<!-- generated:begin -->\n```python\n(.*?)```", README, re.S)[1]
PROGRAM = f"""{SNIPPET}
import transpile as tp
w, x, y = np.ones(3), np.ones((5, 3)), np.ones(5)
print(tp.source(tp.grad(loss), w, x, y))
print("gradient", tp.grad(loss)(w, x, y).shape)
"""


def python(*argv: str, **more) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *argv], capture_output=True, text=True, timeout=120, **more)


def fits(out: str) -> bool:
    """Whether the gradient was printed as README shows it."""
    bare = re.sub(r'"[^"]*:\d+: y', '"y', SHOWN).splitlines()
    lines = [line.partition("  # ")[0].rstrip() for line in bare if line.strip()]
    text = re.sub(r'f"[^"]*?:\d+: y', 'f"y', out)
    return "gradient (3,)" in out and all(line.strip() in text for line in lines)


@pytest.mark.parametrize("options", [["-c"], ["-B", "-W", "ignore", "-c"], ["-BWignore", "-Xutf8", "-c"], ["-sc"]])
@pytest.mark.sampled(3)
def test_a_command(options):
    done = python(*options, PROGRAM, "-c", "argument")
    assert fits(done.stdout), done.stderr


def test_a_command_glued_to_its_option():
    assert fits(python(f"-c{PROGRAM}").stdout)


def test_what_a_command_runs_of_another_text():
    """``exec`` has the same file name; the text of ``-c`` is taken for what compiles from it alone."""
    text = (
        "import transpile as tp; exec('def f(x): return 2.0 * x'); print(tp.grad(f)(1.0))\ndef f(x): return 3.0 * x\n"
    )
    done = python("-c", text)
    assert "error[T401]" in done.stderr and "transpile.from_source(text)" in done.stderr, done
    text = (
        "import transpile as tp; exec('def f(x): return 3.0 * x'); print(tp.grad(f)(1.0))\ndef f(x): return 3.0 * x\n"
    )
    assert "error[T401]" in python("-c", text).stderr


CLASSES = """
import dataclasses
import numpy as np
import transpile as tp

@dataclasses.dataclass
class Point:
    x: float
    def __init__(self, x): self.x = 2.0 * x
    def norm(self): return self.x * self.x

@dataclasses.dataclass
class Pair:
    a: float
    b: float

f = lambda x: Point(x).norm() + Pair(x, 3.0).b * x
print(tp.grad(f)(1.0))
def bad(x):
    yield x
try:
    tp.grad(bad)(1.0)
except tp.TranspileError as error:
    print(error)
"""


def test_classes_lambdas_and_positions_of_a_command():
    done = python("-c", CLASSES)
    assert done.stdout.startswith("11.0\n") and "error[T104]" in done.stdout and "    yield x\n" in done.stdout, done


def test_standard_input(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    with open(tmp_path / "program.py") as file:
        assert fits(python(stdin=file).stdout)
    with open(tmp_path / "program.py") as file:
        assert fits(python("-", "argument", stdin=file).stdout)
    done = python(input=PROGRAM)  # a pipe can be read once
    assert "error[T401]" in done.stderr and "transpile.from_source(text)" in done.stderr or fits(done.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal")
@pytest.mark.parametrize("basic", ["", pytest.param("1", marks=pytest.mark.slow)])
def test_the_prompt(basic, tmp_path):
    lines = [line for line in SNIPPET.splitlines() if line.strip()]
    definition = [*lines[1:], ""]
    typed = [
        lines[0], "import transpile as tp", "def loss(w, x, y):", "    return w", "", *definition,
        "w, x, y = np.ones(3), np.ones((5, 3)), np.ones(5)", "print(tp.source(tp.grad(loss), w, x, y))",
        "print('gradient', tp.grad(loss)(w, x, y).shape)", "g = lambda t: (t *", "t)", "print('slope', tp.grad(g)(3.0))",
    ]  # fmt: skip
    out = prompt(
        typed, {"PYTHON_BASIC_REPL": basic, "HOME": str(tmp_path), "PYTHON_HISTORY": str(tmp_path / "history")}
    )
    if "error[T401]" in out:  # a Python without readline
        assert "transpile.from_source(text)" in out and "readline" not in python("-c", "import readline").stderr
        pytest.skip("this Python has no history")
    assert fits(out) and "slope 6.0" in out, out


def prompt(lines: list[str], settings: dict[str, str]) -> str:
    """What Python's prompt shows for typed lines."""
    number, other = pty.openpty()
    env = {**os.environ, "TERM": "dumb", "NO_COLOR": "1", **settings}
    with subprocess.Popen(
        [sys.executable, "-i"], stdin=other, stdout=other, stderr=other, env=env, close_fds=True
    ) as process:
        os.close(other)
        seen = read(number, ">>> ")
        for line in lines:
            os.write(number, f"{line}\n".encode())
            seen += read(number, ">>> ", "... ")
        os.write(number, b"exit()\n")
        seen += read(number)
        process.wait(20)
    os.close(number)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen).replace("\r", "")


def read(number: int, *ends: str, patience: float = 30.0) -> str:
    seen, until = "", time.monotonic() + patience
    while time.monotonic() < until:
        ready, _, _ = select.select([number], [], [], 0.2)
        if not ready:
            if ends and seen.endswith(ends):
                return seen
            continue
        try:
            more = os.read(number, 65536).decode(errors="replace")
        except OSError:
            return seen
        if not more:
            return seen
        seen += more
    return seen


def test_a_text_that_linecache_has():
    text = "def f(x):\n    return x * x * x\n"
    linecache.cache["<made>"] = (len(text), None, text.splitlines(keepends=True), "<made>")
    scope: dict = {}
    exec(compile(text, "<made>", "exec"), scope)
    assert tp.grad(scope["f"])(2.0) == 12.0


# ------------------------------------------------------------------------------------------------------ from_source


def test_from_source():
    f = tp.from_source("def helper(x):\n    return SCALE * x\n\ndef f(x):\n    return helper(x) ** 2\n", {"SCALE": 3.0})
    assert f(2.0) == 36.0 and tp.grad(f)(2.0) == 36.0
    assert "3.0" in tp.source(tp.grad(f), 2.0) or "SCALE" in tp.source(tp.grad(f), 2.0)
    space: dict = {"np": np}
    indented = """
        def g(x):
            return np.sum(np.sin(x))
    """
    np.testing.assert_allclose(tp.grad(tp.from_source(indented, space))(np.ones(2)), np.cos(np.ones(2)))
    assert space["g"](np.zeros(2)) == 0.0
    decorated = tp.from_source("import transpile as tp\n@tp.grad\ndef h(x):\n    return x * x\n")
    assert decorated(3.0) == 6.0


def test_a_global_that_changes_later():
    space = {"k": 2.0}
    f = tp.from_source("def f(x):\n    return k * x\n", space)
    assert tp.grad(f)(1.0) == 2.0
    space["k"] = 5.0
    assert tp.grad(f)(1.0) == 5.0


@pytest.mark.numba
def test_from_source_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSPILE_CACHE_DIR", str(tmp_path))
    f = tp.from_source("def f(x, n):\n    for i in range(n):\n        x = x * x\n    return x\n")
    assert tp.jit(tp.grad(f))(1.5, 3) == 8 * 1.5**7


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("def f(x:\n    return x", "T403", "<source "),
        ("x = 1\n", "T404", "defines no function"),
        ("def f(x):\n    yield x\n", "T104", "    yield x"),
    ],
)
def test_texts_that_are_refused(text, code, message):
    with pytest.raises(tp.TranspileError) as failed:
        tp.grad(tp.from_source(text))(1.0)
    assert failed.value.codes == (code,) and message in str(failed.value)
