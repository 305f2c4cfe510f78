"""Makes a function of `transpile_runtime.compiled.vector_parts` callable from compiled code."""

from inspect import signature as parameters_of

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from transpile_runtime.compiled.vector_parts import Number

_REAL = {types.float64: ir.DoubleType(), types.float32: ir.FloatType()}


def compiled(function, is_test=False):
    """The intrinsic by which Numba calls a function of 1 to 3 `Number`: its float32 version if all arguments are float32, else
    the float64 one.

    With ``is_test`` the function returns a `Truth`, and the intrinsic a boolean.
    """

    def typed(*given):
        kind = types.float32 if all(g == types.float32 for g in given) else types.float64
        result = types.boolean if is_test else kind

        def generate(context, builder, signature, arguments):
            return builder.call(_built(builder.module, function, kind, is_test, len(given)), arguments)

        return result(*[kind] * len(given)), generate

    count = len(parameters_of(function).parameters)
    return intrinsic({1: _of_one, 2: _of_two, 3: _of_three}[count](typed))


def _of_one(typed):
    return lambda context, x: typed(x)


def _of_two(typed):
    return lambda context, x, y: typed(x, y)


def _of_three(typed):
    return lambda context, x, y, z: typed(x, y, z)


def _built(module, function, kind, is_test, count):
    """The LLVM function made from the Python function ``function`` in an LLVM module, built there if it is missing.

    ``function`` takes ``count`` arguments, each a `Number`, and returns one, or a `Truth` if ``is_test``. The LLVM function has
    ``count`` parameters of Numba's type ``kind``, float64 or float32, and returns one of that type, or a boolean if
    ``is_test``. It is always inlined, as a call would prevent vectorisation.
    """
    name = f"{function.__module__}.{function.__name__}.{kind}"
    if name in module.globals:
        return module.globals[name]
    real = _REAL[kind]
    built = ir.Function(module, ir.FunctionType(ir.IntType(1) if is_test else real, [real] * count), name)
    built.linkage = "internal"
    built.attributes.add("alwaysinline")
    builder = ir.IRBuilder(built.append_basic_block())
    builder.ret(function(*(Number(builder, a) for a in built.args)).value)
    return built
