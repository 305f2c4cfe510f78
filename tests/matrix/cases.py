"""Calls of functions of numbers or of arrays of any shape, as text over `POOL`: an addition to `array_cases`.

Elementwise functions are called at the points where their primitives are tested, so that a new one is included automatically.
"""

from __future__ import annotations

import ast
from typing import Any

import array_cases
import numpy as np
from rule_points import POINTS
from test_rules_api import MATH_CASES

from transpile.numpy_api.entries import entries
from transpile.numpy_api.entry_record import METHODS, PROPERTIES
from transpile.ops.record import UNWRITTEN
from transpile.ops.tables import prims

ENTRIES = entries()
POOL: dict[str, Any] = {
    **array_cases.POOL, "s": 0.7, "s2": 1.3, "k": 3, "n": 2, "c5": np.array([3, 1, 4, 1, 5]), "up7": np.linspace(0.5, 2.0, 7),
    "signs": np.array([0.3, -0.4, 2.0]),
}  # fmt: skip
MODULES = {"numpy": "np"}
FIXED = "_fixed"

OTHERS = [
    "np.asanyarray(x)", "np.ascontiguousarray(x.T)",
    "np.asfortranarray(x)", "np.asarray_chkfinite(x)", "np.copy(x)", "np.diag_indices_from(q)  # value",
    "np.tril_indices_from(q)  # value", "np.triu_indices_from(x, 1)  # value", "np.trapezoid(v)", "np.clip(x, -0.6, s)",
    "np.round(x, 1)", "np.round(s, 1)", "np.around(x)", "np.where(mask, x, y)", "np.where(x > s, 0.5, x)",
    "np.where(mask)  # value", "np.nan_to_num(holes, nan=s)", "np.isclose(x, y)", "np.float_power(pos, s2)",
    "np.ldexp(x, 2)", "np.frexp(x)", "np.modf(x)", "np.divmod(x, s)", "np.real(x)", "np.conj(x)", "np.conjugate(x)",
    "np.real_if_close(x)", "np.imag(x)", "np.isposinf(x)", "np.isneginf(x)", "np.isrealobj(x)", "np.iscomplexobj(x)",
    "np.concat([v, u])", "np.row_stack([v, u])", "np.matvec(x, a4)", "np.vecmat(a3, x)", "np.permute_dims(t, (2, 0, 1))",
    "np.ndim(x)", "np.size(x, 1)", "np.unique_values(i3)", "np.in1d(i4, k13)", "np.trapz(v)",
    "tp.stop_gradient(x) * x  # value", "x.itemsize", "x.nbytes",
    "np.piecewise(x, [mask], [lambda e: e * e, lambda e: np.sin(e)])", "np.fromfunction(lambda i, j: (i + j) * s, (2, 3))",
    "np.fromiter((e * s for e in (1.0, 2.0, 3.0)), float)", "np.fromiter(map(lambda e: e * e, v), float, 2)", "np.astype(x, 'float32')  # single", "x.astype('float32')  # single",
    "np.apply_along_axis(lambda r: r * r.sum(), 1, x)", "np.apply_over_axes(np.sum, t, (0, 2))", "np.angle(x)", "np.isreal(x)",
    "np.iscomplex(x)", "np.unwrap(v * 4)", "np.union1d(i3, k13)", "np.intersect1d(i4, k13)", "np.setdiff1d(i4, k13)",
    "np.polyadd(v, a3)", "np.polysub(a3, v)", "np.bartlett(6)", "np.hanning(6)", "np.hamming(6)", "np.blackman(6)",
    "np.kaiser(6, s)", "np.choose(bits, [a4, xp])", "np.choose(np.zeros(2, int), [0.5])",
    "np.linalg.outer(v, a3)", "np.linalg.matmul(x, m42)", "np.linalg.vecdot(x, y)", "np.linalg.tensordot(x, m42, axes=1)",
    "np.linalg.cross(a3, b3)", "np.linalg.diagonal(t)", "np.linalg.trace(t)", "np.linalg.matrix_transpose(t)",
    "np.linalg.tensorsolve(spd.reshape(2, 2, 4), x[:2, :2])", "np.linalg.tensorinv(spd.reshape(2, 2, 4))",
    "np.logical_or.reduce(mask)", "np.fmax.reduce(x)", "np.fmin.reduce(x, axis=1)", "np.logaddexp2.reduce(x, axis=1)",
    "np.triu(scipy.linalg.cho_factor(spd)[0])", "scipy.linalg.cho_solve((low, True), a4)", "scipy.linalg.inv(q)", "scipy.linalg.det(q)",
    "scipy.linalg.svd(x, full_matrices=False)", "scipy.linalg.svdvals(x)", "scipy.linalg.pinv(q)", "scipy.linalg.lstsq(m53, v)  # value",
    "scipy.linalg.eigh(spd)", "scipy.linalg.eigvalsh(spd)", "scipy.linalg.norm(x)",
    "scipy.special.polygamma(1, pos)", "scipy.special.exp10(s)", "scipy.special.multigammaln(up7 + 2.0, 2)",
    *(f"scipy.special.{f}(x, axis=1)" for f in ("softmax", "log_softmax", "logsumexp")), "scipy.special.softplus(x)",
    "scipy.special.huber(0.8, x)", "scipy.special.pseudo_huber(0.8, x)",
    "abs(x)", "abs(s)", "pow(s, 2)", "pow(pos, s2)", "round(s, 1)", "divmod(s2, s)", "divmod(x, s)",
    "max(s, s2, 0.9)", "min(s, s2)", "sum(v)", "sum([s, s2], 0.5)", "max(v)", "sorted(v)", "float(s)", "int(s2 * 3.0)", "len(x)",
    *(f"operator.{f}(x, y)" for f in "add sub mul truediv floordiv mod lt le gt ge eq ne".split()), "operator.pow(pos, s2)",
    "operator.neg(x)", "operator.pos(x)", "operator.abs(x)", "operator.matmul(x, a4)", "operator.invert(i3)",
    *(f"operator.{f}(i3, 2)" for f in "and_ or_ xor lshift rshift".split()),
    "math.dist([s, s2], [0.2, 0.9])", "math.fsum([s, s2, 0.1])", "math.prod([s, s2])", "math.sumprod([s, s2], [0.2, 0.9])",
    "math.fma(s, s2, 0.4)", "math.frexp(s)", "x[0, 1]", "x[1]", "x[:, 1:3]", "x[::-1, ::2]", "x[mask]", "x[k13 - 1]", "x[i3 - 1, [0, 1, 2]]", "x[:, None]",
    "x[..., 0]", "x[-1, k]", "v[k:]", "v[k - 1:k]", "x[mask.any(axis=1)]", "x + a4", "x @ a4", "a4 @ q @ a4", "x ** 2", "pos ** s2", "2.0 ** x",
    "x // 0.3", "x % 0.3", "-x", "+x", "x > s", "~mask", "c5 & 1", "s ** k", "k ** 2", "k // 2 * s",
    "x.sum(axis=0)", "x.T", "x.mT", "x.flat[2:5]", "x.tolist()[0]", "v.item(1)", "x.reshape(4, 3)", "x.reshape(-1)", "t.transpose(1, 0, 2)",
    "x.ravel()", "x.flatten()", "x.compress(b3_, axis=0)", "v.repeat(2)", "x.swapaxes(0, 1)", "x.squeeze()", "x.round(1)",
    "x.clip(-0.5, 0.5)", "x.dot(a4)", "x.cumsum(axis=1)", "x.max(axis=1)",
    "x.argmax(axis=1)", "v.argsort()", "up5.searchsorted(s)", "x.diagonal()", "x.trace()", "x.take(k13)", "mask.nonzero()", "x.all()",
    "bits.choose([a4, xp])", "v.argpartition(2)  # value", "x.conj()", "x.conjugate()", "x.real", "x.imag", "x.shape", "x.ndim", "x.size",
    "x.any(axis=0)", "x.argmin()", "x.cumprod()", "x.max()", "x.mean(axis=0)", "x.min(axis=1)", "x.prod()", "x.std()", "x.var(axis=1)",
    "x.copy()", "x.__abs__()", "np.ones(3, dtype=x.dtype) * s",
    "np.logspace(s, s2, 4)", "np.i0(x)", "np.add.outer(v, a3)", "np.subtract.outer(v, a3)", "np.multiply.outer(a3, v)",
    "np.maximum.accumulate(x, axis=1)", "np.add.reduceat(v, [0, 2, 1])", "np.hypot.reduce(x, axis=1)", "np.add(x, y, out=np.zeros_like(x))",
    "np.log(x, out=np.zeros_like(x), where=x > 0)", "np.add.outer(v, a3, out=np.zeros((5, 3)))", "pow(base=s, exp=2)", "int('12', 8) * s",
]  # fmt: skip

WRITES = [
    "np.copyto(w, y)", "np.copyto(w, y, where=x > 0)", "np.putmask(w, mask, y)", "np.place(w, mask, [s, s2])", "np.put(w, [0, -5], [s, s2])",
    "np.put_along_axis(w, row, s, 0)", "np.fill_diagonal(w, s)", "w.fill(s)", "w.sort()", "w.sort(axis=0)", "w.partition(1, axis=0)",
    "w.put([0, 1], s)", "w[0] = a4", "w[0] += a4", "w[:, 1] *= s", "w[mask] = s", "w[i3 - 1, [0, 1, 2]] += a3", "w[1:] += w[:-1]",
    "w *= y", "w @= q", "w -= x.mean()", "np.add.at(w, (i3 - 1, i3), a3)", "np.multiply(w, y, out=w)", "w.T[0] = a3", "w[0], w[1] = w[1].copy(), w[0].copy()",
    "made = np.empty(3); made[:] = s; w[:, 0] = made", "made = np.empty_like(w); made[...] = y; w += made", "made = np.ndarray((3,), float); made[:] = s; w[:, 0] = made", "w[::-1] = w.copy()", "w[1, 2] = w[2, 1] ** 2",
]  # fmt: skip
"""Statements that write into ``w``, which starts as a copy of ``x``."""


def _columns(name: str, prim: str) -> dict[str, Any]:
    """Arguments at the points of a primitive, one array for each operand; the name marks those without a derivative."""
    partials = prims()[prim].partials
    ends = [FIXED if p is UNWRITTEN else "" for p in partials]
    columns = [np.array(c, dtype=bool if isinstance(c[0], bool) else None) for c in zip(*POINTS[prim])]
    return {f"{name}_{k}{end}": column for k, (column, end) in enumerate(zip(columns, ends))}


def _elementwise() -> list[tuple[str, dict[str, Any]]]:
    """A call of every elementwise entry, at the points of its primitive."""
    found = []
    for name, entry in ENTRIES.items():
        module, _, short = name.rpartition(".")
        if entry.elementwise and entry.elementwise in POINTS and module in ("numpy", "scipy.special"):
            pool = _columns(short, entry.elementwise)
            found.append((f"{MODULES.get(module, module)}.{short}({', '.join(pool)})", pool))
    return found


def _math() -> list[tuple[str, dict[str, Any]]]:
    """A call of every function of ``math``, with Python's numbers."""
    import math

    found = []
    for short, points in MATH_CASES.items():
        for at, args in enumerate(p for p in points if hasattr(math, short)):
            pool = {f"{short}{at}_{k}": a for k, a in enumerate(args) if isinstance(a, float)}
            texts = [f"{short}{at}_{k}" if isinstance(a, float) else repr(a) for k, a in enumerate(args)]
            if not any(isinstance(a, (np.generic, bool)) for a in args):
                edge = "  # value" if short in ("isclose", "frexp") else ""  # differences would see its jumps
                found.append((f"math.{short}({', '.join(texts)}){edge}", pool))
    return found


def texts() -> list[tuple[str, dict[str, Any]]]:
    """Every call, with the arrays that it needs beside those of `POOL`."""
    shared: list[tuple[str, dict[str, Any]]] = [(text, {}) for text in (*array_cases.CASES, *OTHERS)]
    return [*shared, *_elementwise(), *_math()]


def called(text: str) -> set[str]:
    """The names, as in the API tables, of everything that a text calls; for a method the name itself."""
    found = set()
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Call):
            root, _, rest = ast.unparse(node.func).partition(".")
            last = rest.rpartition(".")[2]
            known = {
                "np": f"numpy.{rest}",
                "tp": f"transpile.{rest}",
                **dict.fromkeys(("math", "scipy", "operator"), f"{root}.{rest}"),
            }
            found.add(known.get(root) or (METHODS.get(last, "") if rest else f"builtins.{root}"))
        elif isinstance(node, ast.Attribute):
            found.add(METHODS.get(node.attr, ""))
    return found


def missing() -> list[str]:
    """The entries and methods that no text calls."""
    seen = {name for text, _ in texts() for name in called(text.partition("  # ")[0])}
    written = " ".join(WRITES)
    methods = [
        m for m in METHODS if not any(f".{m}(" in t or (m in PROPERTIES and f".{m}" in t) for t in (written, *OTHERS))
    ]
    numpys = [
        n for n in ENTRIES if not n.startswith("transpile")
    ]  # draws are tested in `tests/vocabulary/test_random.py`
    entries_ = [n for n in numpys if n not in seen and f"{n.rpartition('.')[2]}(" not in written and not _is_absent(n)]
    return [*entries_, *methods]


def _is_absent(name: str) -> bool:
    """Whether the installed NumPy, SciPy or Python lacks it."""
    from importlib import import_module

    if name.startswith("ndarray."):
        return not hasattr(np.ndarray, name.rpartition(".")[2])
    module, _, short = name.rpartition(".")
    try:
        return not hasattr(import_module(module), short)
    except ImportError:
        return not hasattr(getattr(np, module.rpartition(".")[2], None), short)
