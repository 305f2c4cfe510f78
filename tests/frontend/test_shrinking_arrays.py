"""Arrays that get shorter in a loop: each way to shorten one, in each kind of loop, beside other things that the loop carries."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import transpile as tp

BODIES = {
    "tail": "v = v[1:] * v[0]",
    "head": "v = v[:-1] + 0.5 * v[1:]",
    "both ends": "v = np.sin(v[1:-1]) + v[:-2]",
    "diff": "v = np.diff(v) * c",
    "deleted": "v = np.delete(v, 0) * c",
    "arange": "v = v[:-1] * np.arange(1.0, n - i + 1.0)",
    "stretched": "v = np.maximum(v[:-1] + v[1:], c * np.ones(n - i))",
    "written": "v = v[:-1] * c\n        v[0] = v[0] * v[-1]",
    "added": "v = v[1:].copy()\n        v += c",
    "branch": "w = v[:-1] * 2.0\n        if c > 0.2:\n            w = w * v[1:]\n        v = w",
    "with a sum": "s = s + np.sum(v)\n        v = v[:-1] * v[1:]",
    "two": "v, w = v[:-1] + w[1:], w[:-1] * c",
    "a list too": "parts.append(np.sum(v))\n        v = v[:-1] * c",
    "matrix": "m = m[1:, :-1] * m[0, 0]\n        v = m[0]",
    "rows": "m = m[:-1] + m[1:]\n        v = m[:, 0]",
    "helper": "v = shorter(v, c)",
    "halves": "v = v[::2] * c",
    "half": "v = v[:len(v) // 2] * c",
    "masked": "v = v[v < np.max(v)] * 1.25",
    "slice": "v = v[min(1, i):] * c",
}
LOOPS = {
    "range": "for i in range(n):\n        {}",
    "down": "for i in range(n - 1, -1, -1):\n        i = n - 1 - i\n        {}",
    "while": "i = 0\n    while i < n:\n        {}\n        i = i + 1",
    "while long": "i = 0\n    while len({name}) > 2:\n        {}\n        i = i + 1",
    "break": "for i in range(100):\n        if len({name}) < 3:\n            break\n        {}",
    "nested": "for k in range(2):\n        v, m, w = x * 1.0, np.outer(x, x), x * 2.0\n"
    "        for i in range(n):\n            {}\n        s = s + np.sum(v)",
}
AFTER = "return s + np.sum(v) * v[0] + np.sum(m[0]) + np.sum(w) + len(v) + sum(parts)"
CASES = [(body, loop) for body in BODIES for loop in LOOPS if (body, loop) != ("a list too", "nested")]
"""A list that loops within loops make longer by a number that depends on the data is refused."""


def text_of(body: str, loop: str) -> str:
    name = "m" if "m = m" in BODIES[body] else "v"
    lines = BODIES[body] if loop != "nested" else BODIES[body].replace("\n", "\n    ")
    made = LOOPS[loop].replace("{name}", name).replace("{}", lines)
    start = "v, m, w, s, parts = x * 1.0, np.outer(x, x), x * 2.0, 0.0, []"
    return (
        "import numpy as np\n\n\ndef shorter(v, c):\n    return c * v[1:] - v[:-1]\n\n\n"
        f"def f(x, c, n):\n    {start}\n    {made}\n    {AFTER}\n"
    )


def problem(body: str, loop: str) -> str:
    text = text_of(body, loop)
    names: dict[str, Any] = {}
    exec(text, names)
    plain, made = names["f"], tp.from_source(text)
    for size, n in ((7, 3), (9, 3), (5, 0), (6, 2)):
        x = np.linspace(0.4, 1.3, size)
        try:
            wanted = plain(x, 0.5, n)
        except (ValueError, IndexError):
            continue
        steps = np.eye(size) * 1e-6
        slope = [(plain(x + e, 0.5, n) - plain(x - e, 0.5, n)) / 2e-6 for e in steps]
        value, gradient = tp.value_and_grad(made)(x, 0.5, n)
        if not np.allclose(value, wanted) or not np.allclose(gradient, slope, rtol=1e-5, atol=1e-6):
            return f"{(size, n)}: {value, gradient}, {wanted, slope} in Python\n{text}"
    return ""


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("body", "loop"), CASES)
def test_shrinking(body: str, loop: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not problem(body, loop)
