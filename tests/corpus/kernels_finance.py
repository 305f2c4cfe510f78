"""Kernels from finance: options, rates, volatility."""

import math

import numpy as np

from .program import Collection, normal, positive, uniform

PROGRAMS = Collection("kernel finance")
program = PROGRAMS.program


def cumulative_normal(x):
    """The distribution function of the standard normal distribution."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def option_value(spot, strike, rate, volatility, years):
    """The price of a European call."""
    width = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / width
    d2 = d1 - width
    discount = math.exp(-rate * years)
    return spot * cumulative_normal(d1) - strike * discount * cumulative_normal(d2)


@program(
    args=lambda: (100.0, 105.0, 0.03, 0.25, 0.75, "call"), wrt=(0, 1, 2, 3, 4), tags="call string scalar", tol=1e-5
)
def black_scholes(spot, strike, rate, volatility, years, kind):
    """European options: the gradient is the Greeks. A put by parity."""
    if volatility <= 0.0 or years <= 0.0:
        raise ValueError("volatility and years must be positive")
    call = option_value(spot, strike, rate, volatility, years)
    if kind == "call":
        return call
    if kind == "put":
        return call - spot + strike * math.exp(-rate * years)
    straddle = 2.0 * call - spot + strike * math.exp(-rate * years)
    return straddle


@program(args=lambda: (1.02, 1.0, 0.04, 0.3, 6), wrt=(0, 1, 2, 3), tags="for nested inplace max")
def american_put(spot, strike, rate, volatility, steps):
    """An American put on a binomial tree, folded back in place."""
    dt = 1.0 / steps
    up = math.exp(volatility * math.sqrt(dt))
    down = 1.0 / up
    discount = math.exp(-rate * dt)
    p = (math.exp(rate * dt) - down) / (up - down)
    if not 0.0 < p < 1.0:
        raise ValueError(f"the step {dt} is too long")
    values = np.zeros(steps + 1)
    for i in range(steps + 1):
        price = spot * up**i * down ** (steps - i)
        values[i] = max(strike - price, 0.0)
    for level in range(steps - 1, -1, -1):
        for i in range(level + 1):
            held = discount * (p * values[i + 1] + (1.0 - p) * values[i])
            price = spot * up**i * down ** (level - i)
            exercised = strike - price
            values[i] = max(held, exercised)
    return values[0]


@program(args=lambda: (np.array([0.05, 0.12, 0.8]), 0.1 * normal(8, seed=1)), wrt=(0, 1), tags="for carried if")
def garch(params, returns):
    """Negative log likelihood of returns whose variance follows the past ones."""
    omega, alpha, beta = params
    variance = 0.01
    for r in returns:
        variance += r * r / len(returns)
    total = 0.0
    for t in range(len(returns)):
        if t > 0:
            variance = 0.1 * omega + alpha * returns[t - 1] ** 2 + beta * variance
        total += math.log(variance) + returns[t] ** 2 / variance
    return 0.5 * (total + len(returns) * math.log(2.0 * math.pi))


@program(args=lambda: (np.array([1.0, 0.3, 0.05]), normal(3, 4, seed=1), 0.25), wrt=(0, 1), tags="for rows inplace")
def heun_paths(params, noise, dt):
    """Paths of a mean-reverting process by Heun's method with given noise; an average payoff."""
    level, pull, width = params
    root = math.sqrt(dt)
    payoff = 0.0
    for path in noise:
        x = 1.0
        average = 0.0
        for z in path:
            drift = pull * (level - x)
            spread = width * x
            guess = x + drift * dt + spread * root * z
            drift = 0.5 * (drift + pull * (level - guess))
            spread = 0.5 * (spread + width * guess)
            x = x + drift * dt + spread * root * z
            average += x / len(path)
            if x < 0.2:
                average = 0.0
                break
        payoff += max(average - 0.9, 0.0)
    return payoff / noise.shape[0]


@program(args=lambda: (0.09, 1.0, 1.05, 0.02), wrt=(0, 1, 2, 3), tags="while newton call scalar")
def implied_volatility(price, spot, strike, rate):
    """The volatility at which the formula gives a price, by a guarded Newton's method."""
    sigma = 0.5
    for _ in range(50):
        gap = option_value(spot, strike, rate, sigma, 1.0) - price
        d1 = (math.log(spot / strike) + rate + 0.5 * sigma * sigma) / sigma
        vega = spot * math.exp(-0.5 * d1 * d1) / math.sqrt(2.0 * math.pi)
        step = gap / vega
        while sigma - step <= 0.0:
            step = 0.5 * step
        sigma = sigma - step
        if abs(step) < 1e-14:
            break
    return sigma


@program(
    args=lambda: (np.array([0.97, 0.93, 0.88]), np.array([0.03, 0.035, 0.04])),
    wrt=(0, 1),
    tags="for while append newton",
)
def bond_yields(prices, coupons):
    """The yield of each bond by Newton's method, and their spread around the mean."""
    yields = []
    for years, (price, coupon) in enumerate(zip(prices, coupons), start=1):
        y = coupon
        while True:
            value, slope = -price, 0.0
            for k in range(1, years + 1):
                flow = coupon + (1.0 if k == years else 0.0)
                value += flow * (1.0 + y) ** -k
                slope -= k * flow * (1.0 + y) ** (-k - 1)
            change = value / slope
            y = y - change
            if abs(change) < 1e-14:
                break
        assert y > -1.0
        yields.append(y)
    curve = np.array(yields)
    curve[0] = 0.5 * (curve[0] + curve[1])
    return curve, np.sum((curve - np.mean(curve)) ** 2)


@program(args=lambda: (0.35, 0.05, 5), wrt=(0, 1), tags="for nested inplace tridiagonal max")
def implicit_price_grid(volatility, rate, steps):
    """A put on a grid of prices by implicit steps, each a tridiagonal elimination in place."""
    n = 7
    dt = 1.0 / steps
    value = np.zeros(n)
    for i in range(n):
        value[i] = max(1.1 - 0.4 * i, 0.0)
    for _ in range(steps):
        upper = np.zeros(n)
        right = value.copy()
        right[0] = right[0] * math.exp(-rate * dt)
        for i in range(1, n - 1):
            spread = 0.5 * dt * (volatility * i) ** 2
            shift = 0.5 * dt * rate * i
            low, high = -(spread - shift), -(spread + shift)
            pivot = 1.0 + dt * rate + 2.0 * spread - low * upper[i - 1]
            upper[i] = high / pivot
            right[i] = (right[i] - low * right[i - 1]) / pivot
        value[n - 1] = 0.0
        value[0] = right[0]
        for i in range(n - 2, 0, -1):
            value[i] = right[i] - upper[i] * value[i + 1]
    return value[2]


@program(
    args=lambda: (positive(3), uniform(0.1, 0.4, 3, seed=1), 0.7 * np.eye(3) + 0.3),
    wrt=(0, 1, 2),
    tags="matmul while solve",
)
def minimum_variance(weights, volatilities, correlation):
    """Risk shares of a portfolio, and the weights of least variance."""
    n = len(weights)
    share = weights / np.sum(weights)
    covariance = np.outer(volatilities, volatilities) * correlation
    risk = np.sqrt(share @ covariance @ share)
    parts = share * (covariance @ share) / risk
    least = np.linalg.solve(covariance, np.ones(n))
    least = least / np.sum(least)
    uneven = 0.0
    for i in range(n):
        for j in range(n):
            uneven += (parts[i] - parts[j]) ** 2
    return uneven + risk, least
