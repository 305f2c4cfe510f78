"""Every corpus program twice in one function: at its own arguments, and at others of other sizes, dtypes or numbers.

Real programs have two of what the corpus has one of: two calls of one helper with arrays of other shapes, two solvers. What the one
call learns (sizes, types of what a loop carries, kept functions) must not be taken for the other, in either order.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from changed_arguments import Endless, changed, is_floats, outcome
from corpus import all_programs
from corpus.program import Program
from differences import Subject, Unstable, check_jvp, check_vjp, copied, is_single, same
from fuzz.check import limited

import transpile as tp
from transpile.aggregates import flatten, unflatten
from transpile.api import Transformed
from transpile.base.levels import Level

OTHERS = ["counted 7", "counted 3", "counted 2", "size 2", "counted 1", "size 1", "float32", "three more", "negative"]
SECONDS = 3
UNFIT = (
    tp.TranspileError,
    Unstable,
    AssertionError,
    np.linalg.LinAlgError,
)  # at a kink, or a matrix that is nearly singular
PROGRAMS = all_programs()
ACTIVE = [p for p in PROGRAMS if p.wrt and p.smooth]


@lru_cache(maxsize=None)
def others(program: Program) -> tuple[str, tuple]:
    """Other arguments that the program takes, of other sizes if it takes any, and what was changed."""
    for name in OTHERS:
        args = changed(program, name)
        if args is None or "size" in name and shapes(args) == shapes(program.args()):
            continue
        args = apart(args)
        try:
            if limited(lambda: outcome(program.fn, copied(args)), SECONDS, Endless)[1] is None:  # noqa: B023
                return name, args
        except Endless:
            continue
    return "", program.args()


def apart(args: tuple) -> tuple:
    """The arguments with elements that were repeated a little apart: at ties there is no derivative."""
    leaves, structure = flatten(args)
    moved = [
        v + (1e-3 * np.cos(np.arange(v.size))).reshape(v.shape).astype(v.dtype) if is_floats(v) else v for v in leaves
    ]
    return unflatten(structure, moved)


def shapes(args: tuple) -> list[tuple[int, ...]]:
    return [np.shape(leaf) for leaf in flatten(args)[0]]


def twice(f: Callable, count: int, turned: bool = False) -> Callable:
    """The function of two lists of arguments, of ``count`` each; ``turned``: the call with the second list comes first."""

    def both(*args):
        return f(*args[:count]), f(*args[count:])

    def other_order(*args):
        later = f(*args[count:])
        return f(*args[:count]), later

    return other_order if turned else both


def agrees(program: Program, make: Callable[[Callable], Callable], turned: bool) -> bool:
    """Whether it gives what Python gives; False where the other arguments are refused by themselves, too."""
    name, args = others(program)
    f = twice(program.fn, len(args), turned)
    wanted = f(*copied(program.args()), *copied(args))
    got, failed = outcome(make(f), (*program.args(), *copied(args)))
    if isinstance(failed, tp.TranspileError):
        alone = outcome(make(program.fn), copied(args))[1]
        assert isinstance(alone, tp.TranspileError), f"{name}: refused only where it runs twice: {failed}"
        return False
    assert failed is None, f"{name}: {failed!r}"
    for k, (a, b) in enumerate(zip(flatten(got)[0], flatten(wanted)[0])):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape and a.dtype.kind == b.dtype.kind, f"{name}, leaf {k}: {a!r}, expected {b!r}"
        single = is_single(a) or is_single(b) or name == "float32"
        same(a, b, f"{name}, leaf {k}", 1e-5 if single else 1e-9, 1e-6 if single else 1e-9)
    return True


def sampled(programs: list[Program], every: int) -> Any:
    marks = [() if k % every == every // 2 else (pytest.mark.slow,) for k in range(len(programs))]
    return pytest.mark.parametrize("program", [pytest.param(p, marks=m, id=p.name) for p, m in zip(programs, marks)])


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@sampled(PROGRAMS, 24)
def test_value(program):
    for turned in (False, True):
        agrees(program, lambda f: Transformed(f, Level()), turned)


def test_most_programs_take_other_sizes() -> None:
    """The test above compares what it says: most programs run at other sizes, few only at their own arguments."""
    found = [others(p)[0] for p in PROGRAMS[::24]]
    assert sum("size" in name or "counted" in name for name in found) > 0.6 * len(found)
    assert found.count("") < 0.05 * len(found)


@sampled(ACTIVE, 60)
def test_derivative(program):
    """Both calls differentiated, beside differences; where these are right for the other arguments alone."""
    name, args = others(program)
    wrt = (*program.wrt, *(k + len(args) for k in program.wrt))
    s = Subject(twice(program.fn, len(args)), lambda: (*program.args(), *copied(args)), wrt, program.tol)
    try:
        check(s)
    except Unstable:
        return  # the differences are no measure here
    except UNFIT as failed:
        try:
            check(Subject(program.fn, lambda: copied(args), program.wrt, program.tol))
        except UNFIT:
            return
        raise AssertionError(f"{name}: only where it runs twice") from failed


def check(s: Subject) -> None:
    check_vjp(s, tp.jvp, tp.vjp)
    check_jvp(s, tp.jvp)


@pytest.mark.numba
@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS[3::12], ids=lambda p: p.name)
def test_compiled(program):
    agrees(program, tp.jit, False)
