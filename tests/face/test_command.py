"""The command line as a new user meets it: commands and stacks, several functions, standard input, files that are never lost."""

from __future__ import annotations

import builtins
import os
import stat
import subprocess
import sys

import numpy as np
import pytest

import transpile
from transpile.cli import main

FILE = """
from dataclasses import dataclass
import numpy as np


def loss(w: "float64[d]", x: "float64[n, d]", y: "float64[n]"):
    return np.sum(np.sin(x @ w - y) ** 2)


def outputs(w: "float64[d]", t: "float64"):
    return np.exp(w * t)


def power(x: float, n: int):
    return x if n < 2 else x * power(x, n - 1) + x


def twice(x: float, n: int):
    return 2.0 * power(x, n)


def thrice(x: float, n: int):
    return 3.0 * power(x, n)


def other(x: float, n: int):
    def power(x, n):
        return x if n < 3 else np.sin(x) * power(x, n - 1) + x

    return power(x, n)


def fill(x: "float64[n, d]", a: float):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = x[i, j] * a
            if x[i, j] > 1e3:
                raise ValueError("too large")
    return np.sum(x)


@dataclass
class Spring:
    k: "float64[n]"
    rest: float

    def energy(self, x: "float64[n]"):
        return np.sum(self.k * (x - self.rest) ** 2)

    @staticmethod
    def cube(x: float):
        return x * x * x

    @classmethod
    def fourth(cls, x: float):
        return cls.cube(x) * x

    class Inner:
        @staticmethod
        def cube(x: float):
            return 5.0 * x * x * x


class Stiff(Spring):
    pass


class Plain:
    def energy(self, x: float):
        return self.k * x


def fields(p: "{'w': float64[d], 'b': (float, float)}"):
    return np.sum(p["w"] ** 2) * p["b"][0] + p["b"][1]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "prog.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *argv):
    status = main(argv)
    out = capsys.readouterr()
    return status, out.out, out.err


def module(text, where=None):
    """The names of an emitted text; one with kernels is run from a file, as Numba's cache wants."""
    scope = {
        "__builtins__": builtins
    }  # by its name: its dict may hold what a prompt showed last, which Numba cannot keep
    if where is not None:
        where.write_text(text)
        scope["__file__"] = str(where)
    exec(compile(text, str(where or "emitted"), "exec"), scope)
    return scope


ORIGINAL: dict = {"__name__": "prog"}
sys.modules.setdefault("prog", type(sys)("prog"))  # dataclasses look for their module
exec(FILE, ORIGINAL)
del sys.modules["prog"]
rng = np.random.default_rng(0)
W, X, Y = rng.normal(size=3), rng.normal(size=(4, 3)), rng.normal(size=4)
V = rng.normal(size=3)


def slope(f, x, v, h=1e-6):
    """The derivative along ``v``, by central differences."""
    return (np.asarray(f(x + h * v)) - np.asarray(f(x - h * v))) / (2 * h)


def jacobian(f, x, h=1e-6):
    """By central differences, the argument's axis last."""
    return np.stack([slope(f, x, e, h) for e in np.eye(len(x))], axis=-1)


def loss(w):
    return ORIGINAL["loss"](w, X, Y)


def gradient(w):
    return jacobian(loss, w, 1e-5)


CASES = [
    (["grad", "prog.py:loss"], "loss_grad", (W, X, Y), lambda: gradient(W)),
    (["grad", "prog.py:loss", "--value"], "loss_grad", (W, X, Y), lambda: (loss(W), gradient(W))),
    (["jacfwd", "prog.py:outputs"], "outputs_jac", (W, 0.5), lambda: np.diag(0.5 * np.exp(0.5 * W))),
    (["jacrev", "prog.py:outputs", "--wrt", "t"], "outputs_jac", (W, 0.5), lambda: W * np.exp(0.5 * W)),
    (["hessian", "prog.py:loss"], "loss_hessian", (W, X, Y), lambda: jacobian(gradient, W, 1e-4)),
    (["hvp", "prog.py:loss"], "loss_hvp", (W, X, Y, V), lambda: slope(gradient, W, V, 1e-4)),
    (["emit", "prog.py:loss", "grad(f)"], "loss_grad", (W, X, Y), lambda: gradient(W)),
    (["emit", "prog.py:loss", "tp.grad(loss, 0)"], "loss_grad", (W, X, Y), lambda: gradient(W)),
    (["emit", "prog.py:loss", "value_and_grad(f)"], "loss_grad", (W, X, Y), lambda: (loss(W), gradient(W))),
    (["emit", "prog.py:loss", "hessian(f)"], "loss_hessian", (W, X, Y), lambda: jacobian(gradient, W, 1e-4)),
    (["emit", "prog.py:loss", "jacfwd(grad(f))"], "loss_grad_jac", (W, X, Y), lambda: jacobian(gradient, W, 1e-4)),
    (["emit", "prog.py:loss", "hvp(f, argnums=0)"], "loss_hvp", (W, X, Y, V), lambda: slope(gradient, W, V, 1e-4)),
    (["emit", "prog.py:loss", "vjp(grad(f))"], "loss_grad_vjp", (W, X, Y, V), lambda: slope(gradient, W, V, 1e-4)),
    (["emit", "prog.py:loss", "grad(jvp(f))"], "loss_jvp_grad", (W, X, Y, V), lambda: slope(gradient, W, V, 1e-4)),
    (["emit", "prog.py:loss", "jvp(f, argnums=-3)"], "loss_jvp", (W, X, Y, V), lambda: slope(loss, W, V)),
    (["emit", "prog.py:loss", "vjp(f, value=True)"], "loss_vjp", (W, X, Y, 2.0), lambda: (loss(W), 2 * gradient(W))),
]


def close(found, wanted):
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted):
            close(a, b)
    else:
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-6)


@pytest.mark.parametrize(("argv", "name", "args", "wanted"), CASES, ids=[" ".join(c[0]) for c in CASES])
def test_what_a_command_emits(folder, capsys, argv, name, args, wanted):
    status, out, err = run(capsys, *argv)
    assert (status, err) == (0, "")
    close(module(out)[name](*args), wanted())


@pytest.mark.numba
@pytest.mark.parametrize("stack", ["jit(grad(f, argnums=(0, 1)))", "grad(jit(f, fastmath=False), (0, 1))"])
def test_a_compiled_stack(folder, capsys, stack):
    status, out, err = run(capsys, "emit", "prog.py:loss", stack)
    assert (status, err) == (0, "") and "@njit" in out and ("fastmath=False" in out) == ("fastmath" in stack)
    w_bar, x_bar = module(out, folder / "out.py")["loss_grad"](W, X, Y)
    close(w_bar, gradient(W))
    close(x_bar[1], jacobian(lambda row: ORIGINAL["loss"](W, np.vstack([X[:1], row, X[2:]]), Y), X[1]))


REFUSED = {
    "f": "the expression has no transform",
    "grad(g)": "'g' is not the function: write 'f', which stands for 'loss'",
    "grad()": "grad needs a function",
    "grad(f": "cannot read the expression",
    "sum(f)": "'sum' is not a transform",
    "grad(f, argnums=__import__('os').mkdir('made'))": "is not a literal",
    "grad(__import__('os').mkdir('made'))": "is not a transform",
    "jit(checkpoint(f))": "'checkpoint' is not supported",
    "linearize(f)": "'linearize' takes values, so it cannot be emitted",
    "grad(f, nums=0)": "unexpected keyword argument 'nums'",
    "grad(f, argnums='x')": "argnums must be an int",
    "jit(grad(f), target='gpu')": "unknown target 'gpu'",
    "jit(grad(f), parallel=True)": "an emitted file, which runs on one thread",
    "(" * 300 + "f" + ")" * 300: "cannot read the expression",
}


@pytest.mark.parametrize("stack", REFUSED, ids=range(len(REFUSED)))
def test_an_expression_is_never_evaluated(folder, capsys, stack):
    status, out, err = run(capsys, "emit", "prog.py:loss", stack)
    assert (status, out) == (2, "") and REFUSED[stack] in err
    assert os.listdir(folder) == ["prog.py"]


def test_version(capsys):
    with pytest.raises(SystemExit) as done:
        main(["--version"])
    assert done.value.code == 0 and capsys.readouterr().out == f"transpile {transpile.__version__}\n"


# ------------------------------------------------------------------------------------------------ what is asked for


def test_several_functions_are_one_module(folder, capsys):
    """What they keep is defined once where it is the same, and under two names where it is not."""
    status, out, err = run(capsys, "grad", "prog.py:twice,other,thrice,loss", "--arg", "twice.n=int")
    assert (status, err) == (0, "")
    assert out.count("def power_pullback(") == 1 and out.count("import numpy as np") == 1
    scope = module(out)
    assert {"twice_grad", "other_grad", "thrice_grad", "loss_grad"} <= set(scope)
    for name in ("twice", "other", "thrice"):
        close(scope[f"{name}_grad"](1.3, 5), slope(lambda x, name=name: ORIGINAL[name](x, 5), 1.3, 1.0))
    close(scope["loss_grad"](W, X, Y), gradient(W))


@pytest.mark.numba
def test_several_functions_compiled(folder, capsys):
    status, out, err = run(capsys, "grad", "prog.py:twice,other,thrice,Spring.cube", "--jit", "--standalone")
    assert (status, err) == (0, "") and out.count("def power_pullback(") == 1
    scope = module(out, folder / "out.py")
    for name in ("twice", "other", "thrice"):
        close(scope[f"{name}_grad"](1.3, 5), slope(lambda x, name=name: ORIGINAL[name](x, 5), 1.3, 1.0))
    close(scope["cube_grad"](2.0), 12.0)


def test_methods(folder, capsys, monkeypatch):
    names = "Spring.energy,Spring.cube,Spring.fourth,Spring.Inner.cube,Stiff.energy"
    status, out, err = run(capsys, "grad", f"prog.py:{names}")
    assert (status, err) == (0, "")
    scope, spring, x = module(out), ORIGINAL["Spring"](np.array([1.0, 2.0]), 0.5), np.array([0.1, 0.9])
    close(scope["energy_grad"](spring, x), jacobian(spring.energy, x))
    close(scope["Stiff_energy_grad"](spring, x), jacobian(spring.energy, x))
    close(scope["cube_grad"](2.0), 12.0)
    close(scope["fourth_grad"](ORIGINAL["Spring"], 2.0), 32.0)
    close(scope["Spring_Inner_cube_grad"](2.0), 60.0)
    _, out, _ = run(capsys, "grad", "prog.py:Spring.energy", "--wrt", "self")
    monkeypatch.syspath_prepend(str(folder))
    assert "\nfrom prog import Spring\n" in out
    found = module(out)["energy_grad"](spring, x)
    close(found.k, (x - 0.5) ** 2)
    close(found.rest, float(np.sum(-2 * spring.k * (x - 0.5))))


MEMBERS = """
import functools
from dataclasses import dataclass
import numpy as np


def doubled(f):
    @functools.wraps(f)
    def g(x):
        return 2.0 * f(x)
    return g


@doubled
def f(x: float):
    return x * x


def calls(x: float):
    return f(x) + 1.0


@doubled
@dataclass
class Odd:
    k: float


def makes(x: float):
    return Odd(x).k


@dataclass
class Soft:
    RATE = 0.25
    k: float

    @property
    def soft(self):
        return 0.5 * self.k * self.RATE

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def rated(cls, x):
        return cls.RATE * cls.square(x)

    @doubled
    def wrapped(self, x):
        return x

    def energy(self, x: float):
        return self.soft * self.square(x) + self.rated(x) + Soft.square(x) * Soft.RATE


class Hard(Soft):
    RATE = 4.0


def members(x: float):
    return Soft(x).energy(x) + Hard(2.0).energy(x) * (1.0 if hasattr(Soft(x), "RATE") else 7.0)


def wraps(x: float):
    return Soft(x).wrapped(x)
"""


@pytest.mark.parametrize("name", ["f", "calls", "makes", "wraps"])
def test_decorators_that_are_not_known_are_refused(folder, capsys, name):
    (folder / "members.py").write_text(MEMBERS)
    status, out, err = run(capsys, "grad", f"members.py:{name}")
    assert (status, out) == (1, "") and "so it does not know what '@doubled' does to" in err and "@doubled\n" in err


def test_members_of_classes_that_are_not_run(folder, capsys, monkeypatch):
    (folder / "members.py").write_text(MEMBERS)
    monkeypatch.syspath_prepend(str(folder))
    import members

    status, out, err = run(capsys, "grad", "members.py:members,Soft.energy")
    assert (status, err) == (0, "")
    scope = module(out)
    close(scope["members_grad"](1.7), slope(members.members, 1.7, 1.0))
    close(scope["energy_grad"](members.Hard(1.5), 1.7), slope(members.Soft(1.5).energy, 1.7, 1.0))


def test_our_own_notation_as_an_annotation(folder, capsys):
    _, out, _ = run(capsys, "grad", "prog.py:fields")
    found = module(out)["fields_grad"]({"w": W, "b": (2.0, 1.0)})
    close(found["w"], 4 * W)
    close(found["b"], (np.sum(W**2), 1.0))


@pytest.mark.parametrize(
    ("argv", "status", "message"),
    [
        (["grad", "prog.py:Plain.energy"], 1, "'self' has no type: 'Plain' does not annotate its attributes"),
        (["grad", "prog.py:Spring.power"], 2, "it defines Spring."),
        (["grad", "prog.py:Spring"], 1, "name one of its methods: CLASS.METHOD"),
        (["grad", "prog.py:Nothing.f"], 2, "prog.py defines no function 'Nothing.f'"),
        (["grad", "prog.py:loss,loss"], 2, "'loss' is named twice"),
        (["grad", "prog.py:loss,"], 2, "write it as FILE.py:FUNC, FILE.py:F,G or FILE.py:CLASS.METHOD"),
        (["grad", "prog.py:loss,power", "--wrt", "w"], 2, "--wrt: 'power' has no argument 'w'"),
        (["grad", "prog.py:loss,power", "--arg", "power.w=float"], 2, "--arg: 'power' has no argument 'w'"),
        (["grad", "prog.py:loss,power", "--arg", "q=float"], 2, "--arg: 'loss' and 'power' has no argument 'q'"),
        (["grad", "prog.py:loss", "--force", "--value", "--wrt", "w,w"], 2, "--wrt: 'w' is named twice"),
    ],
)
def test_requests_that_cannot_be_met(folder, capsys, argv, status, message):
    got, out, err = run(capsys, *argv)
    assert (got, out) == (status, "") and message in err


@pytest.mark.parametrize(
    ("data", "where", "message"),
    [
        (b"x = 1\n# \xff\n", "bad.py:2:3", "byte 0xff is not utf-8"),
        (b"\xef\xbb\xbfx = 1\ny = 2\nz = '\xce\xb1\xe9a'\n", "bad.py:3:7", "byte 0xe9 is not utf-8"),
        (b"# coding: ascii\nx = '\xc3\xa9'\n", "bad.py:2:6", "byte 0xc3 is not ascii"),
        (b"# coding: klingon\n", "bad.py:1", "unknown encoding: klingon"),
        (b"x = 1\n\0\n", "bad.py:2", "null byte"),
        (b"x = 1\ny = (\n", "bad.py:2:5", "was never closed"),
    ],
)
def test_the_line_of_a_bad_byte(folder, capsys, data, where, message):
    (folder / "bad.py").write_bytes(data)
    status, out, err = run(capsys, "grad", "bad.py:f")
    assert status and out == "" and err.startswith(f"{where}: error") and message in err


def test_encodings_that_are_said(folder, capsys):
    (folder / "latin.py").write_bytes(
        "# coding: latin-1\r\ndef f(x: float):\r\n    'é'\r\n    return x * x\r\n".encode("latin-1")
    )
    status, out, _ = run(capsys, "grad", "latin.py:f")
    assert status == 0 and module(out)["f_grad"](3.0) == 6.0


def piped(argv, text, **more):
    command = [sys.executable, "-m", "transpile", *argv]
    return subprocess.run(command, input=text, capture_output=True, timeout=120, **more)


def test_standard_input(folder):
    (folder / "near.py").write_text("def half(x):\n    return 0.5 * x\n")
    text = b"from near import half\ndef f(x: float):\n    return half(x) * x\ndef bad(x: float):\n    yield x\n"
    done = piped(["grad", "-:f"], text)
    assert done.returncode == 0 and module(done.stdout.decode())["f_grad"](3.0) == 3.0
    done = piped(["grad", "-:bad"], text)
    assert done.returncode == 1 and b"<stdin>:5:5: error[T104]" in done.stderr and b"    yield x" in done.stderr
    assert piped(["grad", "-:f", "-o", "-"], text).stdout.startswith(b"def f_grad(")
    assert b"byte 0xff" in piped(["grad", "-:f"], b"\xff").stderr


def test_standard_output_that_is_closed_or_ascii(folder):
    text = "def f(x: float):\n    α = x * x\n    return α * α\n".encode()
    done = piped(["grad", "-:f"], text, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and "α" in done.stdout.decode()
    command = f"{sys.executable} -m transpile grad prog.py:loss | head -c 0; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=120)
    assert b"Traceback" not in done.stderr


# --------------------------------------------------------------------------------------------------- where it goes


def test_a_file_is_never_lost(folder, capsys):
    (folder / "near.py").write_text("def half(x):\n    return 0.5 * x\n")
    (folder / "user.py").write_text("from near import half\ndef f(x: float):\n    return half(x) * x\n")
    os.symlink("prog.py", folder / "link.py")
    os.link(folder / "prog.py", folder / "hard.py")
    (folder / "mine.py").write_text("precious")
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    for argv in (
        ["prog.py:loss", "-o", "prog.py"], ["prog.py:loss", "-o", "./prog.py", "--force"],
        ["prog.py:loss", "-o", "link.py", "--force"], ["prog.py:loss", "-o", "hard.py", "--force"],
        ["link.py:loss", "-o", "prog.py", "--force"], ["user.py:f", "-o", "near.py", "--force"],
        ["prog.py:loss", "-o", "mine.py"], ["prog.py:loss", "-o", str(folder)], ["prog.py:loss", "-o", "no/out.py"],
    ):  # fmt: skip
        status, out, err = run(capsys, "grad", *argv)
        assert (status, out) == (2, "") and "error[T903]" in err, argv
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


def test_force_replaces_a_file(folder, capsys):
    out = folder / "out.py"
    assert run(capsys, "grad", "prog.py:loss", "-o", "out.py")[0] == 0
    first = out.read_text()
    out.chmod(0o640)
    os.symlink("out.py", folder / "link.py")
    assert run(capsys, "hessian", "prog.py:loss", "-o", "link.py", "--force")[0] == 0
    assert out.read_text() != first and "loss_hessian" in out.read_text()
    assert stat.S_IMODE(out.stat().st_mode) == 0o640 and (folder / "link.py").is_symlink()
    assert run(capsys, "grad", "prog.py:loss", "-o", os.devnull) == (0, "", "")


@pytest.mark.parametrize("step", ["os.replace", "os.fsync"])
def test_a_file_is_whole_or_as_it_was(folder, capsys, monkeypatch, step):
    (folder / "out.py").write_text("before")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"transpile.command.destination.{step}", full)
    status, _, err = run(capsys, "grad", "prog.py:loss", "-o", "out.py", "--force")
    assert status == 2 and "No space left on device" in err
    assert (folder / "out.py").read_text() == "before"
    assert sorted(os.listdir(folder)) == ["out.py", "prog.py"]


def test_a_file_that_came_to_be_meanwhile(folder, capsys, monkeypatch):
    monkeypatch.setattr("transpile.command.destination.check", lambda path, read, force: None)
    (folder / "out.py").write_text("precious")
    status, _, err = run(capsys, "grad", "prog.py:loss", "-o", "out.py")
    assert status == 2 and "already exists" in err and (folder / "out.py").read_text() == "precious"
    assert sorted(os.listdir(folder)) == ["out.py", "prog.py"]


@pytest.mark.numba
def test_an_emitted_function_writes_into_its_argument(folder, capsys):
    """As the original does, whatever the layout, also before it raises."""
    _, out, _ = run(capsys, "emit", "prog.py:fill", "jit(f)")
    fill = module(out, folder / "out.py")["fill"]
    whole = rng.normal(size=(6, 4))
    for make in (
        lambda: whole.copy(),
        lambda: np.asfortranarray(whole),
        lambda: whole[::2, 1:].copy("F"),
        lambda: whole.copy()[::2, ::-1],
    ):
        x, y = make(), make()
        assert np.isclose(fill(x, 2.0), ORIGINAL["fill"](y, 2.0))
        np.testing.assert_array_equal(x, y)
    x = np.asfortranarray(whole)
    x[3, 1] = 1e4
    y = x.copy("F")
    with pytest.raises(ValueError, match="too large"):
        fill(x, 2.0)
    with pytest.raises(ValueError, match="too large"):
        ORIGINAL["fill"](y, 2.0)
    np.testing.assert_array_equal(x, y)
