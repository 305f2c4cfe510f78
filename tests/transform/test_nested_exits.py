"""`return`, `break` and `else` inside of loops in loops, of what these write or make anew, against Python.

Every place where a value changes, every place where it is given out, every form in which it is: the exit must give what the value
is there, not what it was when a loop around began.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from differences import same_tree
from fuzz.check import load

import transpile as tp
from transpile.aggregates import flatten, unflatten
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.codegen.numpy.expression_trees import Nested
from transpile.codegen.numpy.printed_exits import resolve
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import Type

CHANGES = {
    "written": "B[0] = B[1] + 0.5 * x[{k}]",
    "row": "B[1:] += x[{k}]",
    "made": "B = B * 1.5",
    "list": "c, B = c + 1.0, B - c",
    "number": "c = c * 1.25 + x[{k}]",
    "swapped": "B, D = D, B",
}
GIVEN = ("B", "B[1:]", "2.0 * B + c", "(B, c)", "B if c > 1.0 else D", "c", "[B, D]", "B.sum() + c", "{'b': B, 'c': c}")
LOOPS = {
    "for": ("for {i} in range({n}):", ""),
    "while": ("{i} = -1\n{pad}while {i} < {n} - 1:\n{pad}    {i} += 1", ""),
    "over": ("for {i}, _ in enumerate(x[:{n}]):", ""),
}


def nest(kinds: tuple[str, ...], change: str, where: int, out: str, end: str, at_break: bool) -> str:
    """Loops in loops: something changes at level ``where``, the innermost gives something out."""
    lines = ["B = A.copy()", "D = 0.5 * A", "c = 0.25"]
    pad = ""
    for level, kind in enumerate(kinds):
        i, n = "ijk"[level], "3" if level == 0 else f"{'ijk'[level - 1]} + 1"
        lines += [pad + line for line in LOOPS[kind][0].format(i=i, n=n, pad="").split("\n")]
        pad += "    "
        if level == where:
            lines.append(pad + CHANGES[change].format(k=i))
    i = "ijk"[len(kinds) - 1]
    lines += [f"{pad}if x[{i}] * y > c:", f"{pad}    {'break' if at_break else 'return ' + out}"]
    if at_break:
        lines += [f"{pad[4:]}else:", f"{pad[4:]}    c = c - 0.125"] if len(kinds) > 1 else []
        lines += [f"{pad[4:]}D = D + c"] if len(kinds) > 1 else []
        lines.append(f"return {out}")
    else:
        lines.append(end)
    return "\n".join(lines)


def programs() -> list[tuple[str, str]]:
    found = []
    shapes = [
        *itertools.product(LOOPS, repeat=1),
        *itertools.product(LOOPS, repeat=2),
        ("for", "for", "for"),
        ("for", "while", "for"),
    ]
    k = 0
    for kinds, change in itertools.product(shapes, CHANGES):
        for where in range(len(kinds)):
            for out in GIVEN:
                k += 1
                end = out if k % 2 else out.replace("B", "D")
                body = nest(kinds, change, where, out, f"return {end}", k % 3 == 0)
                found.append((f"{'_'.join(kinds)}_{change}_{where}_{GIVEN.index(out)}", body))
    return found


def functions(part: list[tuple[str, str]], folder: Path) -> list[Callable[..., Any]]:
    texts = []
    for name, body in part:
        indented = "\n".join("    " + line for line in body.split("\n"))
        texts.append(f"def {name}(x, A, y):\n{indented}\n")
    module = load("import numpy as np\n\n" + "\n".join(texts), "nested_exits", folder)
    return [getattr(module, name) for name, _ in part]


TRIPS = (0.0, 0.5, 1.0, 2.0, 9.0)  # which trip gives out
PROGRAMS = programs()
PARTS = 24


CHECKED = 6  # parts of which `make test` runs all


def arguments(y: float) -> tuple[Any, ...]:
    return np.array([0.3, 0.8, 1.7]), np.arange(4.0).reshape(4, 1) + np.ones((4, 2)), y


@pytest.mark.parametrize("part", [k if k < CHECKED else pytest.param(k, marks=pytest.mark.slow) for k in range(PARTS)])
@pytest.mark.sampled(12)
def test_what_is_given_out_of_loops_in_loops(part: int, tmp_path: Path) -> None:
    for f in functions(PROGRAMS[part::PARTS], tmp_path):
        made = Transformed(f, Level())
        for y in TRIPS:
            same_tree(made(*arguments(y)), f(*arguments(y)), f"{f.__name__} with {y}", 1e-12, 1e-12)


@pytest.mark.parametrize("every", [97, pytest.param(11, marks=pytest.mark.slow)])
def test_derivatives_of_what_is_given_out(every: int, tmp_path: Path) -> None:
    for f in functions(PROGRAMS[5::every], tmp_path):

        def total(x: Any, A: Any, y: float, f: Callable[..., Any] = f) -> Any:
            return sum(np.sum(leaf) for leaf in flatten(f(x, A, y))[0])

        def given(x: Any, A: Any, y: float, f: Callable[..., Any] = f) -> Any:
            return f(x, A, y)

        for y in (0.5, 1.0, 2.0):
            x, A, _ = arguments(y)
            _, pullback = tp.vjp(lambda x, A, y=y: given(x, A, y), x, A)
            leaves, structure = flatten(f(x, A, y))
            ones = unflatten(structure, [np.ones_like(v) for v in leaves])
            step = 1e-6
            for got, place in zip(pullback(ones), (0, 1)):
                for k in np.ndindex(got.shape):
                    ends = []
                    for sign in (1, -1):
                        moved = [x.copy(), A.copy()]
                        moved[place][k] += sign * step
                        ends.append(total(*moved, y))
                    assert abs((ends[0] - ends[1]) / (2 * step) - got[k]) < 1e-6, (f.__name__, y, place, k)


@pytest.mark.numba
@pytest.mark.parametrize("every", [291, pytest.param(29, marks=pytest.mark.slow)])
def test_compiled_exits(every: int, tmp_path: Path) -> None:
    for f in functions(PROGRAMS[7::every], tmp_path):
        made = tp.jit(f)
        for y in TRIPS:
            same_tree(made(*arguments(y)), f(*arguments(y)), f"{f.__name__} with {y}", 1e-12, 1e-12)


def test_an_exit_reads_what_the_trip_computed():
    """Of an expression too, which stands for what a loop around would hand on."""
    array, number = Type("float64", (Dim(3),)), Type("float64")
    handed, here, copy, chosen = ir.Var("result", array), ir.Var("B", array), ir.Var("t", array), ir.Var("t", number)
    test, first, second = ir.Var("flag", Type("bool")), ir.Var("c", number), ir.Var("d", number)
    choice = ir.If(test, ir.Block(yields=(first,)), ir.Block(yields=(ir.Const(0.0, number),)), (chosen,))
    nested = Nested(None, {copy: ir.Let(copy, "copy", (handed,)), chosen: choice}, None)  # type: ignore[arg-type]
    found = resolve(copy, {handed: here}, nested)
    assert list(nested.leaves((found,))) == [here] and list(nested.leaves((copy,))) == [handed]
    assert list(nested.leaves((resolve(chosen, {first: second}, nested),))) == [test, second]
    assert resolve(copy, {second: first}, nested) is copy and resolve(handed, {handed: here}, nested) is here
