"""Three loops that read data which is written somewhere between them: trips run again only where they find what they found."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from differences import gradient_by_differences
from fuzz.check import load

import transpile as tp

WRITES = {
    "every entry": "data[:] = data * 0.9 + y[{index}] * 0.1",
    "one entry": "data[{index}] += 0.1 * y[{index}]",
    "in a loop": "for e in range(len(y)):\n    data[e] = 0.3 + 0.1 * y[{index}] * e",
    "in a branch": "if y[{index}] > 0.0:\n    data[0] = data[1] * 0.7",
}
PLACES = ("before j", "before k", "in k", "after k", "after j")
STARTS = {"anew": "s = x[i]", "carried": "s = s + 0.1 * x[i]"}
READS = {"cheap": "s = s * s * (0.3 + data[k]) + x[i] * y[j] * 0.2", "dear": "s = np.sin(s * data[k]) + x[i] * y[j]"}


def text(write: str, place: str, start: str, read: str) -> str:
    depth = {"before j": 2, "before k": 3, "in k": 4, "after k": 3, "after j": 2}
    made = {place: [" " * 4 * depth[place] + line for line in write.splitlines()]}

    def at(name: str) -> list[str]:
        return [line.format(index={2: "i", 3: "j", 4: "k"}[depth[name]]) for line in made.get(name, ())]

    lines = [
        "def program(x, y):",
        "    data = np.ones(len(y)) * 0.5",
        "    s = x[0]",
        "    total = 0.0",
        "    for i in range(len(x)):",
        f"        {start}",
        *at("before j"),
        "        for j in range(len(y)):",
        *at("before k"),
        "            for k in range(len(y)):",
        f"                {read}",
        *at("in k"),
        *at("after k"),
        *at("after j"),
        "        total += s",
        "    return total",
    ]
    return "import numpy as np\n\n\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.sampled(6)
def test_every_place(place: str, start: str, tmp_path: Path) -> None:
    x, y = np.array([0.4, -0.3, 0.5]), np.array([0.5, -0.8, 0.9])
    for write, read in product(WRITES, READS):
        name = f"rerun_{write}_{place}_{start}_{read}".replace(" ", "_")
        f = load(text(WRITES[write], place, STARTS[start], READS[read]), name, tmp_path).program
        wanted = gradient_by_differences(lambda at: f(at, y), x)
        np.testing.assert_allclose(tp.grad(f)(x, y), wanted, rtol=1e-7, atol=1e-8, err_msg=name)
