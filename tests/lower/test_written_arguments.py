"""What a call says that it writes: the functions of the runtime that are told to write nothing write into no argument."""

from __future__ import annotations

import ast
import inspect

import pytest

from transpile_runtime.compiled import arrays

IN_PLACE = ("sort", "fill", "resize", "partition", "put")


def writes(function: ast.FunctionDef) -> set[str]:
    """The parameters into which a function stores, by themselves or by another name that it gives them."""
    held = {a.arg: a.arg for a in function.args.args}  # name -> the parameter whose memory it is
    found: set[str | None] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Name, ast.Subscript)):
            for target in node.targets:
                if isinstance(target, ast.Name) and (of := root(node.value)) in held:
                    held[target.id] = held[of]
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            found.add(held.get(root(node)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in IN_PLACE:
            found.add(held.get(root(node.func.value)))
    return {p for p in found if p is not None}


def root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


FUNCTIONS = {n.name: n for n in ast.parse(inspect.getsource(arrays)).body if isinstance(n, ast.FunctionDef)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_arrays_writes_into_no_argument(name: str) -> None:
    assert not writes(FUNCTIONS[name])


@pytest.mark.parametrize("line", ["x[0] = 1", "x[i] += 1", "x.sort()", "y = x; y[0] = 1", "y = x[1]; y.sort()"])
def test_what_writes_is_seen(line: str) -> None:
    (function,) = ast.parse(f"def f(x, i): {line}").body
    assert isinstance(function, ast.FunctionDef) and writes(function) == {"x"}
