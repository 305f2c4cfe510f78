"""What is written to a place may be read again there by the reverse sweep, but not where the place names one element twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from differences import gradient_by_differences
from fuzz.check import load

import transpile as tp

PLACES = {
    "row": ("rows[i]", "4"),
    "column": ("rows[:, i]", "4"),
    "turned": ("rows[i, ::-1]", "4"),
    "every other": ("rows[i, ::2]", "2"),
    "part": ("rows[i, 1:3]", "2"),
    "one place twice": ("rows[i, places]", "4"),
    "columns, one twice": ("rows[places, i]", "4"),
    "masked": ("rows[i, chosen]", "2"),
    "turned row": ("rows.T[i]", "4"),
    "view": ("rows[i][places]", "4"),
}
PROGRAM = """import numpy as np


def program(x, y, places, chosen):
    rows = np.zeros((4, 4))
    total = 0.0
    for i in range(4):
        row = np.exp(x[i] * y[:{count}])
        {place} = row
        total += row @ row
    return total + np.sum(rows) * total
"""


@pytest.mark.parametrize("name", PLACES)
def test_values_are_those_written(name: str, tmp_path: Path) -> None:
    place, count = PLACES[name]
    text = PROGRAM.format(place=place, count=count)
    f = load(text, f"kept_{name.replace(' ', '_').replace(',', '')}", tmp_path).program
    x, y = np.random.default_rng(2).normal(size=(2, 4)) * 0.7
    rest = y, np.array([0, 2, 2, 1]), np.array([True, False, False, True])
    wanted = gradient_by_differences(lambda at: f(at, *rest), x)
    np.testing.assert_allclose(tp.grad(f)(x, *rest), wanted, rtol=1e-7)
