"""What the vector functions are made of: LLVM operations on a float64 or a float32, without a branch and without a flag.

Each follows the type of its argument, so that one function serves both: ``ONE(x)`` is 1 as a float64 or as a float32, and
``polynomial(double, single)`` has the coefficients of either. Integers stay inside: Numba would widen an int32.
"""

from llvmlite import ir
from numba import njit as _njit
from numba import types
from numba.extending import intrinsic

from runtime.compiled.cache import keep
from runtime.compiled.options import NAN_SAFE

_INTEGERS = {types.float64: ir.IntType(64), types.float32: ir.IntType(32)}
_SUFFIX = {types.float64: "f64", types.float32: "f32"}
_MANTISSA = {types.float64: 52, types.float32: 23}
_BIAS = {types.float64: 1023, types.float32: 127}
_HALF_SQRT = {types.float64: 0x3FE6A09E667F3BCD, types.float32: 0x3F3504F3}  # the bits of sqrt(1/2)


def inlined(function):
    """As `runtime.compiled.options.njit`; LLVM always inlines it, large as it is, since a call ends vectorisation."""
    return keep(_njit(error_model="numpy", fastmath=NAN_SAFE, forceinline=True)(function))


def _call(builder, name, *arguments):
    """Calls the LLVM operation of this name."""
    real = arguments[0].type
    function = builder.module.declare_intrinsic(f"llvm.{name}", [real], ir.FunctionType(real, [real] * len(arguments)))
    return builder.call(function, arguments)


def _one_bits(kind):
    return _BIAS[kind] << _MANTISSA[kind]


def _fused(builder, a, b, c):
    """``a * b + c``, rounded once where the processor can."""
    return _call(builder, "fmuladd", a, b, c)


def _horner(builder, point, coefficients):
    total = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = _fused(builder, total, point, c)
    return total


def constant(double, single=None):
    """A function of ``x`` whose value is the constant in the type of ``x``."""
    values = {types.float64: double, types.float32: double if single is None else single}

    @intrinsic
    def value(context, x):
        def generate(context, builder, signature, arguments):
            return ir.Constant(arguments[0].type, values[x])

        return (x(x), generate) if x in values else None

    return value


def polynomial(double, single, most=4):
    """A function of ``x`` whose value is the polynomial of these coefficients, lowest power first.

    By Horner, whose last step makes nearly all of the error; what is before it goes in two or at ``most`` four strands, for a
    processor waits longer for one chain of operations than for the few more that the strands need.
    """
    tables = {types.float64: double, types.float32: single}

    @intrinsic
    def value(context, x):
        def generate(context, builder, signature, arguments):
            (point,) = arguments
            first, *rest = [ir.Constant(point.type, c) for c in tables[x]]
            strands = min(1 if len(rest) < 6 else 2 if len(rest) < 14 else 4, most)
            powers = {1: point}
            for k in (2, 4)[: strands // 2]:
                powers[k] = builder.fmul(powers[k // 2], powers[k // 2])
            sums = [_horner(builder, powers[strands], rest[k::strands]) for k in range(strands)]
            while len(sums) > 1:
                strands //= 2
                sums = [_fused(builder, sums[k + strands], powers[strands], sums[k]) for k in range(strands)]
            return _fused(builder, sums[0], point, first)

        return (x(x), generate) if x in tables else None

    return value


ZERO, HALF, ONE, TWO = constant(0.0), constant(0.5), constant(1.0), constant(2.0)
INF = constant(float("inf"))
NAN = constant(float("nan"))
# x + SHIFT - SHIFT is x rounded to an integer, and the low bits of x + SHIFT are that integer
SHIFT = constant(1.5 * 2.0**52, 1.5 * 2.0**23)


@intrinsic
def fma(context, a, b, c):
    """``a * b + c``, rounded once."""

    def generate(context, builder, signature, arguments):
        return _call(builder, "fma", *arguments)

    return a(a, a, a), generate


@intrinsic
def rint(context, x):
    def generate(context, builder, signature, arguments):
        return _call(builder, "rint", *arguments)

    return x(x), generate


@intrinsic
def floor(context, x):
    def generate(context, builder, signature, arguments):
        return _call(builder, "floor", *arguments)

    return x(x), generate


@intrinsic
def magnitude(context, x):
    def generate(context, builder, signature, arguments):
        return _call(builder, "fabs", *arguments)

    return x(x), generate


@intrinsic
def copysign(context, x, y):
    def generate(context, builder, signature, arguments):
        return _call(builder, "copysign", *arguments)

    return x(x, y), generate


@intrinsic
def power_of_two(context, shifted):
    """``2**k`` of ``k + SHIFT``, for the exponents of normal numbers; the next one up is infinity."""

    def generate(context, builder, signature, arguments):
        integer = _INTEGERS[shifted]
        k = builder.bitcast(arguments[0], integer)
        k = builder.shl(k, integer(_MANTISSA[shifted]))
        return builder.bitcast(builder.add(k, integer(_one_bits(shifted))), arguments[0].type)

    return shifted(shifted), generate


@intrinsic
def flip_odd(context, x, shifted):
    """``x``, or ``-x`` where ``k`` is odd, of ``k + SHIFT``."""

    def generate(context, builder, signature, arguments):
        integer = _INTEGERS[x]
        k = builder.bitcast(arguments[1], integer)
        sign = builder.shl(k, integer(integer.width - 1))
        return builder.bitcast(builder.xor(builder.bitcast(arguments[0], integer), sign), arguments[0].type)

    return x(x, shifted), generate


@intrinsic
def is_odd(context, shifted):
    """Whether ``k`` is odd, of ``k + SHIFT``."""

    def generate(context, builder, signature, arguments):
        integer = _INTEGERS[shifted]
        k = builder.and_(builder.bitcast(arguments[0], integer), integer(1))
        return builder.icmp_unsigned("!=", k, integer(0))

    return types.boolean(shifted), generate


@intrinsic
def flip_sign(context, x, y):
    """``x``, or ``-x`` where the sign bit of ``y`` is set."""

    def generate(context, builder, signature, arguments):
        integer = _INTEGERS[x]
        sign = builder.and_(builder.bitcast(arguments[1], integer), integer(1 << (integer.width - 1)))
        return builder.bitcast(builder.xor(builder.bitcast(arguments[0], integer), sign), arguments[0].type)

    return x(x, y), generate


@intrinsic
def significand(context, x):
    """``m`` in [sqrt(1/2), sqrt(2)) and a whole ``k`` as a float, with ``x = m * 2**k``; of a positive normal ``x``."""

    def generate(context, builder, signature, arguments):
        integer, real, width = _INTEGERS[x], arguments[0].type, _MANTISSA[x]
        low = _HALF_SQRT[x]
        moved = builder.add(builder.bitcast(arguments[0], integer), integer(_one_bits(x) - low))
        mantissa = builder.and_(moved, integer((1 << width) - 1))
        m = builder.bitcast(builder.add(mantissa, integer(low)), real)
        # the exponent becomes a float by the bits of 2**width, which every processor can do
        exponent = builder.or_(builder.lshr(moved, integer(width)), integer((_BIAS[x] + width) << width))
        k = builder.fsub(builder.bitcast(exponent, real), ir.Constant(real, 2.0**width + _BIAS[x]))
        return context.make_tuple(builder, signature.return_type, (m, k))

    return types.UniTuple(x, 2)(x), generate


@intrinsic
def narrow(context, x):
    """A float64 as a float32."""

    def generate(context, builder, signature, arguments):
        return builder.fptrunc(arguments[0], ir.FloatType())

    return types.float32(types.float64), generate


@intrinsic
def unsigned(context, x):
    """The bits of a float64."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), generate


@intrinsic
def high_product(context, a, b):
    """The upper half of the product of two uint64."""

    def generate(context, builder, signature, arguments):
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(v, wide) for v in arguments))
        return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate
