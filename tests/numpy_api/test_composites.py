"""Functions of NumPy as plain Python that is lifted (`library_composites`): what is printed has none of its names, what it raises
for sure is a diagnostic at the call."""

from __future__ import annotations

import ast
import inspect

import numpy as np
import pytest

import transpile as tp
from transpile.numpy_api import library_composites

X = np.array([[0.5, -1.5, 2.0], [2.0, 1.0, 0.25]])


def program(call):
    return tp.from_source(f"def f(x):\n    return np.sum({call})\n", {"np": np})


def own_names():
    tree = ast.parse(inspect.getsource(library_composites))
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


@pytest.mark.parametrize(
    "call",
    ["np.trapezoid(x, x[0])", "np.trapezoid(x[:, :2], x[:, 0] ** 2, axis=0)", "np.ediff1d(x, to_end=1.0)", "np.append(x * x, x)",
     "np.select([x > 0.0, x < -1.0], [x * x, x], 0.5)", "np.linalg.multi_dot([x, x.T, x])", "np.ptp(x, axis=0)"],
)  # fmt: skip
def test_the_names_of_a_composite_are_not_printed(call):
    text = tp.source(tp.value_and_grad(program(call)), X)
    printed = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    assert not printed & (own_names() - {"x", "total"})  # of a sum without a name the printer says "total"


def test_names_of_a_function_of_the_users_are_printed_inside_of_a_composite():
    f = tp.from_source(
        "def f(x):\n    squares = x * x\n    return np.sum(np.ptp(squares, axis=0) * squares)\n", {"np": np}
    )
    assert "squares =" in tp.source(tp.grad(f), X)


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        ("np.select([x > 0.0], [x, x])", "T131", "list of cases must be same length as list of conditions"),
        ("np.select([x > 0.0, x], [x, x])", "T201", "invalid entry 1 in condlist: should be boolean ndarray"),
        ("np.linalg.multi_dot([x])", "T131", "Expecting at least two arrays"),
        ("np.trapezoid(2.0) * x", "T201", "np.trapezoid takes an array, not a number"),
        ("np.ediff1d(x > 0.0)", "T201", "np.ediff1d does not take truth values, which NumPy does not subtract"),
    ],
)
def test_what_is_refused_for_sure_is_refused_at_the_call(call, code, message):
    with pytest.raises(tp.TranspileError) as refused:
        tp.grad(program(call))(X)
    assert refused.value.codes == (code,)
    assert message in str(refused.value) and call[:8] in str(refused.value)
