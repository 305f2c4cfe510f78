"""Arrays that loops hand on and change are written in place: random programs mean what they mean in Python, and keep what is kept.

Each program changes three arrays by functional updates and copies, swaps and shares them, in loops and branches: wherever the old
array is read later, a write into it would show. The programs run as they are, on NumPy, and transformed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from core_eval import evaluate
from differences import Subject, check_jvp, check_vjp
from verified import verify

import transpile as tp
from transpile.core import nodes as ir
from transpile.core.walk import statements
from transpile.driver.lifted_request import lift
from transpile.driver.request import Request

NAMES = ("a", "b", "c")
UPDATES = ("set", "add", "multiply", "max")


class Maker:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.lines = ["def f(x, n):", "    a, b, c, s = x, 0.5 * x, np.cos(x), 0.25"]
        self.count = 0

    def text(self) -> str:
        self.block(1, [])
        self.lines.append("    return a + 2.0 * b - c * s")
        return "\n".join(self.lines) + "\n"

    def pick(self, *options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def index(self, loops: list[str]) -> str:
        k = self.pick(*loops, "2") if loops else self.pick("0", "3")
        return self.pick(k, k, f"{k} % 4", f"{k} - 1", f"{k} + 2")

    def block(self, depth: int, loops: list[str]) -> None:
        for _ in range(int(self.rng.integers(2, 5))):
            self.statement(depth, loops)

    def statement(self, depth: int, loops: list[str]) -> None:
        kinds = ["update"] * 5 + ["name", "swap", "read", "whole", "both", "copy"]
        kinds += ["if", "if"] if depth < 5 else []
        kinds += ["for", "for", "while"] if len(loops) < 2 and depth < 4 else []
        kinds += ["break"] if loops else []
        getattr(self, f"_{self.pick(*kinds)}")(depth, loops)

    def _value(self, loops: list[str]) -> str:
        k = self.pick(*loops, "1") if loops else "1"
        return self.pick(f"np.sin({self.pick(*NAMES)}[{k} % 4])", f"{self.pick(*NAMES)}[({k} + 1) % 4] * 0.5", "s")

    def _updated(self, name: str, loops: list[str]) -> str:
        return f"tp.at({name})[{self.index(loops)}].{self.pick(*UPDATES)}({self._value(loops)})"

    def _update(self, depth: int, loops: list[str]) -> None:
        to = self.pick(*NAMES)
        self.add(depth, f"{to} = {self._updated(self.pick(to, to, to, *NAMES), loops)}")

    def _name(self, depth: int, loops: list[str]) -> None:
        self.add(depth, f"{self.pick(*NAMES)} = {self.pick(*NAMES)}")

    def _swap(self, depth: int, loops: list[str]) -> None:
        p, q = self.rng.permutation(NAMES)[:2]
        self.add(depth, f"{p}, {q} = {self._updated(q, loops)}, {self.pick(p, self._updated(p, loops))}")

    def _read(self, depth: int, loops: list[str]) -> None:
        self.add(depth, f"s = 0.5 * s + 0.1 * {self._value(loops)}")

    def _whole(self, depth: int, loops: list[str]) -> None:
        self.add(depth, f"{self.pick(*NAMES)} = 0.5 * {self.pick(*NAMES)} + s * {self.pick(*NAMES)}")

    def _both(self, depth: int, loops: list[str]) -> None:
        name = self.pick(*NAMES)
        self.add(depth, f"new = {self._updated(name, loops)}")
        self.add(depth, f"s = 0.25 * s + 0.1 * np.sum({self.pick(name, 'new')}) * new[1]")
        self.add(depth, f"{self.pick(*NAMES)} = new")

    def _copy(self, depth: int, loops: list[str]) -> None:
        name = self.pick(*NAMES)
        self.add(depth, f"new = {name}.copy()")
        self.add(depth, f"new[{self.pick(*loops, '1')} % 4] *= s" if loops else "new[1] *= s")
        self.add(depth, f"{self.pick(name, *NAMES)} = new")

    def _if(self, depth: int, loops: list[str]) -> None:
        k = self.pick(*loops, "1") if loops else "1"
        self.add(depth, self.pick(f"if {self.pick(*NAMES)}[{k} % 4] > 0.4:", f"if {k} > 1:"))
        self.block(depth + 1, loops)
        if self.rng.random() < 0.6:
            self.add(depth, "else:")
            self.block(depth + 1, loops)

    def _for(self, depth: int, loops: list[str]) -> None:
        k = f"k{len(loops)}"
        self.add(depth, f"for {k} in range({self.pick('n', '3', 'n - 1', '0', 'x.shape[0]')}):")
        self.block(depth + 1, [*loops, k])

    def _while(self, depth: int, loops: list[str]) -> None:
        self.count += 1
        k = f"w{self.count}"
        self.add(depth, f"{k} = 0")
        self.add(depth, f"while {k} < n and {self.pick(*NAMES)}[{k} % 4] < 2.0:")
        self.add(depth + 1, f"{k} += 1")
        self.block(depth + 1, [*loops, k])

    def _break(self, depth: int, loops: list[str]) -> None:
        self.add(depth, f"if {self.pick(*NAMES)}[{self.pick(*loops)} % 4] > 1.5:")
        self.add(depth + 1, "break" if not loops[-1].startswith("w") else f"{loops[-1]} = n")


def program(text: str) -> Any:
    """The function of a text."""
    return tp.from_source(text, {"np": np, "tp": tp})


X = np.array([0.75, -0.5, 1.25, 0.5])


@pytest.mark.parametrize("block", range(10))
@pytest.mark.sampled(10)
def test_programs_at_random(block):
    for seed in range(block * 6, block * 6 + 6):
        text = Maker(seed).text()
        f = program(text)
        for n in (0, 4):
            given = X.copy()
            wanted = f(given, n)
            scope: dict[str, Any] = {}
            source = tp.source(f, X, n)
            exec(source, scope)
            found = scope["f"](given, n)
            np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=f"{seed}\n{text}\n{source}")
            assert np.array_equal(given, X), text
            np.testing.assert_allclose(
                evaluate(core(f, X, n), given, n)[0], wanted, rtol=1e-12, err_msg=f"{seed}\n{text}"
            )
        if seed % 3 == 0:
            subject = Subject(f, lambda: (X.copy(), 4), wrt=(0,))
            check_jvp(subject, tp.jvp, differences=False)
            check_vjp(subject, tp.jvp, tp.vjp)


def core(f: Any, *args: Any) -> ir.Function:
    return verify(lift(Request.of(args, {}), f))


def copies_in_loops(fn: ir.Function) -> Iterator[ir.Alloc]:
    for stmt in statements(fn.body):
        if isinstance(stmt, (ir.For, ir.While)):
            yield from (s for s in statements(stmt.body) if isinstance(s, ir.Alloc))


IN_PLACE = {
    "one": "for k in range(n):\n        x = tp.at(x)[k].set(1.0)",
    "branch": "for k in range(n):\n        if x[k] > 0.0:\n            x = tp.at(x)[k].add(s)",
    "either": "for k in range(n):\n        if x[k] > 0.0:\n            x = tp.at(x)[k].add(s)\n"
    "        else:\n            x = tp.at(x)[0].add(s)",
    "nest": "for k in range(n):\n        for j in range(k):\n            x = tp.at(x)[j].add(x[k])",
    "then": "for k in range(n):\n        x = tp.at(x)[k].add(s)\n    for k in range(n):\n        x = tp.at(x)[k].multiply(s)",
    "while": "while x[0] < 3.0:\n        x = tp.at(x)[0].add(1.0)",
    "break": "for k in range(n):\n        if x[k] > 2.0:\n            break\n        x = tp.at(x)[k].add(s)",
    "copy": "for k in range(n):\n        y = x.copy()\n        y[k] = s\n        x = y",
}
NOT_IN_PLACE = {
    "read later": "for k in range(n):\n        y = tp.at(x)[k].set(1.0)\n        s += x[k]\n        x = y",
    "kept": "y = x\n    for k in range(n):\n        y, x = x, tp.at(x)[k].set(y[k])",
    "by branch": "for k in range(n):\n        y = x\n        if s > 0.0:\n            x = tp.at(x)[k].set(1.0)\n        s += y[k]",
}


@pytest.mark.parametrize("kind", [*IN_PLACE, *NOT_IN_PLACE])
def test_copies_in_loops(kind):
    text = {**IN_PLACE, **NOT_IN_PLACE}[kind]
    f = program(f"def f(x, n, s):\n    {text}\n    return x * s\n")
    fn = core(f, X, 3, 0.5)
    assert bool(list(copies_in_loops(fn))) == (kind in NOT_IN_PLACE)
    (found,) = evaluate(fn, X.copy(), 3, 0.5)
    np.testing.assert_allclose(found, f(X.copy(), 3, 0.5))
