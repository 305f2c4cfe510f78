"""The calls of the API tables, one function for each, and the arrays on which they are tried."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from loop_text import Outcome, outcome
from shared_cases import LEFT_OUT, calls

CUTS = {  # a part of the argument, and shapes that leave several elements of it, one, or none
    "x * 1.0": ((3,), (1,), (2, 2), (2, 3), (1, 1), (2, 2, 3)),
    "x[1:]": ((1,), (2,), (3,)),
    "x[1:, 1:]": ((1, 1), (1, 3), (3, 1), (2, 3)),
    "x[1:, :, 1:]": ((1, 2, 2), (2, 2, 1), (2, 1, 3)),
}
ELSEWHERE = "place( put( copyto fill_diagonal out= subok empty order= flags require memmap dtype= ndarray".split()
"""Calls that write into their arguments, or depend on memory: they have their own tests."""
OTHER = {  # NumPy checks empty arrays before it looks; a list for a tuple; see docs/limits.md
    "a[[0]]", "np.digitize(a, a.shape)", "np.linalg.cond(a, 1)", "np.linalg.cond(a, -1)", "np.quantile(a, a)",
    "np.percentile(a, a)", "np.meshgrid(a, a, sparse=True, copy=False)", "np.meshgrid(a, a, copy=False)",
    "scipy.linalg.lu(a)", "scipy.linalg.svd(a)", "np.cov(a, a.shape)", "np.corrcoef(a, a.shape)",
}  # fmt: skip

OF_NOTHING = (
    "np.average np.choose np.delete np.gradient np.linalg.cond np.linalg.norm np.median np.nanmedian np.nanpercentile "
    "np.nanquantile np.polyval np.resize np.take_along_axis scipy.linalg.pinv scipy.linalg.svdvals a.choose"
).split()
"""Calls that differ from NumPy's for empty arrays (docs/limits.md), or between versions of NumPy and SciPy."""
APART = (
    "np.fromiter(a, None)", "np.roll(a, a)", "np.where(a, None)", "np.histogram(a, a)", "np.gradient(a, a)",  # empty arrays
    "np.polyadd(", "np.polysub(",  # NumPy pads matrices with rows of zeros
)  # fmt: skip


def texts() -> list[str]:
    found = {call for call, wide in calls() if wide and call not in LEFT_OUT and not any(s in call for s in ELSEWHERE)}
    return sorted(c for c in found if not (c.startswith("scipy.linalg") and "," in c) and c not in OTHER)


def function_text(call: str, cut: str = "x") -> str:
    """The text of a function of x that returns the call of ``a``, a part of x."""
    return f"import numpy as np, scipy.linalg, scipy.special\n\ndef f(x):\n    a = {cut}\n    return {call}\n"


def arrays_of(shapes: Iterable[tuple[int, ...]]) -> Iterator[np.ndarray]:
    for shape in shapes:
        yield np.random.default_rng(len(shape)).normal(size=shape) + 1.0


def may_differ(call: str, cut: str, x: np.ndarray) -> bool:
    """Whether the cut is empty and the call is one that differs from NumPy's for empty arrays."""
    return call.startswith(tuple(f"{name}(" for name in OF_NOTHING)) and not eval(cut, {"x": x}).size


def own_outcome(text: str, x: np.ndarray, *more: type[Exception]) -> Outcome | None:
    """The outcome of the function run by Python; None if the call does not take such an argument, or raises one of ``more``."""
    names: dict = {}
    exec(text, names)
    found = outcome(names["f"], (x,))
    return None if isinstance(found.error, (TypeError, AttributeError, KeyError, *more)) else found


def is_of_arrays(found: Outcome) -> bool:
    """Whether the outcome is an error, or a value of arrays and numbers."""
    return found.error is not None or isinstance(found.value, (np.ndarray, np.generic, float, int, tuple, list))


def faults_of(some: Iterable[str], faults: Callable[[str], Iterator[str]]) -> list[str]:
    """The faults of all these calls, without NumPy's warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [fault for call in some for fault in faults(call)]
