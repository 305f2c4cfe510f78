"""Functional updates, `tp.at(x)[index]`: against plain loops, untransformed, lifted, differentiated and compiled; and mistakes."""

from __future__ import annotations

import warnings
from typing import Any

import at_cases
import numpy as np
import pytest
from differences import Subject, check_jvp, check_second, check_vjp

import transpile as tp

X = np.array([0.5, 1.5, -0.75, 2.0, 1.25])
A = np.arange(12.0).reshape(3, 4) / 5 + 0.4
V, W = np.array([1.25, -0.5, 2.0, 0.25]), np.array([0.5, 1.5, 2.5])
I = np.array([1, -1, 1, 7])  # repeated, from the end, out of range
J = np.array([[0, -9, 2], [2, 2, 1]])
MASK = np.array([True, False, True, True, False])

# index, values that fit: of X, of A
ONE = {
    "number": (2, 1.5),
    "from the end": (-2, 1.5),
    "beyond": (9, 1.5),
    "before": (-9, 1.5),
    "slice": (slice(1, 9), V),
    "steps": (slice(None, None, -2), W),
    "none": (slice(5, 9), np.zeros(0)),
    "all": (..., 1.5),
    "new axis": ((None, slice(0, 2)), V[:2]),
    "array": (I, V),
    "array and number": (I, 1.5),
    "array of rank 2": (J, 0.5 + np.arange(6.0).reshape(2, 3)),
    "list": ([0, 2, 0], W),
    "empty list": ([], 1.5),
    "mask": (MASK, W),
    "small integers": (np.array([1, 4, 200], np.uint8), W),
}
TWO = {
    "element": ((1, -1), 1.5),
    "row": (1, V),
    "row beyond": (3, V),
    "column": ((..., 1), W),
    "rows": (np.array([0, 5, -1]), V),
    "pairs": ((np.array([0, 2, 0]), np.array([1, -9, 1])), W),
    "grid": ((np.array([[0], [2]]), np.array([1, 1, 4])), 0.5 + np.arange(6.0).reshape(2, 3)),
    "number and array": ((2, I), V),
    "array behind": ((slice(None, None, 2), I), V),
    "array between": ((I, None, slice(1, 3)), 1.5),
    "apart": ((I, None, 1), V[:, None]),
    "mask of rank 2": (A > 1.5, 2.5),
    "mask and array": ((np.array([True, False, True]), np.array([1, 9])), V[:2]),
    "mask and number": ((np.array([True, False, True]), 7), 1.5),
}
PARTS = {**{f"{k}, of one axis": (X, *v) for k, v in ONE.items()}, **{f"{k}, of two": (A, *v) for k, v in TWO.items()}}
UPDATES = [op for op in at_cases.OPS if op != "apply"]


def call(x: Any, index: Any, op: str, values: Any, **options: Any) -> Any:
    """``at(x)[index].op(values)``."""
    part = tp.at(x)[index]
    given = {"get": (), "apply": (np.sin,)}.get(op, (values,))
    return getattr(part, op)(*given, **options)


def wanted(x: Any, index: Any, op: str, values: Any, mode: str | None) -> Any:
    return at_cases.get(x, index, mode) if op == "get" else at_cases.update(x, index, op, values, mode)


def ready(x: Any, op: str) -> Any:
    """A base of a power is positive."""
    return np.abs(x) if op == "power" else x


@pytest.mark.parametrize("mode", at_cases.MODES)
@pytest.mark.parametrize("part", PARTS)
def test_every_line_of_the_table(part, mode):
    x, index, values = PARTS[part]
    given = x.copy()
    for op in (*at_cases.OPS, "get"):
        options = {} if mode is None else {"mode": mode}
        found = call(ready(x, op), index, op, values, **options)
        np.testing.assert_allclose(found, wanted(ready(x, op), index, op, values, mode), rtol=1e-15, err_msg=op)
        assert found.dtype == x.dtype and not np.shares_memory(found, x)
    assert np.array_equal(x, given)


def written(index: Any) -> tuple[str, list[Any]]:
    """An index as a text in which arrays and numbers are names, and what they are."""
    texts, given = [], []
    for part in index if isinstance(index, tuple) else (index,):
        if part is None or part is ...:
            texts.append("None" if part is None else "...")
        elif isinstance(part, slice):
            texts.append(":".join("" if k is None else str(k) for k in (part.start, part.stop, part.step)))
        elif isinstance(part, list):
            texts.append(repr(part))
        else:
            texts.append(f"k{len(given)}")
            given.append(part)
    return ", ".join(texts) + ("," if isinstance(index, tuple) and len(texts) == 1 else ""), given


def run(text: str, *args: Any) -> Any:
    """What the generated source gives."""
    function = tp.from_source(text, {"np": np})
    scope: dict[str, Any] = {}
    source = tp.source(function, *args)
    assert "transpile" not in source
    exec(source, scope)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return scope["f"](*[a.copy() if isinstance(a, np.ndarray) else a for a in args])


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.sampled(3)
def test_the_generated_source(part):
    x, index, values = PARTS[part]
    text, given = written(index)
    for k, op in enumerate((*at_cases.OPS, "get")):
        mode = at_cases.MODES[(k + len(part)) % 5]
        options = "" if mode is None else f"mode={mode!r}"
        operand = {"get": "", "apply": "np.sin, "}.get(op, "v, ")
        source = f"def f(x, v{''.join(f', k{j}' for j in range(len(given)))}):\n"
        source += f"    return x.at[{text}].{op}({operand}{options})\n"
        found = run(source, ready(x, op), values, *given)
        np.testing.assert_allclose(found, wanted(ready(x, op), index, op, values, mode), rtol=1e-14, err_msg=source)


@pytest.mark.parametrize("block", range(6))
def test_indices_at_random(block):
    for seed in range(block * 40, block * 40 + 40):
        rng = np.random.default_rng(seed)
        x = rng.uniform(0.5, 2.0, rng.integers(1, 5, rng.integers(1, 4)))
        index = at_cases.random_index(rng, x.shape)
        mode, op = rng.choice(np.array(at_cases.MODES, object)), rng.choice([*at_cases.OPS, "get"])
        try:
            whole, _ = at_cases.points(x.shape, index)
        except ValueError:  # index arrays that do not fit each other
            continue
        sizes = tuple(1 if rng.random() < 0.2 else d for d in whole)[int(rng.integers(0, len(whole) + 1)) :]
        values = rng.uniform(0.5, 2.0, sizes) if sizes else float(rng.uniform(0.5, 2.0))
        expected = wanted(x, index, op, values, mode)
        found = call(x, index, op, values, mode=mode)
        np.testing.assert_allclose(found, expected, rtol=1e-14, err_msg=f"seed {seed}: {index}")
        if seed % 4:
            continue
        text, given = written(index)
        operand = {"get": "", "apply": "np.sin, "}.get(op, "v, ")
        source = f"def f(x, v{''.join(f', k{j}' for j in range(len(given)))}):\n"
        source += f"    return x.at[{text or '()'}].{op}({operand}mode={mode!r})\n"
        np.testing.assert_allclose(run(source, x, values, *given), expected, rtol=1e-14, err_msg=f"{seed}: {source}")


# ------------------------------------------------------------------------------------------------------ derivatives

SLOPES = {
    "number": (X, 2, 1.5),
    "beyond": (X, 9, 1.5),
    "slice": (X, slice(1, None), V),
    "array": (X, I, V),
    "array of rank 2": (X, J, 0.7 + np.arange(6.0).reshape(2, 3)),
    "mask": (X, MASK, W),
    "rows": (A, np.array([0, 5, 0, -1]), 1.1 * V),
    "columns": (A, (slice(None, 2), I), V),
    "pairs": (A, (np.array([0, 2, 0]), np.array([1, -9, 1])), W),
}


@pytest.mark.parametrize("mode", (None, "clip", "fill"))
@pytest.mark.parametrize("part", SLOPES)
@pytest.mark.sampled(8)
def test_derivatives(part, mode):
    x, index, values = SLOPES[part]
    turn = (None, "clip", "fill").index(mode)
    ops = [op for k, op in enumerate((*at_cases.OPS, "get")) if part == "array" or (k + len(part)) % 3 == turn]
    for op in ops:

        def f(x, v, op=op):
            if op == "get":
                return np.sin(tp.at(x)[index].get(mode=mode, fill_value=0.25)) * 2.0
            if op == "apply":
                return np.sin(tp.at(x)[index].apply(np.sin, mode=mode)) * 2.0
            return np.sin(getattr(tp.at(x)[index], op)(v, mode=mode)) * 2.0

        subject = Subject(f, lambda op=op: (ready(x, op).copy(), np.copy(values) if np.ndim(values) else values))
        check_jvp(subject, tp.jvp)
        check_vjp(subject, tp.jvp, tp.vjp)


def test_a_dropped_write_has_no_adjoint():
    def f(x, v):
        return np.sum(tp.at(x)[I].set(v) * np.arange(5.0))

    x_bar, v_bar = tp.grad(f, argnums=(0, 1))(X, V)
    assert x_bar.tolist() == [0.0, 0.0, 2.0, 3.0, 0.0]
    assert v_bar.tolist() == [
        0.0,
        4.0,
        1.0,
        0.0,
    ]  # of two writes to one place the last counts; the fourth is out of range


def test_a_clipped_read_adds_where_it_read():
    gradient = tp.grad(lambda x: np.sum(tp.at(x)[np.array([7, 4, -9])].get()))(X)
    assert gradient.tolist() == [1.0, 0.0, 0.0, 0.0, 2.0]
    filled = tp.grad(lambda x: np.sum(tp.at(x)[np.array([7, 4, -9])].get(mode="fill", fill_value=3.0)))(X)
    assert filled.tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_a_value_to_fill_with_has_a_derivative():
    def f(x, v):
        return np.sum(np.sin(tp.at(x)[I].get(mode="fill", fill_value=v)) ** 2)

    subject = Subject(f, lambda: (X.copy(), 0.75))
    check_jvp(subject, tp.jvp)
    check_vjp(subject, tp.jvp, tp.vjp)
    check_second(subject, tp)


def test_repeated_factors_at_zero():
    """The derivative of a product of factors, one of which is 0, is that of the others: nothing is divided by the factor."""
    x_bar, v_bar = tp.grad(lambda x, v: tp.at(x)[np.array([1, 1, 1])].multiply(v)[1], argnums=(0, 1))(X, W * [1, 0, 1])
    assert x_bar.tolist() == [0.0] * 5 and np.allclose(v_bar, [0.0, X[1] * W[0] * W[2], 0.0])


# ------------------------------------------------------------------------------------------------------------ loops


def recurrence(x, n):
    for k in range(n):
        x = tp.at(x)[k].set(np.sin(x[k - 1]) * x[k])
    return x


def branches(x, n):
    for k in range(n):
        if x[k % 5] > 1.0:
            x = tp.at(x)[k % 5].multiply(0.5)
        elif x[0] > 3.0:
            break
        else:
            x = tp.at(tp.at(x)[k % 5].add(0.4))[0].max(0.2)
    return x


def nested(x, n):
    y = np.zeros((n, n))
    for j in range(n):
        for k in range(n):
            y = tp.at(y)[j, k].set(x[j] * x[k] + y[k, j])
    return y


def old_and_new(x, n):
    t = 0.0
    for k in range(n):
        new = tp.at(x)[k].add(x[0])
        t = t + x[k] * new[k]
        x = new
    return x * t


def kept(x, n):
    first, rows = x, []
    for k in range(n):
        x = tp.at(x)[k].add(first[k] * x[k - 1])
        rows.append(x)
    return np.stack(rows) * first


def until(x, n):
    k = 0
    while x[k] < 3.0 and k < n - 1:
        x = tp.at(x)[k + 1].add(x[k])
        k += 1
    return x


def by_function(x, n):
    def body(k, x):
        return tp.at(x)[k].set(x[k] * x[k - 1])

    for k in range(n):
        x = body(k, x)
    return x


LOOPS = (recurrence, branches, nested, old_and_new, kept, until, by_function)


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_in_loops(f):
    subject = Subject(f, lambda: (np.abs(X), 5), wrt=(0,))
    scope: dict[str, Any] = {}
    exec(tp.source(f, np.abs(X), 5), scope)
    np.testing.assert_allclose(scope[f.__name__](np.abs(X), 5), f(np.abs(X), 5), rtol=1e-14)
    check_jvp(subject, tp.jvp)
    check_vjp(subject, tp.jvp, tp.vjp)


def body_of(source: str) -> str:
    """The lines inside loops."""
    return "\n".join(line for line in source.splitlines() if line.startswith("        "))


@pytest.mark.parametrize("f", (recurrence, branches, nested, until, by_function), ids=lambda f: f.__name__)
def test_what_is_read_no_more_is_written_in_place(f):
    def loss(x):
        return np.sum(f(x, 5))

    for text in (tp.source(f, X, 5), tp.source(tp.grad(loss), X)):
        assert "copy" not in body_of(text) and "zeros" not in body_of(text), text
    assert ".copy()" in tp.source(old_and_new, X, 5)


def test_a_loop_index_in_range_is_not_asked_for():
    def f(x):
        for k in range(1, x.shape[0]):
            x = x.at[k].add(x[k - 1])
        return x

    assert "if" not in tp.source(f, X)


def test_the_array_given_stays_as_it_is():
    def f(x):
        y = x
        x = x.at[0].set(5.0)
        return np.sum(x) + y[0]

    given = X.copy()
    assert tp.value_and_grad(f)(given)[0] == 5.0 + X[1:].sum() + X[0] and np.array_equal(given, X)
    assert tp.jit(f)(given) == 5.0 + X[1:].sum() + X[0] and np.array_equal(given, X)


# --------------------------------------------------------------------------------------------------------- compiled


def everything(x, a, v, i, m, k):
    """One of each, in one program."""
    x = x.at[k].set(2.0).at[i].add(v).at[i].multiply(v, mode="clip").at[-9].set(0.5, mode="clip")
    x = x.at[m].subtract(0.25).at[i].max(0.75 * v).at[i].set(v * v).at[1:4].power(2.0)
    a = a.at[i].set(x[:4]).at[:2, i].min(v).at[i, 1].divide(v, mode="clip").at[:, k].apply(np.tanh)
    read = a.at[i, 2].get(mode="fill", fill_value=0.5) + x.at[i].get() + x.at[k].get(mode="fill", fill_value=3.0)
    return np.sum(np.sin(x)) + np.sum(a * a) + np.sum(read)


def test_compiled():
    x, a, v, m = np.abs(X), A, np.abs(V), MASK
    scope: dict[str, Any] = {}
    exec(tp.source(everything, x, a, v, I, m, 9), scope)
    gradient = tp.grad(everything, argnums=(0, 1, 2))
    compiled = tp.jit(tp.value_and_grad(everything, argnums=(0, 1, 2)))
    for k in (9, 3, -2):
        value, bars = compiled(x, a, v, I, m, k)
        np.testing.assert_allclose(value, scope["everything"](x, a, v, I, m, k), rtol=1e-13)
        for found, expected in zip(bars, gradient(x, a, v, I, m, k)):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_its_derivatives():
    def f(x, a, v):
        b = tp.at
        x = b(b(b(b(x)[3].set(2.0))[I].add(v))[I].multiply(v, mode="clip"))[-9].set(0.5, mode="clip")
        x = b(b(b(b(x)[MASK].subtract(0.25))[I].max(0.75 * v))[I].set(v * v))[1:4].power(2.0)
        return np.sum(np.sin(x)) + np.sum(b(b(a)[I].set(x[:4]))[:2, I].min(v) ** 2)

    subject = Subject(f, lambda: (np.abs(X), A.copy(), np.abs(V)))
    check_jvp(subject, tp.jvp)
    check_vjp(subject, tp.jvp, tp.vjp)
    check_second(subject, tp)


# ------------------------------------------------------------------------------------------------- dtypes, options


def test_dtypes():
    k = np.arange(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cases = {
            "x.at[1].set(2.5)": [0, 2, 2, 3, 4],
            "x.at[1].add(2.5)": [0, 3, 2, 3, 4],
            "x.at[np.array([1, 1])].add(0.5)": [0, 2, 2, 3, 4],
            "x.at[np.array([1, 1])].multiply(1.5)": [0, 2, 2, 3, 4],
            "x.at[2].min(1.5)": [0, 1, 1, 3, 4],
            "x.at[1].divide(2)": [0.0, 0.5, 2.0, 3.0, 4.0],
            "x.at[np.array([4, 4])].divide(2)": [0.0, 1.0, 2.0, 3.0, 1.0],
        }  # what JAX gives
        for text, expected in cases.items():
            now = eval(text.replace("x.at", "tp.at(x)"), {"tp": tp, "np": np, "x": k})
            lifted = run(f"def f(x):\n    return {text}\n", k)
            assert now.tolist() == lifted.tolist() == expected, text
            assert now.dtype == lifted.dtype == np.asarray(expected).dtype, text


def test_what_is_read_where_there_is_nothing():
    for x in (X, X.astype(np.float32), np.arange(3), np.arange(3, dtype=np.uint8), np.arange(3, dtype=np.int8), MASK):
        now = tp.at(x)[np.array([9, 1])].get(mode="fill")
        lifted = run("def f(x):\n    return x.at[np.array([9, 1])].get(mode='fill')\n", x)
        kind = x.dtype.kind
        least = {"i": lambda: np.iinfo(x.dtype).min, "u": lambda: np.iinfo(x.dtype).max, "b": lambda: True}
        expected = least.get(kind, lambda: np.nan)()
        for found in (now, lifted):
            assert found.dtype == x.dtype and found[1] == x[1]
            assert found[0] == expected or (np.isnan(found[0]) and kind == "f")
    assert np.isnan(tp.at(X)[9].get(mode="drop")) and tp.at(X)[9].get(mode="fill", fill_value=2) == 2.0
    assert run("def f(x):\n    return x.at[9].get(mode='fill', fill_value=2)\n", X) == 2.0


def test_negative_indices_that_do_not_wrap():
    options = {"wrap_negative_indices": False}
    assert np.array_equal(tp.at(X)[-1].set(9.0, **options), X)
    assert tp.at(X)[-1].get(**options) == X[0] and np.isnan(tp.at(X)[-1].get(mode="fill", **options))
    text = "def f(x, k):\n    return x.at[k].add(1.0, wrap_negative_indices=False, mode='clip')\n"
    assert run(text, X, -3).tolist() == tp.at(X)[-3].add(1.0, mode="clip", **options).tolist() == [1.5, *X[1:]]


def test_promises():
    places = np.array([3, 0, 9])
    for op in at_cases.OPS:
        found = call(np.abs(X), places, op, W, unique_indices=True, indices_are_sorted=False)
        np.testing.assert_allclose(found, at_cases.update(np.abs(X), places, op, W), rtol=1e-15)
        operand = "np.sin" if op == "apply" else "v"
        text = f"def f(x, i, v):\n    return x.at[i].{op}({operand}, unique_indices=True)\n"
        np.testing.assert_allclose(run(text, np.abs(X), places, W), found, rtol=1e-15)
    text = tp.source(lambda x, i, v: tp.at(x)[i].multiply(v, unique_indices=True), X, places, W)
    assert "for" not in text


def test_apply_takes_any_function():
    def square(v):
        return v * v

    for index in (2, slice(1, 3), I, MASK):
        found = tp.at(X)[index].apply(square)
        whole, each = at_cases.points(X.shape, index)
        out = X.copy()
        for raw in each:
            here = at_cases.placed(X.shape, raw, clips=False)
            if here is not None:
                out[here] *= out[here]
        np.testing.assert_allclose(found, out)
        text, given = written(index)
        source = f"def f(x{''.join(f', k{j}' for j in range(len(given)))}):\n    return x.at[{text}].apply(lambda v: v * v)\n"
        np.testing.assert_allclose(run(source, X, *given), out)


def test_arrays_of_rank_0_and_empty_ones():
    assert tp.at(3.0)[()].set(2.0) == 2.0 and tp.at(np.array(3.0))[...].add(2.0) == 5.0
    assert tp.at(np.zeros(0))[:].add(1.0).shape == tp.at(np.zeros(0))[[]].add(1.0).shape == (0,)
    with pytest.raises(IndexError):
        tp.at(np.zeros(0))[0].get()


def test_own_attributes_named_at():
    class Table:
        def __init__(self, values):
            self.at = values

        def total(self):
            return np.sum(self.at[1:] ** 2)

    assert tp.grad(lambda x: Table(x).total())(X).tolist() == [0.0, *(2 * X[1:])]
    summed = tp.grad(lambda x: np.sum(x**2))(X)

    def f(x):
        y = np.zeros(5)
        np.add.at(y, np.arange(5), x)
        return np.sum(y**2)

    assert np.array_equal(tp.grad(f)(X), summed)


def test_static_mode(tmp_path):
    file = tmp_path / "model.py"
    file.write_text(
        "import numpy as np\nimport transpile as tp\nfrom transpile import at\n\n\n"
        "def f(x, i):\n    x = at(x)[i].add(1.0)\n    x = tp.at(x)[0].multiply(2.0)\n"
        "    return np.sum(x.at[i, ].get(mode='fill', fill_value=0.0) ** 2)\n"
    )
    from transpile.cli import main

    out = tmp_path / "out.py"
    types = ["--arg", "x=float64[n]", "--arg", "i=int"]
    assert main(["emit", f"{file}:f", "grad(f)", *types, "-o", str(out)]) == 0
    text = out.read_text()
    assert "transpile" not in text.replace("by transpile", "")
    scope: dict[str, Any] = {}
    exec(text, scope)
    assert scope["f_grad"](X, 3).tolist() == [0.0, 0.0, 0.0, 2 * (X[3] + 1), 0.0]
    assert scope["f_grad"](X, 9).tolist() == [0.0] * 5


# --------------------------------------------------------------------------------------------------------- mistakes

MISTAKES = {
    "x.at[0].set(1.0, mode='wrap')": ("T131", "mode='wrap' is not one of 'promise_in_bounds', 'clip', 'drop', 'fill'"),
    "x.at[0].get(mode='fill', fill_value='a')": ("T131", "fill_value must be a number"),
    "x.at[0].get(mode='fill', fill_value=x)": ("T131", "fill_value must be a number"),
    "x.at[0.5].set(1.0)": ("T207", "an index must be an integer"),
    "x.at[0, 1].set(1.0)": ("T207", "too many indices: the array has 1 dimension, but 2 were indexed"),
    "x.at[..., ...].set(1.0)": ("T207", "an index can have only one ellipsis"),
    "x.at[x > 0, 0].set(1.0)": ("T207", "too many indices"),
    "x.at[np.array([True, False]), None].set(1.0)": ("T207", "mask"),
}
LIFTED = {
    "x.at[0].set(1.0, fill_value=2.0)": ("T132", "fill_value"),
    "x.at[0].set()": ("T132", "values"),
    "x.at[0].get(0)": ("T132", "positional"),
    "x.at[0].mutliply(1.0)": ("T121", "did you mean 'multiply'?"),
    "x.at[0].pow(1.0)": ("T121", "did you mean 'power'?"),
    "x.at[0].replaced(1.0)": ("T121", "set"),
    "x.at.set(1.0)": ("T121", "write x.at[index].set(...)"),
    "x.at[0][1].set(1.0)": ("T120", "x.at[0, 1]" and "x.at[i, j]"),
    "x.at[0]": ("T417", "x.at"),
    "x.at[1:3].set(np.ones(3))": ("T202", "shape"),
    "x.at[np.array([0, 1])].add(np.ones(3))": ("T202", "shape"),
    "x.at(0)": ("T130", "x.at"),
    "x.at + 1": ("T120", "x.at"),
}


@pytest.mark.parametrize("text", [*MISTAKES, *LIFTED])
def test_mistakes(text):
    code, message = {**MISTAKES, **LIFTED}[text]
    function = tp.from_source(f"def f(x):\n    return {text}\n", {"np": np})
    with pytest.raises(tp.TranspileError) as failed:
        tp.source(function, X)
    assert failed.value.codes == (code,) and message in str(failed.value), str(failed.value)
    if text in MISTAKES:
        with pytest.raises(tp.TranspileError, match=code):
            eval(text.replace("x.at", "tp.at(x)"), {"tp": tp, "np": np, "x": X})


@pytest.mark.parametrize("text", ("x.at[0] = 1.0", "x.at[0] += 1.0"))
def test_a_write_in_place(text):
    function = tp.from_source(f"def f(x):\n    {text}\n    return x\n")
    with pytest.raises(tp.TranspileError, match="T123") as failed:
        tp.source(function, X)
    assert "x = x.at[index].set(value)" in str(failed.value)
    with pytest.raises(tp.TranspileError, match="T123"):
        exec(text.replace("x.at", "tp.at(x)"), {"tp": tp, "x": X})


def test_names_that_there_are_not_now():
    with pytest.raises(AttributeError, match="did you mean 'multiply'"):
        tp.at(X)[0].mutliply(2.0)
    with pytest.raises(AttributeError, match=r"write at\(x\)\[index\].set"):
        tp.at(X).set(2.0)
