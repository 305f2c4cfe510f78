"""Random loop nests, for the rewrites of `transpile.loops`, with subscripts and ranges of every sort.

A program has arrays of two sizes, in place and temporary, loops in and after one another, and returns one float. Its arguments
have variants: number 0 is valid, others are empty, of other sizes, or wild. ``python tests/fuzz/run_nests.py`` runs many.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

Lines = list[str]
ARRAYS = {"x": "n", "y": "n", "z": "m", "A": "nm", "B": "mn", "f": "n", "k": "n"}  # array -> the names of its sizes
INTEGERS = ("k", "c")
VARIANTS = (
    "fair",
    "no rows",
    "no columns",
    "others",
    "short",
    "long",
    "wild number",
    "wild index",
    "square",
    "transposed",
)

ARGS = """
def args(variant=0):
    rng = np.random.default_rng({seed})
    n, m = [({n}, {m}), (0, {m}), ({n}, 0), (2, 4), ({n}, {m}), ({n}, {m}), ({n}, {m}), ({n}, {m}), (3, 3), ({m}, {n})][variant]
    short, long = variant == 4, variant == 5
    values = {{
        "x": rng.normal(size=n), "y": rng.normal(size=max(n - short, 0) + long), "z": rng.normal(size=m + long),
        "A": rng.normal(size=(n + long, max(m - short, 0))), "B": rng.normal(size=(m, n)),
        "f": rng.normal(size=n).astype(np.float32), "k": rng.integers(0, max(n, 1), size=n),
        "p": 1, "q": 2, "s": 0.5,
    }}
    if variant == 6:
        values["p"] = int(rng.choice(np.array([-1, -7, 2**40, -2**40, 2**62, -2**62, n, n + 1])))
        values["q"] = int(rng.choice(np.array([-1, 0, 3, -2**62, n + 2, 2**62])))
    if variant == 7:
        values["k"] = rng.choice(np.array([-1, -n, -n - 1, n, 2**40, -2**62, 2**62, 0]), size=n)
        values["x"][:1] = np.nan
    return tuple(values[name] for name in {names!r})
"""


@dataclass
class Scope:
    """The visible names: loop indices with the size to which they run, arrays with their sizes, float scalars."""

    indices: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, str] = field(default_factory=dict)
    scalars: list[str] = field(default_factory=list)
    depth: int = 0

    def inner(self, **indices: str) -> Scope:
        return Scope({**self.indices, **indices}, dict(self.arrays), list(self.scalars), self.depth + 1)


class Maker:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"nest {seed}")
        self.count = 0
        self.lines = 0
        self.wants_smooth = self.rng.random() < 0.7

    def choose(self, *options):  # type: ignore[no-untyped-def]
        return self.rng.choice(options)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    # ------------------------------------------------------------------------------------------- expressions

    def subscript(self, s: Scope, size: str) -> str:
        """An index of an axis, mostly in range."""
        fitting = [i for i, to in s.indices.items() if to == size]
        if fitting and self.chance(0.9):
            i = self.rng.choice(fitting)
        elif s.indices and self.chance(0.3):
            i = self.rng.choice(list(s.indices))
        else:
            return self.choose("0", "1", "-1", f"{size} - 1", "p", "2", f"{size} // 2")
        forms = (
            [i] * 9 + [f"{i} - 1"] * 3 + [f"{size} - 1 - {i}"] * 2 + [f"({i} + 1) % {size}", f"{i} + 1", f"{i} + p - 1"]
        )
        if size == "n" and "k" in s.arrays:
            forms.append(f"k[{i}]")
        return self.rng.choice(forms)

    def element(self, s: Scope, floats: bool = True) -> str:
        """An element of an array."""
        names = [a for a in s.arrays if (a not in INTEGERS) == floats]
        if not names:
            return "s" if floats else "p"
        a = self.rng.choice(names)
        return f"{a}[{', '.join(self.subscript(s, size) for size in s.arrays[a])}]"

    def number(self, s: Scope, depth: int = 2) -> str:
        """A float expression."""
        if depth <= 0 or self.chance(0.25):
            options = [self.element(s)] * 5 + [self.choose("0.5", "1.5", "-0.7", "2.0", "s"), *s.scalars]
            options += [f"float({i})" for i in s.indices] + [f"math.sin({self.element(s, False)} * 0.25)"] * (
                "k" in s.arrays
            )
            return self.rng.choice(options)
        a, b = self.number(s, depth - 1), self.number(s, depth - 1)
        options = [f"({a} + {b})", f"({a} - {b})", f"{a} * ({b})", f"0.5 * ({a})", f"math.sin({a})", f"np.tanh({a})",
                   f"math.exp(-abs({a}))", f"np.exp(-({a}) ** 2)", f"({a}) / (1.5 + ({b}) ** 2)"]  # fmt: skip
        if not self.wants_smooth:
            options += [f"max({a}, {b})", f"min({a}, 0.3)", f"({a} if {self.test(s)} else {b})", f"abs({a})"]
        return self.rng.choice(options)

    def row(self, s: Scope) -> str | None:
        """An array expression of size m, or None."""
        if "A" not in s.arrays:
            return None
        rows = [i for i, to in s.indices.items() if to == "n"]
        options = ["z"] * ("z" in s.arrays) + [f"A[{i}]" for i in rows] + ["A[0]"]
        options += [f"B[:, {i}]" for i in rows if "B" in s.arrays]
        a, b = self.rng.choice(options), self.rng.choice(options)
        return self.choose(f"np.tanh({a})", f"{a} * {b}", f"0.5 * {a} + {b}", f"np.sin({a}) * {self.number(s, 1)}")

    def test(self, s: Scope) -> str:
        tests = [f"{self.number(s, 1)} > 0.1", f"{self.number(s, 0)} < {self.number(s, 0)}", "q > 1"]
        for i in s.indices:
            tests += [f"{i} > 0", f"{i} % 2 == 0", f"{i} != p", f"{i} + 1 < n", f"{i} < {self.choose('n', 'm', 'q')}"]
        return self.rng.choice(tests)

    # --------------------------------------------------------------------------------------------- statements

    def range(self, s: Scope) -> tuple[str, str]:
        """A range and the size to which it runs."""
        size = self.choose("n", "n", "m")
        forms = [f"range({size})"] * 8
        forms += [f"range(1, {size})", f"range({size} - 1)", f"range(1, {size} - 1)", f"range({size} - 1, -1, -1)"] * 2
        forms += [
            f"range(0, {size}, 2)",
            f"range(1, {size}, 2)",
            f"range({size} - 1, 0, -2)",
            f"range({size} - 1, 0, -1)",
        ]
        forms += [f"range(p, {size})", "range(q)", "range(3)", "range(p, q + 1)", f"range({size} - 2, -1, -1)"]
        for i in s.indices:
            forms += [f"range({i})", f"range({i}, {size})", f"range({i} + 1, {size})", f"range({i} + 1)"]
        return self.rng.choice(forms), size

    def loop(self, s: Scope) -> Lines:
        text, size = self.range(s)
        i = self.rng.choice([v for v in ("i", "j", "l", "a", "b") if v not in s.indices] or [self.fresh("i")])
        inner = s.inner(**{i: size})
        lines = self.block(inner, self.choose(1, 1, 2, 3))
        if self.chance(0.08):
            where = self.rng.randrange(len(lines) + 1)
            top = [k for k, line in enumerate(lines) if not line.startswith(" ") and not line.startswith("else")] + [
                len(lines)
            ]
            where = min(top, key=lambda k: abs(k - where))
            lines[where:where] = [f"if {self.test(inner)}:", f"    {self.choose('break', 'continue')}"]
        return [f"for {i} in {text}:", *("    " + line for line in lines)]

    def store(self, s: Scope) -> Lines:
        target = self.element(s, floats=self.chance(0.93))
        if target.startswith(INTEGERS) and "[" in target:
            return (
                [f"{target} {self.choose('+=', '=')} {self.choose('1', 'q')}"]
                if target.startswith("c")
                else self.fold(s)
            )
        if "[" not in target:
            return self.fold(s)
        a = self.number(s)
        return [self.choose(f"{target} = np.tanh({a})", f"{target} += 0.3 * ({a})", f"{target} = 0.5 * {target} + math.sin({a})",
                            f"{target} *= 0.5", f"{target} -= math.sin({a})", f"{target} = {self.number(s, 0)}")]  # fmt: skip

    def fold(self, s: Scope) -> Lines:
        return [self.choose(f"total += {self.number(s)}", f"total = 0.9 * total + {self.number(s)}",
                            f"total += {self.number(s, 1)} * {self.number(s, 1)}")]  # fmt: skip

    def scalar(self, s: Scope) -> Lines:
        name = self.fresh("u")
        line = f"{name} = {self.number(s)}"
        s.scalars.append(name)
        return [line]

    def sum(self, s: Scope) -> Lines:
        """A local sum over an inner loop, stored in an element."""
        name = self.fresh("r")
        text, size = self.range(s)
        i = next(v for v in "ijlabcdefgh" if v not in s.indices)
        inner = s.inner(**{i: size})
        lines = [f"{name} = 0.0", f"for {i} in {text}:", f"    {name} += {self.number(inner)}"]
        s.scalars.append(name)
        target = self.element(s)
        return [*lines, f"{target} = 0.5 * np.tanh({name})"] if "[" in target else [*lines, f"total += {name}"]

    def branch(self, s: Scope) -> Lines:
        lines = [f"if {self.test(s)}:", *("    " + x for x in self.block(s.inner(), 1))]
        if self.chance(0.4):
            lines += ["else:", *("    " + x for x in self.block(s.inner(), 1))]
        return lines

    def slices(self, s: Scope) -> Lines:
        a = self.rng.choice([a for a, sizes in s.arrays.items() if sizes == "n" and a not in INTEGERS] or ["x"])
        b = self.rng.choice([a for a, sizes in s.arrays.items() if sizes == "n" and a not in INTEGERS] or ["x"])
        row = self.row(s)
        options = [f"{a}[1:] += 0.3 * {b}[:-1]", f"{a}[:] = np.tanh({b})", f"total += np.sum({a} * {b})", f"{a}[::2] *= 0.5",
                   f"{a}[p:] += 0.1", f"{a}[:-1] = {a}[1:] * 0.5", f"{a} += 0.2 * {b}[::-1]",
            f"total += np.max({a}[:2])", f"{a} += 0.2 * (np.roll({b}, -1) - np.roll({b}, 1))",
                   f"{a}[:] = np.tanh(np.roll({b}, p))", f"total += np.sum({a} * np.roll({b}, 2) * np.roll({b}, -1))"]  # fmt: skip
        if row is not None:
            rows = [i for i, to in s.indices.items() if to == "n"]
            options += [f"total += np.sum({row})", f"A[{self.rng.choice(rows) if rows else 0}] = {row}"] * 3
        return [self.rng.choice(options)]

    def rare(self, s: Scope) -> Lines:
        w = self.fresh("w")
        options = [
            [f"if {self.test(s)} and q > 2:", "    raise ValueError('q')"],
            [f"{w} = 0", f"while {w} < q:", *("    " + x for x in self.block(s.inner(), 1)), f"    {w} += 1"],
            ["print('at', q)"],
            [f"total += float({self.element(s, False)} // q)"],
            [f"total += np.sum(x[k]) * {self.number(s, 0)}"] if "k" in s.arrays else self.fold(s),
        ]
        return self.rng.choice(options)

    def temporary(self, s: Scope) -> Lines:
        """A new array; if it is not filled, a loop fills it."""
        name, sizes = self.fresh("t"), self.choose("n", "n", "m", "nm", "mn")
        shape = f"({', '.join(sizes)},)"
        lines = [f"{name} = np.{self.choose('zeros', 'ones')}({shape})"]
        if self.chance(0.5):
            indices = dict(zip("ij", sizes))
            inner = s.inner(**indices)
            lines = [f"{name} = np.empty({shape})"]
            pad = ""
            for i, size in indices.items():
                lines.append(f"{pad}for {i} in range({size}):")
                pad += "    "
            lines.append(f"{pad}{name}[{', '.join(indices)}] = {self.number(inner)}")
        s.arrays[name] = sizes
        return lines

    def block(self, s: Scope, count: int) -> Lines:
        lines: Lines = []
        for _ in range(count):
            self.lines += 1
            deep = s.depth >= 4 or self.lines > 26
            kinds: Sequence = [self.store] * 7 + [self.fold] * 3 + [self.scalar] * 2 + [self.slices, self.rare]
            if not deep:
                kinds = [
                    *kinds,
                    self.sum,
                    self.sum,
                    self.branch,
                    self.branch,
                    self.temporary,
                    *[self.loop] * (8 - 2 * s.depth),
                ]
            lines += self.rng.choice(kinds)(s)
        return lines


def generate(seed: int) -> str:
    """The program of a seed."""
    g = Maker(seed)
    names = [*g.rng.sample(list(ARRAYS), g.choose(2, 3, 3, 4))]
    names = ["x", *[a for a in names if a != "x"]]
    s = Scope(arrays={a: ARRAYS[a] for a in names})
    n, m = g.choose((5, 4), (4, 4), (6, 3), (4, 5), (3, 3))
    lines: Lines = []
    for _ in range(g.choose(2, 3, 4)):
        lines += g.rng.choice([g.loop, g.loop, g.loop, g.loop, g.temporary, g.sum, g.slices])(s)
    sums = " + ".join(f"np.sum({a})" for a in s.arrays)
    size = "z.shape[0]" if "z" in names else "A.shape[1]" if "A" in names else "B.shape[0]" if "B" in names else "m_"
    parameters = [*names, "p", "q", "s"]
    head = ["n = x.shape[0]", f"m = {size}" if size != "m_" else "m = n", "total = 0.0"]
    body = [*head, *lines, f"return total + 0.1 * ({sums})"]
    wrt = tuple(k for k, a in enumerate(parameters) if a not in ("k", "p", "q"))
    return "\n".join([
        f'"""Random loop nest {seed}."""', "", "import math", "", "import numpy as np", "", "",
        f"def program({', '.join(parameters)}):", *("    " + line for line in body), "",
        ARGS.format(seed=seed, n=n, m=m, names=parameters), "", f"WRT = {wrt}", "",
    ])  # fmt: skip
