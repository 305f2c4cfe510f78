"""The list of operations: the computation of each as text, its arrays, and a number from its results that a loop can carry."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from . import cases

LARGE = 1e3  # for larger numbers the cosine oscillates too fast for differences


@dataclass(frozen=True)
class Operation:
    """An operation. ``lines`` compute ``results`` from ``pool``; ``carried`` is the argument that a loop replaces in each
    iteration.

    ``measure`` is a number computed from the results. ``smooth``: there is a derivative to compare. ``single``: a value is
    rounded to float32. ``narrow``: a result is computed in float32.
    """

    name: str
    lines: tuple[str, ...]
    pool: dict[str, Any]
    carried: str
    measure: str
    smooth: bool = True
    single: bool = False
    narrow: bool = False

    @property
    def floats(self) -> list[str]:
        """The arguments to differentiate, the carried one first."""
        others = [n for n, v in self.pool.items() if is_float(v) and n != self.carried]
        return [self.carried, *others]

    @property
    def constants(self) -> list[str]:
        return [n for n, v in self.pool.items() if not is_float(v)]


class Useless(Exception):
    """A text whose result is no number and holds none."""


def is_float(value: Any) -> bool:
    """Whether an argument is differentiated."""
    return np.asarray(value).dtype.kind == "f"


@cache
def operations() -> tuple[Operation, ...]:
    """All operations, in the order of the tables."""
    found: dict[str, Operation] = {}
    for text, own in cases.texts():
        plain, _, marks = text.partition("  # ")
        if is_here(plain):
            found.setdefault(plain, of_call(plain, {**cases.POOL, **own}, marks.split()))
    for text in cases.WRITES:
        found[text] = of_write(text)
    return tuple(found.values())


def is_here(text: str) -> bool:
    """Whether the installed NumPy, SciPy and Python have the functions that the text calls."""
    try:
        name = re.match(r"(np|math|scipy)(\.\w+)+", text)
        return name is None or eval(name.group(), modules()) is not None
    except AttributeError:
        return False


@cache
def modules() -> dict[str, Any]:
    import math
    import operator

    import scipy.linalg
    import scipy.special

    import transpile as tp

    return {"np": np, "math": math, "operator": operator, "scipy": scipy, "tp": tp}


def of_call(text: str, pool: dict[str, Any], marks: list[str]) -> Operation:
    used = {n: pool[n] for n in names_of(text) if n in pool}
    value = run(f"r = {text}", used)["r"]
    target, measure = measured(value)
    fixed = [n for n in used if n.endswith(cases.FIXED)]  # no arguments, since float arguments get tangents
    lines = (*(f"{n} = np.array({used[n].tolist()})" for n in fixed), f"{target} = {text}")
    used = {n: v for n, v in used.items() if n not in fixed}
    if "holes" in used:  # NaN is not carried: it would spread to everything
        lines = ("holes = np.where(gaps, np.nan, x)", *lines)
        others = {n: v for n, v in used.items() if n != "holes"}
        used = {"x": pool["x"], "gaps": np.isnan(pool["holes"]), **others}
    narrow = any(np.asarray(v).dtype == np.float32 for v in (value if isinstance(value, (tuple, list)) else [value]))
    return replace(completed(text, lines, used, measure, "value" not in marks), single="single" in marks, narrow=narrow)


def of_write(text: str) -> Operation:
    lines = ("w = x.copy()", text)
    if text.startswith("w @="):
        lines = ("w = q.copy()", text)
    used = {n: cases.POOL[n] for n in names_of("\n".join(lines)) if n in cases.POOL}
    run("\n".join(lines), used)
    return completed(text, lines, used, "np.mean(np.cos(w))", True)


def completed(name: str, lines: tuple[str, ...], used: dict[str, Any], measure: str, smooth: bool) -> Operation:
    carried = next((n for n in used if is_float(used[n])), "")
    if not carried:  # the carried array is not an argument of the call
        carried, used = "z", {"z": cases.POOL["a3"], **used}
    return Operation(name, lines, used, carried, measure, smooth)


def names_of(text: str) -> list[str]:
    """The names that a text reads, in order."""
    found = [(n.lineno, n.col_offset, n.id) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)]
    return list(dict.fromkeys(name for _, _, name in sorted(found)))


def run(text: str, pool: dict[str, Any]) -> dict[str, Any]:
    names = {**modules(), **{n: v.copy() if isinstance(v, np.ndarray) else v for n, v in pool.items()}}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(text, names)
    return names


def measured(value: Any) -> tuple[str, str]:
    """The assignment target for a result, and a bounded number computed from it, which does not depend on the signs of
    vectors."""
    if isinstance(value, (tuple, list)):
        if not value:
            raise Useless
        parts = [_number(v, f"r{k}") for k, v in enumerate(value)]
        target = ", ".join(f"r{k}" for k in range(len(value))) + ("," if len(value) == 1 else "")
        return target, " + ".join(parts)
    return "r", _number(value, "r")


def _number(value: Any, name: str) -> str:
    kind, rank = np.asarray(value).dtype.kind, np.ndim(value)
    if kind not in "biuf":
        raise Useless(f"{name} is {value!r}")
    if not np.all(np.isfinite(value)):
        return f"np.mean(np.cos(np.where(np.isfinite({name}), {name}, 0.5)))"
    if kind == "f" and np.max(np.abs(value), initial=0.0) > LARGE:
        return f"np.mean(np.cos(np.log1p(np.abs({name}))))"
    if kind == "f":
        return (
            f"np.mean(np.cos({name}))" if rank and np.size(value) else f"np.sum({name})" if rank else f"np.cos({name})"
        )
    return f"np.cos(0.1 * np.sum({name}))" if rank else f"np.cos(0.1 * {name})"
