"""Three to five arrays whose sizes come from different places, related in every way and in circles: broadcast, written into each
other, joined, compared, on paths and in loops that run or do not. What Python computes is computed, interpreted, for calls of
several sizes of one function."""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transpile as tp

SIZES = [
    "x * 1.0", "y * 1.0", "np.zeros(n)", "np.ones(n)", "x[:n]", "y[k:]", "np.ones(3)", "np.arange(n) * 1.0", "x[x > 0.0]",
    "np.ones(n + 1)[1:]", "np.zeros(y.shape)", "y[k:k + n]", "np.diff(np.zeros(n + 1))", "np.zeros(len(x))",
    "x[:np.sum(x > 0)]", "np.zeros(2 * n)[::2]", "np.ones((n, len(y)))[:, 0]", "np.repeat(x[:1], n)",
]  # fmt: skip
RELATIONS = [
    "{a} = {a} + {b}",
    "{a} += {b}",
    "{a}[:] = {b}",
    "s = s + {a} @ {b}",
    "{a} = np.where({a} > {b}, {a}, {b})",
    "s = s + np.sum(np.stack([{a}, {b}])[0])",
    "s = s + np.sum({a} * {b})",
    "s = s + np.sum(np.outer({a}, {b}) + {b})",
    "s = s + np.sum(np.concatenate([{a}, {b}])[:len({a})] * {b})",
    "s = s + np.sum(({a}[:, None] * {b})[0] + {a})",
    "if len({a}) != len({b}): raise ValueError('differ')",
    "if len({a}) == len({b}):\n        s = s + np.sum({a} * {b})",
    "if s > 0.517:\n        {a} = {a} + {b}",
    "if s > 2.497:\n        {a} = {b} * 2.0",
    "for i in range(n):\n        s = s + np.sum({a} * {b})",
    "for i in range(k):\n        {a} += {b} * 0.5",
]
CALLS = [
    ((0.5, 1.5, 2.5), (1.2, 0.3, 0.7), 3, 0),
    ((0.5, 1.5, 2.5, 3.0), (1.2, 0.3, 0.7, 2.0), 4, 0),
    ((0.5,), (1.2,), 1, 0),
    ((0.5, 1.5, 2.5), (1.2, 0.3, 0.7, 0.2), 3, 1),
    ((0.5, 1.5, 2.5), (1.2,), 3, 0),
    ((0.5,), (1.2, 0.3, 0.4), 1, 0),
    ((0.5, 1.0, 1.0), (1.2, 0.3, 0.4), 1, 0),
]
PART = 6


def drawn(rng: random.Random) -> str:
    names = "abcde"[: rng.randint(3, 5)]
    body = [f"{name} = {made}" for name, made in zip(names, rng.sample(SIZES, len(names)))]
    pairs = list(itertools.permutations(names, 2))
    for a, b in rng.sample(pairs, rng.randint(len(names), len(pairs))):
        body.append(rng.choice(RELATIONS).format(a=a, b=b))
    total = " + ".join(f"np.sum({name} * {name})" for name in names)
    lines = "\n    ".join(["s = np.sum(x)", *body, f"return s + {total}"])
    return f"import numpy as np\n\n\ndef f(x, y, n, k):\n    {lines}\n"


def outcome(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except Exception as failed:
        return failed


def slopes(f: Callable[..., float], x: tuple[float, ...], *rest: Any) -> np.ndarray:
    """The gradient by differences: the steps change no path, since the entries are no bounds of any test."""
    y, n, k = rest
    steps = np.eye(len(x)) * 1e-6
    return np.array([(f(x + e, np.array(y), n, k) - f(x - e, np.array(y), n, k)) / 2e-6 for e in steps])


def problem(seed: int) -> str:
    """What the first call of a drawn function does that is not what Python does; nothing if all are right."""
    rng = random.Random(seed)
    text = drawn(rng)
    names: dict[str, Any] = {}
    exec(text, names)
    f = tp.value_and_grad(tp.from_source(text))
    for x, y, n, k in (rng.choice(CALLS), *rng.sample(CALLS, 2)):
        wanted = outcome(lambda: names["f"](np.array(x), np.array(y), n, k))
        got = outcome(lambda: f(np.array(x), np.array(y), n, k))
        if isinstance(wanted, Exception) and isinstance(got, (ValueError, tp.TranspileError)):
            continue
        if isinstance(got, tp.TranspileError) and got.diagnostics[0].code == "T123":
            continue  # which array is written depends on the data: not a question of sizes
        right = not isinstance(wanted, Exception) and not isinstance(got, Exception) and np.allclose(got[0], wanted)
        if right and "np.where" not in text:  # where two are equal it has a kink
            right = np.allclose(got[1], slopes(names["f"], x, y, n, k), rtol=1e-5, atol=1e-6)
        if not right:
            return f"seed {seed}, called with {(x, y, n, k)}: {got!r}, {wanted!r} in Python\n{text}"
    return ""


@pytest.mark.sampled(100)
@pytest.mark.parametrize("part", range(100))
def test_sizes_in_circles(part: int) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = [p for seed in range(part * PART, (part + 1) * PART) if (p := problem(seed))]
    assert not found, "\n".join(found)
