"""One core, one thread, float64: set before NumPy, JAX or PyTorch is imported. Also the machine and versions of the results."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
PACKAGES = ("numpy", "scipy", "numba", "jax", "torch")
VECTORS = (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("avx", "AVX"), ("asimd", "NEON"))


def pin() -> None:
    """Pins this process and its children to one core, with one thread in each library."""
    for name in THREADS:
        os.environ[name] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    os.environ["JAX_ENABLE_X64"] = "1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    if hasattr(os, "sched_setaffinity"):  # not on macOS
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def processor() -> str:
    """The processor's name and its widest vectors, as the system reports them."""
    found = {"model name": platform.processor() or platform.machine(), "flags": ""}
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            found[name.strip()] = value.strip()
    flags = (found["flags"] or found.get("Features", "")).split()
    widest = next((shown for flag, shown in VECTORS if flag in flags), "")
    return ", ".join(filter(None, (found["model name"], widest)))


def versions() -> str:
    """The versions of Python and of the packages, or that one is not installed."""
    parts = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            parts.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            parts.append(f"{name} not installed")
    return ", ".join(parts)


def measured_on() -> str:
    return f"{processor()}; one core; {versions()}"
