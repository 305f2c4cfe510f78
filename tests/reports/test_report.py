"""`tp.report` says what happens: recorded bytes as the generated text records them, peak memory as NumPy allocates it."""

from __future__ import annotations

import gc
import math
import tracemalloc

import numpy as np
import plain_runtime
import pytest
from bench.recorded import measured_bytes
from corpus import (
    all_programs,
    kernels_chemistry,
    kernels_finance,
    kernels_linear,
    kernels_mechanics,
    kernels_statistics,
)
from corpus.program import definite, normal, positive

import transpile as tp
from transpile.reports.formula import Formula
from transpile.reports.report import WIDTH

FACTOR = 1.25  # between the peak that is said and what NumPy reports, where arrays are what takes the memory


def mixture(n):
    return normal(8, seed=1), normal(8, 4, seed=2), 0.1 * normal(8, 4, seed=3), normal(n, 4, seed=4)


def recurrent(params, inputs):
    w, u = params
    h = np.zeros(len(w))
    loss = 0.0
    for x in inputs:
        h = np.tanh(w @ h + u @ x)
        loss += h @ h
    return loss


def decay(x, steps):
    for _ in range(steps):
        x = x * np.exp(-x)
    return np.sum(x)


def newton(x):
    r = 0.1 * x
    while np.max(np.abs(r * r - x)) > 1e-12:
        r = 0.5 * (r + x / r)
    return np.sum(r * r * r)


def triangle(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1):
            total = math.sin(total * x[i] + x[j])
    return total


def heat(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] * np.exp(-0.1 * u[1:-1]) + 0.1 * (u[2:] - u[:-2])
    return np.sum(u * u)


def prefixes(x):
    y = np.ones_like(x)
    for i in range(1, len(x)):
        y = np.sin(y * x[i])
        part = np.exp(x[:i] * y[0])
        y[i] = part @ part
    return np.sum(y)


# name: function, differentiated positions, arguments at two sizes
KERNELS = {
    "logistic": (
        kernels_statistics.logistic_regression, (0,),
        lambda k: (normal(20), normal(300 * k, 20, seed=1), (normal(300 * k, seed=2) > 0.0) * 1.0),
    ),
    "mixture": (kernels_statistics.gaussian_mixture, (0, 1, 2), lambda k: mixture(60 * k)),
    "recurrent": (
        recurrent, (0,),
        lambda k: ((0.1 * normal(40, 40), normal(40, 8, seed=1)), normal(60 * k, 8, seed=4)),
    ),
    "stencil": (kernels_mechanics.stencil, (0,), lambda k: (normal(60 * k, 60), 2)),
    "Cholesky": (
        kernels_linear.cholesky_by_hand, (0, 1), lambda k: (definite(15 + 15 * k), normal(15 + 15 * k, seed=1)),
    ),
    "kinetics": (
        kernels_chemistry.runge_kutta_kinetics, (0, 1),
        lambda k: (np.array([2.0, 1.0, 0.5]), np.array([1.0, 0.8, 0.0, 0.0]), 200 * k),
    ),
    "GARCH": (kernels_finance.garch, (0,), lambda k: (np.array([0.05, 0.12, 0.8]), 0.1 * normal(1200 * k, seed=1))),
    "decay": (decay, (0,), lambda k: (positive(500 * k), 40)),
    "newton": (newton, (0,), lambda k: (positive(4000 * k),)),
    "triangle": (triangle, (0,), lambda k: (normal(40 * k),)),
    "heat": (heat, (0,), lambda k: (normal(1000 * k), 20)),
    "prefixes": (prefixes, (0,), lambda k: (0.1 * normal(60 * k),)),
    "warping": (kernels_statistics.time_warping, (0, 1), lambda k: (normal(20 * k), normal(40, seed=1))),
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.sampled(4)
def test_report_says_what_happens(name):
    fn, wrt, args = KERNELS[name]
    gradient = tp.value_and_grad(fn, argnums=wrt)
    small, large = tp.report(gradient, *args(1)), tp.report(gradient, *args(2))
    for found, k in ((small, 1), (large, 2)):
        assert found.bytes == measured_bytes(gradient, args(k))
    exact = all(r.exact for r in small.recorded)
    if exact:  # one formula, at the sizes of either call
        assert small.formula == large.formula
        assert small.formula.at({**large.known, **large.measured}) == large.bytes
    assert exact is (name != "warping")
    assert max(large.peak.bytes, large.compiled_peak.bytes) >= large.bytes


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.sampled(8)
def test_peak_is_what_numpy_reports(name):
    fn, wrt, args = KERNELS[name]
    gradient = tp.value_and_grad(fn, argnums=wrt)
    found = tp.report(gradient, *args(2))
    peak = traced(gradient, *args(2))
    assert found.peak.bytes <= FACTOR * peak
    assert peak <= FACTOR * found.peak.bytes + 20_000  # Python's own objects
    if found.peak.is_exact:
        assert found.peak.formula.at({**found.known, **found.measured}) == found.peak.bytes
    assert sum(a.bytes for a in found.peak.arrays) == found.peak.bytes


def traced(call, *args):
    """The most that is allocated while the call runs, in bytes; not the first calls, which build what runs."""
    for _ in range(3):
        call(*args)
    gc.collect()
    tracemalloc.start()
    try:
        call(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


QUICK = ("trips.", "whiles.", "swaps.", "found_by_fuzz.")


@pytest.mark.parametrize("program", [p for p in all_programs() if p.name.startswith(QUICK)], ids=lambda p: p.name)
@pytest.mark.sampled(4)
def test_report_of_corpus(program, capsys):
    check_report(program)


@pytest.mark.slow
@pytest.mark.parametrize("program", [p for p in all_programs() if not p.name.startswith(QUICK)], ids=lambda p: p.name)
def test_report_of_whole_corpus(program, capsys):
    check_report(program)


def check_report(program):
    """Each number is that of the run, and the text fits."""
    shape = tp.eval_shape(program.fn, *program.args())
    transform = tp.grad if getattr(shape, "shape", None) == () else tp.jacrev
    gradient = transform(program.fn, argnums=program.wrt)
    if any(np.dtype(leaf.dtype).kind != "f" for leaf in tp.tree.leaves(shape)):
        with pytest.raises(tp.TranspileError, match="T305"):
            tp.report(gradient, *program.args())
        return
    found = tp.report(gradient, *program.args())
    calls = found.peak is None  # of functions that hold memory of their own, which is not counted
    assert not calls or "recurs" in program.name
    assert calls or found.bytes == measured_bytes(gradient, program.args())
    text = str(found)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert all(r.reason and r.line and r.bytes is not None for r in found.recorded)
    assert found.result_bytes is not None
    assert "<table>" in found._repr_html_()


# ------------------------------------------------------------------------------------------------------ formulas


def test_formula_of_a_triangle_is_closed():
    found = tp.report(tp.grad(kernels_linear.cholesky_by_hand, argnums=(0, 1)), definite(9), normal(9))
    assert str(found.formula) == "4·n² + 4·n"
    assert "the number of iterations of the loop in line" in found.recorded[0].reason


def test_formulas():
    n, m = Formula.symbol("n"), Formula.symbol("m")
    assert str((n + 1) * (m - 2)) == "n·m - 2·n + m - 2"
    assert str(Formula.operation("min", n, m) * 8) == "8·min(n, m)"
    assert str(Formula.operation("max", n - 2, 0) * 8 * m) == "8·(n - 2)·m"
    assert Formula.operation("max", n - 2, 0).at(n=1) == 0
    assert str(Formula.operation("//", n, 2)) == "(n // 2)"
    cubes = Formula.symbol("k") ** 3
    assert cubes.summed("k", n).at(n=11) == sum(k**3 for k in range(11))
    assert Formula.operation("min", Formula.symbol("k"), m).summed("k", n) is None
    with pytest.raises(KeyError, match="m"):
        (n * m).at(n=1)


# ------------------------------------------------------------------------------------------------------- reasons


def why(fn, *args, **kwargs):
    return {r.text: r.reason for r in tp.report(tp.grad(fn, **kwargs), *args).recorded}


def test_reason_loop_carried():
    def squares(x, steps):
        for _ in range(steps):
            x = x * x
        return x

    assert "carried by the loop" in why(squares, 1.1, 4)["x"]


def test_reason_transcendental():
    assert "expensive to recompute (exp)" in why(decay, positive(3), 4)["np.exp(-x)"]


def test_reason_overwritten():
    def relax(x):
        x = x.copy()
        for i in range(1, len(x)):
            x[i - 1] = x[i - 1] * x[i]
            x[0] = x[i] * x[0]
        return np.sum(x)

    assert any("overwritten later" in reason for reason in why(relax, positive(5)).values())


def test_reason_test_of_rounded_numbers():
    found = tp.report(tp.grad(kernels_statistics.k_means_cost), normal(4, 2), normal(30, 2, seed=1))
    assert [(r.text, r.type) for r in found.recorded] == [("distance < nearest", "bool[n]")]


def test_reason_stack():
    found = tp.report(tp.grad(newton), positive(5))
    assert all(r.kind == "stack" and "ends is only known at run time" in r.reason for r in found.recorded)
    assert "iterations(line" in str(found.formula)
    (trips_of_loop,) = found.measured.values()
    assert found.bytes == found.formula.at(n=5, **{"iterations(line %d)" % found.recorded[0].line: trips_of_loop})


def test_reason_size_varies():
    reasons = " ".join(why(prefixes, normal(6)).values())
    assert "its size changes" in reasons


def test_reason_trip_count():
    (program,) = [p for p in all_programs() if p.name == "kernels_finance.implied_volatility"]
    found = tp.report(tp.grad(program.fn), *program.args())
    assert any(r.text == "trips" and r.reason.startswith("iteration count of the loop") for r in found.recorded)


# ----------------------------------------------------------------------------------------------- what is not recorded


def kinds(found):
    return {u.kind: u for u in found.not_recorded}


def test_loop_that_runs_forward_and_backward_at_once():
    def loss(w, x):
        total = 0.0
        for i in range(len(x)):
            total += np.tanh(w @ x[i])
        return total

    found = tp.report(tp.grad(loss), normal(3), normal(10, 3))
    assert (found.bytes, str(found.formula)) == (0, "0")
    assert kinds(found)["fused"].text == "for i in range(len(x)):"


def test_loop_that_runs_again():
    found = tp.report(tp.grad(triangle), normal(9))
    assert kinds(found)["rerun"].text == "for i in range(len(x)):"
    assert str(found.formula) == "16·n"  # what the outer loop carries, and of one trip what the inner one does


def test_rejected_trials_leave_no_note():
    """A loop that was tried to be run again, and is not, is not said to be."""
    found = tp.report(tp.grad(kernels_linear.cholesky_by_hand, argnums=(0, 1)), definite(5), normal(5))
    assert "rerun" not in kinds(found)


def test_values_that_are_computed_again():
    def f(x):
        total = 1.0
        for i in range(len(x)):
            gap = x[i] - 0.5
            total *= gap * gap
        return total

    found = tp.report(tp.grad(f), positive(4))
    assert "x[i] - 0.5" in {u.text for u in found.not_recorded if u.kind == "again"}


def test_kept_arrays():
    def f(x):
        y = np.exp(x)
        return np.sum(y * np.sin(y))

    (kept,) = tp.report(tp.grad(f), normal(10)).kept
    assert (kept.name, kept.text, kept.formula_text, kept.bytes) == ("y", "np.exp(x)", "8·n", 80)


# ----------------------------------------------------------------------------------------------- what can be reported


def test_every_transform():
    x = positive(6)
    recorded = tp.report(tp.grad(decay), x, 5)
    assert recorded.bytes == 2 * 5 * 6 * 8
    assert tp.report(tp.value_and_grad(decay), x, 5).bytes == recorded.bytes
    assert tp.report(tp.jit(tp.grad(decay)), x, 5).recorded == recorded.recorded
    assert tp.report(tp.vjp, lambda x: decay(x, 5), x).bytes == recorded.bytes
    assert tp.report(tp.grad(decay), x, steps=5).bytes == recorded.bytes
    assert tp.report(tp.jvp, decay, (x, 5), (x, 0)).bytes == 0
    assert tp.report(tp.linearize, lambda x: decay(x, 5), x).recorded == ()
    assert tp.report(decay, x, 5).bytes == 0


@pytest.mark.parametrize("second", [tp.hessian, lambda f: tp.grad(lambda x: np.sum(tp.grad(f)(x) ** 2))])
def test_second_order(second):
    def f(x):
        total = x[0]
        for i in range(1, len(x)):
            total = math.sin(total * x[i])
        return total

    derivative = second(f)
    found = tp.report(derivative, positive(30))
    assert found.bytes == measured_bytes(derivative, (positive(30),)) > 0
    assert found.bytes == found.formula.at(found.known)


def test_hvp_is_that_of_its_arguments():
    found = tp.report(tp.hvp, lambda x: decay(x, 3), (positive(4),), (positive(4),))
    assert found.name.endswith("_hvp") and found.bytes > 0


def test_what_stands_outside_the_function():
    scale = positive(7)

    def f(x):
        for _ in range(4):
            x = x * np.exp(-scale * x)
        return np.sum(x)

    found = tp.report(tp.grad(f), positive(7))
    assert found.bytes == measured_bytes(tp.grad(f), (positive(7),))


def test_arguments_in_trees():
    found = tp.report(
        tp.grad(lambda p: recurrent((p["w"], p["u"]), p["x"])), {"w": np.eye(3), "u": normal(3, 2), "x": normal(4, 2)}
    )
    assert found.bytes == 2 * 4 * 3 * 8


def test_float32_takes_half():
    x = positive(6)
    assert 2 * tp.report(tp.grad(decay), x.astype(np.float32), 5).bytes == tp.report(tp.grad(decay), x, 5).bytes


def test_counting_says_and_changes_nothing(capsys):
    def f(x):
        while x[0] < 10.0:
            print("step")
            x[0] = x[0] * x[1]
        return x[0]

    x = np.array([1.0, 2.0])
    found = tp.report(tp.grad(f), x)
    assert list(found.measured.values()) == [4]
    assert capsys.readouterr().out == "" and x.tolist() == [1.0, 2.0]


def test_refusals():
    with pytest.raises(tp.TranspileError) as caught:
        tp.report(3, 1.0)
    assert caught.value.codes == ("T411",)
    with pytest.raises(tp.TranspileError) as caught:
        tp.report(tp.vjp)
    assert caught.value.codes == ("T411",)
    with pytest.raises(tp.TranspileError) as caught:
        tp.report(tp.grad(lambda x: x * 2.0), positive(3))
    assert caught.value.codes == ("T301",)


def test_errors_of_the_run_are_those_of_the_function():
    def f(x):
        while x > 1.0:
            x = x / 2.0 + 0.01 * x * x
            if x < 1.5:
                raise ValueError("too small")
        return x

    with pytest.raises(ValueError, match="too small"):
        tp.report(tp.grad(f), 8.0)


# ------------------------------------------------------------------------------------------------------ compiled


@pytest.mark.parametrize("name", ["GARCH", "decay", "kinetics", "triangle", "Cholesky"])
@pytest.mark.sampled(8)
def test_peak_of_compiled_loops(name):
    """The text that Numba compiles, run by Python, which holds arrays as long or longer."""
    fn, wrt, args = KERNELS[name]
    gradient = tp.value_and_grad(fn, argnums=wrt)
    found = tp.report(tp.jit(gradient), *args(1)).compiled_peak
    text = tp.source(tp.jit(gradient), *args(1), stage="loops")
    names: dict = {}
    exec(text.replace("from numba import njit", "njit = lambda **options: lambda function: function"), names)
    if "vector" in names:
        names["vector"] = plain_runtime.Vector()  # LLVM makes the other one
    if "arrays" in names:
        names["arrays"] = plain_runtime.module("arrays")  # Python cannot take a range from Numba
    kernel = next(v for k, v in names.items() if k.endswith("_grad"))
    numbers = 40 * sum(r.bytes // 8 for r in tp.report(gradient, *args(1)).recorded if r.kind == "stack")
    peak = traced(kernel, *args(1))
    assert found.bytes <= FACTOR * peak
    assert peak <= FACTOR * (found.bytes + numbers) + 20_000


def one_or_many(n, h):
    if n == 0:
        return np.ones(1) * h
    y = np.ones(n + 1) * h * np.arange(n + 1)
    y[np.arange(n + 1)] = -y * h
    return y


@pytest.mark.parametrize("n", [0, 5])
def test_a_size_that_only_one_path_has(n):
    """It was read behind the branch, on the other path too: an UnboundLocalError."""
    derivative = tp.jacrev(one_or_many, argnums=1)
    found = tp.report(derivative, n, 0.7)
    assert found.bytes == measured_bytes(derivative, (n, 0.7)) and found.result_bytes == 8 * (n + 1)
