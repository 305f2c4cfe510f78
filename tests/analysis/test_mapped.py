"""What the analysis says is the same in all lanes is: results, when one argument changes and the others do not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from corpus import all_programs
from fuzz.check import limited

import transpile as tp
from transpile.aggregates import flatten, leaf_numbers, walk_leaves
from transpile.analysis.mapped import Mapped
from transpile.analysis.summaries import Called
from transpile.driver.lifted_request import lift
from transpile.driver.request import Request

PROGRAMS = {p.name: p for p in all_programs()}


class TooLong(BaseException):
    pass


def core_and_request(fn, args):
    request = Request.of(args, {})
    return lift(request, fn), request


def is_float(a):
    return isinstance(a, float) or (isinstance(a, np.ndarray) and a.dtype.kind == "f")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(8)
def test_results_that_are_not_mapped_stay(name):
    program = PROGRAMS[name]
    core, request = core_and_request(program.fn, program.args())
    usual = flatten(program.fn(*program.args()))[0]
    for spec, k in zip(core.arg_tree, range(len(program.args()))):
        numbers = list(leaf_numbers(spec.tree))
        if not is_float(program.args()[k]) or len(numbers) != 1:
            continue
        mapped = Mapped(core, [core.params[numbers[0]]], Called())
        alike = [leaf.k for leaf in walk_leaves(core.out_tree) if not mapped.has(core.body.yields[leaf.k])]
        sizes = [leaf.k for leaf in walk_leaves(core.out_tree) if not mapped.has_size(core.body.yields[leaf.k].type)]
        for factor in (0.7, 1.4):
            args = list(program.args())
            args[k] = args[k] * factor
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    found = flatten(limited(lambda args=args: program.fn(*args), 2, TooLong))[0]
                except (Exception, TooLong):  # it may have no end for other numbers
                    continue
            if len(found) != len(usual):
                assert not alike
                continue
            for number in alike:
                np.testing.assert_array_equal(found[number], usual[number])
            for number in sizes:
                assert np.shape(found[number]) == np.shape(usual[number])


def of_data(x, w, mask, idx, k):
    n = 0
    y = x[0]
    while y > 0.1:
        y = y * 0.5
        n += 1
    kept = w[mask]
    taken = w[idx]
    part = w[:k]
    return n, kept, taken, part, np.sum(w), len(kept), len(taken)


WANTED = {  # the results that differ, and those whose size does, by what is mapped
    "x": ([0], []),
    "w": ([1, 2, 3, 4], []),
    "mask": ([1, 5], [1]),
    "idx": ([2], []),
    "k": ([3], [3]),
}


@pytest.mark.parametrize("name", WANTED)
def test_data_control_and_sizes(name):
    args = np.ones(3), np.arange(4.0), np.array([True, False, True, False]), np.array([0, 2]), 2
    core, _ = core_and_request(of_data, args)
    mapped = Mapped(core, [p for p in core.params if p.name == name], Called())
    values = [k for k, y in enumerate(core.body.yields) if mapped.has(y)]
    sizes = [k for k, y in enumerate(core.body.yields) if mapped.has_size(y.type)]
    assert (values, sizes) == WANTED[name]


def test_the_gradient_of_a_branch():
    """A value that one side defines is another in each lane, where the test is."""

    def f(x, w):
        return np.sum(x * w) if x[0] > 0 else np.sum(w * w)

    core, _ = core_and_request(tp.grad(f, argnums=1), (np.ones(3), np.ones(3)))
    assert Mapped(core, [core.params[0]], Called()).has(*core.body.yields)
    assert Mapped(core, [core.params[1]], Called()).has(*core.body.yields)
    assert not Mapped(core, [], Called()).has(*core.body.yields)


def written_under(x, w, n):
    y, z, t = np.zeros(2), w.copy(), np.zeros(3)
    if x[0] > 0.0:
        y[0] = 1.0
    k = 0
    while k < 5:
        if w[1] > 0.0:
            z[0] = 2.0
        k += 1
    for _ in range(n):
        t[1] = 3.0
    return y, z, t


@pytest.mark.parametrize("name, wanted", [("x", [0]), ("w", [1]), ("n", [2])])
def test_memory_that_is_written_where_lanes_part(name, wanted):
    core, _ = core_and_request(written_under, (np.ones(2), np.ones(2), 2))
    mapped = Mapped(core, [p for p in core.params if p.name == name], Called())
    assert [k for k, y in enumerate(core.body.yields) if mapped.has(y)] == wanted
