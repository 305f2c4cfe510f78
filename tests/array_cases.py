"""Calls of the array functions, as text over the arrays of `POOL`; test_rules_arrays.py checks the API tables on them.

Marks at the end of a line: ``# value`` checks the value only (no derivative, or points where there is none), ``# list`` takes
the result of NumPy as a list of results, ``# const`` has no array argument, ``# known`` needs sizes known at transform time.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def normal(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def _pool() -> dict[str, Any]:
    x, q, qs = normal(3, 4), normal(4, 4) + 3 * np.eye(4), normal(2, 3, 3) + 3 * np.eye(3)
    holes = x.copy()
    holes[0, 1] = holes[2, 3] = np.nan
    spd = q @ q.T + np.eye(4)
    return {
        "x": x, "y": normal(3, 4, seed=2), "v": normal(5), "u": normal(5, seed=1), "t": normal(2, 3, 4), "a4": normal(4, seed=3),
        "a3": normal(3, seed=4), "b3": normal(3, seed=5), "a2": normal(2, seed=6), "a6": normal(6), "a7": normal(7),
        "m42": normal(4, 2), "m24": normal(2, 4), "m32": normal(3, 2), "m22": normal(2, 2), "m33": normal(3, 3), "m14": normal(1, 4),
        "m43": normal(4, 3), "m53": normal(5, 3), "t131": normal(1, 3, 1), "t232": normal(2, 3, 2), "t422": normal(4, 2, 2),
        "t342": normal(3, 4, 2), "t432": normal(4, 3, 2), "t41": normal(4, 1, 2, 3), "t534": normal(5, 3, 4), "t234": normal(2, 3, 4),
        "q": q, "qs": qs, "spd": spd, "spds": qs @ qs.transpose(0, 2, 1) + np.eye(3), "low": np.linalg.cholesky(spd),
        "mask": x > 0, "holes": holes, "i23": np.arange(6).reshape(2, 3), "i32": np.arange(6, dtype=np.int32).reshape(2, 3),
        "f32": x.astype(np.float32), "b23": np.arange(6).reshape(2, 3) > 2, "w4": np.array([0.5, 1.5, -2.0, 3.0]),
        "i4": np.array([0, 2, 2, 1]), "xp": np.array([0.0, 0.7, 1.5, 2.0]), "fp": np.array([0.0, 0.6, 1.0, 0.9]),
        "up5": np.sort(normal(5)), "up6": np.cumsum(np.abs(normal(6))) + 0.1, "up3": np.array([0.2, 0.7, 1.6]), "zero": np.zeros(3),
        "counts": np.array([1, 0, 2, 3, 1]), "pos": np.abs(x) + 0.1, "k13": np.array([1, 3]), "edges": np.array([-1.0, 0.0, 0.5, 1.0]),
        "b5": np.array([True, False, True, True, False]), "b3_": np.array([True, False, True]), "bits": np.array([0, 1, 1, 0]),
        "i3": np.array([3, 1, 1]), "grid": np.array([[0, 2], [1, 1]]), "order": np.argsort(x, axis=1), "row": np.array([[0, 2, 1, 1]]),
        "far": np.array([7, -9]), "eye": np.eye(3),
    }  # fmt: skip


POOL = _pool()
METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull median_unbiased "
    "normal_unbiased lower higher midpoint nearest"
).split()
WAYS = ("", ", axis=0", ", axis=-1", ", axis=1, keepdims=True", ", keepdims=True")

REDUCTIONS = [
    *(f"np.{f}(x{way})" for f in (
        "sum prod mean max min amax amin ptp var std all any count_nonzero nansum nanprod nanmean nanmax nanmin nanvar nanstd median "
        "nanmedian"
    ).split() for way in (*WAYS,)),
    *(f"np.{f}(t, axis={axis})" for f in "sum prod mean max ptp var std any nansum nanmean nanvar median".split()
      for axis in ("(0, 2)", "(-1, 1), keepdims=True")),
    *(f"np.{f}(v)" for f in "sum prod mean max ptp var std any nansum median nanmedian".split()),
    *(f"np.{f}(x{way})" for f in "argmax argmin nanargmax nanargmin".split() for way in WAYS[:4]),
    *(f"np.{f}(x{way}, where=mask)" for f in "sum prod mean var nansum nanmean any all".split() for way in ("", ", axis=0")),
    "np.std(x, axis=0, where=pos > 0.2)", "np.std(x, where=mask, keepdims=True)",
    *(f"np.{f}(x{way}, initial=2.5)" for f in "sum prod max min".split() for way in ("", ", axis=0")),
    "np.max(x, initial=0.1, where=mask)", "np.min(x, initial=0.1, where=mask)",
    "np.var(x, ddof=1)", "np.std(x, axis=1, ddof=1, keepdims=True)", "np.var(x, axis=0, mean=np.mean(x, axis=0, keepdims=True))",
    *(f"np.{f}({a})" for f in "cumsum cumprod nancumsum nancumprod".split() for a in ("x", "x, axis=0", "x, axis=-1", "v")),
    "np.cumulative_sum(v)", "np.cumulative_sum(x, axis=0, include_initial=True)",
    "np.cumulative_prod(x, axis=1, include_initial=True)",
    *(f"np.{f}.{kind}(x{way})" for f in "add multiply maximum minimum".split() for kind in ("reduce", "accumulate")
      for way in ("", ", axis=1")),
    "np.logaddexp.reduce(x)", "np.logaddexp.reduce(v)", "np.logaddexp.reduce(x, axis=1)", "np.logical_and.reduce(mask)",
    "np.diff(v)", "np.diff(x, axis=0)", "np.diff(v, n=2)", "np.diff(v, prepend=0.5)", "np.diff(v, append=u)",
    "np.diff(x, axis=1, prepend=x)", "np.ediff1d(v)", "np.ediff1d(v, to_begin=0.5, to_end=u)",
    "np.trapezoid(v)", "np.trapezoid(x, dx=0.5)", "np.trapezoid(x, y)", "np.trapezoid(x, a3, axis=0)", "np.trapezoid(x, a4)",
    "np.average(x)", "np.average(x, weights=pos)", "np.average(x, axis=0, weights=up3)",
    "np.average(x, axis=1, weights=xp, returned=True)  # list",
    *(f"np.quantile(v, {q})" for q in (0.3, 0.77)), *(f"np.quantile(x, {q}, axis=1)" for q in (0.3, 0.77)),
    "np.percentile(x, 30.0, keepdims=True)", "np.quantile(x, np.array([0.2, 0.6]), axis=0)", "np.quantile(v, 1.0)  # value",
    "np.quantile(v, 0.0)  # value", *(f"np.quantile(v, 0.37, method={m!r})" for m in METHODS),
    *(f"np.nanquantile(x, [0.3, 0.71], axis=1, method={m!r})" for m in METHODS),
    *(f"np.{f}(i23, 0.5, axis=0, method={m!r})  # value" for f in ("quantile", "nanquantile") for m in METHODS),
    "np.quantile(x, [[0.2, 0.4], [0.6, 0.8]], axis=0)", "np.nanpercentile(holes, [20, 70], axis=1, method='hazen')  # value",
    "np.quantile(x, 0.4, method='inverted_cdf', weights=pos)", "np.percentile(x, [15, 65], 0, method='inverted_cdf', weights=up3)",
    "np.quantile(x, 0.4, axis=0, method='inverted_cdf', weights=up3, keepdims=True)",
    "np.nanquantile(holes, 0.4, axis=1, method='inverted_cdf', weights=pos)  # value",
    *(f"np.{f}(holes{way})  # value" for f in (
        "nansum nanprod nanmean nanmax nanmin nanvar nanstd nanmedian nancumsum nancumprod").split() for way in WAYS[:3]),
    "np.nanquantile(x, 0.3)", "np.nanpercentile(x, 30.0, axis=1, keepdims=True)", "np.nanquantile(holes, 0.3, axis=0)  # value",
    "np.nanquantile(holes, 0.7)  # value", "np.median(holes)  # value", "np.median(holes, axis=0)  # value",
    *(f"np.{f}({a}{way})  # value" for f in "sum prod mean max min var std all any cumsum cumprod".split()
      for a in ("i23", "i32", "b23", "f32") for way in ("", ", axis=0")),
    *(f"np.{f}({a}{way})  # value" for f in "ptp median".split() for a in ("i23", "i32", "f32") for way in ("", ", axis=0")),
]  # fmt: skip

SHAPES = [
    "np.reshape(x, (4, 3))", "np.reshape(x, -1)", "np.reshape(t, (-1, 4))", "np.reshape(t, (3, -1))", "np.ravel(x)",
    "np.ravel(x, order='F')", "np.squeeze(t131)", "np.squeeze(t131, axis=0)", "np.expand_dims(x, 0)", "np.expand_dims(x, -1)",
    "np.expand_dims(x, (0, 2))", *(f"np.atleast_{k}d({a})" for k in (1, 2, 3) for a in ("0.5", "v", "x", "t")),
    "np.transpose(t)", "np.transpose(t, (1, 2, 0))", "np.swapaxes(t, 0, 2)", "np.moveaxis(t, 0, -1)",
    "np.moveaxis(t, (0, 1), (-1, -2))", "np.rollaxis(t, 2)", "np.rollaxis(t, 0, 3)", "np.matrix_transpose(t)",
    "np.broadcast_to(v, (3, 5))", "np.broadcast_to(0.5, (2, 3))", "np.broadcast_arrays(x, a4, 0.5)  # list",
    "np.flip(x)", "np.flip(x, axis=0)", "np.flip(t, axis=(0, 2))", "np.flipud(x)", "np.fliplr(x)",
    *(f"np.rot90(x, {k})" for k in range(-1, 5)), *(f"np.rot90(t, {k}, axes=(1, 2))" for k in range(4)),
    "np.roll(x, 2)", "np.roll(x, -1, axis=1)", "np.roll(x, (1, 2), axis=(0, 1))", "np.roll(x, 2, axis=(0, 1))",
    "np.roll(x, (1, 1), axis=(0, 0))", "np.tile(v, 3)", "np.tile(x, (2, 1))", "np.tile(v, (2, 3))", "np.tile(x, 2)",
    "np.tile(t, (2, 1))", "np.tile(0.5, 3)", "np.repeat(v, 3)", "np.repeat(x, 2, axis=1)", "np.repeat(x, 2)",
    "np.repeat(v, counts)", "np.repeat(x, i3, axis=0)", "np.resize(x, (5, 3))", "np.resize(x, (2, 2))",
    *(f"np.pad({a}, mode={m!r})" for m in ("constant", "edge", "reflect", "symmetric", "wrap")
      for a in ("v, 2", "x, ((1, 2), (0, 3))", "x, (1, 2)", "x, 1")),
    "np.pad(v, 2, constant_values=1.5)", "np.pad(x, 1, constant_values=((1., 2.), (3., 4.)))", "np.pad(x, ((0, 0), (1, 1)))",
    *(f"np.{f}, {k})" for k in (-1, 0, 2) for f in (
        "tril(x", "triu(t", "diag(v", "diag(x", "diagonal(x", "trace(x", "trace(t", "diagflat(x", "tril(v")),
    *(f"np.diagonal(t, {k}, 0, 2)" for k in (-1, 0, 2)), "np.diagonal(t, 0, 1, 0)",
    "np.meshgrid(v, a3)  # list", "np.meshgrid(v, a3, indexing='ij')  # list", "np.meshgrid(v, a3, a2, sparse=True)  # list",
    "np.meshgrid(v)  # list", "np.ix_(k13, i3)  # list value", "np.indices((2, 3))  # const", "np.shape(x)  # const list",
    "np.unravel_index(k13, (2, 4))  # list value", "np.ravel_multi_index((k13, i3[:2]), (4, 5))  # value",
    "np.broadcast_shapes((3, 1), (4,))  # const list",
]  # fmt: skip

JOINS = [
    "np.concatenate([v, a2])", "np.concatenate((x, m24))", "np.concatenate([x, m32], axis=1)", "np.concatenate([x, v], axis=None)",
    "np.concatenate([v, i4])", "np.stack([v, u])", "np.stack([x, y], axis=1)", "np.stack([x, y], axis=-1)", "np.stack([0.5, 1.5])",
    *(f"np.{f}({a})" for f in ("vstack", "hstack", "dstack", "column_stack") for a in ("[v, u]", "[x, y]", "(t, t234)")),
    "np.vstack([a4, m24])", "np.column_stack([v, m53])", "np.hstack([0.5, v])", "np.vstack([0.5, 1.5])", "np.dstack([0.5, 1.5])",
    "np.append(v, 0.5)", "np.append(x, m14, axis=0)", "np.append(x, v)", "np.append(v, [1.5, 2.5])",
    "np.block([[x, m32], [m24, m22]])", "np.block([v, a2])", "np.block([[v], [u]])", "np.block([[0.5, 1.5], [2.5, 3.5]])",
    "np.split(a6, 3)  # list", "np.split(x, 2, axis=1)  # list", "np.split(v, (1, 3))  # list", "np.array_split(v, 3)  # list",
    "np.array_split(a7, 3)  # list", "np.array_split(a2, 3)  # list", "np.hsplit(x, 2)  # list", "np.vsplit(m42, 2)  # list",
    "np.dsplit(t, 2)  # list", "np.hsplit(a6, 3)  # list", "np.split(v, (2, 9))  # list", "np.split(v, (-2,))  # list",
    "np.insert(v, 2, 0.5)", "np.insert(x, 1, a4, axis=0)", "np.insert(x, 1, 0.5, axis=1)", "np.insert(v, -1, 0.5)",
    "np.delete(v, 2)", "np.delete(x, 1, axis=1)", "np.delete(v, -1)", "np.delete(v, k13)", "np.unstack(x)  # list known",
]  # fmt: skip

CREATION = [
    "np.zeros(3)  # const", "np.zeros((2, 3))  # const", "np.ones(3, dtype='int64')  # const", "np.full((2, 2), 0.5)",
    "np.full(3, a3)", "np.full(3, 2)  # const", "np.full_like(x, 2.5)", "np.zeros_like(x)", "np.ones_like(x, dtype='float32')",
    "np.arange(5)  # const", "np.arange(1, 7)  # const", "np.arange(1, 8, 2)  # const", "np.arange(8, 1, -2)  # const",
    "np.arange(0.5, 3.6, 0.75)", "np.arange(2.5)", "np.arange(1.0, x.shape[0] + 1)  # value", "np.arange(x.shape[0])  # value", "np.arange(9, x.shape[1], -2)  # value", "np.arange(3, dtype='float64')  # const", "np.arange(5, 2)  # const",
    "np.linspace(0.5, 2.5, 5)", "np.linspace(0.5, 2.5, 5, endpoint=False)", "np.linspace(0, 1, 3)  # const",
    "np.linspace(a3, b3, 4)", "np.linspace(a3, 1.0, 4, axis=1)", "np.linspace(0.5, 2.5, 5, retstep=True)  # list",
    "np.linspace(0.0, 1.0)", "np.linspace(0.5, 2.0, 1)", "np.logspace(0.5, 1.5, 4)", "np.geomspace(0.5, 8.5, 4)",
    "np.geomspace(pos, 2.5, 3)", "np.geomspace(up3[:, None], pos, 4, axis=-1, endpoint=False)", "np.geomspace(-pos, -up3[:, None], 3, axis=1)",
    "np.eye(3)  # const", "np.eye(3, 4, k=1)  # const", "np.identity(3)  # const", "np.tri(3, 4, k=-1)  # const",
    "np.array([[0.5, 1.5], [2.5, 3.5]])", "np.array([v, u])", "np.array([0.5, 1])", "np.asarray(v)", "np.array(0.5)",
    "np.array(v, ndmin=2)", "np.array([1, 2], dtype='float32')  # const", "np.array([[0.5, 2], [3, 1.5]])",
    "np.vander(v)", "np.vander(v, 3)", "np.vander(v, 3, increasing=True)", "np.tril_indices(3)  # const list",
    "np.triu_indices(3, 1)  # const list", "np.triu_indices(3, 0, 4)  # const list", "np.diag_indices(3)  # const list",
]  # fmt: skip

SORTING = [
    "np.sort(v)", "np.sort(x)", "np.sort(x, axis=0)", "np.sort(x, axis=None)", "np.argsort(v)", "np.argsort(x, axis=0)",
    "np.partition(v, 2)", "np.partition(x, 1, axis=0)", "np.argpartition(v, 2)  # value", "np.lexsort((v, u))  # value",
    "np.searchsorted(up5, x)  # value", "np.searchsorted(up5, 0.3)  # value", "np.searchsorted(up5, 0.3, side='right')  # value",
    "np.digitize(x, up5)  # value", "np.isin(i4, k13)  # value", "np.unique(i3)  # value",
    "np.unique(i3, return_counts=True, return_inverse=True)  # list value", "np.nonzero(mask)  # list", "np.flatnonzero(mask)",
    "np.argwhere(mask)", "np.compress(b3_, x, axis=0)", "np.compress(b5, v)", "np.extract(mask, x)",
    "np.take(v, 2)", "np.take(v, i4)", "np.take(x, grid, axis=1)", "np.take(x, k13)", "np.take(v, far, mode='clip')",
    "np.take(v, far, mode='wrap')", "np.take(x, 1, axis=0)", "np.take_along_axis(x, row, axis=0)",
    "np.take_along_axis(x, order, 1)", "np.take_along_axis(v, k13, 0)", "np.take_along_axis(x, k13, None)",
    "np.select([mask, pos > 0.5], [x, y])", "np.select([mask, pos > 0.5], [x, y], default=1.5)",
    "np.bincount(i4)", "np.bincount(i4, w4)", "np.bincount(i4, w4, minlength=6)", "np.bincount(i4, weights=w4)", "np.bincount(i4, w4, minlength=w4.shape[0] + 1)",
    "np.histogram(v)  # list value", "np.histogram(v, bins=4)  # list value", "np.histogram(v, edges, weights=u)  # list value",
    "np.histogram(v, 4, range=(-1.0, 1.0), density=True)  # list value", "np.interp(a6, xp, fp)", "np.interp(0.9, xp, fp)",
    "np.interp(x, xp, fp, left=0.5, right=2.5)",
]  # fmt: skip

PRODUCTS = [
    *(f"np.{f}({a})" for f in ("dot", "matmul", "inner") for a in ("a3, b3",)),
    *(f"np.{f}({a})" for f in ("dot", "matmul") for a in ("x, a4", "a3, x", "x, m42", "t, a4", "a3, t", "t, m42", "m22, t234[:, :2]")),
    "np.dot(t, t432.swapaxes(1, 2)[:, :, :1].swapaxes(0, 1))", "np.dot(0.5, v)", "np.dot(0.5, 1.5)", "np.dot(i3, a3)",
    "np.matmul(t41, t534)", "np.matmul(f32, m42)  # value", "np.inner(m32, a2)", "np.inner(x, m24)", "np.inner(t, m14)",
    "np.inner(a4, t)", "np.outer(v, x)", "np.outer(0.5, v)", "np.vdot(x, y)", "np.vecdot(x, y)", "np.vecdot(x, y, axis=0, keepdims=True)",
    "np.tensordot(t, t342, axes=2)",
    "np.tensordot(t, t432, axes=((1, 2), (1, 0)))", "np.tensordot(t, m53, axes=((1,), (1,)))", "np.tensordot(x, y, axes=0)",
    "np.tensordot(x, m42, axes=1)", "np.tensordot(t, m42, axes=(-1, 0))",
    "np.einsum('ij,jk', x, m42)", "np.einsum('ij,jk->ik', x, m42)", "np.einsum('ii', m33)", "np.einsum('...i,i->...', t, a4)",
    "np.einsum('...ij,...jk', t, m42)", "np.einsum('...ij,...jk->...ik', t41, t534)", "np.einsum('i,j', v, a3)",
    "np.einsum('ij,ij->i', m14, x)", "np.einsum('ij->j', m14)", "np.einsum('i...->...', t)", "np.einsum('ij,j,i->', x, a4, a3)",
    "np.einsum(' i j , j -> i', x, a4)", "np.einsum('bii->bi', qs)", "np.einsum('i,i,i', v, u, v)", "np.einsum('ba', x)",
    "np.einsum('iij->j', t422.swapaxes(0, 2))", "np.kron(x, m22)", "np.kron(v, a2)", "np.kron(v, x)", "np.cross(a3, b3)",
    "np.cross(m43, a3)", "np.cross(x, y, axis=0)",
    *(f"np.{f}({a}, mode={m!r})" for f in ("convolve", "correlate") for m in ("full", "same", "valid")
      for a in ("v, a3", "a3, v", "v, u", "a6, a2", "a2, a6", "v, a2", "a2, v")),
    "np.polyval(v, 0.5)", "np.polyval(v, x)", "np.polyval(v, 2)",
]  # fmt: skip

LINALG = [
    *(f"np.linalg.norm(v, {o})" for o in ("None", "1", "2", "3", "2.5", "np.inf", "-np.inf", "0", "-1")),
    *(f"np.linalg.norm(x, {o}, axis=1)" for o in ("1", "2", "3", "np.inf", "-np.inf", "0")),
    *(f"np.linalg.norm({a})" for o in ("None", "'fro'", "'nuc'", "1", "-1", "2", "-2", "np.inf", "-np.inf")
      for a in (f"x, {o}", f"t, {o}, axis=(0, 2)")),
    "np.linalg.norm(t)", "np.linalg.norm(t, axis=1, keepdims=True)", "np.linalg.norm(x, keepdims=True)",
    "np.linalg.norm(t, axis=(1, 2), keepdims=True)", "np.linalg.norm(x, 2, keepdims=True)", "np.linalg.vector_norm(t)",
    "np.linalg.vector_norm(t, axis=(0, 1), ord=1, keepdims=True)", "np.linalg.matrix_norm(t)", "np.linalg.norm(zero)  # value",
    *(f"np.linalg.{f}({a})" for f in ("inv", "det", "pinv", "cond") for a in ("q", "qs")),
    *(f"np.linalg.{f}({a})" for f in ("cholesky", "eigvalsh") for a in ("spd", "spds")),
    *(f"np.linalg.eigh({a})  # list" for a in ("spd", "spds")), *(f"np.linalg.slogdet({a})  # list" for a in ("q", "qs")),
    *(f"np.linalg.qr({a})  # list" for a in ("q", "qs", "x", "m42")), "np.linalg.qr(x, mode='r')",
    "np.linalg.cholesky(spd, upper=True)", "np.linalg.svd(x, full_matrices=False)  # list", "np.linalg.svd(q)  # list",
    "np.linalg.svd(t, compute_uv=False)", "np.linalg.svdvals(x)", "np.linalg.solve(q, a4)", "np.linalg.solve(q, m42)",
    "np.linalg.solve(qs, t232)", "np.linalg.solve(qs, a3)", "np.linalg.solve(qs, m32)",
    "np.linalg.lstsq(m53, v, rcond=None)  # list value",
    *(f"np.linalg.matrix_power({a}, {n})" for a in ("q", "qs") for n in (0, 1, 2, 3, 5, -1, -2)),
    *(f"np.linalg.pinv({a}, {o})" for a in ("x", "qs") for o in ("0.5", "rtol=0.01")), "np.linalg.pinv(spd, 0.3, hermitian=True)",
    "np.linalg.pinv(spd, rtol=None)", "scipy.linalg.pinv(x, atol=0.1, rtol=0.2)", "np.linalg.svd(spd, hermitian=True)  # list",
    "np.linalg.svd(q, hermitian=True)  # list value",
    *(f"np.linalg.matrix_rank({a})  # value" for a in ("v", "qs, hermitian=True", "qs, 1.5", "x, rtol=0.4", "0.0 * v")),
    "np.linalg.matrix_rank(x)  # value", "np.linalg.cond(q, 1)", "np.linalg.cond(q, 'fro')", "np.linalg.cond(x)",
    "np.linalg.multi_dot([x, y.T, x])", "np.linalg.multi_dot([a3, x, q, a4])",
    *(f"scipy.linalg.solve_triangular({a}, a4, trans={t!r}, lower={low})" for a, low in (("low", True), ("low.T", False))
      for t in (0, 1, "N", "T", "C")),
    "scipy.linalg.solve_triangular(q, m42, lower=True, unit_diagonal=True)",
    "scipy.linalg.solve_triangular(q, m42, lower=False, unit_diagonal=True)",
    *(f"scipy.linalg.cholesky(spd, lower={low})" for low in (True, False)), "scipy.linalg.expm(m33)", "scipy.linalg.expm(qs)",
    "scipy.linalg.lu(q)  # list", "scipy.linalg.lu(q, permute_l=True)  # list", "scipy.linalg.solve(q, a4)",
    "scipy.linalg.block_diag(x, q, v)", "scipy.linalg.qr(x, mode='economic')  # list",
]  # fmt: skip

NUMERIC = [
    *(f"np.gradient({a}, edge_order={o})" for o in (1, 2) for a in ("a6", "a6, 0.5", "a6, up6", "m53, axis=0", "x, axis=1")),
    *(f"np.gradient({a}, edge_order={o})  # list" for o in (1, 2) for a in ("x", "t534, 0.5, up3, 2.0")),
    "np.cov(x)", "np.cov(v)", "np.cov(v, u)", "np.cov(x, rowvar=False)", "np.cov(x, bias=True)", "np.cov(x, ddof=0)",
    "np.corrcoef(x)", "np.corrcoef(v, u)", "np.lib.stride_tricks.sliding_window_view(v, 3)",
    "np.lib.stride_tricks.sliding_window_view(x, (2, 3))", "np.lib.stride_tricks.sliding_window_view(x, 2, axis=1)",
    "np.polyfit(up6, a6, 2)", "np.polyder(v)", "np.polyder(v, 2)", "np.polyint(v)", "np.polymul(v, a4)",
    "np.allclose(x, y)  # value", "np.array_equal(x, y)  # value",
]  # fmt: skip

CASES = [*REDUCTIONS, *SHAPES, *JOINS, *CREATION, *SORTING, *PRODUCTS, *LINALG, *NUMERIC]
