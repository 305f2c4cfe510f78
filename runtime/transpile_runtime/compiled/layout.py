"""The memory layout of arrays: tests that the type does not answer, and views of the same memory under another type."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from transpile_runtime.compiled.options import inner


def _question(axis):
    """The intrinsic that tests whether the elements of a matrix along ``axis`` are contiguous, as they are also if its size is
    1."""

    @intrinsic
    def question(context, a):
        def generate(context, builder, signature, args):
            array = context.make_array(a)(context, builder, args[0])
            strides, shape = (_items(builder, part) for part in (array.strides, array.shape))
            close = builder.icmp_signed("==", strides[axis], array.itemsize)
            return builder.or_(close, builder.icmp_signed("==", shape[axis], shape[axis].type(1)))

        return types.boolean(a), generate

    return question


has_columns, has_rows = _question(0), _question(1)


@intrinsic
def in_rows(context, a):
    """The memory of an array whose last axis is contiguous, as a C-contiguous array, not copied.

    The rows of a matrix then include the gaps between the original rows.
    """
    result = types.Array(a.dtype, a.ndim, "C")

    def generate(context, builder, signature, args):
        source = context.make_array(a)(context, builder, args[0])
        made = context.make_array(result)(context, builder)
        shape, strides = (_items(builder, part) for part in (source.shape, source.strides))
        if a.ndim == 2:
            shape[1] = builder.sdiv(strides[0], source.itemsize)
        strides[-1] = source.itemsize
        made.shape, made.strides = (_packed(builder, part) for part in (shape, strides))
        for name in ("data", "itemsize", "nitems", "meminfo", "parent"):
            setattr(made, name, getattr(source, name))
        context.nrt.incref(builder, a, args[0])
        return made._getvalue()

    return result(a), generate


def _items(builder, array):
    return [builder.extract_value(array, k) for k in range(array.type.count)]


def _packed(builder, items):
    found = ir.Constant(ir.ArrayType(items[0].type, len(items)), ir.Undefined)
    for k, item in enumerate(items):
        found = builder.insert_value(found, item, k)
    return found


_WHOLE = 2**14  # elements of a matrix that stays in the cache while it is transposed


@inner
def put_turned(columns, out):
    """Fills ``out`` with the transpose of ``columns``, which may be larger: as many rows and columns as ``out`` has."""
    m, n = out.shape
    if m * n <= _WHOLE or columns.strides[0] < columns.strides[1]:
        for i in range(m):
            for j in range(n):
                out[i, j] = columns[j, i]
        return
    for low in range(0, m, 8):  # a few rows at a time, so that the cache lines read are still cached
        high = min(low + 8, m)
        for j in range(n):
            for i in range(low, high):
                out[i, j] = columns[j, i]


@inner
def turned(a):
    """A copy of the transpose of ``a``: the columns one after another, as in LAPACK."""
    found = np.empty((a.shape[1], a.shape[0]), a.dtype)
    put_turned(a, found)
    return found
