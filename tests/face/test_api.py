"""The transforms as users call them: arguments, structures, types, refusals, caching."""

import enum
import math
import subprocess
import sys
import traceback
import warnings
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

rng = np.random.default_rng(0)


def energy(x):
    return 0.5 * np.sum(x * x)


def two(x, y):
    return np.sum(np.sin(x) * y)


def with_aux(x, k):
    y = x * x
    return np.sum(y), {"y": y, "k": k}


def cubic(t):
    return t**3


def both(x, y):
    return {"prod": x * y, "sum": np.sum(x) + y}


# -------------------------------------------------------------------------------------------- forms of grad


def test_function_and_decorators():
    x = np.array([1.0, 2.0])
    assert np.array_equal(tp.grad(energy)(x), x)

    @tp.grad
    def plain(x):
        return np.sum(x * x)

    @tp.grad(argnums=1)
    def called(x, y):
        return np.sum(x * y)

    @tp.value_and_grad(argnums=(0, 1))
    def pair(x, y):
        return x * y

    assert np.array_equal(plain(x), 2 * x)
    assert np.array_equal(called(x, x), x)
    assert pair(2.0, 3.0) == (6.0, (3.0, 2.0))
    assert isinstance(plain, Transformed) and plain.__name__ == "plain"


@pytest.mark.parametrize(
    ("argnums", "count"), [(0, 0), (1, 0), (-1, 0), (-2, 0), ((0, 1), 2), ((1,), 1), ((1, 0), 2), ((), None)]
)
def test_argnums(argnums, count):
    x, y = rng.normal(size=3), rng.normal(size=3)
    wanted = (np.cos(x) * y, np.sin(x))
    if count is None:
        with pytest.raises(tp.TranspileError) as e:
            tp.grad(two, argnums)(x, y)
        assert e.value.codes == ("T310",)
        return
    got = tp.grad(two, argnums)(x, y)
    if count:
        assert isinstance(got, tuple) and len(got) == count
        for k, g in zip(argnums, got):
            np.testing.assert_allclose(g, wanted[k])
    else:
        np.testing.assert_allclose(got, wanted[argnums])


def test_argnames():
    x, y = rng.normal(size=3), rng.normal(size=3)
    np.testing.assert_allclose(tp.grad(two, argnames="y")(x, y), np.sin(x))
    np.testing.assert_allclose(tp.grad(two, argnames="y")(x, y=y), np.sin(x))
    np.testing.assert_allclose(tp.grad(two, argnums=1)(x, y=y), np.sin(x))
    got = tp.grad(two, argnames=("x", "y"))(x, y)
    assert list(got) == ["x", "y"]
    np.testing.assert_allclose(got["x"], np.cos(x) * y)


@pytest.mark.parametrize(
    ("make", "args", "code"),
    [
        (lambda: tp.grad(two, argnames="z"), (1.0, 2.0), "T407"),
        (lambda: tp.grad(two, argnums=2), (1.0, 2.0), "T306"),
        (lambda: tp.grad(two, argnums=-3), (1.0, 2.0), "T306"),
        (lambda: tp.grad(two, argnums=(0, 0)), (1.0, 2.0), "T306"),
        (lambda: tp.grad(two, argnums=0.5), (1.0, 2.0), "T306"),
        (lambda: tp.grad(two), (1, 2.0), "T302"),
        (lambda: tp.grad(two), (np.array([1, 2]), 2.0), "T302"),
        (lambda: tp.grad(two), (np.array([True]), 2.0), "T302"),
        (lambda: tp.grad(two), (None, 2.0), "T302"),
        (lambda: tp.grad(lambda x: x * 2), (np.ones(2),), "T301"),
        (lambda: tp.grad(lambda x: (x, x)), (1.0,), "T301"),
        (lambda: tp.grad(lambda x: np.argmax(x)), (np.ones(2),), "T305"),
        (lambda: tp.grad(lambda x: x, has_aux=True), (1.0,), "T308"),
        (lambda: tp.grad(3), (1.0,), "T411"),
        (lambda: tp.grad(energy), (np.array(["a"]),), "T409"),
        (lambda: tp.grad(energy), (np.ones(2).astype(">f8"),), "T409"),
        (lambda: tp.grad(energy), (np.ones(2, dtype=object),), "T409"),
        (lambda: tp.grad(energy), (np.matrix([[1.0]]),), "T409"),
        (lambda: tp.grad(energy), (np.ma.masked_array([1.0], [True]),), "T409"),
        (lambda: tp.grad(energy), (np.ones(2) * 1j,), "T311"),
    ],
)
def test_refusals(make, args, code):
    with pytest.raises(tp.TranspileError) as e:
        make()(*args)
    assert e.value.codes[0] == code


@pytest.mark.parametrize(
    "call",
    [
        lambda x, m: tp.vjp(energy, m),
        lambda x, m: tp.vjp(two, x, m),
        lambda x, m: tp.vjp(lambda x: x * 2, x)[1](m),
        lambda x, m: tp.jvp(energy, (m,), (x,)),
        lambda x, m: tp.jvp(energy, (x,), (m,)),
        lambda x, m: tp.linearize(energy, m),
        lambda x, m: tp.hvp(energy, (x,), (m,)),
        lambda x, m: tp.hessian(energy)(m),
        lambda x, m: tp.jit(energy)(m),
        lambda x, m: tp.eval_shape(energy, m),
        lambda x, m: tp.source(tp.grad(energy), m),
        lambda x, m: tp.report(tp.grad(energy), m),
    ],
)
@pytest.mark.parametrize(
    "given", [np.ma.masked_array([1.0, 2.0], [True, False]), np.matrix([[1.0, 2.0]])], ids=["masked", "matrix"]
)
def test_arrays_with_other_operators_are_refused_everywhere(call, given):
    """Also where the values are copied before anything is transformed."""
    with pytest.raises(tp.TranspileError) as e:
        call(np.ones(given.shape), given)
    assert e.value.codes[0] == "T409"


def test_wrong_number_of_arguments():
    with pytest.raises((tp.TranspileError, TypeError)):
        tp.grad(two)(1.0)
    with pytest.raises((tp.TranspileError, TypeError)):
        tp.grad(two)(1.0, 2.0, 3.0)


def test_has_aux():
    x = np.array([1.0, 3.0])
    g, aux = tp.grad(with_aux, has_aux=True)(x, 7)
    assert np.array_equal(g, 2 * x) and np.array_equal(aux["y"], x * x) and aux["k"] == 7
    (value, aux), g = tp.value_and_grad(with_aux, has_aux=True)(x, 7)
    assert value == 10.0 and aux["k"] == 7 and np.array_equal(g, 2 * x)


# ------------------------------------------------------------------------------------ structure, dtypes, kinds


class Layer(NamedTuple):
    w: object
    b: object


@dataclass
class Body:
    mass: float
    speed: object


def net(layer, x):
    return np.sum((x @ layer.w + layer.b) ** 2)


def kinetic(body):
    return 0.5 * body.mass * np.sum(body.speed**2)


def test_trees_in_and_out():
    x = rng.normal(size=(4, 3))
    layer = Layer(rng.normal(size=(3, 2)), rng.normal(size=2))
    g = tp.grad(net)(layer, x)
    assert type(g) is Layer
    np.testing.assert_allclose(g.b, 2 * np.sum(x @ layer.w + layer.b, axis=0))
    g = tp.grad(kinetic)(Body(2.0, np.array([1.0, 2.0])))
    assert type(g) is Body and type(g.mass) is float and g.mass == 2.5
    nested = tp.grad(lambda p: p["a"][0] * p["b"] + p["a"][1])({"a": [2.0, 3.0], "b": 5.0})
    assert nested == {"a": [5.0, 1.0], "b": 2.0}


def test_static_leaves_stay():
    g = tp.grad(lambda p: p["w"] ** 2 if p["kind"] == "square" else p["w"])({"w": 3.0, "kind": "square"})
    assert g == {"w": 6.0, "kind": "square"}


@pytest.mark.parametrize(
    "x",
    [
        2.0,
        np.float64(2.0),
        np.float32(2.0),
        np.array(2.0),
        np.array(2.0, dtype=np.float32),
        np.array([2.0], dtype=np.float32),
        np.ones((2, 0)),
        np.zeros(0),
        np.ones((1, 3)),
        np.float64([[1.0, 2.0]]),
    ],
)
def test_gradient_is_of_the_kind_of_its_argument(x):
    value, g = tp.value_and_grad(lambda x: np.sum(x * x))(x)
    assert type(g) is type(x)
    assert np.shape(g) == np.shape(x) and np.result_type(g) == np.result_type(x)
    np.testing.assert_allclose(g, 2 * x, rtol=1e-6)


def test_odd_layouts():
    a = rng.normal(size=(4, 6))
    f = tp.grad(lambda x: np.sum(x[0] * x[1:] ** 2))
    wanted = f(a.copy())
    a.flags.writeable = False
    np.testing.assert_array_equal(f(a), wanted)
    np.testing.assert_array_equal(f(np.asfortranarray(a)), wanted)
    np.testing.assert_array_equal(f(a[::-1][::-1]), wanted)
    big = np.zeros((8, 6))
    big[::2] = a
    np.testing.assert_array_equal(f(big[::2]), wanted)
    np.testing.assert_array_equal(f(a[:, ::-1])[:, ::-1], f(a[:, ::-1].copy())[:, ::-1])


def writes(x):
    x[0] = 2.0 * x[1]
    x *= 2.0
    return np.sum(x * x)


def test_arguments_are_never_changed():
    x = np.array([1.0, 2.0, 3.0])
    kept = x.copy()
    g = tp.grad(writes)(x)
    assert np.array_equal(x, kept)
    x.flags.writeable = False
    assert np.array_equal(tp.grad(writes)(x), g)
    tp.jvp(writes, (kept,), (kept,))
    assert np.array_equal(x, kept)


class Place(NamedTuple):
    row: int
    kind: object


class Size(enum.Enum):
    SMALL = 1


FIXED = (
    "a",
    (np.dtype("f4"), Size.SMALL),
    float("inf"),
    -0.0,
    None,
    np.float32,
    Place(1, Size.SMALL),
    np.float64(3.0),
    ...,
)


@pytest.mark.parametrize("transform", [lambda f: Transformed(f, Level()), tp.jit])
def test_what_is_no_array_of_a_result_is_what_it_was(transform):
    value, fixed, rest = transform(lambda x: (2.0 * x, FIXED, FIXED[4:]))(1.5)
    assert value == 3.0 and repr(fixed) == repr(FIXED) and repr(rest) == repr(FIXED[4:])


def test_results_share_no_memory():
    x, y = rng.normal(size=3), rng.normal(size=3)
    gx, gy = tp.grad(lambda x, y: np.sum(x + y), argnums=(0, 1))(x, y)
    assert not np.shares_memory(gx, gy)
    value, pull = tp.vjp(lambda x: x, x)
    assert not np.shares_memory(value, x)
    seed = np.ones(3)
    (g,) = pull(seed)
    assert not np.shares_memory(g, seed) and not np.shares_memory(pull(seed)[0], g)


# -------------------------------------------------------------------------------------- jvp, vjp and the others


def test_jvp():
    x, v = np.array([1.0, 2.0]), np.array([3.0, -1.0])
    value, dot = tp.jvp(energy, (x,), (v,))
    assert value == 2.5 and dot == x @ v
    value, dot = tp.jvp(both, (x, 2.0), (v, 1.0))
    np.testing.assert_allclose(dot["prod"], v * 2.0 + x)
    assert dot["sum"] == 3.0
    _, dot = tp.jvp(lambda x, k: x * k, (2.0, 3), (1.0, 0))
    assert dot == 3.0
    with pytest.raises(tp.TranspileError):
        tp.jvp(energy, x, v)
    with pytest.raises(tp.TranspileError):
        tp.jvp(energy, (x,), (np.ones(3),))
    with pytest.raises(tp.TranspileError):
        tp.jvp(energy, (x,), ())


def test_vjp():
    x = np.array([1.0, 2.0])
    value, pull = tp.vjp(both, x, 2.0)
    np.testing.assert_allclose(value["prod"], x * 2)
    seed = {"prod": np.array([1.0, 10.0]), "sum": 1.0}
    for _ in range(2):
        gx, gy = pull(seed)
        np.testing.assert_allclose(gx, [3.0, 21.0])
        assert gy == 22.0 and type(gy) is float
    x[:] = 100.0  # the pullback does not see it
    assert pull(seed)[1] == 22.0
    with pytest.raises(tp.TranspileError):
        pull({"prod": np.ones(3), "sum": 1.0})
    with pytest.raises(tp.TranspileError):
        pull(1.0)
    value, pull, aux = tp.vjp(with_aux, np.ones(2), 3, has_aux=True)
    assert value == 2.0 and aux["k"] == 3
    assert np.array_equal(pull(1.0)[0], [2.0, 2.0]) and pull(1.0)[1] is None


def test_seeds_take_the_dtype_of_what_they_seed():
    x = np.ones(2, dtype=np.float32)
    _, dot = tp.jvp(lambda x: x * 2, (x,), ([1.0, 2.0],) if False else (np.array([1.0, 2.0]),))
    assert dot.dtype == np.float32
    _, pull = tp.vjp(lambda x: x * 2, x)
    assert pull(np.array([1, 2]))[0].dtype == np.float32
    assert tp.jvp(cubic, (2.0,), (1,))[1] == 12.0


def test_linearize():
    x = np.array([0.5, 1.0])
    value, push = tp.linearize(np_sin, x)
    np.testing.assert_allclose(value, np.sin(x))
    np.testing.assert_allclose(push(np.array([1.0, 0.0])), [np.cos(0.5), 0.0])


def np_sin(x):
    return np.sin(x)


def test_jacobians():
    x, y = rng.normal(size=3), rng.normal(size=(3, 2))

    def f(x, y):
        return {"a": np.sin(x) @ y, "b": np.sum(x)}

    for jac in (tp.jacfwd, tp.jacrev):
        j = jac(f, argnums=(0, 1))(x, y)
        np.testing.assert_allclose(j["a"][0], y.T * np.cos(x))
        assert j["a"][1].shape == (2, 3, 2) and j["b"][1].shape == (3, 2)
        np.testing.assert_allclose(j["b"][0], np.ones(3))
        np.testing.assert_allclose(j["a"][1][0, :, 0], np.sin(x))
        assert jac(cubic)(2.0) == 12.0


def quartic(x):
    return np.sum(x**4) + x[0] * x[1]


def test_hessian_and_hvp():
    x, v = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, -1.0])
    h = np.diag(12 * x**2)
    h[0, 1] = h[1, 0] = 1.0
    np.testing.assert_allclose(tp.hessian(quartic)(x), h)
    np.testing.assert_allclose(tp.hvp(quartic, (x,), (v,)), h @ v)
    assert tp.hessian(cubic)(2.0) == 12.0
    assert tp.grad(tp.grad(tp.grad(cubic)))(2.0) == 6.0
    h = tp.hessian(lambda p: p["a"] ** 2 * p["b"])({"a": 3.0, "b": 5.0})
    assert h == {"a": {"a": 10.0, "b": 6.0}, "b": {"a": 6.0, "b": 0.0}}


def test_composition():
    x = rng.normal(size=3)
    _, dot = tp.jvp(tp.grad(quartic), (x,), (np.ones(3),))
    np.testing.assert_allclose(dot, tp.hessian(quartic)(x) @ np.ones(3))
    value, pull = tp.vjp(tp.grad(quartic), x)
    np.testing.assert_allclose(pull(np.ones(3))[0], dot)


def test_stop_gradient():
    assert tp.grad(lambda x: x * tp.stop_gradient(x))(3.0) == 3.0
    assert tp.stop_gradient(2.0) == 2.0


# ------------------------------------------------------------------------------------- calls: methods, keywords


class Model:
    def __init__(self, scale):
        self.scale = scale

    @tp.grad(argnums=1)
    def slope(self, x):
        return self.scale * x * x

    def value(self, x):
        return self.scale * x**3


def test_methods():
    model = Model(2.0)
    assert model.slope(3.0) == 12.0
    assert tp.grad(model.value)(2.0) == 24.0
    model.scale = 3.0
    assert tp.grad(model.value)(2.0) == 36.0


def defaults(x, k=2, *rest, scale=1.0, **more):
    total = x**k * scale
    for r in rest:
        total = total + r * x
    for name in more:
        total = total + more[name] * x
    return total


class Line:
    """Methods under transforms, and with derivatives of their own."""

    slope = 2.0

    @tp.jit
    def compiled(self, x):
        return self.slope * x * x

    @tp.grad(argnums=1)
    def derivative(self, x):
        return self.slope * x**3

    @tp.custom_vjp
    def own(self, x):
        return self.slope * x


Line.own.defvjp(lambda line, x: (line.slope * x, line.slope), lambda slope, bar: (None, 10.0 * slope * bar))


def test_transforms_of_transformed_methods():
    line = Line()
    assert line.derivative(2.0) == 24.0
    assert tp.grad(line.derivative)(2.0) == tp.jacfwd(line.derivative)(2.0) == 24.0
    assert tp.grad(lambda x: line.derivative(x))(2.0) == 24.0
    assert tp.grad(line.own)(2.0) == tp.grad(lambda x: line.own(x))(2.0) == 20.0


@pytest.mark.numba
def test_transforms_of_compiled_methods():
    assert tp.grad(Line().compiled)(3.0) == 12.0


def test_partials_of_functions_without_source():
    apply = tp.grad(lambda x, f: f(x))
    assert apply(2.0, partial(math.pow, 3.0)) == pytest.approx(9.0 * math.log(3.0))
    assert apply(2.0, partial(lambda x, k: x**k, k=3)) == 12.0


def test_slices_and_sets_as_arguments():
    f = tp.grad(lambda x, part, names: np.sum(x[part] ** 2) if "a" in names else np.sum(x))
    for _ in range(2):
        np.testing.assert_array_equal(f(np.ones(4), slice(1, 3), {"a"}), [0, 2, 2, 0])
        np.testing.assert_array_equal(f(np.ones(4), slice(None, None, 2), {"b"}), np.ones(4))
    assert len(f._specializer.table) == 2


def test_defaults_stars_and_keywords():
    g = tp.grad(defaults)
    assert g(3.0) == 6.0
    assert g(3.0, 3) == 27.0
    assert g(3.0, k=3) == 27.0
    assert g(3.0, scale=2.0) == 12.0
    assert g(3.0, 2, 5.0, 7.0) == 18.0
    assert g(3.0, a=1.0, b=2.0) == 9.0
    assert g(3.0, b=1.0, a=2.0, k=2) == 9.0
    assert tp.grad(defaults, argnames="scale")(3.0, scale=2.0) == 9.0


scale = np.array([1.0, 2.0])


def uses_global(x):
    return np.sum(scale * x * x)


def test_captured_values_are_read_at_each_call():
    global scale
    g = tp.grad(uses_global)
    x = np.ones(2)
    np.testing.assert_allclose(g(x), [2.0, 4.0])
    scale = np.array([3.0, 4.0])
    np.testing.assert_allclose(g(x), [6.0, 8.0])
    scale = 5.0
    np.testing.assert_allclose(g(x), [10.0, 10.0])
    scale = np.array([1.0, 2.0])


def axis_sum(x, axis):
    return np.sum(np.sum(x, axis=axis) ** 2)


def test_integers_are_specialised_where_they_must_be():
    x = rng.normal(size=(2, 3))
    g = tp.grad(axis_sum)
    for _ in range(2):
        np.testing.assert_allclose(g(x, 0), np.broadcast_to(2 * x.sum(axis=0), (2, 3)))
        np.testing.assert_allclose(g(x, 1), np.broadcast_to(2 * x.sum(axis=1)[:, None], (2, 3)))


def test_specialisation_is_by_structure_and_type(monkeypatch):
    from transpile.driver import runners

    built = []
    original = runners.runner
    monkeypatch.setattr(runners, "runner", lambda *a: built.append(1) or original(*a))
    g = tp.grad(lambda x, n: np.sum(x) * n)
    g(np.ones(3), 2)
    g(np.ones(5), 7)
    g(np.ones(5)[::-1], -1)
    assert len(built) == 1
    g(np.ones(5, dtype=np.float32), 2)
    g(np.ones((2, 2)), 2)
    g(np.ones(1), 2)
    g(np.ones(5), 2.0)
    assert len(built) == 5


# ------------------------------------------------------------------------------------------ errors and warnings


def picks(x, k):
    y = x * 2.0
    return y[k]


def test_an_exception_names_the_users_line(monkeypatch):
    for how in ("", "full"):
        monkeypatch.setenv("TRANSPILE_TRACEBACK", how)
        with pytest.raises(IndexError) as e:
            tp.grad(picks)(np.ones(3), 5)
        text = "".join(traceback.format_exception(e.value))
        assert ("test_api.py" in text and "return y[k]" in text) == (how == "")
        assert ("<transpile picks_grad" in text) == (how == "full")  # the generated line


def test_a_derivative_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tp.grad(lambda x: np.sum(np.log(x)))(np.array([0.0, 4.0]))[0] == np.inf
        with np.errstate(all="warn"):
            tp.grad(lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)))(np.array([0.0, 4.0]))


def test_source():
    text = tp.source(tp.grad(energy), np.ones(3))
    assert "def energy_grad(x):" in text and "d energy / d x: float64[n]" in text
    assert "float64" in tp.source(tp.grad(energy), np.ones(3), stage="core")
    assert "@njit" in tp.source(tp.grad(energy), np.ones(3), stage="loops")
    with pytest.raises(tp.TranspileError):
        tp.source(energy, np.ones(3), stage="nonsense")
    scope = {}
    exec(text, scope)
    assert np.array_equal(scope["energy_grad"](np.ones(2)), np.ones(2))


def test_eval_shape():
    got = tp.eval_shape(
        lambda x, k: {"a": x @ x.T, "b": np.sum(x, axis=0), "c": k}, np.ones((2, 3), dtype=np.float32), 1
    )
    assert got["a"].shape == (2, 2) and got["a"].dtype == "float32"
    assert got["b"].shape == (3,) and got["c"].shape == ()


# --------------------------------------------------------------------------------------- derivatives of one's own


@tp.custom_jvp
def soft(x):
    return np.log1p(np.exp(x))


@soft.defjvp
def _soft_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return soft(x), 100.0 * x_dot


@tp.custom_vjp
def clipped(x, y):
    return x * y


def _clipped_forward(x, y):
    return x * y, (x, y)


def _clipped_backward(kept, bar):
    x, y = kept
    return bar * y * 10.0, bar * x


clipped.defvjp(_clipped_forward, _clipped_backward)


@pytest.mark.parametrize("f", [soft, lambda x: soft(x)])
def test_custom_jvp(f):
    assert soft(0.0) == np.log(2.0)
    assert tp.grad(f)(1.0) == 100.0
    assert tp.jvp(f, (1.0,), (2.0,))[1] == 200.0


@pytest.mark.parametrize("f", [clipped, lambda x, y: clipped(x, y)])
def test_custom_vjp(f):
    assert clipped(2.0, 3.0) == 6.0
    assert tp.grad(f, argnums=(0, 1))(2.0, 3.0) == (30.0, 2.0)


def test_a_custom_function_without_its_rule():
    bare = tp.custom_jvp(lambda x: x)
    with pytest.raises(tp.TranspileError) as e:
        tp.grad(lambda x: bare(x))(1.0)
    assert e.value.codes == ("T307",)


# ------------------------------------------------------------------------------------------------------ import


def test_importing_is_light():
    code = (
        "import sys, time, numpy; t = time.perf_counter(); import transpile; t = time.perf_counter() - t;"
        "print(t, *[m for m in ('numba', 'scipy', 'gast') if m in sys.modules])"
    )
    times = []
    for _ in range(3):
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
        assert out[1:] == []
        times.append(float(out[0]))
    assert min(times) < 0.3  # 0.06 s where nothing else runs


def test_what_is_turned_back_is_not_turned():
    from corpus.kernels_control import spread_of_noise

    text = tp.source(tp.grad(spread_of_noise, argnums=(0, 1)), np.ones((3, 3)), np.ones((3, 3)))
    assert text.count("@") == 6 and ".T.T" not in text and ".T @ product" in text, text
