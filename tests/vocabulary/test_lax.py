"""`transpile.lax`: values and derivatives against JAX's and against differences, plain, transformed, compiled, from a file."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import lax_cases
import numpy as np
import pytest
from lax_cases import CASES, REFERENCE

import transpile as tp
from transpile import lax, tree
from transpile.cli import main


@pytest.mark.parametrize("name", CASES)
def test_value_and_derivatives_are_those_of_jax(name):
    f, x = CASES[name]
    value, gradient = REFERENCE[name]
    np.testing.assert_allclose(f(x), value, rtol=1e-12, atol=1e-12)
    found, reverse = tp.value_and_grad(f)(x)
    np.testing.assert_allclose(found, value, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(reverse, gradient, rtol=1e-10, atol=1e-12)
    _, forward = tp.jvp(f, (x,), (0.5 * x,))
    np.testing.assert_allclose(forward, np.sum(np.array(gradient) * 0.5 * x), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["recurrent", "summed", "augmented", "windows", "cube_root"])
def test_compiled(name):
    f, x = CASES[name]
    np.testing.assert_allclose(tp.jit(tp.grad(f))(x), REFERENCE[name][1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["recurrent", "filled", "linear", "cube_root", "solved"])
@pytest.mark.sampled(2)
def test_second_order_against_differences(name):
    f, x = CASES[name]
    tp.check_grads(f, (x,), order=2)


def test_the_same_text_with_jax():
    pytest.importorskip("jax").config.update("jax_enable_x64", True)
    text = Path(lax_cases.__file__).read_text()
    text = text.replace("import numpy as np", "import jax.numpy as np").replace("from transpile", "from jax")
    names: dict = {}
    exec(compile(text, "lax_cases of JAX", "exec"), names)
    for name, (f, x) in names["CASES"].items():
        np.testing.assert_allclose(f(x), REFERENCE[name][0], rtol=1e-12, err_msg=name)


# -------------------------------------------------------------------------------------------------- as one types it


def test_examples_of_the_documentation():
    """The calls of JAX's pages, with what they print there."""
    operand = np.array([0.0])
    assert lax.cond(True, lambda x: x + 1, lambda x: x - 1, operand) == 1.0
    assert lax.cond(False, lambda x: x + 1, lambda x: x - 1, operand) == -1.0
    assert lax.while_loop(lambda x: x < 10, lambda x: x + 1, 0) == 10
    assert lax.fori_loop(0, 10, lambda i, x: x + i, 0) == 45
    np.testing.assert_array_equal(lax.associative_scan(np.add, np.arange(0, 4)), [0, 1, 3, 6])
    np.testing.assert_array_equal(lax.associative_scan(np.add, np.arange(0, 4), reverse=True), [6, 6, 5, 3])
    x = np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(lax.dynamic_slice(x, (1, 1), (2, 3)), [[5, 6, 7], [9, 10, 11]])
    np.testing.assert_array_equal(lax.dynamic_slice(x, (1, 1), (2, 4)), [[4, 5, 6, 7], [8, 9, 10, 11]])
    y = np.ones(3)
    np.testing.assert_array_equal(lax.dynamic_update_slice(np.zeros(6), y, (2,)), [0, 0, 1, 1, 1, 0])
    np.testing.assert_array_equal(lax.dynamic_update_slice(np.zeros(6), y, (5,)), [0, 0, 0, 1, 1, 1])
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    np.testing.assert_array_equal(lax.dynamic_index_in_dim(x, 2), [2.0])
    assert lax.dynamic_index_in_dim(x, 2, keepdims=False) == 2.0
    values, indices = lax.top_k(np.array([9.0, 3.0, 6.0, 4.0, 10.0]), 3)
    assert values.tolist() == [10.0, 9.0, 6.0] and indices.tolist() == [4, 0, 2]


def both(f, *args):
    """What a function gives plain, which is what it gives transformed."""
    plain, lifted = f(*args), tp.jit(f)(*args)
    leaves, shape = tree.flatten(plain)
    others, other = tree.flatten(lifted)
    assert shape == other
    for a, b in zip(leaves, others):
        np.testing.assert_array_equal(a, b)
        assert np.result_type(a) == np.result_type(b) and np.shape(a) == np.shape(b)
    return plain


def test_scan_gives_arrays_of_each_leaf():
    def f(x, n):
        carry, ys = lax.scan(lambda c, a: ({"k": c["k"] + 1, "v": c["v"] * a}, (c["k"], [c["v"], a > 1], None)),
                             {"k": 0, "v": np.float32(1)}, x.astype(np.float32), reverse=True)  # fmt: skip
        _, empty = lax.scan(lambda c, a: (c, (c * a, np.stack([c, c]))), 2.0, x[:n])
        return carry, ys, empty

    carry, (ks, (vs, flags), nothing), empty = both(f, np.array([1.0, 2.0, 3.0]), 0)
    assert carry == {"k": 3, "v": 6.0} and vs.dtype == np.float32 and flags.tolist() == [False, True, True]
    assert ks.tolist() == [2, 1, 0] and vs.tolist() == [6.0, 3.0, 1.0] and nothing is None
    assert empty[0].shape == (0,) and empty[1].shape == (0, 2)


def test_the_rows_of_a_scan_are_as_they_were():
    """What is written in place later is not seen in what was given as ``y``."""

    def f(x):
        def body(c, a):
            c[0] += a
            return c, c

        return lax.scan(body, np.zeros(2), x)[1]

    np.testing.assert_array_equal(both(f, np.array([1.0, 2.0, 3.0]))[:, 0], [1.0, 3.0, 6.0])


def test_no_trips_and_known_lengths():
    def f(x):
        _, none = lax.scan(lambda c, _: (c * x, {"c": c * x}), 1.0, None, 0)
        return (
            lax.fori_loop(3, 3, lambda i, v: v * 0.0, x),
            none["c"],
            lax.while_loop(lambda v: v > 9.0, lambda v: v, x),
        )

    value, none, same = both(f, 2.0)
    assert value == same == 2.0 and none.shape == (0,)


def test_dynamic_bounds_and_nested_loops():
    def f(x, n):
        def outer(i, v):
            inner, _ = lax.scan(lambda c, a: (c + a * v, None), 0.0, x)
            return lax.while_loop(lambda u: u > 2.0, lambda u: u / 2.0, inner + i)

        return lax.fori_loop(n - 2, n, outer, 1.0)

    both(f, np.array([1.0, 2.0]), 5)
    tp.check_grads(partial(f, n=5), (np.array([1.0, 2.0]),), order=1)


def test_operand_forms_and_clamped_indices():
    def f(x, k):
        branches = [np.sin, np.cos, lambda v: v * v]
        old = lax.cond(x > 1, x, lambda v: 2 * v, (x, x), lambda p: p[0] * p[1])
        return (
            lax.switch(k, branches, x),
            lax.switch(k - 20, branches, operand=x),
            old,
            lax.cond(x > 1, np.sin, np.cos, operand=x),
        )

    value, low, old, one = both(f, 0.7, 9)
    assert value == 0.7 * 0.7 and low == np.sin(0.7) and old == 0.7 * 0.7 and one == np.cos(0.7)


def test_top_k_of_ties_and_nan():
    x = np.array([[1.0, np.nan, 3.0, 3.0], [2.0, 2.0, 2.0, -np.inf]])
    values, indices = both(lambda x: lax.top_k(x, 3), x)
    np.testing.assert_array_equal(indices, [[1, 2, 3], [0, 1, 2]])
    np.testing.assert_array_equal(values, [[np.nan, 3.0, 3.0], [2.0, 2.0, 2.0]])
    assert lax.top_k(np.array([3, 0, 200], np.uint8), 2)[0].tolist() == [200, 3]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 33])
def test_associative_scan_of_any_length(n):
    x = np.random.default_rng(n).normal(size=(2, n))
    found = lax.associative_scan(lambda a, b: {"s": a["s"] + b["s"]}, {"s": x}, axis=1)["s"]
    np.testing.assert_allclose(found, np.cumsum(x, axis=1))
    found = lax.associative_scan(np.add, x, axis=-1, reverse=True)
    np.testing.assert_allclose(found, np.cumsum(x[:, ::-1], axis=1)[:, ::-1])


# ------------------------------------------------------------------------------------------------------ the text


def test_a_scan_is_a_loop_over_arrays():
    text = tp.source(tp.grad(lax_cases.recurrent), lax_cases.V)
    assert "append" not in text and "for k in range(n):" in text and "lax_cases.py" in text
    assert not re.search(r"(scans|control|checks)\.py", text)


def test_places_that_are_known_are_not_moved():
    def f(x):
        def body(i, total):
            return total + np.sum(lax.dynamic_slice(x, (i,), (1,))) * lax.dynamic_slice(x, (i + 1,), (2,))[1]

        return lax.fori_loop(0, x.shape[0], body, 0.0) + lax.dynamic_slice(x, (-1,), (1,))[0]

    text = tp.source(f, lax_cases.V)
    assert (
        "x[i : i + 1]" in text and "where" not in text and text.count("np.minimum") == text.count("np.maximum") == 1
    ), text
    assert both(f, lax_cases.V) == pytest.approx(f(lax_cases.V))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_places_of_every_kind(n):
    """Known and not, below 0 and beyond the array: plain and transformed they are moved alike."""
    x = np.arange(1.0, n + 1)
    for size in range(1, n + 1):
        for k in range(-n - 2, n + 3):
            wanted = lax.dynamic_slice(x, (k,), (size,))
            np.testing.assert_array_equal(tp.vjp(lambda x, k=k, s=size: lax.dynamic_slice(x, (k,), (s,)), x)[0], wanted)
        got = tp.vjp(
            lambda x, s=size: lax.map(lambda k: lax.dynamic_slice(x, (k - n - 2,), (s,)), np.arange(2 * n + 5)), x
        )[0]
        np.testing.assert_array_equal(got, [lax.dynamic_slice(x, (k,), (size,)) for k in range(-n - 2, n + 3)])
        got = tp.vjp(
            lambda x, s=size: lax.fori_loop(
                -n - 2, n + 3, lambda k, c: c * 2.0 + lax.dynamic_slice(x, (k,), (s,)), x[:s]
            ),
            x,
        )[0]
        total = x[:size]
        for k in range(-n - 2, n + 3):
            total = total * 2.0 + lax.dynamic_slice(x, (k,), (size,))
        np.testing.assert_array_equal(got, total)


def test_a_root_keeps_no_tape():
    text = tp.source(tp.grad(lax_cases.cube_root), 8.0)
    assert "tape" not in text and "append" not in text and text.count("while") == 1


FILE = """
import numpy as np
import transpile as tp
from transpile import lax
from transpile.lax import scan
from lax_cases import cube_root, discounted, largest, linear

raise RuntimeError("the file was executed")


def loss(x: "float64[4]", a: float):
    total = scan(lambda c, v: (c + v * v, None), 0.0, x)[0]
    return total * cube_root(a) + discounted(x) + largest(x) + linear(x) + tp.lax.cond(a > 1, np.sin, lax.stop_gradient, a)
"""


def test_from_a_file_that_is_not_run(tmp_path):
    (tmp_path / "prog.py").write_text(FILE)
    (tmp_path / "lax_cases.py").write_text(Path(lax_cases.__file__).read_text())
    out = tmp_path / "out.py"
    assert main(["emit", f"{tmp_path / 'prog.py'}:loss", "grad(f, argnums=(0, 1))", "-o", str(out)]) == 0
    text = out.read_text()
    assert "import transpile" not in text and "from transpile" not in text
    (tmp_path / "alone.py").write_text("import sys\nsys.modules['transpile'] = None\nimport numpy as np, out\n"
                                       "x, a = out.loss_grad(np.array([0.7, -0.3, 1.2, 0.4]), 1.3)\nprint([*x, a])\n")  # fmt: skip
    path = str(Path(importlib.util.find_spec("transpile_runtime").origin).parent.parent)
    ran = subprocess.run([sys.executable, "alone.py"], cwd=tmp_path, capture_output=True, text=True,
                         env={"PYTHONPATH": path, "PYTHONSAFEPATH": ""})  # fmt: skip
    found = eval(ran.stdout.replace("np.float64", ""))
    square, cube = REFERENCE["cube_root"]
    wanted = sum(np.array(REFERENCE[n][1]) for n in ("discounted", "largest", "linear")) + 2 * lax_cases.V * square
    np.testing.assert_allclose(found[:4], wanted, rtol=1e-9)
    np.testing.assert_allclose(found[4], np.sum(lax_cases.V**2) * cube + np.cos(1.3), rtol=1e-9)


# ------------------------------------------------------------------------------------------------------- mistakes

MISTAKES = {
    "carry_structure": ("T119", ["fori_loop", "float", "(float, float)"], lambda x: lax.fori_loop(0, 3, lambda i, c: (c, x), x)),
    "carry_dtype": ("T206", ["scan", "float32[3]", "float64[3]"],
                    lambda x: lax.scan(lambda c, a: (c + a, None), np.zeros(3, np.float32), np.ones((4, 3)) * x)[0]),
    "carry_shape": ("T206", ["while_loop", "'v': float64[2]", "'v': float64[4]"],
                    lambda x: lax.while_loop(lambda c: c["v"][0] < 9, lambda c: {"v": np.tile(c["v"], 2)}, {"v": np.ones(2) * x})),
    "switch_of_a_truth": ("T131", ["one function", "cond(pred"], lambda x: lax.switch(x > 0, np.sin, np.cos)),
    "index_is_a_truth": ("T131", ["bool", "cond(pred"], lambda x: lax.switch(x > 0, [np.sin, np.cos], x)),
    "pred_is_an_array": ("T211", ["bool[2]", "(2,)"], lambda x: lax.cond(np.array([x, x]) > 0, np.sin, np.cos, x)),
    "no_function": ("T131", ["true_fun", "cond(pred"], lambda x: lax.cond(x > 0, x, -x)),
    "no_pair": ("T131", ["float64", "(carry, None)"], lambda x: lax.scan(lambda c, a: c + a, 0.0, np.ones(3) * x)),
    "no_rows": ("T203", ["nothing"], lambda x: lax.scan(lambda c, a: (c * x, None), 0.0)),
    "unequal_rows": ("T203", ["3 and 4"], lambda x: lax.map(lambda ab: ab[0] * ab[1], (np.ones(3) * x, np.ones(4)))),
    "rows_of_a_number": ("T203", ["number"], lambda x: lax.map(np.sin, x)),
    "select_shapes": ("T203", ["bool[2]", "float64[3]"], lambda x: lax.select(np.array([True, False]), np.ones(3) * x, np.ones(3))),
    "select_dtypes": ("T201", ["float64[2]", "int64[2]"], lambda x: lax.select(x > 0, np.ones(2) * x, np.ones(2, int))),
    "slice_too_large": ("T203", ["5", "3"], lambda x: lax.dynamic_slice(np.ones(3) * x, (0,), (5,))),
    "slice_of_other_rank": ("T203", ["rank 2"], lambda x: lax.dynamic_slice(np.ones((3, 2)) * x, (0,), (2,))),
    "update_of_other_dtype": ("T201", ["float64", "int64"],
                              lambda x: lax.dynamic_update_slice(np.ones(3) * x, np.ones(2, int), (0,))),
    "bound_is_a_float": ("T131", ["upper of fori_loop", "int(...)"], lambda x: lax.fori_loop(0, 2.0 * x, lambda i, c: c * x, x)),
    "length_is_a_float": ("T131", ["the length of scan", "int(...)"], lambda x: lax.scan(lambda c, _: (c * x, c), x, None, 2.5)[0]),
    "place_is_a_float": ("T207", ["an index of dynamic_slice", "int("], lambda x: lax.dynamic_slice(np.ones(3) * x, (x,), (2,))),
    "index_is_a_float": ("T207", ["the index of dynamic_index_in_dim"], lambda x: lax.dynamic_index_in_dim(np.ones(3) * x, x)),
    "places_are_one_number": ("T203", ["for each axis"], lambda x: lax.dynamic_slice(np.ones(3) * x, 0, 2)),
    "top_of_a_number": ("T203", ["no axis"], lambda x: lax.top_k(x, 1)),
    "k_too_large": ("T203", ["5", "3"], lambda x: lax.top_k(np.ones(3) * x, 5)),
    "operator_of_other_dtype": ("T206", ["float64[", "float32["],
                                lambda x: lax.associative_scan(lambda a, b: (a + b).astype(np.float32), np.ones(4) * x)),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named_plain_and_transformed(name):
    code, words, f = MISTAKES[name]
    texts = []
    for call in (f, tp.jacfwd(f)):
        with pytest.raises(tp.TranspileError) as failed:
            call(1.5)
        assert failed.value.codes == (code,)
        texts.append(str(failed.value))
    assert "test_lax.py" in texts[1]
    for word in words:
        assert any(word in text for text in texts), (word, texts)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda x: lax.rsqrt(x), "1 / np.sqrt(x)"),
        (lambda x: lax.exp(x), "np.exp"),
        (lambda x: lax.scann(x), "did you mean 'scan'?"),
        (lambda x: tree.tree_map(np.sin, x), "tree.map"),
        (lambda x: tree.register_pytree_node(x), "tree.register_node"),
        (lambda x: tp.tree_map(np.sin, x), "tree.map"),
        (lambda x: tp.nn.relu(x), "np.maximum"),
        (lambda x: tp.numpy.sin(x), "import numpy"),
    ],
)  # fmt: skip
def test_names_that_are_elsewhere(call, words):
    with pytest.raises(AttributeError) as failed:
        call(1.5)
    assert words in str(failed.value)
    with pytest.raises(tp.TranspileError) as failed:
        tp.grad(call)(1.5)
    assert failed.value.codes == ("T416",) and words in failed.value.diagnostics[0].hint


@pytest.mark.parametrize(
    "code, words, f",
    [
        ("T118", ["(float, float)", "float if not"], lambda x: lax.cond(x > 0, lambda v: (v, v), lambda v: v, x)),
        ("T205", ["float64[3]", "float64[4]"], lambda x: lax.cond(x > 0, lambda v: np.ones(3) * v, lambda v: np.ones(4) * v, x)),
        ("T205", ["float32", "float64"], lambda x: lax.cond(x > 0, np.float32, np.float64, x)),
        ("T118", ["branch 1", "branch 2", "(float,)"],
         lambda x: lax.switch(int(x), [lambda v: v, lambda v: 2 * v, lambda v: (v,)], x)),
    ],
)  # fmt: skip
def test_branches_that_differ(code, words, f):
    with pytest.raises(tp.TranspileError) as failed:
        tp.jacfwd(f)(1.5)
    assert failed.value.codes == (code,)
    assert all(word in str(failed.value) for word in words)
