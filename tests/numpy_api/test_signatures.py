"""Arguments are bound as NumPy binds them: what an entry takes has NumPy's names and defaults, and a call that NumPy refuses for
its arguments is refused. The calls are those of the matrix, each with an argument by name, by position, too many or unknown."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from matrix import cases
from matrix.operations import is_here, modules

import transpile as tp
from transpile.frontend.calls import library_calls
from transpile.numpy_api import signatures
from transpile.numpy_api.entries import entries
from transpile.numpy_api.signatures import NO_VALUE, POSITIONAL, Parameter, signature

ATTRIBUTES = {f"ndarray.{name}" for name in ("T", "mT", "itemsize", "nbytes")}
SAYS_OTHERWISE = ("numpy.unique_values",)
"""By position only, which its signature does not say."""


def takes(name: str) -> inspect.Signature:
    entry = entries()[name]
    return inspect.signature(library_calls.function(entry.source)) if entry.source else entry.takes


def here(name: str) -> bool:
    """Whether this NumPy, SciPy and Python have it."""
    return signatures._object(name) is not None


def pairs(name: str) -> Iterator[tuple[Parameter, Parameter | None]]:
    """What an entry takes, and what NumPy has there."""
    numpys = signature(name)
    assert numpys is not None
    known = numpys.parameters
    by_position = [p for p in known.values() if p.kind is Parameter.POSITIONAL_ONLY]
    kinds = {p.kind: p for p in known.values()}
    for k, own in enumerate(takes(name).parameters.values()):
        if k < len(by_position) and own.kind in POSITIONAL:
            yield own, by_position[k]
        elif own.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            yield own, kinds.get(own.kind)
        else:
            yield own, known.get(own.name, kinds.get(Parameter.VAR_KEYWORD))


def test_every_entry_has_a_signature():
    silent = {name for name in entries() if here(name) and signature(name) is None}
    assert silent == ATTRIBUTES


def test_what_an_entry_takes_numpy_has():
    wrong = [(name, own.name) for name in entries() if signature(name) for own, numpys in pairs(name) if numpys is None]
    assert not wrong


def test_defaults_are_those_of_numpy():
    wrong = []
    for name in entries():
        for own, numpys in pairs(name) if signature(name) else ():
            if numpys is None or own.default is own.empty or numpys.default in (NO_VALUE, numpys.empty):
                continue
            is_dtype = own.name == "dtype" and None in (
                own.default,
                numpys.default,
            )  # a dtype, or the one that None means
            if own.default != numpys.default and not is_dtype:
                wrong.append((name, own.name, own.default, numpys.default))
    assert not wrong


def test_what_numpy_says_of_its_functions_in_c_is_what_is_said_for_older_ones():
    """NumPy says it from 2.4 on; what it has got since stands at the end."""
    checked = 0
    for name, like in signatures._RETYPED.items():
        try:
            said = inspect.signature(signatures._object(name))
        except (TypeError, ValueError):
            continue
        if name in signatures._INCOMPLETE or not name.startswith(("numpy.", "ndarray.")):
            continue
        own = inspect.signature(like).parameters
        kept = [said.parameters.get(k) for k in own]
        assert kept == list(own.values()), name
        checked += 1
    assert checked > 30 or np.lib.NumpyVersion(np.__version__) < "2.4.0"


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="ufuncs say nothing")
def test_what_ufuncs_say_is_what_is_said_for_older_ones():
    ufuncs = [f for f in vars(np).values() if isinstance(f, np.ufunc)]
    assert len(ufuncs) > 90
    for f in ufuncs:
        assert str(signatures._of_ufunc(f)) == str(inspect.signature(f)), f


# ------------------------------------------------------------------------------------------------- calls beside NumPy


def forms(tree: ast.Call, known: inspect.Signature) -> Iterator[str]:
    """The call with one argument given in another way."""
    function, parameters = ast.unparse(tree.func), list(known.parameters.values())
    args, named = [ast.unparse(a) for a in tree.args], [f"{k.arg}={ast.unparse(k.value)}" for k in tree.keywords]
    for k, parameter in enumerate(parameters[: len(args)]):
        if parameter.kind in POSITIONAL:
            rest = [f"{p.name}={a}" for p, a in zip(parameters[k:], args[k:])]
            yield f"{function}({', '.join([*args[:k], *rest, *named])})"
    positional = [p for p in parameters if p.kind is not Parameter.VAR_KEYWORD]
    for count in range(len(args), len(positional)):
        more = [repr(p.default) for p in positional[len(args) : count + 1]]
        if not named and all(re.fullmatch(r"[\w.'\-]+", v) for v in more):
            yield f"{function}({', '.join([*args, *more])})"
    yield f"{function}({', '.join([*args, *named, 'unknown=1'])})"
    yield f"{function}({', '.join([*args, *['None'] * (len(positional) + 1 - len(args))])})"


def refused_by(f: Callable[[], Any]) -> str | None:
    """What is wrong with the arguments as such; "" where it is something else, None if nothing is."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            f()
    except TypeError as e:
        return str(e) if re.search(BINDING, str(e)) else ""
    except Exception:
        return ""
    return None


BINDING = (
    r"keyword|positional|takes (exactly|at most|no|from|\d)|missing|multiple values|required argument|expected \d argument|"
    r"expected at (most|least)|too many|not enough arguments"
)


def compared() -> Iterator[tuple[str, str, Callable[[], Any], bool]]:
    """(entry, call, the call, whether the signature takes it)."""
    seen: set[str] = set()
    for text, own in cases.texts():
        plain = text.partition("  # ")[0]
        tree = ast.parse(plain, mode="eval").body
        if not isinstance(tree, ast.Call) or not is_here(plain) or any(isinstance(a, ast.Starred) for a in tree.args):
            continue
        name = ast.unparse(tree.func).replace("np.", "numpy.", 1)
        known = signature(name) if name in entries() else None
        if known is None or any(k.arg is None for k in tree.keywords):
            continue
        scope = {**modules(), **cases.POOL, **own}
        for form in forms(tree, known):
            if form not in seen:
                seen.add(form)
                call = ast.parse(form, mode="eval").body
                assert isinstance(call, ast.Call)
                copies = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in scope.items()}
                yield name, form, lambda f=form, s=copies: eval(f, dict(s)), takes_it(known, call)


def takes_it(known: inspect.Signature, call: ast.Call) -> bool:
    try:
        known.bind(*call.args, **{k.arg or "": k.value for k in call.keywords})
    except TypeError:
        return False
    return True


def test_numpy_takes_the_same_forms_of_calls():
    wrong, count = [], 0
    for name, form, call, taken in compared():
        why = refused_by(call)
        known = signature(name)
        assert known is not None
        hands_on = any(p.kind is Parameter.VAR_KEYWORD for p in known.parameters.values()) or name in SAYS_OTHERWISE
        count += 1
        if (why is None and not taken) or (why and taken and not hands_on):
            wrong.append((form, why))
    assert count > 2000
    assert not wrong, "\n".join(map(str, wrong))


# ------------------------------------------------------------------------------------------------------- lifted calls

X = np.array([[0.5, -1.5], [2.0, 1.0]])


@pytest.mark.parametrize(
    "call",
    [
        "np.isclose(a=x, b=x)", "np.sum(a=x, axis=0)", "np.sum(x, 0, None, y)", "np.dot(x, x, np.zeros((2, 2)))",
        "np.max(x, 0, None, True)", "np.sum(x, initial=np._NoValue)", "np.add.reduce(x, 0, None, None, True)",
        "np.add.reduce(x, where=True)", "np.hypot.reduce(x, 0, None, y)", "np.zeros_like(x, None, 'K', True, (3,))",
        "np.quantile(x, 0.5, weights=None)", "np.arange(start=1.0, stop=3.0)", "np.einsum('ij,j', x, y, optimize=True)",
        "np.partition(x, 1, kind='introselect')", "np.linalg.cross(np.ones(3), np.arange(3.0), axis=0)",
        "np.linalg.pinv(x, rtol=np._NoValue)", "np.exp(x, np.zeros((2, 2)), where=True)", "np.full((2,), 0.5, like=None)",
        "np.insert(arr=x, obj=slice(0, 1), values=0.5, axis=1)", "np.sort(x, stable=True)", "x.sum(0, None, y)",
        "np.clip(x, 0.0, 1.0, np.zeros((2, 2)))", "np.clip(x, 0.0, 1.0, order='K')", "np.pad(x, 1, constant_values=0.5)",
        "np.sum(x, axis=0, out=np.zeros(2))", "np.exp(x[0], out=np.zeros((3, 2)))", "np.outer(y, y, np.zeros((2, 2)))",
        "np.where(True, 0.5, x)", "np.where(False, x, 2.0)", "np.take(x, x[0] > 0, axis=1)", "np.take(x, True)", "np.take(x, [])",
        "np.trapezoid(x, dx=x[:, :1])", "np.linspace(x, 1.0, 4)", "np.linspace(x, 1.0, 4, axis=1, dtype=int)", "np.block(x)",
        "np.choose(np.zeros(2, int), [0.5])", "np.add.outer(x, y)", "np.intersect1d(np.arange(3), np.array([1.0, 2.0]))",
        "math.atan2(x[0, 0], x[1, 0])", "math.prod([x[0, 0], 2.0], start=1)", "math.isclose(a=x[0, 0], b=0.5)",
    ],
)  # fmt: skip
def test_a_call_is_bound_as_numpy_binds_it(call):
    f = tp.from_source(f"def f(x, y):\n    return {call}\n", {"np": np, "math": __import__("math")})
    wanted = f(X, np.zeros(2))
    got = tp.jvp(f, (X, np.zeros(2)), (X, np.zeros(2)))[0]
    np.testing.assert_allclose(got, wanted, rtol=1e-14)


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        ("np.sum(x, axi=0)", "T132", "np.sum: got an unexpected keyword argument 'axi'"),
        ("np.argsort(x, 0, None, None, True)", "T132", "np.argsort: too many positional arguments"),
        ("np.inner(a=x, b=x)", "T132", "positional"),
        ("np.pad(x, 1, fill=0.5)", "T132", "np.pad: got an unexpected keyword argument 'fill'"),
        ("np.linalg.cross(x, x, axisa=0)", "T132", "np.linalg.cross: got an unexpected keyword argument 'axisa'"),
        ("np.quantile(x, 0.5, weights=x)", "T131", "Only method 'inverted_cdf' supports weights"),
        ("np.polyfit(x[0], x[1], 1, full=True)", "T131", "np.polyfit: the argument full=True is not supported"),
        ("np.unravel_index(1, (2, 2), 'F')", "T131", "np.unravel_index: the argument order='F' is not supported"),
        ("np.sum(x, axis=0, **{'axis': 0})", "T132", "got multiple values for keyword argument 'axis'"),
        ("np.sum(x, where=None)", "T131", "where=None is not supported"),
        ("np.diff(x, prepend=None)", "T131", "np.diff: the argument prepend=None is not supported"),
        ("np.sum(x, keepdims=0.5)", "T131", "keepdims=0.5 is not a truth value"),
        ("np.sum(x, axis=0, out=np.zeros((3, 2)))", "T202", "out= does not have the shape of the result"),
        ("np.modf(x, out=np.zeros((2, 2, 2)))", "T131", "out= must be one array, for a function with one result"),
        ("np.add.outer(x, x, None)", "T132", "np.add.outer takes two arguments, not 3"),
        ("np.delete(x, np.ones(2))", "T201", "np.delete takes integers as indices"),
        ("np.insert(x, x[0] > 0, 1.0)", "T131", "np.insert with a mask is not supported"),
        ("np.moveaxis(x, (0, 1), 0)", "T202", "must have the same number of elements"),
        ("np.roll(x, (1, 2), axis=(0, 1, 0))", "T202", "np.roll by 2 shifts along 3 axes"),
        ("np.ravel_multi_index((1,), (2, 2))", "T202", "must be a sequence of length 2"),
        ("np.quantile(0.5, 0.5, axis=1)", "T208", "axis 1 is out of bounds"),
        ("np.max(x, initial=x)", "T201", "initial must be a number"),
        ("np.zeros(True)", "T201", "a size must be an integer, not a truth value"),
        ("np.zeros(2, device='gpu')", "T131", "device='gpu' is not one of 'cpu'"),
    ],
)
def test_what_numpy_refuses_and_what_is_not_taken(call, code, message):
    f = tp.from_source(f"def f(x):\n    return np.sum({call})\n", {"np": np})
    with pytest.raises(tp.TranspileError) as refused:
        tp.grad(f)(X)
    assert refused.value.codes == (code,)
    assert message in str(refused.value)
