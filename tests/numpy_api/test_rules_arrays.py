"""The array functions of the API tables against NumPy and SciPy: value, shape, dtype, derivatives, once with sizes known
and once with symbols. In float32, the dtypes of all derivatives.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from array_cases import CASES as ALL
from array_cases import POOL
from rule_check import Program, active_args, check, derivative, symbolic

from transpile.core.dims import Dim
from transpile.numpy_api.entries import entries

ENTRIES = entries()
LIFTED = re.compile("|".join(rf"{re.escape(n.replace('numpy.', 'np.', 1))}[(]" for n, e in ENTRIES.items() if e.source))
CASES = [text for text in ALL if not LIFTED.match(text)]
"""What is built; what is lifted is tried as users write it (`tests/matrix`, `tests/numpy_api/test_rules_calls.py`)."""
DIMS = {"const": Dim.of, "symbols": symbolic}


class Case:
    """One call: its entry, its leaves (arrays and floats), and the builder that puts them in."""

    def __init__(self, text: str, pool: dict[str, Any] = POOL) -> None:
        self.text, _, marks = text.partition("  # ")
        self.marks = marks.split()
        self.name = ast.unparse(ast.parse(self.text, mode="eval").body.func)  # type: ignore[attr-defined]
        self.pool = pool
        self.leaves: list[Any] = []
        self.entry = ENTRIES["numpy" + self.name[2:] if self.name.startswith("np.") else self.name]
        assert self.entry.build is not None
        self.parameters = inspect.signature(self.entry.build).parameters
        args, kwargs = self.evaluated(lambda *args, **kwargs: (args, kwargs))
        names = list(self.parameters)[1:]
        several = any(p.kind is p.VAR_POSITIONAL for p in self.parameters.values())
        self.args = [self.tree(a, "" if several or k >= len(names) else names[k]) for k, a in enumerate(args)]
        self.kwargs = {k: self.tree(v, k) for k, v in kwargs.items()}

    def evaluated(self, function: Callable[..., Any]) -> Any:
        """The call with another function in place of its own."""
        call = ast.parse(self.text, mode="eval")
        call.body.func = ast.Name("function", ast.Load())  # type: ignore[attr-defined]
        code = compile(ast.fix_missing_locations(call), "<case>", "eval")
        return eval(code, {"np": np, "function": function, **self.pool})

    def reference(self) -> list[Any]:

        function = eval(self.name, {"np": np, "scipy": __import__("scipy")})
        with np.errstate(all="ignore"):
            found = self.evaluated(function)
        return list(found) if "list" in self.marks else [found]

    def tree(self, value: Any, name: str) -> Callable[[Any, Any], Any]:
        """How an argument is made of the leaves."""
        if name in self.entry.static:
            return lambda b, xs: value
        if isinstance(value, (np.ndarray, float)):
            self.leaves.append(value)
            k = len(self.leaves) - 1
            return lambda b, xs: xs[k]
        if isinstance(value, (list, tuple)):
            parts = [self.tree(v, "") for v in value]
            return lambda b, xs: type(value)(p(b, xs) for p in parts)
        return lambda b, xs: b.expr(value) if isinstance(value, int) else value

    def build(self, b: Any, *xs: Any) -> Any:
        args = [make(b, xs) for make in self.args]
        return self.entry.build(b, *args, **{k: make(b, xs) for k, make in self.kwargs.items()})  # type: ignore[misc]


def results(case: Case, dims: Any) -> tuple[Any, ...]:
    return Program(case.build, case.leaves, dims).value(*case.leaves)


def comparable(got: Any, wanted: Any) -> bool:
    """Whether dtypes agree; Python numbers stand for NumPy's here."""
    return isinstance(wanted, (bool, int, float)) or np.asarray(got).dtype == np.asarray(wanted).dtype


@pytest.mark.parametrize("kind", DIMS)
@pytest.mark.parametrize("text", CASES)
@pytest.mark.sampled(8)
def test_call(text: str, kind: str) -> None:
    case = Case(text)
    if {"const", "known"} & set(case.marks) and kind == "symbols":
        pytest.skip("nothing with a symbol")
    wanted = case.reference()
    got = results(case, DIMS[kind])
    assert len(got) == len(wanted)
    for g, w in zip(got, wanted):
        assert np.shape(g) == np.shape(w)
        assert comparable(g, w), (np.asarray(g).dtype, np.asarray(w).dtype)
        np.testing.assert_allclose(g, w, rtol=1e-12, atol=1e-12)
    if not {"value", "const"} & set(case.marks):
        check(case.build, case.leaves, dims=DIMS[kind], order=1, tol=2e-6)


SINGLE = {k: v.astype(np.float32) if v.dtype == np.float64 else v for k, v in POOL.items()}


@pytest.mark.parametrize(
    "text", [c for c in CASES if not c.endswith(("value", "const", "const list")) and "m33" not in c]
)
def test_single_precision(text: str) -> None:
    """A derivative has the dtype of what it is the derivative of, or of."""
    case = Case(text, SINGLE)
    wanted = case.reference()
    got = results(case, Dim.of)
    for g, w in zip(got, wanted):
        assert comparable(g, w), (np.asarray(g).dtype, np.asarray(w).dtype)
    wrt = active_args(case.leaves)
    for order, seeds, like in (
        ("jvp", [case.leaves[k] for k in wrt], got),
        ("vjp", got, [case.leaves[k] for k in wrt]),
    ):
        program = Program(case.build, case.leaves)
        outs, variables = derivative(program, wrt, order)
        values = [
            np.ones_like(s) if isinstance(s, np.ndarray) else type(s)(1)
            for s in seeds
            if np.asarray(s).dtype.kind == "f"
        ]
        for d, x in zip(program.run(outs, [*case.leaves, *values], variables), like):
            if isinstance(x, np.ndarray) and x.dtype.kind == "f" and np.ndim(d):
                assert d.dtype == x.dtype


CONVENTIONS = {
    "ties of max share": ("np.max(p)", [2.0, 1.0, 2.0], [0.5, 0.0, 0.5]),
    "ties of min share": ("np.min(p)", [1.0, 1.0, 2.0], [0.5, 0.5, 0.0]),
    "ties of max along an axis": ("np.max(p, axis=0)", [[1.0, 3.0], [1.0, 2.0]], [[0.5, 1.0], [0.5, 0.0]]),
    "ties of amax of nan": ("np.nanmax(p)", [2.0, float("nan"), 2.0], [0.5, 0.0, 0.5]),
    "norm at zero": ("np.linalg.norm(p)", [0.0, 0.0], [0.0, 0.0]),
    "norm of a zero row": ("np.linalg.norm(p, axis=1)", [[0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0], [0.6, 0.8]]),
    "p-norm at zero": ("np.linalg.norm(p, 3)", [0.0, 0.0], [0.0, 0.0]),
    "1-norm with a zero": ("np.linalg.norm(p, 1)", [0.0, -2.0], [0.0, -1.0]),
    "std without spread": ("np.std(p)", [2.0, 2.0], [0.0, 0.0]),
    "prod with a zero": ("np.prod(p)", [2.0, 0.0, 3.0], [0.0, 6.0, 0.0]),
    "prod with two zeros": ("np.prod(p)", [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
    "cumprod with a zero": ("np.cumprod(p)", [2.0, 0.0, 3.0], [1.0, 8.0, 0.0]),
    "cumprod with two zeros": ("np.cumprod(p)", [2.0, 0.0, 0.0], [1.0, 2.0, 0.0]),
    "nothing to sum": ("np.sum(p)", [], []),
    "nothing to multiply": ("np.prod(p)", [], []),
    "nothing to accumulate": ("np.cumsum(p)", [], []),
    "one to differ": ("np.diff(p)", [1.0], [0.0]),
    "nanmean without nan": ("np.nanmean(p)", [1.0, float("nan")], [1.0, 0.0]),
    "interp outside": ("np.interp(p, xp, fp)", [-1.0, 9.0], [0.0, 0.0]),
    "median between": ("np.median(p)", [3.0, 1.0], [0.5, 0.5]),
}


@pytest.mark.parametrize("name", CONVENTIONS)
def test_convention(name: str) -> None:
    text, point, wanted = CONVENTIONS[name]
    x = np.array(point, dtype=float)
    case = Case(text, {**POOL, "p": x})
    ones = [np.ones_like(v)[()] for v in results(case, Dim.of)]
    program = Program(case.build, case.leaves)
    outs, variables = derivative(program, [0], "vjp")
    (got,) = program.run(outs, [*case.leaves, *ones], variables, strict=True)
    np.testing.assert_allclose(got, wanted, rtol=1e-15)
    assert got.shape == x.shape
