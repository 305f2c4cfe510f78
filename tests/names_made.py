"""Random functions in which a name is first set at one depth of nested loops and branches and read at another.

Loops may have no iterations, and end by ``break``, ``continue`` and ``else``; a ``del`` removes the name again; the name holds
a number, an array of known shape or of a shape that the data decide, an integer, or a tuple. Python is the reference: a value,
or UnboundLocalError. ``made(seed)`` is the text of one.
"""

from __future__ import annotations

import random

KINDS = {  # the kind of a value -> how the name is set, and how it is read
    "number": ("np.sin(x * {c}) + 0.1 * r", "np.cos({p}) * {c}"),
    "vector": ("np.array([x * {c}, 0.1 * r, 1.0])", "np.sum({p} * {p})"),
    "sized": ("np.full(n + 1, x * {c}) + 0.1 * r", "np.sum(np.sin({p}))"),
    "of data": ("a[a > {c}] * x", "np.sum({p} * {p})"),
    "integer": ("{i} + 2", "x * {p}"),
    "tuple": ("(x * {c}, 0.1 * r)", "{p}[0] * {p}[1]"),
    "written": ("np.array([x, {c}, r])", "{p}[0] * {p}[1]"),
}
CALLS = ((0, 0), (2, 0), (0, 2), (1, 3), (3, 2))  # n and m
HEAD = "import numpy as np\n\n\ndef program(x, n, m):\n    a = np.array([0.5, 1.5, 2.5]) * x\n    r = 0.3 * x\n"


class _Maker:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.kind = self.rng.choice(list(KINDS))
        self.names = ["p"] if self.rng.random() < 0.6 else ["p", "q"]
        self.indices: list[str] = []
        self.count = 0
        self.rows: list[str] = []

    def text(self) -> str:
        for name in self.names:
            if self.rng.random() < 0.6:
                self.line(1, f"if {self.test()}:")
                self.line(2, f"{name} = {KINDS[self.kind][0].format(c='1.5', i='n')}")
        self.block(1, 3)
        if self.rng.random() < 0.5:
            self.read(1)
        for name in self.names:  # so that the name is local to the function in any case
            self.line(1, f"if n > 9:\n        {name} = {KINDS[self.kind][0].format(c='2.0', i='n')}")
        return HEAD + "\n".join(self.rows) + "\n    return r\n"

    def line(self, depth: int, text: str) -> None:
        self.rows.append("    " * depth + text)

    def block(self, depth: int, deep: int, in_loop: bool = False) -> None:
        for _ in range(self.rng.randint(1, 3)):
            kinds = ["set", "set", "read"] + ["for", "for", "while", "if", "if"] * (deep > 0) + ["del"] * (depth > 1)
            getattr(self, f"{self.rng.choice(kinds)}_")(depth, deep)
        if in_loop and self.rng.random() < 0.3:
            self.line(depth, f"if {self.test()}:")
            if self.rng.random() < 0.5:
                self.set_(depth + 1, 0)
            self.line(depth + 1, self.rng.choice(("break", "continue")))
            self.read(depth)

    def number(self) -> str:
        return self.rng.choice(("0.5", "1.25", "2.0"))

    def index(self) -> str:
        return self.rng.choice([*self.indices, "m"])

    def test(self) -> str:
        return self.rng.choice(
            (f"{self.index()} > 0", f"{self.index()} == 1", "n > 1", "r < 2.0", f"{self.index()} < m")
        )

    def name(self) -> str:
        return self.rng.choice(self.names)

    def set_(self, depth: int, deep: int) -> None:
        name = self.name()
        self.line(depth, f"{name} = {KINDS[self.kind][0].format(c=self.number(), i=self.index())}")
        if self.kind == "written" and self.rng.random() < 0.5:
            self.line(depth, f"{name}[1] = x * x")

    def read_(self, depth: int, deep: int) -> None:
        self.read(depth)

    def read(self, depth: int) -> None:
        name = self.name()
        if self.kind == "written" and self.rng.random() < 0.5:
            self.line(depth, f"{name}[0] += 0.5 * x")
        self.line(depth, f"r += {KINDS[self.kind][1].format(p=name, c=self.number())}")

    def del_(self, depth: int, deep: int) -> None:
        self.line(depth, f"if {self.test()}:")
        self.line(depth + 1, f"del {self.name()}" if self.rng.random() < 0.2 else "pass")

    def if_(self, depth: int, deep: int) -> None:
        self.line(depth, f"if {self.test()}:")
        self.block(depth + 1, deep - 1)
        if self.rng.random() < 0.4:
            self.line(depth, "else:")
            self.block(depth + 1, deep - 1)

    def for_(self, depth: int, deep: int) -> None:
        self.count += 1
        index = f"i{self.count}"
        end = self.rng.choice(["n", "m", "2", "3", *(f"{i} + 1" for i in self.indices), *self.indices])
        self.line(depth, f"for {index} in range({end}):")
        self.trip(depth, deep, index)

    def while_(self, depth: int, deep: int) -> None:
        self.count += 1
        index = f"k{self.count}"
        self.line(depth, f"{index} = 0")
        self.line(depth, f"while {index} < {self.rng.choice(['n', 'm', '2'])}:")
        self.line(depth + 1, f"{index} += 1")
        self.trip(depth, deep, index)

    def trip(self, depth: int, deep: int, index: str) -> None:
        self.indices.append(index)
        self.block(depth + 1, deep - 1, True)
        self.indices.pop()
        if self.rng.random() < 0.25:
            self.line(depth, "else:")
            self.block(depth + 1, deep - 1)


def made(seed: int) -> str:
    """The text of a module with a function ``program(x, n, m)``."""
    return _Maker(seed).text()
