"""What a kernel asks of its arguments before it does anything."""

from numba import types
from numba.extending import intrinsic

from transpile_runtime.compiled.options import njit


@intrinsic
def address(context, x):
    """Where the data of an array begin."""

    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.intp))

    return types.intp(x), generate


@njit
def share(x, y):
    """Whether two arrays in C order have memory in common."""
    if x.size == 0 or y.size == 0:
        return False
    a, b = address(x), address(y)
    return a < b + y.size * y.itemsize and b < a + x.size * x.itemsize
