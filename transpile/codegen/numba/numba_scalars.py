"""How Numba says one scalar operation, in Python text: the table of elementwise primitives.

A template is filled with the printed operands, which have the dtypes that core gives them. What Numba's own function does
differently (NaN, zero, negative integers, small dtypes) goes through `transpile_runtime.compiled.scalars`, njit functions with
NumPy's meaning. `transpile.loops.vector_functions` puts those of `transpile_runtime.compiled.vector` in the place of some.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from transpile.core.types import Type

# precedence classes of what a template gives, so that operands are put in parentheses only where needed
ATOM, POWER, UNARY, TERM, SUM, COMPARE, LOOSE = range(7)

OPERATORS: dict[str, tuple[str, int]] = {
    "add": ("{0} + {1}", SUM),
    "sub": ("{0} - {1}", SUM),
    "mul": ("{0} * {1}", TERM),
    "div": ("{0} / {1}", TERM),
    "less": ("{0} < {1}", COMPARE),
    "less_equal": ("{0} <= {1}", COMPARE),
    "greater": ("{0} > {1}", COMPARE),
    "greater_equal": ("{0} >= {1}", COMPARE),
    "equal": ("{0} == {1}", COMPARE),
    "not_equal": ("{0} != {1}", COMPARE),
    "neg": ("-{0}", UNARY),
    "bitwise_and": ("{0} & {1}", LOOSE),
    "bitwise_or": ("{0} | {1}", LOOSE),
    "bitwise_xor": ("{0} ^ {1}", LOOSE),
    "both": ("{0} & {1}", LOOSE),  # of booleans, without a branch
    "quick_div": ("{0} // {1}", TERM),  # of integers known not to be negative
    "quick_mod": ("{0} % {1}", TERM),
}

_BOOL = {"add": "logical_or", "mul": "logical_and", "maximum": "logical_or", "minimum": "logical_and",
         "bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor", "invert": "logical_not",
         "absolute": "positive"}  # fmt: skip

_MATH = {
    **{n: f"math.{n}({{0}})" for n in "exp expm1 log log1p log2 log10 sqrt sin cos tan sinh cosh tanh erf erfc".split()},
    "arcsin": "math.asin({0})", "arccos": "math.acos({0})", "arctan": "math.atan({0})",
    "arcsinh": "math.asinh({0})", "arccosh": "math.acosh({0})", "arctanh": "math.atanh({0})",
    "arctan2": "math.atan2({0}, {1})", "hypot": "math.hypot({0}, {1})", "copysign": "math.copysign({0}, {1})",
    "gammaln": "math.lgamma({0})", "gamma": "math.gamma({0})", "fabs": "math.fabs({0})",
    "np_i0": "special.i0({0})",
}  # fmt: skip

_OWN = """exp2 cbrt radians degrees sinc rint spacing floor ceil trunc round isnan isinf isfinite signbit
nan_to_num logaddexp logaddexp2 maximum minimum fmax fmin heaviside nextafter ldexp sign absolute fraction exponent
bitwise_count floordiv mod clip ieee_remainder fma round_to isclose math_isclose logical_xor
floor_int ceil_int round_int exponent_int""".split()

_INTEGERS = """gcd lcm isqrt factorial comb perm factorial_float comb_float perm_float true_divide exact_less exact_less_equal
exact_greater exact_greater_equal exact_equal exact_not_equal overflows_add overflows_sub overflows_mul overflows_pow
overflows_left_shift overflows_gcd overflows_lcm overflows_comb overflows_perm""".split()

_SPECIAL = """digamma polygamma betaln beta gammainc gammaincc betainc betaincc erfcx erfi erfinv erfcinv ndtr ndtri log_ndtr
expit log_expit logit xlogy xlog1py entr rel_entr kl_div i0 i1 iv i0e i1e ive j0 j1 jv loggamma""".split()


_NARROW = frozenset("add sub mul div neg where square positive identity copy".split())


def is_narrow(prim: str, types: Sequence[Type], params: Mapping[str, Any]) -> bool:
    """Whether Numba gives a float32 by itself, of operands that are float32."""
    of_float32 = all(t.dtype == "float32" for t in types[prim == "where" :])
    return of_float32 and ("vector" in params or prim in _NARROW or prim in _MATH)


def spell(prim: str, types: Sequence[Type], result: Type, params: Mapping[str, Any]) -> tuple[str, int] | None:
    """Template and precedence of a scalar primitive, or None where there is none."""
    slots = ", ".join(f"{{{k}}}" for k in range(len(types)))
    if "vector" in params:
        return f"vector.{params['vector']}({slots})", ATOM
    if result.is_bool or all(t.is_bool for t in types):
        prim = _BOOL.get(prim, prim) if all(t.is_bool for t in types) else prim
    special = _RULES.get(prim)
    if special is not None:
        return special(types, result, params)
    if prim in OPERATORS:
        return OPERATORS[prim]
    if prim in _MATH:
        return _MATH[prim], ATOM
    if prim in ("maximum", "minimum") and params.get("py") and result.dtype == "int64":
        return f"{prim[:3]}({slots})", ATOM
    if prim in _OWN:
        if params.get("py") and prim in ("maximum", "minimum", "round_to") and (result.weak or prim != "round_to"):
            prim += "_python"
        extra = "".join(f", {params[k]!r}" for k in ("decimals", "rtol", "atol", "equal_nan") if k in params)
        return f"scalars.{prim}({slots}{extra})", ATOM
    if prim in _INTEGERS:
        return f"intmath.{prim}({slots})", ATOM
    if prim in _SPECIAL:
        return f"special.{prim}({slots})", ATOM
    if prim == "random_between":
        return f"random.between({slots})", ATOM
    if prim == "random_offset":
        return f"random.offset_{result.dtype}({slots})", ATOM
    for family in ("gammainc_moment", "betainc_moment"):
        if prim.startswith(family):
            orders = ", ".join(prim[len(family) :])
            return f"special.{family}({slots}, {orders})", ATOM
    return None


def _pow(types: Sequence[Type], result: Type, params: Mapping[str, Any]) -> tuple[str, int]:
    # integers to an integer power: Numba gives a float for a negative constant and wraps; weak ints as Python
    return ("scalars.int_pow({0}, {1})", ATOM) if result.is_int else ("{0} ** {1}", POWER)


def _python(prim: str) -> Any:
    """What raises for Python's numbers, and gives something for NumPy's."""

    def rule(types: Sequence[Type], result: Type, params: Mapping[str, Any]) -> tuple[str, int]:
        kind = {("floordiv", True): "_float", ("mod", False): "_int"}.get((prim, result.is_float), "")
        return f"scalars.{prim}{kind}{'_python' if result.weak else ''}({{0}}, {{1}})", ATOM

    return rule


def _fmod(types: Sequence[Type], result: Type, params: Mapping[str, Any]) -> tuple[str, int]:
    return ("scalars.fmod_int({0}, {1})" if result.is_int else "np.fmod({0}, {1})"), ATOM


def _reciprocal(types: Sequence[Type], result: Type, params: Mapping[str, Any]) -> tuple[str, int]:
    return ("scalars.reciprocal_int({0})" if result.is_int else "scalars.reciprocal({0})"), ATOM


_RULES: dict[str, Any] = {
    "pow": _pow,
    **{prim: _python(prim) for prim in ("floordiv", "mod", "left_shift", "right_shift")},
    "fmod": _fmod,
    "reciprocal": _reciprocal,
    "logical_not": lambda types, result, params: ("not {0}", LOOSE),
    "logical_and": lambda types, result, params: ("{0} and {1}", LOOSE),
    "logical_or": lambda types, result, params: ("{0} or {1}", LOOSE),
    "invert": lambda types, result, params: ("~{0}", UNARY),
    "where": lambda types, result, params: ("{1} if {0} else {2}", LOOSE),
    "square": lambda types, result, params: ("{0} * {0}", TERM),
    "positive": lambda types, result, params: ("{0}", ATOM),
    "stop_gradient": lambda types, result, params: ("{0}", ATOM),
    "identity": lambda types, result, params: ("{0}", ATOM),
    "copy": lambda types, result, params: ("{0}", ATOM),
}
