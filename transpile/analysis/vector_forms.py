"""Which scalar functions have a form for vectors in `transpile_runtime.compiled.vector`, and where it is the faster one.

`transpile.loops.vector_functions` puts them in the place of the others.
"""

from __future__ import annotations

DRAWS = {
    **{f"random.{n}": f"vector.random_{n}" for n in "word bits32 bits64 unit32 unit64 normal32 normal64".split()},
    "random.normals": "draws.normals",
    "random.normals32": "draws.normals32",
}
"""Calls of `transpile_runtime.compiled.random`, and what does the same with the instructions of a vector."""

PLAIN = {n: n for n in """maximum minimum fmax fmin clip sign heaviside copysign floor ceil trunc rint isnan isinf isfinite signbit
nan_to_num random_between sqrt""".split()} | {"round": "rint"}  # fmt: skip
"""What `transpile_runtime.compiled.vector` computes of floats as fast alone as in a loop, and by which name."""

WHOLE = frozenset(
    """exp expm1 log log1p log2 log10 exp2 sinh cosh tanh arctan arctan2 arcsin arccos arcsinh arccosh arctanh hypot pow cbrt
    erf erfc erfinv ndtr expit log_expit logit logaddexp logaddexp2 xlogy xlog1py entr""".split()
)
"""What it computes in a loop that LLVM vectorises several times faster than the C library; alone that is faster."""

PARTLY = {
    **{n: (f"{n}_bounded", "outside_bounded") for n in ("sin", "cos", "tan", "sinc")},
    **{n: (f"{n}_near", "outside_near") for n in ("mod", "floordiv", "fmod")},
    **{n: (f"{n}_normal", "outside_normal") for n in ("log", "log2")},
    "exp2": ("exp2_moderate", "outside_moderate"),
    "pow": ("pow_moderate", "outside_moderate_pow"),
    "gammaln": ("gammaln_normal", "outside_normal"),
    "digamma": ("digamma_positive", "outside_positive"),
}
"""What it computes so, or still faster, where a test of the arguments holds: the function and the test."""

DEAR = WHOLE | PARTLY.keys()
"""What gains several times its own time by vectors, so that it must not end up in a loop that has none."""

INSTRUCTIONS = frozenset(
    """add sub mul div neg less less_equal greater greater_equal equal not_equal bitwise_and bitwise_or bitwise_xor both
    quick_div quick_mod where cast square absolute fabs logical_and logical_or logical_not""".split()
)
"""What LLVM makes vectors of by itself."""
