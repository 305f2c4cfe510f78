"""The disk cache: what a call is made of is found again exactly while all that it rests on is the same, and nothing that happens
to its files makes a call fail or lie."""

import functools
import importlib
import linecache
import os
import pickle
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import transpile as tp
from transpile.driver import runners
from transpile.driver.cache import cached_calls, cached_kernels, directory

pytestmark = pytest.mark.numba
ROOT = str(Path(__file__).parents[2])


# ------------------------------------------------------------------------------------ another process, in this one


class Project:
    """A folder of modules. `load` imports them as a new process would; ``lifted`` counts what was not found on disk."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.names, self.lifted = folder, set(), 0
        monkeypatch.setenv("TRANSPILE_CACHE_DIR", str(folder / "cache"))
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.setattr(
            cached_calls, "_is_current", lambda: True
        )  # somebody may be editing the sources of transpile
        lift = runners.lift

        def counted(request, target):
            self.lifted += 1
            return lift(request, target)

        monkeypatch.setattr(runners, "lift", counted)

    def write(self, **texts):
        for name, text in texts.items():
            self.names.add(name)
            (self.folder / f"{name}.py").write_text(textwrap.dedent(text))

    def load(self, name="main"):
        for module in self.names:
            sys.modules.pop(module, None)
        importlib.invalidate_caches()
        linecache.clearcache()
        for path in self.folder.glob("__pycache__/*.pyc"):
            path.unlink()  # a file that is edited within a second has the old time
        return importlib.import_module(name)

    def close(self):
        for module in self.names:
            sys.modules.pop(module, None)


@pytest.fixture
def project(tmp_path, monkeypatch):
    made = Project(tmp_path, monkeypatch)
    yield made
    made.close()


def run(project, *args, name="f", transform=tp.grad, **kwargs):
    """The result in a new process, and whether it was found on disk."""
    before = project.lifted
    out = tp.jit(transform(getattr(project.load(), name)))(*args, **kwargs)
    return out, project.lifted == before


SIMPLE = "def f(x):\n    return x * x * x\n"
HELPED = """
from other import double, Settings
import other as o

RATE = 3.0
MODE = "square"
TABLE = {"rate": 2.0, "steps": 2, "count": 2}


def f(x):
    y = double(x) * RATE if MODE == "square" else x
    for _ in range(TABLE["steps"]):
        y = y * x
    y += sum([x] * TABLE["count"])
    return o.scaled(y, TABLE["rate"]) + Settings(x).loss()
"""
OTHER = """
from dataclasses import dataclass


def double(x, factor=2.0):
    return factor * x


def scaled(x, by):
    return x * by + abs(x)


class Base:
    def loss(self):
        return self.x * self.weight()

    def weight(self):
        return 5.0


@dataclass
class Settings(Base):
    x: float
"""
MORE = OTHER.replace("x * by", "x * by * x").replace("factor * x", "factor * x * x")
OVERRIDDEN = """    x: float

    def weight(self):
        return 7.0
"""


def slope(f, x):
    return pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6)


@pytest.mark.parametrize(
    "module, old, new",
    [
        ("other", "return factor * x", "return factor * x + x"),
        ("other", "factor=2.0", "factor=4.0"),
        ("other", "return 5.0", "return 6.0"),
        ("other", "    x: float\n", OVERRIDDEN),
        ("other", "def double", "def abs(x):\n    return 9.0 * x\n\n\ndef double"),
        ("main", 'MODE = "square"', 'MODE = "line"'),
        ("main", '"count": 2', '"count": 3'),
        ("main", "import other as o", "import more as o"),
        ("main", "from other import double", "from more import double"),
    ],
)
def test_what_a_call_rests_on_is_edited(project, module, old, new):
    """In this module and in others: a callee, a default, a method, a derived class, a name of Python's own, a flag, a number
    that had to be known, another module under the same name."""
    texts = {"main": HELPED, "other": OTHER, "more": MORE}
    project.write(**texts)
    first, found = run(project, 1.5)
    assert not found and run(project, 1.5) == (first, True)
    assert old in texts[module]
    project.write(**{module: texts[module].replace(old, new)})
    changed, found = run(project, 1.5)
    assert changed == slope(project.load().f, 1.5) and changed != first and not found
    assert run(project, 1.5) == (changed, True)
    project.write(**texts)
    assert run(project, 1.5) == (first, True)  # both are kept


def test_data_is_read_and_not_rested_on(project):
    project.write(main=HELPED, other=OTHER)
    first, _ = run(project, 1.5)
    project.write(
        main=HELPED.replace("RATE = 3.0", "RATE = 4.0").replace('"rate": 2.0, "steps": 2', '"rate": 8.0, "steps": 3')
    )
    changed, found = run(project, 1.5)
    assert found and changed != first and changed == slope(project.load().f, 1.5)


def test_data_of_another_type(project):
    text = "import numpy as np\nTABLE = {}\ndef f(x):\n    return np.sum(x * TABLE)\n"
    for table in (
        "np.arange(3.0)",
        "np.arange(3.0) + 1",
        "np.arange(3)",
        "np.ones((1, 3))",
        "np.float32(2)",
        "2.0",
        "2",
    ):
        project.write(main=text.format(table))
        (out, _), g = run(project, np.ones(3)), tp.grad(project.load().f)(np.ones(3))
        np.testing.assert_array_equal(out, g)
    project.write(main=text.format("np.arange(3.0) * 5"))
    out, found = run(project, np.ones(3))
    assert found and list(out) == [0.0, 5.0, 10.0]


def test_an_edit_that_moves_the_function(project):
    """The lines stand in the messages."""
    text = "import numpy as np\ndef f(x, k):\n    return x[k] * x[0]\n"
    project.write(main=text)
    for above in ("", "# a comment\n", ""):
        project.write(main=above + text)
        with pytest.raises(IndexError, match=rf"main.py:{3 + bool(above)}:"):
            run(project, np.ones(3), 7)


@pytest.mark.parametrize(
    "again",
    [
        (np.ones(3, np.float32),), (np.ones((3, 1)),), (np.ones((1, 3)),), (np.ones(1),), (np.float64(1.0),), (1.0,),
        (np.array(1.0),), ([np.ones(3)],), ((np.ones(3),),), ({"a": np.ones(3)},), ({"b": np.ones(3)},),
    ],
)  # fmt: skip
def test_arguments_of_another_kind(project, again):
    text = """
        import numpy as np
        def f(x):
            if isinstance(x, dict):
                x = x["a"] if "a" in x else x["b"] * 2
            elif isinstance(x, (list, tuple)):
                x = x[0]
            return np.sum(x * x)
    """
    project.write(main=text)
    run(project, np.ones(3))
    out, found = run(project, *again)
    wanted = tp.grad(project.load().f)(*again)
    assert not found and repr(out) == repr(wanted)
    assert repr(run(project, *again)) == repr((wanted, True))
    assert run(project, np.ones(3))[1]


def test_values_of_integers_and_static_arguments(project):
    text = "def f(x, n, k, mode):\n    y = [x] * n\n    return sum(y) ** 2 * k if mode == 'a' else x * k\n"
    project.write(main=text)
    seen = set()
    for case in [(1.5, 2, 3, "a"), (1.5, 3, 3, "a"), (1.5, 2, 4, "a"), (1.5, 2, 3, "b"), (1.5, 2, 3, "a")]:
        out, found = run(project, *case)
        assert out == pytest.approx(tp.grad(project.load().f)(*case))
        assert found == ((case[1], case[3]) in seen)  # k is no value that had to be known
        seen.add((case[1], case[3]))
    static = functools.partial(tp.jit, static_argnums=2)
    for k in (3, 4, 3):
        before = project.lifted
        assert static(tp.grad(project.load().f))(1.5, 2, k, "a") == pytest.approx(8 * 1.5 * k)
    assert project.lifted == before


def test_options_are_part_of_it(project):
    project.write(main=SIMPLE)
    f = project.load().f
    for transform in (tp.grad, tp.value_and_grad, tp.jacfwd, tp.hessian):
        assert run(project, 2.0, transform=transform)[1] is False
    before = project.lifted
    tp.jit(tp.grad(f), fastmath=False)(2.0)
    tp.jit(tp.grad(f), cache=False)(2.0)
    assert project.lifted == before + 2
    assert run(project, 2.0, transform=tp.hessian) == (12.0, True)


FACTORY = """
    import numpy as np

    def make(mode, scale):
        def f(x):
            return x * x * scale if mode == "square" else x * scale
        return f

    square, line, steep = make("square", 2.0), make("line", 2.0), make("line", 5.0)
    one, two = lambda x: x * x, lambda x: x * x * x
"""


def test_functions_of_one_name_and_text(project):
    """Closures are told apart by what they hold, lambdas by where they stand; numbers that they hold are read."""
    project.write(main=FACTORY)
    wanted = {"square": 6.0, "line": 2.0, "steep": 5.0, "one": 3.0, "two": 6.75}
    for attempt in range(2):
        for name, value in wanted.items():
            out, found = run(project, 1.5, name=name)
            assert out == value and found == (attempt == 1 or name == "steep"), name


BOUND = """
    import functools
    import numpy as np
    import transpile as tp

    class Model:
        squared = False

        def __init__(self, rate, name):
            self.rate, self.name = rate, name

        def loss(self, x):
            y = x * self.rate + (x * x if self.squared else 0.0)
            return y if self.name == "a" else 2.0 * y

        def __call__(self, x):
            return self.loss(x) ** 2

    def power(n, x, scale=1.0):
        return scale * x**n

    model, other = Model(2.0, "a"), Model(2.0, "b")
    method, second, called = model.loss, other.loss, other
    partial = functools.partial(power, 3)
    keyword = functools.partial(power, 2, scale=5.0)

    @tp.custom_jvp
    def clipped(x):
        return x * 1.0

    @clipped.defjvp
    def rule(primals, tangents):
        return clipped(primals[0]), tangents[0] * 7.0

    def with_rule(x):
        return clipped(x) * 2.0

    inner = tp.grad(lambda x: x * x * x)

    def nested(x):
        return inner(x) * x

    _, unravel = tp.tree.ravel_pytree({"w": np.ones(2), "b": 1.0})

    def with_tree(x):
        p = unravel(np.array([x, x * x, x]))
        return p["w"][0] * p["b"]
"""


@pytest.mark.parametrize(
    "name", ["method", "second", "called", "partial", "keyword", "with_rule", "nested", "with_tree"]
)
def test_callables_of_other_kinds(project, name):
    project.write(main=BOUND)
    first, found = run(project, 1.5, name=name)
    assert not found and first == pytest.approx(tp.grad(getattr(project.load(), name))(1.5))
    assert run(project, 1.5, name=name) == (first, True)
    edits = {"with_rule": ("* 7.0", "* 8.0"), "nested": ("x * x * x)", "x * x)"), "partial": ("power, 3", "power, 2")}
    edits["with_tree"] = ('"w": np.ones(2), "b": 1.0', '"w": np.ones(1), "v": 1.0, "b": 1.0')
    edits["keyword"] = ("scale * x**n", "scale * x**n * n")
    old, new = edits.get(name, ("squared = False", "squared = True"))
    project.write(main=BOUND.replace(old, new))
    changed, found = run(project, 1.5, name=name)
    assert not found and changed != first and changed == pytest.approx(tp.grad(getattr(project.load(), name))(1.5))


STATIC = """
import enum
import numpy as np


class Mode(enum.Enum):
    LINE = 1
    SQUARE = 2


class Options:
    mode = Mode.LINE
    dtype = np.float64
    names = frozenset({"a", "b", "c"})
    shift = None
    layers = ("one", "two")


def f(x):
    y = x * x if Options.mode is Mode.SQUARE else x * 3.0
    y = y * 2.0 if "b" in Options.names else y
    y = y + x * len(Options.layers)
    return float(np.sum(np.full(2, 1.0, dtype=Options.dtype) * y)) if Options.shift is None else y
"""


def test_values_that_are_built_in(project):
    """Members of an enum, dtypes, sets, None, texts of a class."""
    project.write(main=STATIC)
    first, found = run(project, 1.5)
    assert not found and run(project, 1.5) == (first, True)
    edits = {
        "mode = Mode.LINE": "mode = Mode.SQUARE", '"a", "b", "c"': '"a", "c"', "shift = None": "shift = 0.0",
        '("one", "two")': '("one", "two", "three")', "dtype = np.float64": "dtype = np.float32",
    }  # fmt: skip
    for old, new in edits.items():
        project.write(main=STATIC.replace(old, new))
        out, found = run(project, 1.5)
        assert out == tp.grad(project.load().f)(1.5) and not found, old
    project.write(main=STATIC.replace('"a", "b", "c"', '"c", "b", "a"'))
    assert run(project, 1.5) == (first, True)


@pytest.mark.slow
def test_what_a_function_means_does_not_depend_on_the_hash_seed(tmp_path):
    (tmp_path / "main.py").write_text(STATIC + "\ndef g(x):\n    return f(x) if x in {'p', 'q', 'r', 's'} else x\n")
    means = "from transpile.driver.cache.fingerprint import likeness"
    program = f"import main; {means}; print(likeness([main.f, main.g, main.Options]))"
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    found = {
        subprocess.run(
            [sys.executable, "-c", program], env={**env, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in "123"
    }
    assert len(found) == 1


def test_what_is_patched_at_run_time(project, monkeypatch):
    """An entry of the patched function is none of the function, nor the other way round."""
    project.write(main=HELPED, other=OTHER)
    first, _ = run(project, 1.5)
    main = project.load()
    monkeypatch.setattr(main, "double", lambda x: x * x * x)
    patched = tp.jit(tp.grad(main.f))(1.5)
    assert patched == slope(main.f, 1.5) and patched != first
    assert run(project, 1.5) == (first, True)


def test_sizes_that_were_equal_are_others(project):
    """What is compiled may take sizes that were equal for one: from disk, too, it is compiled again where they are not."""
    project.write(main="import numpy as np\ndef f(x, y):\n    return np.sum(x) * np.sum(y * y)\n")
    sizes = [((3, 3), (3,)), ((3, 4), (3,)), ((4, 4), (4,)), ((2, 5), (5,)), ((1, 5), (5,)), ((3, 3), (3,))]
    for _ in range(2):
        for shapes in sizes:
            args = [np.random.default_rng(0).normal(size=n) for n in shapes]
            out, _ = run(project, *args)
            np.testing.assert_allclose(out, tp.grad(project.load().f)(*args), rtol=1e-14)
    assert run(project, *args)[1]


def test_functions_without_a_module_file(project, monkeypatch):
    """Cells of a notebook: their text is in `linecache`, their names in a namespace that no module has."""
    text = "RATE = 2.0\ndef g(x):\n    return x * RATE\ndef f(x):\n    return g(x) * x if MODE == 'a' else x\n"

    def cell(text, mode):
        file = "<cell 7>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        names = {"__name__": "a_notebook", "MODE": mode}
        exec(compile(text, file, "exec"), names)
        return names["f"]

    for text, mode, wanted, found in [
        (text, "a", 6.0, False), (text, "a", 6.0, True), (text, "b", 1.0, False), (text.replace("2.0", "5.0"), "a", 15.0, True),
        (text.replace("x * RATE", "x * RATE + x"), "a", 9.0, False),
    ]:  # fmt: skip
        before = project.lifted
        assert tp.jit(tp.grad(cell(text, mode)))(1.5) == wanted and (project.lifted == before) == found


def test_a_numba_that_was_not_tried(project, monkeypatch):
    """Its private names are not used: the ordinary way, with Numba's own cache."""
    from transpile_runtime.compiled import objects

    monkeypatch.setattr(objects, "TRIED", ())
    forget()
    text = SIMPLE + "\ndef h(x, k):\n    x[k] = 7.0\n    return x * 2.0\n"
    project.write(main=text)
    assert [run(project, 2.0) for _ in range(2)] == [(12.0, False)] * 2
    assert not list((project.folder / "cache").glob("*.calls")) and list((project.folder / "cache").glob("**/*.nbc"))
    g = tp.jit(project.load().h)
    for x in (np.ones(3), np.ones(6)[::2], np.ones(1), np.ones(3)):
        for _ in range(3):
            assert list(g(x, 0)) == [14.0] + [2.0] * (len(x) - 1) and x[0] == 7.0
    with pytest.raises(IndexError, match="index 5 is out of range for size 3"):
        g(np.ones(3), 5)


def test_a_flag_that_changes_and_changes_back(project):
    project.write(main=HELPED, other=OTHER)
    main = project.load()
    g = tp.jit(tp.grad(main.f))
    first = g(1.5)
    main.MODE = "line"
    second = g(1.5)
    lifted = project.lifted
    for mode, wanted in (("square", first), ("line", second)) * 3:
        main.MODE = mode
        assert g(1.5) == wanted
    assert project.lifted == lifted


def test_source_that_is_not_what_runs(project):
    """The file was edited after it was imported: lifting reads the file, so it is refused, and nothing is kept."""
    text = "def f(x):\n    return g(x)\n\ndef g(x):\n    return x * 2.0\n"
    project.write(main=text)
    f = project.load().f
    project.write(main=text.replace("2.0", "3.0"))
    linecache.clearcache()
    with pytest.raises(tp.TranspileError, match="T412"):
        tp.jit(tp.grad(f))(1.0)
    assert not list((project.folder / "cache").glob("*.calls"))
    project.write(main=text)
    assert run(project, 1.0) == (2.0, False)


def test_what_has_no_name_is_compiled_each_time(project):
    """An object whose content nobody can describe: a generator of random numbers as a flag."""
    project.write(
        main="import numpy as np\nR = np.random.default_rng(0)\ndef f(x):\n    return x if R is None else x * x\n"
    )
    assert [run(project, 2.0) for _ in range(2)] == [(4.0, False)] * 2


def test_structures_are_given_back(project):
    text = """
        from dataclasses import dataclass
        from typing import Any, NamedTuple

        @dataclass
        class Layer:
            w: Any
            name: str

        class Net(NamedTuple):
            first: Layer
            rest: list

        def make(scale):
            return Net(Layer(scale * 2.0, "a"), [{"b": scale, "f": None}, (scale, 3)])

        def f(net):
            w = net.first.w ** 2 * net.rest[0]["b"] * net.rest[1][0]
            return Net(Layer(w, "b"), [{"c": w + net.rest[1][1], "f": None}])
    """
    project.write(main=text)
    for found in (False, True):
        main = project.load()
        lifted = project.lifted
        g = tp.jit(main.f)
        for scale in (1.5, 2.5, 3.5):
            assert g(main.make(scale)) == main.f(main.make(scale))
        assert (project.lifted == lifted) == found


# ------------------------------------------------------------------------------------------------------ the files


def forget():
    """As in a process that has loaded nothing."""
    cached_kernels._loaded.clear()


DAMAGE = {
    "other bytes": lambda data: data[:-5] + b"wrong",
    "cut off": lambda data: data[:40],
    "empty": lambda data: b"",
    "another kind of file": lambda data: b"import os\n",
    "no pickle": lambda data: _sealed(b"not a pickle"),
    "another pickle": lambda data: _sealed(b"\x80\x04N."),  # None
}


def _sealed(content):
    directory.write("sealed", content)
    return (directory.folder() / "sealed").read_bytes()


@pytest.mark.parametrize("suffix", ["calls", "kernel"])
@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_and_foreign_files(project, suffix, kind):
    project.write(main=SIMPLE)
    run(project, 2.0)
    for path in (project.folder / "cache").glob(f"*.{suffix}"):
        path.write_bytes(DAMAGE[kind](path.read_bytes()))
    forget()
    assert run(project, 2.0) == (12.0, False)
    forget()
    assert run(project, 2.0) == (12.0, True)  # what was damaged has been replaced


def test_each_file_alone_is_missing(project):
    project.write(main=SIMPLE)
    run(project, 2.0)
    for path in list((project.folder / "cache").iterdir()):
        data = path.read_bytes()
        path.unlink()
        forget()
        assert run(project, 2.0) == (12.0, False), path
        path.write_bytes(data)


def test_an_entry_of_other_versions(project, monkeypatch):
    project.write(main=SIMPLE)
    run(project, 2.0)
    monkeypatch.setattr(cached_calls, "environment", lambda: "another processor")
    cached_calls._versions.cache_clear()
    assert run(project, 2.0) == (12.0, False)
    monkeypatch.undo()
    cached_calls._versions.cache_clear()


def test_a_kernel_that_calls_what_is_not_there(project):
    """LLVM ends the process at a symbol that nobody registered: such a kernel is compiled again."""
    project.write(main=SIMPLE)
    forget()
    run(project, 2.0)
    (path,) = (project.folder / "cache").glob("*.kernel")
    kept = pickle.loads(directory.read(path.name))
    kept["object"]["symbols"].append("a_function_that_no_library_has")
    directory.write(path.name, pickle.dumps(kept))
    forget()
    assert run(project, 2.0) == (12.0, False)


@pytest.mark.parametrize("name", ["TRANSPILE_DUMP", "TRANSPILE_TIMES", "TRANSPILE_VERIFY"])
def test_passes_that_are_watched_run(project, monkeypatch, name):
    project.write(main=SIMPLE)
    assert run(project, 2.0) == (12.0, False) and run(project, 2.0) == (12.0, True)
    for value, is_found in (("1", False), ("0", True), ("", True)):
        monkeypatch.setenv(name, value)
        assert run(project, 2.0) == (12.0, is_found)


def test_code_of_the_other_writer(project, monkeypatch):
    """A call that was compiled by one of the two writers is not found where the other is asked for."""
    project.write(main=SIMPLE)
    assert run(project, 2.0) == (12.0, False) and run(project, 2.0) == (12.0, True)
    try:
        for value, is_found in (("0", False), ("0", True), ("1", True)):
            monkeypatch.setenv("TRANSPILE_DIRECT", value)
            cached_calls._versions.cache_clear()
            assert run(project, 2.0) == (12.0, is_found)
    finally:
        cached_calls._versions.cache_clear()


def test_the_directory_is_private(tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSPILE_CACHE_DIR", str(tmp_path / "a" / "b"))
    assert directory.folder() == tmp_path / "a" / "b"
    assert stat.S_IMODE(os.stat(tmp_path / "a" / "b").st_mode) == 0o700
    assert directory.write("x", b"1") and directory.read("x") == b"1"
    assert stat.S_IMODE(os.stat(tmp_path / "a" / "b" / "x").st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722])
def test_a_directory_that_others_can_write_to(tmp_path, monkeypatch, mode):
    wanted = tmp_path / "open"
    wanted.mkdir()
    wanted.chmod(mode)
    monkeypatch.setenv("TRANSPILE_CACHE_DIR", str(wanted))
    directory._usable.cache_clear()
    with pytest.warns(RuntimeWarning, match="other users can write"):
        assert directory.folder() != wanted
    assert directory.why_not(directory.folder()) is None
    directory._usable.cache_clear()


def test_a_directory_of_somebody_else(tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSPILE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: os.stat(tmp_path).st_uid + 1)
    directory._usable.cache_clear()
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert directory.folder() != tmp_path
    directory._usable.cache_clear()


def test_nothing_can_be_written(project, monkeypatch):
    project.write(main=SIMPLE)
    project.load()
    directory.folder()
    monkeypatch.setattr(directory.tempfile, "mkstemp", lambda **k: (_ for _ in ()).throw(OSError("no space left")))
    assert [run(project, 2.0) for _ in range(2)] == [(12.0, False)] * 2


def test_each_signature_has_a_data_file_of_its_own(tmp_path):
    """Numba numbers them, and two processes may choose the same number."""
    from numba import njit

    from transpile_runtime.compiled.cache import keep

    source = tmp_path / "twice.py"
    source.write_text("def twice(x):\n    return x + x\n")
    names = {}
    exec(compile(source.read_text(), str(source), "exec"), names)
    names["twice"].__module__ = "twice"
    caches = [keep(njit(names["twice"]))._cache for _ in range(2)]
    kept = [keep(njit(names["twice"])) for _ in range(2)]
    for kernel, value in zip(kept, (1, 1.5)):
        kernel._cache._cache_file._load_index = dict  # neither sees what the other has written
        assert kernel(value) == 2 * value
    assert len(list((tmp_path / "__pycache__").glob("*.nbc"))) == 2
    assert all(type(c).__name__ == "Cache" for c in caches)


# ---------------------------------------------------------------------------------------------------- processes

PROGRAM = """
import sys
import numpy as np
import transpile as tp
from transpile.driver.cache import cached_calls
cached_calls._is_current = lambda: True


def f(x, k):
    if k > 5:
        raise ValueError(f"{k} is more than 5 at {x}")
    print("k is", k, x[0])
    return np.sum(np.tanh(x)) + x[k] * np.linalg.det(np.outer(x, x) + np.eye(3))


g = tp.jit(tp.value_and_grad(f))
v, d = g(np.ones(3), 1)
try:
    g(np.ones(3), 9)
except ValueError as e:
    print(e, "at line", e.__traceback__.tb_next.tb_next.tb_lineno)
try:
    g(np.ones(3), 3)
except IndexError as e:
    print(e)
print(v, d)
print("transpile.frontend.lifter" in sys.modules, "transpile.lower.lowering" in sys.modules)
"""


def start(folder, cache, **more):
    (folder / "prog.py").write_text(PROGRAM)
    env = {**os.environ, "TRANSPILE_CACHE_DIR": str(cache), "PYTHONPATH": ROOT, **more}
    return subprocess.Popen(
        [sys.executable, "prog.py"], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def result(process):
    out, err = process.communicate()
    assert process.returncode == 0, err[-3000:]
    *lines, lifted = out.splitlines()
    return lines, lifted == "False False"


@pytest.mark.slow
def test_processes(tmp_path):
    """A script: two processes at once, a third that lifts nothing, damaged files, a directory that cannot be used."""
    cache = tmp_path / "cache"
    both = [start(tmp_path, cache) for _ in range(2)]
    (lines, _), (others, _) = (result(p) for p in both)
    assert lines == others and lines[0] == "k is 1 1.0"
    assert "9 is more than 5 at [1. 1. 1.]" in lines[1] and "index 3 is out of range for size 3" in "\n".join(lines)

    assert result(start(tmp_path, cache)) == (lines, True)

    for suffix in ("kernel", "calls"):
        for file in cache.glob(f"*.{suffix}"):
            file.write_bytes(file.read_bytes()[:-5] + b"wrong")
        assert result(start(tmp_path, cache)) == (lines, False)
        assert result(start(tmp_path, cache)) == (lines, True)

    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    assert result(start(tmp_path, blocked / "cache", TMPDIR=str(tmp_path)))[0] == lines
    assert not list(tmp_path.glob("transpile-*"))  # what was used instead is removed
