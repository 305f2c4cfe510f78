"""Every corpus program crossed with every mode. A failing test names the program and the mode.

Value and forward mode against the original function and its differences, reverse against forward, gradients by hand exactly,
second order, compiled against interpreted; arguments stay as they were and no two results share memory.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import statistics
import subprocess
import sys
import textwrap
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus import all_programs
from corpus.program import Program
from differences import (
    Subject,
    Unstable,
    apart,
    check_jvp,
    check_second,
    check_value,
    check_vjp,
    copied,
    dtype_of,
    floats,
    is_float,
    is_scalar,
    same,
    same_form,
    same_tree,
)
from scalarise import scalarised

import transpile as tp
from transpile.aggregates import flatten
from transpile.api import Transformed
from transpile.base.levels import Level

PROGRAMS = all_programs()
ACTIVE = [p for p in PROGRAMS if p.wrt]
SECOND = [p for p in PROGRAMS if p.second and p.smooth and p.wrt]
SAMPLE = 24  # one program in so many is compiled, or differentiated twice, in `make test`; all in `make test-all`


def each(programs: list[Program]) -> Any:
    return pytest.mark.parametrize("program", programs, ids=lambda p: p.name)


def sampled(programs: list[Program]) -> Any:
    """All of them, of which `make test` runs a few from everywhere."""
    marks = [() if k % SAMPLE == 0 else (pytest.mark.slow,) for k in range(len(programs))]
    return pytest.mark.parametrize("program", [pytest.param(p, marks=m, id=p.name) for p, m in zip(programs, marks)])


@lru_cache(maxsize=None)
def subject_of(program: Program) -> Subject:
    return Subject(program.fn, program.args, program.wrt, program.tol)


def gives_number(program: Program) -> bool:
    """Whether the result is one float."""
    try:
        return isinstance(subject_of(program).value, float)
    except Exception:  # a program that uses transforms, and they fail: its tests shall say so
        return True


@pytest.fixture(autouse=True)
def quiet_original():
    """A derivative warns of nothing that its function does not."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def unchanged(before: Any, after: Any, what: str) -> None:
    """Arguments are what they were, bit for bit."""
    for k, (a, b) in enumerate(zip(flatten(before)[0], flatten(after)[0])):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes(), (
            f"{what}: argument leaf {k} was changed from {a} to {b}"
        )


# ----------------------------------------------------------------------------------------------------- modes


@each(PROGRAMS)
def test_value(program):
    """The generated text of the function itself gives what the function gives."""
    s = subject_of(program)
    args = program.args()
    before = copied(args)
    y = Transformed(program.fn, Level())(*args)
    check_value(s, y, "value")
    unchanged(before, args, "value")
    apart("value", result=y)


@each(ACTIVE)
def test_jvp(program):
    s = subject_of(program)
    args, tangents = program.args(), copied(s.tangents)
    before = copied((args, tangents))
    y, y_dot = check_jvp(s, lambda f, _x, _v: tp.jvp(f, args, tangents), differences=program.smooth)
    unchanged(before, (args, tangents), "jvp")
    apart("jvp", value=y, tangent=y_dot, arguments=args, tangents=tangents)


@each(ACTIVE)
@pytest.mark.sampled(4)
def test_vjp(program):
    s = subject_of(program)
    check_vjp(s, tp.jvp, tp.vjp)


@each(ACTIVE)
@pytest.mark.sampled(8)
def test_pullback(program):
    """A pullback may be called again, changes nothing, and what it gives is nobody else's memory."""
    s = subject_of(program)
    args, cotangent = program.args(), copied(s.cotangent)
    before = copied((args, cotangent))
    y, pullback = tp.vjp(program.fn, *args)
    first = pullback(cotangent)
    kept = copied(first)
    second = pullback(cotangent)
    unchanged(before, (args, cotangent), "pullback")
    unchanged(kept, second, "pullback called again")
    unchanged(kept, first, "what the first call of the pullback gave")
    apart("vjp", value=y, first=first, second=second, arguments=args, cotangent=cotangent)
    for leaf in flatten(args)[0]:
        if isinstance(leaf, np.ndarray) and leaf.flags.writeable:
            leaf[...] = 0  # the pullback has the primals of its own
    unchanged(kept, pullback(cotangent), "pullback after its primals were overwritten")


@each([p for p in ACTIVE if gives_number(p)])
@pytest.mark.sampled(4)
def test_grad(program):
    """The gradient has the form of the argument and is the pullback of 1; with the value, it comes with the value."""
    s = subject_of(program)
    args = program.args()
    before = copied(args)
    value, gradient = tp.value_and_grad(program.fn, argnums=program.wrt)(*args)
    unchanged(before, args, "value_and_grad")
    check_value(s, value, "value_and_grad")
    primals = tuple(args[k] for k in program.wrt)
    same_form(gradient, primals, "gradient")
    apart("value_and_grad", value=value, gradient=gradient, arguments=args)
    alone = tp.grad(program.fn, argnums=program.wrt)(*args)
    same_tree(alone, gradient, "grad against value_and_grad", 1e-12, 1e-12)
    bars = tp.vjp(program.fn, *args)[1](dtype_of(s.value).type(1))
    same_tree(alone, tuple(bars[k] for k in program.wrt), "grad against vjp", s.exact, 1e-6)
    if len(program.wrt) == 1:
        one = tp.grad(program.fn, argnums=program.wrt[0])(*args)
        same_tree((one,), alone, "grad by one number", 1e-12, 1e-12)


@each([p for p in PROGRAMS if p.expect is not None])
def test_expected_gradient(program):
    """The gradients by hand, for programs where differences say nothing or tools are known to be wrong."""
    s = subject_of(program)
    if isinstance(s.value, float):
        found = tp.grad(program.fn, argnums=program.wrt)(*program.args())
    else:
        ones = np.ones_like(s.value)
        bars = tp.vjp(program.fn, *program.args())[1](ones)
        found = tuple(bars[k] for k in program.wrt)
    for k, (one, wanted) in enumerate(zip(found, program.expect)):
        for a, b in zip(flatten(one)[0], flatten(wanted)[0]):
            same(a, np.asarray(b, float), f"gradient {k}", 1e-14 if not s.single else 1e-6, 1e-14)


@sampled(SECOND)
def test_second_order(program, tmp_path):
    """The tangent of the gradient against differences of the gradient."""
    s = subject_of(program)
    f = scalarised(program.fn, program.args(), s.value, tmp_path, f"weighted_{program.name}")
    try:
        check_second(Subject(f, program.args, program.wrt, program.tol), tp)
    except Unstable as e:
        pytest.skip(f"the gradient has a kink here: {e}")


@pytest.mark.numba
@sampled(PROGRAMS)
def test_compiled(program):
    """The compiled function gives what the function gives and changes what it changes."""
    s = subject_of(program)
    args, plain = program.args(), program.args()
    y = tp.jit(program.fn)(*args)
    with np.errstate(all="ignore"):
        program.fn(*plain)
    same_tree(y, s.value, "jit", 1e-10, 1e-10)
    same_tree(args, plain, "arguments after jit", 1e-10, 1e-10)


@pytest.mark.numba
@sampled(ACTIVE)
def test_compiled_gradient(program, tmp_path):
    s = subject_of(program)
    f = scalarised(program.fn, program.args(), s.value, tmp_path, f"weighted_{program.name}")
    gradient = tp.grad(f, argnums=program.wrt)
    args = program.args()
    before = copied(args)
    found = tp.jit(gradient)(*args)
    unchanged(before, args, "jit of grad")
    same_tree(found, gradient(*args), "jit of grad", s.exact, 1e-6)
    apart("jit of grad", gradient=found, arguments=args)


# ------------------------------------------------------------------------------------------- the text itself


def count_statements(text: str) -> int:
    """The statements of the functions of a module, without imports and docstrings."""
    count = 0
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and not isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef)):
            count += not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    return count


BACK_AGAIN = re.compile(r"(\w+) = (.+)\.copy\(\)\n\2 = 0\.0\n\2 \+= \1\n")


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 8])
def test_gradients_are_short(tmp_path, step):
    """In the median a gradient has at most four times the statements of its function; none takes away and puts back."""
    ratios, back_again = {}, []
    for program in ACTIVE[::step]:
        s = subject_of(program)
        f = scalarised(program.fn, program.args(), s.value, tmp_path, f"weighted_{program.name}")
        written = count_statements(textwrap.dedent(inspect.getsource(program.fn))) + (f is not program.fn)
        text = tp.source(tp.grad(f, argnums=program.wrt), *program.args())
        if BACK_AGAIN.search(re.sub(r" +#.*|^ +", "", text, flags=re.M)):
            back_again.append(program.name)
        ratios[program.name] = count_statements(text) / written
    longest = sorted(ratios.items(), key=lambda item: -item[1])[:10]
    print("\n".join(f"{ratio:6.1f}  {name}" for name, ratio in longest))
    assert statistics.median(ratios.values()) <= 4
    assert back_again == []


SOURCES = """
import sys
sys.path[:0] = [{tests!r}, {root!r}]
import hashlib
from corpus import all_programs
import transpile as tp
for program in [p for p in [p for p in all_programs() if p.wrt][::{step}] if isinstance(p.fn(*p.args()), float)]:
    for f in (tp.grad(program.fn, argnums=program.wrt), program.fn):
        text = tp.source(f, *program.args())
        print(program.name, hashlib.sha256(text.encode()).hexdigest())
"""


def test_sources_do_not_depend_on_the_hash_seed():
    """The same to the byte under any hash seed."""
    here = Path(__file__).parent
    script = SOURCES.format(tests=str(here), root=str(here.parent), step=17)
    outputs = []
    for seed in ("0", "4242"):
        run = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert run.returncode == 0, run.stderr[-2000:]
        outputs.append(run.stdout)
    assert outputs[0].count("\n") > 20
    assert outputs[0] == outputs[1]


def test_corpus_is_large():
    """At least 150 programs, 25 of them real kernels of 20 to 80 lines."""
    assert len(PROGRAMS) >= 150
    lengths = [len(inspect.getsource(p.fn).splitlines()) for p in PROGRAMS if "kernel" in p.tags]
    assert sum(n >= 15 for n in lengths) >= 25


def test_leaves_of_arguments_are_differentiable():
    """What a program asks to differentiate is of floating point."""
    for program in ACTIVE:
        args = program.args()
        for k in program.wrt:
            leaves = flatten(args[k])[0]
            assert all(is_float(leaf) for leaf in leaves), program.name
            assert floats(args[k]) or not leaves, program.name
            assert all(is_scalar(leaf) or leaf.dtype.kind == "f" for leaf in leaves), program.name
