"""Every index expression of up to four parts, of arrays of rank 0 to 4, beside NumPy: reads, writes, updates and gradients.

What NumPy refuses is refused; what it takes gives its value in its shape.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import random
from typing import Any

import numpy as np
import pytest

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.errors import TranspileError

SIZES = (2, 3, 4, 2)
PLAIN = ("0", ":", "None", "...", "i", "m", "True")
MORE = ("-1", "1:", "::-1", "j", "M", "o", "False", "t", "z", "[0, 1]")
GIVEN = {
    "i": lambda sizes: np.array([0, 1]),
    "j": lambda sizes: np.array([[-1], [0]]),
    "z": lambda sizes: np.array(1),
    "t": lambda sizes: np.True_,
    "o": lambda sizes: np.arange(sizes[0]) == 1,
    "m": lambda sizes: np.arange(sizes[0]) < 2,
    "M": lambda sizes: np.arange(np.prod(sizes)).reshape(sizes) % (np.prod(sizes) - 1) == 0,  # the first and the last
}
MODES = ("f", "at", "x.at", "grad", "vmap", "lanes")
COMPILED = ("jit", "jit grad")
COVERS = {"None": 0, "...": 0, "True": 0, "False": 0, "t": 0, "M": 2}
BODY = """
def f(x, w{names}):
    y, z = x.copy(), x.copy()
    y[{index}] = w
    z[{index}] += 2.0 * w
    return x[{index}], y, z

def slope(x, w{names}):
    y = x.copy()
    y[{index}] = 3.0 * w
    return np.sum(x[{index}] * w) + np.sum(y * y)

def at(x, w{names}):
    return tp.at(x)[{index}].get(), tp.at(x)[{index}].set(w), tp.at(x)[{index}].add(w), tp.at(x)[{index}].get(mode="fill")
"""


def made(index: str, names: list[str]) -> Any:
    """The functions of an index expression."""
    text, name = BODY.format(index=index, names="".join(f", {n}" for n in names)), f"<index {index}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"np": np, "tp": tp}
    exec(compile(text, name, "exec"), space)
    return space


def program(parts: tuple[str, ...], shape: tuple[int, ...]) -> tuple[Any, list[Any], Any]:
    """The functions, what arrays they are given beside x, and the index as NumPy gets it."""
    covered = sum(COVERS.get(p, 1) for p in parts)
    texts, given, axis = [], {}, 0
    for p in parts:
        sizes = shape[axis : axis + COVERS.get(p, 1)]
        if p in GIVEN:
            texts.append(f"{p}{len(given)}")
            given[texts[-1]] = GIVEN[p](sizes if len(sizes) == COVERS.get(p, 1) else (2, 2))
        else:
            texts.append(p)
        axis += max(0, len(shape) - covered) if p == "..." else COVERS.get(p, 1)
    index = ", ".join(texts) + "," if texts else "()"
    whole = eval(f"np.s_[{index}]", {"np": np, **given})
    return made(index, list(given)), list(given.values()), whole


def difference(parts: tuple[str, ...], rank: int, modes: tuple[str, ...] = MODES) -> str | None:
    """What is wrong with an index expression of an array of this rank, if anything."""
    x = np.arange(1.0, 1.0 + np.prod(SIZES[:rank])).reshape(SIZES[:rank])
    functions, given, index = program(parts, x.shape)
    try:
        wanted = x[index]
        w = 0.25 + np.arange(np.size(wanted)).reshape(np.shape(wanted))
    except IndexError:
        wanted, w = None, np.array(1.0)
    for name in modes:
        if name in ("vmap", "lanes") and not rank:  # a lane of these is a number
            continue
        what = f"{name} of x[{', '.join(parts)}], rank {rank}"
        try:
            found = called(name, functions, [x.copy(), w, *given])
        except Exception as e:
            if (
                wanted is None
                and isinstance(e, (IndexError, ValueError, TranspileError))
                or may_refuse(name, parts, rank, e)
            ):
                continue
            return f"{what}: {type(e).__name__}: {e}"
        if wanted is None:
            return f"{what}: NumPy refuses it"
        for k, (a, b) in enumerate(zip(found, values(name, functions, x, w, index, given))):
            if np.shape(a) != np.shape(b) or not np.allclose(a, b, rtol=1e-14):
                return f"{what}: result {k} is {a}, not {b}"
    return None


def may_refuse(name: str, parts: tuple[str, ...], rank: int, failed: Exception) -> bool:
    """Whether it is a refusal that docs/limits.md names."""
    codes = getattr(failed, "codes", ())
    return (
        codes == ("T603",)
        and name == "lanes"
        and bool({"m", "M", "o", "t"} & {*parts})
        or codes == ("T123",)
        and not rank
    )


def called(name: str, functions: Any, args: list[Any]) -> Any:
    """What a mode gives."""
    f, at, slope = functions["f"], functions["at"], functions["slope"]
    if name == "at":
        return at(*args)
    if name in ("vmap", "lanes"):
        count = len(args) if name == "lanes" else 2
        lanes = [np.stack([a] * 2) if k < count else a for k, a in enumerate(args)]
        return tp.vmap(f, in_axes=tuple(0 if k < count else None for k in range(len(args))))(*lanes)
    made = {
        "f": Transformed(f, Level()), "x.at": Transformed(at, Level()), "jit": tp.jit(f),
        "grad": tp.grad(slope, argnums=(0, 1)), "jit grad": tp.jit(tp.grad(slope, argnums=(0, 1))),
    }  # fmt: skip
    return made[name](*args)


def values(name: str, functions: Any, x: Any, w: Any, index: Any, given: list[Any]) -> tuple[Any, ...]:
    """What NumPy gives."""
    if name in ("f", "jit"):
        return functions["f"](x.copy(), w, *given)
    if name in ("vmap", "lanes"):
        return tuple(np.stack([v] * 2) for v in functions["f"](x.copy(), w, *given))
    put, added = x.copy(), x.copy()
    put[index] = w
    np.add.at(added, index, w)
    if name in ("at", "x.at"):
        return x[index], put, added, x[index]
    read, kept, last = np.zeros_like(x), x.copy(), np.full(x.shape, -1)
    np.add.at(read, index, w)
    kept[index] = 0.0
    last[index] = np.arange(w.size).reshape(w.shape)  # which value stays where several are written
    stays = np.isin(np.arange(w.size), last).reshape(w.shape)
    return read + 2.0 * kept, x[index] + 18.0 * w * stays


Expression = tuple[tuple[str, ...], int]


@functools.cache
def expressions(alphabet: tuple[str, ...]) -> list[Expression]:
    """What there is of up to four parts, for each rank that has at most one axis too few."""
    found: list[Expression] = []
    for count in range(5):
        for parts in itertools.product(alphabet, repeat=count):
            covered = sum(COVERS.get(p, 1) for p in parts)
            if parts.count("...") < 2 or count == 2:
                found += [(parts, rank) for rank in range(5) if covered <= rank + 1]
    return found


def check(several: list[Expression], modes: tuple[str, ...]) -> None:
    wrong = [found for parts, rank in several if (found := difference(parts, rank, modes)) is not None]
    assert not wrong, f"{len(wrong)} of {len(several)}:\n" + "\n".join(wrong[:20])


APART = (
    ":, i, ..., j", "i, ..., 0, :", "0, ..., i, 1:", "None, i, ..., :, m", "i, :, ..., t", ":, o, ..., m", "True, :, ..., z",
    ":, M, ..., i", "True", "False, ..., i", "t, 0", ":, True, None, m",
)  # fmt: skip
"""Index arrays and truth values with an ellipsis between them, and truth values."""


@pytest.mark.parametrize("text", APART)
def test_an_ellipsis_keeps_index_arrays_apart(text):
    parts = tuple(text.split(", "))
    least = max(1, sum(COVERS.get(p, 1) for p in parts))
    check([(parts, rank) for rank in range(least, min(least + 2, 5))], MODES)


def test_compiled():
    check([((":", "o", "...", "True", "m"), 3)], COMPILED)


def test_some_expressions():
    check(random.Random(1).sample(expressions((*PLAIN, *MORE)), 8), MODES)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_every_expression(block):
    check(expressions(PLAIN)[block::8], ("f", "x.at"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_more_expressions(seed):
    several = random.Random(seed).sample(expressions((*PLAIN, *MORE)), 200)
    check(several, MODES)
    check(several[:15], COMPILED)
