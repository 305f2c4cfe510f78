"""Diagnostics: their text, exactly."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import transpile as tp
from transpile.core import nodes as ir
from transpile.errors import CODES, Diagnostic, Findings, TranspileError, carets, error


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Writes a file under the working directory and gives its path."""
    monkeypatch.chdir(tmp_path)

    def write(text: str, name: str = "pendulum.py") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


def test_the_example_of_the_style_guide(source):
    lines = [""] * 40
    lines[13] = "        yield theta"
    file = source("\n".join(lines))
    caller = ir.Loc(file, 31, 12, 31, 20, "energy")
    found = Diagnostic(
        "T104", "'yield' is not supported", ir.Loc(file, 14, 9, 14, 20, "step", caller),
        hint="collect the values in an array and return it", context="reverse mode, with respect to theta",
    )  # fmt: skip
    assert str(found) == textwrap.dedent("""\
        pendulum.py:14:9: error[T104]: 'yield' is not supported
         14 |         yield theta
            |         ^^^^^^^^^^^
            = note: in 'step', called from 'energy' at pendulum.py:31:12 (reverse mode, with respect to theta)
            = hint: collect the values in an array and return it""")


def test_without_a_place():
    assert str(error("T901", "cannot read 'gard(f)'", hint="grad(f)?")) == (
        "error[T901]: cannot read 'gard(f)'\n   = hint: grad(f)?"
    )


def test_a_file_that_is_gone():
    assert str(Diagnostic("T405", "name 'z' is not defined", ir.Loc("<cell 3>", 3, 5))) == (
        "<cell 3>:3:5: error[T405]: name 'z' is not defined"
    )


def test_a_line_alone(source):
    file = source("x = 1\n")
    assert str(Diagnostic("T101", "no", ir.Loc(file, 1))) == "pendulum.py:1: error[T101]: no\n 1 | x = 1"


@pytest.mark.parametrize(
    ("line", "col", "end", "marks"),
    [
        ("    y = x", 9, 10, "        ^"),
        ("\ty = x", 2, 3, "\t^"),
        ("y = 'é' + ñandú", 11, 16, "          ^^^^^"),
        ("角度 = θ + x", 6, 7, "       ^"),  # two columns for each of the first two
        ("角度 = 1", 1, 3, "^^^^"),
        ("x = 1", 6, 6, "     ^"),
        ("x = 1", 1, 0, "^"),
        ("x = 1", 0, 0, ""),
        ("x = 1", 40, 41, ""),
    ],
)
def test_carets(line, col, end, marks):
    assert carets(line, ir.Loc("f.py", 1, col, 1, end)) == marks


def test_a_span_of_several_lines_ends_with_the_first():
    assert carets("x = f(a,  # why", ir.Loc("f.py", 1, 5, 3, 4)) == "    ^^^^^^^^^^^"


def test_a_long_chain_of_calls_is_shortened():
    loc = ir.Loc("f.py", 1, 1, function="f0")
    for k in range(1, 12):
        loc = ir.Loc("f.py", k, 1, function=f"f{k}", caller=loc)
    notes = [line for line in str(Diagnostic("T115", "recursion", loc)).splitlines() if "note" in line]
    assert len(notes) == 7
    assert "'f11', called from 'f10'" in notes[0]
    assert "... 5 more calls ..." in notes[3]
    assert "'f1', called from 'f0'" in notes[-1]


def test_several_are_reported_together(source):
    file = source("a\nb\nc\n")
    findings = Findings()
    findings.check()
    findings.add("T108", "second", ir.Loc(file, 2, 1))
    findings.add("T105", "first", ir.Loc(file, 1, 1))
    findings.add("T105", "first", ir.Loc(file, 1, 1))
    with pytest.raises(TranspileError) as caught:
        findings.check()
    assert caught.value.codes == ("T105", "T108")
    assert str(caught.value).splitlines()[::3] == [
        "pendulum.py:1:1: error[T105]: first",
        "pendulum.py:2:1: error[T108]: second",
    ]


def test_context_is_added_where_there_is_none():
    found = error("T101", "no", ir.Loc("f.py", 1, 1, function="f")).within("forward mode").within("later")
    assert str(found).splitlines()[-1] == "   = note: in 'f' (forward mode)"


def test_codes_are_known():
    with pytest.raises(KeyError):
        Diagnostic("T000", "no such code", ir.NOWHERE)
    assert list(CODES) == sorted(CODES)
    assert len(set(CODES.values())) == len(CODES)


@pytest.mark.parametrize(
    "draw", [lambda r, x: x * r.normal(), lambda r, x: x * np.random.rand(), lambda r, x: r.random() + x]
)
def test_random_numbers_are_refused_with_a_way_out(draw):
    rng = np.random.default_rng(0)
    with pytest.raises(TranspileError, match="is not supported") as raised:
        tp.grad(draw, argnums=1)(rng, 1.0)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == "T130" and "tp.random" in diagnostic.hint and "outside" in diagnostic.hint
