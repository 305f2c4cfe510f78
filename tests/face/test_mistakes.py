"""Each code has an example with a message, a place and a way out; ``docs/errors.md`` shows them as they are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from mistakes import FILE, GROUPS, MISTAKES, PAGE, WITHOUT_EXAMPLE, outcome, page

import transpile as tp
from transpile.errors import CODES

SOURCES = Path(tp.__file__).parent
PLACE = re.compile(rf"(?:{re.escape(FILE)}|<source \w+>):\d+(?::\d+)?: error")
OF_A_CALL = re.compile(r"^(?:\w+: )?error\[")  # of an argument of a transform or a command, which has no line


def test_no_mistake_is_there_twice():
    assert len({m.program for m in MISTAKES}) == len({(m.code, m.title) for m in MISTAKES}) == len(MISTAKES)


def test_every_code_has_an_example():
    shown = {m.code for m in MISTAKES if m.code in CODES}
    assert shown.isdisjoint(WITHOUT_EXAMPLE)
    assert shown | set(WITHOUT_EXAMPLE) == set(CODES)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: f"{m.code}: {m.title}")
def test_the_message_and_the_way_out(mistake, cache_directory):
    message, raised, failure = outcome(mistake)
    assert not failure
    assert mistake.instead or "= hint: " in message, message
    if mistake.code not in CODES:
        assert type(raised).__name__.rstrip("_") == mistake.code
        assert not isinstance(raised, tp.TranspileError)
        return
    assert re.findall(r"error\[(T\d+)\]", message) == [mistake.code], message
    assert isinstance(raised, tp.TranspileError) or mistake.program.command
    assert OF_A_CALL.search(message) or PLACE.search(message), message


def test_the_page_is_what_is_said(cache_directory):
    """``make docs`` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_the_contents_name_every_code_and_lead_to_it():
    text = PAGE.read_text(encoding="utf-8")
    links = re.findall(r"\]\(#(\S+)\)", text)
    anchors = re.findall(r'<a id="(\S+)"></a>', text)
    assert len(set(anchors)) == len(anchors)
    assert (
        set(links)
        == {*anchors, "at-run-time"}
        == {*map(str.lower, CODES), *(f"{g.lower()}xx" for g in GROUPS), "at-run-time"}
    )


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
