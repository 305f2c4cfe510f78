"""User code that type checkers accept: what a transform takes and gives. `tests/face/test_types.py` and `make check` read it."""

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

import transpile as tp

Array = npt.NDArray[np.float64]


def loss(w: Array, x: Array, scale: float = 1.0) -> float:
    return float(scale * np.sum((x @ w) ** 2))


def pair(x: Array) -> tuple[Array, dict[str, int]]:
    return x * 2.0, {"size": len(x)}


w, x = np.ones(2), np.ones((3, 2))

gradient = tp.grad(loss)
first = gradient(w, x, scale=2.0)
several = tp.grad(loss, argnums=(0, 1))(w, x)
value, adjoint = tp.value_and_grad(loss)(w, x)
number: float = value
same: Callable[[Array, Array], float] = tp.jit(loss)
second = tp.hessian(tp.jit(loss), argnums=0)(w, x)
rows = tp.jacrev(pair, has_aux=True)(w)
columns = tp.jacfwd(partial(loss, x=x))(w)
out, dot = tp.jvp(loss, (w, x), (w, x))
sums: float = out
result, pullback = tp.vjp(loss, w, x)
w_bar, x_bar = pullback(1.0)
doubled, pull, aux = tp.vjp(pair, w, has_aux=True)
sizes: dict[str, int] = aux
here, push = tp.linearize(loss, w, x)
moved = push(w, x)
products = tp.hvp(loss, (w, x), (w, x))
text: str = tp.source(tp.grad(loss), w, x)
bytes_recorded: int | None = tp.report(tp.grad(loss), w, x).bytes
held: Array = tp.stop_gradient(w)
tp.check_grads(loss, (w, x), order=2, modes=("fwd", "rev"))


@tp.grad
def slope(t: float) -> float:
    return t * t


@tp.jit(parallel=True, fastmath=("contract",))
def fast(t: float, count: int) -> float:
    return t * count


class Model:
    def __init__(self, k: float) -> None:
        self.k = k

    @tp.jit
    def energy(self, t: float) -> float:
        return self.k * t * t

    @tp.value_and_grad(argnums=1)
    def both(self, t: float) -> float:
        return self.k * t


steep = slope(3.0)
three: float = fast(1.5, 2)
joules: float = Model(1.0).energy(2.0)
height, tilt = Model(1.0).both(2.0)
newton = tp.jit(tp.grad(tp.grad(lambda t: t * t)))


def mistaken(t: float) -> float:
    return t


try:
    tp.grad(mistaken)(2.0)
except tp.TranspileError as error:
    codes: tuple[str, ...] = error.codes
