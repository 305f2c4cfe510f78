"""Random programs: 120 in `make test`, 2,600 in `make test-all`, each forward against differences and reverse against forward."""

import random
import tempfile
from pathlib import Path

import pytest

from fuzz.check import Unfair, check_text, fair, load
from fuzz.constructs import KINDS
from fuzz.generate import CONSTRUCTS, generate
from fuzz.run import try_seeds
from fuzz.shrink import shrink

PART = 20  # programs of one test, so that the workers share them


def assert_none_fails(seeds, **options):
    found = []
    tally = try_seeds(seeds, small=False, report=found.append, **options)
    assert not found, f"{len(found)} of {tally.programs} programs fail\n" + "\n".join(found[:3])
    return tally


PARTS = [pytest.param(k, marks=[pytest.mark.slow] if k >= 3 * PART else []) for k in range(0, 100, PART)]


@pytest.mark.parametrize("first", PARTS)
@pytest.mark.sampled(6)
def test_random_programs(first):
    assert_none_fails(range(first, first + PART))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 2000, 4 * PART))
def test_many_random_programs(first):
    assert_none_fails(range(first, min(first + 4 * PART, 2000)))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, PART))
def test_second_order_of_random_programs(first):
    assert_none_fails(range(first, first + PART), second=True)


@pytest.mark.slow
@pytest.mark.numba
def test_compiled_random_programs():
    assert_none_fails(range(3000, 3030), compiled=True)


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(PART, 400, 2 * PART))])
def test_programs_in_lanes(first):
    assert_none_fails(range(first, first + (5 if first == 0 else 2 * PART)), lanes=True)


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("first", range(6000, 6030, 10))
def test_compiled_programs_in_lanes(first):
    assert_none_fails(range(first, first + 10), lanes=True, compiled=True)


@pytest.mark.parametrize(
    "first", [0, pytest.param(40, marks=pytest.mark.slow), pytest.param(200, marks=pytest.mark.slow)]
)
def test_programs_whose_memory_depends_on_what_runs(first):
    """They are right or refused."""
    tally = assert_none_fails(range(first, first + 4 * first + (40 if first else PART)), risky=True)
    assert tally.refused


def made(count):
    """The constructs of the programs of the first seeds. (Which draft is fair plays no role: each holds what is wanted.)"""
    from fuzz.run import Tally

    tally = Tally()
    for seed in range(count):
        tally.add(generate(seed))
    return tally


def test_a_hundred_programs_hold_every_construct():
    tally = made(100)
    print(tally.summary())
    assert not tally.missing()[0]


def test_two_thousand_programs_hold_every_pair():
    tally = made(2000)
    print(tally.summary())
    assert not tally.missing()[1]


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(PART // 2, 600, 4 * PART))]
)
def test_programs_of_the_kinds_of_faults(first):
    """They are right or refused."""
    assert_none_fails(range(first, first + (PART // 2 if first == 0 else 4 * PART)), kinds=True)


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("first", range(5000, 5060, PART))
def test_compiled_programs_of_the_kinds_of_faults(first):
    assert_none_fails(range(first, first + PART), kinds=True, compiled=True)


def test_kinds_of_faults_are_made():
    """Each template of a kind stands in some of the first programs, and what it makes is Python."""
    held = set()
    for seed in range(60):
        source = generate(seed, kinds=True)
        compile(source.text, "<kind>", "exec")
        held |= source.constructs & set(KINDS)
    assert held == set(KINDS)


def test_one_seed_is_one_text():
    assert generate(7).text == generate(7).text
    assert generate(7).text != generate(8).text
    random.seed(1)
    first = generate(9).text
    random.seed(2)
    assert generate(9).text == first


def test_programs_are_fair():
    """Nearly all run in plain NumPy, stay bounded, and have stable differences."""
    unfair = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(60):
            try:
                fair(load(generate(seed).text, f"fair_{seed}", Path(folder)))
            except Unfair:
                unfair += 1
    assert unfair <= 3


def test_shrinking_keeps_what_fails():
    text = generate(3).text

    def fails(candidate):
        return "np.sin" in candidate and "return" in candidate and compile(candidate, "x", "exec") is not None

    small = shrink(text, fails)
    assert fails(small)
    assert len(small.splitlines()) < len(text.splitlines()) / 2


def test_an_unfair_program_is_told():
    text = "import numpy as np\ndef program(x):\n    return x / 0\ndef args():\n    return (1.0,)\nWRT = (0,)\n"
    with pytest.raises(Unfair):
        check_text(text)
    assert len(CONSTRUCTS) > 50
