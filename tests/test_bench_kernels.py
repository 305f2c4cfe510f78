"""The kernels of the benchmark at tiny sizes: gradients against differences, compiled against interpreted, JAX against ours."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from bench.kernels2 import KERNELS, PROBLEMS
from bench.kernels2.kernel import Kernel
from differences import Subject, check_against_differences, check_value, copied, same, same_tree
from loop_text import Loops

import transpile as tp
from transpile.core import nodes as ir
from transpile.core.walk import blocks
from transpile.driver.backend import Options, lowered

SAMPLE = ("cholesky", "fdtd_2d", "shallow_water", "spmv")  # compiled in `make test`; the others in `make test-all`
DIRECTIONS = 2

each = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)


@lru_cache(maxsize=None)
def interpreted(kernel: Kernel) -> tuple[float, tuple]:
    """Value and gradient, a tuple with one array for each float argument."""
    args = kernel.tiny_args()
    before = copied(args)
    value, gradient = tp.value_and_grad(kernel.fn, argnums=kernel.wrt)(*args)
    for k, (a, b) in enumerate(zip(args, before)):
        assert np.array_equal(a, b), f"argument {k} was changed"
    return value, gradient


@each
def test_gradient_against_differences(kernel):
    value, gradient = interpreted(kernel)
    for seed in range(DIRECTIONS):
        subject = Subject(kernel.fn, kernel.tiny_args, kernel.wrt, seed=1000 * seed)
        check_value(subject, value, kernel.name)
        along = sum(np.sum(g * subject.tangents[k]) for g, k in zip(gradient, kernel.wrt))
        check_against_differences([along], value, subject.difference, kernel.name, 1e-7)


@pytest.mark.parametrize(
    "kernel",
    [
        pytest.param(
            k, id=k.name, marks=[pytest.mark.numba] if k.name in SAMPLE else [pytest.mark.numba, pytest.mark.slow]
        )
        for k in KERNELS
    ],
)
@pytest.mark.sampled(2)
def test_compiled_against_interpreted(kernel):
    args = kernel.tiny_args()
    value, gradient = tp.jit(tp.value_and_grad(kernel.fn, argnums=kernel.wrt))(*args)
    same_tree((value, gradient), interpreted(kernel), kernel.name, 1e-10)
    same_tree(tp.jit(kernel.fn)(*args), interpreted(kernel)[0], kernel.name, 1e-10)


def asked_in_loops(block, depth=0):
    """The checks of integers that are made in every trip of some loop."""
    for stmt in block.stmts:
        if depth and isinstance(stmt, ir.Check):
            yield stmt
        for inner in blocks(stmt):
            yield from asked_in_loops(inner, depth + isinstance(stmt, (ir.For, ir.While)))


@pytest.mark.parametrize(
    "kernel", [pytest.param(k, id=k.name, marks=[] if k.name in SAMPLE else [pytest.mark.slow]) for k in KERNELS]
)
def test_sizes_and_indices_are_known_to_fit(kernel):
    for fn in (kernel.fn, tp.value_and_grad(kernel.fn, argnums=kernel.wrt)):
        loops = Loops(fn, kernel.tiny_args())
        found = [s for one in lowered(loops.core, Options()) for s in asked_in_loops(one.body)]
        assert not found, found[0]


@pytest.mark.slow
@each
def test_jax_computes_the_same(kernel):
    jax = pytest.importorskip("jax")
    function = kernel.jax_function()  # first: it makes JAX compute in float64
    args = [jax.numpy.asarray(a) if isinstance(a, np.ndarray) else a for a in kernel.tiny_args()]
    wanted, ours = interpreted(kernel)
    same(function(*args), wanted, f"{kernel.name}, function", 1e-10)
    if "jax" in kernel.refused:
        return
    value, gradient = kernel.jax()(*args)
    same(value, wanted, f"{kernel.name}, value", 1e-10)
    largest = max(float(np.max(np.abs(g))) for g in ours)
    for k, theirs, g in zip(kernel.wrt, gradient, ours):
        same(theirs, g, f"{kernel.name}, argument {k}", 1e-9, floor=1e-3 * largest)


def test_every_kernel_is_a_problem():
    """Names are unique, all float arguments are differentiated, and arguments are the same on every call."""
    assert len({p.name for p in PROBLEMS}) == len(PROBLEMS) == len(KERNELS) >= 44
    for kernel in KERNELS:
        args = kernel.tiny_args()
        floats = [k for k, a in enumerate(args) if isinstance(a, float) or getattr(a, "dtype", None) == np.float64]
        assert kernel.wrt == tuple(floats), kernel.name
        for a, b in zip(args, kernel.tiny_args()):
            assert np.array_equal(a, b), kernel.name
