"""The options of every njit function of this package."""

from numba import njit as _njit

from runtime.compiled.cache import keep

NAN_SAFE = {"contract"}  # no reassociation: these functions are exact about NaN, zeros and rounding


def njit(function):
    """Compiles lazily for each signature; the caller's flags do not reach in."""
    return keep(_njit(error_model="numpy", fastmath=NAN_SAFE)(function))


def exact(function):
    """As `njit`, without contraction: for what computes rounding errors."""
    return keep(_njit(error_model="numpy", fastmath=False)(function))
