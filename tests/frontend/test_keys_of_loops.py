"""Keys and indices that a loop counts: each way to write the key, in each kind of loop over known numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transpile as tp

KEYS = {
    'p[f"W{i}"]': "names", 'p["W%d" % i]': "names", 'p["W{}".format(i)]': "names", 'p["W" + str(i)]': "names",
    'p[f"W{i + 1 - 1}"]': "names", 'p.get(f"W{i}")': "names", 'p[f"W{i}"] if f"W{i}" in p else x': "names",
    'getattr(o, f"W{i}")': "names", "p[i]": "numbers", 'p["W", i]': "pairs", "p[i, i + 1]": "twos", "p[str(i)]": "digits",
    'p[f"{i:02d}"]': "padded", "p[-1 - i]": "list", "p[i]['a']": "dicts", "p[i](x)": "functions", "p[i][0]": "tuples",
    '{f"W{k}": v for k, v in enumerate(p.values())}[f"W{i}"]': "names", 'p[f"layer{i}"]["a"]': "nested",
    'p[f"W{2 - i}"]': "names", 'p[["W0", "W1", "W2"][i]]': "names", 'p[f"{names[0]}{i}"]': "names",
    "p[names[i:i + 1] + str(i)]": "sliced",
}  # fmt: skip
LOOPS = {
    "range": "for i in range(3):\n        s = s * np.sum(x * ({})) + i",
    "from": "for i in range(2, -1, -1):\n        s = s * np.sum(x * ({})) + i",
    "len": "for i in range(len(p)):\n        s = s * np.sum(x * ({})) + i",
    "argument": "for i in range(n):\n        s = s * np.sum(x * ({})) + i",
    "enumerate": "for i, v in enumerate([x, 2.0 * x, 3.0 * x]):\n        s = s * np.sum(v * ({})) + i",
    "enumerated": "for i, v in enumerate(x[:3]):\n        s = s * np.sum(v * ({})) + i",
    "zip": "for i, v in zip(range(3), x):\n        s = s * np.sum(v * ({})) + i",
    "nested": "for j in range(2):\n        for i in range(3):\n            s = s * np.sum(x * ({})) + i * j",
    "branch": "for i in range(3):\n        if x[0] > 0.0:\n            s = s * np.sum(x * ({})) + i",
    "break": "for i in range(9):\n        if i == 3:\n            break\n        s = s * np.sum(x * ({})) + i",
    "helper": "def at(i):\n        return {}\n    for i in range(3):\n        s = s * np.sum(x * at(i))",
    "list": "s = sum([np.sum(x * ({})) for i in range(3)])",
    "generator": "s = sum(np.sum(x * ({})) * i for i in range(3))",
}
NAMES = "WWW"


class Layers:
    def __init__(self, arrays: list[Any]) -> None:
        self.W0, self.W1, self.W2 = arrays


def structure(kind: str) -> Any:
    arrays = [np.array([0.5, 0.2, 0.3]), np.array([0.1, 0.4, 0.2]), np.array([0.3, 0.3, 0.6])]
    keys: dict[str, list[Any]] = {
        "names": ["W0", "W1", "W2"], "numbers": [0, 1, 2], "pairs": [("W", 0), ("W", 1), ("W", 2)],
        "twos": [(0, 1), (1, 2), (2, 3)],
        "digits": ["0", "1", "2"], "padded": ["00", "01", "02"], "sliced": ["W0", "W1", "W2"],
    }  # fmt: skip
    if kind in keys:
        return dict(zip(keys[kind], arrays))
    if kind == "nested":
        return {f"layer{k}": {"a": a} for k, a in enumerate(arrays)}
    made = {
        "list": lambda: arrays,
        "dicts": lambda: [{"a": a} for a in arrays],
        "tuples": lambda: [(a, 1.0) for a in arrays],
    }
    return made[kind]() if kind in made else [np.sin, np.cos, np.tanh]


CASES = [(key, loop) for key in KEYS for loop in LOOPS]


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("key", "loop"), CASES, ids=[f"{loop}-{k}" for k, key in enumerate(KEYS) for loop in LOOPS])
def test_keys_of_loops(key: str, loop: str) -> None:
    text = (
        f"import numpy as np\n\n\ndef f(x, p, o, n, names):\n    s = 1.0\n    {LOOPS[loop].format(key)}\n    return s\n"
    )
    kind = KEYS[key]
    p = structure(kind)
    layers = Layers(structure("list"))
    names: dict[str, Any] = {}
    exec(text, names)
    plain, made = names["f"], tp.from_source(text)
    if kind == "functions":
        f, g = (lambda x: plain(x, p, layers, 3, NAMES)), (lambda x: made(x, p, layers, 3, NAMES))
        given = [()]
    else:
        f = lambda x, p: plain(x, p, layers, 3, NAMES)  # noqa: E731
        g = lambda x, p: made(x, p, layers, 3, NAMES)  # noqa: E731
        given = [(p,)]
    x = np.array([0.7, 1.1, 0.4])
    value, gradient = tp.value_and_grad(g)(x, *given[0])
    np.testing.assert_allclose(value, f(x, *given[0]))
    steps = np.eye(3) * 1e-6
    slope = [(f(x + e, *given[0]) - f(x - e, *given[0])) / 2e-6 for e in steps]
    np.testing.assert_allclose(gradient, slope, atol=1e-6)
