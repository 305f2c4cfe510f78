"""What a traceback shows: the user's frames and at most one of ours, and where a run-time error ends, the user's line."""

from __future__ import annotations

import linecache
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path

import numpy as np
import pytest
from raised_at import raised_at

import transpile as tp

HERE = Path(__file__).name
OURS = ("transpile/", "transpile_runtime/", "<transpile")


def entries(error):
    return traceback.extract_tb(error.__traceback__)


def ours(error):
    return [e for e in entries(error) if any(part in e.filename.replace("\\", "/") for part in OURS)]


def element(x, i):
    return x[i] * 2.0  # the line


def indexed(x, i):
    return element(np.sin(x), i) + np.sum(x)  # the line


def solved(x, i):
    return np.sum(np.linalg.solve(np.outer(x, x) * i, x))  # the line


def raises(x, i):
    if i > 2:
        raise ValueError(f"mine: {i}")  # the line
    return np.sum(x) * i


def asserts(x, i):
    assert i < 3, "too many"  # the line
    return np.sum(x * i)


def integers(x, i):
    return np.sum(x) * (1 // (3 - i))  # the line


def loops(x, i):
    for k in range(i + 1):
        x = x * x[k]  # the line
    return np.sum(x)


def unset(x, i):
    for k in range(3 - i):
        y = x[k]
    return np.sum(x) + y  # the line


RUNS = {indexed: IndexError, solved: np.linalg.LinAlgError, raises: ValueError, asserts: AssertionError,
        integers: ZeroDivisionError, loops: IndexError, unset: UnboundLocalError}  # fmt: skip
WRAPS = {
    "grad": tp.grad,
    "jit": pytest.param(tp.jit, marks=pytest.mark.numba),
    "jit of grad": pytest.param(lambda f: tp.jit(tp.grad(f)), marks=pytest.mark.numba),
    "vjp": lambda f: lambda x, i: tp.vjp(f, x, i)[1](1.0),
    "jvp": lambda f: lambda x, i: tp.jvp(f, (x, i), (x, i)),
    "hessian": tp.hessian,
}
X = np.array([0.5, 1.5, 2.5])


@pytest.mark.parametrize("again", [False, True], ids=["first call", "later call"])
@pytest.mark.parametrize("fn", RUNS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_a_run_time_error_ends_at_the_users_line(cache_directory, wrap, fn, again):
    if wrap is tp.hessian and fn is integers:
        pytest.skip("the Hessian does not depend on it")
    g = wrap(fn)
    if again and fn is not solved:
        g(X, 1)
        g(X, 1)
    with np.errstate(all="ignore"), pytest.raises(RUNS[fn]) as caught:
        g(X, 0 if fn is solved else 3)
    error = caught.value
    assert raised_at(error).startswith(f"{HERE}:") and raised_at(error).endswith("# the line"), raised_at(error)
    assert len(ours(error)) <= 1, traceback.format_exc()
    assert entries(error)[0].name == "test_a_run_time_error_ends_at_the_users_line"
    text = "".join(traceback.format_exception(error))
    assert (
        text.count("Traceback") == 1 and text.count(f"{HERE}:") <= 1
    )  # in the message at most; the entry has it as a line
    assert entries(error)[-1].name in (fn.__name__, "element")


def generator(x, i):
    yield x


def shapes(x, i):
    return np.sum(np.ones(2) + x)


REFUSED = {
    "call": lambda: tp.grad(generator)(X, 1),
    "compiled": lambda: tp.jit(tp.grad(shapes))(X, 1),
    "shapes": lambda: tp.grad(shapes)(X, 1),
    "source": lambda: tp.source(tp.grad(generator), X, 1),
    "report": lambda: tp.report(tp.grad(generator), X, 1),
    "eval_shape": lambda: tp.eval_shape(generator, X, 1),
    "vjp": lambda: tp.vjp(shapes, X, 1),
    "jvp": lambda: tp.jvp(shapes, X, 1),
    "hvp": lambda: tp.hvp(shapes, (X,), (X, X)),
    "linearize": lambda: tp.linearize(generator, X, 1),
    "pullback": lambda: tp.vjp(indexed, X, 1)[1](X),
    "grad": lambda: tp.grad(3),
    "jit": lambda: tp.jit(indexed, target="gpu"),
    "custom": lambda: tp.grad(tp.custom_jvp(indexed))(X, 1),
    "argnums": lambda: tp.grad(indexed, argnums=7)(X, 1),
    "complex": lambda: tp.grad(indexed)(X * 1j, 1),
    "from_source": lambda: tp.from_source("def f(:"),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_a_refusal_shows_the_users_frames_and_one_of_ours(call):
    with pytest.raises(tp.TranspileError) as caught:
        call()
    assert len(ours(caught.value)) <= 1 and len(entries(caught.value)) <= 3, traceback.format_exc()
    assert "".join(traceback.format_exception(caught.value)).count("Traceback") == 1


def test_full(monkeypatch):
    monkeypatch.setenv("TRANSPILE_TRACEBACK", "full")
    with pytest.raises(tp.TranspileError) as caught:
        tp.grad(generator)(X, 1)
    assert len(ours(caught.value)) > 5


@tp.custom_vjp
def ruled(x):
    return x * x


def backward(kept, x_bar):
    return (int("no number"),)


ruled.defvjp(lambda x: (x * x, x), backward)


def test_what_the_user_was_handling_stays():
    def handling():
        try:
            {}["key"]
        except KeyError:
            tp.grad(raises)(X, 3)

    with pytest.raises(ValueError, match="mine: 3") as caught:
        handling()
    assert isinstance(caught.value.__context__, KeyError)


def test_the_same_exception_twice():
    """One that the user keeps and raises again is not framed twice."""
    kept = []

    def outer(x):
        try:
            return tp.grad(raises)(x, 3)
        except ValueError as error:
            kept.append(error)
            raise

    for _ in range(2):
        with pytest.raises(ValueError, match="mine"):
            outer(X)
    assert [raised_at(e).endswith("# the line") for e in kept] == [True, True]
    assert max(len(entries(e)) for e in kept) == len(entries(kept[0]))


PROGRAM = """
import numpy as np
import transpile as tp


def f(x, i):
    y = np.sin(x)
    return np.sum(y) * x[i]


def bad(x):
    yield x
"""


def test_pytest_shows_no_frame_of_ours(tmp_path):
    text = (
        PROGRAM
        + "\n\ndef test_index():\n    tp.grad(f)(np.ones(3), 7)\n\n\ndef test_refused():\n    tp.grad(bad)(np.ones(3))\n"
    )
    (tmp_path / "test_it.py").write_text(text)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=120)  # fmt: skip
    assert "test_it.py:8: IndexError" in done.stdout and "2 failed" in done.stdout, done.stdout
    assert "transpile/" not in done.stdout.replace("/transpile/errors", "") and len(done.stdout.splitlines()) < 75, (
        done.stdout
    )


def test_ipython(tmp_path):
    shell = pytest.importorskip("IPython.core.interactiveshell")
    script = f"""
    from IPython.core.interactiveshell import InteractiveShell
    shell = InteractiveShell.instance(colors="NoColor", history_length=0)
    shell.run_cell({PROGRAM!r}, store_history=True)
    shell.run_cell("tp.grad(f)(np.ones(3), 7)", store_history=True)
    shell.run_cell("tp.jit(tp.grad(f))(np.ones(3), 7)", store_history=True)
    shell.run_cell("tp.grad(bad)(np.ones(3))", store_history=True)
    shell.run_cell("%%time\\ndef timed(x):\\n    return np.sum(x ** 2)\\nprint(tp.grad(timed)(np.ones(2)))", store_history=True)
    """
    assert shell is not None
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=300,
                          cwd=tmp_path)  # fmt: skip
    out = done.stdout
    assert out.count("return np.sum(y) * x[i]") >= 2 and "error[T104]" in out and "[2. 2.]" in out, out + done.stderr
    assert len(out.splitlines()) < 110 and out.count("transpile/") <= 6, out


def stops(x, n):
    total = 0.0
    for k in range(n):
        y = np.sin(x[k])
        breakpoint()
        total = total + y * y
    return total


@pytest.mark.parametrize("wrap", [tp.grad, lambda f: lambda x, n: tp.vjp(f, x, n)[1](1.0)[0]], ids=["grad", "vjp"])
def test_breakpoint_stops_in_the_derivative(monkeypatch, wrap):
    seen = []

    def hook():
        frame = sys._getframe(1)
        seen.append((frame.f_locals["x"][frame.f_locals["k"]], frame.f_code.co_filename))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    np.testing.assert_allclose(wrap(stops)(X, 3), np.sin(2 * X))
    assert [x for x, _ in seen[:3]] == list(X) and "breakpoint()" in "".join(linecache.getlines(seen[0][1]))


def test_the_debugger_shows_the_derivative(tmp_path):
    text = (
        PROGRAM.replace("    y = np.sin(x)\n", "    y = np.sin(x)\n    pdb.set_trace()\n")
        + "print(tp.grad(f)(np.ones(3), 1))\n"
    )
    (tmp_path / "program.py").write_text("import pdb\n" + text)
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, input="p i + 41\nlist\ncontinue\n", capture_output=True,
                          text=True, timeout=120)  # fmt: skip
    assert "42\n" in done.stdout and "def f_grad(x, i):" in done.stdout, done


@pytest.mark.numba
def test_breakpoint_in_compiled_code_is_refused():
    with pytest.raises(tp.TranspileError, match="cannot stop in compiled code") as caught:
        tp.jit(stops)(X, 3)
    assert caught.value.codes == ("T501",)


@pytest.mark.numba
def test_a_kernel_from_disk_names_the_line_of_now(tmp_path, monkeypatch):
    """Also where the function has moved in its file, and where two functions of a process have one text."""
    text = "import numpy as np\nimport transpile as tp\n\n\ndef f(a, b):\n    return np.sum(np.linalg.solve(a, b))\n"
    call = textwrap.dedent("""
        try:
            tp.jit(f)(np.zeros((2, 2)), np.ones(2))
        except np.linalg.LinAlgError as error:
            import traceback
            print(traceback.extract_tb(error.__traceback__)[-1].lineno)
    """)
    monkeypatch.setenv("TRANSPILE_CACHE_DIR", str(tmp_path / "cache"))
    found = []
    for lines in ("", "\n\n", "\n\n"):
        (tmp_path / "program.py").write_text(text.replace("def f", f"{lines}def f") + call)
        done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        found.append(done.stdout.strip() or done.stderr)
    assert found == ["6", "8", "8"]
