"""README and the pages of docs/: their code runs, and what they show is what comes out; `make golden` rewrites it."""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from page_blocks import PAGES, PEERS, README, ROOT, anchors, blocks, links, rewritten

import transpile as tp

SITE = ROOT / "docs" / "index.md"


@pytest.mark.numba
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_blocks_of_a_page_run_and_print_what_it_shows(path, tmp_path, monkeypatch, cache_directory):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    modules = set(sys.modules)
    with np.errstate(), np.printoptions():
        found = rewritten(path, tmp_path, installed={name for name in PEERS if find_spec(name)})
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    if os.environ.get("TRANSPILE_GOLDEN") == "rewrite":
        path.write_text(found, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_each_block_of_a_page_says_what_it_is(path):
    page = path.read_text(encoding="utf-8")
    assert {block.language for block in blocks(page)} <= {"python", "text", "sh", "console"}
    assert page.count("```") == 2 * len(blocks(page))  # none is hidden in a list


def test_links_lead_somewhere():
    """Those of the site's front page too lead to pages that the build makes: there they are checked."""
    for path in [*(page for page in PAGES if page != SITE), ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md"]:
        for link in links(path.read_text(encoding="utf-8")):
            name, _, anchor = link.partition("#")
            target = path.parent / name if name else path
            assert target.exists(), (path.name, link)
            assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), (path.name, link)


def test_readme_leads_to_every_page():
    found = {(README.parent / link.partition("#")[0]).resolve() for link in links(README.read_text(encoding="utf-8"))}
    assert {page.resolve() for page in (ROOT / "docs").glob("*.md") if page != SITE} <= found


def test_readme_table_of_names_is_the_public_list():
    text = README.read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)(?:\(|`)", text))
    assert {n for n in tp.__all__ if n.islower()} <= named


def test_variables_of_the_environment_are_on_their_page():
    page = (ROOT / "docs" / "debugging.md").read_text(encoding="utf-8")
    read = set()
    for folder in (ROOT / "transpile", ROOT / "runtime", ROOT / "tests"):
        for file in folder.rglob("*.py"):
            read |= set(re.findall(r"environ[^\n]*[\"'](TRANSPILE_\w+)[\"']", file.read_text(encoding="utf-8")))
            read |= set(re.findall(r"given\.get\(\"(TRANSPILE_\w+)\"", file.read_text(encoding="utf-8")))
    named = set(re.findall(r"`(TRANSPILE_[A-Z_]+)", page))
    assert read <= named, read - named
    assert named <= read, named - read
