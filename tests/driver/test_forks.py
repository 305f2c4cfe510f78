"""Parallel functions in processes that were started after the threads: each method, and whoever started the threads."""

import multiprocessing
import os
import subprocess
import sys
from textwrap import dedent

import numpy as np
import pytest

import transpile as tp
from transpile.driver import backend

pytestmark = pytest.mark.numba

X = np.linspace(0.0, 1.0, 20000)


def work(x):
    s = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for k in range(50):
            s[i] += np.sin(x[i] * k)
    return s


J = tp.jit(work, parallel=True)


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(m, marks=[] if m == "fork" else pytest.mark.slow)
        for m in ("fork", "spawn", "forkserver")
        if m in multiprocessing.get_all_start_methods()
    ],
)
def test_a_pool_computes_what_its_parent_does(method):
    expected = J(X)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for found in pool.map_async(J, [X, X, X]).get(120):
            np.testing.assert_array_equal(found, expected)  # the chunks are the same, on one thread


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="nothing is forked here")
def test_a_child_of_a_child(capfd):
    expected = J(X)

    def grandchild():
        assert np.array_equal(J(X), expected)

    def child():
        inner = multiprocessing.get_context("fork").Process(target=grandchild)
        inner.start()
        inner.join(60)
        assert inner.exitcode == 0

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    assert process.exitcode == 0, capfd.readouterr().err


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="nothing is forked here")
def test_what_numba_wrote_says_so(monkeypatch):
    monkeypatch.setattr(backend, "IS_DIRECT", False)
    call = tp.jit(work, parallel=True, cache=False)
    assert "prange(" in tp.source(call, X, stage="loops")
    expected = call(X)

    def child(send):
        try:
            send.send(call(X))
        except RuntimeError as failed:
            send.send(str(failed))

    receive, send = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(target=child, args=(send,))
    process.start()
    assert receive.poll(60)
    assert "'work' runs on threads" in receive.recv()
    process.join(60)
    np.testing.assert_array_equal(call(X), expected)  # the parent has its threads


@pytest.mark.slow
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="nothing is forked here")
def test_threads_that_somebody_else_started(tmp_path):
    (tmp_path / "program.py").write_text(
        dedent("""
        import multiprocessing
        import numpy as np
        from numba import njit, prange
        import transpile as tp
        from test_forks import X, work

        @njit(parallel=True)
        def mine(x):
            out = np.zeros(x.shape[0])
            for i in prange(x.shape[0]):
                out[i] = x[i] + 1.0
            return out

        J = tp.jit(work, parallel=True)

        def child():
            assert np.array_equal(J(X), J(X)) and np.allclose(J(X), work(X))

        mine(X)
        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join(100)
        raise SystemExit(process.exitcode)
        """)
    )
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=_environment(), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def _environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
