"""Makes the text of a random program from a seed.

A program contains a few constructs by name in random order, others nested in them at random. The same seed gives the same text
on every machine and Python version.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .constructs import KINDS, RISKY, TEMPLATES
from .parts import indent
from .scope import Scope, Words

CONSTRUCTS = tuple(TEMPLATES)
EXITS = ("early_return", "return_in_loop", "return_in_nested_loops")
# In a nested block: no further loops below the second level, so that programs stay small.
FLAT = tuple(
    c
    for c in CONSTRUCTS
    if c not in EXITS
    and not any(
        w in c
        for w in (
            "for_",
            "while",
            "nested",
            "loop",
            "swap_buffers",
            "append",
            "inner_function",
            "rows",
            "break",
            "continue",
            "empty",
        )
    )
)
DEEPEST = 3
LONGEST = 45  # lines; longer ones get no further constructs

# The functions and classes of the module that programs use: name -> text.
DEFINITIONS = {
    "State": """
@dataclass
class State:
    u: np.ndarray
    c: float
""",
    "Pair": """
class Pair(NamedTuple):
    u: np.ndarray
    c: float
""",
    "TABLE": """
TABLE = {
    "one": (0.5, [1.0, 2.0, 0.25], np.array([0.3, -0.2, 0.7])),
    "two": (1.5, [0.1, 0.2], np.array([0.9, 0.4, -0.6])),
    "three": (2.5, [0.7], np.array([0.1, 0.4, 0.6])),
}
""",
    "entry_of": """
def entry_of(x, name):
    scale, steps, weights = TABLE[name]
    for k, step in enumerate(steps):
        if x[k] > step:
            return scale * np.sum(x[:3] * weights)
    return scale + steps[-1] * x[0]
""",
    "scalar_of": """
def scalar_of(a, b):
    if a > b + 0.11:
        return math.sin(a) * b
    return a / (1.0 + b**2)
""",
    "array_of": """
def array_of(x, a):
    y = np.zeros_like(x)
    for k in range(len(x)):
        y[k] = math.tanh(x[k] * a) + 0.2 * x[k - 1]
    return y
""",
    "mutates_of": """
def mutates_of(x, a):
    x[0] = math.sin(x[1] * a)
    x *= 0.9
    x[-1] += x[0]
""",
    "same_of": """
def same_of(x):
    x[0] *= 0.8
    return x
""",
    "pair_of": """
def pair_of(x):
    return 0.2 * np.sum(x * x), np.sin(x) + x[0]
""",
    "keyword_of": """
def keyword_of(x, *more, scale=0.5, **rest):
    total = np.tanh(scale * x)
    for v in more:
        total = total + np.sin(v)
    return total * rest.get("factor", 0.7)
""",
    "apply_of": """
def apply_of(f, x, times):
    for _ in range(times):
        x = f(x)
    return x
""",
    "rebuilt_of": """
def rebuilt_of(state, a):
    return type(state)(np.tanh(state.u + a), 0.6 * state.c + np.mean(state.u))
""",
    "changed_of": """
def changed_of(state, k, a):
    state.u[k] = np.sin(state.u[k] * a)
    state.c = 0.5 * state.c + state.u[k - 1]
    return state
""",
    "dict_of": """
def dict_of(state, a):
    return {"u": np.sin(state["u"] * a), "c": state["c"] * 0.7 + state["u"][0]}
""",
    "count_of": """
def count_of(x, limit):
    count = 0
    for v in x:
        if v > limit:
            count += 1
    return count
""",
    "first_of": """
def first_of(x, limit):
    for k in range(len(x)):
        if x[k] > limit:
            return k
    return -1
""",
    "digits_of": """
def digits_of(x, limit):
    k, count = int(abs(x[0] * 1e6)) + 3, 0
    while k > 0:
        k, count = k // 10, count + 1
    return count
""",
    "rank_of": """
def rank_of(x, limit):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low
""",
    "first_below": """
def first_below(A, limit):
    for row in A:
        for e in row:
            if e < limit:
                return math.sin(e) * limit
    return limit
""",
}
RESULTS = ("s", "s", "s", "v", "sv", "m")


@dataclass(frozen=True)
class Source:
    """The text of a module that defines ``program``, ``args()`` and ``WRT``, and the constructs in it."""

    seed: int
    text: str
    constructs: frozenset[str]


class Maker(Words):
    """Makes statements from templates."""

    def __init__(self, rng: random.Random, n: int) -> None:
        super().__init__(rng, n)
        self.defined: dict[str, None] = {}
        self.lines = 0
        self.returns = self.choose(RESULTS)

    def helper(self, kind: str) -> str:
        """The name of a function of the module."""
        return self.definition(f"{kind}_of")

    def definition(self, name: str) -> str:
        """The name of a function or class of the module."""
        self.defined[name] = None
        return name

    def make(self, scope: Scope, construct: str) -> list[str]:
        self.used.add(construct)
        lines = {**KINDS, **RISKY, **TEMPLATES}[construct](self, scope)
        self.lines += len(lines)
        return lines

    def statements(self, scope: Scope, count: int) -> list[str]:
        """A few random statements of a nested block."""
        lines: list[str] = []
        for _ in range(count):
            pool = CONSTRUCTS if scope.depth < DEEPEST and scope.loops < 2 and self.lines < LONGEST else FLAT
            if scope.depth >= DEEPEST:
                pool = tuple(c for c in pool if not c.startswith(("if_", "elif", "and_or", "chained", "walrus")))
            pool = tuple(c for c in pool if c not in EXITS or self.chance(0.3))
            lines += self.make(scope, self.choose(pool))
        return lines

    def result(self, scope: Scope) -> str:
        """The returned expression, of the same form throughout the program."""
        return ", ".join(self._result(scope, kind) for kind in self.returns)

    def _result(self, scope: Scope, kind: str) -> str:
        names = {"s": list(scope.s), "v": [f"np.sum({x})" for x in scope.v], "m": [f"np.mean({x})" for x in scope.m]}
        if kind == "s":
            terms = names["s"] + names["v"] + names["m"]
            chosen = self.rng.sample(terms, min(len(terms), self.choose(3, 5, 8)))
            return " + ".join(chosen)
        own = list(getattr(scope, kind))
        more = self.rng.sample(names["s"], min(len(names["s"]), 2))
        return " + ".join([*self.rng.sample(own, min(len(own), 3)), *more])


def wanted_of(seed: int) -> tuple[str, ...]:
    """Three constructs that the program of this seed contains. The first seeds cover each construct, 2,000 seeds each pair."""
    first, stride = seed % len(CONSTRUCTS), seed // len(CONSTRUCTS) + 1
    return tuple(CONSTRUCTS[(first + k * stride) % len(CONSTRUCTS)] for k in range(3))


def generate(seed: int, attempt: int = 0, risky: bool = False, kinds: bool = False) -> Source:
    """The program of a seed; a different one for each attempt. A ``risky`` program may be refused, and so may one of
    ``kinds``."""
    rng = random.Random(f"{seed} {attempt} {risky}" + " kinds" * kinds)
    wanted = wanted_of(seed)
    if risky or kinds:
        wanted = tuple(rng.sample(tuple(KINDS if kinds else RISKY), rng.choice((1, 1, 2))))
    maker = Maker(rng, rng.choice((3, 3, 4)))
    scope = Scope(risky=risky)
    parameters = ["x", *rng.sample(["y", "A", "s"], rng.choice((1, 2, 3)))]
    for name in parameters:
        maker.taken.add(name)
        maker.declare(scope, {"x": "v", "y": "v", "A": "m", "s": "s"}[name], name)
    if maker.returns == "m" and "A" not in parameters:
        maker.returns = "v"  # a matrix must exist wherever the program may return
    plan = [
        *wanted,
        *(maker.choose(CONSTRUCTS) for _ in range(maker.choose(0, 1, 2) if kinds else maker.choose(2, 3, 4))),
    ]
    rng.shuffle(plan)
    lines: list[str] = []
    for construct in plan:
        lines += maker.make(scope, construct)
    lines.append(f"return {maker.result(scope)}")
    return Source(seed, _module(maker, seed, parameters, lines), frozenset(maker.used))


def _module(maker: Maker, seed: int, parameters: list[str], lines: list[str]) -> str:
    shapes = {
        "x": "rng.normal(size=n)",
        "y": "rng.normal(size=n)",
        "A": "0.7 * rng.normal(size=(n, n))",
        "s": "float(rng.normal())",
    }
    text = [f'"""Random program {seed}."""', "", "import math", "from dataclasses import dataclass"]
    text += ["from typing import NamedTuple", "", "import numpy as np", "", ""]
    for name in (d for d in DEFINITIONS if d in maker.defined):
        text += [*DEFINITIONS[name].strip().split("\n"), "", ""]
    text += [
        f"def program({', '.join(parameters)}, trips):",
        "    n = len(x)",
        *indent(lines),
        "",
        "",
        "def args():",
        f"    rng, n = np.random.default_rng({seed}), {maker.n}",
        f"    return ({', '.join(shapes[p] for p in parameters)}, {maker.choose(0, 1, 2, 3)})",
        "",
        "",
        f"WRT = {tuple(range(len(parameters)))}",
        "",
    ]
    return "\n".join(text)
