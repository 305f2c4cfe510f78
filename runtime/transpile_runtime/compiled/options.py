"""The decorators of this package's njit functions, and their options."""

from numba import njit as _njit

from transpile_runtime.compiled.cache import keep
from transpile_runtime.compiled.tidy import OPTIONS

NAN_SAFE = {"contract"}  # no reassociation: these functions are exact about NaN, zeros and rounding
FAST = {"contract", "reassoc"}  # for sums in any order


def njit(function):
    """The function compiled by Numba, lazily for each signature, with a disk cache; the caller's flags do not apply."""
    return keep(_njit(**OPTIONS, error_model="numpy", fastmath=NAN_SAFE)(function))


def exact(function):
    """As `njit`, but no product and sum are rounded together, for functions that compute rounding errors."""
    return keep(_njit(**OPTIONS, error_model="numpy", fastmath=False)(function))


BARE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # less to compile: never called from Python


def inner(function):
    """As `njit`, for a function that only compiled code calls: it has no wrapper for Python."""
    return keep(_njit(**OPTIONS, error_model="numpy", fastmath=NAN_SAFE, **BARE)(function))


def fast(function):
    """As `inner`, but LLVM may reorder sums."""
    return keep(_njit(**OPTIONS, error_model="numpy", fastmath=FAST, **BARE)(function))
