"""Random loop nests: a few in `make test`, 400 in `make test-all`, each stage of their loops against the interpreted call."""

from __future__ import annotations

import pytest

from fuzz.run_nests import try_seeds


def assert_none_fails(seeds: range) -> None:
    found: list[str] = []
    count, kinds = try_seeds(seeds, small=False, report=found.append)
    assert not kinds, f"{len(found)} of {count} programs fail\n" + "\n".join(found[:3])


def test_random_nests() -> None:
    assert_none_fails(range(4))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(4, 404, 20))
def test_many_random_nests(first: int) -> None:
    assert_none_fails(range(first, first + 20))
