"""The names that NumPy has for elementwise primitives: NumPy's -> the primitive's."""

from __future__ import annotations

UNARY: dict[str, str] = {
    **{
        name: name
        for name in (
            "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan arcsin arccos arctan sinh cosh tanh "
            "arcsinh arccosh arctanh radians degrees fabs sinc rint spacing square reciprocal positive floor ceil "
            "trunc isnan isinf isfinite signbit sign absolute logical_not invert bitwise_count"
        ).split()
    },
    **{f"a{name}": f"arc{name}" for name in "sin cos tan sinh cosh tanh".split()},
    "i0": "np_i0",
    "abs": "absolute",
    "negative": "neg",
    "deg2rad": "radians",
    "rad2deg": "degrees",
    "fix": "trunc",
    "bitwise_not": "invert",
    "bitwise_invert": "invert",
}
BINARY: dict[str, str] = {
    **{
        name: name
        for name in (
            "arctan2 hypot logaddexp logaddexp2 fmax fmin fmod copysign heaviside nextafter gcd lcm maximum minimum "
            "less less_equal greater greater_equal equal not_equal logical_and logical_or logical_xor bitwise_and "
            "bitwise_or bitwise_xor left_shift right_shift"
        ).split()
    },
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "mod": "mod",
    "power": "pow",
    "pow": "pow",
    "atan2": "arctan2",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
}
UFUNCS = {prim: name for name, prim in reversed([*UNARY.items(), *BINARY.items()])}  # the first name of each
