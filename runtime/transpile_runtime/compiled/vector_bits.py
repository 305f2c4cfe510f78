"""The bits of a number: exponents, significands, signs, without branches. See `transpile_runtime.compiled.vector_parts`."""

from llvmlite import ir

from transpile_runtime.compiled.vector_parts import Constant, Truth, beside, magnitude

_INTEGERS = {"float64": ir.IntType(64), "float32": ir.IntType(32)}
_MANTISSA = {"float64": 52, "float32": 23}
_BIAS = {"float64": 1023, "float32": 127}
_HALF_SQRT = {"float64": 0x3FE6A09E667F3BCD, "float32": 0x3F3504F3}  # the bits of sqrt(1/2)
# x + SHIFT - SHIFT is x rounded to an integer, and the low bits of x + SHIFT are that integer
SHIFT = Constant(1.5 * 2.0**52, 1.5 * 2.0**23)
# … that integer plus the bias of an exponent, or plus twice the bias
POWER_SHIFT = Constant(1.5 * 2.0**52 + 1023, 1.5 * 2.0**23 + 127)
FACTORS_SHIFT = Constant(1.5 * 2.0**52 + 2046, 1.5 * 2.0**23 + 254)


def _image(x):
    """The bits of a `Number` as an LLVM integer."""
    return x.builder.bitcast(x.value, _INTEGERS[x.kind])


def _from_bits(x, bits):
    return x.same(x.builder.bitcast(bits, x.value.type))


def _sign_mask(x):
    integer = _INTEGERS[x.kind]
    return integer(1 << (integer.width - 1))


def power_of_two(shifted):
    """``2**k`` from ``shifted``, which is ``k + POWER_SHIFT``, for the exponents of normal numbers; infinity for the next
    larger one."""
    return _from_bits(shifted, _as_exponent(shifted, _image(shifted)))


def factors_of_power(shifted):
    """Two numbers whose product is ``2**k``, from ``shifted``, which is ``k + FACTORS_SHIFT``, even if ``2**k`` is not a normal
    number."""
    bits = _image(shifted)
    half = shifted.builder.lshr(bits, _INTEGERS[shifted.kind](1))
    other = shifted.builder.sub(bits, half)
    return tuple(_from_bits(shifted, _as_exponent(shifted, part)) for part in (half, other))


def power_over_power(shifted):
    """Two numbers whose quotient, the first by the second, is ``2**-k``, from ``shifted``, which is ``k + FACTORS_SHIFT``."""
    integer, builder = _INTEGERS[shifted.kind], shifted.builder
    bits = _image(shifted)
    half = builder.lshr(bits, integer(1))
    above = builder.sub(builder.add(half, integer(2 * _BIAS[shifted.kind])), bits)
    return tuple(_from_bits(shifted, _as_exponent(shifted, part)) for part in (above, half))


def _as_exponent(number, bits):
    return number.builder.shl(bits, _INTEGERS[number.kind](_MANTISSA[number.kind]))


def flip_odd(x, shifted):
    """``x``, or ``-x`` if ``k`` is odd, from ``shifted``, which is ``k + SHIFT``."""
    integer, builder = _INTEGERS[x.kind], x.builder
    sign = builder.shl(_image(shifted), integer(integer.width - 1))
    return _from_bits(x, builder.xor(_image(x), sign))


def has_sign(x):
    """A `Truth`: the sign bit of ``x`` is set, as for -0."""
    return Truth(x, x.builder.icmp_signed("<", _image(x), _INTEGERS[x.kind](0)))


def is_odd(shifted):
    """A `Truth`: ``k`` is odd, from ``shifted``, which is ``k + SHIFT``."""
    integer, builder = _INTEGERS[shifted.kind], shifted.builder
    return Truth(shifted, builder.icmp_unsigned("!=", builder.and_(_image(shifted), integer(1)), integer(0)))


def flip_sign(x, y):
    """``x``, or ``-x`` if the sign bit of ``y`` is set."""
    builder = x.builder
    return _from_bits(x, builder.xor(_image(x), builder.and_(_image(y), _sign_mask(y))))


# subtracted by `significand` from the bits of an exponent read as a float
EXPONENT_ZERO = Constant(2.0**52 + 1023, 2.0**23 + 127)


def exponent(x):
    """The exponent ``k``, as a float, of a positive normal number in ``[2**k, 2**(k + 1))``."""
    return _exponent(x, _image(x), EXPONENT_ZERO)


def _exponent(x, bits, zero):
    """The exponent in the LLVM integer ``bits``, as a float, minus the difference of ``zero`` from `EXPONENT_ZERO`.

    It is converted by the bits of 2**width, which every processor can do.
    """
    kind, builder = x.kind, x.builder
    integer, width = _INTEGERS[kind], _MANTISSA[kind]
    return (
        _from_bits(x, builder.or_(builder.lshr(bits, integer(width)), integer((_BIAS[kind] + width) << width))) - zero
    )


def significand(x, zero=EXPONENT_ZERO):
    """``(m, k)`` with ``x = m * 2**k``, for a positive normal ``x``: ``m`` in [sqrt(1/2), sqrt(2)), and ``k``, an integer, as a
    float.

    A ``zero`` that is larger than `EXPONENT_ZERO` makes ``k`` smaller by the difference.
    """
    kind, builder = x.kind, x.builder
    integer, width, low = _INTEGERS[kind], _MANTISSA[kind], _HALF_SQRT[kind]
    moved = builder.add(_image(x), integer((_BIAS[kind] << width) - low))
    mantissa = builder.and_(moved, integer((1 << width) - 1))
    return _from_bits(x, builder.add(mantissa, integer(low))), _exponent(x, moved, zero)


# ------------------------------------------------------------------------------------------------ what a loop tests
#
# Test bits: the two highest are clear if a number is inside the domain in which a function is right. Those of several numbers
# are joined by `or`, one instruction for a vector; for booleans LLVM needs four. They are stored as a number of the same type,
# so that a vector holds as many of them.


def joined(a, b):
    """The test bits that say "inside" only if both ``a`` and ``b``, test bits, do."""
    return _from_bits(a, a.builder.or_(_image(a), _image(b)))


def all_inside(a):
    """A `Truth`: the test bits, possibly joined ones, say that the function is right for all their numbers."""
    bits = _image(a)
    return Truth(a, a.builder.icmp_unsigned("<", bits, bits.type(1 << (bits.type.width - 2))))


def by_sign(x, bits):
    """The test bits for an LLVM integer ``bits`` that is negative if ``x`` is outside."""
    return _from_bits(x, x.builder.lshr(bits, bits.type(1)))


def outside_range(x, low):
    """Test bits: ``x`` is outside the half of all positive normal numbers that begins at ``low``, a power of two."""
    return _from_bits(x, x.builder.sub(_image(x), _image(beside(x, low))))


def above(x, limit):
    """Test bits: ``|x| > limit``, or NaN."""
    return by_sign(x, x.builder.sub(_image(beside(x, limit)), _image(magnitude(x))))


def not_below(x, y):
    """Test bits: ``|x| >= |y|``; either for NaN."""
    builder, one = x.builder, _INTEGERS[x.kind](1)
    return by_sign(x, builder.sub(builder.sub(_image(magnitude(y)), one), _image(magnitude(x))))


def not_positive(x):
    """Test bits: ``x`` is negative or a zero."""
    builder, bits = x.builder, _image(x)
    return by_sign(x, builder.or_(bits, builder.sub(bits, bits.type(1))))
