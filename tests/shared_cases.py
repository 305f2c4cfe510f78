"""Programs that write into the result of a call and into its argument: texts for all functions of the API tables, their methods
and operators (test_view_calls.py).

Each call is tried on arrays of several ranks and layouts, without options and with each option of its signature (``n=0``,
``copy=False``, an axis without effect). A call is a case if NumPy accepts it and returns an array of numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special
from array_cases import normal

from transpile.numpy_api.entries import entries
from transpile.numpy_api.entry_record import METHODS, PROPERTIES
from transpile.numpy_api.signatures import signature

ARGUMENTS: dict[str, tuple[int, ...]] = {
    "vector": (4,),
    "matrix": (3, 3),
    "cube": (2, 2, 3),
    "row": (1, 3),
    "one": (1,),
    "number": (),
}
LAYOUTS = {
    "in order": "x * 1.0", "turned": "(x * 1.0).T", "strided": "np.concatenate([x, x], axis=-1)[..., ::2]", "copied": "x.copy()",
}  # fmt: skip
OPTIONS: dict[str, tuple[str, ...]] = {
    "axis": ("0", "-1"), "copy": ("False", "True", "None"), "n": ("0", "1"), "k": ("0", "1"), "m": ("0", "1"),
    "order": ("'C'", "'F'", "'K'"), "dtype": ("float", "None"), "indexing": ("'ij'",), "sparse": ("True",),
    "offset": ("0", "1"), "keepdims": ("True",), "reps": ("1", "2"), "repeats": ("1", "2"), "shift": ("0", "1"),
    "ndmin": ("1", "3"), "decimals": ("2",), "shape": ("-1", "a.shape"), "newshape": ("-1",),
    "mode": ("'full'", "'wrap'"), "pad_width": ("0", "1"), "axes": ("None", "0"), "prepend": ("0.0",),
    "subok": ("True",), "window_shape": ("1", "2"),
}  # fmt: skip
"""Argument values that change whether memory is shared, by the name of the parameter."""
SECOND = ("0", "1", "-1", "(0,)", "a.shape", "a", "1.5", "[0]", "None")
"""Second arguments, tried in this order."""
OWN = [

    *(
        f"np.einsum('{s}', a)"
        for s in "i->i ii->i ij->ji ij->ij ij ji ii ij->i ijk->kij iij->ij iij->ji".split()
    ),
    "np.einsum(a, [0, 1], [1, 0])", "np.einsum(a, [0, 0], [0])", "np.einsum('ij->ji', a, optimize=True)",
    "np.einsum('...i->i...', a)", "+a", "-a", "abs(a)", "sum([a])", "sum([a], 0.0)", "0 + a", "1 * a", "a ** 1", "a.T",
    "a.T.T", "a[...]", "a[:]", "a[::-1]", "a[None]", "a[0]", "a[()]", "a[..., None]", "a[a > -9]", "a[[0]]",
    "a[..., 0]", "a[..., 0:1]", "a.flat[:]", "a.real", "np.real(a)", "a.astype(float)", "a.astype(float, copy=False)",
    "np.astype(a, float)", "np.astype(a, float, copy=False)", "np.astype(a, 'float32', copy=False)",
    "a.astype(a.dtype, 'K', 'unsafe', True, False)", "a.astype('float32', copy=False)", "a.reshape(-1)",
    "a.reshape(a.shape)", "a.reshape(a.shape, copy=True)", "a.ravel('F')", "a.ravel('K')", "a.copy('F')",
    "np.array(a, copy=None)", "np.array(a, copy=False)", "np.array(a, ndmin=2, copy=None)", "np.asarray(a, float)",
    "np.asarray(a, 'float32')", "np.ascontiguousarray(a)", "np.asfortranarray(a)", "np.require(a)",
    "np.require(a, None, ['F'])", "np.split(a, 1)", "np.array_split(a, 2)", "np.hsplit(a, 1)", "np.vsplit(a, 1)",
    "np.dsplit(a, 1)", "np.unstack(a)", "np.rot90(a)", "np.rot90(a, 2)", "np.broadcast_to(a, (2, *a.shape))",
    "np.broadcast_arrays(a, a)", "np.broadcast_arrays(a, np.zeros((2, 1, 1, 1)))", "np.meshgrid(a, a, copy=False)",
    "np.meshgrid(a, a, sparse=True, copy=False)", "np.ix_(a > 0)", "np.moveaxis(a, 0, -1)", "np.rollaxis(a, 1)",
    "np.swapaxes(a, 0, 1)", "np.atleast_1d(a, a)", "np.atleast_2d(a)", "np.atleast_3d(a)", "np.expand_dims(a, (0, 2))",
    "np.linalg.matrix_power(a, 1)", "np.linalg.matrix_power(a, 2)", "np.linalg.multi_dot([a, a])", "np.diag(a, 1)",
    "np.diagonal(a, 1)", "a.diagonal()", "np.block([a])", "np.concatenate([a])", "np.concatenate((a,), axis=-1)",
    "np.delete(a, [])", "np.insert(a, 0, 1.0)", "np.append(a, [])", "np.select([a > 9], [a])",
    "np.where(a > -9, a, 0.0)", "np.choose([0], [a])", "np.apply_over_axes(np.sum, a, [])", "np.tile(a, 1)",
    "np.nan_to_num(a, copy=False)", "np.add(a, 0, out=a)", "np.clip(a, 0, 1, out=a)", "np.round(a)",
    "np.piecewise(a, [a > 0], [lambda t: t])", "np.sort(a, axis=None)",
    "np.lib.stride_tricks.sliding_window_view(a, 2, axis=-1)", "np.lib.stride_tricks.sliding_window_view(a, a.shape)",
    "np.unique(a)", "np.positive(a)", "np.trim_zeros(a)", "np.linalg.diagonal(a)", "np.matrix_transpose(a)", "a.mT",
    "np.squeeze(a)", "np.squeeze(a, 0)", "list(a)[0]", "[row for row in a][0]", "np.fmax.reduce([a])",
    "np.stack([a])[0]", "np.ravel(a)[1:]", "np.flip(a)[::-1].T", "np.reshape(a, -1)[::-1]", "np.expand_dims(a, 0)[0]",
    "np.split(a, 1)[0].T", "np.diag(np.diag(a))", "np.moveaxis(a, -1, 0)[0]", "np.swapaxes(a, 0, -1)[..., None]",
]  # fmt: skip


PLAIN = ("matrix", "in order")
LEFT_OUT = (  # a turn and a half; calls that may overwrite their argument with anything
    "np.rot90(a, 1.5)", "scipy.linalg.svd(a, None)", "scipy.linalg.svd(a, (0,))", "scipy.linalg.svdvals(a, 1)",
    "scipy.linalg.svdvals(a, -1)",
)  # fmt: skip


def calls() -> Iterator[tuple[str, bool]]:
    """The texts of calls with the array ``a``, and whether each is tried in all shapes and layouts."""
    for name, entry in entries().items():
        if "empty" in name or (entry.build is None and not entry.source):
            continue
        root, _, last = name.rpartition(".")
        if root == "ndarray":
            shown = f"a.{last}"
            if last in PROPERTIES:
                yield shown, True
                continue
        elif name.partition(".")[0] in ("numpy", "scipy"):
            shown = name.replace("numpy.", "np.", 1)
        else:
            continue
        first = "" if root == "ndarray" else "a"
        wide = not entry.elementwise and not name.startswith("scipy.special")
        yield f"{shown}({first})", wide
        for second in SECOND:
            yield f"{shown}({', '.join(filter(None, (first, second)))})", wide
        for option in _options(name):
            yield f"{shown}({', '.join(filter(None, (first, option)))})", wide
    for name, known in METHODS.items():
        if name in PROPERTIES:
            yield f"a.{name}", True
        elif not known.startswith("ndarray."):
            yield f"a.{name}()", True
            yield f"a.{name}(0)", True
    yield from ((call, True) for call in OWN)


def _options(function: str) -> Iterator[str]:
    found = signature(function)
    for name in found.parameters if found is not None else ():
        for value in OPTIONS.get(name, ()):
            yield f"{name}={value}"


def evaluated(call: str, a: Any) -> Any:
    return eval(call, {"np": np, "scipy": scipy, "a": a})


def first_array(value: Any) -> Any:
    """The subscripts that lead to the first array of a result, as text; None if there is no array that can be written."""
    if isinstance(value, np.ndarray):
        return "" if value.dtype.kind in "fiu" and value.size else None
    if isinstance(value, (tuple, list)):
        for k, part in enumerate(value):
            found = first_array(part)
            if found is not None:
                return f"[{k}]{found}"
    return None


def cases(every: int = 1) -> Iterator[tuple[str, str, str]]:
    """(argument, layout, call with the subscripts of an array in its result)."""
    arrays = {name: normal(*shape, seed=len(shape)) for name, shape in ARGUMENTS.items()}
    count = 0
    for call, wide in dict(calls()).items():
        for which, x in arrays.items():
            try:
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = evaluated(call, x.copy())
            except Exception:
                continue
            way = first_array(found)
            if way is None or call in LEFT_OUT or (call.startswith("scipy.linalg") and "," in call):  # overwrite_a
                continue
            for layout in LAYOUTS:
                if (not wide and (which, layout) != PLAIN) or (which == "number" and layout != "copied"):
                    continue
                count += 1
                if count % every == 0:
                    yield which, layout, f"{_in_brackets(call)}{way}"


def _in_brackets(call: str) -> str:
    return f"({call})" if call.startswith(("+", "-", "0", "1")) else call
