"""NumPy that public code writes by subscripts and attributes: values, dtypes and shapes are NumPy's."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import transpile as tp

PROGRAMS = """
np.r_[x, 5.0, y]
np.r_[x]
np.r_[0:4, x]
np.r_[4:0:-2, x[0]]
np.r_[0:1:5j, x]
np.r_[0.5:2, 1, 2]
np.r_[1, 2, 3] * x[0]
np.r_[1:4] * x[0]
np.r_[n:6, x]
np.r_[m, m]
np.r_["1", m, m]
np.r_["-1", m, m * 2]
np.r_["0,2", x, y]
np.r_["1,2,0", x, y]
np.r_["0,2,0", x, y]
np.r_[x[:2], [3.0, 4.0], (1, 2)]
np.c_[x, y]
np.c_[x, 1:4]
np.c_[m, y[:2]]
np.c_[m, m]
np.c_[[1, 2]] * x[0]
np.c_[np.ones((2, 1)), m]
np.mgrid[0:3] * x[0]
np.mgrid[0:3, 0:2] * x[0]
np.mgrid[0:1:5j, 0:2:0.5] * x[0]
np.mgrid[1:n:2, -1:1] * x[0]
np.sum(np.mgrid[0:2, 0:2, 0:3], axis=0) * x[0]
x[np.s_[1:]]
x[np.s_[::-1]] * x[np.s_[0]]
m[np.s_[1:, 0]] + m[np.index_exp[1:, 1]]
m[np.s_[..., None, 0]]
m[np.s_[m[:, 0] > 0]]
m[np.index_exp[1]]
m[np.index_exp[1] + (0,)]
[part.sum() for part in (x[np.s_[:2]], x[np.index_exp[2:]])]
np.delete(x, np.s_[::2])
np.ogrid[0:3] * x[0]
np.ogrid[0:3, 0:2][0] * x[0]
np.ogrid[0:3, 0:2][0] * m[0, 0] + np.ogrid[0:3, 0:1:2j][1] * x[1]
np.append(x, 3.0)
np.append(m, m, axis=0)
np.append(x, [[1, 2]])
np.insert(x, 1, 5.0)
np.insert(m, 1, x[:2], axis=1)
np.insert(x, [0, 2], y[:2])
np.insert(m, 1, 9.0)
np.insert(x, slice(0, 2), y[:2])
np.insert(m, slice(None, None, 2), x[:2], axis=0)
np.insert(x, -1, y[0])
np.delete(x, 1)
np.delete(m, 0, axis=1)
np.delete(m, [0, 2])
np.delete(x, slice(None, None, 2))
np.delete(m, slice(0, 1), axis=1)
np.delete(m, slice(1, None))
np.delete(x, np.array([True, False, True]))
np.einsum(m, [0, 1], m, [1, 2], [0, 2])
np.einsum(m, [0, 0])
np.einsum(m, [0, Ellipsis], [Ellipsis, 0])
np.fromfunction(lambda i, j: i * 2.0 + j, (2, 2)) * m
np.fromfunction(lambda i, j: m[i, j], (2, 2), dtype=int)
np.sum(x) if np.isscalar(x[0]) else 0.0 * x[0]
np.sum(x) if np.isscalar(x) else 2.0 * x[0]
x[0] if np.isscalar("a") and np.isscalar(n) and np.isscalar(2.5) and not np.isscalar(None) else x[1]
sum(v * v for v in m.flat)
m.flat[2] * m.flat[-1]
m.flat[1:3]
x.astype(np.result_type(x, np.float32))
x * np.ones(3, np.result_type(np.float32, 2.0))
np.ones(2, np.result_type(n, 2.5)) * x[0]
x * x.itemsize + x.nbytes
np.vectorize(relu)(m)
np.vectorize(relu)(m, x[1])
np.vectorize(relu)(m, slope=x[:2])
np.vectorize(relu)(x[0])
np.vectorize(lambda a, b: a * b + n)(m, y[:2])
np.vectorize(lambda a, b: (a * b, a + b))(m, y[:2])[1]
np.vectorize(lambda a: 2 if a > 0 else 3, otypes=[float])(m) * m
np.vectorize(relu, otypes="d")(x[:0])
np.vectorize(np.hypot)(x, y)
each(x) + each(y, slope=x[1])
typed(x) * x
np.vectorize(lambda k: k * k)(np.arange(n)) * x[0]
""".strip().splitlines()

WRITES = {
    "flat": "y = m.copy()\n    y.flat = x[0]\n    return y",
    "flat of an array": "y = m.copy()\n    y.flat = x\n    return y * m",
    "flat at a place": "y = m.copy()\n    y.flat[2] = x[1]\n    return y",
    "ndarray": "y = np.ndarray((2, 3), dtype=float)\n    y[:] = x\n    return y * x[0]",
    "ndarray of a size": "y = np.ndarray(n)\n    for k in range(n):\n        y[k] = x[0] * k\n    return y",
}


def relu(v, slope=0.5):
    if v > 0:
        return v * v
    return slope * v


each = np.vectorize(relu)
typed = np.vectorize(lambda v: int(v > 0.4), otypes=[float])


def made(body: str, name: str):
    text = f"def f(x, y, m, n):\n    {body}\n"
    file = f"<ordinary {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"np": np, "relu": relu, "each": each, "typed": typed}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


CASES = {**{p: f"return {p}" for p in PROGRAMS}, **WRITES}
X, Y, M = np.array([0.5, 1.5, 2.5]), np.array([0.3, -0.7, 1.1]), np.array([[1.2, 0.4], [-0.3, 2.0]])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.sampled(8)
def test_as_numpy_has_it(name):
    f = made(CASES[name], name)
    for cast in (np.float64, np.float32):
        args = X.astype(cast), Y.astype(cast), M.astype(cast), 4
        wanted, found = f(*args), tp.vjp(f, *args)[0]
        assert np.shape(found) == np.shape(wanted)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype, cast
        np.testing.assert_allclose(found, wanted, rtol=1e-6 if cast is np.float32 else 1e-13)
    tp.check_grads(f, (X, Y, M, 4), order=2)


@pytest.mark.numba
def test_compiled(cache_directory):
    """All in two functions: few compilations."""
    for part in (PROGRAMS[::2], PROGRAMS[1::2]):
        f = made("return (" + ", ".join(part) + ",)", f"{len(part)} programs beginning with {part[0]}")
        for wanted, found, text in zip(f(X, Y, M, 4), tp.jit(f)(X, Y, M, 4), part):
            np.testing.assert_allclose(found, wanted, rtol=1e-13, err_msg=text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("np.r_['r', x]", "T207"),
        ("np.r_[1:, x]", "T207"),
        ("np.mgrid[3]", "T207"),
        ("np.mgrid[0:3, 2]", "T207"),
        ("np.r_[x, 1j]", "T311"),
        ("np.ndarray((2,), float, x)", "T131"),
        ("np.vectorize(lambda v: 1 if v > 0 else v)(x)", "T205"),  # the first element decides for all
        ("np.vectorize(np.sum, signature='(n)->()')(m)", "T131"),
        ("np.vectorize(relu, excluded={'slope'})(x, slope=2.0)", "T131"),
        ("x.strides", "T121"),
    ],
)
def test_what_is_refused(text, code):
    with pytest.raises(tp.TranspileError) as refused:
        tp.vjp(made(f"return {text}", text), X, Y, M, 4)
    assert refused.value.codes == (code,)
