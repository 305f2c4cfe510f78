"""Elementary functions for compiled loops: what LLVM inlines and vectorises, for float64 and float32.

`exp(x)` is for a float64 and `exp32(x)` for a float32; `TABLE["exp", "float64"]` has the same by name. Each is right for
every argument, special ones as NumPy has them, and keeps its accuracy whatever flags the caller compiles with.

Six of them cannot do that without a branch: `sin`, `cos`, `tan` of huge arguments, `gammaln` of negative ones, `digamma` of
those that are not positive. Called in a loop they are right, but the loop is not vectorised. So the table has for them a
second function, ``loop``, that is branch-free and right wherever the predicate ``inside`` holds. A loop tests a block of
elements first, and takes the scalar function only for a block that has an element outside:

    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        good = True
        for i in range(start, stop):
            good &= inside(x[i])
        if good:
            for i in range(start, stop):
                out[i] = loop(x[i])
        else:
            for i in range(start, stop):
                out[i] = function(x[i])

`APPLY["sin", "float64"](x, out)` and its like do this for arrays. For all other functions ``loop`` is the function
and ``inside`` None.
"""

from typing import Any, NamedTuple

from numba import njit as _njit

from runtime.compiled import vector_erf, vector_exp, vector_gamma, vector_log, vector_trig
from runtime.compiled.options import NAN_SAFE

BLOCK = 512


class Vector(NamedTuple):
    function: Any  # for every argument
    loop: Any  # what vectorises
    inside: Any = None  # where ``loop`` is right; None is everywhere


exp = exp32 = vector_exp.exp
exp2 = exp2_32 = vector_exp.exp2
expm1 = expm1_32 = vector_exp.expm1
sinh = sinh32 = vector_exp.sinh
cosh = cosh32 = vector_exp.cosh
tanh = tanh32 = vector_exp.tanh
logistic = logistic32 = vector_exp.logistic
log = log32 = vector_log.log
log1p = log1p_32 = vector_log.log1p
log2 = log2_32 = vector_log.log2
log10 = log10_32 = vector_log.log10
cbrt = cbrt32 = vector_log.cbrt
pow, pow32 = vector_log.pow, vector_log.pow32
arctan = arctan32 = vector_trig.arctan
arctan2 = arctan2_32 = vector_trig.arctan2
sin, sin32 = vector_trig.sin, vector_trig.sin32
cos, cos32 = vector_trig.cos, vector_trig.cos32
tan, tan32 = vector_trig.tan, vector_trig.tan32
erf = erf32 = vector_erf.erf
erfc = erfc32 = vector_erf.erfc
gammaln, gammaln32 = vector_gamma.gammaln, vector_gamma.gammaln32
digamma, digamma32 = vector_gamma.digamma, vector_gamma.digamma32

_EVERYWHERE = {
    "exp": (exp, exp32), "exp2": (exp2, exp2_32), "expm1": (expm1, expm1_32), "sinh": (sinh, sinh32),
    "cosh": (cosh, cosh32), "tanh": (tanh, tanh32), "logistic": (logistic, logistic32), "log": (log, log32),
    "log1p": (log1p, log1p_32), "log2": (log2, log2_32), "log10": (log10, log10_32), "cbrt": (cbrt, cbrt32),
    "pow": (pow, pow32), "arctan": (arctan, arctan32), "arctan2": (arctan2, arctan2_32), "erf": (erf, erf32),
    "erfc": (erfc, erfc32),
}  # fmt: skip
_INSIDE = {
    "sin": (sin, sin32, vector_trig.sin_bounded, vector_trig.is_bounded),
    "cos": (cos, cos32, vector_trig.cos_bounded, vector_trig.is_bounded),
    "tan": (tan, tan32, vector_trig.tan_bounded, vector_trig.is_bounded),
    "gammaln": (gammaln, gammaln32, vector_gamma.gammaln_positive, vector_gamma.is_not_negative),
    "digamma": (digamma, digamma32, vector_gamma.digamma_positive, vector_gamma.is_positive),
}

TABLE: dict[tuple[str, str], Vector] = {}
for _name, (_double, _single) in _EVERYWHERE.items():
    TABLE[_name, "float64"] = Vector(_double, _double)
    TABLE[_name, "float32"] = Vector(_single, _single)
for _name, (_double, _single, _loop, _inside) in _INSIDE.items():
    TABLE[_name, "float64"] = Vector(_double, _loop, _inside)
    TABLE[_name, "float32"] = Vector(_single, _loop, _inside)


TABLE_NAMES = tuple(sorted({name for name, _ in TABLE}))


def _apply(name, kind):
    """The function of two one-dimensional arrays that sets the second one, block by block."""
    function, loop, inside = TABLE[name, kind]

    @_njit(error_model="numpy", fastmath=NAN_SAFE)
    def apply(x, out):
        n = x.shape[0]
        for start in range(0, n, BLOCK):
            stop = min(start + BLOCK, n)
            good = True
            for i in range(start, stop):
                good &= inside(x[i])
            if good:
                for i in range(start, stop):
                    out[i] = loop(x[i])
            else:
                for i in range(start, stop):
                    out[i] = function(x[i])

    return apply


APPLY = {(name, kind): _apply(name, kind) for name in _INSIDE for kind in ("float64", "float32")}
