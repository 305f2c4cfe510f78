"""The inverse of the error function, for loops that LLVM vectorises; see `compiled.vector`.

``erfinv(x) / x`` is a smooth function of ``w = -log((1 - x) (1 + x))``, as Giles found (GPU Computing Gems, Jade edition, 2012,
chapter 10): a polynomial in ``w`` for most arguments, in ``t = (sqrt(w) - 4) / (sqrt(w) + 4)`` for the tails.
"""

from transpile_runtime.compiled.vector_bits import flip_sign, significand
from transpile_runtime.compiled.vector_log import log_of_parts
from transpile_runtime.compiled.vector_parts import INF, NAN, Constant, beside, magnitude, polynomial, sqrt, where

# by tests/accuracy/fit.py
ERFINV = (
    0.886226925452758, 0.2320136665346475, 0.011549342038481847, -0.002335101644129283, -0.00012804327839825838,
    4.6611379475099284e-05, 2.0201444938604917e-06, -1.0128340944745899e-06, -3.692803989974483e-08,
    2.2432492846453702e-08, 1.024313692967031e-09, -6.784698324829307e-10, 5.059006129867137e-11,
    -9.042469530110684e-12, 4.920594659713124e-12, -7.021508362967955e-13, -1.2359173902559825e-13,
    6.556131901090279e-14, -1.281541348153865e-14, 1.5199728566657303e-15, -1.1861295223357545e-16,
    6.0206745985993185e-18, -1.8195189674112542e-19, 2.5010207890776993e-21,
)  # fmt: skip
ERFINV_SINGLE = (
    0.88622695, 0.2320126, 0.011556281, -0.0023525767, -0.00010539846, 2.9286024e-05, 1.0423742e-05,
    -3.6621987e-06, 4.8898903e-07, -3.251325e-08, 8.9829644e-10,
)  # fmt: skip
ERFINV_FAR = (
    3.839783797411554, 8.075946025963368, 8.156576251055924, 7.792282671957495, 8.29769715087127,
    7.125258055319317, 12.460063701702863, -10.445851669189116, 52.06596747697874, 19.86706526629538,
    -489.8682346253944, 1439.6202790643588, 734.8196155354426, -13748.555391056161, 19848.585047349043,
    72882.6136084052, -228707.55007988669, -272256.3099792692, 1575431.227902379, 935048.8875197385,
    -8003950.9187137205, -3962211.260880998, 26885600.37286916, 12883269.732138475, -38101258.79138482,
)  # fmt: skip
ERFINV_FAR_SINGLE = (
    3.8397837, 8.075951, 8.156657, 7.7906356, 8.280622, 7.290709, 13.727167, -17.192583, 12.246593, 148.84064,
)  # fmt: skip

near_of_erfinv = polynomial(ERFINV, ERFINV_SINGLE, 4)
far_of_erfinv = polynomial(ERFINV_FAR, ERFINV_FAR_SINGLE, 4)
FAR_FROM = 6.25  # limit of w
ROOT_TWO = Constant(1.4142135623730951, 1.4142135381698608)


def depth(x):
    """``w = -log((1 - x) (1 + x))`` for ``|x| < 1``."""
    return -log_of_parts(*significand((1.0 - x) * (1.0 + x)))


def near(x, w):
    """``sqrt(2) erfinv(x)``, the normal quantile of ``(1 + x) / 2``, for ``w``, which is ``depth(x)``, below `FAR_FROM`."""
    return x * ROOT_TWO * near_of_erfinv(w)


def ratio(x):
    """``erfinv(x) / x`` for ``|x| < 1``."""
    w = depth(x)
    s = sqrt(w)
    return where(w < FAR_FROM, near_of_erfinv(w), far_of_erfinv((s - 4.0) / (s + 4.0)))


def erfinv(x):
    """The inverse error function: infinity with the sign of ``x`` for -1 and 1, NaN beyond; 0 for -0, as in SciPy."""
    a = magnitude(x)
    outside = where(a == 1.0, flip_sign(beside(x, INF), x), NAN)
    return where(a < 1.0, where(a == 0.0, 0.0, x * ratio(x)), outside)  # SciPy has no negative zero here


def normal_of(x):
    """``sqrt(2) erfinv(x)``, the normal quantile of ``(1 + x) / 2``, for ``|x| < 1``."""
    return x * ROOT_TWO * ratio(x)
