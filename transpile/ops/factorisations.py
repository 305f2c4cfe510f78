"""Factorisations: Cholesky, QR, eigenvalues of symmetric matrices, singular values, LU. All take stacks of
matrices.

Sources: I. Murray, *Differentiation of the Cholesky decomposition* (2016); M. Seeger et al., *Auto-differentiating
linear algebra* (2017), for qr; M. Giles, *Collected matrix derivative results* (2008), for eigh and svd; F. de
Hoog, R. Anderssen & M. Lukas, *Differentiation of matrix functionals using triangular factorization* (2011), for
lu.

Conventions: ``cholesky`` and ``eigh`` read one triangle of their operand, and the adjoint lies in that triangle
(for a symmetric direction this is the textbook's derivative). Where eigenvalues or singular values coincide, their
vectors contribute nothing to each other's derivatives.
"""

from __future__ import annotations

from typing import Any

from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.ops import language as m
from transpile.ops.linalg import as_diagonal, diagonal, scaled_columns, solve, t
from transpile.ops.linalg_examples import definite, matrices, several, symmetric
from transpile.ops.record import REFUSED, Op
from transpile.ops.slicing import new_axis, slice_axis, smaller
from transpile.ops.spelling import Spelling, keywords, with_keywords

# ---------------------------------------------------------------------------------------------------- cholesky


def _same_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return types[0]


def half_lower(x: Expr) -> Expr:
    """The lower triangle of each matrix, with half the diagonal (Murray's Phi)."""
    halves = 0.5 * as_diagonal(diagonal(x))
    if halves.dims != x.dims:  # ``min(n, 2)`` rows: the sizes of the diagonal matrix have another symbolic form
        return 0.5 * (m.call("tril", x, k=0) + m.call("tril", x, k=-1))
    return m.call("tril", x, k=0) - halves


def lower_only(x: Expr) -> Expr:
    """The adjoint of a symmetric matrix if only its lower triangle is read."""
    return half_lower(x + t(x))


def mirrored(x: Expr) -> Expr:
    """The symmetric matrix with the lower triangle of ``x``."""
    return m.call("tril", x, k=0) + t(m.call("tril", x, k=-1))


def _cholesky_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None:
        return None
    low = t(y) if params["upper"] else y
    a_dot = mirrored(t(dots[0]) if params["upper"] else dots[0])
    inner = solve(low, t(solve(low, a_dot)))
    low_dot = m.matmul(low, half_lower(inner))
    return t(low_dot) if params["upper"] else low_dot


def _cholesky_adjoint(upper: Expr, low_bar: Expr) -> Expr:
    """The adjoint of a factored matrix (Murray 2016, eq. 10: S = L^-T Phi(L^T L_bar) L^-1), from L^T. This product and two
    solves cost fourteen times the factorisation; the runtime function costs twice the factorisation."""
    inner = half_lower(m.matmul(upper, low_bar))
    return lower_only(t(solve(upper, t(solve(upper, inner)))))


def _cholesky_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    low, low_bar = (t(y), t(y_bar)) if params["upper"] else (y, y_bar)
    a_bar = m.call("cholesky_adjoint", t(low), low_bar)
    return (t(a_bar) if params["upper"] else a_bar,)


# -------------------------------------------------------------------------------------------------------- qr


def _qr_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    (a,) = types
    *batch, rows, columns = a.dims
    k = smaller(rows, columns)
    q, r = Type(a.dtype, (*batch, rows, k)), Type(a.dtype, (*batch, k, columns))
    return r if params["mode"] == "r" else Type(a.dtype, (), kind="tuple", items=(q, r))


def _symmetric_from_lower(x: Expr) -> Expr:
    """Seeger's copyltu: the symmetric matrix with the lower triangle of ``x``."""
    return m.call("tril", x, k=0) + t(m.call("tril", x, k=-1))


def _right_solve(x: Expr, r: Expr) -> Expr:
    """``x @ inv(r)``."""
    return t(solve(t(r), t(x)))


def _qr_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    a_dot = dots[0]
    if a_dot is None:
        return (None, None)
    q, r = y
    k = q.dims[-1]
    left, square = slice_axis(a_dot, -1, 0, k), slice_axis(r, -1, 0, k)
    moved = _right_solve(left, square)
    inner = m.matmul(t(q), moved)
    skew = m.call("tril", inner, k=-1)
    skew = skew - t(skew)
    q_dot = moved + m.matmul(q, skew - inner)
    r_dot = m.matmul(inner - skew, square)
    if k == r.dims[-1]:
        return (q_dot, r_dot)
    right = m.matmul(t(q), slice_axis(a_dot, -1, k)) - m.matmul(skew, slice_axis(r, -1, k))
    return (q_dot, m.call("concatenate", r_dot, right, axis=r.rank - 1))


def _qr_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    """The adjoint of the matrix. Seeger et al. (2017): (Q_bar + Q copyltu(M)) R^-T with M = R R_bar^T - Q_bar^T Q. The columns
    on the right of a wide matrix satisfy R = Q^T A, which adds to Q_bar."""
    (a,) = args
    q, r = y
    q_bar, r_bar = y_bar
    k = q.dims[-1]
    if k == r.dims[-1]:
        return (_qr_square(q, r, q_bar, r_bar),)
    square = slice_axis(r, -1, 0, k)
    if r_bar is None:
        left = _qr_square(q, square, q_bar, None)
        return (m.call("concatenate", left, m.zeros(slice_axis(a, -1, k)), axis=a.rank - 1),)
    right_bar = slice_axis(r_bar, -1, k)
    through = m.matmul(slice_axis(a, -1, k), t(right_bar))
    q_bar = through if q_bar is None else q_bar + through
    left = _qr_square(q, square, q_bar, slice_axis(r_bar, -1, 0, k))
    return (m.call("concatenate", left, m.matmul(q, right_bar), axis=a.rank - 1),)


def _qr_square(q: Expr, r: Expr, q_bar: Expr | None, r_bar: Expr | None) -> Expr:
    """The adjoint of a matrix with at least as many rows as columns, from those of its factors, one of which may be None."""
    inner = None if r_bar is None else m.matmul(r, t(r_bar))
    if q_bar is not None:
        part = m.matmul(t(q_bar), q)
        inner = -part if inner is None else inner - part
    assert inner is not None
    right = m.matmul(q, _symmetric_from_lower(inner))
    return t(solve(r, t(right if q_bar is None else q_bar + right)))


# ------------------------------------------------------------------------------------------------- eigh and svd


def _eigh_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    (a,) = types
    values = Type(a.dtype, a.dims[:-1])
    return Type(a.dtype, (), kind="tuple", items=(values, a))


def _eigh_call(params, types) -> str:  # type: ignore[no-untyped-def]
    """The NumPy spelling of ``eigh``; with ``robust`` SciPy's, whose LAPACK driver may give the vectors other signs."""
    if params.get("robust"):
        return f"scipy.linalg.eigh({{0}}{'' if params['UPLO'] == 'L' else ', lower=False'}, check_finite=False)"
    return f"np.linalg.eigh({{0}}{keywords(params, UPLO='L')})"


def _inverse_differences(w: Expr) -> Expr:
    """1 / (w_j - w_i) at row i, column j, and 0 where the two coincide."""
    gap = new_axis(w, w.rank - 1) - new_axis(w, w.rank)
    equal = gap.eq(0)
    return m.where(equal, 0.0, 1 / m.where(equal, 1.0, gap))


def _triangle(x: Expr, params) -> Expr:  # type: ignore[no-untyped-def]
    """The symmetric matrix that ``eigh`` reads from one triangle."""
    return mirrored(x if params["UPLO"] == "L" else t(x))


def _back_to_triangle(x: Expr, params) -> Expr:  # type: ignore[no-untyped-def]
    """The adjoint of a symmetric matrix, moved to the triangle that ``eigh`` reads."""
    found = lower_only(x)
    return found if params["UPLO"] == "L" else t(found)


def _eigh_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None:
        return (None, None)
    w, v = y
    inner = m.matmul(m.matmul(t(v), _triangle(dots[0], params)), v)
    return diagonal(inner), m.matmul(v, _inverse_differences(w) * inner)


def _eigh_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    """The adjoint of the matrix, in the triangle that is read. Giles (2008), 3.1: V (diag(w_bar) + F * (V^T V_bar)) V^T."""
    w, v = y
    w_bar, v_bar = y_bar
    if v_bar is None:
        full = m.matmul(scaled_columns(v, w_bar), t(v))
    else:
        inner = _inverse_differences(w) * m.matmul(t(v), v_bar)
        inner = inner if w_bar is None else inner + as_diagonal(w_bar)
        full = m.matmul(m.matmul(v, inner), t(v))
    return (_back_to_triangle(full, params),)


def _eigvalsh_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return Type(types[0].dtype, types[0].dims[:-1])


def _vectors(a: Expr, params) -> Expr:  # type: ignore[no-untyped-def]
    return m.call("item", m.call("eigh", a, UPLO=params["UPLO"]), k=1)


def _eigvalsh_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None:
        return None
    v = _vectors(args[0], params)
    return m.sum(v * m.matmul(_triangle(dots[0], params), v), (v.rank - 2,))


def _eigvalsh_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    v = _vectors(args[0], params)
    return (_back_to_triangle(m.matmul(scaled_columns(v, y_bar), t(v)), params),)


def _svd_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    """The type of the reduced form: ``full_matrices`` is always False."""
    (a,) = types
    *batch, rows, columns = a.dims
    k = smaller(rows, columns)
    parts = ((*batch, rows, k), (*batch, k), (*batch, k, columns))
    return Type(a.dtype, (), kind="tuple", items=tuple(Type(a.dtype, d) for d in parts))


def _svd_full_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    (a,) = types
    *batch, rows, columns = a.dims
    parts = ((*batch, rows, rows), (*batch, smaller(rows, columns)), (*batch, columns, columns))
    return Type(a.dtype, (), kind="tuple", items=tuple(Type(a.dtype, d) for d in parts))


def _safe(s: Expr) -> Expr:
    return m.where(s.eq(0), 1.0, s)


def _svd_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    a_dot = dots[0]
    if a_dot is None:
        return (None, None, None)
    u, s, vt = y
    v = t(vt)
    inner = m.matmul(m.matmul(t(u), a_dot), v)
    gaps = _inverse_differences(s * s)
    row, column = new_axis(s, s.rank - 1), new_axis(s, s.rank)
    u_dot = m.matmul(u, gaps * (inner * row + column * t(inner)))
    v_dot = m.matmul(v, gaps * (column * inner + t(inner) * row))
    u_dot = u_dot + _outside(u, scaled_columns(m.matmul(a_dot, v), 1 / _safe(s)), u.dims[-2], s.dims[-1])
    v_dot = v_dot + _outside(v, scaled_columns(m.matmul(t(a_dot), u), 1 / _safe(s)), v.dims[-2], s.dims[-1])
    return u_dot, diagonal(inner), t(v_dot)


def _outside(u: Expr, x: Expr, rows: Dim, k: Dim) -> Any:
    """The part of ``x`` outside the column space of ``u``, a matrix with ``rows`` rows and ``k`` orthonormal columns; 0.0 if
    the columns span the whole space."""
    return 0.0 if rows == k else x - m.matmul(u, m.matmul(t(u), x))


def _svd_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    """The adjoint of the matrix: Giles (2008), 3.2, with the parts outside the column spaces of U and V."""
    u, s, vt = y
    u_bar, s_bar, vt_bar = y_bar
    v = t(vt)
    k = s.dims[-1]
    gaps = _inverse_differences(s * s)
    row, column = new_axis(s, s.rank - 1), new_axis(s, s.rank)
    inner: Expr | None = None
    outside: list[Expr] = []
    if u_bar is not None:
        part = gaps * m.matmul(t(u), u_bar)
        inner = (part + t(part)) * row
        if u.dims[-2] != k:
            rest = _outside(u, scaled_columns(u_bar, 1 / _safe(s)), u.dims[-2], k)
            outside.append(m.matmul(rest, vt))
    if vt_bar is not None:
        part = gaps * m.matmul(vt, t(vt_bar))
        turned = column * (part + t(part))
        inner = turned if inner is None else inner + turned
        if v.dims[-2] != k:
            rest = _outside(v, scaled_columns(t(vt_bar), 1 / _safe(s)), v.dims[-2], k)
            outside.append(m.matmul(u, t(rest)))
    if inner is None:
        total = m.matmul(scaled_columns(u, s_bar), vt)
    else:
        inner = inner if s_bar is None else inner + as_diagonal(s_bar)
        total = m.matmul(m.matmul(u, inner), vt)
    for part in outside:
        total = total + part
    return (total,)


def _svdvals_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    *batch, rows, columns = types[0].dims
    return Type(types[0].dtype, (*batch, smaller(rows, columns)))


def _factors(a: Expr) -> tuple[Expr, Expr]:
    found = m.call("svd", a, full_matrices=False)
    return m.call("item", found, k=0), m.call("item", found, k=2)


def _svdvals_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None:
        return None
    u, vt = _factors(args[0])
    return m.sum(u * m.matmul(dots[0], t(vt)), (u.rank - 2,))


def _svdvals_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    u, vt = _factors(args[0])
    return (m.matmul(scaled_columns(u, y_bar), vt),)


# ----------------------------------------------------------------------------------------------------------- lu


def _lu_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    (a,) = types
    *batch, rows, columns = a.dims
    k = smaller(rows, columns)
    parts = ((*batch, rows, rows), (*batch, rows, k), (*batch, k, columns))
    return Type(a.dtype, (), kind="tuple", items=tuple(Type(a.dtype, d) for d in parts))


def _strict(x: Expr) -> Expr:
    return m.call("tril", x, k=-1)


def _upper(x: Expr) -> Expr:
    return m.call("triu", x, k=0)


def _lu_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    """The tangents of the factors of a square matrix: F = L^-1 P^T A_dot U^-1, L_dot = L tril(F, -1), U_dot = triu(F) U; none
    for P."""
    if dots[0] is None:
        return (None, None, None)
    p, low, up = y
    inner = _right_solve(solve(low, m.matmul(t(p), dots[0])), up)
    return (None, m.matmul(low, _strict(inner)), m.matmul(_upper(inner), up))


def _lu_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    p, low, up = y
    _, low_bar, up_bar = y_bar
    parts = []
    if low_bar is not None:
        parts.append(_strict(m.matmul(t(low), low_bar)))
    if up_bar is not None:
        parts.append(_upper(m.matmul(up_bar, t(up))))
    if not parts:
        return (None,)
    inner = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    left = solve(t(low), inner)
    return (m.matmul(p, t(solve(up, t(left)))),)


# ---------------------------------------------------------------------------------------------------- the table

_SVD = "np.linalg.svd({0}, full_matrices={full_matrices})"

TABLE = [
    Op("cholesky", _same_type, with_keywords("np.linalg.cholesky({0})", upper=False), kind="matrix", entry="linalg.cholesky",
         flags=("upper",), triangles=lambda params: (not params["upper"],), jvp=_cholesky_jvp, vjp=_cholesky_vjp, cost=3,
         examples=tuple((args, {"upper": up}) for args in (definite(3), definite(2, 3)) for up in (False, True)),
         family="trailing"),
    # cholesky_adjoint(L^T, L_bar): the adjoint of the matrix that was factored
    Op("cholesky_adjoint", _same_type, None, kind="matrix", entry="linalg.cholesky_adjoint", expansion=_cholesky_adjoint, cost=3),
    Op("qr", _qr_type, with_keywords("np.linalg.qr({0})", mode="reduced"), kind="matrix", entry=lambda params,
         n: "linalg.qr_r" if params["mode"] == "r" else "linalg.qr", triangles=lambda params: (None, False), jvp=_qr_jvp,
         vjp=_qr_vjp, cost=3, examples=tuple((several(s), {"mode": "reduced"}) for s in ((3, 3), (5, 3), (3, 5), (2, 4, 3))),
         family="trailing"),
    Op("eigh", _eigh_type, Spelling(_eigh_call), kind="matrix", entry=lambda params,
         n: "linalg.robust_eigh" if params.get("robust") else "linalg.eigh", flags=("UPLO",), jvp=_eigh_jvp, vjp=_eigh_vjp,
         cost=3, examples=tuple((args, {"UPLO": side}) for args in (symmetric(3), symmetric(2, 3)) for side in "LU"),
         family="trailing"),
    Op("eigvalsh", _eigvalsh_type, with_keywords("np.linalg.eigvalsh({0})", UPLO="L"), kind="matrix", entry="linalg.eigvalsh",
         flags=("UPLO",), jvp=_eigvalsh_jvp, vjp=_eigvalsh_vjp, cost=3, examples=tuple((args,
         {"UPLO": side}) for args in (symmetric(3), symmetric(2, 3)) for side in "LU"), family="trailing"),
    Op("svd", _svd_type, _SVD, kind="matrix", entry="linalg.svd", jvp=_svd_jvp, vjp=_svd_vjp, cost=3,
         examples=tuple((several(s), {"full_matrices": False}) for s in ((3, 3), (5, 3), (3, 5), (2, 4, 3))), family="trailing"),
    # svd_full: for a matrix that is not square; the columns that the matrix does not determine have no derivative
    Op("svd_full", _svd_full_type, "np.linalg.svd({0})", kind="matrix", entry="linalg.svd_full", jvp=REFUSED, vjp=REFUSED, cost=3,
         why_refused=("the full matrices of np.linalg.svd have no derivative: their extra columns are arbitrary",
         "write np.linalg.svd(a, full_matrices=False)"), family="trailing"),
    Op("svdvals", _svdvals_type, "np.linalg.svd({0}, compute_uv=False)", kind="matrix", entry="linalg.svdvals", jvp=_svdvals_jvp,
         vjp=_svdvals_vjp, cost=3, examples=tuple((several(s), {}) for s in ((3, 3), (5, 3), (3, 5), (2, 4, 3))),
         family="trailing"),
    Op("lu", _lu_type, "scipy.linalg.lu({0}, check_finite=False)", kind="matrix", entry="linalg.lu",
         triangles=lambda params: (None, True), jvp=_lu_jvp, vjp=_lu_vjp,
         cost=3, examples=matrices()[:1], family="lane"),
]  # fmt: skip
