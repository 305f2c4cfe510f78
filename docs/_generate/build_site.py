"""Builds the site: puts all pages together in ``build/site-source``, then runs Sphinx; warnings are errors.

    python docs/_generate/build_site.py [OUT]     # OUT is build/site, where it is not given
    python docs/_generate/build_site.py --fast    # programs and notebooks do not run: no pictures, no outputs

Pages of ``docs/*.md`` are taken as they are; all others are made here, from docstrings, programs, notebooks and results. Links
between files of the repository become links between pages; a link to a file that has no page becomes its name.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import api_pages
import gallery_pages
import notebook_pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NOTEBOOKS = ("first_gradient", "fitting_a_model", "compile_and_batch", "custom_derivative")
CONTENTS = {
    "Start": (
        *(f"notebooks/{n}" for n in NOTEBOOKS),
        "coming-from-jax",
        "coming-from-autograd-pytorch-numba",
        "how-to-read-a-derivative",
    ),
    "Guide": ("control-flow", "arrays-and-writes", "batching", "memory"),
    "Look up": (*(f"api/{n}" for n in api_pages.PAGES), "command-line", "coverage", "errors", "conventions", "limits"),
    "Practice": ("gallery/index", "debugging", "speed", "benchmarks"),
    "Project": ("how-it-works", "contributing", "checks", "changelog"),
}
"""The table of contents. Pages that do not exist are left out; pages of docs/ that are not named come last."""
FROM_ROOT = {
    "ARCHITECTURE.md": "how-it-works",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "README.md": "index",
}
RESULTS = "tests/bench/results"
BENCHMARKS = """# Benchmarks

These are the results that the repository has, with the commands that measure them again. `make bench` compares gradients with JAX,
PyTorch and C written by hand (an hour); `make beside REVISION=main` compares two revisions of transpile (a quarter of
an hour). Times depend on the machine: the one that was used is named with each table.

The programs are in `tests/bench`: one file a problem, with its peers beside it.
"""
MORE_RESULTS = {
    "calls": "`python tests/bench/calls.py`",
    "draws": "`python tests/bench/draws.py`",
    "elementwise": "`python tests/bench/elementwise.py`",
    "threads": "`python tests/bench/threads.py`",
}


def sources(folder: Path, run: bool) -> None:
    """All pages, in a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    own = {path.relative_to(ROOT).as_posix(): path.stem for path in DOCS.glob("*.md")}
    pages = {**own, **{name: page for name, page in FROM_ROOT.items() if (ROOT / name).exists()}}
    for path in gallery_pages.programs():
        pages[path.relative_to(ROOT).as_posix()] = f"gallery/{path.stem}"
    for name in NOTEBOOKS:
        pages[f"docs/notebooks/{name}.ipynb"] = f"notebooks/{name}"
    for name in ("docs/gallery", "examples", "docs/gallery/index.md"):
        pages[name] = "gallery/index"
    for name in api_pages.PAGES:
        pages[f"docs/api/{name}.md"] = f"api/{name}"
    pages["docs/benchmarks.md"] = pages[RESULTS] = "benchmarks"
    pages.update({f"docs/{page}.md": page for page in FROM_ROOT.values()})

    for name, page in {**own, **FROM_ROOT}.items():
        if name != "README.md" and (ROOT / name).exists():
            _write(folder, page, linked((ROOT / name).read_text(encoding="utf-8"), name, page, pages))
    _write(folder, "benchmarks", benchmarks(folder))
    for name, text in api_pages.pages().items():
        _write(folder, f"api/{name}", text)
    (folder / "notebooks").mkdir()
    for name in NOTEBOOKS:
        path = DOCS / f"notebooks/{name}.ipynb"
        text = notebook_pages.page(path, folder / "notebooks", run)
        _write(folder, f"notebooks/{name}", linked(text, f"docs/notebooks/{name}.ipynb", f"notebooks/{name}", pages))
    (folder / "gallery").mkdir()
    for name, text in gallery_pages.pages(folder / "gallery", run).items():
        _write(folder, f"gallery/{name}", text)
    index = folder / "index.md"
    index.write_text(front(index.read_text(encoding="utf-8"), contents(folder)), encoding="utf-8")


def _write(folder: Path, page: str, text: str) -> None:
    path = folder / f"{page}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


# --- links -------------------------------------------------------------------------------------

ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>$', re.M)
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def linked(text: str, name: str, page: str, pages: dict[str, str]) -> str:
    """The text of a file of the repository, whose links and anchors are Sphinx's; its blocks of code are left alone."""
    parts = re.split(r"(^ *(```+|~~~+).*?^ *\2 *$)", text, flags=re.M | re.S)
    return "".join(
        part if k % 3 else LINK.sub(lambda m: _link(m, name, page, pages), ANCHOR.sub(r"(\1)=", part))
        for k, part in enumerate(parts)
        if k % 3 != 2
    )


def _link(found: re.Match[str], name: str, page: str, pages: dict[str, str]) -> str:
    label, target = found.groups()
    path, _, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", target):
        return found.group()
    known = os.path.normpath((Path(name).parent / path).as_posix())
    if known in pages:
        there = os.path.relpath(pages[known], Path(page).parent)
        anchor = "" if known == "README.md" else anchor  # the front page is another text
        return f"[{label}]({there}.md{'#' * bool(anchor)}{anchor})"
    return label if "`" in label else f"{label} (`{known}`)"


# --- pages that are made here ------------------------------------------------------------------


def contents(folder: Path) -> dict[str, list[str]]:
    """The pages that exist, by heading."""
    found = {title: [p for p in pages if (folder / f"{p}.md").exists()] for title, pages in CONTENTS.items()}
    named = {"index", *(p for pages in found.values() for p in pages)}
    others = sorted(p.stem for p in folder.glob("*.md") if p.stem not in named)
    return {**found, "Project": [*found["Project"], *others]}


def front(text: str, found: dict[str, list[str]]) -> str:
    """The front page, with the generated code of its example and the table of contents."""
    example = re.search(r"```python\n(.*?)```", text, re.S)
    wanted = re.search(r"<!-- source: (.*) -->", text)
    assert example and wanted
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.py"
        path.write_text(example[1], encoding="utf-8")
        names = runpy.run_path(str(path))
        source = re.sub(r" +# .*", "", eval(wanted[1], names)).replace(f"{folder}{os.sep}", "")
    text = text.replace(wanted[0], f"```python\n{source.strip()}\n```")
    trees = [
        "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"])
        for title, pages in found.items()
    ]
    return text.replace("<!-- contents -->", "\n\n".join(trees))


def benchmarks(folder: Path) -> str:
    """The committed results, with their pictures."""
    text = [BENCHMARKS]
    latest = (ROOT / RESULTS / "latest.md").read_text(encoding="utf-8")
    text.append(_lower(latest))
    for path in (ROOT / RESULTS).glob("*.png"):
        shutil.copy(path, folder)
    for name, command in MORE_RESULTS.items():
        path = ROOT / RESULTS / f"{name}.md"
        if path.exists():
            text += [_lower(path.read_text(encoding="utf-8")), f"Measured by {command}."]
    text.append(_lower((ROOT / RESULTS / "missed.md").read_text(encoding="utf-8")))
    return linked("\n\n".join(text), f"{RESULTS}/latest.md", "benchmarks", {})


def _lower(text: str) -> str:
    """A page as a part of another: its headings go one level down."""
    return re.sub(r"^(#+ )", r"#\1", text, flags=re.M)


# --- Sphinx ------------------------------------------------------------------------------------

REMOTE = (
    re.compile(r"<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^>]*>"),
    re.compile(r"<link\b[^>]*\bhref=[\"']?(?:https?:)?//[^>]*>"),
    re.compile(r"@import\s+(?:url\()?[\"']?(?:https?:)?//[^;]*;"),
    re.compile(r"url\([\"']?(?:https?:)?//[^)]*\)"),
)


def remote(out: Path) -> Iterator[str]:
    """Whatever a page or a style sheet would load over the network; links that a reader follows are none of it."""
    for path in sorted([*out.rglob("*.html"), *out.rglob("*.css")]):
        text = path.read_text(encoding="utf-8")
        yield from (f"{path.relative_to(out)}: {found[0]}" for pattern in REMOTE for found in pattern.finditer(text))


def build(out: Path, run: bool = True) -> int:
    folder = ROOT / "build" / "site-source" if out == ROOT / "build/site" else out.with_name(f"{out.name}-source")
    sources(folder, run)
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-b", "html"]
    done = subprocess.run(
        [*command, "-c", str(DOCS), "-d", str(folder / ".doctrees"), str(folder), str(out)]
    ).returncode
    asked = list(remote(out))
    print("\n".join(asked), end="\n" * bool(asked))
    if done or asked:
        return 1
    print(f"the site is in {out}: open {out / 'index.html'}")
    return 0


if __name__ == "__main__":
    wanted = [a for a in sys.argv[1:] if a != "--fast"]
    sys.exit(build(Path(wanted[0]).resolve() if wanted else ROOT / "build/site", "--fast" not in sys.argv))
