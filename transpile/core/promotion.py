"""The types to which elementwise primitives convert their operands, by the dtype rule in the primitive's record."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from transpile.core.types import INT, Type, promote


def _truths(types: Sequence[Type]) -> list[Type]:
    return [promote(*types)] * len(types)


def _arith(types: Sequence[Type]) -> list[Type]:
    """The common promoted type for each operand; int64 for Python booleans alone."""
    common = promote(*types)
    return [INT if common.dtype == "bool" and common.weak else common] * len(types)


def _compare(types: Sequence[Type]) -> list[Type]:
    """The types of the operands of a comparison: those of `_arith`, but int64 if one is a Python integer and the common type is
    a NumPy integer other than uint64."""
    ready = _arith(types)
    if any(t.weak and t.is_int for t in types) and ready[0].is_int and ready[0].dtype != "uint64" and not ready[0].weak:
        return [Type("int64")] * len(types)
    return ready


def _int8(types: Sequence[Type]) -> list[Type]:
    """The types of `_arith`, with int8 in place of NumPy's bool."""
    ready = _arith(types)
    return [Type("int8") if t.dtype == "bool" else t for t in ready]


_FLOAT_OF = {"bool": "float16", "int8": "float16", "uint8": "float16", "int16": "float32", "uint16": "float32"}


def _float(types: Sequence[Type]) -> list[Type]:
    """A float type for all operands: their common one, or, for integers and booleans, the smallest that NumPy's ufuncs take for
    them."""
    common = promote(*types)
    if not common.is_float:
        known = [_FLOAT_OF.get(t.dtype, "float64") for t in types if not t.weak]
        if common.is_int and all(t.weak or t.is_bool for t in types):
            known = []  # a Python int beside booleans is an int64
        common = Type(np.result_type(*known).name if known else "float64", (), common.weak)
    return [common] * len(types)


def _div(types: Sequence[Type]) -> list[Type]:
    """The common float type for all operands; float64 if they are integers or booleans."""
    common = promote(*types)
    return [common if common.is_float else Type("float64", (), common.weak)] * len(types)


def _special(types: Sequence[Type]) -> list[Type]:
    """The type for all operands of a SciPy ufunc whose first loop is for float64: float32 only if all operands are float32."""
    common = promote(*types)
    single = all(t.dtype == "float32" and not t.weak for t in types)
    return [common if single else Type("float64", (), common.weak)] * len(types)


def _special_single(types: Sequence[Type]) -> list[Type]:
    """The type for all operands of a SciPy ufunc whose first loop is for float32: float32 if their common type fits it, else
    float64."""
    common = promote(*types)
    single = common.dtype in ("float16", "float32", "bool", "int8", "uint8", "int16", "uint16") and not common.weak
    return [Type("float32") if single else Type("float64", (), common.weak)] * len(types)


def _logical(types: Sequence[Type]) -> list[Type]:
    return [Type("bool", (), t.weak) for t in types]


def _where(types: Sequence[Type]) -> list[Type]:
    """Bool for the test, and the common promoted type for the other two operands."""
    return [Type("bool", (), types[0].weak), *([promote(*types[1:])] * 2)]


def _as_is(types: Sequence[Type]) -> list[Type]:
    return list(types)


OPERAND_TYPES: dict[str, Callable[[Sequence[Type]], list[Type]]] = {
    "truths": _truths,  # NumPy's promotion
    "arith": _arith,  # NumPy's promotion, but Python booleans count as integers
    "int8": _int8,  # like arith, but NumPy booleans become int8 (np.square(True))
    "float": _float,  # integers become floats, narrow integers narrow floats (np.exp)
    "div": _div,  # integers become float64 (true division)
    "special": _special,  # scipy.special, most functions
    "special_single": _special_single,  # scipy.special, functions that prefer float32
    "compare": _compare,  # operands are promoted, the result is bool
    "logical": _logical,  # operands become bool
    "where": _where,  # the first becomes bool, the others are promoted
    "as_is": _as_is,  # no promotion (cast, isnan)
}
