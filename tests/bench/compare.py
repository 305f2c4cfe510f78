"""Checks that the peers compute the same. Results of any library become NumPy leaves; the result with the most agreement is
taken as right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

TOLERANCE = 1e-7  # relative to the largest element of the leaf: the order of summation differs


def leaves(result: Any) -> list[np.ndarray]:
    """The arrays and numbers of a result, in order; dicts in the order of their keys."""
    if isinstance(result, Mapping):
        return [leaf for key in sorted(result) for leaf in leaves(result[key])]
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in leaves(item)]
    if hasattr(result, "detach"):  # a PyTorch tensor
        result = result.detach().numpy()
    return [np.asarray(result, dtype=float)]


def difference(a: Sequence[np.ndarray], b: Sequence[np.ndarray]) -> str:
    """The difference between two results as text; "" if there is none."""
    if [x.size for x in a] != [y.size for y in b]:
        return f"shapes {[x.shape for x in a]} and {[y.shape for y in b]}"
    for k, (x, y) in enumerate(zip(a, b)):
        which = "value" if k == 0 else f"derivative {k - 1}"
        x, y = x.ravel(), y.ravel()
        finite = np.isfinite(x)
        if not np.array_equal(finite, np.isfinite(y)) or not np.array_equal(x[~finite], y[~finite], equal_nan=True):
            return f"{which}: NaN or infinity on one side"
        scale = np.max(np.abs(y[finite]), initial=0.0)
        error = np.max(np.abs(x[finite] - y[finite]), initial=0.0)
        if error > TOLERANCE * scale:
            return f"{which} differs by {error / scale if scale else np.inf:.1e} of its size"
    return ""


def odd_ones(results: Mapping[str, Any]) -> dict[str, str]:
    """The peers that disagree with the majority, each with the difference. If only two disagree, the later is odd."""
    flat = {name: leaves(result) for name, result in results.items()}
    if not flat:
        return {}
    agreeing = {name: sum(not difference(flat[other], flat[name]) for other in flat) for name in flat}
    right = max(flat, key=lambda name: agreeing[name])  # the first of equal ones
    found = {name: difference(flat[name], flat[right]) for name in flat if name != right}
    return {name: f"{text} (from {right})" for name, text in found.items() if text}
