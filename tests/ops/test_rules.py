"""The walk over the rule tables: every primitive against differences, special values exactly, every API entry against
NumPy.

The rules are first applied by the straight-line transforms of `rule_check`, so that a fault of a rule and a fault of
a transform do not look alike; then by the transforms themselves.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from core_eval import evaluate, run_spelling
from rule_check import Program, active_args, check, derivative
from rule_points import HARD, PARAMS, POINTS, SCALAR, SPECIAL, STRUCTURAL

from transpile.codegen.numpy import render
from transpile.core import nodes as ir
from transpile.ops.record import REFUSED, UNWRITTEN, ZERO
from transpile.ops.tables import prims
from transpile.transform.jvp import jvp
from transpile.transform.vjp import vjp

PRIMS = prims()
ELEMENTWISE = [name for name, p in PRIMS.items() if p.elementwise and name in POINTS]
SMOOTH = [name for name in ELEMENTWISE if not PRIMS[name].is_zero]
EXAMPLES: list[tuple[str, int]] = [
    *((name, k) for name, cases in STRUCTURAL.items() for k in range(len(cases))),
    *((name, k) for name, p in PRIMS.items() for k in range(len(p.examples)) if not p.is_zero),
]
NO_SECOND = {"gammainc_moment3", *(f"betainc_moment{m}{3 - m}" for m in range(4))}
"""The second derivative of these would be the fifth of the function: refused."""
LONG = np.finfo(np.longdouble).eps < 1e-18


def build_of(name: str) -> Any:
    """The builder of one elementwise primitive, with promotion and broadcasting."""
    return lambda b, *xs: b.elementwise(name, *xs, **PARAMS.get(name, {}))


def refused(name: str) -> set[int]:
    """The operands without a derivative."""
    return {k for k, p in enumerate(PRIMS[name].partials) if p is UNWRITTEN}


def wrt(name: str, args: Sequence[Any]) -> list[int]:
    return [k for k in active_args(args) if k not in refused(name)]


def vectors(name: str) -> list[Any]:
    """The points as one vector an operand, or single points for what takes Python numbers only."""
    columns = zip(*POINTS[name])
    return [np.array(c, dtype=bool if isinstance(c[0], bool) else None) for c in columns]


def arguments(name: str) -> list[list[Any]]:
    return [list(p) for p in POINTS[name]] if name in SCALAR else [vectors(name)]


def partial(name: str, args: Sequence[Any], k: int) -> float:
    """One partial derivative at a point."""
    args = [np.float64(a) if isinstance(a, float) else a for a in args]  # Python floats raise where they divide by zero
    program = Program(build_of(name), args)
    (dot,), seeds = derivative(program, [k], "jvp")
    one = np.float64(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(program.run([dot], [*args, one], seeds)[0])


# ------------------------------------------------------------------------------------------------------- tables


def test_no_primitive_without_a_test() -> None:
    missing = [
        n for n, p in PRIMS.items()
        if n not in POINTS and n not in STRUCTURAL and not p.examples and not p.is_zero and p.jvp is not REFUSED
        and p.expansion is None  # what it is made of is tested
        and n not in ("item", "fma", "random_log_gamma")
        and p.constant is None  # tests/transform/test_chosen_values.py
        and p.family != "collective"  # tests/transform/test_collectives.py
    ]  # fmt: skip
    assert not missing, f"without points or examples: {missing}"


def test_points_are_of_primitives() -> None:
    names = set(POINTS) | set(HARD) | set(PARAMS) | set(STRUCTURAL) | {n for n, _, _ in SPECIAL}
    assert not names - set(PRIMS)


@pytest.mark.parametrize("name", [n for n, p in PRIMS.items() if p.elementwise])
def test_one_partial_an_operand(name: str) -> None:
    partials = PRIMS[name].partials
    if name in POINTS:
        assert len(partials) == len(POINTS[name][0])
    assert all(callable(p) or p in (ZERO, UNWRITTEN) for p in partials)


# ------------------------------------------------------------------------------------------------- elementwise


@pytest.mark.parametrize("name", SMOOTH)
def test_elementwise(name: str) -> None:
    """Forward against differences, reverse against forward, and so for the second derivatives."""
    order = 1 if refused(name) or name in NO_SECOND else 2
    for args in arguments(name):
        check(build_of(name), args, wrt=wrt(name, args), order=order, tol=2e-6)


@pytest.mark.skipif(not LONG, reason="long double is double here")
@pytest.mark.parametrize("name", [n for n in SMOOTH if str(PRIMS[n].render).startswith(("np.", "op:"))])
def test_accuracy(name: str) -> None:
    """Partials of NumPy's functions are right to nearly all digits, near the ends of the domain too."""
    for point in [*POINTS[name], *HARD.get(name, [])]:
        for k in wrt(name, point):
            got = partial(name, point, k)
            wanted, error = _long_difference(name, point, k)
            scale = _scale(name, point, k, wanted)
            assert error <= 1e-9 * scale, f"{name}{point}, operand {k}: the difference {wanted!r} has error {error!r}"
            right = abs(got - wanted) <= 1e-11 * scale + 3 * error
            assert right, f"{name}{point}, operand {k}: {got!r}, not {wanted!r}"


def _run(name: str, point: Sequence[Any]) -> Any:
    with np.errstate(all="ignore"):
        return run_spelling(PRIMS[name].render, point, PARAMS.get(name, {}), [])


def _long_difference(name: str, point: Sequence[Any], k: int) -> tuple[float, float]:
    """Central differences of fourth order in long double, and their error: the step with the least change and noise."""
    wide = [np.longdouble(p) if isinstance(p, float) else p for p in point]

    def slope(h: Any) -> tuple[Any, Any]:
        """The difference and the noise of rounding in it."""
        values = []
        for steps in (-2, -1, 1, 2):
            moved = list(wide)
            moved[k] = wide[k] + steps * h
            values.append(np.longdouble(_run(name, moved)))
        far_left, left, right, far_right = values
        noise = 4 * np.finfo(np.longdouble).eps * np.max(np.abs(values)) / h
        return (8 * (right - left) - (far_right - far_left)) / (12 * h), noise

    scales = [s for s in (abs(wide[k]), np.longdouble(abs(point[k]) < 1)) if s > 0]
    best: tuple[Any, ...] = (np.inf, np.nan, np.inf)
    with np.errstate(all="ignore"):
        for scale in scales:
            slopes = [slope(scale * np.longdouble(10) ** -e) for e in range(2, 12)]
            for (before, _), (after, noise) in zip(slopes, slopes[1:]):
                error = abs(after - before) + noise
                relative = error / _scale(name, point, k, after)  # a step that jumps over everything loses
                if relative < best[0]:
                    best = (relative, after, error)
    return float(best[1]), float(best[2])


def _scale(name: str, point: Sequence[Any], k: int, slope: Any) -> Any:
    """The size that errors of the slope are measured by."""
    return max(abs(slope), 1e-3 * abs(float(_run(name, point))) / max(abs(point[k]), 1e-3), 1e-300)


@pytest.mark.parametrize("name", [n for n in SMOOTH if n not in SCALAR])
def test_single_precision(name: str) -> None:
    """float32 stays float32 and is as right as it can be."""
    wide = vectors(name)
    narrow = [a.astype(np.float32) if a.dtype.kind == "f" else a for a in wide]
    if name == "polygamma":
        return  # SciPy's is always float64
    for k in wrt(name, wide):
        found = []
        for args in (wide, narrow):
            program = Program(build_of(name), args)
            (dot,), seeds = derivative(program, [k], "jvp")
            found.append(np.asarray(program.run([dot], [*args, np.ones_like(args[k])], seeds)[0]))
        assert found[1].dtype == np.float32
        np.testing.assert_allclose(found[1], found[0], rtol=3e-3, atol=1e-4)


@pytest.mark.parametrize(("name", "point", "wanted"), SPECIAL, ids=lambda v: str(v))
def test_special_values(name: str, point: tuple[Any, ...], wanted: tuple[Any, ...]) -> None:
    """The derivative at points that have none is what the convention says."""
    for k in wrt(name, point):
        got = partial(name, point, k)
        same = abs(got - wanted[k]) < 1e-12 or got == wanted[k] or (math.isnan(got) and math.isnan(wanted[k]))
        assert same, f"{name}{point}, operand {k}: {got!r}, not {wanted[k]!r}"


# ----------------------------------------------------------------------------------------- structural, transforms


def example(name: str, k: int) -> tuple[Any, tuple[Any, ...]]:
    """Builder and arguments of one example."""
    if name in STRUCTURAL:
        return STRUCTURAL[name][k]
    make, params = PRIMS[name].examples[k]

    def build(b: Any, *xs: Any) -> Any:
        y = b.elementwise(name, *xs, **params) if PRIMS[name].elementwise else b.let(name, *xs, **params)
        if y.type.kind == "tuple":
            return tuple(b.let("item", y, k=j) for j in range(len(y.type.items)))
        return y

    return build, tuple(make())


@pytest.mark.parametrize(("name", "k"), [e for e in EXAMPLES if e[0] != "cast"])
@pytest.mark.sampled(3)
def test_structural(name: str, k: int) -> None:
    build, args = example(name, k)
    check(build, args, tol=2e-6, smooth=not _has_special(args))


def _has_special(args: Sequence[Any]) -> bool:
    return any(not np.all(np.isfinite(a)) for a in args if np.asarray(a).dtype.kind == "f")


def function_of(program: Program) -> ir.Function:
    """The program as a core function."""
    body = ir.Block((), list(program.b.block.stmts), tuple(o.op for o in program.outs))
    return ir.Function("f", tuple(program.params), body, program.b.symbols)


@pytest.mark.parametrize(("name", "k"), [*EXAMPLES, *((n, -1) for n in SMOOTH)])
def test_transforms_agree_with_rules(name: str, k: int) -> None:
    """`transform.forward` and `transform.reverse` give what the rules give when they are applied by hand."""
    cases = [(build_of(name), a) for a in arguments(name)] if k < 0 else [example(name, k)]
    for build, args in cases:
        active = wrt(name, args) if k < 0 else active_args(args)
        program = Program(build, args)
        values = [v for v, o in zip(program.value(), program.outs) if o.type.is_float]
        rng = np.random.default_rng(3)
        dots, bars = [_like(rng, args[j]) for j in active], [_like(rng, v) for v in values]
        if values:
            wanted = _by_hand(build, args, active, "jvp", dots)
            forward = jvp(function_of(program), active, value=False)
            _agree(evaluate(forward, *args, *dots), wanted, f"jvp of {name}")
            wanted = _by_hand(build, args, active, "vjp", bars)
            backward = vjp(function_of(program), active, seeds=True)
            _agree(evaluate(backward, *args, *bars), wanted, f"vjp of {name}")


@pytest.mark.parametrize(
    ("name", "k"), [(n, k) for n, k in EXAMPLES if PRIMS[n].linear and n != "arange"]
)  # whose operands say its size
def test_a_linear_derivative_reads_no_operand(name: str, k: int) -> None:
    """The tangent is the same at any point."""
    build, args = example(name, k)
    active = active_args(args)
    rng = np.random.default_rng(4)
    dots = [_like(rng, args[j]) for j in active]
    elsewhere = [_like(rng, a) if j in active else a for j, a in enumerate(args)]
    forward = jvp(function_of(Program(build, args)), active, value=False)
    _agree(evaluate(forward, *elsewhere, *dots), evaluate(forward, *args, *dots), name)


def _by_hand(build: Any, args: Sequence[Any], active: Sequence[int], mode: str, given: Sequence[Any]) -> list[Any]:
    program = Program(build, args)
    outs, seeds = derivative(program, active, mode)
    found = program.run(outs, [*args, *given], seeds)
    return list(found) if mode == "vjp" else [f for f, o in zip(found, program.outs) if o.type.is_float]


def _like(rng: Any, value: Any) -> Any:
    x = rng.normal(size=np.shape(value))
    if isinstance(value, float) and not isinstance(value, np.generic):
        return float(x)
    return x.astype(np.asarray(value).dtype)[()]


def _agree(got: Sequence[Any], wanted: Sequence[Any], what: str) -> None:
    assert len(got) == len(wanted), what
    for g, w in zip(got, wanted):
        np.testing.assert_allclose(np.broadcast_to(g, np.shape(w)), w, rtol=1e-9, atol=1e-9, err_msg=what)


@pytest.mark.parametrize(("name", "k"), [*EXAMPLES, *((n, -1) for n in ELEMENTWISE)])
@pytest.mark.sampled(4)
def test_printed(name: str, k: int) -> None:
    """The printed function and its printed derivatives give what core gives."""
    cases = [(build_of(name), a) for a in arguments(name)] if k < 0 else [example(name, k)]
    for build, args in cases:
        active = wrt(name, args) if k < 0 else active_args(args)
        program = Program(build, args)
        _same_when_printed(function_of(program), args, name)
        values = [v for v, o in zip(program.value(), program.outs) if o.type.is_float]
        if values and active and not PRIMS[name].is_zero:
            rng = np.random.default_rng(3)
            dots, bars = [_like(rng, args[j]) for j in active], [_like(rng, v) for v in values]
            _same_when_printed(jvp(function_of(program), active, value=False), [*args, *dots], f"jvp of {name}")
            _same_when_printed(vjp(function_of(program), active, seeds=True), [*args, *bars], f"vjp of {name}")


def _same_when_printed(fn: ir.Function, args: Sequence[Any], what: str) -> None:
    text = render(fn).text
    names: dict[str, Any] = {}
    exec(compile(text, f"<{what}>", "exec"), names)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = names[render(fn).name](*args)
    wanted = evaluate(fn, *args)
    found = found if isinstance(found, tuple) and len(fn.body.yields) != 1 else (found,)
    _agree(found, wanted, f"{what}:\n{text}")
    for f, w, y in zip(found, wanted, fn.body.yields):
        assert np.asarray(f).dtype == np.asarray(w).dtype, f"{what}: {np.asarray(f).dtype}, core says {y.type}:\n{text}"


@pytest.mark.numba
@pytest.mark.slow
@pytest.mark.parametrize(("name", "k"), [e for e in [*EXAMPLES, *((n, -1) for n in ELEMENTWISE)] if e[0] != "eigh"])
def test_compiled(name: str, k: int) -> None:
    """The compiled function and its compiled derivative give what core gives; the signs of eigenvectors are free."""
    build, args = (build_of(name), arguments(name)[0]) if k < 0 else example(name, k)
    active = wrt(name, args) if k < 0 else active_args(args)
    program = Program(build, args)
    _same_when_compiled(function_of(program), args, name)
    values = [v for v, o in zip(program.value(), program.outs) if o.type.is_float]
    if values and active and not PRIMS[name].is_zero:
        bars = [_like(np.random.default_rng(3), v) for v in values]
        fn = vjp(function_of(Program(build, args)), active, seeds=True)
        _same_when_compiled(fn, [*args, *bars], f"vjp of {name}")


def _same_when_compiled(fn: ir.Function, args: Sequence[Any], what: str) -> None:
    from transpile.driver.backend import Options, compile_core

    kernel = compile_core(fn, Options(), cache=False)
    found = kernel(*(np.ascontiguousarray(a) if np.ndim(a) else np.asarray(a)[()] for a in args))
    _agree(found if isinstance(found, tuple) else (found,), evaluate(fn, *args), what)
