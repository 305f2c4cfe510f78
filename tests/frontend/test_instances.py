"""What Python's classes say of every kind of value: what transpile answers is Python's answer, or it is refused."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from fuzz.check import load

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.errors import TranspileError

HEAD = '''
import abc, collections, collections.abc, functools, math, numbers, types, typing
from dataclasses import dataclass
import numpy as np

class Pair(typing.NamedTuple):
    p: float
    q: float

class Base:
    shared = 4
    def __init__(self, v): self.v = v
    @property
    def square(self): return self.v ** 2
    def method(self): return self.v

class Derived(Base): pass

class Called:
    def __call__(self, v): return v

class Everything:
    """Has an answer to every name."""
    def __getattr__(self, name): return name

EVERYTHING = Everything()

@dataclass
class Data:
    u: float = 1.0

@typing.runtime_checkable
class Has(typing.Protocol):
    def method(self): ...

class Meta(type):
    def __instancecheck__(cls, value): return True

class Odd(metaclass=Meta): pass

def plain(v): return v
'''
VALUES = [
    *("x", "x[0]", "float(x[0])", "2.0", "len(x)", "3", "x[0] > 1", "True", "None", "'a'", "b'a'", "...", "math.pi"),
    *(
        "[1]",
        "[v for v in x if v > 1]",
        "[x[0]]",
        "(1,)",
        "()",
        "Pair(1.0, 2.0)",
        "{}",
        "{'keys': 1}",
        "{1}",
        "frozenset([1])",
    ),
    *(
        "range(3)",
        "range(len(x))",
        "slice(1)",
        "zip(x)",
        "map(abs, x)",
        "enumerate(x)",
        "{1: 2}.keys()",
        "{1: 2}.values()",
    ),
    *("(v for v in x)", "plain", "lambda v: v", "np.sin", "np.sum", "math.sin", "len", "Base", "float", "np.float64"),
    *(
        "Base(1.0)",
        "Derived(x[0])",
        "Called()",
        "Data(x[0])",
        "EVERYTHING",
        "np",
        "x.dtype",
        "x.shape",
        "x.sum",
        "np.sum(x)",
    ),
    *("np.zeros(())", "np.float32(1)", "np.int64(2)", "x[:1]", "functools.partial(plain, 1)", "Base(1.0).method"),
    *("x.astype(int)", "divmod(7, 2)", "sorted([2, 1])", "x.tolist"),
]
WITHOUT_A_CLASS = ("x.sum", "x.tolist", "functools.partial(plain, 1)", "Base(1.0).method")
CLASSES = (
    "object int float complex bool str bytes list tuple dict set frozenset range slice zip map enumerate type type(None)"
    " np.ndarray np.generic np.number np.floating np.float64 np.integer np.bool_ np.dtype np.ufunc Base Derived Pair Data Called"
    " Has Odd types.FunctionType types.ModuleType types.GeneratorType collections.abc.Sequence collections.abc.Iterable"
    " collections.abc.Callable collections.abc.Hashable collections.abc.Mapping typing.Sequence typing.Iterable numbers.Number"
    " numbers.Real numbers.Integral abc.ABC collections.OrderedDict functools.partial int|float typing.Union[int,str]"
    " (int,float) (list,(tuple,set))"
).split()
NAMES = (
    "shape dtype real T __len__ __iter__ __call__ __getitem__ __array__ __float__ __name__ append keys count upper start v p"
    " _fields shared square method u nin sin pi nothing func __mro__ mro is_integer numerator add __eq__ __bool__ __dict__"
).split()
QUESTIONS = [
    *(f"isinstance({{}}, {c})" for c in CLASSES),
    *(f"hasattr({{}}, {n!r})" for n in NAMES),
    *(f"getattr({{}}, {n!r}, None) is None" for n in ("nothing", "shape", "shared", "upper")),
    *(f"type({{}}) is {c}" for c in ("float", "np.float64", "int", "list", "tuple", "Base", "np.ndarray", "bool")),
    "callable({})",
]  # fmt: skip


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A module with a function for each value, which asks all questions, and one for each question, by value and question."""
    lines = [HEAD]
    for i, value in enumerate(VALUES):
        for j, question in enumerate(QUESTIONS):
            lines.append(f"def ask_{i}_{j}(x): return bool({question.format(value)})")
    return load("\n".join(lines), "asked_of_classes", tmp_path_factory.mktemp("asked"))


def answer(function, x):
    try:
        return bool(function(x))
    except TranspileError as e:
        return e.diagnostics[0].code


@pytest.mark.parametrize("i", range(len(VALUES)), ids=VALUES)
@pytest.mark.sampled(4)
def test_what_is_asked_of_a_value(asked, i):
    """One question in ten here, all in the slow test."""
    compare(asked, i, range(i % 10, len(QUESTIONS), 10))


@pytest.mark.slow
@pytest.mark.parametrize("i", range(len(VALUES)), ids=VALUES)
def test_all_that_is_asked_of_a_value(asked, i):
    refused = compare(asked, i, range(len(QUESTIONS)))
    assert (len(refused) > len(QUESTIONS) // 4) == (VALUES[i] in WITHOUT_A_CLASS), refused


def compare(asked, i, questions):
    x = np.array([0.5, 1.5, 2.5])
    refused = {}
    for j in questions:
        function = getattr(asked, f"ask_{i}_{j}")
        try:
            wanted = bool(function(x))
        except TypeError:  # not a question that Python answers
            continue
        found = answer(Transformed(function, Level()), x)
        if isinstance(found, str):
            refused[QUESTIONS[j].format(VALUES[i])] = found
        else:
            assert found == wanted, QUESTIONS[j].format(VALUES[i])
    return refused


# ------------------------------------------------------------------------------------- what wraps a function of ours


def half_of_the_square(x):
    return 0.5 * np.sum(x * x)


def doubled(function):
    """A decorator as everybody writes one."""

    @functools.wraps(function)
    def around(*args, **kwargs):
        return 2 * function(*args, **kwargs)

    return around


@pytest.mark.parametrize("inner", [tp.jit, tp.grad, tp.value_and_grad, lambda f: tp.jit(tp.grad(f))])
def test_what_is_wrapped_around_a_transformed_function_is_no_part_of_it(inner):
    x = np.array([1.0, 2.0])
    made = inner(half_of_the_square)
    if inner is tp.value_and_grad:
        wrapped = functools.wraps(made)(lambda x: 2 * made(x)[0])
        np.testing.assert_allclose(tp.grad(wrapped)(x), 2 * x)
        return
    wrapped = doubled(made)
    np.testing.assert_allclose(tp.jit(wrapped)(x), wrapped(x))
    total = doubled(lambda x: np.sum(made(x)))
    np.testing.assert_allclose(tp.grad(total)(x), 2 * x if inner is tp.jit else [2.0, 2.0])


def test_what_is_wrapped_around_a_function_with_its_own_derivative_is_no_part_of_it():
    @tp.custom_vjp
    def square(x):
        return np.sum(x * x)

    square.defvjp(lambda x: (np.sum(x * x), x), lambda x, bar: (bar * 10 * x,))
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(tp.grad(doubled(square))(x), 20 * x)


class Answers:
    """Has an answer to every name, as a mock has, and as a proxy."""

    def __getattr__(self, name):
        return None if name.startswith("__") else self

    def __call__(self, x):
        return 3 * x


ANSWERS = Answers()


def test_an_object_with_an_answer_to_every_name_is_none_of_ours():
    def called(x):
        return np.sum(ANSWERS(x))

    np.testing.assert_allclose(tp.grad(called)(np.ones(2)), [3.0, 3.0])


# -------------------------------------------------------------------------------------------------- in place, and shared


def times(x):
    items = [x[0], 1.0]
    other = items
    items *= 2
    return sum(other) * len(other)


def merged(x):
    table = {"a": x[0], "c": 1.0}
    other = table
    table |= {"b": x[1], "c": x[1]}
    return other["a"] * other["b"] * other["c"] * len(other) + len({"a": 1} | {"b": 2})


def array_added_to_a_list(x):
    items = [x[0]]
    other = items
    items += x
    return np.sum(items) + sum(other)


@pytest.mark.parametrize("function", [times, merged, array_added_to_a_list])
def test_what_changes_in_place_changes_for_all_who_have_it(function):
    x = np.array([0.5, 1.5])
    np.testing.assert_allclose(tp.jit(function)(x), function(x))
    slopes = [(function(x + h) - function(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(tp.grad(function)(x), slopes, rtol=1e-6)


def test_a_set_that_changes_in_place_is_refused():
    def grows(x):
        seen = {1, 2}
        other = seen
        seen |= {3}
        return x * len(other)

    with pytest.raises(TranspileError, match="T123"):
        tp.jit(grows)(1.0)
