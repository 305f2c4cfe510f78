"""A file that is not executed gives a name the value that running it gives, or the name is refused where it is used."""

from __future__ import annotations

import contextlib
import io
import sys
import types

import pytest

from transpile.errors import TranspileError
from transpile.frontend.resolve.static import StaticModule

REFUSED = """
A = 2.0; B = A * 2; A = 3.0

A = {'a': 1.0}
B = {**A, 'b': 2.0}
A = {'a': 5.0}

B = 2.0
print((B := 3.0))

B = 2.0
C = [(B := k) for k in (1.0, 2.0)]

A = [1.0]; B = A; A.append(2.0)

B = [1.0]; A = B; A.append(2.0)

B = A = [1.0]; A[0] = 2.0

B = [1.0]; A = [B, 2.0]; A[0].append(2.0)

A = [1.0]; B = (A, 2.0); A.append(3.0)

B = {'a': [1.0]}; B['a'].append(2.0)

B = [1.0, 2.0]; A = B.pop()

B = [1.0]
[B.append(k) for k in range(2)]

B = [2.0, 1.0]
import random
random.shuffle(B)

import numpy as np
B = np.ones((2, 2))
np.fill_diagonal(B, 5.0)

B = [1.0, 2.0]
del B[0]

B = [1.0, 2.0]
if B.pop() > 0: pass

B = [1.0, 2.0]
while len(B) > 1 and B.pop() > 0: pass

try: B = 1.0 / 0.0
except ZeroDivisionError: B = 2.0

B = 1.0
try: raise ValueError
except ValueError: B = 2.0

import sys
if sys.maxsize > 5: from math import pi as B
else: from math import e as B
""".strip().split("\n\n")

READ = """
A = 2.0; A = 3.0; B = A * 2

A = 2.0; B = A * 2

A = [1.0]; B = [2.0]; A.append(3.0)

B = [1.0, 2.0, 3.0][1:]

A = 1; B = [1.0, 2.0, 3.0][A::2]

try: from math import pi as B
except ImportError: B = 3.0

import sys
if sys.maxsize > 5: from math import pi as B
else: from math import pi as B

B = 2.0
del B
from math import pi as B
""".strip().split("\n\n")


def run(text: str, monkeypatch) -> dict:
    module = types.ModuleType("run_here")
    monkeypatch.setitem(sys.modules, "run_here", module)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(text, module.__dict__)
    return module.__dict__


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(TranspileError, match="T406"):
        found = StaticModule("<file>", text + "\n").scope.lookup("B")
        assert found.value is None


@pytest.mark.parametrize("text", READ)
def test_read(text, monkeypatch):
    found = StaticModule("<file>", text + "\n").scope.lookup("B")
    assert found.value == run(text, monkeypatch)["B"]


FUNCTIONS = """
A = 2.0
def f(k=A): return k
A = 3.0

A = 2.0
f = lambda *, k=A: k
A = 3.0

from functools import partial
A = 2.0
def g(k): return k
f = partial(g, A)
A = 3.0

from functools import partial
import numpy as np
A = 2.0
f = partial(np.add, A)
A = 3.0

def g(): return 1.0
f = g
def g(): return 2.0
""".strip().split("\n\n")


@pytest.mark.parametrize("text", FUNCTIONS)
def test_what_a_function_was_made_with(text):
    with pytest.raises(TranspileError, match="T406"):
        StaticModule("<file>", text + "\n").scope.lookup("f").target.defaults()


def test_a_function_reads_what_stands_there_in_the_end():
    text = "A = 2.0\ndef f(x): return g(x) * A\nA = 3.0\ndef g(x): return x\n"
    scope = StaticModule("<file>", text).scope
    assert scope.lookup("f").target.scope.lookup("A").value == 3.0
    assert scope.lookup("f").target.scope.lookup("g").target.__name__ == "g"


@pytest.mark.parametrize("text", ["import one\none.B = 2.0\nB = one.B", "from one import A\nA.append(2.0)\nB = A"])
def test_what_is_imported_and_changed_is_refused(text, tmp_path):
    (tmp_path / "one.py").write_text("B = 1.0\nA = [1.0]\n")
    (tmp_path / "main.py").write_text(text + "\n")
    with pytest.raises(TranspileError, match="T406"):
        assert StaticModule.read(str(tmp_path / "main.py")).scope.lookup("B").value is None


def test_a_path_may_be_changed():
    text = "import sys\nsys.path.insert(0, '.')\nB = sys.maxsize\n"
    assert StaticModule("<file>", text).scope.lookup("B").name == "sys.maxsize"


def test_the_last_star_counts(tmp_path):
    (tmp_path / "one.py").write_text("B = 1.0\n")
    (tmp_path / "two.py").write_text("B = 2.0\n")
    (tmp_path / "main.py").write_text("from one import *\nfrom two import *\n")
    assert StaticModule.read(str(tmp_path / "main.py")).scope.lookup("B").value == 2.0
