"""Functions that call themselves: what is printed of them, what they do beside their values, and where they are refused.

What they compute the corpus tests (`corpus.recursion`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from corpus import recursion
from raised_at import raised_at
from verified import verify

import transpile as tp
from transpile.core.functions import reached
from transpile.driver.lifted_request import lift
from transpile.driver.request import Request

X = np.array([0.3, 0.5, 0.7])
ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "runtime")])}
ROOT = Path(__file__).parents[2]


def total(x):
    if len(x) == 0:
        return 0.0
    return x[0] ** 2 + total(x[1:])


TOTAL = '''
import numpy as np


def total_pullback(x, y_bar):
    n = x.shape[0]
    if n == 0:                                # test_recursion.py:29
        return np.zeros(n)                    # test_recursion.py:28
    x_bar = np.zeros_like(x)                  # test_recursion.py:31
    x_bar[1:] = total_pullback(x[1:], y_bar)  # test_recursion.py:31
    x_bar[0] += y_bar * (2.0 * x[0])          # test_recursion.py:31
    return x_bar


def total_grad(x):
    """d total / d x: float64[n], for x: float64[n]."""
    x_bar = total_pullback(x, 1.0)  # test_recursion.py:28
    return x_bar
'''


def test_a_pullback_reads_like_its_function():
    code = [line.partition("#")[0].rstrip() for line in tp.source(tp.grad(total), X).splitlines()]
    assert code == [line.partition("#")[0].rstrip() for line in TOTAL.strip().splitlines()]


def test_the_function_itself_is_printed_once():
    text = tp.source(tp.jit(total), X)
    assert text.count("def ") == 1 and "total(x[1:])" in text


def outer(b):
    return total(b)


def test_a_kept_function_has_its_own_name():
    """Also where the function around it does nothing but call it, with a parameter of another name."""
    text = tp.source(tp.jit(outer), X)
    assert "def total(x):" in text and "def outer(b):" in text


def test_no_empty_and_one_element():
    for f in (tp.grad(total), tp.jit(tp.grad(total))):
        for x in (np.zeros(0), X[:1], X):
            np.testing.assert_array_equal(f(x), 2.0 * x)


@pytest.mark.parametrize("program", list(recursion.PROGRAMS), ids=lambda p: p.name)
@pytest.mark.sampled(3)
def test_every_kept_function_is_well_formed(program):
    for f in (tp.jit(program.fn), tp.grad(program.fn, argnums=program.wrt)):
        request = Request.of(program.args(), {})
        request.make_static(f)
        core = lift(request, f)
        for routine in reached(core):
            verify(routine.body)
        verify(core)


# ----------------------------------------------------------------------------------------------------- sharing


def counted(x, k):
    if k == 0:
        return np.sin(x)
    return counted(x * 0.9, k - 1) * x


def test_a_value_and_its_pullback_are_one_call():
    """So the depth is passed once, and not once at each level."""
    text = tp.source(tp.grad(counted), 0.7, 9)
    assert "counted_value_and_pullback(" in text
    assert "def counted(" not in text


def fresh(x, k):
    if k == 0:
        return x
    return fresh(x, k - 1)


def writes_after(x):
    y = x * 2.0
    z = fresh(y, 9)
    y[0] = 5.0
    return np.sum(z * z)


def writes_alone(x):
    z = fresh(x * 2.0, 9)
    z[0] = 5.0
    return np.sum(z * z)


def test_a_result_may_be_the_argument():
    with pytest.raises(tp.TranspileError, match="may share, depending on the data"):
        tp.grad(writes_after)(X)
    np.testing.assert_allclose(tp.grad(writes_alone)(X), [0.0, 8.0 * X[1], 8.0 * X[2]])


# ----------------------------------------------------------------------------------------------------- effects


def printing(x, k):
    print("at", k)
    if k == 0:
        return x
    y = printing(x * 0.5, k - 1)
    return y * printing(y, k - 1)


CALLS = {
    "grad": lambda: tp.grad(printing)(2.0, 2),
    "value_and_grad": lambda: tp.value_and_grad(printing)(2.0, 2),
    "jvp": lambda: tp.jvp(lambda x: printing(x, 2), (2.0,), (1.0,)),
    "grad of grad": lambda: tp.grad(tp.grad(printing))(2.0, 2),
    "jacobian": lambda: tp.jacrev(printing)(2.0 * X, 2),
    "forward jacobian": lambda: tp.jacfwd(printing)(2.0 * X, 2),
    "hessian": lambda: tp.hessian(lambda x, k: np.sum(printing(x, k)))(2.0 * X, 2),
    "compiled": lambda: tp.jit(tp.grad(printing))(2.0, 2),
}


@pytest.mark.parametrize("call", CALLS)
def test_what_is_printed_is_printed_once(call, capfd):
    printing(2.0, 2)
    wanted = capfd.readouterr().out
    CALLS[call]()
    assert capfd.readouterr().out == wanted


def raising(x):
    if x < 0.0:
        raise ValueError("negative")
    if x < 1.0:
        return 0.0 * x
    return raising(x - 1.0) + 1.0


def test_what_raises_raises():
    def unread(x):
        raising(x)
        return x * x

    for f in (raising, unread):
        for g in (tp.grad(f), tp.jit(f), tp.jit(tp.grad(f))):
            g(3.5)
            with pytest.raises(ValueError, match="negative"):
                g(-0.5)


# ---------------------------------------------------------------------------------------------------- its end


def endless(x, k):
    if k == -1:
        return x
    return endless(x * 0.5, k + 1) + 1.0


def test_no_end_is_a_recursion_error():
    for f in (tp.grad(endless), tp.jit(endless), tp.jit(tp.grad(endless))):
        with pytest.raises(RecursionError) as caught:
            f(1.0, 3)
        assert raised_at(caught.value).startswith("test_recursion.py:")
    assert tp.jit(endless)(1.0, -900) == endless(1.0, -900)


def test_no_end_does_not_end_the_process():
    """On the stack of a thread as well."""
    program = """
        import threading
        import numpy as np
        import transpile as tp

        def f(a, k):
            if k == -1:
                return a
            b = np.cos(a) * f(a * 0.5, k + 1)
            return b @ a * f(b, k + 2)

        found = []

        def run():
            try:
                tp.jit(tp.grad(lambda a: np.sum(f(a, 0))))(np.ones((3, 3)))
            except RecursionError:
                found.append(True)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        assert found
    """
    path = ROOT / "tests"
    done = subprocess.run(
        [sys.executable, "-c", "import sys, linecache\n"
         f"sys.path[:0] = [{str(ROOT)!r}, {str(path)!r}]\n"
         f"text = {textwrap.dedent(program)!r}\n"
         "linecache.cache['<p>'] = (len(text), None, text.splitlines(True), '<p>')\n"
         "exec(compile(text, '<p>', 'exec'), {'__name__': '__main__'})"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


def test_flags_make_functions_of_their_own():
    def walk(x, up, k):
        if k == 0:
            return x
        return walk(x * 1.5 if up else x - 0.1, not up, k - 1)

    text = tp.source(tp.grad(lambda x: walk(x, True, 9)), 1.0)
    assert text.count("def walk_pullback") == 2
    assert tp.grad(lambda x: walk(x, True, 9))(1.0) == pytest.approx(1.5**5)


# ------------------------------------------------------------------------------------------------ emitted files


MODULE = """
def even(x: float, n: int):
    if n == 0:
        return x
    return odd(x * 0.5, n - 1)


def odd(x: float, n: int):
    return x * x if n == 0 else even(x, n - 1) * x
"""


@pytest.mark.parametrize("options", [[], ["--standalone"], ["--jit"], ["--jit", "--standalone"]])
@pytest.mark.sampled(3)
def test_an_emitted_file_runs(tmp_path, options):
    if "--jit" in options:
        pytest.importorskip("numba")
    (tmp_path / "model.py").write_text(MODULE)
    run = [sys.executable, "-m", "transpile", "grad", "model.py:even", *options, "-o", "out.py"]
    script = "import out; print(out.even_grad(1.5, 6), out.even_grad(1.5, 0))"
    for command in (run, [sys.executable, "-c", script]):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=ENVIRONMENT)
        assert done.returncode == 0, done.stderr[-2000:]
    namespace: dict = {}
    exec(MODULE, namespace)
    even = namespace["even"]
    step = 1e-6
    wanted = (even(1.5 + step, 6) - even(1.5 - step, 6)) / (2 * step)
    found, one = map(float, done.stdout.split())
    assert found == pytest.approx(wanted, rel=1e-6) and one == 1.0


def test_a_report_says_what_it_does_not_count():
    text = str(tp.report(tp.grad(total), X))
    assert "total_pullback" in text and "unknown" in text


def test_a_report_of_the_function_itself_says_so_too():
    """That it is the one that calls itself: its calls hold memory of their own."""
    found = tp.report(tp.jit(total), X)
    assert found.peak is None and found.compiled_peak is None
    assert "unknown" in str(found)
