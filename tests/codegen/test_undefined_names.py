"""Names that may have no value where they are read: Python's value or UnboundLocalError, by every mode and target."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from fuzz.check import load
from names_made import CALLS, made
from raised_at import raised_at
from verified import verify

import transpile as tp
from transpile.analysis.undefined import Undefined
from transpile.driver.lifted_request import lift
from transpile.driver.request import Request
from transpile.simplify.placeholders import is_any, is_move, with_placeholders

STEP = 1e-5


def outcome(run):
    """What a call gives, or the class of what it raises."""
    try:
        return run()
    except tp.TranspileError as e:
        assert "internal" not in str(e)
        return "refused"
    except UnboundLocalError:
        return "unbound"
    except ValueError as e:
        if "do not agree" not in str(e):  # a loop carries arrays of one size
            raise
        return "refused"


def modes(f, compiled):
    """The value and both derivatives by each mode: name -> function of the arguments."""

    def value(x, n, m):
        return f(x, n, m)

    def jvp(x, n, m):
        return tp.jvp(f, (x, n, m), (1.0, 0, 0))[1]

    found = {"value": value, "jvp": jvp, "grad": tp.grad(f), "second": tp.grad(tp.grad(f))}
    return {name: tp.jit(g) for name, g in found.items()} if compiled else found


def close(a, b, tol):
    return abs(a - b) <= tol * (1.0 + abs(b))


def check(seed, folder: Path, compiled: bool = False) -> Counter:
    text = made(seed)
    f = load(text, f"names_{seed}", folder).program
    tally: Counter = Counter()
    for n, m in CALLS:
        points = [outcome(lambda x=x: f(x, n, m)) for x in (0.7, 0.7 + STEP, 0.7 - STEP)]
        wanted = {"value": points[0], "jvp": points[0], "grad": points[0], "second": points[0]}
        if "unbound" in points and points != ["unbound"] * 3:
            continue  # a jump
        if points[0] != "unbound":
            if not all(map(np.isfinite, points)):
                continue
            slope = (points[1] - points[2]) / (2 * STEP)
            curve = (points[1] - 2 * points[0] + points[2]) / STEP**2
            wanted = {"value": points[0], "jvp": slope, "grad": slope, "second": curve}
            if abs(curve) > 1e3 or abs(slope) > 1e3:
                continue  # a jump, or numbers that say little
        for mode, g in modes(f, compiled).items():
            found = outcome(lambda g=g: g(0.7, n, m))
            where = f"seed {seed}, {mode}{' compiled' * compiled}, n={n}, m={m}\n{text}"
            if found == "refused":
                tally["refused"] += 1
                continue
            if isinstance(found, str) or isinstance(wanted[mode], str):
                assert found == wanted[mode], f"{found}, not {wanted[mode]}: {where}"
            else:
                tol = {"value": 1e-12, "second": 1e-3}.get(mode, 1e-6)
                assert close(found, wanted[mode], tol), f"{found}, not {wanted[mode]}: {where}"
            tally["unbound" if found == "unbound" else "value"] += 1
    return tally


@pytest.mark.parametrize("seed", [3, 7])
def test_names_without_a_value(seed, tmp_path):
    assert check(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, 20))
def test_many_names_without_a_value(first, tmp_path):
    tally = sum((check(seed, tmp_path) for seed in range(first, first + 20)), Counter())
    assert tally["unbound"] and tally["value"] > 100, tally


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("first", range(210, 240, 10))
def test_compiled_names_without_a_value(first, tmp_path):
    assert sum((check(seed, tmp_path, compiled=True) for seed in range(first, first + 10)), Counter())["value"]


def lifted(target, *args):
    return verify(lift(Request.of(args, {}), target))


def late(x, n):
    total = 0.0
    for i in range(n):
        if i > 0:
            total += np.sin(p)  # noqa: F821
        if i < 5:
            p = x * total + i
    return total


def test_what_is_recorded_has_a_value():
    """A tape records what a trip begins with, on the first trip too."""
    core = lifted(tp.grad(late), 0.5, 3)
    assert not Undefined(core).reads(is_move)
    assert close(tp.grad(late)(0.5, 3), (late(0.5 + STEP, 3) - late(0.5 - STEP, 3)) / (2 * STEP), 1e-8)


def chosen(x, n):
    total = x
    for i in range(n):
        if total > 0.2 * i:
            p = np.sin(x) * total
        total += p * p
    return total


def test_compiled_code_reads_no_value_that_may_be_none():
    for target in (chosen, tp.grad(chosen), tp.grad(late)):
        core = with_placeholders(lifted(target, 0.5, 3), is_any)
        assert not Undefined(core).reads()
        verify(core)


def behind(x, n):
    if n > 1:
        p = np.sin(x)
    return p * x


def test_a_value_behind_its_check_is_defined():
    """Behind the check, and in a branch on the same flag, no zeros are needed."""
    core = lifted(behind, 0.5, 3)
    assert Undefined(core).maybe
    assert with_placeholders(core, is_any) is core


def held(c):
    total = 0.0
    for i in range(3):
        for j in range(4):
            t = 0.1 * j
            for _ in range(40):
                p = t * c
                if p > 2.0:
                    break
                t += np.exp(-t)
            total += np.sin(p) * i
    return total


def test_a_loop_that_has_a_trip_leaves_what_its_last_trip_set():
    """``p`` is not carried by the outer loops, and not recorded there."""
    text = tp.source(tp.grad(held), 0.7)
    assert "p_tape" not in text
    assert "p = " in text
    assert close(tp.grad(held)(0.7), (held(0.7 + STEP) - held(0.7 - STEP)) / (2 * STEP), 1e-7)


def removed(x, n):
    y = x * x
    total = 0.0
    for i in range(n):
        if i == 2:
            del y
        total += y
    return total


@pytest.mark.parametrize("wrap", [lambda g: g, pytest.param(tp.jit, marks=pytest.mark.numba)])
def test_a_name_that_is_deleted_has_no_value(wrap):
    g = wrap(tp.grad(removed))
    assert g(0.5, 2) == 2.0
    with pytest.raises(UnboundLocalError, match="'y'") as raised:
        g(0.5, 3)
    assert raised_at(raised.value).startswith("test_undefined_names.py:")


def removed_in_a_branch(x, n):
    y = x * x
    if n > 2:
        del y
    return y * x


def test_a_name_that_a_branch_deletes_has_no_value():
    g = tp.grad(removed_in_a_branch)
    assert g(0.5, 2) == 0.75
    with pytest.raises(UnboundLocalError):
        g(0.5, 3)
