"""The text on disk is what runs, or it is refused; whatever else makes code of a text goes on working."""

from __future__ import annotations

import doctest
import functools
import importlib
import importlib.machinery
import importlib.util
import linecache
import os
import subprocess
import sys
import textwrap
import types
from typing import Any

import numpy as np
import pytest

import transpile as tp
from transpile.frontend.sources.locate import locate

PROGRAM = '''
import functools
import numpy as np
from math import pi as PI

def plain(x):
    """What it does."""
    # the method of an imported name, of a parameter
    y = np.sin(x) + x.sum() * PI
    return [v for v in (y, 1.0)][0] if x is not None else 2

def defaults(x, *, scale=2.0, **rest):
    return x * scale

@functools.lru_cache(maxsize=None)
def decorated(x):
    return x * 3.0

def outer(a):
    b = a * 2.0
    def inner(x):
        nonlocal b
        return x * a + b
    return inner

inner = outer(2.0)
lone = lambda x: x * 4.0
pair = [lambda x: x * 5.0, lambda x: x * 6.0]

class Model:
    rate = 2.0

    def __private(self, x):
        return x * self.rate

    def method(self, x):
        return self.__private(x) + super().__hash__() * 0

    class Deeper:
        def far(self, x):
            return x * 7.0

try:
    import math
except ImportError:
    math = None
if math:
    def guarded(x):
        assert x is not None, "no x"
        return math.sin(x) in {1.0, 2.0, 3.0}

    from math import tau

def finds(x):
    return tau.real * x
'''
FUNCTIONS = {
    "plain": lambda m: m.plain,
    "defaults": lambda m: m.defaults,
    "decorated": lambda m: m.decorated.__wrapped__,
    "inner": lambda m: m.inner,
    "lone": lambda m: m.lone,
    "pair": lambda m: m.pair[1],
    "private": lambda m: m.Model._Model__private,
    "method": lambda m: m.Model.method,
    "far": lambda m: m.Model.Deeper.far,
    "guarded": lambda m: m.guarded,
    "finds": lambda m: m.finds,
}
EDITS = {
    "plain": [("np.sin", "np.cos"), ("x.sum()", "x.max()"), ("1.0)][0]", "1)][0]"), ("is not None", "is None")],
    "defaults": [("x * scale", "scale * x"), ("x * scale", "x - scale")],
    "decorated": [("x * 3.0", "x * 3"), ("x * 3.0", "x * -3.0")],
    "inner": [("x * a + b", "x * b + a"), ("nonlocal b", "b = 1")],
    "lone": [("x * 4.0", "x * 4.5"), ("x * 4.0", "x ** 4.0")],
    "pair": [("x * 6.0", "x * 6.5")],
    "private": [("x * self.rate", "x / self.rate")],
    "method": [("super().__hash__()", "self.__hash__()"), ("* 0", "* 1")],
    "far": [("x * 7.0", "x * 7.25")],
    "guarded": [("2.0, 3.0}", "2.0, 3.5}"), ("math.sin", "math.cos"), ('"no x"', '"no y"')],
    "finds": [("tau.real", "tau.imag")],
}  # fmt: skip


def imported(path, name, text, loader=None):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return imported(tmp_path / "written.py", "written", PROGRAM)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_written_is_found(module, name):
    locate(FUNCTIONS[name](module))


@pytest.mark.parametrize("name, old, new", [(n, *edit) for n, edits in EDITS.items() for edit in edits])
def test_an_edit_is_refused_and_a_reload_helps(module, name, old, new):
    with open(module.__file__, "w") as file:
        file.write(PROGRAM.replace(old, new, 1))
    with pytest.raises(tp.TranspileError, match="T412") as caught:
        locate(FUNCTIONS[name](module))
    assert "import it again" in str(caught.value)
    for other in FUNCTIONS:
        if other != name:
            locate(FUNCTIONS[other](module))  # of the same file, as it was
    module.__spec__.loader.exec_module(module)
    locate(FUNCTIONS[name](module))


def test_comments_and_names_elsewhere_do_not_matter(module):
    with open(module.__file__, "w") as file:
        file.write(PROGRAM.replace("# the method of", "# a method of").replace("Deeper", "Inside"))
    locate(module.plain)


def test_a_called_function_that_was_edited(tmp_path):
    text = "def top(x):\n    return below(x) * 2.0\n\n\ndef below(x):\n    return x * x\n"
    module = imported(tmp_path / "calls.py", "calls", text)
    (tmp_path / "calls.py").write_text(text.replace("x * x", "x + x"))
    with pytest.raises(tp.TranspileError, match="T412") as caught:
        tp.grad(module.top)(3.0)
    assert "called from 'top'" in str(caught.value)
    (tmp_path / "calls.py").write_text(text)
    assert tp.grad(module.top)(3.0) == 12.0


def test_code_that_was_replaced(module):
    code = module.plain.__code__
    module.plain.__code__ = code.replace(co_consts=tuple(3.0 if c == 1.0 else c for c in code.co_consts))
    with pytest.raises(tp.TranspileError, match="T412"):
        locate(module.plain)


def with_an_assert(x):
    assert x > 0 and [x] != [], f"{x} is not positive"
    return x * x


def test_asserts_that_pytest_has_rewritten():
    assert any("@py" in name for name in with_an_assert.__code__.co_varnames)
    locate(with_an_assert)
    assert tp.grad(with_an_assert)(3.0) == 6.0


class _Doubling(importlib.machinery.SourceFileLoader):
    """An import hook that changes what it imports, as run-time type checkers do."""

    def source_to_code(self, data, path, *, _optimization=-1):
        return compile(bytes(data).replace(b"2.0", b"2.0 * 1.0"), path, "exec", dont_inherit=True)


def test_an_import_hook(tmp_path):
    path, text = tmp_path / "hooked.py", "def f(x):\n    return x * 2.0\n"
    module = imported(path, "hooked", text, _Doubling("hooked", str(path)))
    locate(module.f)
    path.write_text(text.replace("x *", "x +"))
    with pytest.raises(tp.TranspileError, match="T412"):
        locate(module.f)


def cell(name, text, namespace, each=False):
    """Runs a notebook's cell: as one module, or each statement by itself, as IPython does."""
    import ast

    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    tree = ast.parse(text)
    for part in ([s] for s in tree.body) if each else [tree.body]:
        exec(compile(ast.Module(part, []), name, "exec", dont_inherit=True), namespace)


@pytest.mark.parametrize("each", [False, True])
def test_cells(each):
    namespace: dict[str, Any] = {}
    cell("<cell-1>", PROGRAM, namespace, each)
    names = types.SimpleNamespace(**namespace)
    for find in FUNCTIONS.values():
        locate(find(names))
    cell("<cell-2>", "def plain(x):\n    return np.sin(x)\n", namespace, each)
    locate(namespace["plain"])


def test_a_cell_that_does_not_parse_elsewhere():
    namespace: dict[str, Any] = {}
    cell("<cell-3>", PROGRAM, namespace)
    linecache.cache["<cell-3>"] = (1, None, ["%matplotlib\n", *PROGRAM.splitlines(keepends=True)[1:]], "<cell-3>")
    names = types.SimpleNamespace(**namespace)
    for name in ("plain", "inner", "lone", "far", "guarded", "finds"):
        locate(FUNCTIONS[name](names))
    lines = PROGRAM.replace("x * a + b", "x * b + a").replace("np.sin", "np.cos").splitlines(keepends=True)
    linecache.cache["<cell-3>"] = (1, None, ["%matplotlib\n", *lines[1:]], "<cell-3>")
    for name in ("plain", "inner"):
        with pytest.raises(tp.TranspileError, match="T412"):
            locate(FUNCTIONS[name](names))


def documented():
    """
    >>> def square(x):
    ...     return np.sum(x * x)
    >>> tp.grad(square)(np.array([1.0, 2.0]))
    array([2., 4.])
    """


def test_doctests():
    finder = doctest.DocTestFinder().find(documented, "documented", globs={"np": np, "tp": tp})
    for one in finder:
        assert doctest.DocTestRunner().run(one).failed == 0


def test_while_it_is_traced(module):
    """As coverage and debuggers do."""
    seen = []

    def trace(frame, event, arg):
        seen.append(event)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        module.lone(1.0)
        module.far = module.Model.Deeper().far(1.0)
        for find in FUNCTIONS.values():
            locate(find(module))
    finally:
        sys.settrace(before)
    assert seen


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_flags_of_the_future(tmp_path, future):
    text = future + "def f(x: float) -> float:\n    def g(y: float):\n        return y * x\n    return g(x)\n"
    locate(imported(tmp_path / "future.py", "future", text).f)


NEW = {
    (
        3,
        10,
    ): "def f(x, k=1):\n    match k:\n        case 1:\n            import math\n            return x\n    return math.pi\n",
    (3, 11): "def f(x):\n    try:\n        return x\n    except* ValueError:\n        pass\n",
    (3, 12): "def f[T](x: T) -> T:\n    type Y = T\n    return [y for y in (x, f'{x!r:>{3}}')][0]\n",
}


@pytest.mark.parametrize("version", [v for v in NEW if sys.version_info >= v], ids=str)
def test_newer_syntax(tmp_path, version):
    locate(imported(tmp_path / "newer.py", "newer", NEW[version]).f)


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["-O"], ["-OO"], ["-B"]])
def test_optimised(tmp_path, options):
    (tmp_path / "written.py").write_text(PROGRAM)
    run = """
        import written
        from transpile.frontend.sources.locate import locate
        for f in (written.plain, written.guarded, written.inner, written.lone, written.Model.method):
            locate(f)
    """
    for _ in range(2):  # the second time from the cache of bytecode
        subprocess.run([sys.executable, *options, "-c", textwrap.dedent(run)], check=True, cwd=tmp_path,
                       env={**os.environ, "PYTHONPATH": f"{tmp_path}:{tp.__path__[0]}/.."})  # fmt: skip


def test_wrappers(module):
    @functools.wraps(module.lone)
    def wrapper(*args):
        return module.lone(*args) * 2.0

    assert tp.grad(wrapper)(1.0) == 8.0
