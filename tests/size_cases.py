"""Expressions that give a size of one (or none), and operations that treat such a size differently: the texts of the generated
test.

Each function is ``f(a, v, w, i, j)``: vectors ``a`` and ``v``, a matrix ``w`` and two integers; an expression makes ``u`` from
``a``, and an operation makes the result from ``u`` and the others.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

MAKERS = {
    "argument": "a",
    "head": "a[:-1]",
    "tail": "a[2:]",
    "strided": "a[::3]",
    "backward": "a[3:0:-1]",
    "reversed": "a[::-2]",
    "between": "a[i:j]",
    "one": "a[i:i + 1]",
    "last": "a[-1:]",
    "down": "a[j:i:-1]",
    "third": "np.split(a[:len(a) // 3 * 3], 3)[0]",
    "array_split": "np.array_split(a, 3)[1]",
    "rows": "np.reshape(a[:len(a) // 2 * 2], (-1, 2))[:, 0]",
    "mask": "a[a > 1.0]",
    "nonzero": "a[np.nonzero(a > 1.0)[0]]",
    "flatnonzero": "a[np.flatnonzero(a > 1.0)]",
    "extract": "np.extract(a > 1.0, a)",
    "compress": "np.compress(a > 1.0, a)",
    "delete": "np.delete(a, 0)",
    "diff": "np.diff(a)",
    "diff_of_part": "np.diff(a[i:j + 1])",
    "convolve": "np.convolve(a, v, 'valid')",
    "convolve_parts": "np.convolve(a[i:j], v)",
    "unique": "np.unique(np.round(a)) * a[0]",
    "arange": "np.arange(j - i) * a[0]",
    "zeros_of_int": "np.zeros(j - i) + a[0]",
    "full": "np.full(j - i, a[0])",
    "linspace": "np.linspace(0.0, 1.0, j - i) * a[0]",
    "ones_of_shape": "np.ones(a[1:].shape) * a[0]",
    "repeat": "np.repeat(a[:1], j - i)",
    "tile": "np.tile(a[:1], j - i)",
    "concatenated": "np.concatenate([a[i:j], a[j:j]])",
    "pad": "np.pad(a[:0], (0, j - i)) + a[0]",
    "column": "np.reshape(a, (-1, 1))[i:j, 0]",
    "where": "a[np.where(a > 1.0)]",
    "clipped": "a[max(i, 0):min(j, len(a))]",
    "filled": "FILLED",
}

OPERATIONS = {
    "add": "u + v",
    "from_left": "v / (u * u + 1.0)",
    "matrix": "u * w",
    "column": "u[:, None] * w",
    "table": "u[:, None] * u[None, :]",
    "outer_sum": "u[:, None] + v",
    "maximum": "np.maximum(u, v)",
    "where": "np.where(u > v, u, v)",
    "where_scalar": "np.where(u > 0.5, u, 0.5)",
    "clip": "np.clip(v, -1.0, u)",
    "compare": "(u < v) * 1.0 * u",
    "three": "u * v + w * u",
    "own": "u * u - np.mean(u)",
    "filled": "z = np.zeros(len(v)); z[:] = u; r = z * v",
    "row_filled": "z = np.zeros(w.shape); z[:] = u; r = z * w",
    "column_filled": "z = np.ones(w.shape); z[:, 0] = u; r = z * w",
    "added": "z = v.copy(); z += u; r = z * z",
    "rows_scaled": "z = w.copy(); z *= u; r = z * w",
    "part_added": "z = v.copy(); z[1:] += u; r = z * z",
    "own_added": "z = u.copy(); z += v; r = z * z",
    "copyto": "z = np.zeros(len(v)); np.copyto(z, u); r = z * v",
    "put_where": "z = v.copy(); z[z > 1.0] = u; r = z * z",
    "gathered": "z = v.copy(); z[[0, 1]] = u; r = z * z",
    "squeeze": "np.squeeze(u)",
    "squeeze_column": "np.squeeze(u[:, None])",
    "squeeze_axis": "np.squeeze(u[None], axis=0)",
    "squeeze_it": "np.squeeze(u, axis=0)",
    "broadcast_to": "np.broadcast_to(u, (3,))",
    "broadcast_to_matrix": "np.broadcast_to(u, w.shape)",
    "broadcast_arrays": "x, y = np.broadcast_arrays(u, v); r = x * y",
    "concatenate": "np.concatenate([u, v])",
    "stack": "np.stack([u, v])",
    "vstack": "np.vstack([u, v])",
    "columns": "np.column_stack([u, v])",
    "hstack": "np.hstack([u, v, u])",
    "array": "np.array([u, v])",
    "matmul": "u @ v",
    "rows_matmul": "w @ u",
    "columns_matmul": "u @ w",
    "dot": "np.dot(u, v)",
    "inner": "np.inner(u, v)",
    "outer": "np.outer(u, v)",
    "kron": "np.kron(u, v)",
    "cross": "np.cross(u, v)",
    "vdot": "np.vdot(u, v)",
    "tensordot": "np.tensordot(u, v, 1)",
    "einsum": "np.einsum('i,i->i', u, v)",
    "einsum_dot": "np.einsum('i,i', u, v)",
    "einsum_matrix": "np.einsum('j,ij->i', u, w)",
    "truth": "u * 2.0 if u else u * 3.0",
    "truth_of_compare": "v * 2.0 if u > 0.5 else v * 3.0",
    "float": "float(u) * v",
    "int": "int(u) * v",
    "item": "u.item() * v",
    "sum": "np.sum(u)",
    "prod": "np.prod(u)",
    "max": "np.max(u)",
    "max_keeps": "u - np.max(u, keepdims=True)",
    "min_initial": "np.min(u, initial=2.0)",
    "argmax": "v[np.argmax(u)]",
    "mean": "np.mean(u)",
    "var": "np.var(u)",
    "var_of_one": "np.var(u, ddof=1)",
    "median": "np.median(u)",
    "quantile": "np.quantile(u, 0.3)",
    "any": "np.any(u > 1.0) * v",
    "logsumexp": "np.log(np.sum(np.exp(u)))",
    "norm": "np.linalg.norm(u)",
    "cov": "np.cov(u, v)",
    "cov_one": "np.cov(u)",
    "corrcoef": "np.corrcoef(u, v)",
    "cumsum": "np.cumsum(u) * v",
    "diff": "np.diff(u)",
    "sort": "np.sort(u) * v",
    "interp": "np.interp(v, np.sort(u), u * u)",
    "interp_at": "np.interp(u, np.sort(v), v)",
    "gradient": "np.gradient(u)",
    "trapezoid": "np.trapezoid(u, v)",
    "average": "np.average(v, weights=u)",
    "convolve": "np.convolve(u, v)",
    "solve": "np.linalg.solve(np.eye(3), u)",
    "solve_sized": "np.linalg.solve(np.eye(len(u)) * 2.0, u)",
    "diag": "np.diag(u)",
    "reshape": "np.reshape(u, (-1, 1)) * v",
    "reshape_row": "np.reshape(u, (1, -1)) * w",
    "reshape_none": "np.reshape(u, (-1, 3))",
    "empty": "np.reshape(u, (0, -1))",
    "tile": "np.tile(u, 3)",
    "repeat": "np.repeat(u, 2) * 2.0",
    "roll": "np.roll(u, 1) * v",
    "flip": "u[::-1] * v",
    "split": "x, y = np.split(u, 2); r = x * y",
    "first": "u[0] * v",
    "second": "u[1] * v",
    "length": "len(u) * u",
    "loop": "s = 0.0\nfor x in u:\n    s = s + x * x\nr = s * v",
    "zip": "s = 0.0\nfor x, y in zip(u, v):\n    s = s + x * y\nr = s",
    "test_of_length": "r = u[0] * v if len(u) == 1 else u * v",
    "equal_arrays": "u * np.array_equal(u, v)",
    "allclose": "u * np.allclose(u, v)",
    "meshgrid": "x, y = np.meshgrid(u, v); r = x * y",
    "ix": "w[np.ix_([0], [1])] * u",
    "atleast": "np.atleast_2d(u) * w",
    "append": "np.append(u, v)",
    "insert": "np.insert(v, 1, u)",
    "polyval": "np.polyval(u, v)",
    "add_outer": "np.add.outer(u, v)",
    "add_reduce": "np.add.reduce(u)",
    "multiply_at": "np.hypot(u, v)",
    "searchsorted": "u * np.searchsorted(v, u)",
    "expand": "np.expand_dims(u, 0) * w",
    "logical": "np.logical_and(u > 0.5, v > 0.5) * u",
    "select": "np.select([u > 1.0, u > 0.5], [u, v], 0.0)",
    "choose_axis": "np.take_along_axis(v, np.argsort(u), 0)",
    "called": "CALLED",
    "joined": "x = u if v[0] > 0.0 else u * 2.0\nr = x * v",
    "joined_other": "x = u if v[0] > 0.0 else v\nr = x * v",
    "carried": "x = v\nfor k in range(2):\n    x = x * u\nr = x",
    "carried_own": "x = u\nfor k in range(2):\n    x = x * u\nr = x * v",
    "in_loop": "x = v\nfor k in range(2):\n    x = x * u[k:k + 1]\nr = x",
}

CALLS = (
    (4, 3, 1, 2),
    (4, 4, 0, 4),
    (3, 3, 0, 3),
    (2, 3, 1, 2),
    (4, 3, 2, 2),
    (1, 3, 0, 1),
    (6, 2, 1, 3),
    (4, 1, 1, 4),
    (3, 1, 0, 1),
)
"""The sizes of ``a`` and ``v``, and the two integers: the example, then other calls."""

LIMITS = {
    "squeeze": {"T210"},  # a rank that data decide
    "squeeze_column": {"T210"},
    "joined_other": {"T205", "ValueError"},  # arrays of two sizes where branches meet
    "test_of_length": {"T205", "ValueError"},
    "carried": {"T206", "ValueError"},  # an array that grows in each iteration
    "carried_own": {"T206", "ValueError"},
    "in_loop": {"T206", "ValueError"},
    "cross": {"T202", "ValueError"},  # vectors of two numbers
    "min_initial": {"ValueError"},  # of nothing
    "max_keeps": {"nothing raised"},  # of nothing, compiled: nothing asks for it
    "average": {"nothing raised"},  # weights of sum zero
    "median": {"IndexError"},  # of nothing
}
"""Permitted outcomes that differ from NumPy's: a refusal, or an error at run time."""


@dataclass(frozen=True)
class Case:
    maker: str
    operation: str

    @property
    def name(self) -> str:
        return f"{self.maker}-{self.operation}"

    @property
    def text(self) -> str:
        """The text of the function."""
        maker, operation = MAKERS[self.maker], OPERATIONS[self.operation]
        lines = [f"u = {maker}"]
        if maker == "FILLED":
            lines = ["u = np.zeros(j - i)", "for k in range(j - i):", "    u[k] = a[k]"]
        if operation == "CALLED":
            operation = "product_of(u, v)"
        if not any(s in operation for s in ("r = ", "r=")):
            operation = f"r = {operation}"
        body = [line for part in operation.split("\n") for line in part.split("; ")]
        text = "\n".join(f"    {line}" for line in [*lines, *body, "return r"])
        return f"def product_of(x, y):\n    return np.sin(x) * y\n\n\ndef f(a, v, w, i, j):\n{text}\n"


def all_cases() -> list[Case]:
    return [Case(m, o) for m in MAKERS for o in OPERATIONS]


def covering(seed: int) -> list[Case]:
    """Cases that use each expression and each operation, chosen by the seed."""
    rng = random.Random(seed)
    makers, operations = list(MAKERS), list(OPERATIONS)
    rng.shuffle(makers)
    rng.shuffle(operations)
    return [Case(makers[k % len(makers)], operation) for k, operation in enumerate(operations)]
