"""Kernels with loops and in-place writes, of the family of PolyBench and NPBench, from the published definitions.

Each function returns the sum of its outputs as one number. Where the algorithm writes into its inputs, the function copies them
first, so that it can be called again.
"""

from __future__ import annotations

from bench.kernels2 import factorisations, flow, networks, particles, products, stencils, sweeps, tables, triangular
from bench.kernels2.kernel import kernels_of

KERNELS = kernels_of(products, triangular, factorisations, tables, stencils, sweeps, flow, particles, networks)
PROBLEMS = tuple(kernel.problem() for kernel in KERNELS)
