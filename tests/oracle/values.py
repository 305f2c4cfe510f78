"""Values as short texts, and the comparison of such texts.

A leaf is one line: ``float64[3]: 0.5 nan 1.25``; for an array of many elements it has a few of them, the norm and a weighted
sum. Numbers are written with 14 digits and compared with relative tolerance 1e-12 plus a small share of the whole leaf, since
the last bits depend on the machine. NaN, infinity, integers, shapes and dtypes are compared exactly.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

MOST = 6  # up to this number, all elements are written
SHOWN = (0.0, 0.3, 0.7, 1.0)  # relative positions of the elements written of a longer array
RTOL = 1e-12
FLOOR = 1e-14  # relative to the largest number of the leaf


def described(value: Any) -> Any:
    """The value as JSON data: containers as dicts and lists with their kind, leaves as lines."""
    if isinstance(value, enum.Enum):
        return str(value)
    if isinstance(value, (np.ndarray, np.generic, bool, int, float, complex)):
        return leaf(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: described(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {type(value).__name__: fields}
    if isinstance(value, dict):
        return {"dict": {repr(key): described(one) for key, one in value.items()}}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {type(value).__name__: {name: described(one) for name, one in zip(value._fields, value)}}
    if isinstance(value, (tuple, list)):
        return {type(value).__name__: [described(one) for one in value]}
    if value is None or isinstance(value, str):
        return repr(value)
    if callable(value) and hasattr(value, "__name__"):  # a function, a class or a ufunc among the arguments
        return value.__name__
    fields = getattr(value, "__dict__", {})  # an object without attributes is represented by its type
    return {type(value).__name__: {name: described(one) for name, one in sorted(fields.items())}}


def leaf(value: Any) -> str:
    """The line for an array or number."""
    kind = value.dtype.name if isinstance(value, (np.ndarray, np.generic)) else type(value).__name__
    if isinstance(value, np.ndarray):
        kind += "[" + ",".join(map(str, value.shape)) + "]"
    flat = np.asarray(value).ravel()
    if flat.dtype.kind == "c":
        flat = np.stack([flat.real, flat.imag], axis=-1).ravel()
    if flat.dtype.kind == "f" and len(flat) > MOST:
        return f"{kind}: {' '.join(map(_number, _of_many(flat.astype(float))))}"
    if len(flat) > 4 * MOST:
        some = [flat[round(at * (len(flat) - 1))] for at in SHOWN]
        weights = 1 + np.arange(len(flat)) % 13
        return f"{kind}: {' '.join(map(_number, some))} sum {sum(int(w) * int(x) for w, x in zip(weights, flat))}"
    return f"{kind}: {' '.join(map(_number, flat))}"


def _of_many(flat: np.ndarray) -> list[Any]:
    """The norm, a sum with a weight for each position, the numbers of non-finite elements, and some elements."""
    finite = flat[np.isfinite(flat)]
    weights = 1 + np.arange(len(flat)) % 13
    products = (weights * flat)[np.isfinite(flat)]
    norm = math.sqrt(math.fsum(x * x for x in finite.tolist()))
    counts = [np.isnan(flat).sum(), np.isposinf(flat).sum(), np.isneginf(flat).sum()]
    some = [flat[round(at * (len(flat) - 1))] for at in SHOWN]
    return [norm, math.fsum(products.tolist()), *counts, *some]


def _number(x: Any) -> str:
    if isinstance(x, (bool, np.bool_)):
        return str(bool(x))
    return str(int(x)) if isinstance(x, (int, np.integer)) else f"{float(x):.14g}"


# ------------------------------------------------------------------------------------------------------- comparison


def differences(found: Any, frozen: Any, path: str = "") -> Iterator[str]:
    """The differences between two descriptions."""
    if type(found) is not type(frozen):
        yield f"{path or 'result'}: {found}, frozen {frozen}"
    elif isinstance(found, dict):
        if list(found) != list(frozen) and sorted(found) != sorted(frozen):
            yield f"{path or 'result'}: {sorted(found)}, frozen {sorted(frozen)}"
            return
        for key in found:
            yield from differences(found[key], frozen[key], f"{path}.{key}" if path else key)
    elif isinstance(found, list):
        if len(found) != len(frozen):
            yield f"{path}: {len(found)} entries, frozen {len(frozen)}"
            return
        for k, (a, b) in enumerate(zip(found, frozen)):
            yield from differences(a, b, f"{path}[{k}]")
    elif found != frozen and not _same_line(found, frozen):
        yield f"{path or 'result'}: {found}, frozen {frozen}"


def _same_line(found: str, frozen: str) -> bool:
    """Whether two lines have one form and their numbers are equal up to rounding."""
    (kind, _, ours), (other, _, theirs) = found.partition(": "), frozen.partition(": ")
    if kind != other or not kind.startswith(("float", "complex")):
        return False
    try:
        a, b = ([float(x) for x in line.split()] for line in (ours, theirs))
    except ValueError:
        return False
    rtol = 1e-5 if kind.startswith(("float32", "complex64")) else 1e-2 if kind.startswith("float16") else RTOL
    scale = max((abs(x) for x in b if math.isfinite(x)), default=0.0)
    return len(a) == len(b) and all(_same_number(x, y, rtol, rtol / RTOL * FLOOR * scale) for x, y in zip(a, b))


def _same_number(x: float, y: float, rtol: float, atol: float) -> bool:
    if not (math.isfinite(x) and math.isfinite(y)):
        return x == y or (math.isnan(x) and math.isnan(y))
    return abs(x - y) <= rtol * abs(y) + atol
