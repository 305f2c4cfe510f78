"""Every entry called in every form: each argument by its name and by its place, as what it takes and as what it does not
take, twice, unknown, too many. It gives NumPy's value, in its shape and dtype, or is refused; what NumPy refuses is
refused.

The calls are those of the matrix. `tests/numpy_api/test_options.py` gives each option values that mean something; here are
those that an entry might read as something else than NumPy does, or not at all.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from matrix import cases
from matrix.operations import is_here, modules, names_of
from test_options import OPTIONS, UP_TO_SIGNS, is_like

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.numpy_api.entries import entries
from transpile.numpy_api.signatures import NO_VALUE, POSITIONAL, Parameter, signature

ODD = "None True 0.5 2 'x' (0,) np.ones(3)"
"""Values that few arguments take."""
MORE = {
    "out": "np.zeros((3,4)) np.zeros((2,3,4)) np.zeros(3) np.zeros(4)",
    "where": "None False True np.array([True,False,True,True])",
    "dtype": "None '>f8' complex",
    "keepdims": "1",
    "indices": "True [True,False] 1.0 []",
    "obj": "True [True,False] [1.0] []",
}
HARMLESS = {
    *("casting", "signature", "subok", "like", "device", "copy"),  # they change no value
    *("optimize", "sorted", "lwork", "assume_unique", "check_finite", "overwrite_a", "overwrite_b"),
    *("lapack_driver", "key", "default", "assume_a"),
}
CRASHES = ("np.cumsum", "np.cumprod", "np.nancumsum", "np.nancumprod", "np.cumulative_sum", "np.cumulative_prod")
"""NumPy itself dies of an ``out`` of rank 0 or of a wrong size."""
TOLERATED = (
    "math.log(", "np.trace(x, None", "np.clip(",  # None for an argument that is not given, a bound by both its names
    "np.apply_along_axis(", "np.cross(", "np.linalg.cross(", "np.kaiser(",  # a tuple of one
    "np.bincount(", "np.vander(", "np.lib.stride_tricks.sliding_window_view(",  # a truth value for a number
    "np.divmod(x, s, out=None", "np.frexp(x, out=None", "np.modf(x, out=None", "np.ldexp(x, 2, dtype",
    "np.indices((2, 3), ", "np.fromfunction(", "np.piecewise(x, (0,)",  # ranges of truth values, conditions that are numbers
)  # fmt: skip
"""Calls of which NumPy refuses something that is read here in the only way that it can be read."""
RAISES = ("np.choose(", "np.piecewise(", "np.polyint(")
"""Calls that raise what NumPy gives a value for: modes by number, one condition for a sequence of them, several constants."""
PARTS, CHECKED = 24, 1


def named(call: ast.Call) -> str:
    """The entry that is called."""
    text = ast.unparse(call.func)
    return "numpy." + text[3:] if text.startswith("np.") else text


def first_calls() -> dict[str, tuple[ast.Call, inspect.Signature, dict[str, Any]]]:
    """One call of each entry."""
    found: dict[str, tuple[ast.Call, inspect.Signature, dict[str, Any]]] = {}
    for text, own in cases.texts():
        plain = text.partition("  # ")[0]
        tree = ast.parse(plain, mode="eval").body
        if isinstance(tree, ast.Call) and is_here(plain) and named(tree) in entries() and named(tree) not in found:
            known = signature(named(tree))
            if known is not None and not any(k.arg is None for k in tree.keywords):
                found[named(tree)] = tree, known, {**cases.POOL, **own}
    return found


def values(name: str) -> list[str]:
    return list(dict.fromkeys([*OPTIONS.get(name, "").split(), *MORE.get(name, "").split(), *ODD.split()]))


def forms(tree: ast.Call, known: inspect.Signature) -> Iterator[str]:
    """The call with one argument more, or with one that is another."""
    function, parameters = ast.unparse(tree.func), list(known.parameters.values())
    args, keywords = [ast.unparse(a) for a in tree.args], {k.arg: ast.unparse(k.value) for k in tree.keywords}
    given = {p.name for p in parameters[: len(args)]} | keywords.keys()

    def spelled(args: list[str], keywords: dict[Any, str]) -> str:
        return f"{function}({', '.join([*args, *(f'{k}={v}' for k, v in keywords.items())])})"

    for k, parameter in enumerate(parameters):
        by_position = parameter.kind in POSITIONAL and not keywords and k >= len(args)
        between = [p.default for p in parameters[len(args) : k]]
        for value in () if parameter.name in HARMLESS else values(parameter.name):
            if parameter.name in given:
                continue
            if parameter.kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
                yield spelled(args, {**keywords, parameter.name: value})
            if by_position and not any(d is NO_VALUE or d is Parameter.empty or "<" in repr(d) for d in between):
                yield spelled([*args, *map(repr, between), value], {})
    for k, (name, old) in enumerate(keywords.items()):
        yield f"{spelled(args, keywords)[:-1]}, **{{{name!r}: {old}}})"
        for value in values(str(name)) if name not in HARMLESS else ():
            yield spelled(args, {**keywords, name: value})
    for k in range(1, len(args)):
        for value in values(parameters[k].name) if k < len(parameters) else ODD.split():
            yield spelled([*args[:k], value, *args[k + 1 :]], keywords)
    yield spelled(args, {**keywords, "unknown": "1"})
    yield spelled([*args, *["None"] * (len(parameters) + 1 - len(args))], keywords)


def outcome(run: Any, args: list[Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return run(*(a.copy() if isinstance(a, np.ndarray) else a for a in args))
        except Exception as e:
            return e


def differs(got: Any, wanted: Any, up_to_sign: bool) -> bool:
    """Whether it is neither what NumPy gives nor a refusal."""
    if isinstance(got, Exception):
        return not (isinstance(got, tp.TranspileError) or isinstance(wanted, Exception))
    return isinstance(wanted, Exception) or not is_like(got, wanted, up_to_sign)


def is_for_numpy(wanted: Any) -> bool:
    """Whether NumPy gives, or refuses, something that this compiler knows of: no objects, no complex numbers."""
    parts = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
    return isinstance(wanted, Exception) or all(np.asarray(p).dtype.kind in "biuf" for p in parts)


def wrong_of(name: str) -> Iterator[str]:
    tree, known, pool = FIRST[name]
    for text in dict.fromkeys(forms(tree, known)):
        if "out=" in text and ast.unparse(tree.func) in CRASHES:
            continue
        names = [n for n in names_of(text) if n in pool]
        program = tp.from_source(f"def program({', '.join(names)}):\n    return {text}\n", SCOPE)
        args = [pool[n] for n in names]
        wanted = outcome(program, args)
        if is_for_numpy(wanted):
            got = outcome(Transformed(program, Level()), args)
            if text.startswith(RAISES) and isinstance(got, ValueError):
                continue
            if text.startswith(TOLERATED) and isinstance(wanted, Exception):
                continue
            if differs(got, wanted, ast.unparse(tree.func) in UP_TO_SIGNS):
                yield f"{text}: {got!r}, expected {wanted!r}"


FIRST = first_calls()
SCOPE = {**modules(), "np": np, "tp": tp}


def test_every_entry_is_called():
    assert len(FIRST) > 480


@pytest.mark.parametrize(
    "part", [k if k < CHECKED else pytest.param(k, marks=pytest.mark.slow) for k in range(PARTS)]
)  # fmt: skip
def test_a_call_is_numpys_or_refused(part: int) -> None:
    wrong = [w for name in sorted(FIRST)[part::PARTS] for w in wrong_of(name)]
    assert not wrong, "\n".join(wrong)
