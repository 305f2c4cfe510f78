"""What LLVM is told about machine code beyond what Numba tells it."""

from contextlib import contextmanager

from llvmlite import binding

TRIED = (22,)  # an LLVM without the option would end the process


@contextmanager
def constants_before_loops():
    """While this holds, constants are loaded before the outermost loop, also those that only an inner loop needs.

    LLVM does not load before a loop what a trip may not need, and of nested loops it only considers the outermost: the twenty
    constants of an exponential were loaded again in each trip, a quarter to a half of its time in a loop over rows.
    """
    if binding.llvm_version_info[0] not in TRIED:
        yield
        return
    binding.set_option("runtime", "--avoid-speculation=false")
    try:
        yield
    finally:
        binding.set_option("runtime", "--avoid-speculation=true")
