"""Results that all lanes share (``out_axes=None``): what no branch, loop or call changes is the same in all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transpile as tp
from transpile import lax

KEPT: dict[str, Any] = {
    "a branch": lambda x, y: (y, x)[0] if x < 1.0 else y,
    "a conditional function": lambda x, y: lax.cond(x < 1.0, lambda v: v, lambda v: v, y),
    "a switch": lambda x, y: lax.switch((x > 0.5).astype(int), [lambda v: v, lambda v: v], y),
    "one trip": lambda x, y: lax.cond(
        x < 1.0, *[lambda v: lax.scan(lambda c, _: (c, None), v, None, length=1)[0]] * 2, y
    ),
    "a loop of data": lambda x, y: lax.while_loop(lambda c: c[0] < 3.0, lambda c: (c[0] + 1.0, c[1]), (x, y))[1],
    "a branch in a loop": lambda x, y: lax.fori_loop(
        0, 3, lambda i, c: lax.cond(x < i, lambda v: v, lambda v: v, c), y
    ),
    "a branch in a branch": lambda x, y: (y if x < 0.5 else (y, x)[0]) if x < 1.5 else y,
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_handed_on_is_common(name: str) -> None:
    lanes = tp.vmap(KEPT[name], in_axes=(0, None), out_axes=None)
    assert lanes(np.arange(3.0), 5.0) == 5.0
    assert tp.grad(lanes, 1)(np.arange(3.0), 5.0) == 1.0


def test_what_differs_is_refused() -> None:
    with pytest.raises(tp.TranspileError) as failed:
        tp.vmap(lambda x, y: y if x < 1.0 else 2.0 * y, in_axes=(0, None), out_axes=None)(np.arange(3.0), 5.0)
    assert failed.value.codes == ("T603",)
