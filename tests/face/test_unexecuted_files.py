"""What files mean that are never executed: constants, exceptions of their own, wrapped functions, arguments without a type.

Each is compared with the file when it runs.
"""

import contextlib
import io

import pytest

from transpile.cli import main

CONSTANTS = [
    "np.finfo(float).eps", "np.finfo(np.float32).tiny", "np.e**2", "np.iinfo(np.int32).max", "np.pi / 180.0",
    "1.0 / 3.0", "np.float32(0.1)", "np.array([0.1, 0.2])[0]", "np.hypot(3.0, 4.0)", "np.maximum(1.0, 2.0)",
    "np.arange(4.0).sum()", "np.linalg.norm([3.0, 4.0])", "np.linspace(0, 1, 5)[1:3].mean()",
    "np.ones((2, 3)).shape[0]", "complex(1, 2).real", "GRID.size", "GRID.T[1]", "LIMITS.eps * 1e16", "RATIO",
    "np.float64(1.5).item()", "float('abc'[:0] or '3')", "1 if np.pi > 3 else 2",
    "2.0 if 1 < len(NAMES) <= 2 else 1.0", "float('inf') if 'b' not in NAMES else 0.5", "sys.float_info.epsilon",
    "scipy.constants.g", "math.factorial(5)", "SIZES['n'] * 2", "SIZES.get('m', 4)", "max(SIZES.values())",
    "np.cumsum(GRID)[-1]", "np.sqrt(2) ** 3", "-GRID.min()", "GRID.dtype.itemsize",
]  # fmt: skip
HEAD = """
import math, sys
import numpy as np
import scipy.constants
GRID = np.ones(3) * 2.0
LIMITS = np.finfo(float)
RATIO = GRID.sum() / LIMITS.bits
NAMES = ("a", "b")
SIZES = {"n": 3, "m": 5}
"""
REFUSED = [
    "np.random.rand()",
    "open('x')",
    "input()",
    "1.0 / 0.0",
    "GRID.view()",
    "LIMITS.nothing",
    "np.array([1.0]).fill(2.0)",
]


def run(path, text, name, *options):
    """The exit status, what was printed, and what was said."""
    path.write_text(text)
    out, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        status = main(["grad", f"{path}:{name}", *options])
    return status, out.getvalue(), said.getvalue()


def scope(text):
    space = {}
    exec(text, space)
    return space


@pytest.mark.parametrize(
    "constant", [pytest.param(c, marks=[] if k % 4 == 0 else pytest.mark.slow) for k, c in enumerate(CONSTANTS)]
)
def test_constants_are_what_the_file_gives_them(constant, tmp_path):
    text = f"{HEAD}C = {constant}\ndef f(x: float) -> float:\n    return x * x * C\n"
    status, out, said = run(tmp_path / "m.py", text, "f")
    assert status == 0, said
    expected = 3.0 * float(scope(text)["C"])
    assert scope(out)["f_grad"](1.5) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("constant", REFUSED)
def test_what_must_run_is_refused(constant, tmp_path):
    text = f"{HEAD}C = {constant}\ndef f(x: float) -> float:\n    return x * x * C\n"
    status, _, said = run(tmp_path / f"m{REFUSED.index(constant)}.py", text, "f")
    assert status == 1 and "error[T406]" in said and said.count("error[") == 1


EXCEPTIONS = [
    ("class E(Exception): pass", Exception),
    ("class A(Exception): pass\nclass E(A, ValueError):\n    def __init__(self, text): super().__init__(text)", ValueError),
    ("class A(ArithmeticError): pass\nclass E(A, KeyError): code = 3", ArithmeticError),
    ("class E(np.linalg.LinAlgError): pass", ValueError),
    ("class Base: pass\nclass E(Base, RuntimeError): pass", RuntimeError),
]  # fmt: skip


@pytest.mark.parametrize(("classes", "base"), EXCEPTIONS)
def test_exceptions_of_the_file_are_raised_as_their_base(classes, base, tmp_path):
    body = 'def f(k: float) -> float:\n    if k < 0.0:\n        raise E("negative")\n    return k * k\n'
    status, out, said = run(tmp_path / "m.py", f"import numpy as np\n{classes}\n{body}", "f")
    assert status == 0, said
    found = scope(out)["f_grad"]
    assert found(3.0) == 6.0
    with pytest.raises(base, match="negative") as raised:
        found(-1.0)
    assert raised.type is base


WRAPPED = [
    "jit(g)", "tp.jit(g)", "njit(g)", "njit(fastmath=True)(g)", "jit(static_argnums=1)(g)",
    "functools.partial(jit, parallel=True)(g)",
    "functools.lru_cache(maxsize=None)(g)", "g",
]  # fmt: skip
WRAPPERS = (
    "import functools\nimport numpy as np\nimport transpile as tp\nfrom numba import njit\nfrom transpile import jit\n"
)
FUNCTION = "def g(x: float, n: int = 2) -> float:\n    return x ** n\n"


def test_wrapped_functions_are_followed(tmp_path):
    lines = "".join(f"f{k} = {made}\n" for k, made in enumerate(WRAPPED))
    for k in range(len(WRAPPED)):
        status, out, said = run(tmp_path / "m.py", f"{WRAPPERS}{FUNCTION}{lines}", f"f{k}")
        assert status == 0, f"{WRAPPED[k]}: {said}"
        assert scope(out)["g_grad"](3.0) == 6.0


def test_transforms_with_options_are_followed(tmp_path):
    more = "rows = tp.vmap(in_axes=(0, None))(g)\nslope = functools.partial(tp.grad, argnums=0)(g)\n"
    more += "def h(x: float) -> float:\n    return np.sum(rows(np.ones(3) * x, 2)) + slope(x)\n"
    status, out, said = run(tmp_path / "m.py", f"{WRAPPERS}{FUNCTION}{more}", "h")
    assert status == 0, said
    assert abs(scope(out)["h_grad"](3.0) - 20.0) < 1e-12


def test_an_argument_that_is_none_by_default(tmp_path):
    text = (
        "import numpy as np\ndef f(x: float, w: 'pd.Series' = None, v: np.ndarray = None, k: float = 2.0) -> float:\n"
    )
    text += "    return x * x * k if w is None and v is None else x\n"
    status, out, said = run(tmp_path / "m.py", text, "f")
    assert status == 0 and said.count("warning[T41") == 2 and "'w' keeps its default: None" in said
    assert scope(out)["f_grad"](3.0) == 12.0
    status, _, said = run(tmp_path / "m.py", text.replace("'pd.Series' = None", "'pd.Series' = 3"), "f")
    assert status == 1 and "error[T414]" in said
    status, out, said = run(tmp_path / "m.py", text, "f", "--arg", "w=float64", "--arg", "v=None")
    assert status == 0 and not said and "def f_grad(x, w, v=None, k=2.0):" in out


def test_a_file_without_a_function(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text("class C:\n    pass\ndef loss(w: float):\n    return w * w\n")
    (tmp_path / "empty.py").write_text("x = 1\n")
    assert main(["grad", "m.py"]) == 2
    said = capsys.readouterr().err
    assert "no function is named: m.py defines loss" in said and "write m.py:loss" in said
    assert main(["grad", "empty.py"]) == 2
    assert "empty.py defines none" in capsys.readouterr().err
    assert main(["grad", "missing.py"]) == 2 and "cannot read 'missing.py'" in capsys.readouterr().err
