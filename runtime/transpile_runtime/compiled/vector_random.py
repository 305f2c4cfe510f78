"""Random bits, for loops that LLVM vectorises: Threefry-2x32 (Salmon, Moraes, Dror and Shaw, SC 2011) as instructions.

The block of a key is a function of the place alone: places are 64-bit counters, whose high and low halves are the two words
that are encrypted. No iteration depends on another.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from transpile_runtime.compiled.vector_erfinv import normal_of
from transpile_runtime.compiled.vector_parts import Number

WORD, LONG = ir.IntType(32), ir.IntType(64)
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA
# for each float type: the bits of 1.0, and the number of random bits that do not fit into the fraction
_FLOATS = {
    types.float64: (ir.DoubleType(), LONG, 0x3FF0000000000000, 12),
    types.float32: (ir.FloatType(), WORD, 0x3F800000, 9),
}


def _threefry(b, first, second, place):
    """The two words of a place under a key, as LLVM values; ``first``, ``second``, the words of the key, and ``place`` are
    too."""
    rotate = b.module.declare_intrinsic("llvm.fshl", [WORD], ir.FunctionType(WORD, [WORD] * 3))
    keys = (first, second, b.xor(b.xor(first, second), WORD(PARITY)))
    x = b.add(b.trunc(b.lshr(place, LONG(32)), WORD), first)
    y = b.add(b.trunc(place, WORD), second)
    for turn in range(5):
        for by in ROTATIONS[turn % 2]:
            x = b.add(x, y)
            y = b.xor(b.call(rotate, [y, y, WORD(by)]), x)
        x = b.add(x, keys[(turn + 1) % 3])
        y = b.add(y, b.add(keys[(turn + 2) % 3], WORD(turn + 1)))
    return x, y


def _bits32(b, *block):
    return b.xor(*_threefry(b, *block))


def _bits64(b, *block):
    x, y = _threefry(b, *block)
    return b.or_(b.shl(b.zext(x, LONG), LONG(32)), b.zext(y, LONG))


def _unit(real):
    """A function ``(b, first, second, place)`` that builds a float in [0, 1), of Numba's type ``real``, with as many random
    bits as its fraction has."""
    bits = _bits64 if real == types.float64 else _bits32
    return lambda b, *block: _in_unit(b, bits(b, *block), real)


def _in_unit(b, bits, real):
    """The float in [0, 1), as an LLVM value of the type ``real``, made of the highest of the random ``bits``."""
    kind, integer, one, rest = _FLOATS[real]
    image = b.or_(b.lshr(bits, integer(rest)), integer(one))
    return b.fsub(b.bitcast(image, kind), ir.Constant(kind, 1.0))


def _normal(real):
    """A function ``(b, first, second, place)`` that builds a standard normal float of Numba's type ``real``.

    It is the quantile of a float in (-1, 1) that is an odd multiple of half the spacing of the units.
    """
    kind, integer, _, rest = _FLOATS[real]
    unit, low = _unit(real), 2.0 ** (rest - integer.width - 1) - 1.0

    def build(b, *block):
        x = b.fadd(b.fmul(unit(b, *block), ir.Constant(kind, 2.0)), ir.Constant(kind, low))
        return normal_of(Number(b, x)).value

    return build


def _drawn(name, build, result, more=()):
    """The intrinsic by which Numba calls ``build``: a function of the two words of a key, a place, and one more argument if
    ``more`` has its type; its result has the type ``result``.

    It is always inlined, as those of `vector_build.compiled`.
    """
    kinds = [types.uint32, types.uint32, types.int64, *more]

    def built(module):
        own = f"{__name__}.{name}"
        if own not in module.globals:
            function = ir.Function(module, ir.FunctionType(_LLVM[result], [_LLVM[k] for k in kinds]), own)
            function.linkage = "internal"
            function.attributes.add("alwaysinline")
            b = ir.IRBuilder(function.append_basic_block())
            b.ret(build(b, *function.args))
        return module.globals[own]

    def generate(context, builder, signature, arguments):
        return builder.call(built(builder.module), arguments)

    if more:
        return intrinsic(lambda context, first, second, place, which: (result(*kinds), generate))
    return intrinsic(lambda context, first, second, place: (result(*kinds), generate))


def _word(b, first, second, place, which):
    x, y = _threefry(b, first, second, place)
    return b.select(b.icmp_signed("==", which, LONG(0)), x, y)


def _joined(b, x, y):
    """The float64 in [0, 1), as an LLVM value, of the two words of a place."""
    bits = b.or_(b.shl(b.zext(x, LONG), LONG(32)), b.zext(y, LONG))
    return _in_unit(b, bits, types.float64)


_LLVM = {
    types.uint32: WORD,
    types.uint64: LONG,
    types.int64: LONG,
    **{real: kind for real, (kind, *_) in _FLOATS.items()},
}

random_word = _drawn("word", _word, types.uint32, [types.int64])
random_first = _drawn("first", lambda b, *block: _threefry(b, *block)[0], types.uint32)
random_second = _drawn("second", lambda b, *block: _threefry(b, *block)[1], types.uint32)
random_bits32 = _drawn("bits32", _bits32, types.uint32)
random_bits64 = _drawn("bits64", _bits64, types.uint64)
random_unit64 = _drawn("unit64", _unit(types.float64), types.float64)
random_unit32 = _drawn("unit32", _unit(types.float32), types.float32)
random_normal64 = _drawn("normal64", _normal(types.float64), types.float64)
random_normal32 = _drawn("normal32", _normal(types.float32), types.float32)


@intrinsic
def unit_of_words(context, x, y):
    """The float64 in [0, 1) of the two words of a place."""
    return types.float64(types.uint32, types.uint32), lambda context, b, signature, words: _joined(b, *words)
