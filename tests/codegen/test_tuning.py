"""What the vectoriser is told of the processor beside its features."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target

import transpile as tp
from transpile.codegen.llvm.llvm_library import _tuned
from transpile_runtime.compiled.machine import tuning

pytestmark = pytest.mark.numba


def sweeps(u, n):
    """Alternating directions, whose second half goes along columns (the kernel ``adi`` of PolyBench)."""
    v, p, q = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    for _ in range(n):
        v[0], q[:, 0] = 1.0, v[0]
        for j in range(1, u.shape[0] - 1):
            p[1:-1, j] = 0.3 / (1.7 - 0.3 * p[1:-1, j - 1])
            q[1:-1, j] = u[j, 1:-1] - 0.3 * u[j, :-2] + 0.3 * q[1:-1, j - 1] / (1.7 - 0.3 * p[1:-1, j - 1])
        for j in range(u.shape[0] - 2, -1, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u = u + 0.1 * v
    return u


@pytest.mark.parametrize(
    ("name", "features", "is_told"),
    [
        ("znver4", "+sse2,+avx512f", True),
        ("znver5", "+avx512f,+fma", True),
        ("znver3", "+avx2", False),
        ("sapphirerapids", "+avx512f", False),
        ("generic", "", False),
    ],
)
def test_which_processors(name, features, is_told):
    assert bool(tuning(name, features)) is is_told


def test_machine_code_without_vectors_of_addresses(monkeypatch):
    """Of a processor that is concerned; of others what makes the passes is Numba's own."""
    codegen = cpu_target.target_context.codegen()
    told = tuning(codegen._get_host_cpu_name(), codegen._tm_features)
    assert (_tuned(codegen) is codegen) == (not told)
    if not told:
        pytest.skip("of this processor nothing more is told")
    found, taken = [], JITCodeLibrary.get_pointer_to_function

    def get_pointer_to_function(library, name):
        found.append(library)
        return taken(library, name)

    monkeypatch.setattr(JITCodeLibrary, "get_pointer_to_function", get_pointer_to_function)
    u = np.random.default_rng(0).normal(size=(40, 40))
    np.testing.assert_allclose(tp.jit(sweeps, cache=False)(u, 2), sweeps(u, 2), rtol=1e-12)
    text = "".join(library.get_asm_str() for library in found)
    assert "mulpd" in text and "gather" not in text and "scatter" not in text
