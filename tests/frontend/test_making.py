"""Instances that the program makes, is given and returns: they hold what Python's own hold, or are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fuzz.check import load

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.errors import TranspileError

HEAD = """
import collections, dataclasses, typing
from dataclasses import dataclass, field, InitVar, KW_ONLY

class Pair(typing.NamedTuple):
    u: float
    w: float

@dataclass
class Data:
    u: float
    w: float

class Plain:
    def __init__(self, u, w): self.u, self.w = u, w

class Constant:
    def __get__(self, instance, cls): return 4.0
    def __set__(self, instance, value): pass

class Meta(type):
    def __call__(cls, u, w): return Plain(3 * u, w)
"""
SWAPS = "def __init__(self, u, w): self.u, self.w = 3 * w, u"
"""A body of class ``C``, how it is made of ``x``, and the code of the refusal, if it is refused."""
CLASSES = {
    "dataclass": ("@dataclass\nclass C:\n u: float\n w: float", "C(x, 2.0)", None),
    "own init": (f"@dataclass\nclass C:\n u: float\n w: float\n {SWAPS}", "C(x, 2.0)", None),
    "init=False": (f"@dataclass(init=False)\nclass C:\n u: float\n w: float\n {SWAPS}", "C(x, 2.0)", None),
    "inherited init": ("@dataclass(init=False)\nclass C(Plain):\n u: float\n w: float", "C(x, 2.0)", None),
    "init of a subclass": (f"class C(Data):\n {SWAPS}", "C(x, 2.0)", None),
    "subclass of an own init": (
        f"@dataclass\nclass B:\n u: float\n w: float\n {SWAPS}\nclass C(B): pass",
        "C(x, 2.0)",
        None,
    ),
    "more fields": ("@dataclass\nclass C(Data):\n v: float = 3.0", "C(x, w=2.0)", None),
    "post init": (
        "@dataclass\nclass C:\n u: float\n w: float\n def __post_init__(self): self.u *= 2",
        "C(x, 2.0)",
        None,
    ),
    "inherited post init": (
        "@dataclass\nclass B:\n u: float\n def __post_init__(self): self.u *= 2\n@dataclass\nclass C(B):\n w: float = 3.0",
        "C(x, 2.0)",
        None,
    ),
    "post init that nobody calls": ("class C(Data):\n def __post_init__(self): self.u *= 2", "C(x, 2.0)", None),
    "post init of a frozen one": (
        "@dataclass(frozen=True)\nclass C:\n u: float\n w: float = field(init=False)\n"
        " def __post_init__(self): object.__setattr__(self, 'w', 3 * self.u)",
        "C(x)",
        None,
    ),
    "field that init sets": (
        "@dataclass\nclass C:\n u: float\n w: float = field(init=False)\n def __post_init__(self): self.w = 3 * self.u",
        "C(x)",
        None,
    ),
    "field of the class": ("@dataclass\nclass C:\n u: float\n w: float = field(init=False, default=2.0)", "C(x)", None),
    "field of a factory": (
        "@dataclass\nclass C:\n u: float\n w: float = field(init=False, default_factory=lambda: 2.0)",
        "C(x)",
        None,
    ),
    "class variable": (
        "@dataclass\nclass C:\n k: typing.ClassVar[float] = 4.0\n u: float\n w: float",
        "C(x, 2.0)",
        None,
    ),
    "init variable": (
        "@dataclass\nclass C:\n u: float\n k: InitVar[float] = 2.0\n w: float = 3.0\n"
        " def __post_init__(self, k): self.w = k * self.u",
        "C(x, 5.0)",
        None,
    ),
    "keyword only": (
        "@dataclass\nclass C:\n w: float = field(kw_only=True, default=3.0)\n u: float = 1.0",
        "C(x)",
        None,
    ),
    "keyword only by position": ("@dataclass\nclass C:\n u: float\n _: KW_ONLY\n w: float", "C(x, 2.0)", "T132"),
    "all keyword only": ("@dataclass(kw_only=True)\nclass C:\n u: float\n w: float", "C(w=2.0, u=x)", None),
    "slots": (
        "@dataclass(slots=True)\nclass C:\n u: float\n w: float\n def __post_init__(self): self.u += 1",
        "C(x, 2.0)",
        None,
    ),
    "property": (
        "@dataclass\nclass C:\n w: float\n u: float\n _u: float = field(init=False, default=1.0)\n"
        " @property\n def u(self): return 2 * self._u\n @u.setter\n def u(self, v): self._u = v + 1",
        "C(2.0, x)",
        None,
    ),
    "descriptor": ("@dataclass\nclass C:\n w: float\n u: float = Constant()", "C(2.0, x)", "T123"),
    "setattr": (
        "@dataclass\nclass C:\n u: float\n w: float\n def __setattr__(self, n, v): object.__setattr__(self, n, 2 * v)",
        "C(x, 2.0)",
        "T130",
    ),
    "getattribute": (
        "@dataclass\nclass C:\n u: float\n w: float\n def __getattribute__(self, n):\n"
        "  return 3.0 if n == 'u' else object.__getattribute__(self, n)",
        "C(x, 2.0)",
        "T130",
    ),
    "new": (
        "@dataclass\nclass C:\n u: float\n w: float\n"
        " def __new__(cls, u, w): C.__init__(o := object.__new__(cls), u, w); return Plain(3 * u, w)",
        "C(x, 2.0)",
        "T130",
    ),
    "metaclass": ("@dataclass\nclass C(metaclass=Meta):\n u: float\n w: float", "C(x, 2.0)", "T130"),
    "named tuple": ("class C(Pair): pass", "C(x, 2.0)", None),
    "collections": ("C = collections.namedtuple('C', 'u w', defaults=[2.0])", "C(x)", None),
    "named tuple, new": (
        "class C(Pair):\n def __new__(cls, u, w): return super().__new__(cls, 2 * u, w)",
        "C(x, 2.0)",
        "T130",
    ),
    "named tuple, init": ("class C(Pair):\n def __init__(self, u, w): self.v = u", "C(x, 2.0)", "T130"),
    "named tuple, property": ("class C(Pair):\n @property\n def u(self): return 3 * self[0]", "C(x, 2.0)", None),
    "named tuple, attribute": ("class C(Pair):\n u = 3.0", "C(x, 2.0)", None),
    "replaced": (
        "@dataclass\nclass C:\n u: float\n w: float\n def __post_init__(self): self.u *= 2",
        "dataclasses.replace(C(x, 3.0), w=2.0)",
        None,
    ),
    "plain": ("class C(Plain): pass", "C(x, 2.0)", None),
    "plain, descriptor": ("class C(Plain):\n u = Constant()", "C(x, 2.0)", "T123"),
}


@pytest.fixture
def module(tmp_path):
    def made(name: str) -> Any:
        body, expression, _ = CLASSES[name]
        functions = f"def make(x): return {expression}\ndef f(x):\n m = make(x)\n return m.u + 10 * m.w ** 2\n"
        return load(f"{HEAD}\n{body}\n{functions}def g(m): return m.u * 3.0\n", f"making_{abs(hash(name))}", tmp_path)

    return made


@pytest.mark.parametrize("name", CLASSES)
def test_an_instance_holds_what_pythons_own_does(name, module):
    f, refused = module(name).f, CLASSES[name][2]
    for level in (Transformed(f, Level()), tp.grad(f)):
        if refused:
            with pytest.raises(TranspileError) as raised:
                level(0.7)
            assert raised.value.diagnostics[0].code == refused
    if not refused:
        assert Transformed(f, Level())(0.7) == f(0.7)
        np.testing.assert_allclose(tp.grad(f)(0.7), (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", CLASSES)
def test_an_instance_that_is_returned_runs_no_init_again(name, module):
    make = module(name).make
    if CLASSES[name][2] is None:
        try:
            found = Transformed(make, Level())(0.7)
        except TranspileError as e:  # a property, an attribute that is no field
            assert e.diagnostics[0].code == "T417"
        else:
            wanted = make(0.7)
            assert type(found) is type(wanted) and found == wanted and found.u == wanted.u


@pytest.mark.parametrize(
    "name", [n for n in CLASSES if n not in ("plain", "plain, descriptor", "keyword only by position")]
)
def test_an_instance_that_is_given_is_read_and_returned_as_it_is(name, module):
    found = module(name)
    m, g = found.make(0.7), found.g
    if not hasattr(m, "__dataclass_fields__") and not isinstance(m, tuple):
        return  # another class's
    try:
        assert Transformed(g, Level())(m) == g(m)
        result = Transformed(lambda m: (m, m.u), Level())(m)[0]
        gradient = tp.grad(g)(m)
    except TranspileError as e:
        assert e.diagnostics[0].code in ("T121", "T417")
        return
    assert type(result) is type(m) and result == m
    assert type(gradient) is type(m)


def test_a_gradient_need_not_satisfy_what_init_checks(tmp_path):
    source = "@dataclass\nclass C:\n u: float\n def __post_init__(self):\n  if self.u < 0: raise ValueError\n"
    found = load(HEAD + source + "def f(m): return -2.0 * m.u\n", "checking", tmp_path)
    assert tp.grad(found.f)(found.C(3.0)).u == -2.0
