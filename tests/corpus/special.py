"""scipy.special: gamma family, error functions, logistic, normalised exponentials, entropies."""

import numpy as np
from scipy import special as sp
from scipy.special import expit, gammaln, log_softmax, logsumexp, softmax, xlogy

from .program import Collection, normal, positive, uniform

PROGRAMS = Collection("special")
program = PROGRAMS.program


@program(args=lambda: (positive(4),), tags="gammaln digamma")
def gamma_family(x):
    """gammaln, digamma, polygamma, betaln."""
    return gammaln(x) * sp.digamma(x) + sp.polygamma(1, x) + sp.betaln(x, 2.5)


@program(args=lambda: (normal(4),), tags="erf")
def error_functions(x):
    """erf, erfc and their inverse."""
    return sp.erf(x) * sp.erfc(0.5 * x) + sp.erfinv(0.5 * np.tanh(x))


@program(args=lambda: (normal(4),), tags="expit logit")
def logistic(x):
    """expit and logit."""
    p = expit(x)
    return sp.logit(0.2 + 0.5 * p) * p + np.log1p(-p)


@program(args=lambda: (normal(3, 4),), tags="logsumexp softmax axis")
def normalised_exponentials(a):
    """logsumexp, softmax and log_softmax along axes."""
    rows = logsumexp(a, axis=1, keepdims=True)
    return softmax(a, axis=0) * (a - rows) + log_softmax(a, axis=-1) + logsumexp(a)


@program(args=lambda: (positive(4), positive(4, seed=1)), wrt=(0, 1), tags="xlogy entr kl_div")
def entropies(p, q):
    """xlogy, xlog1py, entr and kl_div."""
    return xlogy(p, q) + sp.xlog1py(q, p) * sp.entr(p) + sp.kl_div(p, q)


@program(args=lambda: (np.array([0.0, 0.5]), np.array([0.0, 0.25])), tags="xlogy zero")
def entropy_with_zero(p, count):
    """x log y where x and y are constant zero beside active values."""
    q = p + np.array([0.3, 0.1])
    return xlogy(count, q) + sp.entr(q)


@program(args=lambda: (normal(4),), tags="ndtr")
def normal_distribution(x):
    """ndtr, log_ndtr and ndtri."""
    p = sp.ndtr(x)
    return p * sp.log_ndtr(x) + sp.ndtri(0.1 + 0.8 * p)


@program(args=lambda: (positive(3),), tags="gammainc betainc")
def incomplete_functions(x):
    """The incomplete gamma and beta functions in their last argument."""
    p = sp.gammainc(2.0, x) * sp.gammaincc(1.5, x)
    return p + sp.betainc(2.0, 3.0, 0.4 * x)


@program(args=lambda: (normal(4),), tags="bessel")
def bessel_functions(x):
    """Modified Bessel functions, plain and scaled."""
    return sp.i0(x) * sp.i0e(x) + sp.i1(x) * sp.i1e(x)


@program(args=lambda: (2.5, uniform(0.2, 1.8, 6)), tags="likelihood")
def gamma_likelihood(shape, data):
    """A likelihood that needs gammaln of a scalar."""
    n = len(data)
    return np.sum((shape - 1.0) * np.log(data) - data) - n * gammaln(shape)


@program(args=lambda: (normal(3, 4), np.array([2, 0, 3])), tags="cross entropy gather")
def cross_entropy(scores, labels):
    """The softmax loss of class scores."""
    logp = scores - logsumexp(scores, axis=1, keepdims=True)
    return -np.mean(logp[np.arange(len(labels)), labels])


@program(args=lambda: (np.array([-40.0, -3.0, 0.2, 1.1, 29.0]),), tags="dawson")
def line_profile(x):
    """Dawson's integral, near and far."""
    return sp.dawsn(x) * x + sp.dawsn(2.0 * x)
