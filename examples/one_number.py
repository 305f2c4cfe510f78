"""Time one gradient beside plain Python, Numba and JAX: the table of the README.

The function is the likelihood in `garch.py`, a loop in which each step needs the one before. Plain Python, Numba and
transpile get the same function; JAX gets it as `lax.scan`. Numba and plain Python compute the value only. Rows of tools that are
not installed are left out. Times are the least of several rounds, in which all take turns.
"""

import time

import numba
import numpy as np
from garch import TRUTH as P
from garch import negative_log_likelihood as likelihood

import transpile as tp


def jax_functions(returns):
    """The value, and the value with the gradient, by JAX in float64; nothing where JAX is not installed."""
    try:
        import jax
    except ImportError:
        return {}
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    def likelihood(p, returns):
        omega, alpha, beta = p

        def step(variance, r):
            term = 0.5 * (jnp.log(variance) + r * r / variance)
            return omega + alpha * r * r + beta * variance, term

        return jnp.mean(jax.lax.scan(step, jnp.mean(returns * returns), returns)[1])

    p, data = jnp.array(P), jnp.array(returns)
    value, both = jax.jit(likelihood), jax.jit(jax.value_and_grad(likelihood))
    return {
        ("JAX", "value"): lambda: jax.block_until_ready(value(p, data)),
        ("JAX", "value and gradient"): lambda: jax.block_until_ready(both(p, data)),
    }


def least_seconds(functions, rounds):
    """Of each function the least time of a call, over rounds in which all take turns."""
    least = dict.fromkeys(functions, np.inf)
    for call in functions.values():
        call()  # compiles

    for _ in range(rounds):
        for name, call in functions.items():
            start = time.perf_counter()
            call()
            least[name] = min(least[name], time.perf_counter() - start)
    return least


def main(days=6000, rounds=200):
    returns = np.random.default_rng(2).normal(size=days)
    by_numba = numba.njit(likelihood)
    value, both = tp.jit(likelihood), tp.jit(tp.value_and_grad(likelihood))
    functions = {
        ("plain Python", "value"): lambda: likelihood(P, returns),
        ("Numba", "value"): lambda: by_numba(P, returns),
        **jax_functions(returns),
        ("transpile", "value"): lambda: value(P, returns),
        ("transpile", "value and gradient"): lambda: both(P, returns),
    }
    np.testing.assert_allclose([functions[key]() for key in functions if key[1] == "value"], value(P, returns))
    gradients = [functions[key]()[1] for key in functions if key[1] != "value"]
    np.testing.assert_allclose(gradients, np.broadcast_to(gradients[-1], (len(gradients), 3)), rtol=1e-9)

    least = least_seconds(functions, rounds)
    print(f"{days} steps, float64; milliseconds a call, least of {rounds}")
    print(f"{'':14}{'value':>10}{'value and gradient':>22}")
    for tool in dict.fromkeys(tool for tool, _ in functions):
        value, both = (f"{1e3 * least.get((tool, what), np.nan):.3f}" for what in ("value", "value and gradient"))
        print(f"{tool:14}{value:>10}{both:>22}".replace("nan", "  -"))
    return {" ".join(key): seconds for key, seconds in least.items()}


if __name__ == "__main__":
    main()
