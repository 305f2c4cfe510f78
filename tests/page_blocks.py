"""Runs the Python blocks of the pages for users, in order, and compares their output with the page.

A page is Markdown. The language of a block, and a comment in the line before it, say what it is:

    ```python                   runs, in the page's namespace, as a file of its own
    <!-- file: model.py -->     ... which has this name: in messages, and for the shell blocks after it
    <!-- generated:begin -->    ... does not run: it is the output of the block before it
    <!-- jax -->                ... runs if JAX is installed, in a namespace of its own, and prints the next block's text;
                                so do blocks of the other libraries in PEERS
    ```text                     the output of the block before it, and the exception that ended it
    ```sh                       lines that begin with `transpile` are run, in the folder of the page's files; all others are not
    ```console                  a session at a terminal; does not run

`rewritten` returns the page with its current output.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import shlex
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PEERS = ("jax", "autograd", "torch", "numba")
ELSEWHERE = {"errors.md"}  # `mistakes` writes and runs it
PAGES = [README, *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in ELSEWHERE)]

_BLOCK = re.compile(r"^(?:<!-- (?P<mark>[^\n]*) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
_FILE, _OUTPUT = "file: ", "generated:begin"


class Block(NamedTuple):
    language: str
    mark: str
    text: str
    start: int  # where its text is in the page
    line: int

    @property
    def is_output(self) -> bool:
        return self.language == "text" or self.mark == _OUTPUT


def blocks(page: str) -> list[Block]:
    found = []
    for match in _BLOCK.finditer(page):
        start = match.start("text")
        found.append(
            Block(match["language"], match["mark"] or "", match["text"], start, page.count("\n", 0, start) + 1)
        )
    return found


def rewritten(path: Path, folder: Path, installed: Collection[str]) -> str:
    """The page with its current output blocks; ``installed`` are the peers whose blocks run.

    Its files are written to ``folder``, which is the working directory.
    """
    page = path.read_text(encoding="utf-8")
    parts, end = [], 0
    for block, printed in _outputs(path, page, folder, installed):
        parts += [page[end : block.start], printed]
        end = block.start + len(block.text)
    return "".join([*parts, page[end:]])


def _outputs(path: Path, page: str, folder: Path, installed: Collection[str]) -> Iterator[tuple[Block, str]]:
    """The output blocks, each with the output of the block before it."""
    ours, peers = _Space(path, folder), {name: _Space(path, folder) for name in PEERS}
    printed, raised, wanted, peer = "", None, None, ""  # of the last block; of the last block of a peer
    for block in blocks(page):
        if block.is_output:
            ending = f"{type(raised).__name__}: {raised}" if raised is not None else ""
            yield block, f"{printed}{ending}".rstrip("\n") + "\n"
            raised = None
            continue
        if raised is not None:
            raise raised
        if block.language == "sh":
            printed = _commands(block)
        elif block.language == "python" and block.mark in PEERS:
            if block.mark in installed:
                peer = block.mark
                wanted, raised = peers[peer].run(block)
        elif block.language == "python":
            printed, raised = ours.run(block)
            if wanted is not None:
                assert printed == wanted, f"{path.name}:{block.line}: {peer} prints\n{wanted}\nand not\n{printed}"
            wanted = None
    if raised is not None:
        raise raised


class _Space:
    """A namespace in which blocks run, each as a file."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self.folder = path, folder
        self.names: dict[str, Any] = {"__name__": re.sub(r"\W", "_", path.stem)}

    def run(self, block: Block) -> tuple[str, Exception | None]:
        """The printed text of a block, and the exception that ended it."""
        is_named = block.mark.startswith(_FILE)
        file = self.folder / (block.mark.removeprefix(_FILE) if is_named else f"{self.path.stem}_{block.line}.py")
        file.write_text(block.text, encoding="utf-8")
        importlib.invalidate_caches()  # the block may import a file that the one before it wrote
        code = compile(block.text, str(file), "exec", dont_inherit=True)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                exec(code, self.names)
            except Exception as failed:
                return out.getvalue(), failed
        return out.getvalue(), None


def _commands(block: Block) -> str:
    from transpile.cli import main

    out = io.StringIO()
    for line in block.text.replace("\\\n", " ").splitlines():
        name, *arguments = shlex.split(line, comments=True) or [""]
        if name == "transpile":
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                status = main(arguments)
            assert not status, f"{line}: {out.getvalue()}"
    return out.getvalue()


def links(page: str) -> list[str]:
    """The targets of a page's links, except links to other sites."""
    text = _BLOCK.sub("", page)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"\w+:", link)]


def anchors(page: str) -> set[str]:
    """The anchors that a link can name after ``#``: GitHub's names of the headings."""
    heads = re.findall(r"^#+ (.*)$", _BLOCK.sub("", page), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


if __name__ == "__main__":
    sys.exit("run the tests of tests/face/test_readme.py; `make golden` writes the pages")
