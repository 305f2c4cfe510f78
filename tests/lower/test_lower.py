"""Lowering: every primitive of the rule tables compiled and compared with its NumPy spelling, several to a kernel.

`make test` takes one example of each primitive, `make test-all` all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from rule_check import Program, symbolic
from test_rules import ELEMENTWISE, EXAMPLES, arguments, build_of, example

from transpile.codegen.numba.numba_text import Options
from transpile.core import nodes as ir
from transpile.core.dump import dump
from transpile.core.types import FLOAT64
from transpile.driver.backend import compile_core
from transpile.loops.allocation_motion import hoist_allocations
from transpile.lower import lower
from transpile.lower.lowering_rules import RULES
from transpile.ops import lowering_kinds as kinds
from transpile.ops.tables import prims

pytestmark = pytest.mark.numba

SIGNS = {"eigh"}  # eigenvectors may have either sign
NOT_LOWERED = {
    "item": "the walk over statements takes it from what a call gives",
    "dim": "the walk over statements takes it from the sizes",
    "range_length": "only the printer makes it",
    "shape_differs": "only the printer makes it",
    "shape_of": "only the printer makes it",
    "shape_tuple": "only the printer makes it",
    **dict.fromkeys((r.name for r in prims().values() if r.collective), "batching takes it away"),
}
"""Primitives without a rule that lowers them, and why."""


def cases(first_only: bool) -> Iterator[tuple[str, Any, Any]]:
    for name in ELEMENTWISE:
        yield name, build_of(name), arguments(name)[0]
    seen = set()
    for name, k in EXAMPLES:
        if first_only and name in seen:
            continue
        seen.add(name)
        build, args = example(name, k)
        yield f"{name}.{k}", build, args


def groups(first_only: bool, size: int = 16) -> list[list[tuple[str, Any, Any]]]:
    every = list(cases(first_only))
    return [every[k : k + size] for k in range(0, len(every), size)]


def merged(programs: list[Program]) -> ir.Function:
    """One function that computes all of them."""
    params = tuple(p for program in programs for p in program.params)
    stmts = [s for program in programs for s in program.b.block.stmts]
    yields = tuple(o.op for program in programs for o in program.outs)
    symbols = {k: v for program in programs for k, v in program.b.symbols.items()}
    return ir.Function("kernel", params, ir.Block((), stmts, yields), symbols)


def check_group(group: list[tuple[str, Any, Any]]) -> None:
    programs = [Program(build, args, symbolic) for _, build, args in group]
    labels = [name for (name, *_), program in zip(group, programs) for _ in program.outs]
    wanted = [v for program in programs for v in program.value()]
    kernel = compile_core(merged(programs), Options(), cache=False)
    got = kernel(*(_ready(a) for program in programs for a in program.args))
    for label, g, w in zip(labels, got if isinstance(got, tuple) else (got,), wanted):
        w = np.asarray(w)
        assert np.shape(g) == w.shape, label
        if w.ndim:
            assert g.dtype == w.dtype, label
        if label.partition(".")[0] in SIGNS:
            g, w = np.abs(g), np.abs(w)
        tol = 1e-5 if w.dtype == np.float32 else 2e-12
        np.testing.assert_allclose(g, w, rtol=tol, atol=tol, err_msg=label)


def _ready(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return np.ascontiguousarray(value) if value.ndim else value[()]


FIRST = groups(first_only=True)


@pytest.mark.parametrize("k", range(len(FIRST)))
@pytest.mark.sampled(4)
def test_primitives(k: int) -> None:
    check_group(FIRST[k])


@pytest.mark.slow
@pytest.mark.parametrize("k", range(len(groups(first_only=False))))
def test_all_examples(k: int) -> None:
    check_group(groups(first_only=False)[k])


def test_every_primitive_can_be_compiled() -> None:
    """All but the written list; no array primitive of NumPy is on it."""
    missing = []
    for name, prim in prims().items():
        if prim.elementwise:
            types = [FLOAT64] * len(prim.partials)
            if prim.element_of(types, FLOAT64, {}) is None:
                missing.append(name)
        elif type(prim.lowering) not in RULES and prim.expansion is None:
            missing.append(name)
    assert sorted(missing) == sorted(NOT_LOWERED)


def test_a_record_says_whether_it_is_lowered() -> None:
    """What has no rule says so, and is not just forgotten."""
    assert {n for n in NOT_LOWERED if not isinstance(prims()[n].lowering, (kinds.Part, kinds.NotLowered))} == set()


def test_each_rule_serves_a_record_and_each_kind_has_a_rule() -> None:
    named = {type(p.lowering) for p in prims().values()}
    by_others = {kinds.Elementwise, kinds.Part, kinds.NotLowered}
    assert named - by_others == set(RULES)
    assert {k for k in vars(kinds).values() if isinstance(k, type) and k.__base__ is kinds.LoweringKind} == named


# ---------------------------------------------------------------------------------------------------- the form


def lowered(build: Any, *args: Any) -> str:
    program = Program(build, args, symbolic)
    return dump(hoist_allocations(lower(merged([program]))))


def test_elementwise_chains_need_no_temporaries() -> None:
    text = lowered(lambda b, x: b.let("sum", b.elementwise("exp", x) * x + 2.0, axes=(0,), keepdims=False), np.ones(5))
    assert "new empty" not in text and text.count("for ") == 1


def test_what_is_read_twice_is_computed_once() -> None:
    def build(b: Any, x: Any) -> Any:
        y = b.elementwise("exp", x)
        return b.let("sum", y * y, axes=(0,), keepdims=False)

    text = lowered(build, np.ones(5))
    assert text.count(" exp ") == 1 and text.count("new empty") == 1


def test_a_broadcast_scalar_is_computed_once() -> None:
    def build(b: Any, x: Any) -> Any:
        return x * b.broadcast(b.let("sum", x, axes=(0,), keepdims=True), x.dims)

    assert lowered(build, np.ones(5)).count("for ") == 2


def test_a_column_sum_runs_along_the_rows() -> None:
    text = lowered(lambda b, x: b.let("sum", x, axes=(0,), keepdims=False), np.ones((5, 3)))
    assert "for j" in text and "+=" in text


def test_indices_that_are_in_range_are_not_checked() -> None:
    import transpile as tp

    def f(x, k):
        total = 0.0
        for i in range(1, len(x) - 1):
            total += x[i - 1] * x[i + 1] - x[i]
        return total

    text = tp.source(f, np.ones(9), 1, stage="loops")
    assert "raise" not in text
    text = tp.source(lambda x, k: x[k], np.ones(9), 1, stage="loops")
    assert "raise errors.IndexError_" in text


def test_temporaries_leave_loops() -> None:
    import transpile as tp

    def f(x, n):
        total = 0.0
        for k in range(n):
            y = np.sin(x) * k
            total += np.sum(y * np.max(y))
        return total

    lines = tp.source(f, np.ones(9), 3, stage="loops").splitlines()
    empty = next(k for k, line in enumerate(lines) if "np.empty" in line)
    loop = next(k for k, line in enumerate(lines) if "for k in" in line)
    assert empty < loop


def test_a_stored_snapshot_is_not_overwritten() -> None:
    import transpile as tp

    def f(x):
        first = x[0]
        row = x[1:]
        kept = row * 1.0
        x[1] = 100.0
        return first + row[0] + kept[0]

    x = np.array([1.0, 2.0, 3.0])
    assert tp.jit(f)(x.copy()) == f(x.copy()) == 103.0
