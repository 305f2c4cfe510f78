"""Products of matrices and vectors: ours compared with NumPy, Numba alone and JAX, from size 2 to 1000.

``python tests/bench/products.py`` prints two tables and writes them to ``results/products.md``: functions called from Python,
and calls within compiled code, where only the product itself is timed. Interleaved rounds, processor time, the least of many.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from bench import environment  # noqa: E402

environment.pin()

import numba  # noqa: E402
import numpy as np  # noqa: E402

import transpile as tp  # noqa: E402
from bench.timing import QUICK, Pace, interleaved  # noqa: E402

TABLE = HERE / "results" / "products.md"
SIZES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
BATCH = 16  # matrices in a stack
PACE = Pace(rounds=7, batch=0.01, budget=2.0)


# ------------------------------------------------------------------------------------------- called from Python


def product(a, b):
    return a @ b


def transposed(a, b):
    return a.T @ b


def accumulated(c, a, b):
    c += a.T @ b


def blas_form(c, a, b, alpha, beta):
    c[:] = alpha * a @ b + beta * c


def row_of_stack(s, a, b):
    s[1] += a @ b.T


def stack(s, b):
    return s @ b


def matrix_vector(a, x):
    return a @ x


def transposed_vector(a, x):
    return a.T @ x


def outer(c, x, y):
    c += np.outer(x, y)


def weighted(a, x):
    return np.sum(x[:, None] * a, axis=0)


def solved(a, b):
    return np.linalg.solve(a, b)


def solved_transposed(a, x):
    return np.linalg.solve(a.T, x)


FORMS: dict[str, tuple[Callable, str]] = {
    "`a @ b`": (product, "ab"),
    "`a.T @ b`": (transposed, "ab"),
    "`c += a.T @ b`": (accumulated, "cab"),
    "`c[:] = alpha * a @ b + beta * c`": (blas_form, "cab12"),
    "`s[1] += a @ b.T`": (row_of_stack, "sab"),
    f"`s @ b`, s a stack of {BATCH}": (stack, "sb"),
    "`a @ x`": (matrix_vector, "ax"),
    "`a.T @ x`": (transposed_vector, "ax"),
    "`c += np.outer(x, y)`": (outer, "cxy"),
    "`np.sum(x[:, None] * a, axis=0)`": (weighted, "ax"),
    "`np.linalg.solve(a, b)`": (solved, "ab"),
    "`np.linalg.solve(a.T, x)`": (solved_transposed, "ax"),
}


def arguments(letters: str, n: int) -> tuple:
    rng = np.random.default_rng(n)
    found: dict[str, Any] = {k: rng.normal(size=(n, n)) / n for k in "abc"}
    found.update({"x": rng.normal(size=n), "y": rng.normal(size=n) / n, "s": rng.normal(size=(BATCH, n, n)) / n})
    found.update({"a": found["a"] + 2 * np.eye(n), "1": 0.5, "2": 0.25})
    return tuple(found[k].copy() if isinstance(found[k], np.ndarray) else found[k] for k in letters)


def in_jax(f: Callable) -> Callable | None:
    """The function as a JAX user writes it, jitted; None if JAX is not installed."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    bodies = {
        "accumulated": lambda c, a, b: c + a.T @ b,
        "blas_form": lambda c, a, b, alpha, beta: alpha * a @ b + beta * c,
        "row_of_stack": lambda s, a, b: s.at[1].add(a @ b.T),
        "outer": lambda c, x, y: c + jnp.outer(x, y),
        "weighted": lambda a, x: jnp.sum(x[:, None] * a, axis=0),
        "solved": jnp.linalg.solve,
        "solved_transposed": lambda a, x: jnp.linalg.solve(a.T, x),
    }
    writes = {"accumulated", "blas_form", "row_of_stack", "outer"}
    compiled = jax.jit(bodies.get(f.__name__, f), donate_argnums=(0,) if f.__name__ in writes else ())

    def ready(args: tuple) -> Callable[[], Any]:
        held = [jnp.asarray(a) if isinstance(a, np.ndarray) else a for a in args]

        def call() -> Any:
            found = compiled(*held).block_until_ready()
            if f.__name__ in writes:
                held[0] = found
            return found

        return call

    return ready


def measured(n: int, f: Callable, letters: str, pace: Pace, jax: Callable | None) -> dict[str, float | None]:
    """The seconds of a call for each peer; None if it cannot be compiled or is not installed."""
    ours, theirs = tp.jit(f), numba.njit(error_model="numpy")(f)
    calls: dict[str, Callable[[], Any]] = {}
    first = arguments(letters, n)
    wanted = f(*first)
    wanted = first[0] if wanted is None else wanted  # the argument that it wrote
    for name, called in {"NumPy": f, "Numba": theirs, "ours": ours}.items():
        args = arguments(letters, n)
        try:
            found = called(*args)
        except numba.core.errors.NumbaError:
            continue
        np.testing.assert_allclose(args[0] if found is None else found, wanted, rtol=1e-7, atol=1e-9)
        for _ in range(3):
            called(*args)  # the second call may compile another specialisation
        calls[name] = lambda called=called, args=args: called(*args)
    if jax is not None:
        calls["JAX"] = jax(arguments(letters, n))
        np.testing.assert_allclose(np.asarray(calls["JAX"]()), wanted, rtol=1e-7, atol=1e-9)
    found = interleaved(calls, pace)
    return {name: found[name].minimum if name in found else None for name in ("NumPy", "Numba", "JAX", "ours")}


# -------------------------------------------------------------------------------------------- in compiled code


def repeated(body: str, letters: str) -> Callable:
    """A compiled function that repeats this statement."""
    from transpile_runtime.compiled import blas

    names = ", ".join(f"v_{k}" for k in letters)
    text = f"def run(times, {names}):\n    for _ in range(times):\n        {body}\n"
    scope: dict[str, Any] = {"np": np, "blas": blas, "loops": _loops, "line": _line}
    exec(text, scope)
    return numba.njit(error_model="numpy", fastmath={"contract", "reassoc"})(scope["run"])


@numba.njit(error_model="numpy", fastmath={"contract", "reassoc"})
def _loops(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@numba.njit(error_model="numpy", fastmath={"contract", "reassoc"})
def _line(a, x, y):
    for i in range(a.shape[0]):
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * x[k]
        y[i] = total


INSIDE: dict[str, dict[str, tuple[str, str]]] = {
    "matrix by matrix": {
        "loops": ("loops(v_a, v_b, v_c)", "abc"),
        "np.dot with out": ("np.dot(v_a, v_b, v_c)", "abc"),
        "ours": ("blas.gemm(1.0, v_a, v_b, 0.0, v_c)", "abc"),
    },
    "matrix by vector": {
        "loops": ("line(v_a, v_x, v_y)", "axy"),
        "np.dot with out": ("np.dot(v_a, v_x, v_y)", "axy"),
        "ours": ("blas.gemv(1.0, v_a, v_x, 0.0, v_y)", "axy"),
    },
    "transpose by vector": {
        "loops": ("line(v_a.T, v_x, v_y)", "axy"),
        "np.dot with out": ("np.dot(v_a.T, v_x, v_y)", "axy"),
        "ours": ("blas.gemv(1.0, v_a.T, v_x, 0.0, v_y)", "axy"),
    },
}


def inside(n: int, forms: dict[str, Callable], letters: dict[str, str], pace: Pace) -> dict[str, float]:
    """The seconds of a product, without the call from Python."""
    times = max(1, round(20_000 / n**1.5))
    calls = {}
    for name, run in forms.items():
        args = arguments(letters[name], n)
        run(1, *args)
        calls[name] = lambda run=run, args=args: run(times, *args)
    return {name: t.minimum / times for name, t in interleaved(calls, pace).items()}


# ------------------------------------------------------------------------------------------------------ tables


def shown(seconds: float | None, unit: float) -> str:
    if seconds is None:
        return "–"
    value = seconds / unit
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def outside_table(sizes: tuple[int, ...], pace: Pace) -> list[str]:
    lines = ["| form | n | NumPy | Numba | JAX | ours | ours / best |", "|---|---|---|---|---|---|---|"]
    for form, (f, letters) in FORMS.items():
        jax = in_jax(f)
        for n in sizes:
            if n > 512 and "s" in letters:
                continue  # not worth the memory
            found = measured(n, f, letters, pace, jax)
            best = min(t for name, t in found.items() if name != "ours" and t is not None)
            assert found["ours"] is not None
            cells = " | ".join(shown(t, 1e-6) for t in found.values())
            lines.append(f"| {form} | {n} | {cells} | {found['ours'] / best:.2f} |")
            print(lines[-1], flush=True)
    return lines


def inside_table(sizes: tuple[int, ...], pace: Pace) -> list[str]:
    lines = ["| product | n | loops | np.dot with out | ours |", "|---|---|---|---|---|"]
    for form, bodies in INSIDE.items():
        runs = {name: repeated(body, letters) for name, (body, letters) in bodies.items()}
        letters = {name: own for name, (_, own) in bodies.items()}
        for n in sizes:
            found = inside(n, runs, letters, pace)
            lines.append(f"| {form} | {n} | {' | '.join(shown(t, 1e-9) for t in found.values())} |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds; nothing is written")
    quick = parser.parse_args().quick
    sizes, pace = ((4, 32, 256), QUICK) if quick else (SIZES, PACE)
    text = "\n".join([
        "# Products of matrices and vectors", "", f"Measured on {environment.measured_on()}, float64.", "",
        "Microseconds a call from Python:", "", *outside_table(sizes, pace), "",
        "Nanoseconds a product in compiled code:", "", *inside_table(sizes, pace), "",
    ])  # fmt: skip
    if not quick:
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
