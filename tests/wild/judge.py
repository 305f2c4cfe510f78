"""Compares one call of a function with its compiled version and its gradient with differences."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import math
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.errors import TranspileError

from .slopes import disagreement

CALLS = 3  # calls of one function that are differentiated
RTOL = 1e-9

Verdict = tuple[str, str]  # of `run.ORDER`; with the code or what was found


class Judge:
    """Stands for a function in its examples: calls it, and its transformed versions beside it."""

    def __init__(
        self, function: Callable[..., Any], say: Callable[[str, Verdict, str], None], compiles: bool = True
    ) -> None:
        self.function, self.say, self.compiles = function, say, compiles
        self.transformed = tp.jit(function) if compiles else Transformed(function, Level())
        self.calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = copy.deepcopy((args, kwargs))
        wanted = outcome(self.function, *copy.deepcopy(given))
        text = f"{self.function.__name__}{args}" + (f" {kwargs}" if kwargs else "")
        self.calls += 1
        found = outcome(self.transformed, *copy.deepcopy(given))
        verdict = value_verdict(wanted, found)
        if verdict[0] == "wrong value" and self.is_rounding(given, wanted, found):
            verdict = "rounding", verdict[1]
        self.say("value", verdict, text)
        if self.calls <= CALLS and not isinstance(wanted, Exception):
            self.gradient(given, wanted, text)
        return self.function(*args, **kwargs)

    def gradient(self, given: tuple[tuple[Any, ...], dict[str, Any]], wanted: Any, text: str) -> None:
        args = positional(self.function, *given)
        if args is None or not _is_number(wanted):
            return
        chosen = tuple(k for k, a in enumerate(args) if isinstance(a, float) and math.isfinite(a))
        if not chosen:
            return
        gradient = tp.grad(self.function, argnums=chosen)
        found = outcome(gradient, copy.deepcopy(args), {})
        verdict = gradient_verdict(self.function, args, chosen, found)
        if verdict[0] == "wrong gradient" and self.is_edge(args, chosen):
            verdict = "edge", verdict[1]
        self.say("gradient", verdict, text)
        if self.compiles and verdict[0] == "equal":
            compiled = outcome(tp.jit(gradient), copy.deepcopy(args), {})
            sides = [
                np.array(g) if isinstance(g, tuple) else g for g in (found, compiled)
            ]  # in proportion to the largest
            self.say("compiled gradient", value_verdict(*sides, 1e-6), text)

    def is_rounding(self, given: tuple[tuple[Any, ...], dict[str, Any]], wanted: Any, found: Any) -> bool:
        """Whether arguments that are rounded otherwise in their last digit change the function's own value as much."""
        if not (_is_number(wanted) and _is_number(found)):
            return False
        spread = 0.0
        for seed in range(8):
            moved = outcome(self.function, *nudged(copy.deepcopy(given), np.random.default_rng(seed)))
            spread = max(spread, abs(moved - wanted)) if _is_number(moved) else spread
        return abs(found - wanted) <= 4 * spread

    def is_edge(self, args: tuple[Any, ...], chosen: tuple[int, ...]) -> bool:
        """Whether the gradients beside the point are right on all sides: a test of the function is just equal there."""
        gradient = tp.grad(self.function, argnums=chosen)
        for seed in range(4):
            signs = np.random.default_rng(seed).choice([-1.0, 1.0], len(args)) * np.linspace(0.7, 1.3, len(args))
            moved = tuple(
                a + 3e-3 * float(s) * max(abs(a), 1e-2) if k in chosen else a
                for k, (a, s) in enumerate(zip(args, signs))
            )
            if gradient_verdict(self.function, moved, chosen, outcome(gradient, moved, {}))[0] != "equal":
                return False
        return True


def positional(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
    """The arguments by position; None where some have none."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args if not bound.kwargs else None


def outcome(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result, or the exception."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*args, **kwargs)
    except Exception as e:
        return e


def nudged(value: Any, rng: np.random.Generator) -> Any:
    """Every floating-point number in it moved by one unit of its last place, up or down."""
    if isinstance(value, (list, tuple)):
        return type(value)(nudged(v, rng) for v in value)
    if isinstance(value, dict):
        return {k: nudged(v, rng) for k, v in value.items()}
    if isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        return np.nextafter(value, np.inf * rng.choice([-1.0, 1.0], np.shape(value)))[()]
    return value


def is_departure(wanted: Exception, found: Any) -> bool:
    """A Python float that counts as NumPy's does, as docs/limits.md says: infinity or NaN where Python raises."""
    raised = isinstance(wanted, ZeroDivisionError) or str(wanted) in ("math domain error", "math range error")
    return raised and isinstance(found, float) and not math.isfinite(found)


def value_verdict(wanted: Any, found: Any, rtol: float = RTOL) -> Verdict:
    if isinstance(found, TranspileError):
        return "refused", found.diagnostics[0].code
    if isinstance(wanted, Exception):
        if is_departure(wanted, found):
            return "as NumPy", described(wanted)
        if not isinstance(found, Exception):
            return "wrong value", f"{found!r}, the function raises {type(wanted).__name__}: {str(wanted)[:80]}"
        return ("equal", "") if type(found) is type(wanted) else ("internal error", described(found))
    if isinstance(found, Exception):
        return "internal error", described(found)
    return ("equal", "") if agrees(wanted, found, rtol) else ("wrong value", f"{_short(found)}, not {_short(wanted)}")


def gradient_verdict(
    function: Callable[..., Any], args: tuple[Any, ...], chosen: tuple[int, ...], found: Any
) -> Verdict:
    if isinstance(found, TranspileError):
        return "refused", found.diagnostics[0].code
    if isinstance(found, Exception):
        return "internal error", described(found)
    for k, slope in zip(chosen, found, strict=True):

        def along(t: float, k: int = k) -> float:
            y = outcome(function, (*args[:k], t, *args[k + 1 :]), {})
            if isinstance(y, Exception):
                raise y
            return float(y)

        why = disagreement(along, args[k], float(slope))
        if why:
            return "wrong gradient", f"argument {k}: {why}"
    return "equal", ""


def described(e: Exception) -> str:
    frames = [f for f in traceback.extract_tb(e.__traceback__) if "/tests/" not in f.filename]
    last = frames[-1] if frames else None
    where = f" in {Path(last.filename).name}:{last.lineno} {last.name}" if last is not None else ""
    return f"{type(e).__name__}{where}: {str(e)[:160]}"


def agrees(wanted: Any, found: Any, rtol: float) -> bool:
    """The same structure and, within rounding, the same numbers."""
    if isinstance(wanted, (list, tuple)):
        return (
            isinstance(found, (list, tuple))
            and len(found) == len(wanted)
            and all(agrees(a, b, rtol) for a, b in zip(wanted, found, strict=True))
        )
    if dataclasses.is_dataclass(wanted) and type(found) is type(wanted):
        return agrees(vars(wanted), vars(found), rtol)
    if isinstance(wanted, dict):
        return (
            isinstance(found, dict)
            and list(wanted) == list(found)
            and all(agrees(wanted[k], found[k], rtol) for k in wanted)
        )
    if isinstance(wanted, (bool, int, float, np.generic, np.ndarray)):
        a, b = np.asarray(wanted), np.asarray(found)
        if a.shape != b.shape or b.dtype.kind not in "biufc" or a.dtype.kind not in "biufc":
            return a.dtype.kind == b.dtype.kind and a.shape == b.shape and bool(np.all(a == b))
        scale = float(np.max(np.abs(a), initial=0, where=np.isfinite(a))) if a.size else 0.0
        return bool(np.allclose(a, b, rtol=rtol, atol=rtol * scale, equal_nan=True))
    try:
        return type(wanted) is type(found) and (bool(wanted == found) or not hasattr(wanted, "__eq__"))
    except Exception:
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and math.isfinite(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else text[:77] + "..."
