"""Figures of a tree: ``python tests/house/counts.py [FOLDER]``.

Code is a file without blank lines, comments and docstrings. A first call is ``jit(grad(f))(x)`` in a fresh process without a
cache: counted are the functions and files of ours that run.
"""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[2]

FIRST_CALL = """
import sys
import numpy as np
import transpile as tp
FOLDER, INSIDE = sys.argv[1], sys.argv[2]
def loss(w, x, y):
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z)
args = np.ones(3), np.ones((5, 3)), np.ones(5)
calls, seen = [0], set()
def watch(frame, event, arg):
    if event == "call" and frame.f_code.co_filename.startswith(INSIDE) and frame.f_code.co_name != "<module>":
        calls[0] += 1
        seen.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))
f = tp.jit(tp.grad(loss), cache=False)
sys.setprofile(watch)
f(*args)
sys.setprofile(None)
print(calls[0], len(seen), len({name for name, _ in seen}))
"""


def code_lines(text: str) -> int:
    """The number of lines with code."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    empty = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in empty:
            found |= set(range(token.start[0], token.end[0] + 1))
    return len(found - docstrings)


def of_files(folder: Path) -> tuple[int, int, int]:
    """The numbers of files, lines of code, and lines."""
    texts = [path.read_text() for path in sorted(folder.rglob("*.py"))]
    return len(texts), sum(map(code_lines, texts)), sum(text.count("\n") for text in texts)


def of_a_first_call(root: Path) -> tuple[int, int, int]:
    """The number of calls of our functions, of different functions, and of their files."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "first.py").write_text(FIRST_CALL)
        env = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'runtime'}", "TRANSPILE_CACHE_DIR": folder}
        run = [sys.executable, f"{folder}/first.py", folder, str(root / "transpile")]
        text = subprocess.run(run, env=env, capture_output=True, text=True, check=True).stdout
    calls, functions, files = map(int, text.split())
    return calls, functions, files


def main() -> None:
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    for name in ("transpile", "runtime"):
        files, code, lines = of_files(root / name)
        print(f"{name}: {files} files, {code:,} lines of code, {lines:,} lines")
    calls, functions, files = of_a_first_call(root)
    print(f"a first call: {calls:,} calls of {functions:,} functions in {files} files")


if __name__ == "__main__":
    main()
