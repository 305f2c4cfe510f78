"""What a corpus program is, and how a module collects its own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Program:
    """One function of the accepted language with the arguments that it is tested at.

    `args()` gives fresh arguments, the same on every call; the function may write into them.
    `wrt` are the positions that are differentiated; such an argument may be a tree.
    `smooth=False`: differences do not give the derivative here (a kink, or `stop_gradient`), so
    forward is checked against reverse only, and both against `expect`, where given: the gradients
    by hand, one for each position of `wrt`.
    The tag `mutates`: the function writes into its arguments. The tag `beyond`: it uses something
    that the language's written list does not name. `second=False`: no second derivative is asked
    for.
    """

    name: str
    fn: Callable
    args: Callable[[], tuple]
    wrt: tuple[int, ...] = (0,)
    tags: tuple[str, ...] = ()
    smooth: bool = True
    tol: float | None = None
    second: bool = True
    expect: tuple | None = None
    doc: str = ""


class Collection:
    """The programs of one module, in the order in which they are written there."""

    def __init__(self, tags: str = ""):
        self.tags = tuple(tags.split())
        self.programs: list[Program] = []

    def __iter__(self) -> Iterator[Program]:
        return iter(self.programs)

    def __len__(self) -> int:
        return len(self.programs)

    def program(
        self,
        args: Callable[[], tuple],
        wrt: int | tuple[int, ...] = 0,
        tags: str = "",
        *,
        smooth: bool = True,
        tol: float | None = None,
        second: bool = True,
        expect: Any = None,
    ) -> Callable[[Callable], Callable]:
        """A decorator that adds a function to this collection and returns it unchanged."""
        if isinstance(wrt, int):
            wrt, expect = (wrt,), None if expect is None else (expect,)

        def add(fn: Callable) -> Callable:
            module = fn.__module__.rpartition(".")[2]
            self.programs.append(
                Program(
                    name=f"{module}.{fn.__name__}",
                    fn=fn,
                    args=args,
                    wrt=wrt,
                    tags=self.tags + tuple(tags.split()),
                    smooth=smooth,
                    tol=tol,
                    second=second,
                    expect=expect,
                    doc=(fn.__doc__ or "").strip(),
                )
            )
            return fn

        return add


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Standard normal numbers."""
    return np.random.default_rng(seed).normal(size=shape)


def uniform(low: float, high: float, *shape: int, seed: int = 0) -> np.ndarray:
    """Numbers between `low` and `high`."""
    return np.random.default_rng(seed).uniform(low, high, size=shape)


def positive(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers between 0.5 and 2."""
    return uniform(0.5, 2.0, *shape, seed=seed)


def spread(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers around 0 that are at least 0.3 apart and in no order: no ties near by."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    numbers = 0.5 * (rng.permutation(count) - 0.5 * count) + rng.uniform(0.05, 0.2, size=count)
    return numbers.reshape(shape)


def definite(n: int, seed: int = 0) -> np.ndarray:
    """A symmetric positive definite matrix, well conditioned."""
    a = normal(n, n, seed=seed)
    return a @ a.T / n + np.eye(n)
