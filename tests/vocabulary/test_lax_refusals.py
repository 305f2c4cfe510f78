"""What `transpile.lax` takes and refuses is the same in a plain run, interpreted, and compiled: each argument of each function is
replaced by values of every kind. What ends in one way ends in the others, with the same value."""

from __future__ import annotations

import re
import signal
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import transpile as tp
from transpile import lax, tree

KINDS = {
    "None": "None", "function": "(lambda *a: 1.0)", "text": "'abc'", "pair": "(1.0, 2.0)", "empty": "()", "list": "[1, 2]",
    "dict": "{'a': 1.0}", "negative": "-1", "zero": "0", "integer": "2", "float": "2.5", "whole float": "3.0", "truth": "True",
    "array": "np.ones(3)", "rank 0": "np.array(1.0)", "one": "np.ones(1)", "integers": "np.arange(3)", "one integer": "np.array(2)",
    "truths": "np.array([True, False])", "one truth": "np.array(True)", "float32": "np.float32(1.5)", "int8": "np.int8(1)",
    "nan": "float('nan')", "matrix": "np.ones((2, 2))", "module": "np",
}  # fmt: skip
FLAGS = {"no": "False", "yes": "True"}
CALLS = """
lax.cond({x > 0}, {lambda v: v * 2.0}, {lambda v: v + 1.0}, {x})
lax.cond({True}, {lambda v: v * 2.0}, {lambda v: v + 1.0}, {x})
lax.switch({1}, {[lambda v: v, lambda v: 2.0 * v]}, {x})
lax.while_loop(lambda c: {c < 3.0} if c < 4.0 else False, lambda c: c + 1.0, {x})
lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, {2.0 * c[1]}), (0, {x}))
lax.fori_loop({0}, {3}, lambda i, c: {c * x}, {x}, unroll={None})
lax.scan(lambda c, a: {(c + a, c)}, {x}, {np.ones(3)}, length={None}, reverse=[False], unroll={1})
lax.map({lambda a: a * x}, {np.ones(3)}, batch_size={None})
lax.associative_scan({np.add}, {np.ones(4) * x}, reverse=[False], axis={0})
lax.select({x > 0}, {x}, {2.0 * x})
lax.dynamic_slice({np.ones(5) * x}, {(1,)}, {(2,)})
lax.dynamic_slice_in_dim({np.ones(5) * x}, {1}, {2}, axis={0})
lax.dynamic_index_in_dim({np.ones(5) * x}, {1}, axis={0}, keepdims=[True])
lax.dynamic_update_slice({np.ones(5) * x}, {np.ones(2)}, {(1,)})
lax.dynamic_update_slice_in_dim({np.ones(5) * x}, {np.ones(2)}, {1}, axis={0})
lax.dynamic_update_index_in_dim({np.ones(5) * x}, {2.0}, {1}, axis={0})
lax.top_k({np.array([3.0, 1.0, 2.0]) * x}, {2})
lax.cumsum({np.ones(3) * x}, axis={0}, reverse=[False])
lax.cumlogsumexp({np.ones(3) * x}, axis={0}, reverse=[True])
lax.custom_root({lambda y: y * y - x}, {1.0}, lambda f, y: {np.sqrt(x)}, {lambda g, y: y / g(1.0)})
lax.custom_linear_solve({lambda y: y * x}, {3.0}, lambda m, b: {b / x}, {None}, symmetric=[True])
""".strip().splitlines()
_PLACE = re.compile(r"\{((?:[^{}])*)\}|\[(False|True)\]")


def variants(call: str) -> Iterator[str]:
    """The call with one argument of another kind."""
    places = list(_PLACE.finditer(call))
    for chosen in [None, *places]:
        for kind in [""] if chosen is None else FLAGS.values() if chosen[2] else KINDS.values():
            yield _PLACE.sub(lambda m, c=chosen, k=kind: k if c and m.span() == c.span() else m[1] or m[2], call)


CASES = [text for call in CALLS for text in variants(call)]


class _NoEnd(BaseException):
    pass


def _stop(*_: object) -> None:
    raise _NoEnd


def outcome(f, *args):
    """What a call gives, or that it is refused; what does not end, and what fails within, fails the test."""
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, 20)
    try:
        return tree.leaves(f(*args))
    except (tp.TranspileError, TypeError, ValueError, IndexError, AttributeError):
        return "refused"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def alike(a, b) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a is b
    return len(a) == len(b) and all(
        np.shape(p) == np.shape(q) and np.allclose(p, q, equal_nan=True)
        if np.ndim(p) or isinstance(p, (int, float, np.generic))
        else True
        for p, q in zip(a, b)
    )


def interpreted(f):
    return tp.vmap(f, in_axes=None, out_axes=None, axis_size=1)


def differing(cases, transformed):
    found = []
    for case in cases:
        f = tp.from_source(f"import numpy as np\nfrom transpile import lax\n\n\ndef f(x):\n    return {case}\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain, other = outcome(f, 1.5), outcome(transformed(f), 1.5)
        if not alike(plain, other):
            found.append((case, plain, other))
    return found


def test_a_sample_is_refused_alike():
    assert not differing(CASES[::19], interpreted)


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_all_are_refused_alike(call):
    assert not differing(variants(call), interpreted)


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("call", CALLS)
def test_compiled_are_refused_alike(call):
    assert not differing(list(variants(call))[::7], tp.jit)


# ------------------------------------------------------------------------------------------------------------ by name

REFUSED = {
    "cond of nothing": ("T211", lambda x: lax.cond(None, lambda v: v, lambda v: -v, x)),
    "cond of a function": ("T211", lambda x: lax.cond(lambda v: True, lambda v: v, lambda v: -v, x)),
    "cond of a text": ("T211", lambda x: lax.cond("abc", lambda v: v, lambda v: -v, x)),
    "a test that is a pair": ("T211", lambda x: lax.while_loop(lambda c: (c < 3.0, c < 2.0), lambda c: c + 1.0, x)),
    "a test that is a number": ("T211", lambda x: lax.while_loop(lambda c: 3.0 - c, lambda c: c + 1.0, x)),
    "branches of a switch": ("T118", lambda x: lax.switch(1, [lambda v: {"a": v}, lambda v: {"a": (v, v)}], x)),
    "branches of a cond": ("T118", lambda x: lax.cond(x > 9.0, lambda v: (v, v), lambda v: v, x)),
    "branches of a known cond": ("T118", lambda x: lax.cond(True, lambda v: (v, v), lambda v: v, x)),
    "shapes of branches": ("T205", lambda x: lax.cond(x > 9.0, lambda v: v[:2], lambda v: v, x * np.ones(3))),
    "dtypes of branches": ("T205", lambda x: lax.cond(x > 9.0, np.float32, np.float64, x)),
    "unroll of a scan": ("T131", lambda x: lax.scan(lambda c, a: (c + a, c), x, np.ones(3), unroll=-1)),
    "unroll of a loop": ("T131", lambda x: lax.fori_loop(0, 3, lambda i, c: c * x, x, unroll="all")),
    "a bound that is a float": ("T131", lambda x: lax.fori_loop(0, 3.0, lambda i, c: c + 1.0, x)),
    "a carry of an integer": ("T206", lambda x: lax.fori_loop(0, 3, lambda i, c: c + 1.0, np.int64(0))),
    "another tree than the guess": ("T307", lambda x: lax.custom_root(lambda y: y - x, 1.0, lambda f, y: (x, x), lambda g, y: y)),
    "another tree of f": ("T307", lambda x: lax.custom_root(lambda y: (y, y), 1.0, lambda f, y: x, lambda g, y: y / x)),
    "another tree than b": ("T307", lambda x: lax.custom_linear_solve(lambda y: x * y, 1.0, lambda m, b: (b, b), symmetric=True)),
    "no function": ("T131", lambda x: lax.custom_root(lambda y: y - x, 1.0, x, lambda g, y: y)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_one_code(name):
    code, f = REFUSED[name]
    for call in (f, interpreted(f), tp.jacfwd(f)):
        with pytest.raises(tp.TranspileError) as failed:
            call(1.5)
        assert failed.value.codes == (code,)


def test_the_branch_that_is_not_taken_is_not_run():
    """Only its types matter, and only where they can be told; a recursion that ends by its tests ends."""

    def diverging(x):
        while x > 0:
            x = x + 1.0
        return x

    def power(x, n):
        return lax.cond(n == 0, lambda: 1.0, lambda: x * power(x, n - 1))

    seen: list[float] = []
    assert lax.cond(True, lambda v: 2.0 * v, diverging, 1.0) == 2.0
    assert lax.cond(True, lambda v: v, lambda v: seen.append(v), 1.0) == 1.0 and not seen
    assert lax.cond(True, lambda v: v, lambda v: v.no_such_attribute, 1.0) == 1.0
    assert power(2.0, 3) == 8.0
    np.testing.assert_array_equal(lax.cond(True, lambda v: v[:2], lambda v: v, np.ones(2)), [1.0, 1.0])
    for kind in ("one", "two", "one"):  # a structure that a text decides is asked for each text
        pair = lambda v, k=kind: (v,) if k == "one" else (v, v)  # noqa: E731
        for other in (lambda v: (2.0 * v,), lambda v: (v, 2.0 * v)):
            lengths = [len(g(1.0)) for g in (pair, other)]
            if lengths[0] == lengths[1]:
                lax.cond(False, pair, other, 1.0)
            else:
                with pytest.raises(tp.TranspileError):
                    lax.cond(False, pair, other, 1.0)
