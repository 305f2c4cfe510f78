"""Properties of the processor, and options of LLVM that Numba does not set."""

import platform
from contextlib import contextmanager
from functools import lru_cache

from llvmlite import binding
from numba.core import config

TRIED = (22,)  # an LLVM without these options would terminate the process


def constants_before_loops():
    """A context in which constants are loaded before the outermost loop, even if only an inner loop needs them.

    LLVM does not load before a loop a constant that an iteration may not need, and in a nest it considers only the outermost
    loop: the twenty constants of an exponential were loaded in each iteration, a quarter to a half of its time in a loop over
    rows.
    """
    return _with_option("avoid-speculation", "false", "true")


def addresses_as_written():
    """A context in which LLVM does not search for the cheapest way to compute the addresses in a loop.

    Of 62 kernels some are a tenth faster with it and some slower; a tenth of the compile time is too much for a large function.
    """
    return _with_option("disable-lsr", "true", "false")


def tuning(name, features):
    """The text of additional features for LLVM's vectoriser, for a processor of this name; "" for none.

    AMD's processors gather and scatter the elements of a vector no faster than one by one: GCC's tables disable these
    instructions for them (``x86-tune.def``, ``USE_GATHER``, ``USE_SCATTER``), LLVM's do not for 512-bit vectors. Without them a
    sweep along columns takes 0.65 of the time, a Cholesky factor of each lane 0.74, others that have them 0.87 to 1.03.
    """
    is_concerned = name.startswith("znver") and "+avx512f" in features.split(",")
    return "+prefer-no-gather,+prefer-no-scatter" if is_concerned and binding.llvm_version_info[0] >= 18 else ""


@contextmanager
def _with_option(name, value, usual):
    """A context in which LLVM's option ``name`` has the value ``value``, after which it has the ``usual`` one; nothing is set
    for a version of LLVM that was not tried."""
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
    """True if the processor for which Numba compiles has a fused multiply-add; elsewhere it is a call of the C library. Always
    True for other processors than x86-64."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return True
    if config.CPU_FEATURES is not None:
        return "+fma" in config.CPU_FEATURES.split(",")
    return config.CPU_NAME != "generic" and bool(binding.get_host_cpu_features().get("fma"))
