"""Messages about what is refused say what is so: no size has a name that the user did not give, no list is one that is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transpile as tp


class Filter:
    def __init__(self) -> None:
        self.state = None


def attribute(x):
    made = Filter()
    for k in range(len(x)):
        made.state = x[k]
    return made.state


def nested(x):
    table = [[0.0 for _ in range(x.shape[1])] for _ in range(x.shape[0])]
    return np.sum(np.array(table)) + x[0, 0]


class Body:
    def __init__(self, x: Any) -> None:
        self.x = x


def others(x):
    bodies = [Body(x[i]) for i in range(len(x))]
    total = 0.0
    for body in bodies:
        for other in bodies:
            if other != body:
                total = total + other.x * body.x
    return total


def joined(x):
    out = np.zeros(0)
    for k in range(len(x)):
        out = x[:1] if k == 0 else np.append(out, x[k])
    return out


def parts(q, n):
    part = q[:n]
    for i in range(len(q)):
        part = np.concatenate([part, q[:i]])
    return part


def spread(x, n):
    return (lambda *a: sum(a))(*x[:n])


CASES = [
    (attribute, (np.ones(3),), r"attribute 'state' of an object is None before the loop body and a"),
    (nested, (np.ones((3, 2)),), "holds lists whose lengths depend on the data"),
    (others, (np.ones(3),), "the answer to '!=' depends on the data"),
    (joined, (np.ones(3),), r"'out' is float64\[0\] before the loop body and float64\[(1|\?)\] after it"),
    (parts, (np.ones(3), 2), r"'part' is float64\[\?\] before the loop body(.*\n)*.*\? is a size that is only known at run time"),
    (spread, (np.ones(3), 2), r"the size \? must be known"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args", "said"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_what_is_said(f: Any, args: tuple[Any, ...], said: str) -> None:
    with pytest.raises(tp.TranspileError, match=said):
        tp.jit(f)(*args)
