"""Elementary functions for compiled loops, which LLVM inlines and vectorises, for float64 and float32.

`exp(x)` is right for every argument, with NumPy's results for special ones, and keeps its accuracy whatever flags the caller
compiles with; a float32 gives a float32.

Some functions cannot do that without a branch: `sin`, `cos`, `tan` of huge arguments, `gammaln` of negative ones and of zero,
`digamma` of arguments that are not positive, remainders with a huge quotient. For these there is a function that is right
wherever a predicate holds, as `sin_bounded` for arguments that are not huge. Others are right for every argument, and faster
without care for special ones: `log`, `log2`, `exp2`, `pow`. A loop first tests a block of elements; for a block with an element
outside it takes the other function, which needs no predicate:

    for start in range(0, n, 512):
        end = min(start + 512, n)
        outside = 0.0
        for i in range(start, end):
            outside = vector.joined(outside, vector.outside_bounded(x[i]))
        if vector.all_inside(outside):
            for i in range(start, end):
                out[i] = vector.sin_bounded(x[i])
        else:
            for i in range(start, end):
                out[i] = math.sin(x[i])

`transpile.loops.vector_functions` writes such loops.
"""

from transpile_runtime.compiled import (
    vector_bits,
    vector_combined,
    vector_erf,
    vector_erfinv,
    vector_exp,
    vector_gamma,
    vector_hyperbolic,
    vector_log,
    vector_parts,
    vector_plain,
    vector_pow,
    vector_trig,
)
from transpile_runtime.compiled.vector_build import compiled
from transpile_runtime.compiled.vector_random import (  # noqa: F401
    random_bits32,
    random_bits64,
    random_normal32,
    random_normal64,
    random_unit32,
    random_unit64,
    random_word,
)

exp = compiled(vector_exp.exp)
exp2 = compiled(vector_exp.exp2)
expm1 = compiled(vector_exp.expm1)
sinh = compiled(vector_exp.sinh)
cosh = compiled(vector_exp.cosh)
tanh = compiled(vector_exp.tanh)
expit = compiled(vector_exp.expit)
log = compiled(vector_log.log)
log1p = compiled(vector_log.log1p)
log2 = compiled(vector_log.log2)
log10 = compiled(vector_log.log10)
pow = compiled(vector_pow.power)
cbrt = compiled(vector_pow.cbrt)
arcsin = compiled(vector_trig.arcsin)
arccos = compiled(vector_trig.arccos)
arctan = compiled(vector_trig.arctan)
arctan2 = compiled(vector_trig.arctan2)
arcsinh = compiled(vector_hyperbolic.arcsinh)
arccosh = compiled(vector_hyperbolic.arccosh)
arctanh = compiled(vector_hyperbolic.arctanh)
logit = compiled(vector_hyperbolic.logit)
hypot = compiled(vector_hyperbolic.hypot)
erf = compiled(vector_erf.erf)
erfc = compiled(vector_erf.erfc)
ndtr = compiled(vector_erf.ndtr)
erfinv = compiled(vector_erfinv.erfinv)
log_expit = compiled(vector_combined.log_expit)
logaddexp = compiled(vector_combined.logaddexp)
logaddexp2 = compiled(vector_combined.logaddexp2)
xlogy = compiled(vector_combined.xlogy)
xlog1py = compiled(vector_combined.xlog1py)
entr = compiled(vector_combined.entr)

joined = compiled(vector_bits.joined)
all_inside = compiled(vector_bits.all_inside, is_test=True)
log_normal = compiled(vector_log.log_normal)
log2_normal = compiled(vector_log.log2_normal)
outside_normal = compiled(vector_log.outside_normal)
exp2_moderate = compiled(vector_exp.exp2_moderate)
outside_moderate = compiled(vector_exp.outside_moderate)
pow_moderate = compiled(vector_pow.pow_moderate)
outside_moderate_pow = compiled(vector_pow.outside_moderate_pow)
sin_bounded = compiled(vector_trig.sin_bounded)
cos_bounded = compiled(vector_trig.cos_bounded)
tan_bounded = compiled(vector_trig.tan_bounded)
sinc_bounded = compiled(vector_trig.sinc_bounded)
outside_bounded = compiled(vector_trig.outside_bounded)
gammaln_normal = compiled(vector_gamma.gammaln_normal)
digamma_positive = compiled(vector_gamma.digamma_positive)
outside_positive = compiled(vector_gamma.outside_positive)
fmod_near = compiled(vector_plain.fmod_near)
mod_near = compiled(vector_plain.mod_near)
floordiv_near = compiled(vector_plain.floordiv_near)
outside_near = compiled(vector_plain.outside_near)

maximum = compiled(vector_plain.maximum)
minimum = compiled(vector_plain.minimum)
fmax = compiled(vector_plain.fmax)
fmin = compiled(vector_plain.fmin)
clip = compiled(vector_plain.clip)
sign = compiled(vector_plain.sign)
heaviside = compiled(vector_plain.heaviside)
copysign = compiled(vector_plain.copysign)
floor = compiled(vector_plain.floor)
ceil = compiled(vector_plain.ceil)
trunc = compiled(vector_plain.trunc)
rint = compiled(vector_plain.rint)
sqrt = compiled(vector_plain.sqrt)
random_between = compiled(vector_parts.between)
nan_to_num = compiled(vector_plain.nan_to_num)
isnan = compiled(vector_plain.isnan, is_test=True)
isinf = compiled(vector_plain.isinf, is_test=True)
isfinite = compiled(vector_plain.isfinite, is_test=True)
signbit = compiled(vector_plain.signbit, is_test=True)
