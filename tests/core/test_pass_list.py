"""Lists of passes: an order that cannot work is refused, groups clean only what has changed, and whoever watches sees each pass."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import transpile as tp
from transpile.core import nodes as ir
from transpile.core import watch
from transpile.core.pass_list import Chain, Group, Pass, Property, WrongOrder
from transpile.core.types import FLOAT
from transpile.driver.backend import LOWERING
from transpile.loops.passes import PASSES, Settings
from transpile.transform.array_passes import AFTER_REVERSE, CLEAN, FOR_REVERSE

pytestmark = pytest.mark.quick

A, B = Property("a", "the first"), Property("b", "the second")
CHAINS = {"loops": PASSES, "lowering": LOWERING, "clean": CLEAN, "for": FOR_REVERSE, "after": AFTER_REVERSE}


def empty() -> ir.Function:
    return ir.Function("f", (), ir.Block(), {})


def step(name, ran=None, changes=True, **more):
    """A pass that notes that it ran, and may put a statement in front."""

    def run(fn, *given):
        if ran is not None:
            ran.append((name, *given))
        new = ir.Let(ir.Var(name, FLOAT), "neg", (ir.Const(1.0, FLOAT),))
        return replace(fn, body=replace(fn.body, stmts=[new, *fn.body.stmts])) if changes else fn

    return Pass(name, run, "", **more)


def chain(*steps, vocabulary=(A, B), **more):
    return Chain("array", steps, vocabulary, **more)


# ------------------------------------------------------------------------------------------------------------- order


def test_what_is_required_must_have_been_ensured():
    gives, needs = step("gives", ensures=(A,)), step("needs", requires=(A,))
    chain(gives, needs)
    chain(needs, begins=(A,))
    with pytest.raises(WrongOrder, match="needs requires what does not hold there: a"):
        chain(needs, gives)
    with pytest.raises(WrongOrder, match="needs requires"):
        chain(gives, step("breaks", breaks=(A,)), needs)
    with pytest.raises(WrongOrder, match="needs requires"):
        chain(step("perhaps", ensures=(A,), when="threads"), needs)
    with pytest.raises(WrongOrder, match="at the end there does not hold: b"):
        chain(gives, wanted=(A, B))


def test_the_vocabulary_is_closed():
    with pytest.raises(WrongOrder, match="not in the vocabulary: b"):
        chain(step("gives", ensures=(B,)), vocabulary=(A,))


def test_a_group_ensures_what_holds_in_either_case():
    breaks, mends, needs = step("breaks", breaks=(A,)), step("mends", ensures=(A,)), step("needs", requires=(A,))
    chain(Group((breaks,), (mends,)), needs, begins=(A,))
    with pytest.raises(WrongOrder):
        chain(Group((breaks,), ()), needs, begins=(A,))
    with pytest.raises(WrongOrder):
        chain(Group((breaks,), (mends,)), needs)  # nothing may have changed, and then nothing is mended
    chain(Group((replace(breaks, ensures=(B,)),), ()), step("second", requires=(B,)))


@pytest.mark.parametrize("name", CHAINS)
def test_every_pass_says_why_it_stands_there(name):
    assert all(p.why and p.name for p in CHAINS[name].passes())


def test_the_order_of_loops_is_held_by_what_passes_require():
    swapped = list(PASSES.steps)
    named = [s.name if isinstance(s, Pass) else "" for s in swapped]
    at = named.index("parallel schedule")
    swapped.insert(1, swapped.pop(at))
    with pytest.raises(WrongOrder, match="parallel schedule"):
        replace(PASSES, steps=tuple(swapped))
    with pytest.raises(WrongOrder, match="array contraction"):
        PASSES.without("loop fusion")
    PASSES.without("buffer reuse")


# -------------------------------------------------------------------------------------------------------- what runs


def test_a_group_cleans_only_what_has_changed():
    ran: list = []
    lazy, busy, after = step("lazy", ran, changes=False), step("busy", ran), step("after", ran)
    fn = empty()
    assert chain(Group((lazy,), (after,))).run(fn) is fn
    assert ran == [("lazy",)]
    chain(Group((lazy, busy), (after,))).run(fn)
    assert ran[1:] == [("lazy",), ("busy",), ("after",)]


def test_settings_are_handed_to_those_that_name_them():
    ran: list = []
    steps = step("cut", ran, given=("threads", "least"), when="threads"), step("all", ran)
    chain(*steps).run(empty(), Settings(threads=2, least=5.0))
    chain(*steps).run(empty(), Settings())
    assert ran == [("cut", 2, 5.0), ("all",), ("all",)]


def test_another_pass_instead():
    ran: list = []
    other = chain(step("one"), Group((step("two"),), ())).instead("two", step("new", ran).run)
    other.run(empty())
    assert ran == [("new",)]


# ---------------------------------------------------------------------------------------------------------- watching


def loss(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** 2
    return s


def gradient_text():
    return tp.source(tp.jit(tp.grad(loss), cache=False), np.ones(3), stage="loops")


def test_every_station_is_seen():
    seen: list[watch.Done] = []
    plain = gradient_text()
    with watch.watching(seen.append):
        assert gradient_text() == plain
    assert {d.dialect for d in seen} == {"array", "loops"}
    names = [d.name for d in seen]
    assert names[0] == "lift" and names[-1] == "vector functions"
    assert (
        names.index("lift") < names.index("reverse mode") < names.index("lowering") < names.index("scalar replacement")
    )
    changed = {d.name for d in seen if d.has_changed}
    assert "loop fusion" in changed and "scatter to gather" not in changed


def test_nobody_watches_afterwards():
    was = watch.ON
    with watch.watching(lambda done: None):
        assert watch.ON
    assert watch.ON == was


def test_a_pass_is_left_out():
    fn, one, two = empty(), step("one"), step("two")
    with watch.left_out("one"):
        assert len(chain(one, two).run(fn).body.stmts) == 1
    assert len(chain(one, two).run(fn).body.stmts) == 2


def test_only_what_has_changed_is_dumped(capsys):
    with watch.watching(watch.Dumping(frozenset(["busy", "lazy", "anew"]))):
        anew = Pass("anew", lambda fn: replace(fn), "")  # the same code in another object
        chain(step("lazy", changes=False), anew, step("busy"), step("other")).run(empty())
    found = capsys.readouterr().err
    assert found.startswith("# array: f after busy\nf():\n  busy: float = neg 1.0")
    assert found.count("# array") == 1


def test_time_is_counted_once():
    timing = watch.Timing()
    inner = chain(step("inner"))
    outer = Pass("outer", lambda fn: inner.run(inner.run(fn)), "")
    with watch.watching(timing):
        chain(outer).run(empty())
    assert timing.found["array", "inner"][0] == 2 and timing.found["array", "outer"][0] == 1
    assert timing.found["array", "outer"][1] >= 0.0
    assert timing.table().splitlines()[1].split()[1:] == ["2", "array:", "inner"]


PROGRAM = """
import numpy as np, transpile as tp
def f(x):
    return np.sum(x * x)
if __name__ == "__main__":
    tp.source(tp.jit(tp.grad(f), cache=False), np.ones(3), stage="loops")
"""


def test_the_environment_is_asked(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    here = os.pathsep.join(p for p in sys.path if p)  # the tree that is tested
    given = {"TRANSPILE_DUMP": "lift, loop fusion", "TRANSPILE_TIMES": "1", "PYTHONPATH": here}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py")], env={**os.environ, **given}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("# array: f after lift\nf(x: float64[n]):\n")
    assert " loops: scalar replacement" in done.stderr and "# array: f_grad after reverse mode" not in done.stderr
