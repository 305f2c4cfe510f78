"""``docs/coverage.md`` is what its data say, and the data are still true: ``make coverage`` renews both."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy

sys.path.append(str(Path(__file__).parents[2] / "docs/_generate"))

import coverage_table
from coverage_table import ORDER, PAGE, Row, names, page, quiet_row, stored

from transpile.numpy_api.entries import entries

VERSIONS, ROWS = stored()
HERE = [f"{m.__name__} {'.'.join(m.__version__.split('.')[:2])}." for m in (np, scipy)]
of_these_versions = pytest.mark.skipif(
    not all(name in VERSIONS.lower() for name in HERE), reason=f"the table is of {VERSIONS}; `make coverage` renews it"
)
SAMPLE = [row for row in ROWS if zlib.crc32(row.name.encode()) % 40 == 0]


@pytest.mark.quick
def test_the_page_shows_the_data() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(ROWS, VERSIONS)


@pytest.mark.quick
@of_these_versions
def test_every_supported_function_is_in_the_table() -> None:
    known = {row.name for row in ROWS if row.status != "refused"}
    modules = tuple(f"{m}." for m in coverage_table.MODULES if m.startswith(("numpy", "scipy", "math")))
    here = {name for name in names() if name.startswith(modules)}
    assert {n for n in entries() if n in here} - known == set()
    assert {row.status for row in ROWS} == set(ORDER)


@of_these_versions
@pytest.mark.parametrize("row", SAMPLE, ids=lambda row: row.name)
def test_a_row_is_still_true(row: Row) -> None:
    assert quiet_row(row.name) == row


def test_a_wrong_derivative_is_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    right = coverage_table.tp.jvp

    def wrong(*args):
        value, tangent = right(*args)
        return value, 1.001 * tangent

    monkeypatch.setattr(coverage_table.tp, "jvp", wrong)
    with pytest.raises(AssertionError):
        quiet_row("numpy.sinh")
