"""The state of a random program at one point: names by kind, names that share memory, and random expressions over them.

Kinds: ``s`` a float, ``v`` an array of length ``n``, ``m`` an ``n`` by ``n`` matrix, ``i`` an integer that is an index.
Every expression is smooth and bounded: growing values go through ``tanh`` or ``sin``, divisors and radicands are at least 1.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class Scope:
    """The visible names. ``memory[name]`` is equal for two arrays that may share memory."""

    s: list[str] = field(default_factory=list)
    v: list[str] = field(default_factory=list)
    m: list[str] = field(default_factory=list)
    i: list[str] = field(default_factory=list)
    memory: dict[str, int] = field(default_factory=dict)
    depth: int = 0  # of loops and branches
    loops: int = 0  # of loops in this function
    outer: frozenset[str] = frozenset()  # the names defined before the innermost block
    risky: bool = False  # aliasing may depend on control flow

    def inner(self, loop: bool = False) -> Scope:
        """The scope of a nested block; names defined in it are forgotten after it."""
        return Scope(
            list(self.s),
            list(self.v),
            list(self.m),
            list(self.i),
            dict(self.memory),
            self.depth + 1,
            self.loops + loop,
            frozenset(self.memory) | frozenset(self.s),
            self.risky,
        )

    def names(self) -> set[str]:
        return {*self.s, *self.v, *self.m, *self.i}

    def is_alone(self, name: str) -> bool:
        """Whether no other visible name may share the array's memory."""
        return list(self.memory.values()).count(self.memory[name]) == 1

    def rebindable(self, kind: str) -> list[str]:
        """The arrays that may be rebound here: in a nested block, which may not run, an array from outside only if no other
        name shares its memory, so that aliasing never depends on control flow."""
        free = not self.depth or self.risky
        return [x for x in getattr(self, kind) if free or x not in self.outer or self.is_alone(x)]


class Words:
    """Random choices, fresh names and expressions of one program."""

    # some look like names that the compiler generates
    NAMES = {
        "s": "a b c e t r q total rate x_dot t_bar".split(),
        "v": "u w p z d h x_bar y_dot buf row_tape".split(),
        "m": "B C D G H grid".split(),
        "i": "i j k l".split(),
    }

    def __init__(self, rng: random.Random, n: int) -> None:
        self.rng = rng
        self.n = n
        self.taken = {"n", "np", "math", "program", "args"}
        self.memories = 0
        self.used: set[str] = set()

    def choose(self, *options):
        return self.rng.choice(options[0] if len(options) == 1 else options)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def fresh(self, kind: str) -> str:
        """A name that the program has not used."""
        pool = [x for x in self.NAMES[kind] if x not in self.taken]
        name = self.choose(pool) if pool else f"{self.NAMES[kind][0]}{len(self.taken)}"
        self.taken.add(name)
        return name

    def declare(self, scope: Scope, kind: str, name: str, like: str | None = None) -> str:
        """Makes a name visible; an array with new memory, or the memory of ``like``."""
        if name not in getattr(scope, kind):
            getattr(scope, kind).append(name)
        if kind in "vm":
            if like is None:
                self.memories += 1
                scope.memory[name] = self.memories
            else:
                scope.memory[name] = scope.memory[like]
        return name

    def number(self) -> str:
        return self.choose("0.5", "1.5", "0.3", "-0.7", "2.0", "1.0", "0.25", "-1.2", "0.9")

    def size(self) -> str:
        """The length, in one of its spellings."""
        return self.choose("n", "n", str(self.n))

    # --------------------------------------------------------------------------------------------- expressions

    def index(self, scope: Scope) -> str:
        """An integer in range for n, from the front or the back."""
        if scope.i and self.chance(0.6):
            i = self.choose(scope.i)
            return self.choose(i, i, f"{i} - 1", f"n - 1 - {i}", f"({i} + 1) % n")
        return self.choose("0", "1", "-1", "n - 1", "n // 2", str(self.n - 1))

    def scalar(self, scope: Scope, depth: int = 2) -> str:
        """A float."""
        if depth <= 0:
            options = list(scope.s) * 2 + [self.number()]
            options += [f"{x}[{self.index(scope)}]" for x in scope.v]
            options += [f"{x}[{self.index(scope)}, {self.index(scope)}]" for x in scope.m]
            return self.choose(options)
        a, b = self.scalar(scope, depth - 1), self.scalar(scope, depth - 1)
        options = [
            lambda: f"{a} + {b}",
            lambda: f"{a} - 0.5 * {b}" if _is_plain(b) else f"{a} - ({b})",
            lambda: f"{_paren(a)} * {_paren(b)}",
            lambda: f"{_paren(a)} / (1.5 + {_paren(b)} ** 2)",
            lambda: f"math.sin({a})",
            lambda: f"np.tanh({a})",
            lambda: f"math.sqrt(1.0 + {_paren(a)} ** 2)",
            lambda: f"0.3 * {_paren(a)} ** 3",
            lambda: f"-{_paren(a)}",
            lambda: f"np.exp(-{_paren(a)} ** 2)",
            lambda: f"np.sin({a}) * {_paren(b)}",
        ]
        if scope.i:
            options.append(lambda: f"{_paren(a)} * ({self.choose(scope.i)} + 1) * 0.5")
        if scope.v and depth > 1:
            options += [
                lambda: f"np.sum({self.vector(scope, 1)})",
                lambda: f"np.mean({self.vector(scope, 1)})",
                lambda: f"({self.vector(scope, 0)} @ {self.vector(scope, 0)}) * 0.3",
                lambda: f"{self.choose(scope.v)}.sum()",
            ]
        return self.choose(options)()

    def vector(self, scope: Scope, depth: int = 2) -> str:
        """An array of length n; with depth 0 it may be a name or a view, else it has new memory."""
        if depth <= 0:
            options = list(scope.v) * 3 + [f"{x}[::-1]" for x in scope.v]
            for x in scope.m:
                options += [f"{x}[{self.index(scope)}]", f"{x}[:, {self.index(scope)}]", f"{x}.T[{self.index(scope)}]"]
            return self.choose(options) if options else f"np.full(n, {self.number()})"
        a, b, s = self.vector(scope, depth - 1), self.vector(scope, depth - 1), self.scalar(scope, depth - 1)
        options = [
            lambda: f"{a} + {b}",
            lambda: f"{a} - {_paren(b)}",
            lambda: f"{_paren(a)} * {_paren(b)}",
            lambda: f"{_paren(s)} * {_paren(a)}",
            lambda: f"{_paren(a)} + {_paren(s)}",
            lambda: f"np.tanh({a})",
            lambda: f"np.sin({a})",
            lambda: f"{_paren(a)} / (1.0 + {_paren(b)} ** 2)",
            lambda: f"np.sqrt(1.0 + {_paren(a)} ** 2)",
            lambda: f"np.cos({a}) * {_paren(s)}",
            lambda: f"0.5 * {_paren(a)} ** 2",
        ]
        if scope.m:
            options += [
                lambda: f"0.5 * ({self.matrix(scope, 0)} @ {_paren(a)})",
                lambda: f"np.mean({self.matrix(scope, 0)}, axis={self.choose('0', '1', '-1')})",
            ]
        return self.choose(options)()

    def matrix(self, scope: Scope, depth: int = 2) -> str:
        """An n by n matrix, as for `vector`."""
        if depth <= 0:
            options = list(scope.m) * 2 + [f"{x}.T" for x in scope.m]
            return self.choose(options) if options else f"np.outer({self.vector(scope, 0)}, {self.vector(scope, 0)})"
        a, b = self.matrix(scope, depth - 1), self.matrix(scope, depth - 1)
        v, s = self.vector(scope, depth - 1), self.scalar(scope, depth - 1)
        options = [
            lambda: f"{a} + {b}",
            lambda: f"{_paren(a)} * {_paren(b)}",
            lambda: f"{_paren(a)} + {_paren(v)}",
            lambda: f"{_paren(a)} * {_paren(v)}[:, None]",
            lambda: f"np.tanh({a})",
            lambda: f"0.3 * ({_paren(a)} @ {_paren(b)})",
            lambda: f"np.outer({v}, {self.vector(scope, 0)})",
            lambda: f"{_paren(s)} * {_paren(a)}",
            lambda: f"np.sin({a}) - {_paren(s)}",
            lambda: f"{_paren(v)}[:, None] - {_paren(v)}",
        ]
        return self.choose(options)()

    def expression(self, scope: Scope, kind: str, depth: int = 2) -> str:
        """A new bounded value of the kind, to be assigned."""
        text = {"s": self.scalar, "v": self.vector, "m": self.matrix}[kind](scope, max(depth, 1))
        wrap = self.choose("np.tanh", "np.sin") if kind != "s" else self.choose("math.tanh", "np.sin", "np.tanh")
        return f"{wrap}({text})" if self.chance(0.6) or scope.loops else text

    def small(self, scope: Scope, kind: str) -> str:
        """A bounded value that may be added many times."""
        wrap = self.choose("np.tanh", "np.sin")
        text = {"s": self.scalar, "v": self.vector, "m": self.matrix}[kind](scope, 1)
        return f"0.3 * {wrap}({text})"

    def test(self, scope: Scope) -> str:
        """A condition that small changes of the arguments hardly ever flip."""
        a = self.scalar(scope, 1)
        limit = self.choose("0.13", "-0.21", "0.47", "-0.62", "0.05")
        options = [f"{a} > {limit}", f"{a} < {limit}"]
        if scope.i:
            i = self.choose(scope.i)
            options += [f"{i} % 2 == 0", f"{i} == 1", f"{i} != 0", f"{i} > 0"]
        if scope.v:
            options += [
                f"{self.choose(scope.v)}[{self.index(scope)}] > {limit}",
                f"np.sum({self.choose(scope.v)}) < {limit}",
            ]
        return self.choose(options)


def _is_plain(text: str) -> bool:
    return text.replace("_", "a").replace(".", "0").isalnum()


def _paren(text: str) -> str:
    return text if _is_plain(text) or _is_call(text) else f"({text})"


def _is_call(text: str) -> bool:
    """Whether the text is one name followed by one bracketed part."""
    opening = min((text.find(c) for c in "([" if c in text), default=-1)
    if opening <= 0 or not _is_plain(text[:opening]) or text[-1] not in ")]":
        return False
    level = 0
    for k, c in enumerate(text):
        level += (c in "([") - (c in ")]")
        if level == 0 and k >= opening and k < len(text) - 1:
            return False
    return True
