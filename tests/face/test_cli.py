"""The command line: what it emits, that it executes nothing, its exit status."""

import os
import subprocess
import sys

import numpy as np
import pytest

from transpile.cli import main

FILE = '''
import math
import numpy as np
from helper import scaled

raise RuntimeError("the file was executed")

RATE = 0.5


def loss(w, x: 'Float[np.ndarray, "n d"]', y, decay=0.1):
    """Mean loss."""
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z) + decay * np.sum(scaled(w) ** 2)


def field(x: float, t: float):
    return {"a": x * math.sin(t) * RATE, "b": np.array([x, t])}


def picks(x, k: int):
    return np.sum(np.sum(x, axis=k) ** 2)


def integer(n: int):
    return n * n


def bad(x: float):
    try:
        return x
    except ValueError:
        return 0.0


def inner(p):
    return np.sum(p["w"] * p["x"][0]) + p["x"][1]


def row(x: 'Float[np.ndarray, "n"]', i: int):
    return x[i] * x[i]
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "prog.py").write_text(FILE)
    (tmp_path / "helper.py").write_text("def scaled(x):\n    return 2.0 * x\n\nraise RuntimeError('executed')\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


TYPES = ["--arg", "w=float64[d]", "--arg", "y=float64[n]"]


def run(capsys, *argv):
    status = main(argv)
    out = capsys.readouterr()
    return status, out.out, out.err


def module(text):
    scope = {}
    exec(compile(text, "emitted", "exec"), scope)
    return scope


def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=3), rng.normal(size=(6, 3)), rng.normal(size=6)


def expected(w, x, y):
    z = x @ w
    return x.T @ (1 / (1 + np.exp(-z)) - y) / len(y) + 0.8 * w


def test_grad(folder, capsys):
    status, out, err = run(capsys, "grad", "prog.py:loss", *TYPES)
    assert (status, err) == (0, "")
    f = module(out)["loss_grad"]
    np.testing.assert_allclose(f(*data()), expected(*data()))
    assert "prog.py:14" in out
    assert "float64[n, d]" in out


def test_value_and_several_arguments(folder, capsys):
    _, out, _ = run(capsys, "grad", "prog.py:loss", *TYPES, "--value", "--wrt", "x,w")
    w, x, y = data()
    value, (gx, gw) = module(out)["loss_grad"](w, x, y)
    np.testing.assert_allclose(gw, expected(w, x, y))
    assert gx.shape == x.shape and np.ndim(value) == 0


def test_forward_and_reverse(folder, capsys):
    _, out, _ = run(capsys, "jvp", "prog.py:field", "--value", "--wrt", "t")
    value, dot = module(out)["field_jvp"](2.0, 0.3, 1.0)
    np.testing.assert_allclose(dot["a"], np.cos(0.3))
    np.testing.assert_allclose(dot["b"], [0.0, 1.0])
    _, out, _ = run(capsys, "vjp", "prog.py:field", "--wrt", "x,t")
    x_bar, t_bar = module(out)["field_vjp"](2.0, 0.3, {"a": 1.0, "b": np.array([1.0, 10.0])})
    np.testing.assert_allclose([x_bar, t_bar], [0.5 * np.sin(0.3) + 1, np.cos(0.3) + 10])


def test_trees_and_literals(folder, capsys):
    _, out, _ = run(capsys, "grad", "prog.py:inner", "--arg", "p={'w': float64[n], 'x': (float64[n], float)}")
    g = module(out)["inner_grad"]({"w": np.ones(2), "x": (np.array([2.0, 3.0]), 1.0)})
    assert np.array_equal(g["w"], [2.0, 3.0]) and g["x"][1] == 1.0
    _, out, _ = run(capsys, "grad", "prog.py:picks", "--arg", "x=float64[n,d]", "--arg", "k=0")
    assert "axis=0" in out
    _, out, _ = run(capsys, "grad", "prog.py:loss", *TYPES, "--arg", "decay=float")
    assert "decay" in out.partition(":")[0]


CLASSES = """
from dataclasses import dataclass
import numpy as np

@dataclass
class A:
    v: float
    def f(self): return self.v * 2

@dataclass
class B:
    v: float
    def f(self): return self.v * 3

@dataclass
class D(A, B):
    pass

def g(x):
    d = D(x[0])
    s = d.f()
    if isinstance(d, A): s = s * 5.0
    if isinstance(d, (B,)): s = s * 7.0
    if isinstance(d, object): s = s * 11.0
    if isinstance(A(x[0]), D) or isinstance(d, float): s = s * 13.0
    if hasattr(d, "f") and not hasattr(d, "q"): s = s * 17.0
    return s
"""


def test_classes_of_a_file_that_is_not_run(folder, capsys):
    (folder / "classes.py").write_text(CLASSES)
    status, out, err = run(capsys, "grad", "classes.py:g", "--arg", "x=float64[n]")
    assert (status, err) == (0, "")
    np.testing.assert_allclose(module(out)["g_grad"](np.ones(2)), [module(CLASSES)["g"](np.ones(1)), 0.0])


@pytest.mark.parametrize(
    ("argv", "status", "code"),
    [
        (["grad", "prog.py:los", *TYPES], 2, "T404"),
        (["grad", "nothing.py:f"], 2, "T413"),
        (["grad", "prog.py"], 2, "T901"),
        (["grad", "prog.py:loss", *TYPES, "--wrt", "q"], 2, "T407"),
        (["grad", "prog.py:loss", *TYPES, "--arg", "q=float"], 2, "T407"),
        (["grad", "prog.py:loss", "--arg", "w=float65[d]"], 2, "T414"),
        (["grad", "prog.py:loss"], 1, "T415"),
        (["grad", "prog.py:bad"], 1, "T105"),
        (["grad", "prog.py:integer"], 1, "T302"),
        (["grad", "prog.py:field"], 1, "T301"),
        (["grad", "prog.py:picks", "--arg", "x=float64[n,d]"], 1, "T210"),
        (["grad", "prog.py:row", "-o", "no/such/folder.py"], 2, "T903"),
    ],
)
def test_exit_status(folder, capsys, argv, status, code):
    got, out, err = run(capsys, *argv)
    assert (got, out) == (status, "") and f"error[{code}]" in err


@pytest.mark.parametrize("argv", [[], ["nonsense"], ["grad"], ["grad", "prog.py:loss", "--nonsense"]])
def test_usage(folder, capsys, argv):
    with pytest.raises(SystemExit) as e:
        main(argv)
    assert e.value.code == 2 and "usage: transpile" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["--help"], ["grad", "--help"], ["jvp", "--help"], ["vjp", "--help"]])
def test_help(capsys, argv):
    with pytest.raises(SystemExit) as e:
        main(argv)
    assert e.value.code == 0 and "FILE.py:FUNC" in capsys.readouterr().out or argv == ["--help"]


CLEAN = (
    "import builtins, sys, importlib.util\n"
    "original = builtins.__import__\n"
    "def guarded(name, *a, **k):\n"
    "    if name.split('.')[0] in {refused}:\n"
    "        raise ImportError(name)\n"
    "    return original(name, *a, **k)\n"
    "builtins.__import__ = guarded\n"
    "sys.path = [p for p in sys.path if p]\n"
    "spec = importlib.util.spec_from_file_location('out', sys.argv[1])\n"
    "m = importlib.util.module_from_spec(spec); sys.modules['out'] = m; spec.loader.exec_module(m)\n"
    "import numpy as np\n"
    "rng = np.random.default_rng(0)\n"
    "w, x, y = rng.normal(size=3), rng.normal(size=(6, 3)), rng.normal(size=6)\n"
    "print(repr(m.loss_grad(w, x, y).tolist()))\n"
)


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        (["--standalone"], ["transpile", "transpile_runtime", "numba", "scipy", "helper"]),
        pytest.param(["--standalone", "--jit"], ["transpile", "transpile_runtime", "helper"], marks=pytest.mark.numba),
        pytest.param(["--jit"], ["transpile", "helper"], marks=[pytest.mark.numba, pytest.mark.slow]),
    ],
)
def test_an_emitted_file_runs_without_transpile(folder, options, refused):
    command = [sys.executable, "-m", "transpile", "grad", "prog.py:loss", *TYPES, *options, "-o", "out.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout == ""
    code = CLEAN.replace("{refused}", repr(refused))
    out = subprocess.run([sys.executable, "-c", code, "out.py"], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    np.testing.assert_allclose(eval(out.stdout), expected(*data()))


@pytest.mark.numba
def test_an_emitted_kernel_checks_its_indices(folder, capsys):
    _, out, _ = run(capsys, "grad", "prog.py:row", "--jit", "--standalone")
    path = folder / "kernel.py"
    path.write_text(out)
    scope = {"__name__": "kernel", "__file__": str(path)}
    exec(compile(out, str(path), "exec"), scope)
    assert np.array_equal(scope["row_grad"](np.array([1.0, 3.0]), 1), [0.0, 6.0])
    with pytest.raises(IndexError, match="index 5 is out of range for size 2"):
        scope["row_grad"](np.array([1.0, 3.0]), 5)


def test_output_is_the_same_under_any_hash_seed(folder):
    outs = set()
    for seed in ("0", "1", "77"):
        command = [sys.executable, "-m", "transpile", "grad", "prog.py:loss", *TYPES, "--wrt", "w,x,y", "--value"]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        )
        outs.add(done.stdout)
    assert len(outs) == 1
