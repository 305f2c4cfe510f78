"""Text is output: what we have printed, nothing of ours parses, searches or patches."""

from __future__ import annotations

import ast

import pytest
from house.text_reads import OURS, calls_in, listed, places

pytestmark = pytest.mark.quick

MOST = 3  # places that still read our own text; the number only goes down


def test_every_place_that_reads_text_is_listed():
    """A new one says in `house.text_reads` what it reads; one that is gone leaves the list."""
    found = places()
    assert {where: calls for where, calls in found.items() if where not in listed()} == {}
    assert listed() - set(found) == set()


def test_what_reads_our_own_text_only_shrinks():
    assert len(OURS.split("\n")) - 2 <= MOST


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("ast.parse(text)", "ast.parse"),
        ("re.sub(pattern, name, text)", "re.sub"),
        ("text.split('\\n')", ".split"),
        ("text.replace(old, new)", ".replace"),
        ("rows[0].startswith('def ')", ".startswith"),
        ("exec(code, names)", "exec"),
        ("code.replace(co_name=name)", None),
        ("'a b'.split()", None),
        ("np.split(x, 2)", None),
    ],
)
def test_what_counts(line, call):
    found = list(calls_in(ast.parse(f"def f():\n    {line}")))
    assert found == ([] if call is None else [("f", call)])
