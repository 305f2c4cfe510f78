"""Two things of one name, in every way in which Python gives them one: values, gradients and programs are of the right one."""

from __future__ import annotations

import pytest
from two_of_one_name import CONTENTS, WAYS, check, load

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

PAIRS = [(way, contents) for way in WAYS for contents in CONTENTS]
TEXT = {"value": lambda f: Transformed(f, Level()), "grad": tp.grad, "vmap": tp.vmap}
COMPILED = {"jit": tp.jit, "jit of grad": lambda f: tp.jit(tp.grad(f)), "jit of vmap": lambda f: tp.jit(tp.vmap(f))}


def sampled(every: int) -> pytest.MarkDecorator:
    """All pairs, of which ``make test`` runs one in so many: each way and each content now and then."""
    marks = [() if k % every == every - 1 else (pytest.mark.slow,) for k in range(len(PAIRS))]
    params = [pytest.param(*pair, marks=m, id="-".join(pair)) for pair, m in zip(PAIRS, marks)]
    return pytest.mark.parametrize(("way", "contents"), params)


@sampled(29)
def test_text(way, contents, tmp_path):
    check(load(way, contents, tmp_path).f, TEXT, f"{way}, {contents}")


@pytest.mark.numba
@sampled(97)
def test_compiled(way, contents, tmp_path):
    check(load(way, contents, tmp_path).f, COMPILED, f"{way}, {contents}")


def test_the_sample_has_all_contents() -> None:
    """The step and the number of contents share no factor: the sample goes through all of them."""
    assert {PAIRS[k][1] for k in range(28, len(PAIRS), 29)} == set(CONTENTS)
