"""Layers are a DAG: an arrow is an import, wherever it stands."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest
from house.arrows import late, up
from house.imports import ROOT, circles, edges, imports, modules, parsed
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


LATE = {
    # `import transpile` takes a tenth of a second because these wait until somebody asks
    "transpile -> transpile.check": "public modules and names that not everybody needs",
    "transpile -> transpile.lax": "as above",
    "transpile -> transpile.random": "as above",
    "transpile -> transpile.tree": "as above",
    "transpile.api -> transpile.driver.inspection": "the door to all that lifts, prints and reports",
    "transpile.api -> transpile.frontend.sources.origin": "`from_source`",
    "transpile.api -> transpile.frontend.sources.texts_to_carry": "what a pickle of it takes along",
    "transpile.api -> transpile.reports.report": "a type",
    "transpile.cli -> transpile.command.emitted": "`--help` and a wrong option are answered at once",
    # a call that was compiled before, by this process or another, comes without what lifts and lowers
    "transpile.driver.specialize -> transpile.driver.cache.cached_calls": "what is on disk, where it may be asked",
    "transpile.driver.specialize -> transpile.driver.runners": "the door to what makes programs",
    "transpile.driver.shared_arguments -> transpile.frontend.resolve.resolve": "the place that a refusal names",
    "transpile.driver.pass_watches -> transpile.analysis.overlaps": "asked for by an environment variable",
    "transpile.driver.pass_watches -> transpile.core.verify": "as above",
    # heavy libraries
    "transpile.driver.runners -> transpile.driver.compiling": "the back end: Numba",
    "transpile.driver.machine_code -> transpile.codegen.llvm": "llvmlite",
}
"""The late imports of our own modules, each with its reason: doors that keep a start fast, and heavy libraries."""


def test_arrows_point_down_and_make_no_circle():
    assert up() == [] and circles(edges()) == []


def test_targets_do_not_know_each_other():
    """What two of them need stands beside them."""
    targets = {path.parent.name for path in modules().values() if path.parent.parent.name == "codegen"}
    assert targets == {"numpy", "numba", "llvm"}

    def target(module: str) -> str:
        parts = module.split(".")
        return parts[2] if parts[1:2] == ["codegen"] and len(parts) > 2 and parts[2] in targets else ""

    arrows = [(a, b) for a, found in edges().items() for b in found if target(a) and target(b)]
    assert [f"{a} -> {b}" for a, b in arrows if target(a) != target(b)] == []


def test_late_imports_are_the_doors():
    assert late() == sorted(LATE)


def test_what_is_dispatched_on_has_one_class():
    """Python 3.10 registers no union by its annotation."""
    for path in modules().values():
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.FunctionDef) or not node.args.args:
                continue
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Attribute) and decorator.attr == "register":
                    assert not isinstance(node.args.args[-1].annotation, ast.BinOp), f"{path}:{node.lineno}"


PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_pages_name_what_there_is(page: Path):
    """Modules and what is in them, by their dotted names."""
    for name in set(re.findall(r"`((?:transpile|transpile_runtime)(?:\.\w+)+)`", page.read_text())):
        parts = name.split(".")
        found: object = importlib.import_module(parts[0])
        for k, part in enumerate(parts[1:], 2):
            found = getattr(found, part, None) or importlib.import_module(".".join(parts[:k]))


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
