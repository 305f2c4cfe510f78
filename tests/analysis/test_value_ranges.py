"""What is said of integers is so: random ones are computed, as 64 bits hold them, facts that are true of them are learnt, and each
answer is compared with what they are."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from transpile.analysis.affine import Forms, Linear
from transpile.analysis.value_ranges import LIMIT, LONGEST, Facts, as_extremum
from transpile.core import nodes as ir
from transpile.core.dims import ANY
from transpile.core.types import BOOL, INT, Type
from transpile.ops.traits import EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, NOT_EQUAL
from transpile.simplify.known_integers import simpler, without_zero

Values = dict[ir.Var, int]
RELATIONS = {
    LESS: int.__lt__,
    LESS_EQUAL: int.__le__,
    GREATER: int.__gt__,
    GREATER_EQUAL: int.__ge__,
    EQUAL: int.__eq__,
    NOT_EQUAL: int.__ne__,
}


def wrapped(number: int) -> int:
    """What 64 bits hold of it."""
    return (number + LIMIT) % (2 * LIMIT) - LIMIT


def clipped(x: int, n: int) -> int:
    x = wrapped(x + n) if x < 0 else x
    return 0 if x < 0 else min(x, n)


always: Callable[..., bool] = lambda *_: True  # noqa: E731
OPERATIONS: dict[str, tuple[Callable[..., int], Callable[..., bool]]] = {  # and what must be so of the operands
    "add": (lambda a, b: a + b, always),
    "sub": (lambda a, b: a - b, always),
    "mul": (lambda a, b: a * b, always),
    "maximum": (max, always),
    "minimum": (min, always),
    "floordiv": (lambda a, b: a // b, lambda a, b: b != 0),
    "mod": (lambda a, b: a % b, lambda a, b: b != 0),
    "arrays.wrap": (lambda a, b: a % b, lambda a, b: b > 0),
    "arrays.bound": (clipped, lambda a, b: b >= 0),
    "quick_div": (lambda a, b: a // b, lambda a, b: a >= 0 and b > 0),
    "quick_mod": (lambda a, b: a % b, lambda a, b: a >= 0 and b > 0),
    "neg": (lambda a: -a, always),
    "absolute": (abs, always),
    "sign": (lambda a: (a > 0) - (a < 0), always),
    "invert": (lambda a: ~a, always),
    "square": (lambda a: a * a, always),
    "bitwise_and": (lambda a, b: a & b, always),
    "bitwise_or": (lambda a, b: a | b, always),
    "bitwise_xor": (lambda a, b: a ^ b, always),
    "left_shift": (lambda a, b: a << b, lambda a, b: 0 <= b < 64),
    "right_shift": (lambda a, b: a >> b, lambda a, b: 0 <= b < 64),
    "gcd": (math.gcd, always),
}
UNARY = ("neg", "absolute", "sign", "invert", "square")


class Case:
    """Integers that are computed from each other, with their values, and what has been learnt of them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.values: Values = {}
        self.lets: list[ir.Let] = []
        array = ir.Var("a", Type("float64", (ANY,) * 3))
        for axis in range(3):
            self.define(ir.Let(ir.Var(f"n{axis}", INT), "dim", (array,), {"axis": axis}), self.size())
        for k in range(3):
            self.values[ir.Var(f"p{k}", INT)] = self.number()
        self.facts = Facts(Forms(ir.Block((), [*self.lets])))
        for let in self.lets:
            self.facts.learn(let)
        steps = [self.compute] * 7 + [self.compare] * 5 + [self.enter] * 2
        self.random.shuffle(steps)
        for step in steps:
            step()

    # ---- what there is

    def size(self) -> int:
        return self.random.choice((0, 1, 2, 3, 7, 1000, 2**40, LONGEST))

    def number(self) -> int:
        few, many = self.random.randint(-4, 9), self.random.choice((2**31, 2**62, LIMIT - 1, -LIMIT, -(2**40)))
        return few if self.random.random() < 0.7 else wrapped(many + self.random.randint(-2, 2))

    def operand(self) -> ir.Operand:
        if self.random.random() < 0.25:
            return ir.Const(self.random.choice((0, 1, 2, 3, -1, 5)), INT)
        return self.random.choice([*self.values])

    def value(self, op: ir.Operand) -> int:
        return op.value if isinstance(op, ir.Const) else self.values[op]

    def define(self, let: ir.Let, value: int) -> None:
        self.lets.append(let)
        self.values[let.var] = value

    def known(self, let: ir.Let, value: int) -> None:
        self.define(let, value)
        self.facts.forms.learn(let)
        self.facts.learn(let)

    # ---- steps

    def compute(self) -> None:
        name = self.random.choice([*OPERATIONS])
        function, is_allowed = OPERATIONS[name]
        args = tuple(self.operand() for _ in range(1 if name in UNARY else 2))
        given = [self.value(a) for a in args]
        if is_allowed(*given):
            params = {"py": True} if name in ("maximum", "minimum") else {}
            self.known(ir.Let(ir.Var(name, INT), name, args, params), wrapped(function(*given)))

    def compare(self) -> None:
        """A test that is true or not: what it says is learnt; and a choice by it."""
        relation = self.random.choice([*RELATIONS])
        a, b = self.operand(), self.operand()
        let = ir.Let(ir.Var("test", BOOL), relation.name, (a, b), {})
        holds = RELATIONS[relation](self.value(a), self.value(b))
        self.facts.forms.learn(let)
        if self.random.random() < 0.3:
            sides = self.operand(), self.operand()
            self.known(ir.Let(ir.Var("chosen", INT), "where", (let.var, *sides), {}), self.value(sides[not holds]))
        else:
            self.facts.test(let, holds)

    def enter(self) -> None:
        """A trip of a loop."""
        step = self.random.choice((1, 1, 2, -1, -3))
        start, bound = self.operand(), self.operand()
        numbers = range(self.value(start), self.value(bound), step)
        if not numbers:
            return
        index = ir.Var("i", INT)
        self.values[index] = self.random.choice(
            (numbers[0], numbers[-1], numbers[self.random.randrange(min(len_of(numbers), 50))])
        )
        self.facts.enter(ir.For(index, start, bound, ir.Const(step, INT), (), ir.Block((), [])))

    # ---- questions

    def of(self, form: Linear) -> int:
        return form.const + sum(c * self.values[v] for v, c in form.terms)

    def form(self) -> Linear:
        found = Linear(self.random.randint(-3, 3))
        for var in self.random.sample([*self.values], self.random.randint(1, 3)):
            found = found.plus(Linear.atom(var), self.random.choice((1, -1, 1, -1, 2)))
        return found

    def check(self) -> int:
        """Asks, and compares; how many answers there were."""
        facts, answers = self.facts, 0
        for var, value in self.values.items():
            low, high = facts.range(Linear.atom(var))
            assert low <= value <= high, (var, value, low, high)
            assert self.of(facts.form(var)) == value, (var, facts.form(var))
            answers += (low, high) != (-LIMIT, LIMIT - 1)
        for _ in range(30):
            form = self.form()
            low, high = facts.range(form)
            assert low <= self.of(form) <= high
            if facts.is_not_negative(form):
                answers += 1
                assert self.of(form) >= 0, form
            a, b = self.operand(), self.operand()
            relation = self.random.choice([*RELATIONS])
            known = facts.compare(relation, facts.form(a), facts.form(b))
            assert known in (None, RELATIONS[relation](self.value(a), self.value(b))), (relation, a, b)
            answers += known is not None
        for let in self.lets:
            if let.prim == "dim":
                continue
            kind, args = as_extremum(let)
            chosen = facts.chosen(kind, args) if kind else None
            assert chosen is None or self.value(chosen) == self.values[let.var], (let, chosen)
            answers += self.is_simpler(let, simpler(let, facts)) + self.is_simpler(let, without_zero(let, facts))
        return answers

    def is_simpler(self, let: ir.Let, found: ir.Operand | ir.Let) -> bool:
        if found is let or (isinstance(found, ir.Let) and found.prim not in OPERATIONS):
            return False
        if isinstance(found, ir.Let):
            function, is_allowed = OPERATIONS[found.prim]
            given = [self.value(a) for a in found.args]
            assert is_allowed(*given), found
            value = wrapped(function(*given))
        else:
            value = self.value(found)
        assert value == self.values[let.var], (let, found)
        return True


def len_of(numbers: range) -> int:
    """Of a range that may be longer than `len` can say."""
    return (numbers[-1] - numbers[0]) // numbers.step + 1


@pytest.mark.parametrize("part", range(8))
def test_answers_are_right(part: int) -> None:
    answers = sum(Case(seed).check() for seed in range(200 * part, 200 * part + 200))
    assert answers > 200 * 20  # or nothing is known and nothing is tested
