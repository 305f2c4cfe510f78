"""Name resolution, live and static, and types as text."""

from __future__ import annotations

import functools
import math
import sys
import textwrap
from collections import namedtuple
from dataclasses import dataclass
from math import pi as PI

import numpy as np
import numpy.linalg as la
import pytest
from numpy import sum as total

from transpile.aggregates import Node, Static, structure_text, walk_leaves
from transpile.errors import TranspileError
from transpile.frontend.resolve.annotations import annotation_tree, parse_arg
from transpile.frontend.resolve.bindings import Captured, Known, Literal, StaticClass, StaticValue, User
from transpile.frontend.resolve.resolve import LiveScope, StaticModule, attribute, open_function

WEIGHTS = np.ones(3)
COUNT = 3
FLAG = True
CONFIG = {"rate": 0.1, "mode": "relu", "w": np.zeros(2)}
AXES = ("x", None)
Point = namedtuple("Point", "x y")


def helper(x):
    return x


half = functools.partial(helper, 0.5)


def outer():
    inside = np.zeros(2)

    def inner(x):
        return inside, later

    if COUNT < 0:
        later = 1
    return inner


def lookup(name, fn=helper):
    return LiveScope(fn).lookup(name)


@pytest.mark.parametrize(
    ("binding", "name"),
    [
        (lambda: lookup("total"), "numpy.sum"), (lambda: lookup("PI"), "math.pi"),
        (lambda: lookup("la").attr("norm"), "numpy.linalg.norm"),
        (lambda: lookup("np").attr("abs"), "numpy.absolute"), (lambda: lookup("np").attr("linalg").attr("inv"), "numpy.linalg.inv"),
        (lambda: lookup("np").attr("float32"), "numpy.float32"), (lambda: lookup("abs"), "builtins.abs"),
        (lambda: lookup("math").attr("tanh"), "math.tanh"), (lambda: lookup("np").attr("pi"), "numpy.pi"),
        (lambda: lookup("len"), "builtins.len"), (lambda: lookup("ValueError"), "builtins.ValueError"),
        (lambda: lookup("functools").attr("partial"), "functools.partial"),
        (lambda: lookup("np").attr("random").attr("normal"), "numpy.random.normal"),
    ],
)  # fmt: skip
def test_known_names(binding, name):
    assert isinstance(binding(), Known)
    assert name in binding().names


def test_names_with_aliases():
    assert set(lookup("np").attr("abs").names) == {"numpy.absolute", "numpy.abs"}
    assert lookup("np").attr("max").name == "numpy.max"


def test_scipy_is_known_where_it_is_loaded():
    special = pytest.importorskip("scipy.special")

    def uses(x):
        return special.gammaln(x)

    assert LiveScope(uses).lookup("special").attr("gammaln").name == "scipy.special.gammaln"


def test_captured_values_are_read_again(monkeypatch):
    weights = lookup("WEIGHTS")
    assert isinstance(weights, Captured) and weights.path == "WEIGHTS"
    monkeypatch.setitem(globals(), "WEIGHTS", np.zeros(5))
    assert weights.read().shape == (5,)
    assert weights == lookup("WEIGHTS") and hash(weights) == hash(lookup("WEIGHTS"))
    assert weights != lookup("COUNT")
    config = lookup("CONFIG")
    assert config.child("item", "w").path == "CONFIG['w']"
    assert config.child("item", "w").read() is CONFIG["w"]


def test_closures():
    inner = outer()
    assert lookup("inside", inner).path == "inside"
    with pytest.raises(TranspileError) as caught:
        lookup("later", inner)
    assert caught.value.codes == ("T405",)


def test_static_and_user_values():
    assert lookup("FLAG") == StaticValue(True)
    assert lookup("AXES") == StaticValue(("x", None))
    assert lookup("Point") == StaticValue(Point)
    assert lookup("np").attr("newaxis") == StaticValue(None)
    assert lookup("helper") == User(helper)
    assert lookup("half") == User(half)


def test_attributes_of_objects():
    @dataclass
    class Model:
        w: np.ndarray
        mode: str = "relu"

        def __call__(self, x):
            return x

    model = Model(np.ones(2))

    def uses(x):
        return model

    bound = LiveScope(uses).lookup("model")
    assert attribute(bound, "w").path == "model.w"
    assert attribute(bound, "mode") == StaticValue("relu")
    assert attribute(bound, "nothing") is None
    opened = open_function(
        model,
    )
    assert opened.located.node.name == "__call__"
    assert opened.args[0].example is model


@pytest.mark.parametrize(
    ("name", "code", "hint"),
    [("WEIGHT", "T405", "WEIGHTS"), ("zzz", "T405", "")],
)
def test_unknown_names(name, code, hint):
    with pytest.raises(TranspileError) as caught:
        lookup(name)
    assert caught.value.codes == (code,)
    assert hint in caught.value.diagnostics[0].hint


def test_unknown_attribute():
    with pytest.raises(TranspileError) as caught:
        lookup("np").attr("summ")
    assert caught.value.codes == ("T416",)
    assert "'sum'" in caught.value.diagnostics[0].hint


def test_opening_a_partial():
    opened = open_function(half)
    assert opened.args[0].read() == 0.5

    def with_defaults(x, n=3, *, mode="a", w=WEIGHTS):
        return x

    defaults = open_function(with_defaults).defaults
    assert defaults["n"] == StaticValue(3)
    assert defaults["mode"] == StaticValue("a")
    assert isinstance(defaults["w"], Captured)


# ---------------------------------------------------------------------------------------------------- static


MAIN = """
    import numpy as np
    import numpy.linalg as la, math
    from numpy import sum as s
    from scipy.special import gammaln
    import sibling, package.part
    from sibling import helper, G as GRAVITY, missing
    from package import part as p
    from .near import close
    from math import *
    from collections import namedtuple
    from dataclasses import dataclass
    from typing import NamedTuple
    import functools, numba, nowhere

    A = np.array([[1.0, 2.0], [3.0, 4.0]])
    B = -2 * A[0] * math.pi + GRAVITY
    MODE = "relu"
    NOTHING = None
    NAMES = ("a", None)
    READ = open("secret").read()
    GROWN = [1.0]
    GROWN.append(2.0)
    SET = [1.0]
    SET[0] = 2.0
    TWICE = 1.0
    TWICE = TWICE * 2
    COUNTER = 0
    X, (Y, Z) = 1.0, (2.0, 3.0)
    DTYPE = np.float32
    alias = np.tanh
    sigmoid = lambda x: 1 / (1 + np.exp(-x))
    half = functools.partial(helper, n=0.5)
    fast = numba.njit(helper)
    Point = namedtuple("Point", "x y", defaults=[0.0])
    if X > 2:
        BRANCH = 1
    try:
        import something
    except ImportError:
        something = None

    @dataclass
    class Params:
        w: float
        b: float = 0.0

        def norm(self):
            return self.w

    class Pair(NamedTuple):
        a: float
        b: float

    @numba.njit(cache=True)
    def f(x, k=GRAVITY, *, n=2):
        return x

    def count(x):
        global COUNTER
        COUNTER += 1

    def g(x):
        yield x

    raise SystemExit("a module that is transformed statically is never run")
"""


@pytest.fixture
def main(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return str(path)

    write(
        "sibling.py",
        "from math import pi\nG = 9.81\ndef helper(x, n=2):\n    return x * n * pi\nraise SystemExit('run')",
    )
    write("near.py", "def close(x):\n    return x")
    write("package/__init__.py", "raise SystemExit('run')")
    write("package/part.py", "H = 2.5")
    return StaticModule.read(write("main.py", MAIN))


@pytest.mark.parametrize(
    ("name", "dotted"),
    [("s", "numpy.sum"), ("gammaln", "scipy.special.gammaln"), ("alias", "numpy.tanh"), ("tanh", "math.tanh"),
     ("len", "builtins.len"), ("pi", "math.pi"), ("DTYPE", "numpy.float32")],
)  # fmt: skip
def test_static_known_names(main, name, dotted):
    assert main.scope.lookup(name).name == dotted


def test_static_modules(main):
    scope = main.scope
    assert scope.lookup("np").attr("abs").name == "numpy.absolute"
    assert scope.lookup("np").attr("linalg").attr("norm").name == "numpy.linalg.norm"
    assert scope.lookup("np").attr("newaxis") == StaticValue(None)
    assert scope.lookup("la").attr("inv").name == "numpy.linalg.inv"
    assert scope.lookup("sibling").attr("G").value == 9.81
    assert scope.lookup("package").attr("part").attr("H").value == 2.5
    assert scope.lookup("p").attr("H").value == 2.5
    assert scope.lookup("close").target.qualname == "close"


def test_static_constants(main):
    scope = main.scope
    assert isinstance(scope.lookup("A"), Literal)
    np.testing.assert_array_equal(scope.lookup("A").value, [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(scope.lookup("B").value, np.array([1.0, 2.0]) * -2 * math.pi + 9.81)
    assert [scope.lookup(n).value for n in "XYZ"] == [1.0, 2.0, 3.0]
    assert scope.lookup("MODE") == StaticValue("relu")
    assert scope.lookup("NOTHING") == StaticValue(None)
    assert scope.lookup("NAMES") == StaticValue(("a", None))
    assert scope.lookup("GRAVITY").value == 9.81


@pytest.mark.parametrize(
    ("name", "code"),
    [("READ", "T406"), ("SET", "T406"), ("TWICE", "T406"), ("COUNTER", "T406"), ("BRANCH", "T406"), ("GROWN", "T406"),
     ("nowhere", "T410"), ("missing", "T405"), ("unheard", "T405")],
)  # fmt: skip
def test_static_refusals(main, name, code):
    with pytest.raises(TranspileError) as caught:
        main.scope.lookup(name)
    assert caught.value.codes == (code,)


def test_static_functions(main):
    f = main.function("f")
    opened = open_function(f)
    assert opened.located.node.name == "f"
    assert opened.defaults["k"].value == 9.81
    assert opened.defaults["n"].value == 2
    assert f.kind == "plain"
    assert main.scope.lookup("half").target.kwargs["n"].value == 0.5
    assert main.scope.lookup("fast").target.node.name == "helper"
    assert main.function("sigmoid").located.is_lambda
    assert main.function("Params.norm").qualname == "Params.norm"


def test_static_classes(main):
    point, params, pair = (main.scope.lookup(n).value for n in ("Point", "Params", "Pair"))
    assert all(isinstance(c, StaticClass) for c in (point, params, pair))
    assert [c.kind for c in (point, params, pair)] == ["namedtuple", "dataclass", "namedtuple"]
    assert [f[0] for f in params.fields] == ["w", "b"]
    assert list(params.methods) == ["norm"]
    assert main.scope.lookup("Params").value is params


@pytest.mark.parametrize(("name", "code"), [("nope", "T404"), ("A", "T411"), ("Params.nope", "T404"), ("g", "T104")])
def test_functions_that_cannot_be_opened(main, name, code):
    with pytest.raises(TranspileError) as caught:
        open_function(main.function(name))
    assert caught.value.codes == (code,)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(TranspileError) as caught:
        StaticModule.read(str(tmp_path / "none.py"))
    assert caught.value.codes == ("T413",)
    bad = tmp_path / "bad.py"
    bad.write_text("x = 1\ndef f(:\n    pass\n")
    with pytest.raises(TranspileError) as caught:
        StaticModule.read(str(bad))
    (found,) = caught.value.diagnostics
    assert (found.code, found.loc.line, found.loc.col) == ("T403", 2, 7)


def test_nothing_is_imported(main):
    before = set(sys.modules)
    for name in list(main.entries):
        try:
            main.scope.lookup(name)
        except TranspileError:
            pass
    assert {m for m in set(sys.modules) - before if not m.startswith("transpile")} == set()


# ------------------------------------------------------------------------------------------------ types as text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x=float64[n,d]", "float64[n, d]"), ("x = float32", "float32"), ("x=float", "float"), ("x=float64[]", "float64"),
        ("x=int64[2*n+1, 3]", "int64[2 * n + 1, 3]"), ("x=float64[n - 1]", "float64[n - 1]"), ("x=bool", "bool"),
    ],
)  # fmt: skip
def test_arg(text, shown):
    name, leaf = parse_arg(text)
    assert (name, str(leaf.type)) == ("x", shown)


def test_arg_of_trees_and_literals():
    name, tree = parse_arg("p={'w': float64[n], 'b': (float, None)}")
    assert structure_text(tree) == "{'w': *, 'b': (*, None)}"
    assert parse_arg("mode='relu'")[1] == Static("relu")
    assert parse_arg("axis=-1")[1] == Static(-1)


@pytest.mark.parametrize(
    "text", ["x", "=float", "x=", "x=foo", "x=float64[n", "x=float64[-1]", "x=float64[n:2]", "x y=float"]
)
def test_arg_that_cannot_be_read(text):
    with pytest.raises(TranspileError) as caught:
        parse_arg(text)
    assert caught.value.codes == ("T414",)


ANNOTATED = """
    import numpy as np
    import jaxtyping as jt
    from jaxtyping import Float, Float32 as F32
    from typing import NamedTuple, Optional
    class Net(NamedTuple):
        w: Float[np.ndarray, "n d"]
        b: float
    def f(
        a: float, b: int, c: bool, d: Float[np.ndarray, "n 3"], e: F32[np.ndarray, "2*n+1"], f: jt.Int[np.ndarray, ""],
        g: "Float[np.ndarray, 'n _ _']", h: Net, i: tuple[float, np.float32], j: None, k: Float[jt.Array, "rows=4 n"],
        bad1: np.ndarray, bad2, bad3: Float[np.ndarray, "..."], bad4: list[float], bad5: Optional[float], bad6: "x[",
        bad7: tuple[float, ...],
    ): pass
"""


def annotation(name):
    module = StaticModule("annotated.py", textwrap.dedent(ANNOTATED))
    fn = module.function("f")
    arg = next(a for a in fn.node.args.args if a.id == name)
    return annotation_tree(arg.annotation, fn.scope, name, module.loc(arg))


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("a", ["float"]), ("b", ["int"]), ("c", ["bool"]), ("d", ["float64[n, 3]"]), ("e", ["float32[2 * n + 1]"]),
        ("f", ["int64"]), ("g", ["float64[n, g_1, g_2]"]), ("h", ["float64[n, d]", "float"]),
        ("i", ["float", "float32"]), ("j", []), ("k", ["float64[4, n]"]),
    ],
)  # fmt: skip
def test_annotations(name, types):
    assert [str(leaf.type) for leaf in walk_leaves(annotation(name))] == types


def test_annotation_of_a_named_tuple():
    tree = annotation("h")
    assert isinstance(tree, Node) and (tree.kind, tree.keys, tree.cls.name) == ("namedtuple", ("w", "b"), "Net")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("bad1", "T415"),
        ("bad2", "T415"),
        ("bad3", "T414"),
        ("bad4", "T414"),
        ("bad5", "T414"),
        ("bad6", "T414"),
        ("bad7", "T415"),
    ],
)
def test_annotations_that_cannot_be_used(name, code):
    with pytest.raises(TranspileError) as caught:
        annotation(name)
    (found,) = caught.value.diagnostics
    assert found.code == code and 9 <= found.loc.line <= 13
    assert repr(name)[1:-1] in found.message or code == "T414"


_ = (la, total, PI)
