"""Long expressions over several lines mean what they mean on one."""

from __future__ import annotations

import ast
import random

import pytest

from transpile.codegen.printer import flat
from transpile.codegen.wrapping import broken


class _Maker:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def node(self, deep: int) -> ast.expr:
        make = self.rng.choice((self.name, self.call, self.joined, self.binary, self.negated, self.chosen, self.part))
        return self.name(0) if deep == 0 else make(deep - 1)

    def name(self, deep: int) -> ast.expr:
        return ast.Name(self.rng.choice(("x", "weights", "np_array_of_many", "t_2")), ast.Load())

    def call(self, deep: int) -> ast.expr:
        return ast.Call(self.name(0), [self.node(deep) for _ in range(self.rng.randint(1, 3))], [])

    def joined(self, deep: int) -> ast.expr:
        """A call whose only argument is a tuple or a list, as those of ``concatenate``."""
        kind = self.rng.choice((ast.Tuple, ast.List))
        elements = [self.node(deep) for _ in range(self.rng.randint(1, 3))]
        keywords = [ast.keyword("axis", ast.Constant(1))] if self.rng.random() < 0.5 else []
        return ast.Call(self.name(0), [kind(elements, ast.Load())], keywords)

    def binary(self, deep: int) -> ast.expr:
        return ast.BinOp(self.node(deep), self.rng.choice((ast.Add, ast.Mult, ast.Pow, ast.Sub))(), self.node(deep))

    def negated(self, deep: int) -> ast.expr:
        return ast.UnaryOp(ast.USub(), self.node(deep))

    def chosen(self, deep: int) -> ast.expr:
        return ast.IfExp(self.name(0), self.node(deep), self.node(deep))

    def part(self, deep: int) -> ast.expr:
        return ast.Subscript(self.call(deep), ast.Constant(0), ast.Load())


def meaning(text: str) -> str:
    return ast.dump(ast.parse(f"({text}\n)", mode="eval"))


@pytest.mark.parametrize("width", [30, 44, 60, 90])
def test_broken_expressions_mean_the_same(width):
    wrapped = 0
    for seed in range(120):
        node = _Maker(seed).node(5)
        lines = broken(node, 8, 4, width)
        wrapped += len(lines) > 1
        assert meaning("\n".join(lines)) == meaning(flat(node)) == ast.dump(ast.Expression(node)), (
            f"seed {seed}\n{lines}"
        )
    assert wrapped > 12


def product() -> ast.expr:
    return ast.parse("a * b", mode="eval").body


def test_what_was_printed_before_keeps_its_parentheses():
    """astor writes on a node where it stands; the node may stand elsewhere the next time."""
    node = product()
    assert flat(node) == "a * b"
    assert flat(ast.Attribute(node, "T", ast.Load())) == "(a * b).T"
    assert flat(ast.Call(ast.Attribute(node, "reshape", ast.Load()), [node], [])) == "(a * b).reshape(a * b)"


def test_one_node_in_two_places():
    node = product()
    call = ast.Call(ast.Name("f", ast.Load()), [node], [])
    power = ast.BinOp(ast.Name("x", ast.Load()), ast.Pow(), ast.Name("y", ast.Load()))
    for left, op, right in [
        (call, ast.Pow(), node),
        (node, ast.Pow(), call),
        (node, ast.MatMult(), node),
        (power, ast.Pow(), power),
    ]:
        whole = ast.BinOp(left, op, right)
        assert meaning(flat(whole)) == ast.dump(ast.Expression(whole))


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (ast.BinOp(ast.Constant(-1), ast.Pow(), ast.Constant(2)), "(-1)**2"),
        (ast.BinOp(ast.Name("x", ast.Load()), ast.Pow(), ast.Constant(-2)), "x**-2"),
        (ast.Constant(1e-6), "1e-6"),
        (ast.Constant(float("-inf")), "-np.inf"),
        (ast.Constant("it's"), '"it\'s"'),
        (ast.parse("x[(i, j)]", mode="eval").body, "x[i, j]"),
        (ast.parse("x[i + 1:]", mode="eval").body, "x[i + 1 :]"),
        (ast.parse("f'{(n,)}'", mode="eval").body, 'f"{(n,)}"'),
    ],
)
def test_what_astor_prints_otherwise(node, text):
    assert flat(node) == text
