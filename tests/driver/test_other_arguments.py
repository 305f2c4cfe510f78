"""The corpus programs on other arguments than their own: layouts, sizes, dtypes, NaN and infinity, integers, empty arrays.

A program's own arguments are those that its constructs were tried at. Here each argument is changed in one way, and what Python
gives then, a value or an exception, is what the transformed program gives, or it is refused with a code.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from changed_arguments import TABLE, Endless, changed, outcome
from corpus import all_programs
from corpus.program import Program
from differences import copied, is_single, same, same_tree
from fuzz.check import limited

import transpile as tp
from transpile.aggregates import flatten
from transpile.api import Transformed
from transpile.base.levels import Level

EVERY = 5  # one program in so many, with one change each, in `make test`
CHANGES = 2  # of each program in the whole
COMPILED = 40  # one program in so many is compiled
PATIENCE = 3  # seconds; iterations of changed arguments may not settle, in Python either


NAMES = list(TABLE)
PROGRAMS = all_programs()

DEAD = "what the result does not depend on is left out, with the error that it would have raised (docs/limits.md)"
DEPARTURES: dict[tuple[str, str], str] = {
    **{("views.copies_that_look_like_views", f"{size} 0"): DEAD for size in ("size", "counted")},
    **{("everyday_loops.ndi3", f"{size} 0"): DEAD for size in ("size", "counted")},
    **{("functional.recurrence", f"counted {size}"): DEAD for size in (0, 1, 2, 3)},  # of what is stored nowhere
    **{
        ("linalg.tensor_systems", f"{size} 0"): "a size left open beside one of 0 (docs/limits.md)"
        for size in ("size", "counted")
    },
    ("scalars.parts_of_numbers", "array of no axis"): "an array of no axis counts as a number",
    ("scalars.parts_of_numbers", "numpy single"): "math.trunc takes any number, Python's none of float32",
    **{
        (f"lists.{name}", "nan"): "max and min of run-time length (docs/limits.md)"
        for name in ("sums_over_parts", "increasing_sum")
    },
}


NUMPY_GIVES_A_VALUE = {
    (ValueError, "math domain error"),
    (ZeroDivisionError, "float division by zero"),
    (OverflowError, "math range error"),
}


def compare(program: Program, name: str, transformed: Callable, python_floats: bool = True) -> bool:
    """Whether both gave a value or an exception; not where it is refused, or departs as docs/limits.md says."""
    args = changed(program, name)
    if args is None or (program.name, name) in DEPARTURES:
        return False
    mine, his = copied(args), copied(args)
    try:
        wanted, error = limited(lambda: outcome(program.fn, his), PATIENCE, Endless)
    except Endless:
        return False
    got, own = outcome(transformed, mine)
    if isinstance(own, tp.TranspileError):
        assert own.diagnostics and all(d.code for d in own.diagnostics)
        return False
    if error is not None or own is not None:
        if name == "fixed" and isinstance(error, ValueError) and own is None:
            return False  # it writes into a copy: arguments stay as they were
        if not python_floats and own is None and (type(error), str(error)) in NUMPY_GIVES_A_VALUE:
            return False  # Python's floats count as NumPy's in compiled code (docs/limits.md)
        assert type(own) is type(error), f"{name}: Python {error!r}, here {own!r} and {got!r}"
        return True
    leaves, others = flatten(got)[0], flatten(wanted)[0]
    assert len(leaves) == len(others), f"{name}: {got!r}, expected {wanted!r}"
    single = name in ("float32", "numpy single") or any(map(is_single, leaves))
    for k, (a, b) in enumerate(zip(leaves, others)):
        # a number that is an integer or a float by the branch is a float
        if np.asarray(a).dtype.kind == "f" and np.asarray(b).dtype.kind in "iu":
            b = np.asarray(b, float)
        if single and np.asarray(a).dtype.kind == "f":  # sums of float32 are added in another order
            same(a, b, f"{name}, leaf {k}", 1e-5, 1.0)
        else:
            same(a, b, f"{name}, leaf {k}", 1e-9, 1e-9)
    return True


def pairs(count: int, every: int = 1) -> list[tuple[Program, str]]:
    """Programs with some changes each, spread over all that change something, so that a sample has all of the changes."""
    found = []
    for k, program in enumerate(PROGRAMS[::every]):
        fitting = [name for name in NAMES if changed(program, name) is not None]
        found += [(program, fitting[(5 * k + 7 * j) % len(fitting)]) for j in range(count) if fitting]
    return found


def interpreted(every: int, count: int, least: int) -> None:
    faults, compared = [], 0
    for program, name in pairs(count, every):
        try:
            compared += compare(program, name, Transformed(program.fn, Level()))
        except AssertionError as e:
            faults.append(f"{program.name}, {e}")
    assert not faults, "\n".join(faults)
    assert compared >= least, compared


def test_a_sample_gives_what_python_gives() -> None:
    interpreted(EVERY, 1, 80)


@pytest.mark.slow
def test_programs_give_what_python_gives() -> None:
    interpreted(1, CHANGES, 1000)


@pytest.mark.slow
@pytest.mark.numba
def test_compiled_programs_give_what_python_gives() -> None:
    faults, compared = [], 0
    for program, name in pairs(2, COMPILED):
        try:
            compared += compare(program, name, tp.jit(program.fn), python_floats=False)
        except AssertionError as e:
            faults.append(f"{program.name}, {e}")
    assert not faults, "\n".join(faults)
    assert compared >= 20, compared


def again(first: int, every: int, least: int) -> None:
    """One transform and one gradient of each program, called with one change after another and with some of them twice, are what
    fresh ones are: what was made for earlier arguments is not taken for later ones."""
    faults, compared = [], 0
    for k, program in enumerate(PROGRAMS[first::every]):
        makers = [lambda f: Transformed(f, Level())]
        if program.wrt:
            makers.append(lambda f, wrt=program.wrt: tp.grad(f, argnums=wrt))
        fitting = [name for name in NAMES if changed(program, name) is not None]
        order = np.random.default_rng(k).permutation(len(fitting))[:8]
        for make in makers:
            one = make(program.fn)
            for j in [*order, *order[:3]]:
                args = changed(program, fitting[j])
                try:
                    limited(lambda args=args: outcome(program.fn, copied(args)), PATIENCE, Endless)
                except Endless:
                    continue
                got, own = outcome(one, copied(args))
                wanted, error = outcome(make(program.fn), copied(args))
                if isinstance(
                    error, tp.TranspileError
                ):  # sizes of a call that was made before are named where they differ
                    if own is None:
                        faults.append(f"{program.name}, {fitting[j]}: {got!r}, refused by a fresh transform")
                    continue
                try:
                    assert type(own) is type(error), f"{own!r}, expected {error!r}"
                    if own is None:
                        same_tree(got, wanted, fitting[j], 1e-9, 1e-9)
                    compared += 1
                except AssertionError as e:
                    faults.append(f"{program.name}, {fitting[j]}, after {[fitting[i] for i in order]}: {e}")
    assert not faults, "\n".join(faults)
    assert compared >= least, compared


def test_a_sample_called_again_is_as_a_fresh_transform() -> None:
    again(5, 90, 40)


@pytest.mark.slow
def test_programs_called_again_are_as_fresh_transforms() -> None:
    again(2, 9, 700)
