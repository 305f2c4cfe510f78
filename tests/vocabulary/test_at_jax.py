"""Functional updates beside JAX's own, where it is installed: values and gradients of every method, mode and kind of index."""

from __future__ import annotations

from typing import Any

import at_cases
import numpy as np
import pytest

import transpile as tp

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jnp = jax.numpy


def random_call(seed: int) -> Any:
    """An array, an index, a method, values, and the options; None where the index is none."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.5, 2.0, rng.integers(1, 5, rng.integers(1, 4)))
    index = at_cases.random_index(rng, x.shape)
    op = rng.choice([*at_cases.OPS, "get"])
    mode = rng.choice(np.array(at_cases.MODES, object))
    try:
        whole, _ = at_cases.points(x.shape, index)
    except ValueError:
        return None
    values = rng.uniform(0.5, 2.0, whole)
    if op == "set":  # which of several that go to one place is not said
        values = np.full(whole, 0.75)
    return x, index, op, values, {} if mode is None else {"mode": mode}


def call(at: Any, sin: Any, index: Any, op: str, values: Any, options: dict[str, Any]) -> Any:
    given = {"get": (), "apply": (sin,)}.get(op, (values,))
    return getattr(at[index], op)(*given, **options)


@pytest.mark.parametrize("block", range(4))
def test_values(block):
    for seed in range(1000 + 40 * block, 1040 + 40 * block):
        made = random_call(seed)
        if made is None:
            continue
        x, index, op, values, options = made
        theirs = call(jnp.asarray(x).at, jnp.sin, index, op, values, options)
        ours = call(tp.at(x), np.sin, index, op, values, options)
        np.testing.assert_allclose(ours, np.asarray(theirs), rtol=1e-12, err_msg=f"seed {seed}: {index} {op} {options}")


def test_gradients():
    """Of those that JAX differentiates (products at one place it does not), where a mode says what is out of range: by default JAX
    drops a write there and clips a read, and gives the first an adjoint and the second none."""
    count = 0
    for seed in range(2000, 2050):
        made = random_call(seed)
        if made is None or made[2] not in ("add", "subtract", "get", "apply", "set") or not np.size(made[3]):
            continue
        x, index, op, values, options = made
        if options.get("mode") not in ("clip", "drop", "fill"):
            options = {"mode": ("clip", "drop")[seed % 2]}

        def loss(x, v, at, np_, index=index, op=op, options=options):
            found = call(at(x), np_.sin, index, op, v, options)
            return np_.sum(np_.where(np_.isnan(found), 0.0, np_.sin(found)))

        try:
            theirs = jax.grad(lambda x, v: loss(x, v, lambda x: x.at, jnp), argnums=(0, 1))(x, values)
        except NotImplementedError:
            continue
        ours = tp.grad(lambda x, v: loss(x, v, tp.at, np), argnums=(0, 1))(x, values)
        if op != "set":
            np.testing.assert_allclose(ours[1], np.asarray(theirs[1]), rtol=1e-10, atol=1e-12, err_msg=f"seed {seed}")
        np.testing.assert_allclose(ours[0], np.asarray(theirs[0]), rtol=1e-10, atol=1e-12, err_msg=f"seed {seed}")
        count += 1
    assert count > 8
