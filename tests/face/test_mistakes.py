"""Frequent mistakes get a message with a code, a place and a way out; ``docs/errors.md`` shows them as they are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from mistakes import FILE, MISTAKES, PAGE, message_of, page

import transpile as tp
from transpile.errors import CODES

SOURCES = Path(tp.__file__).parent
WITHOUT_HINT = {"T110", "T132", "T134", "T202", "T207", "T208", "T209", "T214", "T305", "T306", "T307", "T308", "T309", "T402",
                "T405", "T408", "T411"}  # fmt: skip
"""Codes of messages that say themselves what does not fit."""


def test_there_are_sixty():
    assert len(MISTAKES) >= 60
    assert len({m.text for m in MISTAKES}) == len(MISTAKES)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: f"{m.code}: {m.title}")
def test_the_message(mistake, cache_directory):
    text, raised = message_of(mistake)
    if mistake.code not in CODES:
        assert type(raised).__name__.rstrip("_") == mistake.code
        assert not isinstance(raised, tp.TranspileError)
        return
    assert isinstance(raised, tp.TranspileError), text
    (diagnostic,) = raised.diagnostics
    assert diagnostic.code == mistake.code, text
    is_of_call = (
        re.search(r"^(TranspileError|ShapeError): error\[", text) is not None
    )  # an argument of a transform: it has no line
    assert is_of_call or re.search(rf"{re.escape(FILE)}:\d+:\d+: error", text), text
    assert diagnostic.hint or mistake.code in WITHOUT_HINT, text


def test_the_page_is_what_is_said(cache_directory):
    """``make docs`` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_unsupported_call_has_a_hint():
    """Each place that raises T130 says what to do."""
    found = 0
    for file in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                if node.args[0].value == "T130":
                    found += 1
                    hint = node.args[3:] or [k.value for k in node.keywords if k.arg == "hint"]
                    assert hint and not (isinstance(hint[0], ast.Constant) and not hint[0].value), (
                        f"{file}:{node.lineno}"
                    )
    assert found > 10
