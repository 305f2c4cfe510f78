"""Linear algebra. All take stacks of matrices as NumPy does; the formulas hold for each matrix.

Sources: M. Giles, *Collected matrix derivative results for forward and reverse mode algorithmic differentiation* (2008), for inv,
solve, det, eigh, svd; I. Murray, *Differentiation of the Cholesky decomposition* (2016); M. Seeger et al., *Auto-differentiating
linear algebra* (2017), for qr; G. Golub & V. Pereyra, *The differentiation of pseudo-inverses* (1973), for pinv and lstsq;
R. Mathias (1996) and A. Al-Mohy & N. Higham (2009) for expm.

Conventions: ``cholesky`` and ``eigh`` read one triangle of their operand, and the adjoint lies in that triangle (for a symmetric
direction that is the textbook's derivative). Where eigenvalues or singular values coincide, their vectors get no adjoint from each other.
"""

from __future__ import annotations

from typing import Any

from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.rules import language as m
from transpile.rules.linalg_examples import definite, matrices, several, symmetric, systems
from transpile.rules.prim import ZERO, Prim
from transpile.rules.products import outer, wide
from transpile.rules.slicing import at_most, new_axis, slice_axis, smaller
from transpile.rules.spelling import Spelling, with_keywords
from transpile.rules.structure import unbroadcast


def t(x: Expr) -> Expr:
    """The matrices transposed."""
    return m.swap_last(x)


def inv(x: Expr) -> Expr:
    return m.call("inv", x)


def solve(x: Expr, y: Expr) -> Expr:
    return m.call("solve", x, y)


def eye(x: Expr, axis: int = -1) -> Expr:
    """The unit matrix of the size of an axis of ``x``."""
    n = x.dims[axis]
    size = x.b.dim(n)
    return x.b.let("eye", size, size, dims=(n, n), k=0, dtype=x.dtype)


def diagonal(x: Expr) -> Expr:
    return m.call("diagonal", x, offset=0, axes=(x.rank - 2, x.rank - 1))


def scaled_columns(x: Expr, s: Expr) -> Expr:
    """``x @ diag(s)``."""
    return x * new_axis(s, s.rank - 1)


def as_diagonal(s: Expr) -> Expr:
    """``diag(s)``, for a stack of vectors."""
    return m.call("diag", s, offset=0) if s.rank == 1 else new_axis(s, s.rank) * eye(s)


def _vector_solve(types) -> bool:  # type: ignore[no-untyped-def]
    """A right side that is one vector."""
    return types[1].rank == 1


# ------------------------------------------------------------------------------------------------- inv, solve, det


def _square_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return types[0]


def _inv_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return None if dots[0] is None else -m.matmul(m.matmul(y, dots[0]), y)


def _inv_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (-m.matmul(m.matmul(t(y), y_bar), t(y)),)


def _solve_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    a, b = types
    if b.rank == 1:
        return Type(a.dtype, (*a.dims[:-2], b.dims[0]))
    return Type(a.dtype, (*wide((a.dims[:-2], b.dims[:-2])), *b.dims[-2:]))


def _solve_jvp(x, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    a, _ = args
    a_dot, right = dots
    if a_dot is not None:
        moved = m.matmul(a_dot, x)
        right = -moved if right is None else right - moved
    return None if right is None else solve(a, right)


def _solve_vjp(x, x_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    a, b = args
    b_bar = solve(t(a), x_bar)
    if b.rank == 1:
        return (-outer(b_bar, x) if wants[0] else None, b_bar if wants[1] else None)
    a_bar = -unbroadcast(m.matmul(b_bar, t(x)), a.dims) if wants[0] else None
    return a_bar, unbroadcast(b_bar, b.dims) if wants[1] else None


def _det_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return Type(types[0].dtype, types[0].dims[:-2])


def _over_matrices(y: Expr, x: Expr) -> Expr:
    """One number a matrix, so that it multiplies the matrices."""
    return m.reshape(y, (*x.dims[:-2], Dim(1), Dim(1))) if y.rank else y


def _trace_of_product(x: Expr, y: Expr) -> Expr:
    """``trace(x @ y)`` without the product."""
    return m.sum(x * t(y), (x.rank - 2, x.rank - 1))


def _det_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return None if dots[0] is None else y * _trace_of_product(inv(args[0]), dots[0])


def _det_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    (a,) = args
    return (_over_matrices(y_bar * y, a) * t(inv(a)),)


def _slogdet_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    one = Type(types[0].dtype, types[0].dims[:-2])
    return Type(one.dtype, (), kind="tuple", items=(one, one))


def _slogdet_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return (None, None if dots[0] is None else _trace_of_product(inv(args[0]), dots[0]))


def _slogdet_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    (a,) = args
    return (None if y_bar[1] is None else _over_matrices(y_bar[1], a) * t(inv(a)),)


# ---------------------------------------------------------------------------------------------------- cholesky


def half_lower(x: Expr) -> Expr:
    """The lower triangle with half the diagonal (Murray's Phi)."""
    return m.call("tril", x, k=0) - 0.5 * as_diagonal(diagonal(x))


def lower_only(x: Expr) -> Expr:
    """The adjoint of a symmetric matrix of which only the lower triangle is read."""
    return half_lower(x + t(x))


def mirrored(x: Expr) -> Expr:
    """The symmetric matrix whose lower triangle is that of ``x``."""
    return m.call("tril", x, k=0) + t(m.call("tril", x, k=-1))


def _cholesky_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None:
        return None
    low = t(y) if params["upper"] else y
    a_dot = mirrored(t(dots[0]) if params["upper"] else dots[0])
    inner = solve(low, t(solve(low, a_dot)))
    low_dot = m.matmul(low, half_lower(inner))
    return t(low_dot) if params["upper"] else low_dot


def _cholesky_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    """Murray (2016), eq. 10: S = L^-T Phi(L^T L_bar) L^-1."""
    low, low_bar = (t(y), t(y_bar)) if params["upper"] else (y, y_bar)
    inner = half_lower(m.matmul(t(low), low_bar))
    s = t(solve(t(low), t(solve(t(low), inner))))
    a_bar = lower_only(s)
    return (t(a_bar) if params["upper"] else a_bar,)


# -------------------------------------------------------------------------------------------------------- qr


def _qr_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    (a,) = types
    *batch, rows, columns = a.dims
    k = smaller(rows, columns)
    q, r = Type(a.dtype, (*batch, rows, k)), Type(a.dtype, (*batch, k, columns))
    return r if params["mode"] == "r" else Type(a.dtype, (), kind="tuple", items=(q, r))


def _symmetric_from_lower(x: Expr) -> Expr:
    """Seeger's copyltu: the lower triangle, mirrored."""
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
    """Seeger et al. (2017): (Q_bar + Q copyltu(M)) R^-T with M = R R_bar^T - Q_bar^T Q. Of a wide matrix the columns on the
    right have R = Q^T A, which gives Q_bar a part."""
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


def _inverse_differences(w: Expr) -> Expr:
    """1 / (w_j - w_i), and 0 where they coincide."""
    gap = new_axis(w, w.rank - 1) - new_axis(w, w.rank)
    equal = gap.eq(0)
    return m.where(equal, 0.0, 1 / m.where(equal, 1.0, gap))


def _triangle(x: Expr, params) -> Expr:  # type: ignore[no-untyped-def]
    """The matrix as ``eigh`` reads it."""
    return mirrored(x if params["UPLO"] == "L" else t(x))


def _back_to_triangle(x: Expr, params) -> Expr:  # type: ignore[no-untyped-def]
    found = lower_only(x)
    return found if params["UPLO"] == "L" else t(found)


def _eigh_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None:
        return (None, None)
    w, v = y
    inner = m.matmul(m.matmul(t(v), _triangle(dots[0], params)), v)
    return diagonal(inner), m.matmul(v, _inverse_differences(w) * inner)


def _eigh_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    """Giles (2008), 3.1: V (diag(w_bar) + F * (V^T V_bar)) V^T."""
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
    """The reduced form: ``full_matrices`` is always False."""
    (a,) = types
    *batch, rows, columns = a.dims
    k = smaller(rows, columns)
    parts = ((*batch, rows, k), (*batch, k), (*batch, k, columns))
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
    """The part of ``x`` outside the columns of ``u``: nothing where these span the space."""
    return 0.0 if rows == k else x - m.matmul(u, m.matmul(t(u), x))


def _svd_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    """Giles (2008), 3.2, with the parts outside the spans of U and V."""
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


# ------------------------------------------------------------------------------------------------ pinv and lstsq


def _pinv_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    *batch, rows, columns = types[0].dims
    return Type(types[0].dtype, (*batch, columns, rows))


def _pinv_jvp(p, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    """Golub & Pereyra (1973), eq. 4.12."""
    a_dot = dots[0]
    if a_dot is None:
        return None
    (a,) = args
    back = t(a_dot)
    total = -m.matmul(m.matmul(p, a_dot), p)
    total = total + m.matmul(m.matmul(p, t(p)), back - m.matmul(m.matmul(back, a), p))
    return total + m.matmul(m.matmul(back - m.matmul(p, m.matmul(a, back)), t(p)), p)


def _pinv_vjp(p, p_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    (a,) = args
    back = t(p_bar)
    total = -m.matmul(m.matmul(t(p), p_bar), t(p))
    total = total + m.matmul(m.matmul(back - m.matmul(a, m.matmul(p, back)), p), t(p))
    return (total + m.matmul(m.matmul(t(p), p), back - m.matmul(m.matmul(back, p), a)),)


def _lstsq_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    a, b = types
    return Type(a.dtype, (a.dims[1], *b.dims[1:]))


def lstsq(a: Expr, b: Expr) -> Expr:
    return m.call("lstsq", a, b, rcond=None)


def _product_t(x: Expr, y: Expr) -> Expr:
    """``x @ y.T``, of vectors the outer product."""
    return outer(x, y) if x.rank == 1 else m.matmul(x, t(y))


def _lstsq_jvp(x, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    """x = A+ b, by the derivative of the pseudo-inverse."""
    a, b = args
    a_dot, b_dot = dots
    right = b_dot
    extra = None
    if a_dot is not None:
        moved = m.matmul(a_dot, x)
        right = -moved if right is None else right - moved
        rest = b - m.matmul(a, x)
        extra = lstsq(a, lstsq(t(a), m.matmul(t(a_dot), rest)))
        if not at_most(a.dims[1], a.dims[0]):
            free = m.matmul(t(a_dot), lstsq(t(a), x))
            extra = extra + free - lstsq(a, m.matmul(a, free))
    total = None if right is None else lstsq(a, right)
    return total if extra is None else extra if total is None else total + extra


def _lstsq_vjp(x, x_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    a, b = args
    b_bar = lstsq(t(a), x_bar)
    if not wants[0]:
        return None, b_bar
    rest = b - m.matmul(a, x)
    total = _product_t(rest, lstsq(a, b_bar)) - _product_t(b_bar, x)
    if not at_most(a.dims[1], a.dims[0]):  # a wide matrix: what lies in the null space
        total = total + _product_t(lstsq(t(a), x), x_bar - lstsq(a, m.matmul(a, x_bar)))
    return total, b_bar if wants[1] else None


# --------------------------------------------------------------------------------------- triangular systems, expm


def _triangular(x: Expr, lower: bool, unit: bool) -> Expr:
    """The triangle that is read."""
    k = (-1 if lower else 1) if unit else 0
    return m.call("tril" if lower else "triu", x, k=k)


def _turned(x: Expr, params) -> Expr:  # type: ignore[no-untyped-def]
    return t(x) if params["trans"] else x


def solve_triangular(a: Expr, b: Expr, lower: bool, trans: int = 0, unit: bool = False) -> Expr:
    return m.call("solve_triangular", a, b, lower=lower, trans=trans, unit_diagonal=unit)


def _solve_triangular_jvp(x, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    a, _ = args
    a_dot, right = dots
    if a_dot is not None:
        moved = m.matmul(_turned(_triangular(a_dot, params["lower"], params["unit_diagonal"]), params), x)
        right = -moved if right is None else right - moved
    return None if right is None else m.call("solve_triangular", a, right, **params)


def _solve_triangular_vjp(x, x_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    a, _ = args
    b_bar = m.call("solve_triangular", a, x_bar, **{**params, "trans": 1 - params["trans"]})
    a_bar = None
    if wants[0]:
        product = _product_t(x, b_bar) if params["trans"] else _product_t(b_bar, x)
        a_bar = -_triangular(product, params["lower"], params["unit_diagonal"])
    return a_bar, b_bar if wants[1] else None


def frechet(a: Expr, e: Expr) -> Expr:
    """The derivative of expm at ``a`` in direction ``e``: the corner of expm([[a, e], [0, a]])."""
    n = a.dims[-1]
    last = a.rank - 1
    top = m.call("concatenate", a, e, axis=last)
    bottom = m.call("concatenate", m.zeros(a), a, axis=last)
    whole = m.call("expm", m.call("concatenate", top, bottom, axis=last - 1))
    return slice_axis(slice_axis(whole, last - 1, 0, n), last, n)


def _expm_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return None if dots[0] is None else frechet(args[0], m.broadcast(dots[0], args[0].dims))


def _expm_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (frechet(t(args[0]), y_bar),)


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
    """Of a square matrix: F = L^-1 P^T A_dot U^-1, L_dot = L tril(F, -1), U_dot = triu(F) U."""
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

_UPPER = {"upper": False}
_SVD = "np.linalg.svd({0}, full_matrices={full_matrices})"
_TRIANGULAR = {"trans": 0, "lower": False, "unit_diagonal": False}

TABLE = [
    Prim("inv", _square_type, "np.linalg.inv({0})", jvp=_inv_jvp, vjp=_inv_vjp, cost=3, examples=matrices()),
    # solve(a, b): b of rank 1 is one vector
    Prim("solve", _solve_type, "np.linalg.solve({0}, {1})", jvp=_solve_jvp, vjp=_solve_vjp, cost=3, examples=systems()),
    Prim("det", _det_type, "np.linalg.det({0})", jvp=_det_jvp, vjp=_det_vjp, cost=3, examples=matrices()),
    Prim("slogdet", _slogdet_type, "np.linalg.slogdet({0})", jvp=_slogdet_jvp, vjp=_slogdet_vjp, cost=3, examples=matrices()),
    Prim("cholesky", _square_type, with_keywords("np.linalg.cholesky({0})", upper=False), jvp=_cholesky_jvp, vjp=_cholesky_vjp,
         cost=3, examples=tuple((args, {"upper": up}) for args in (definite(3), definite(2, 3)) for up in (False, True))),
    Prim("qr", _qr_type, with_keywords("np.linalg.qr({0})", mode="reduced"), jvp=_qr_jvp, vjp=_qr_vjp, cost=3,
         examples=tuple((several(s), {"mode": "reduced"}) for s in ((3, 3), (5, 3), (3, 5), (2, 4, 3)))),
    Prim("eigh", _eigh_type, with_keywords("np.linalg.eigh({0})", UPLO="L"), jvp=_eigh_jvp, vjp=_eigh_vjp, cost=3,
         examples=tuple((args, {"UPLO": side}) for args in (symmetric(3), symmetric(2, 3)) for side in "LU")),
    Prim("eigvalsh", _eigvalsh_type, with_keywords("np.linalg.eigvalsh({0})", UPLO="L"), jvp=_eigvalsh_jvp, vjp=_eigvalsh_vjp,
         cost=3, examples=tuple((args, {"UPLO": side}) for args in (symmetric(3), symmetric(2, 3)) for side in "LU")),
    Prim("svd", _svd_type, _SVD, jvp=_svd_jvp, vjp=_svd_vjp, cost=3,
         examples=tuple((several(s), {"full_matrices": False}) for s in ((3, 3), (5, 3), (3, 5), (2, 4, 3)))),
    Prim("svdvals", _svdvals_type, "np.linalg.svd({0}, compute_uv=False)", jvp=_svdvals_jvp, vjp=_svdvals_vjp, cost=3,
         examples=tuple((several(s), {}) for s in ((3, 3), (5, 3), (3, 5), (2, 4, 3)))),
    Prim("pinv", _pinv_type, "np.linalg.pinv({0})", jvp=_pinv_jvp, vjp=_pinv_vjp, cost=3,
         examples=tuple((several(s), {}) for s in ((3, 3), (5, 3), (3, 5), (2, 4, 3)))),
    Prim("lstsq", _lstsq_type, "np.linalg.lstsq({0}, {1}, rcond={rcond})[0]", jvp=_lstsq_jvp, vjp=_lstsq_vjp, cost=3,
         examples=tuple((several(*s), {"rcond": None}) for s in (((5, 3), (5,)), ((5, 3), (5, 2)), ((3, 5), (3,)), ((3, 3), (3, 2))))),
    Prim("matrix_rank", lambda types, params: Type("int64", types[0].dims[:-2]), "np.linalg.matrix_rank({0})", jvp=ZERO, vjp=ZERO,
         cost=3),
    Prim("solve_triangular", lambda types, params: types[1], with_keywords("scipy.linalg.solve_triangular({0}, {1})", **_TRIANGULAR),
         jvp=_solve_triangular_jvp, vjp=_solve_triangular_vjp, cost=3, examples=tuple(
             (args, {"lower": lower, "trans": trans, "unit_diagonal": unit})
             for (args, _) in systems()[:2] for lower in (True, False) for trans in (0, 1) for unit in (False, True))),
    Prim("expm", _square_type, "scipy.linalg.expm({0})", jvp=_expm_jvp, vjp=_expm_vjp, cost=3, examples=matrices()),
    Prim("lu", _lu_type, "scipy.linalg.lu({0})", jvp=_lu_jvp, vjp=_lu_vjp, cost=3, examples=matrices()[:1]),
]  # fmt: skip

