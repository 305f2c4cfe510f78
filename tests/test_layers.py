"""Layers are a DAG: an arrow is an import, wherever it stands; what is not so yet is listed, and the lists only shrink."""

from __future__ import annotations

from pathlib import Path

import pytest
from house import today
from house.imports import ROOT, circles, edges, imports, modules
from house.plan import arrows, beside, layer

from transpile.driver.cache.cached_kernels import WRITERS

pytestmark = pytest.mark.quick


def test_the_table_is_a_dag():
    assert circles({name: set(allowed) for name, allowed in arrows().items()}) == []
    assert {below for allowed in arrows().values() for below in allowed} <= set(arrows())


def test_every_file_has_a_place():
    assert {layer(m) for m in modules()} == set(arrows())
    assert {f"transpile.{m}" for m in beside()} <= {*modules(), "transpile.__init__"}


def test_no_two_files_share_a_name():
    """A name says one subject: who looks for a file finds one."""
    seen: dict[str, list[str]] = {}
    for path in modules().values():
        seen.setdefault(path.name, []).append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in seen.items() if len(paths) > 1 and name != "__init__.py"} == {}


@pytest.mark.parametrize("kind", ["up", "circles", "late"])
def test_what_is_left_is_listed(kind):
    """A new entry is a mistake; one that is gone leaves the list: ``python tests/house/today.py --write``."""
    assert today.found()[kind] == today.listed()[kind]


@pytest.mark.parametrize("package", ["transpile.frontend"])
def test_no_circle_is_inside(package: str):
    inside = {m for m in modules() if m.startswith(f"{package}.")}
    assert circles({m: found & inside for m, found in edges().items() if m in inside}) == []


def test_every_import_is_seen(tmp_path: Path):
    package = tmp_path / "own"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("def f():\n    from own import b\n    return b\n")
    (package / "b.py").write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from own.a import f\n")
    (package / "c.py").write_text("import own.a, math\n")
    assert [i.where for i in imports(tmp_path, "own")["own.a"]] == ["late"]
    graph = edges(tmp_path, "own")
    assert graph == {"own": set(), "own.a": {"own.b"}, "own.b": {"own.a"}, "own.c": {"own.a"}}
    assert circles(graph) == [["own.a", "own.b"]]


def test_kernels_on_disk_name_all_that_writes_them():
    """What machine code is made by may change without a change of the text that it is kept under."""
    graph = edges()
    found = {m for m in modules() if m.startswith("transpile.codegen.llvm.")}
    while more := {b for a in found for b in graph[a]} - found:
        found |= more
    packages = {m.split(".")[1] for m in found if (ROOT / "transpile" / m.split(".")[1]).is_dir()}
    assert packages <= set(WRITERS), packages - set(WRITERS)
    assert all((ROOT / "transpile" / name / "__init__.py").is_file() for name in WRITERS)
