"""What is recorded of loops whose trips are nests: nothing where a trip can run again, the state where it carries one."""

from __future__ import annotations

import re

import numpy as np
import pytest
from corpus import all_programs

import transpile as tp

PROGRAMS = {p.name.split(".")[1]: p for p in all_programs()}


def tapes(name: str, transform=tp.grad) -> list[str]:
    """The statements of the gradient that make tapes."""
    program = PROGRAMS[name]
    text = tp.source(transform(program.fn, argnums=program.wrt), *program.args())
    return [
        line.split("#")[0].strip()
        for line in text.splitlines()
        if "_tape" in line and ("empty" in line or "[]" in line)
    ]


@pytest.mark.parametrize("name", ["sum_of_norms", "lennard_jones"])
def test_nothing_is_recorded_of_trips_that_carry_nothing(name):
    assert not tapes(name)


def test_a_value_that_is_wanted_too_records_no_more():
    assert not tapes("lennard_jones", tp.value_and_grad)


def test_a_trip_records_for_itself_only():
    assert tapes("k_means_cost") == ["is_less_tape = np.empty(n, dtype=bool)"]


def test_what_costs_a_loop_to_compute_is_recorded():
    assert tapes("cholesky_by_hand") == ["s_tape = []"]


def test_effects_are_not_repeated(capsys):
    def noisy(x):
        total = 0.0
        for i in range(x.shape[0]):
            square = 0.0
            for j in range(x.shape[1]):
                square += x[i, j] * x[i, j]
            print(i)
            total += np.sqrt(square)
        return total

    gradient = tp.grad(noisy)(np.array([[3.0, 4.0], [6.0, 8.0]]))
    assert capsys.readouterr().out == "0\n1\n"
    np.testing.assert_allclose(gradient, [[0.6, 0.8], [0.6, 0.8]])


def loops(name: str, transform) -> int:
    program = PROGRAMS[name]
    text = tp.source(transform(program.fn, argnums=program.wrt), *program.args())
    return len(re.findall(r"^ *for \w+ in .*:", text, re.MULTILINE))


@pytest.mark.parametrize("transform", [tp.grad, tp.value_and_grad])
def test_a_sum_runs_forward_and_backward_at_once(transform):
    assert loops("one_sum_over_two_loops", transform) == 3


def test_a_sum_whose_adjoint_is_known_later_runs_twice():
    assert loops("root_of_a_sum", tp.grad) == 2


def test_the_value_is_that_of_the_function_to_the_bit():
    for name in ("one_sum_over_two_loops", "lennard_jones", "sum_until", "sums_of_vectors"):
        program = PROGRAMS[name]
        value, _ = tp.value_and_grad(program.fn, argnums=program.wrt)(*program.args())
        assert value == program.fn(*program.args())
