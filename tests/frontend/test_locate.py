"""From live functions to their source: every kind of callable, exact columns, clear refusals."""

from __future__ import annotations

import functools
import linecache
import math
import textwrap

import gast
import numpy as np
import pytest

from transpile.errors import TranspileError
from transpile.frontend.sources.locate import locate, unwrap

SCALE = 2.0


def found(fn):
    return locate(unwrap(fn).fn)


def text(fn):
    return gast.unparse(found(fn).node).strip()


def module(name, source):
    """A module as a notebook cell is: text in linecache, no file."""
    source = textwrap.dedent(source)
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {"__name__": "cell"}
    exec(compile(source, name, "exec"), namespace)
    return namespace


def plain(x):
    return x * SCALE


@functools.lru_cache(maxsize=None)
def cached(x):
    return x


class Model:
    def method(self, x):
        y = "é"
        return x * self.rate  # noqa: E702

    @staticmethod
    def static(x):
        return x

    @classmethod
    def klass(cls, x):
        return x

    def __call__(self, x):
        return -x


def test_a_function():
    here = found(plain)
    assert (here.qualname, here.first_line) == ("plain", plain.__code__.co_firstlineno)
    loc = here.loc(here.node.body[0].value)
    assert (loc.line, loc.col, loc.end_line, loc.end_col) == (here.first_line + 1, 12, here.first_line + 1, 21)
    assert loc.file == __file__


def test_decorators_count_from_the_first():
    assert found(cached).node.name == "cached"
    assert found(cached).node.lineno == cached.__wrapped__.__code__.co_firstlineno + 1


def test_columns_of_methods_and_of_lines_that_are_not_ascii():
    model = Model()
    target = unwrap(model.method)
    assert target.args == (model,)
    here = locate(target.fn)
    loc = here.loc(here.node.body[1])
    assert linecache.getline(loc.file, loc.line)[loc.col - 1 : loc.end_col - 1] == "return x * self.rate"


@pytest.mark.parametrize("fn", [Model.static, Model.klass, Model().klass, Model(), functools.partial(plain, 1)])
def test_other_callables(fn):
    assert isinstance(found(fn).node, gast.FunctionDef)


def test_what_is_bound():
    inner = functools.partial(Model().method, 3)
    target = unwrap(functools.partial(inner, k=1))
    assert [type(a).__name__ for a in target.args] == ["Model", "int"]
    assert target.kwargs == {"k": 1}


def test_a_numba_dispatcher_is_its_python_function():
    class Dispatcher:
        py_func = staticmethod(plain)

    Dispatcher.__module__ = "numba.core.registry"
    assert found(Dispatcher()).node.name == "plain"


# fmt: off
LAMBDAS = [lambda x: x * 1, lambda x: x * 1.0, lambda x: x * True, lambda x: x * SCALE, lambda x: x * math.pi, lambda y: y * 1]
NESTED = [lambda x: lambda y: x * y, lambda x: (lambda y: x + y)(x), lambda x, k=1: x * k, lambda *x: x, lambda **x: x]
TWICE = [lambda x: x + 1, lambda x: x + 1]
LONG = [lambda x: (x
                   + 1), lambda x: (x
                                    - 1)]
# fmt: on


@pytest.mark.parametrize(
    ("fn", "source"),
    [
        *zip(LAMBDAS, ["lambda x: x * 1", "lambda x: x * 1.0", "lambda x: x * True", "lambda x: x * SCALE",
                       "lambda x: x * math.pi", "lambda y: y * 1"]),
        *zip(NESTED, ["lambda x: lambda y: x * y", "lambda x: (lambda y: x + y)(x)", "lambda x, k=1: x * k", "lambda *x: x",
                      "lambda **x: x"]),
        (NESTED[0](1), "lambda y: x * y"),
        *zip(LONG, ["lambda x: x + 1", "lambda x: x - 1"]),
        *zip(TWICE, ["lambda x: x + 1"] * 2),
    ],
)  # fmt: skip
def test_lambdas_on_one_line_are_told_apart(fn, source):
    assert text(fn) == source


def test_closures_on_one_line():
    a, b = 1, 2
    first, second = (lambda x: x * a), (lambda x: x * b)
    assert [text(first), text(second)] == ["lambda x: x * a", "lambda x: x * b"]


def test_equal_lambdas_have_their_own_columns():
    import sys

    columns = [found(fn).loc(found(fn).node).col for fn in TWICE]
    assert columns == ([10, 27] if sys.version_info >= (3, 11) else [10, 10])


def test_a_notebook_cell():
    names = module(
        "<ipython-input-3-abc>",
        """
        import numpy as np
        def f(x):
            return np.sin(x)
        g = lambda x: f(x)
    """,
    )
    here = found(names["f"])
    assert (here.file, here.first_line) == ("<ipython-input-3-abc>", 3)
    assert text(names["g"]) == "lambda x: f(x)"


def test_a_file_that_does_not_parse_elsewhere():
    names = module(
        "<broken>",
        """
        class Pair:
            def method(self, x):
                return "é", x
    """,
    )
    lines = ["%matplotlib inline\n", *linecache.cache["<broken>"][2][1:]]
    linecache.cache["<broken>"] = (1, None, lines, "<broken>")
    here = found(names["Pair"].method)
    loc = here.loc(here.node.body[0].value.elts[1])
    assert (loc.line, loc.col) == (4, 21)


def refusal(fn):
    with pytest.raises(TranspileError) as caught:
        found(fn)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def generator(x):
    for i in range(3):
        yield x + i


async def coroutine(x):
    return x


@pytest.mark.parametrize(
    ("fn", "code"),
    [
        (len, "T402"), (np.add.reduce, "T402"), (str.upper, "T402"),
        (Model, "T411"), (int, "T411"), (3, "T411"), (None, "T411"), ("f", "T411"),
        (generator, "T104"), (coroutine, "T103"),
    ],
)  # fmt: skip
def test_what_has_no_source(fn, code):
    assert refusal(fn).code == code


def test_a_generator_is_refused_at_its_yield():
    loc = refusal(generator).loc
    assert linecache.getline(loc.file, loc.line)[loc.col - 1 : loc.end_col - 1] == "yield x + i"


def test_an_async_function_is_refused_at_its_head():
    loc = refusal(coroutine).loc
    assert linecache.getline(loc.file, loc.line)[loc.col - 1 : loc.end_col - 1] == "async def coroutine"


def test_no_source():
    namespace: dict = {}
    exec("def f(x): return x", namespace)
    assert refusal(namespace["f"]).code == "T401"


def test_source_that_changed(tmp_path):
    path = tmp_path / "mod.py"
    path.write_text("def f(x):\n    return x\n")
    namespace: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    path.write_text("import math\n\ndef f(x):\n    return x\n")
    assert refusal(namespace["f"]).code == "T412"
