"""``match``: every kind of pattern on every kind of subject takes the case that Python takes, with the names that Python sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import transpile as tp
from transpile.errors import TranspileError


@dataclass
class Point:
    x: float
    y: float


class Pair(NamedTuple):
    first: float
    second: float


class Named:
    """Takes no positional patterns."""

    def __init__(self, x: float) -> None:
        self.x = x


SUBJECTS = {
    "text": "ab",
    "other text": "c",
    "int": 3,
    "float": 3.0,
    "true": True,
    "none": None,
    "empty": (),
    "tuple": (1.0, 2.0),
    "list": [1.0, 2.0, 3.0],
    "nested": (7.0, (2.0, [4.0, 5.0])),
    "range": range(4),
    "dict": {"a": 2.0, "b": 3.0},
    "empty dict": {},
    "point": Point(2.0, 3.0),
    "pair": Pair(2.0, 3.0),
    "named": Named(4.0),
    "array": np.array([1.0, 2.0]),
}

# of each pattern what its case adds to the result
PATTERNS = {
    "'ab'": "1.0",
    "'ab' | 'c' as s": "len(s)",
    "3": "2.0",
    "True": "2.0",
    "None": "2.0",
    "-3 | 3.0": "4.0",
    "()": "1.0",
    "[a]": "a",
    "[a, b]": "a + 2.0",
    "(a, *_)": "a",
    "[*most, last]": "len(most) + 1.0",
    "[a, *rest, z]": "a + len(rest)",
    "(7.0, (a, [b, c]))": "a + b * c",
    "[1.0, float(b)] | [float(b), 5.0, _]": "b + 1.0",
    "[1.0 | 2.0 as a, *rest] if a < len(rest)": "a + len(rest)",
    "{}": "5.0",
    "{'a': a}": "a",
    "{'a': a, **rest}": "a + sum(rest.values())",
    "{'z': z}": "z",
    "Point(a, b)": "a * b",
    "Point(a, y=3.0)": "a",
    "Pair(a, b)": "a - b",
    "Named(x=a)": "a",
    "Named(y=a)": "a",
    "Named(a)": "a",
    "float(a)": "a",
    "str() | int()": "7.0",
    "tuple(t)": "len(t)",
    "Point(x=a) | [a, *_] | {'a': a}": "a",
    "a if a is None": "9.0",
    "_": "3.0",
}


def function(pattern: str, gives: str):
    text = f"def f(x, subject):\n    match subject:\n        case {pattern}:\n            return x * ({gives})\n    return -x * x\n"
    return tp.from_source(text, {"Point": Point, "Pair": Pair, "Named": Named})


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_on_every_subject(pattern):
    f = function(pattern, PATTERNS[pattern])
    g = tp.value_and_grad(f)
    for name, subject in SUBJECTS.items():
        try:
            value = f(2.0, subject)
        except TypeError:  # the class takes no positional patterns
            with pytest.raises(TranspileError, match="__match_args__"):
                g(2.0, subject)
            continue
        except ValueError:  # an array is compared with text, and has no truth value; here no array is equal to text
            if "'" not in pattern:
                with pytest.raises((ValueError, TranspileError)):
                    g(2.0, subject)
            continue
        assert g(2.0, subject) == (value, -4.0 if value == -4.0 else value / 2.0), name


def test_the_first_case_that_matches():
    def f(x, n):
        match n:
            case 0:
                y = x
            case k if k < 0:
                y = k * x
            case 1 | 2:
                y = x**n
            case _:
                y = np.sin(x) + k  # set by the case whose guard failed
        return y

    for n in (0, -3, 1, 2, 5):
        value, gradient = tp.jit(tp.value_and_grad(f))(0.5, n)
        assert value == pytest.approx(f(0.5, n), rel=1e-15)
        assert gradient == pytest.approx((f(0.5 + 1e-6, n) - f(0.5 - 1e-6, n)) / 2e-6, rel=1e-8)


def f_of(x):
    match np.sin(x):
        case 0.0:
            return x
        case y if y > 1.0:
            return 3.0 * y
        case y:
            return y * y


def test_the_subject_is_evaluated_once():
    assert tp.source(tp.grad(f_of), 0.5).count("np.sin(") <= 1
    assert tp.source(tp.value_and_grad(f_of), 0.5).count("np.sin(") == 1
    for x in (0.0, 0.5):
        value, gradient = tp.value_and_grad(f_of)(x)
        assert value == f_of(x) and gradient == pytest.approx(1.0 if x == 0.0 else 2.0 * np.sin(x) * np.cos(x))


def test_a_name_that_a_pattern_takes_from_the_subject():
    def f(x):
        match x:
            case [x, y]:
                return x + y
            case x:
                return x * x

    assert tp.grad(f)(3.0) == 6.0
    assert tp.grad(f)((3.0, 4.0)) == (1.0, 1.0)


def test_a_file_that_is_not_run(tmp_path):
    from transpile.cli import main

    path, out = tmp_path / "model.py", tmp_path / "out.py"
    path.write_text(
        "def f(x, kind='square'):\n    match kind:\n        case 'square':\n            return x * x\n    return x\n"
    )
    assert main(["grad", f"{path}:f", "--wrt", "x", "--arg", "x=float", "-o", str(out)]) == 0
    scope: dict = {}
    exec(out.read_text(), scope)
    assert scope["f_grad"](3.0) == 6.0
