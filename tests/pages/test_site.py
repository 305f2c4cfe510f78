"""The site is built without a warning, and loads nothing over the network; the examples in docstrings of public names are true."""

from __future__ import annotations

import doctest
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import transpile as tp

sys.path.append(str(Path(__file__).parents[2] / "docs/_generate"))

from build_site import CONTENTS, linked, remote
from gallery_pages import programs

ROOT = Path(__file__).parents[2]
HAS_SPHINX = all(importlib.util.find_spec(name) for name in ("sphinx", "myst_parser", "furo"))


@pytest.mark.slow
@pytest.mark.skipif(not HAS_SPHINX, reason="Sphinx, MyST and furo are not installed: pip install '.[docs]'")
def test_the_site_is_built_and_loads_nothing(tmp_path: Path) -> None:
    out = tmp_path / "site"
    done = subprocess.run([sys.executable, str(ROOT / "docs/_generate/build_site.py"), str(out), "--fast"])
    assert done.returncode == 0
    pages = {path.relative_to(out).with_suffix("").as_posix() for path in out.rglob("*.html")}
    assert {p for found in CONTENTS.values() for p in found if (ROOT / f"docs/{p}.md").exists()} <= pages
    assert {f"gallery/{p.stem}" for p in programs()} <= pages
    for path in out.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<(script|img|link)\b[^>]*\b(src|href)=.https?://", text), path
        for local in re.findall(r"<(?:img|script)\b[^>]*\bsrc=\"([^\":?]+)", text):
            assert (path.parent / local).exists(), f"{path}: {local}"
    for name in tp.__all__:
        assert name in ("lax", "random", "tree") or f'id="transpile.{name}"' in (out / "api/transpile.html").read_text()


@pytest.mark.quick
def test_what_is_loaded_over_the_network_is_found(tmp_path: Path) -> None:
    for text in (
        '<script async src="https://cdn.example/x.js">',
        "<link rel=stylesheet href='//fonts.example/css'>",
        '<img alt="badge" src="http://badge.example/x.svg">',
        "<style>@import url(https://fonts.example/css);</style>",
        "<style>body { background: url('https://example/x.png') }</style>",
    ):
        (tmp_path / "a.html").write_text(text, encoding="utf-8")
        assert list(remote(tmp_path)), text
    (tmp_path / "a.html").write_text('<a href="https://example">a link</a><img src="x.png">', encoding="utf-8")
    assert not list(remote(tmp_path))


@pytest.mark.quick
def test_links_between_files_become_links_between_pages() -> None:
    pages = {"docs/errors.md": "errors", "examples/garch.py": "gallery/garch"}
    text = "[a](docs/errors.md#t104), [`b`](examples/garch.py), [c](LICENSE), [d](https://e.org)\n```\n[e](docs/errors.md)\n```\n"
    wanted = "[a](errors.md#t104), [`b`](gallery/garch.md), c (`LICENSE`), [d](https://e.org)\n```\n[e](docs/errors.md)\n```\n"
    assert linked(text, "README.md", "index", pages) == wanted
    assert linked('<a id="t101"></a>\n\n### T101', "docs/errors.md", "errors", pages) == "(t101)=\n\n### T101"
    assert linked("[a](../docs/errors.md)", "docs/x.md", "api/x", pages) == "[a](../errors.md)"


MODULES = (tp, tp.lax, tp.random, tp.tree)
PUBLIC = [f"{m.__name__}.{n}" for m in MODULES for n in m.__all__ if not isinstance(getattr(m, n), ModuleType)]
WITHOUT = {f"transpile.tree.{n}" for n in "DictKey FlattenedIndexKey GetAttrKey SequenceKey TreeDef".split()}


@pytest.mark.numba
@pytest.mark.parametrize("name", sorted({*PUBLIC} - WITHOUT))
def test_an_example_of_the_reference(name: str, cache_directory: None) -> None:
    """Those of ``transpile`` run as they stand, those of its modules with the names of these."""
    module, _, own = name.rpartition(".")
    function = getattr(sys.modules[module], own)
    names = {} if module == "transpile" else vars(sys.modules[function.__module__]) | {"__name__": "__main__"}
    test = doctest.DocTestParser().get_doctest(function.__doc__ or "", names, name, None, 0)
    assert test.examples, "the docstring of a public name has an example"
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert not runner.failures
