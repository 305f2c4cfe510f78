"""The bits of a number: exponents, significands, signs, without a branch. See `runtime.compiled.vector_parts`."""

from llvmlite import ir

from runtime.compiled.vector_parts import Constant, Truth

_INTEGERS = {"float64": ir.IntType(64), "float32": ir.IntType(32)}
_MANTISSA = {"float64": 52, "float32": 23}
_BIAS = {"float64": 1023, "float32": 127}
_HALF_SQRT = {"float64": 0x3FE6A09E667F3BCD, "float32": 0x3F3504F3}  # the bits of sqrt(1/2)
# x + SHIFT - SHIFT is x rounded to an integer, and the low bits of x + SHIFT are that integer
SHIFT = Constant(1.5 * 2.0**52, 1.5 * 2.0**23)


def _one_bits(kind):
    return _BIAS[kind] << _MANTISSA[kind]


def _image(x):
    """The bits as an integer."""
    return x.builder.bitcast(x.value, _INTEGERS[x.kind])


def _from_bits(x, bits):
    return x.same(x.builder.bitcast(bits, x.value.type))


def _sign_mask(x):
    integer = _INTEGERS[x.kind]
    return integer(1 << (integer.width - 1))


def power_of_two(shifted):
    """``2**k`` of ``k + SHIFT``, for the exponents of normal numbers; the next one up is infinity."""
    integer, builder = _INTEGERS[shifted.kind], shifted.builder
    k = builder.shl(_image(shifted), integer(_MANTISSA[shifted.kind]))
    return _from_bits(shifted, builder.add(k, integer(_one_bits(shifted.kind))))


def flip_odd(x, shifted):
    """``x``, or ``-x`` where ``k`` is odd, of ``k + SHIFT``."""
    integer, builder = _INTEGERS[x.kind], x.builder
    sign = builder.shl(_image(shifted), integer(integer.width - 1))
    return _from_bits(x, builder.xor(_image(x), sign))


def is_odd(shifted):
    """Whether ``k`` is odd, of ``k + SHIFT``."""
    integer, builder = _INTEGERS[shifted.kind], shifted.builder
    return Truth(shifted, builder.icmp_unsigned("!=", builder.and_(_image(shifted), integer(1)), integer(0)))


def flip_sign(x, y):
    """``x``, or ``-x`` where the sign bit of ``y`` is set."""
    builder = x.builder
    return _from_bits(x, builder.xor(_image(x), builder.and_(_image(y), _sign_mask(y))))


def significand(x):
    """``m`` in [sqrt(1/2), sqrt(2)) and a whole ``k`` as a float, with ``x = m * 2**k``; of a positive normal ``x``."""
    kind, builder = x.kind, x.builder
    integer, width, low = _INTEGERS[kind], _MANTISSA[kind], _HALF_SQRT[kind]
    moved = builder.add(_image(x), integer(_one_bits(kind) - low))
    mantissa = builder.and_(moved, integer((1 << width) - 1))
    m = _from_bits(x, builder.add(mantissa, integer(low)))
    # the exponent becomes a float by the bits of 2**width, which every processor can do
    exponent = builder.or_(builder.lshr(moved, integer(width)), integer((_BIAS[kind] + width) << width))
    return m, _from_bits(x, exponent) - (2.0**width + _BIAS[kind])
