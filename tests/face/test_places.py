"""Where a message says that it is from: cells of a notebook by their number, warnings at the caller's line."""

import inspect
import linecache
import sys
import types
import warnings

import numpy as np
import pytest

import transpile as tp

CELL = """def f(x):
    return np.sum(x[:2] * x)

def refused(x):
    with open("x") as file:
        return x

def inner(x):
    return refused(x)
"""


@pytest.fixture(params=["/tmp/ipykernel_7/1234.py", "<ipython-input-3-0123456789ab>"])
def notebook(request, monkeypatch):
    """A cell as IPython knows it, under either of the names that its versions give the text."""
    file = request.param
    monkeypatch.setitem(linecache.cache, file, (len(CELL), None, CELL.splitlines(keepends=True), file))
    names = types.SimpleNamespace(format_code_name=lambda name: ("Cell", "In[3]") if name == file else None)
    shell = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(compile=names))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    scope = {"np": np}
    exec(compile(CELL, file, "exec"), scope)
    return types.SimpleNamespace(**scope)


def test_cells_by_their_number(notebook):
    text = tp.source(tp.grad(notebook.f), np.ones(2))
    assert "# In[3]:2" in text and 'f"In[3]:2: sizes' in text and "ipy" not in text
    with pytest.raises(tp.TranspileError, match=r"^In\[3\]:5:10: error\[T106\]") as found:
        tp.grad(notebook.inner)(1.0)
    assert "called from 'inner' at In[3]:9" in str(found.value) and "ipy" not in str(found.value)


def kinked(x):
    return np.sum(np.abs(x))


def checked():
    tp.check_grads(kinked, (np.array([0.0, 1.0]),))


@pytest.mark.parametrize("modes", [("fwd",), ("rev",), ("fwd", "rev")])
@pytest.mark.parametrize("order", [1, 2])
def test_the_warning_of_check_grads_is_at_the_callers_line(modes, order):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        tp.check_grads(kinked, (np.array([0.0, 1.0]),), order=order, modes=modes)
    here = inspect.currentframe().f_lineno - 1
    assert found and {(w.filename, w.lineno) for w in found} == {(__file__, here)}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        checked()
    assert {(w.filename, w.lineno) for w in found} == {(__file__, checked.__code__.co_firstlineno + 1)}
