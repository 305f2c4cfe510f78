"""The options of every njit function of this package."""

from numba import njit as _njit

from transpile_runtime.compiled.cache import keep
from transpile_runtime.compiled.tidy import OPTIONS

NAN_SAFE = {"contract"}  # no reassociation: these functions are exact about NaN, zeros and rounding
FAST = {"contract", "reassoc"}  # for sums that may be added up in any order


def njit(function):
    """Compiles lazily for each signature; the caller's flags do not reach in."""
    return keep(_njit(**OPTIONS, error_model="numpy", fastmath=NAN_SAFE)(function))


def exact(function):
    """As `njit`, without contraction: for what computes rounding errors."""
    return keep(_njit(**OPTIONS, error_model="numpy", fastmath=False)(function))


BARE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # less to compile: nobody calls it from Python


def inner(function):
    """As `njit`, for a function that only compiled code calls."""
    return keep(_njit(**OPTIONS, error_model="numpy", fastmath=NAN_SAFE, **BARE)(function))


def fast(function):
    """As `inner`, with sums that LLVM may add up in any order."""
    return keep(_njit(**OPTIONS, error_model="numpy", fastmath=FAST, **BARE)(function))
