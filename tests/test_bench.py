"""The benchmark's problems and its C adjoints compute what they should, and its tables say what was measured."""

from __future__ import annotations

import argparse
import json
import shutil
from typing import Any

import numpy as np
import pytest
from bench import aims, compare, peers, plot, ratios, run, store, suites, table
from bench.batching import PROBLEMS as BATCHED
from bench.problem import SIZES, Problem
from bench.problems import PROBLEMS
from bench.problems.kmeans import gradient_and_diagonal
from bench.timing import Pace, interleaved
from differences import Subject, floats, same

import transpile as tp

SMALL = [problem for problem in PROBLEMS if problem.size == "small"]
HAVE_C = [problem for problem in SMALL if problem.c is not None]


def derivatives(problem: Problem) -> Any:
    """What `ours` computes without a compiler, for every problem whose wanted derivative is of its own function."""
    if problem.name == "ba":
        from bench.problems.ba import blocks

        return blocks(*problem.args())
    if problem.name == "kmeans":
        return gradient_and_diagonal(*problem.args())
    return tp.value_and_grad(problem.fn, argnums=problem.wrt)(*problem.args())


def params(problems: list[Problem]) -> list[Any]:
    return [pytest.param(problem, id=problem.name) for problem in problems]


@pytest.mark.parametrize("problem", params(SMALL))
def test_derivative_agrees_with_differences(problem: Problem) -> None:
    """Along a random direction, interpreted: by reverse mode where the result is a number, else by forward mode."""
    subject = Subject(problem.fn, problem.args, problem.wrt)
    args = problem.args()
    if len(floats(subject.value)) == 1 and np.ndim(subject.value) == 0:
        gradient = tp.grad(problem.fn, argnums=problem.wrt)(*args)
        products = [np.sum(bar * subject.tangents[k]) for k, bar in zip(problem.wrt, gradient)]
        found = [np.asarray(sum(products))]
    else:
        found = floats(tp.jvp(problem.fn, args, subject.tangents)[1])
    for a, b in zip(found, subject.difference.leaves):
        same(a, np.asarray(b), problem.key, 1e-6)


def test_every_problem_has_three_sizes() -> None:
    sizes = {problem.name: [p.size for p in PROBLEMS if p.name == problem.name] for problem in PROBLEMS}
    assert all(tuple(found) == SIZES for found in sizes.values())
    assert len(PROBLEMS) == 36


def test_every_problem_of_every_suite_has_a_key_of_its_own() -> None:
    found = suites.all_problems()
    assert len({problem.key for problem in found}) == len(found)
    assert all(suites.find(problem.key).name == problem.name for problem in PROBLEMS)


def test_blocks_of_bundle_adjustment_are_its_jacobian() -> None:
    problem = next(p for p in SMALL if p.name == "ba")
    subject, args = Subject(problem.fn, problem.args, problem.wrt), problem.args()
    _, (blocks, by_weight) = derivatives(problem)
    cameras, points, weights = subject.tangents[:3]
    moved = np.concatenate([cameras[args[4]], points[args[5]], weights[:, None]], axis=1)
    errors, own = subject.difference.leaves
    same(np.einsum("nij,nj->ni", blocks, moved), np.asarray(errors), "blocks", 1e-6)
    same(by_weight * weights, np.asarray(own), "weights", 1e-6)


def test_diagonal_of_k_means_is_that_of_the_hessian() -> None:
    problem = next(p for p in SMALL if p.name == "kmeans")
    centroids, points = problem.args()
    _, (_, diagonal) = derivatives(problem)
    hessian = tp.hessian(problem.fn)(centroids, points)
    same(diagonal.ravel(), np.diag(hessian.reshape(centroids.size, centroids.size)), "diagonal", 1e-9)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("problem", params(HAVE_C))
def test_c_adjoint_agrees(problem: Problem) -> None:
    assert problem.c is not None
    found = problem.c()(*problem.args())
    assert not compare.difference(compare.leaves(found), compare.leaves(derivatives(problem)))


@pytest.mark.numba
@pytest.mark.parametrize("name", ["lse", "kmeans"])
def test_compiled_peers_agree(name: str) -> None:
    """Ours, the function alone and plain Numba's, as the runner makes and compares them."""
    problem = next(p for p in SMALL if p.name == name)
    found = {
        peer: peers.call_of(peer, problem)() for peer in ("function", "numba") if peer != "numba" or problem.numba_ok
    }
    assert not compare.odd_ones({**found, "interpreted": problem.fn(*problem.args())})
    assert not compare.odd_ones({"ours": peers.call_of("ours", problem)(), "interpreted": derivatives(problem)})


# ---------------------------------------------------------------------------------------------- the runner


def row(name: str, suite: str = "problems", wrong: tuple[str, ...] = (), **seconds: float) -> dict[str, Any]:
    """A made-up row: each peer's time, and a first call of a second more."""
    times = {peer.replace("_", " "): {"minimum": t, "median": 1.5 * t, "rounds": 3} for peer, t in seconds.items()}
    return {
        "name": name,
        "suite": suite,
        "size": "small",
        "wanted": "gradient",
        "on": "a processor; one core; versions",
        "first": {peer: 1.0 + times[peer]["minimum"] for peer in ("ours", "jax") if peer in times},
        "times": times,
        "notes": {peer: "value differs by 1.0e+00 of its size (from ours)" for peer in wrong},
        "wrong": list(wrong),
    }


ROWS = [
    row("fast", ours=0.001, jax=0.004, torch=0.008, c=0.0005, function=0.0004, numba=0.0005),
    row("slow", ours=0.009, jax=0.002, torch=0.001, wrong=("torch",)),
    row("sweep", suite="kernels", ours=0.001, jax=0.010, function=0.002, jax_function=0.001),
]


def test_ratios_leave_out_what_is_wrong() -> None:
    assert [ratios.to_best(r) for r in ROWS] == pytest.approx([0.25, 4.5, 0.1])
    assert [ratios.to_c(r) for r in ROWS] == [pytest.approx(2.0), None, None]
    assert ratios.to_function(ROWS[0]) == pytest.approx(2.5)
    assert ratios.function_to_best(ROWS[2]) == pytest.approx(2.0)
    assert ratios.compiling(ROWS[0], "ours") == pytest.approx(1.0)


def test_document_shows_rows_and_aims() -> None:
    text = table.document(ROWS)
    assert "| fast | small | 1.00 / 1.50 | 4.00 / 6.00 | 8.00 / 12.0 | 0.50 / 0.75 | 0.25 (jax) | 2.00 |" in text
    assert "| slow | small | 9.00 / 13.5 | 2.00 / 3.00 | ≠ | – | 4.50 (jax) | – |" in text
    assert "- torch, differs: value differs by 1.0e+00 of its size (from ours) (slow small)" in text
    assert "geometric mean 1.06 of 2, worst 4.50 (slow small); aim: at most 0.5: missed" in text
    assert (
        "kernels, JAX over ours: geometric mean 10.00 of 1, worst 10.00 (sweep small); aim: at least 5: reached" in text
    )
    assert text == table.document(ROWS), "the same rows give the same page"


def test_aims_of_nothing() -> None:
    assert all("nothing measured" in line for line in aims.standing([]))


def test_picture(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    assert plot.draw(ROWS[:2], "made up", tmp_path / "ratios.png")
    assert (tmp_path / "ratios.png").read_bytes().startswith(b"\x89PNG")
    assert not plot.draw([], "nothing", tmp_path / "none.png")


def test_rows_are_merged(tmp_path) -> None:
    for r in (ROWS[0], ROWS[1], {**ROWS[0], "bytes": 8}):
        store.save(r, tmp_path)
    keys = [store.key_of(r) for r in (ROWS[1], ROWS[2], ROWS[0])]
    assert store.ordered(keys, tmp_path) == [ROWS[1], {**ROWS[0], "bytes": 8}]


def test_the_odd_result_is_found() -> None:
    right = (1.0, (np.array([1.0, 2.0]), {"b": 3.0, "a": 4.0}))
    near = (1.0 + 1e-12, [np.array([[1.0, 2.0]]), {"a": 4.0, "b": 3.0}])
    assert not compare.odd_ones({"ours": right, "jax": near})
    odd = compare.odd_ones({"ours": (1.0, (np.array([1.0, 2.5]), 4.0, 3.0)), "jax": near, "c": right})
    assert odd == {"ours": "derivative 0 differs by 2.5e-01 of its size (from jax)"}
    assert "NaN" in compare.odd_ones({"ours": 1.0, "jax": np.nan})["jax"]
    assert not compare.odd_ones({"ours": np.nan, "jax": np.nan})


@pytest.mark.parametrize(
    ("deaths", "notes"),
    [
        (["jax"], {"jax": "died"}),  # left out of a second try
        (["timing"], {}),  # once is chance
        (["jax", "torch", "timing", "timing"], {"jax": "died", "torch": "died", "timing": "died"}),
    ],
)
def test_a_row_outlives_its_processes(monkeypatch, deaths: list[str], notes: dict[str, str]) -> None:
    skipped = []

    def worker(problem, path, skip, options):
        skipped.append(sorted(skip))
        doing = deaths[len(skipped) - 1] if len(skipped) <= len(deaths) else ""
        path.write_text(json.dumps({"doing": doing, "row": {"times": {"ours": {}}}}))
        return "died"

    monkeypatch.setattr(run, "worker", worker)
    found = run.measured(SMALL[0], argparse.Namespace())
    assert found["notes"] == notes and found["times"] == {"ours": {}} and found["wrong"] == []
    assert skipped[-1] == sorted(set(notes) - {"timing"})


def test_calls_take_turns() -> None:
    calls: list[str] = []
    found = interleaved(
        {name: (lambda name=name: calls.append(name)) for name in "ab"}, Pace(rounds=2, batch=0.0, budget=1.0)
    )
    assert calls[-8:] == ["a", "a", "b", "b"] * 2  # once before the clock is started
    assert all(timing.minimum <= timing.median and timing.rounds == 2 for timing in found.values())


# ------------------------------------------------------------------------------------------------- batched functions


def tiny(args: Any, lanes: int) -> Any:
    """The arguments with few lanes: the first axis of each array is that of the lanes, of parameters nothing is left out."""
    return tuple(a[:lanes] if isinstance(a, np.ndarray) and len(a) >= 1000 else a for a in args)


@pytest.mark.parametrize(
    "name", ["cholesky_by_hand", "linear_solve", "arm_jacobians", "small_hessians", "garch", "kepler"]
)
def test_batched_functions_are_stacked_lanes(name: str) -> None:
    problem = next(p for p in BATCHED if p.name == name)
    args = tiny(problem.args(), 3)
    transform = {"arm_jacobians": tp.jacfwd, "small_hessians": tp.hessian}.get(name, lambda f: f)
    each = [transform(problem.fn)(*(a[k] for a in args)) for k in range(3)]
    batched = tp.vmap(transform(problem.fn))
    same(batched(*args), np.stack(each), name, 1e-12)


def test_every_batched_function_has_peers() -> None:
    assert [p.name for p in BATCHED if p.jax is None] == []
    assert [p.name for p in BATCHED if p.torch is None] == ["kepler"]
