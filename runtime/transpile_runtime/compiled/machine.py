"""The processor, and what LLVM is told about machine code beyond what Numba tells it."""

import platform
from contextlib import contextmanager
from functools import lru_cache

from llvmlite import binding
from numba.core import config

TRIED = (22,)  # an LLVM without the options would end the process


def constants_before_loops():
    """While this holds, constants are loaded before the outermost loop, also those that only an inner loop needs.

    LLVM does not load before a loop what a trip may not need, and of nested loops it only considers the outermost: the twenty
    constants of an exponential were loaded again in each trip, a quarter to a half of its time in a loop over rows.
    """
    return _with_option("avoid-speculation", "false", "true")


def addresses_as_written():
    """While this holds, LLVM does not look for the cheapest ways to compute the addresses of a loop.

    Of 62 kernels some are a tenth faster so and some slower; what it takes of the time to compile them, a tenth, is not worth
    while for a large function.
    """
    return _with_option("disable-lsr", "true", "false")


def tuning(name, features):
    """What the vectoriser is told beside the features of a processor of this name.

    AMD's read and write the elements of a vector at many addresses no faster than one by one: GCC's tables have these instructions
    off for them (``x86-tune.def``, ``USE_GATHER``, ``USE_SCATTER``), LLVM's do not where there are vectors of 512 bits. A sweep
    along columns takes 0.65 of the time without them, a Cholesky factor of each lane 0.74, others that have them 0.87 to 1.03.
    """
    is_concerned = name.startswith("znver") and "+avx512f" in features.split(",")
    return "+prefer-no-gather,+prefer-no-scatter" if is_concerned and binding.llvm_version_info[0] >= 18 else ""


@contextmanager
def _with_option(name, value, usual):
    """An option of the process, for as long as this holds."""
    if binding.llvm_version_info[0] not in TRIED:
        yield
        return
    binding.set_option("runtime", f"--{name}={value}")
    try:
        yield
    finally:
        binding.set_option("runtime", f"--{name}={usual}")


@lru_cache(maxsize=1)
def has_fused():
    """Whether the processor that Numba compiles for multiplies and adds in one step; elsewhere that is a call of the C library."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return True
    if config.CPU_FEATURES is not None:
        return "+fma" in config.CPU_FEATURES.split(",")
    return config.CPU_NAME != "generic" and bool(binding.get_host_cpu_features().get("fma"))
