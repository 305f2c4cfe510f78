"""The reader of core text: what `dump` writes is read back, for the whole corpus, at all stages."""

from __future__ import annotations

import re

import pytest
from core_reader import NotCore, plain, read, read_all
from core_runs import Violation, run
from corpus import all_programs
from loop_text import THREADS, stages_of, text_of
from verified import check

from transpile.core import nodes as ir
from transpile.core.dump import dump, dump_all
from transpile.core.functions import helpers
from transpile.core.walk import statements

WHOLE = """f(x: float64[?], n: int, buffer out: float32[?, 3]):
  s: stack of float = new stack
  buffer y: float64[?] = new in the frame empty 4
  buffer z: int64[?] = new empty n  -- kept for the reverse sweep
  a: float64[?] = view x[0:n]
  b: float64[?, ?] = view x.view(n, 1)
  c: float64[?, ?] = view b.permute(1, 0)
  h: float, g.2: bool = for i: int in backwards range(n, 0, 1) with o: float := inf, g: bool := undef: -> d: int
    check 0 <= i < n if g else IndexError of i (('at', 'a.py', 1, 2), 'index ', 0, ' is out of range for size ', 1)
    check not g else OverflowError ('no',)
    t: float64 = x[i]
    push s 1.5
    t.2: float = pop s
    y[i] += t
    out[i, 0] <- 1e-07:float32
    yield t.2, True:bool
    stop if g
  for j: int in parallel range(0, n, 1):
    lanes: float64 x 4 = lanes x[j] where g.2
    lanes y[j] where g.2 <- lanes
  u: float64 = for l: int in vector range(0, 16, 1) with v: float64 := inf combined by minimum in vectors of 4:
    yield v
  w.3: int = while with w: int := 0:
  test with w.2: int := w:
    t.3: bool = less w.2 n
    yield t.3
  do:
    if g.2:
      print w ((0,), ('a',)) sep=' ' end='\\n'
    else:
      raise ValueError  ('no number: ', 0)
    yield 1
  pivots: int64[?] = call linalg.lu_factor x, b, z fills b, z
  r: float64 = call helper x, nan
  t.4: float = cast n dtype='float64' weak=True
  yield t.4, u, 0.1:float64
  where n = n"""


def test_every_kind_of_statement_is_read_back():
    assert dump(read(WHOLE)) == WHOLE
    kinds = {type(s).__name__ for s in statements(read(WHOLE).body)}
    wanted = {k.__name__ for k in ir.Stmt.__args__ if k is not ir.Effect} | {
        "View",
        "Print",
        "Raise",
        "Check",
        "BoundsCheck",
    }
    assert kinds == wanted


@pytest.mark.parametrize(
    "text, place, message",
    [
        ("f(x: float64[?]):\n  yield y", "line 2, column 9", "'y' is no operand"),
        ("f(x: float64[?]):\n  y: float65 = x[0]", "line 2, column 13", "'float65' is no dtype"),
        ("f(x: float64[?]):\n  x: float64 = x[0]", "line 2, column 4", "'x' is declared twice"),
        ("f(x: float64[?]):\n  y: float64 = x[0", "line 2, column 19", "is expected"),
        ("f(x: float64[?]):\n  y: float64 = x[0] 1", "line 2, column 20", "is left over"),
        ("f(n: int):\n  for i: int in range(0, n):", "line 2, column 28", "2 ends of a range"),
        ("f(n: int):\n  while:\n    push n n", "line 2, column 9", "a while without a test"),
        ("f(n: int):\n    yield n", "line 2, column 5", "indented otherwise"),
        ("f(n: int):\n  y: float = cast n dtype=float64", "line 2, column 27", "is no literal"),
        ("f(n: int):\n  1[0] <- n", "line 2, column 4", "a constant is no place"),
        ("f(n: int):\n  y: int = add n undef", "line 2, column 23", "undef has no type here"),
    ],
)
def test_what_is_no_core_is_refused(text, place, message):
    with pytest.raises(NotCore) as found:
        read(text)
    assert str(found.value).startswith(f"{place}: ") and message in str(found.value)


def test_functions_whose_names_look_like_places():
    text = "f(n: int):\n  t: int = arrays.diagonal_size n n 0\n  yield t"
    assert dump(read(text)) == text


def test_several_functions():
    text = "f(n: int):\n  yield n\n\ng(n: int):\n  yield n, n"
    assert "\n\n".join(map(dump, read_all(text))) == text


def test_a_run_finds_what_compiled_code_would_do_silently():
    text = "f(buffer x: float64[?], n: int):\n  t: float64 = x[n]\n  x[0] <- t\n  yield t"
    found = run(read(text), {"x": [1.0, 2.0], "n": 1})
    assert found.results == (2.0,) and found.written[0].tolist() == [2.0, 2.0]
    with pytest.raises(Violation, match="index 2 of axis 0"):
        run(read(text), {"x": [1.0, 2.0], "n": 2})
    raising = read("f(n: int):\n  raise ValueError n ('it is ', 0)")
    assert run(raising, {"n": 3}).error == "ValueError: it is 3"


# ------------------------------------------------------------------------------------------------------------ corpus


@pytest.mark.parametrize("program", all_programs(), ids=lambda p: p.name)
@pytest.mark.sampled(24)
def test_corpus_is_read_back(program):
    """Its text, and the code that is made of it."""
    for _, _, functions in stages_of(program, THREADS):
        for fn in map(plain, functions):
            text = dump_all(fn)
            assert "\n\n".join(map(dump, read_all(text))) == text
            if not helpers(fn):
                assert _code(check(read(dump(fn)))) == _code(fn)


def _code(fn):
    """The text for Numba without comments, which name lines of the user; what adds user's numbers may be a call."""
    text = re.sub(r"\s*# .*|\b\d{10,}\b", "", text_of(fn))  # nor the numbers of messages
    return re.sub(r"scalars\.plus\(([^,()]+), ([^,()]+)\)", r"\1 + \2", text)
