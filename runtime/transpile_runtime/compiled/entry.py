"""Tests of a kernel's arguments at its entry."""

from numba import types
from numba.extending import intrinsic

from transpile_runtime.compiled.options import njit


@intrinsic
def address(context, x):
    """The address of an array's data, as an integer."""

    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.intp))

    return types.intp(x), generate


@njit
def share(x, y):
    """True if two C-contiguous arrays overlap in memory; never for an empty one."""
    if x.size == 0 or y.size == 0:
        return False
    a, b = address(x), address(y)
    return a < b + y.size * y.itemsize and b < a + x.size * x.itemsize
