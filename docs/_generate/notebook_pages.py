"""Runs the notebooks of ``docs/notebooks`` with IPython, cell by cell, and writes each as a page with its outputs.

python docs/_generate/notebook_pages.py docs/notebooks/first_gradient.ipynb  # prints the page
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


@dataclass
class Cell:
    """``kind`` is "markdown" or "code"; of code that has run, ``printed`` is its text and ``pictures`` its figures as PNG."""

    kind: str
    text: str
    raises: bool = False
    printed: str = ""
    pictures: list[bytes] = field(default_factory=list)


def cells(path: Path) -> list[Cell]:
    """The cells as they are stored."""
    stored = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [
        Cell(c["cell_type"], "".join(c["source"]), "raises-exception" in c["metadata"].get("tags", ())) for c in stored
    ]


def run(path: Path) -> list[Cell]:
    """The cells with what they print and draw. An exception is raised, unless the cell has the tag ``raises-exception``:
    then there must be one."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell.instance()
    shell.reset()
    found = cells(path)
    for cell in found:
        if cell.kind != "code":
            continue
        with capture_output() as captured:
            done = shell.run_cell(cell.text, store_history=True)
        failed = done.error_before_exec or done.error_in_exec
        if failed is not None and not cell.raises:
            raise failed
        assert failed is not None or not cell.raises, cell.text
        shown = [output.data.get("text/plain", "") for output in captured.outputs]
        printed = re.sub(r"^Out\[\d+\]: \n?", "", captured.stdout, flags=re.M).rstrip()
        cell.printed = "\n".join(filter(None, [printed, *shown]))
        if failed is not None:
            cell.printed = f"{type(failed).__name__}: {failed}"
        cell.pictures = list(_figures())
    return found


def _figures() -> Iterator[bytes]:
    """What has been drawn and not yet been taken, as PNG."""
    plt = sys.modules.get("matplotlib.pyplot")
    for number in plt.get_fignums() if plt else ():
        file = io.BytesIO()
        plt.figure(number).savefig(file, format="png", dpi=110, bbox_inches="tight")
        plt.close(number)
        yield file.getvalue()


def page(path: Path, folder: Path, execute: bool = True) -> str:
    """The notebook as Markdown; its pictures are written into the folder."""
    text: list[str] = []
    for k, cell in enumerate(run(path) if execute else cells(path)):
        if cell.kind == "markdown":
            text += [cell.text, ""]
            continue
        text += ["```python", cell.text, "```", ""]
        if cell.printed:
            text += ["```text", cell.printed, "```", ""]
        for n, data in enumerate(cell.pictures):
            name = f"{path.stem}_{k}_{n}.png"
            (folder / name).write_bytes(data)
            text += [f"![a picture that the cell draws]({name})", ""]
    return "\n".join(text)


if __name__ == "__main__":
    import tempfile

    print(page(Path(sys.argv[1]), Path(tempfile.mkdtemp())))
