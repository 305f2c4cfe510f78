"""Linear algebra: inverses, systems, determinants, pseudo-inverses, the exponential. All take stacks of matrices as
NumPy does; the formulas hold for each matrix.

Sources: M. Giles, *Collected matrix derivative results for forward and reverse mode algorithmic differentiation*
(2008), for inv, solve and det; G. Golub & V. Pereyra, *The differentiation of pseudo-inverses* (1973), for pinv and
lstsq; R. Mathias, *A chain rule for matrix functions* (1996), and A. Al-Mohy & N. Higham (2009) for expm.
"""

from __future__ import annotations

from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.ops import language as m
from transpile.ops.contraction import outer, wide
from transpile.ops.linalg_examples import matrices, several, systems
from transpile.ops.lowering_kinds import System
from transpile.ops.record import ZERO, Op
from transpile.ops.slicing import at_most, new_axis, slice_axis
from transpile.ops.spelling import with_keywords
from transpile.ops.structural import unbroadcast


def t(x: Expr) -> Expr:
    """The transpose of each matrix of a stack."""
    return m.swap_last(x)


def inv(x: Expr) -> Expr:
    return m.call("inv", x)


def solve(x: Expr, y: Expr) -> Expr:
    return m.call("solve", x, y)


def eye(x: Expr, axis: int = -1) -> Expr:
    """The identity matrix of the size of an axis of ``x``, in its dtype."""
    n = x.dims[axis]
    size = x.b.dim(n)
    return x.b.let("eye", size, size, dims=(n, n), k=0, dtype=x.dtype)


def diagonal(x: Expr) -> Expr:
    return m.call("diagonal", x, offset=0, axes=(x.rank - 2, x.rank - 1))


def scaled_columns(x: Expr, s: Expr) -> Expr:
    """``x @ diag(s)``."""
    return x * new_axis(s, s.rank - 1)


def as_diagonal(s: Expr) -> Expr:
    """``diag(s)`` for each vector of a stack."""
    return m.call("diag", s, offset=0) if s.rank == 1 else new_axis(s, s.rank) * eye(s)


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
    """``y``, one number for each matrix, with two axes of size 1 so that it multiplies the matrices."""
    return m.reshape(y, (*x.dims[:-2], Dim(1), Dim(1))) if y.rank else y


def _trace_of_product(x: Expr, y: Expr) -> Expr:
    """``trace(x @ y)``, computed without the product."""
    return m.sum(x * t(y), (x.rank - 2, x.rank - 1))


def _det_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return None if dots[0] is None else m.sum(_cofactors(args[0], y) * dots[0], (-2, -1))


def _det_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    (a,) = args
    return (_over_matrices(y_bar, a) * _cofactors(a, y),)


def _cofactors(a: Expr, det: Expr) -> Expr:
    """The derivative of the determinant: ``det * inv(a).T``; if any matrix of the stack is singular, for all of them from the
    singular value decomposition."""
    b = a.b
    zero = det.eq(0)
    singular = m.call("any", zero, axes=tuple(range(zero.rank)), keepdims=False) if zero.rank else zero
    with b.into(ir.Block()) as then:
        then.yields = (_cofactors_of_singular(a).op,)
    with b.into(ir.Block()) as orelse:
        orelse.yields = ((_over_matrices(det, a) * t(inv(a))).op,)
    cofactors = ir.Var("cofactors", a.type)
    b.emit(ir.If(singular.op, then, orelse, (cofactors,), b.loc))
    return b.expr(cofactors)


def _cofactors_of_singular(a: Expr) -> Expr:
    """The cofactors from ``a = u @ diag(s) @ vh``: the determinant is the product of those of u and vh and of all of s."""
    found = m.call("svd", a, full_matrices=False)
    u, s, vh = (m.call("item", found, k=k, name=name) for k, name in enumerate(("u", "s", "vh")))
    others = m.elementwise("where", eye(a).eq(1), 1.0, new_axis(s, s.rank - 1))
    minors = m.call("prod", others, axes=(s.rank,), keepdims=False)
    signs = m.call("det", u) * m.call("det", vh)
    return m.matmul(scaled_columns(u, minors * (new_axis(signs, s.rank - 1) if signs.rank else signs)), vh)


def _slogdet_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    one = Type(types[0].dtype, types[0].dims[:-2])
    return Type(one.dtype, (), kind="tuple", items=(one, one))


def _slogdet_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return (None, None if dots[0] is None else _trace_of_product(inv(args[0]), dots[0]))


def _slogdet_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    (a,) = args
    return (None if y_bar[1] is None else _over_matrices(y_bar[1], a) * t(inv(a)),)


# ------------------------------------------------------------------------------------------------ pinv and lstsq


def _pinv_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    *batch, rows, columns = types[0].dims
    return Type(types[0].dtype, (*batch, columns, rows))


def _pinv_jvp(p, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    """The tangent of the pseudoinverse: Golub & Pereyra (1973), eq. 4.12."""
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


def _again(params) -> Any:  # type: ignore[no-untyped-def]
    """A function ``(a, b)`` that gives least squares with the same ``rcond``, so that the same singular values count as 0."""
    return lambda a, b: m.call("lstsq", a, b, **params)


def _product_t(x: Expr, y: Expr) -> Expr:
    """``x @ y.T``, for vectors their outer product."""
    return outer(x, y) if x.rank == 1 else m.matmul(x, t(y))


def _lstsq_jvp(x, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    """The tangent of x = A+ b, by the derivative of the pseudo-inverse."""
    a, b = args
    a_dot, b_dot = dots
    lstsq = _again(params)
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
    lstsq = _again(params)
    b_bar = lstsq(t(a), x_bar)
    if not wants[0]:
        return None, b_bar
    rest = b - m.matmul(a, x)
    total = _product_t(rest, lstsq(a, b_bar)) - _product_t(b_bar, x)
    if not at_most(a.dims[1], a.dims[0]):  # a wide matrix: the part in the null space
        total = total + _product_t(lstsq(t(a), x), x_bar - lstsq(a, m.matmul(a, x_bar)))
    return total, b_bar if wants[1] else None


# --------------------------------------------------------------------------------------- triangular systems, expm


def _triangular(x: Expr, lower: bool, unit: bool) -> Expr:
    """The lower or upper triangle of ``x``, which the solver reads; without the diagonal if it is taken as 1 (``unit``)."""
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


# ---------------------------------------------------------------------------------------------------- the table

_TRIANGULAR = {"trans": 0, "lower": False, "unit_diagonal": False}

TABLE = [
    Op("inv", _square_type, "np.linalg.inv({0})", kind="matrix", entry="linalg.inv", factored="linalg.lu_inv", called="inverse",
         jvp=_inv_jvp, vjp=_inv_vjp, cost=3, examples=matrices(), family="trailing"),
    # solve(a, b): a b of rank 1 is a single vector
    Op("solve", _solve_type, "np.linalg.solve({0}, {1})", kind="matrix", lowering=System(), together=True, entry="linalg.solve",
         factored="linalg.lu_solve", called="solution", jvp=_solve_jvp, vjp=_solve_vjp, cost=3, examples=systems(),
         family="solve"),
    Op("det", _det_type, "np.linalg.det({0})", kind="matrix", entry="linalg.det", factored="linalg.lu_det", called="det",
         jvp=_det_jvp, vjp=_det_vjp, cost=3, examples=matrices(), family="trailing"),
    Op("slogdet", _slogdet_type, "np.linalg.slogdet({0})", kind="matrix", entry="linalg.slogdet", factored="linalg.lu_slogdet",
         jvp=_slogdet_jvp, vjp=_slogdet_vjp, cost=3, examples=matrices(), family="trailing"),
    Op("pinv", _pinv_type, "np.linalg.pinv({0})", kind="matrix", entry="linalg.pinv", jvp=_pinv_jvp, vjp=_pinv_vjp, cost=3,
         examples=tuple((several(s), {}) for s in ((3, 3), (5, 3), (3, 5), (2, 4, 3))), family="trailing"),
    Op("lstsq", _lstsq_type, "np.linalg.lstsq({0}, {1}, rcond={rcond})[0]", kind="matrix", lowering=System((("rcond", -2.0),)),
         entry="linalg.lstsq", jvp=_lstsq_jvp, vjp=_lstsq_vjp, cost=3, examples=tuple((several(*s),
         {"rcond": None}) for s in (((5, 3), (5,)), ((5, 3), (5, 2)), ((3, 5), (3,)), ((3, 3), (3, 2)))), family="lane"),
    Op("matrix_rank", lambda types, params: Type("int64", types[0].dims[:-2]), "np.linalg.matrix_rank({0})",
         kind="matrix", entry="linalg.matrix_rank", jvp=ZERO, vjp=ZERO,
         cost=3, family="trailing"),
    Op("solve_triangular", lambda types, params: types[1],
         with_keywords("scipy.linalg.solve_triangular({0}, {1}, check_finite=False)", **_TRIANGULAR), kind="matrix",
         lowering=System(), entry="linalg.solve_triangular", flags=("lower", "trans", "unit_diagonal"), jvp=_solve_triangular_jvp,
         vjp=_solve_triangular_vjp, cost=3, examples=tuple((args, {"lower": lower, "trans": trans,
         "unit_diagonal": unit}) for (args, _) in systems()[:2] for lower in (True, False) for trans in (0, 1) for unit in (False,
         True)), family="columns"),
    Op("expm", _square_type, "scipy.linalg.expm({0})", kind="matrix", entry="linalg.expm", jvp=_expm_jvp, vjp=_expm_vjp, cost=3,
         examples=matrices(), family="trailing"),
]  # fmt: skip
