"""Functions that are sent by value, as joblib, dask and scikit-learn do: what is transformed takes its text along."""

import linecache
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest

import transpile as tp

cloudpickle = pytest.importorskip("cloudpickle")

CELLS = {
    "first": '''
import functools
import numpy as np
import transpile as tp

def helper(w):
    return np.sum(w**2)

class Layer:
    def __init__(self, k):
        self.k = k

    @property
    def twice(self):
        return 2.0 * self.k

    @staticmethod
    def bent(w):
        return w + 1.0

    def loss(self, w):
        return self.twice * helper(self.bent(w))

    def __call__(self, w):
        return self.loss(w)
''',
    "second": '''
def loss(w):
    return helper(w) * Layer(3.0).loss(w)

def scaled(k, w):
    return k * helper(w)

def factory(k):
    return lambda w: helper(k * w)

@tp.custom_jvp
def soft(w):
    return np.sum(np.abs(w))

@soft.defjvp
def soft_rule(primals, tangents):
    return soft(primals[0]), 7.0 * np.sum(tangents[0])

@tp.jit
def decorated(w):
    return helper(w)

@tp.jit
def falling(w):
    return np.sum(w) if np.sum(w) < 1.0 else 2.0 * falling(w - 1.0)

def inside(w):
    return np.sum(tp.grad(loss)(w))
''',
}  # fmt: skip

FORMS = [
    "tp.grad(loss)",
    "tp.jit(tp.value_and_grad(loss))",
    "tp.grad(lambda w: helper(w) + 1.0)",
    "tp.grad(factory(2.0))",
    "tp.grad(functools.partial(scaled, 2.0))",
    "tp.grad(Layer(2.0).loss)",
    "tp.grad(Layer(2.0))",
    "tp.grad(soft)",
    "tp.hessian(decorated)",
    "decorated",
    "falling",
    "functools.partial(tp.grad(scaled, argnums=1), 2.0)",
    "tp.jit(inside)",
    "tp.vmap(tp.grad(loss))",
]

CELLS["third"] = "forms = [\n" + ",\n".join(FORMS) + "]\n"

LOAD = """
import pickle, sys
import numpy as np
forms, plain = pickle.load(sys.stdin.buffer)
found = []
for form in forms:
    try:
        w = np.array([1.0, 2.0])
        found.append(form(np.stack([w, w])) if "vmap" in repr(form) else form(w))
    except Exception as failed:
        found.append(str(failed))
import transpile as tp
try:
    tp.source(tp.grad(plain), 1.0)
except tp.TranspileError as failed:
    found.append(str(failed))
pickle.dump((found, tp.source(forms[0], w)), sys.stdout.buffer)
"""


@pytest.fixture
def main(monkeypatch):
    """A notebook: functions of ``__main__`` whose texts are in no file."""
    module = types.ModuleType("__main__")
    module.__dict__.pop("__file__", None)
    monkeypatch.setitem(sys.modules, "__main__", module)
    for name, text in CELLS.items():
        file = f"/tmp/ipykernel_1/{name}.py"
        monkeypatch.setitem(linecache.cache, file, (len(text), None, text.splitlines(keepends=True), file))
        exec(compile(text, file, "exec"), module.__dict__)
    exec("def plain(x): return x * x", module.__dict__)
    return module


@pytest.mark.numba
@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_second_process_runs_them(main, few):
    names = FORMS[::6] if few else FORMS
    forms = [form for form, name in zip(main.forms, FORMS) if name in names]
    data = cloudpickle.dumps((forms, main.plain))
    done = subprocess.run([sys.executable, "-c", LOAD], input=data, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    (*found, said), text = pickle.loads(done.stdout)
    w = np.array([1.0, 2.0])
    for form, name, got in zip(forms, names, found, strict=True):
        expected = form(np.stack([w, w])) if name.startswith("tp.vmap") else form(w)
        assert not isinstance(got, str), f"{name}: {got}"
        assert str(got) == str(expected), name
    assert "# first.py:19" in text  # where the line stood
    assert "[T401]" in said and "the source code of 'plain' is not available: cloudpickle" in said


def test_by_name_where_nothing_is_carried(main):
    """`multiprocessing` imports ``__main__`` again, and finds what is decorated under its name."""
    assert pickle.loads(pickle.dumps(main.decorated)) is main.decorated
    again = pickle.loads(pickle.dumps(tp.grad(main.loss)))
    assert again.__wrapped__ is main.loss and "loss" in tp.source(again, np.ones(2))
    kept = pickle.dumps(tp.grad(np.linalg.norm))
    assert b"ipykernel" not in kept and len(kept) < 300


def test_a_script_on_the_same_machine(main, tmp_path):
    """cloudpickle says where the script is; its text is taken if it compiles to the function."""
    file = tmp_path / "script.py"
    file.write_text("def cube(x):\n    return x * x * x\n")
    main.__file__ = str(file)
    exec(compile(file.read_text(), str(file), "exec"), main.__dict__)
    carried = cloudpickle.loads(cloudpickle.dumps(main.cube))
    assert "script.py:2" in tp.source(tp.grad(carried), 2.0)
    file.write_text("def cube(x):\n    return x * x * x * x\n")
    other = cloudpickle.loads(cloudpickle.dumps(main.cube))
    with pytest.raises(tp.TranspileError, match=r"\[T401\].*cloudpickle"):
        tp.source(tp.grad(other), 2.0)
