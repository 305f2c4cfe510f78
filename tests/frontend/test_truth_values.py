"""Truth values are Python's, which count as 0 and 1, or NumPy's, which do not: in every way to make one, in everything that tells
the two apart."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from bodies import text_of

import transpile as tp

pytestmark = pytest.mark.sampled(5)

WAYS = r"""
a = x[0] > 0
a = bool(x[0] > 0)
a = not x[0] > 0
a = x[0] > 0 and x[1] > 0
a = x[0] > 0 or x[1] > 0
a = 0 < x[0] < x[1]
a = x[0] in (x[1], x[0])
a = True if x[0] > 0 else False
a = False if x[0] > 0 else True
a = any(v > 0 for v in x)
a = all(v > -9 for v in x)
a = isinstance(x, np.ndarray)
a = np.any(x > 0)
a = positive(x[0])
a = positive(x[0]) and positive(x[1])
a = False; a = True if x[0] > 0 else a
a = False\nif x[0] > 0:\n    a = True
a = True\nif x[0] > 0:\n    a = False
a = False\nfor v in x:\n    if v > 0:\n        a = True
a = False\nfor v in x:\n    if v > 0:\n        a = True\n        break
a = True\nk = 0\nwhile a and k < 3:\n    a = bool(x[k] > 0)\n    k += 1
a = [False, False]\nif x[0] > 0:\n    a[0] = True\na = a[0]
a, b = (True, 1) if x[0] > 0 else (False, 2)
""".strip().split("\n")
WAYS = [way.replace("\\n", "\n") for way in WAYS]
EITHER = r"""
a = True if x[1] > 0 else x[0] > 0
a = x[0] > 0 if x[1] > 0 else True
a = x[0] > 0 or False
a = False\nfor v in x:\n    a = v > 0
a = bool(x[0] > 0)\nif x[1] > 0:\n    a = x[1] > 0
""".strip().split("\n")
EITHER = [way.replace("\\n", "\n") for way in EITHER]
BOTH = "a = x[0] > 0 and True;a = 0 < x[0] in (x[0], 2.0);a = positive(x[0]) and x[1] > 0".split(";")
USES = """
a + a
a - a
a * a
a * 3 + a
a + (not a)
a + True
a - (x[1] > 0)
a & a
(a & True) + (a & True)
(a | False) + (a ^ False)
(a == True) + (a == True)
~a
-a
+a
a ** 2
a / (a + 1)
a // (a + 1) + a % 2
a << 1
sum([a, a])
max(a, 0.5)
int(a) + int(a)
x * a
x * (2.0 if a else 3.0)
(1.0 if a is True else 2.0) * (3.0 if a is not False else 4.0)
1.0 if isinstance(a, bool) else 2.0
1.0 if isinstance(a, (bool, np.bool_)) else 2.0
1.0 if a is None else 2.0
np.add(a, a) * 1.0
np.where(a, x, 2.0 * x)
x[a + a]
""".strip().split("\n")
POINTS = [
    np.array([0.5, 0.9, 0.7]),
    np.array([-0.5, 0.9, 0.7]),
    np.array([0.5, -0.9, 0.7]),
    np.array([-0.5, -0.9, -0.7]),
]


def positive(v):
    if v > 0:
        return True
    return False


def made(way: str, use: str):
    body = way.replace("; ", "\n") + f"\nreturn {use}"
    return tp.from_source(text_of(body), {"np": np, "positive": positive})


def outcome(f, x):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return f(x.copy())
    except TypeError:  # NumPy's have no minus
        return TypeError


def agree(found, wanted) -> bool:
    return np.shape(found) == np.shape(wanted) and bool(np.allclose(found, wanted, rtol=1e-15, atol=0.0))


def check(way: str, use: str, transform, may_be_refused: bool = False) -> None:
    f = made(way, use)
    for x in POINTS:
        wanted = outcome(f, x)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = transform(f)(x.copy())
        except (tp.TranspileError, ValueError) as e:
            codes = [d.code for d in getattr(e, "diagnostics", ())]
            refused = wanted is TypeError and "T201" in codes or "x[a" in use or "'is' of" in str(e)
            assert refused or may_be_refused and "T205" in codes or "gives a float" in str(e), (x, wanted, e)
            continue
        assert wanted is not TypeError and agree(found, wanted), (x, found, wanted)


def as_written(f):
    return lambda x: tp.vjp(f, x)[0]


@pytest.mark.parametrize("way", WAYS)
def test_interpreted(way):
    for use in USES:
        check(way, use, as_written)


@pytest.mark.parametrize("way", [*EITHER, *BOTH])
def test_of_python_or_numpy(way):
    for use in USES:
        check(way, use, as_written, may_be_refused=True)


@pytest.mark.parametrize("use", ["a + a", "~a", "1.0 if isinstance(a, bool) else 2.0"])
@pytest.mark.parametrize("way", EITHER)
def test_what_depends_on_whose_it_is_is_refused(way, use):
    with pytest.raises(tp.TranspileError) as e:
        tp.vjp(made(way, use), POINTS[0])
    assert e.value.diagnostics[0].code == "T205"


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("way", [*WAYS, *EITHER, *BOTH])
def test_compiled(way, use):
    check(way, use, tp.jit, may_be_refused=True)
