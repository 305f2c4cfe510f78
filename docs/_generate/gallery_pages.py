"""The gallery: a page for each program of ``docs/gallery`` and ``examples``, with its picture, its output and its text."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
INTRODUCTION = """# Gallery

Short programs, each with a real use. Every one runs as it stands, with fixed seeds, and a test compares its result with
something independent: a closed form, a textbook's formula, finite differences, or the simulated truth.
"""
PICTURES = {"digits": "misread.png"}
"""Of programs that draw several."""


def programs() -> list[Path]:
    return [*sorted((ROOT / "docs/gallery").glob("*.py")), *sorted((ROOT / "examples").glob("*.py"))]


def pages(folder: Path, run: bool = True) -> dict[str, str]:
    """The pages by name; pictures are written into the folder."""
    found: dict[str, str] = {}
    tiles: list[str] = []
    others: list[str] = []
    for path in programs():
        printed = output(path, folder) if run else ""
        picture = PICTURES.get(path.stem, f"{path.stem}.png")
        picture = picture if (folder / picture).exists() else ""
        found[path.stem] = page(path, printed, picture)
        title, _ = docstring(path)
        if picture:
            tiles += [f"[![{title}]({picture})]({path.stem}.md) [{title}]({path.stem}.md)", ""]
        others.append(f"- [{title}]({path.stem}.md)")
    wall = ["````{container} gallery", *tiles, "````", ""] if tiles else []
    short = [f"{name_of(path)} <{path.stem}>" for path in programs()]
    tree = ["```{toctree}", ":hidden:", "", *short, "```", ""]
    found["index"] = "\n".join([INTRODUCTION, *wall, "## All programs", "", *others, "", *tree])
    return found


def docstring(path: Path) -> tuple[str, str]:
    """The first line of a program's docstring, and the rest."""
    first, _, rest = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")
    return first.rstrip("."), rest.strip()


def name_of(path: Path) -> str:
    """A name of some words: the docstring's, before its colon, or the file's."""
    name, colon, _ = docstring(path)[0].partition(": ")
    return name if colon and len(name) < 40 else path.stem.replace("_", " ").capitalize()


def page(path: Path, printed: str, picture: str) -> str:
    title, rest = docstring(path)
    text = path.read_text(encoding="utf-8")
    code = text[text.index('"""', 3) + 3 :].strip()  # the docstring stands above
    lead = title.removeprefix(f"{name_of(path)}: ")
    parts = [f"# {name_of(path)}", "", f"{lead[0].upper()}{lead[1:]}.", "", rest, ""]
    if picture:
        parts += [f"![{title}]({picture})", ""]
    if printed:
        parts += ["It prints", "", "```text", printed, "```", ""]
    return "\n".join(
        [*parts, f"The program is `{path.relative_to(ROOT).as_posix()}`.", "", "```python", code, "```", ""]
    )


def output(path: Path, folder: Path) -> str:
    """What a program prints; it runs as a script, in the folder in which its picture shall be."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "runtime")])
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, str(path)], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{path}: {done.stderr}")
    for picture in (path.parent / "out").glob("*.png"):
        (folder / picture.name).write_bytes(picture.read_bytes())
    return done.stdout.strip()
