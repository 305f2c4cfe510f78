"""Each pass over loops on cases in core text: what it gives, and that a run before and after it gives the same."""

from __future__ import annotations

import pytest
from pass_cases import FOLDER, UNCHANGED, cases, names, path_of, problem

CASES = [c for name in names() if path_of(name).exists() for c in cases(name)]
LEAST = 4  # cases of each pass


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.pass_name}: {c.title}")
def test_case(case):
    assert (found := problem(case)) is None, found


@pytest.mark.parametrize("name", names())
def test_each_pass_has_cases(name):
    """Some that it changes, and some that it must leave as they are."""
    found = [c for c in CASES if c.pass_name == name]
    assert len(found) >= LEAST, f"{path_of(name).name} has {len(found)} cases"
    assert {c.wanted == UNCHANGED for c in found} == {True, False}
    assert len({c.title for c in found}) == len(found)


def test_no_file_without_a_pass():
    assert {path_of(name) for name in names()} == set(FOLDER.glob("*.core"))
