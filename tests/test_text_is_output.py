"""Text is output: what we have printed, nothing of ours parses, searches or patches."""

from __future__ import annotations

import ast

import pytest
from house.text_reads import calls_in, listed, places

pytestmark = pytest.mark.quick


def test_no_place_reads_what_we_have_printed():
    """What reads text says in `house.text_reads` what else it reads; what is gone leaves the list."""
    found = places()
    assert {where: calls for where, calls in found.items() if where not in listed()} == {}
    assert listed() - set(found) == set()


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
