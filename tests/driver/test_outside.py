"""What a function reads outside itself is read as it is at each call: numbers, arrays, flags, texts, functions, containers."""

from __future__ import annotations

import copy
import linecache
import math
import pickle
import sys
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.driver.lifted_request import lift
from transpile.driver.request import Request
from transpile.errors import TranspileError

NUMBER: Any = 2.0
FLAG: Any = True
MODE: Any = "square"
FUNCTION: Any = math.sin
MAYBE: Any = None
NUMBERS: Any = [1.0, 2.0]
SETTINGS: Any = {"mode": "line", "rate": 0.5, "steps": 2}


def double(x):
    return 2.0 * x


def cube(x):
    return x**3


def by_number(x):
    return x**NUMBER


def by_flag(x):
    return x * 3.0 if FLAG else x * x


def by_mode(x):
    return x * x if MODE == "square" else math.exp(x)


def by_function(x):
    return FUNCTION(x) * x


def by_maybe(x):
    return x * x if MAYBE is None else x * MAYBE


def by_numbers(x):
    total = 0.0
    for v in NUMBERS:
        total += v * x * x
    return total


def by_settings(x):
    y = x * SETTINGS["rate"] if SETTINGS["mode"] == "line" else x * x
    for _ in range(SETTINGS["steps"]):
        y = y * x
    if "extra" in SETTINGS:
        y += SETTINGS["extra"] * x
    return y


def in_a_callee(x):
    return by_flag(x) * double(x)


def agrees(gradient, f, x=1.3):
    """The gradient is that of the function as it is now."""
    h = 1e-6
    assert gradient(x) == pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-6)


@pytest.mark.parametrize(
    "f, name, values",
    [
        (by_number, "NUMBER", (2.0, 3.0, 3, np.float64(2.5), math.pi, 2.0)),
        (by_flag, "FLAG", (True, False, True)),
        (by_mode, "MODE", ("square", "exp", "square")),
        (by_function, "FUNCTION", (math.sin, np.cos, double, cube, lambda x: x * x, math.sin)),
        (by_maybe, "MAYBE", (None, 2.0, 5, None)),
        (by_numbers, "NUMBERS", ([1.0, 2.0], [1.0], (4.0, 5.0, 6.0), np.ones(3), [])),
        (in_a_callee, "FLAG", (True, False)),
        (in_a_callee, "double", (double, cube)),
    ],
)
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=[pytest.mark.numba, pytest.mark.slow])])
def test_a_global_is_bound_again(f, name, values, compiled, monkeypatch):
    gradient = tp.jit(tp.grad(f)) if compiled else tp.grad(f)
    for value in values:
        monkeypatch.setitem(globals(), name, value)
        agrees(gradient, f)


def test_a_container_is_changed(monkeypatch):
    monkeypatch.setitem(globals(), "SETTINGS", dict(SETTINGS))
    monkeypatch.setitem(globals(), "NUMBERS", list(NUMBERS))
    gradient = tp.grad(by_settings)
    agrees(gradient, by_settings)
    for change in ({"rate": 3.0}, {"mode": "square"}, {"steps": 4}, {"extra": 2.0}):
        SETTINGS.update(change)
        agrees(gradient, by_settings)
    del SETTINGS["extra"]
    agrees(gradient, by_settings)
    gradient = tp.grad(by_numbers)
    agrees(gradient, by_numbers)
    NUMBERS.append(3.0)
    agrees(gradient, by_numbers)
    NUMBERS[0] = 9.0
    agrees(gradient, by_numbers)


class Model:
    """An object whose attributes are numbers, flags, texts, functions, containers and objects."""

    def __init__(self):
        self.rate, self.squared, self.name, self.f, self.scale = 2.0, True, "a", math.sin, None
        self.weights, self.table, self.part = [1.0], {"q": 1.0}, None

    def loss(self, x):
        y = x * self.rate + (x * x if self.squared else 1.0) + (x if self.name == "a" else x**3) + self.f(x)
        for w in self.weights:
            y += w * x
        for key in self.table:
            y += self.table[key] * x * len(key)
        if self.part is not None:
            y += self.part.rate * x
        return y if self.scale is None else y * self.scale

    def __call__(self, x):
        return self.loss(x) ** 2


def test_attributes_are_bound_again():
    model = Model()
    gradients = tp.grad(model.loss), tp.grad(model)

    def check():
        agrees(gradients[0], model.loss)
        agrees(gradients[1], model)

    check()
    other = Model()
    for name, value in [("rate", 3.0), ("squared", False), ("name", "b"), ("f", math.cos), ("scale", 2.0), ("scale", None),
                        ("weights", []), ("part", other), ("rate", 3)]:  # fmt: skip
        setattr(model, name, value)
        check()
    model.weights.append(4.0)
    check()
    model.table["zz"] = 2.0
    check()
    other.rate = 7.0
    check()


def test_closures_are_bound_again():
    flag, function, factor, maybe = True, math.sin, 2.0, None

    def f(x):
        y = (x * 3.0 if flag else x * x) * factor + function(x)
        return y if maybe is None else y * maybe

    gradient = tp.grad(f)
    agrees(gradient, f)
    flag = False
    agrees(gradient, f)
    function = math.cos
    agrees(gradient, f)
    factor = np.float64(4.0)
    agrees(gradient, f)
    maybe = 7.0
    agrees(gradient, f)


def test_defaults_and_code_are_set_anew():
    def f(x, power=2.0, mode="a"):
        return x**power if mode == "a" else x

    def g(x, power=2.0, mode="a"):
        return x * power * x

    gradient = tp.grad(f)
    agrees(gradient, f)
    f.__defaults__ = (3.0, "a")
    agrees(gradient, f)
    f.__defaults__ = (3.0, "b")
    agrees(gradient, f)
    f.__code__ = g.__code__  # as modules are reloaded in place
    agrees(gradient, f)


def test_a_helper_is_defined_again_in_a_cell():
    namespace: dict[str, Any] = {}

    def cell(number, text):
        name = f"<ipython-input-{number}-test>"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(compile(text, name, "exec"), namespace)

    cell(1, "def helper(x):\n    return x * x\n\n\ndef top(x):\n    return helper(x) * x\n")
    gradient = tp.grad(namespace["top"])
    assert gradient(2.0) == 12.0
    cell(2, "def helper(x):\n    return x\n")
    assert gradient(2.0) == 4.0


@tp.grad
def decorated(x):
    return x**3


def test_transformed_functions_are_copied_and_pickled():
    for gradient in (tp.grad(cube), decorated, tp.jit(tp.grad(cube))):
        for _ in range(2):  # before and after something was built
            assert pickle.loads(pickle.dumps(gradient))._specializer is not None
            assert copy.copy(gradient)._specializer is not None
            if not gradient.__transpile_level__.__class__.__name__ == "Jit":
                assert (
                    pickle.loads(pickle.dumps(gradient))(2.0) == gradient(2.0) == copy.deepcopy(gradient)(2.0) == 12.0
                )


def test_positions_of_arguments_given_by_name():
    def f(x, y=2.0, z=3.0):
        return x * y * y * z

    assert tp.grad(f, (0, 1))(y=4.0, x=2.0) == (48.0, 48.0)
    assert tp.value_and_grad(f, (2, 0))(z=1.0, x=2.0) == (8.0, (8.0, 4.0))
    assert tp.grad(f, 2)(1.0, z=4.0) == 4.0
    assert tp.grad(f, -1)(1.0, z=4.0) == 4.0
    with pytest.raises(tp.TranspileError) as failed:
        tp.grad(f, 1)(1.0, z=4.0)  # y has its default: it is not an argument of this call
    assert failed.value.codes == ("T306",)


def test_a_name_that_generated_code_uses():
    """The user's t keeps its name, and so do its adjoint and its tangent."""

    def f(x, t):
        for v in x:
            t = t + np.sin(v * t)
        return t * t

    text = tp.source(tp.grad(f, argnums=(0, 1)), np.ones(3), 1.0)
    assert "t_bar" in text and "t += np.sin(" in text
    assert "t_dot" in tp.source(tp.jacfwd(f, argnums=1), np.ones(3), 1.0)


def test_a_pullback_does_not_see_later_changes():
    weights = np.array([1.0, 2.0])
    scale = 3.0

    def loss(x):
        return scale * np.sum(weights * x * x)

    x = np.array([1.0, 1.0])
    value, pullback = tp.vjp(loss, x)
    weights[:] = 100.0
    scale = 7.0
    x[:] = -5.0
    assert value == 9.0
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0)[0], [6.0, 12.0])
    np.testing.assert_allclose(tp.grad(loss)(x), [-7000.0, -7000.0])


def test_a_pullback_outlives_a_new_shape():
    weights = np.array([1.0, 2.0])

    def loss(x):
        return np.sum(weights) * x * x

    _, pullback = tp.vjp(loss, 2.0)
    weights = np.ones((2, 3))
    try:
        found = pullback(1.0)[0]
    except ValueError as e:
        assert "shape" in str(e)
    else:
        assert found == 12.0


TABLES: Any = {f"{k}": ([float(k + i) for i in range(40)], [0.5 * k + i for i in range(40)]) for k in range(30)}


def in_table(x, name="3"):
    limits, factors = TABLES[name]
    for k in range(len(limits)):
        if limits[k] >= x:
            return x * factors[k]
    raise ValueError("too large")


def test_of_a_table_only_what_is_read_is_handed_on():
    """30 tables of which a call reads one: the others are no arguments of what is compiled, nor looked at by a call."""
    core = lift(Request.of((20.5,), {}), in_table)
    assert len(core.captured) == len(core.params) - 1 == 80
    assert tp.grad(in_table)(20.5) == TABLES["3"][1][18]


WEIGHTS: Any = {"scale": 2.0, "bias": 1.0, "w": np.ones(3)}
OFFSETS: Any = np.arange(3.0)


def by_weights(x):
    return np.sum(x * WEIGHTS["w"]) * WEIGHTS["bias"] + np.sum(OFFSETS * x)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.numba)])
def test_sizes_of_arrays_beside_numbers_that_nobody_reads(compiled, monkeypatch):
    """Which sizes were taken to be equal is asked of the arrays, whatever numbers of the same table are left out."""
    gradient = tp.value_and_grad(by_weights)
    subject = tp.jit(by_weights) if compiled else lambda x: gradient(x)[0]
    for w, offsets, given in ((3, 3, 3), (3, 5, 3), (1, 3, 3), (3, 1, 3), (3, 1, 5), (4, 4, 1), (4, 4, 4)):
        monkeypatch.setitem(WEIGHTS, "w", np.ones(w))
        monkeypatch.setitem(globals(), "OFFSETS", np.arange(float(offsets)))
        x = np.linspace(1.0, 2.0, given)
        assert outcome_of(subject, x) == outcome_of(by_weights, x), (w, offsets, given)


def outcome_of(f, x):
    try:
        return round(float(f(x)), 9)
    except ValueError:
        return "sizes"
    except tp.TranspileError as e:
        return "sizes" if e.diagnostics[0].code.startswith("T2") else str(e)


class Settings:
    pass


@dataclass
class Fields:
    a: float = 2.0


SETTINGS_OBJECT, FIELDS, LOCAL = Settings(), Fields(), threading.local()


def helper(x):
    return x


@pytest.mark.parametrize(
    "holder",
    [SETTINGS_OBJECT, Settings, FIELDS, Fields, LOCAL, helper, sys.modules[__name__]],
    ids=["object", "class", "dataclass", "fields", "thread", "function", "module"],
)
@pytest.mark.parametrize("has", [True, False])
def test_an_attribute_that_comes_and_goes(holder, has, monkeypatch):
    def by_default(x):
        return x * getattr(holder, "late", 3.0)

    def by_test(x):
        return x * 5.0 if hasattr(holder, "late") else x

    f = by_test if has else by_default
    gradient, run = tp.grad(f), Transformed(f, Level())
    for present in (False, True, False, True):
        with monkeypatch.context() as patch:
            if present:
                patch.setattr(holder, "late", 7.0, raising=False)
            try:
                assert (run(2.0), gradient(2.0)) == (f(2.0), f(1.0))
            except TranspileError as e:  # what is no field of a dataclass, or stands in a function
                assert present and (holder is FIELDS or holder is helper) and e.diagnostics[0].code == "T121"
