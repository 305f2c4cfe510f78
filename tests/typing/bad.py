"""Mistakes that type checkers find; each line with one says so."""

import numpy as np

import transpile as tp


def loss(w: float, x: float, scale: float = 1.0) -> float:
    return w * x * scale


tp.grad(loss)(1.0, 2.0, 3.0, 4.0)  # mistake: too many arguments
tp.grad(loss)(1.0)  # mistake: one is missing
tp.grad(loss)(1.0, x="two")  # mistake: a string
tp.jit(loss)(1.0, y=2.0)  # mistake: no such argument
tp.value_and_grad(loss)(1.0, 2.0)[2]  # mistake: a pair has two entries
tp.grad(3)  # mistake: not a function
tp.grad(loss, argnums="w")  # mistake: a name for a number
tp.jit(loss, parallel="yes")  # mistake: a string for a flag
tp.jit(target=3)  # mistake: a number for a name
text: int = tp.source(tp.grad(loss), 1.0, 2.0)  # mistake: the text is a string
number: str = tp.jit(loss)(1.0, 2.0)  # mistake: a float
value, pullback = tp.vjp(loss, 1.0, 2.0)
pullback(1.0, 2.0)  # mistake: one cotangent
tp.jvp(loss, (1.0, 2.0))  # mistake: no tangents
tp.linearise(loss, 1.0, 2.0)  # mistake: no such function


@tp.jit(target="cpu")
def other(t: float) -> float:
    return t


other("t")  # mistake: a string
array: np.ndarray = np.ones(2)
