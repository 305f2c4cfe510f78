"""Frequent mistakes, each with the message that it gets: ``python mistakes.py`` writes them to ``docs/errors.md``.

A mistake is a text that ends with what raises. Before it runs ``import numpy as np``, ``import transpile as tp`` and, for arrays,
``x = np.array([1.0, 2.0, 3.0])``. The page has them by the codes of the messages, and is what `test_mistakes` compares with.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import sys
import warnings
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "errors.md"
FILE = "model.py"
_MARKS = re.compile(r"0x[0-9a-f]+")


class Mistake(NamedTuple):
    """``code`` is that of the diagnostic, or the class of an exception that comes when a function runs."""

    code: str
    title: str
    text: str


def _mistakes() -> list[Mistake]:
    found = []
    for part in dedent(TEXTS).strip().split("\n\n\n"):
        head, _, text = part.partition("\n")
        code, _, title = head.removeprefix("# ").partition(": ")
        found.append(Mistake(code, title, text.strip("\n")))
    return found


TEXTS = """
# T106: a file that is opened
def f(x):
    with open("rate.txt") as file:
        rate = float(file.read())
    return np.sum(x) * rate

tp.grad(f)(x)


# T105: try, in a function that is differentiated
def f(x):
    try:
        return np.sum(np.log(x))
    except FloatingPointError:
        return 0.0

tp.grad(f)(x)


# T103: a coroutine
async def f(x):
    return np.sum(x)

tp.grad(f)(x)


# T104: a generator
def f(x):
    for v in x:
        yield v * v

tp.grad(f)(x)


# T107: a global that is written
calls = 0

def f(x):
    global calls
    calls += 1
    return np.sum(x)

tp.grad(f)(x)


# T108: del
def f(x):
    y = x * 2.0
    del y[0]
    return np.sum(y)

tp.grad(f)(x)


# T110: a module that is not installed
def f(x):
    import scipyy
    return scipyy.special.gamma(x)

tp.grad(f)(2.0)


# T113: a loop over a number
def f(x, n):
    total = 0.0
    for k in n:
        total += x[k]
    return total

tp.grad(f)(x, 3)


# T115: recursion without an end
def f(x):
    return f(x) + 1.0

tp.grad(f)(1.0)


# T118: branches that return different things
def f(x):
    if x[0] > 0:
        return np.sum(x)
    return np.sum(x), x

tp.grad(f)(x)


# T119: a list that becomes a number
def f(x):
    y = [0.0]
    for v in x:
        y = v
    return y[0]

tp.grad(f)(x)


# T120: None among numbers
def f(x, offset=None):
    return np.sum(x) + offset

tp.grad(f)(x)


# T120: a string that is counted with
def f(p):
    return np.sum(p["w"]) * p["cfg"]["rate"]

tp.grad(f)({"w": x, "cfg": {"rate": "0.1"}})


# T121: a method that arrays do not have
def f(x):
    return x.detach().sum()

tp.grad(f)(x)


# T122: a write through a reshape of an argument
def f(x):
    y = x.T.reshape(-1)
    y[0] = 2.0
    return np.sum(x)

tp.grad(f)(np.ones((2, 2)))


# T123: a write into an argument's list
def f(p):
    p["w"] = p["w"] * 2.0
    return np.sum(p["w"])

tp.jit(f)({"w": x})


# T121: a functional update by a name that it does not have
def f(x):
    return np.sum(x.at[0].minimum(0.5))

tp.grad(f)(x)


# T123: a functional update that is written as an assignment
def f(x):
    x.at[0] = 2.0
    return np.sum(x**2)

tp.grad(f)(x)


# T130: a function of NumPy that is not supported
def f(x):
    return np.sum(np.linalg.eig(np.outer(x, x))[0])

tp.grad(f)(x)


# T130: a solver inside of the function
import scipy.optimize

def f(x):
    return scipy.optimize.brentq(lambda t: t * t - x, 0.0, 9.0)

tp.grad(f)(2.0)


# T130: random numbers
def f(x):
    return np.sum(x * np.random.normal(size=3))

tp.grad(f)(x)


# T130: a file that is read
def f(x):
    return np.sum(x) * float(open("rate.txt").read())

tp.grad(f)(x)


# T130: a number that is called
def f(x):
    return np.sum(x(0))

tp.grad(f)(x)


# T131: a method that is not there
def f(x):
    return np.sum(np.quantile(x, 0.5, method="middle"))

tp.grad(f)(x)


# T201: a mode that is not there
def f(x):
    return np.linalg.qr(np.outer(x, x) + np.eye(3), mode="raw")[0].sum()

tp.grad(f)(x)


# T201: a function of math for an array
import math

def f(x):
    return math.sin(x)

tp.grad(f)(x)


# T132: an argument too many for a function of the user's
def scale(x):
    return x * 2.0

def f(x):
    return np.sum(scale(x, 3.0))

tp.grad(f)(x)


# T132: a keyword that NumPy does not have
def f(x):
    return np.sum(x, axes=0)

tp.grad(f)(x)


# T134: an unpacking that does not fit
def f(x):
    a, b = x
    return a * b

tp.grad(f)(x)


# T202: shapes that do not fit
def f(w, x):
    return np.sum((w * x) ** 2)

tp.grad(f)(x, np.ones(4))


# T202: a layer of the wrong size
def net(params, x):
    return np.sum(np.tanh(x @ params["W1"]) @ params["W2"])

tp.grad(net)({"W1": np.ones((3, 2)), "W2": np.ones((4, 2))}, x)


# T202: the determinant of a matrix that is not square
def f(x):
    return np.linalg.det(np.outer(x, np.ones(2)))

tp.grad(f)(x)


# T202: a reshape to another number of elements
def f(x):
    return np.sum(x.reshape(2, 2))

tp.grad(f)(x)


# T205: two dtypes where branches meet
def f(x):
    y = np.zeros(3, dtype=int)
    if x[0] > 0:
        y = x * 0.5
    y[0] = 2.7
    return np.sum(y * x)

tp.grad(f)(x)


# T131: a functional update in a mode that there is not
def f(x, i):
    return np.sum(x.at[i].add(1.0, mode="wrap"))

tp.grad(f)(x, 4)


# T207: more subscripts than axes
def f(x):
    return x[0, 1]

tp.grad(f)(x)


# T207: a bound that is a float
def f(x, n):
    return np.sum(x[: n / 2])

tp.grad(f)(x, 2)


# T208: an axis that is not there
def f(x):
    return np.sum(np.mean(x, axis=1))

tp.grad(f)(x)


# T209: objects in an array
def f(x):
    return np.sum(x * np.ones(3, dtype=object))

tp.grad(f)(x)


# T210: a shape that hangs on the data
def f(x):
    return np.sum(np.ones((2,) * int(x[0])))

tp.grad(f)(x)


# T211: an array as the test of an if
def f(x):
    if x > 0:
        return np.sum(x)
    return 0.0

tp.grad(f)(x)


# T212: a float written into integers
def f(x):
    n = np.arange(3)
    n += 0.5
    return np.sum(n * x)

tp.grad(f)(x)


# T213: an array where a number is needed
def f(x):
    return float(x) * 2.0

tp.grad(f)(x)


# T214: rows of different length
def f(x):
    return np.sum(np.array([[x[0]], [x[1], x[2]]]))

tp.grad(f)(x)


# T301: the gradient of an array
def f(x):
    return x * 2.0

tp.grad(f)(x)


# T301: a value and something else, without has_aux
def f(x):
    return np.sum(x), {"mean": np.mean(x)}

tp.grad(f)(x)


# T301: a function that forgets to return
def f(x):
    total = np.sum(x)

tp.grad(f)(x)


# T302: integers
def f(n):
    return n * n

tp.grad(f)(3)


# T302: a leaf that is no floating-point number
def f(p):
    return np.sum(p["w"]) * p["cfg"]["n"]

tp.grad(f)({"w": x, "cfg": {"n": 3}})


# T302: self is differentiated
class Model:
    def __init__(self, rate):
        self.rate = rate

    def loss(self, x):
        return self.rate * np.sum(x)

tp.grad(Model.loss)(Model(0.1), x)


# T305: the derivative of places
def f(x):
    return np.argmax(x)

tp.jacrev(f)(x)


# T306: an argument that the function does not have
def f(w, x):
    return np.sum(w * x)

tp.grad(f, argnums=2)(x, x)


# T306: self counted among the arguments
class Model:
    def loss(self, x):
        return np.sum(x)

tp.grad(Model().loss, argnums=1)(x)


# T306: a call instead of a transform
def f(w, x):
    return np.sum(w * x)

tp.grad(f, x, x)


# T307: a rule of one's own that gives one tangent too many
@tp.custom_vjp
def f(x):
    return np.sum(x * x)

f.defvjp(lambda x: (np.sum(x * x), x), lambda x, g: (2.0 * g * x, g))
tp.grad(f)(x)


# T308: has_aux without a pair
def f(x):
    return np.sum(x)

tp.grad(f, has_aux=True)(x)


# T309: primals that are no tuple
def f(x):
    return np.sum(x)

tp.jvp(f, x, x)


# T309: a cotangent of another shape
value, pullback = tp.vjp(lambda x: x * 2.0, x)
pullback(1.0)


# T130: a Fourier transform
def f(x):
    return np.sum(np.abs(np.fft.fft(x)))

tp.grad(f)(x)


# T311: complex numbers
def f(x):
    return np.sum(np.abs(x * 1j))

tp.grad(f)(x)


# T402: a function that is written in C
tp.grad([].append)(x)


# T405: a name that is not defined
def f(x):
    return np.sum(x) * rate

tp.grad(f)(x)


# T407: argnames that the function does not have
def f(w, x):
    return np.sum(w * x)

tp.grad(f, argnames="y")(x, x)


# T408: an argument is missing
def f(w, x):
    return np.sum(w * x)

tp.grad(f)(x)


# T409: an array of objects
def f(x):
    return np.sum(x)

tp.grad(f)(np.array([1.0, None]))


# T411: the value of a function instead of the function
def f(x):
    return np.sum(x)

tp.grad(f(x))


# T416: a name that is misspelt
def f(x):
    return np.sun(x)

tp.grad(f)(x)


# T417: a function that is returned
def f(x):
    return lambda: np.sum(x)

tp.jit(f)(x)


# UnboundLocalError: a variable that one branch does not set
def f(x):
    if x[0] > 0:
        y = x * 2.0
    return np.sum(y)

tp.grad(f)(-x)


# IndexError: an index out of range
def f(x, k):
    return x[k] * 2.0

tp.jit(tp.grad(f))(x, 7)


# ValueError: sizes that agreed in the first call
def f(w, x):
    return np.sum((w * x) ** 2)

g = tp.jit(tp.grad(f))
g(x, x)
g(x, np.ones(4))


# LinAlgError: a singular matrix
def f(x):
    return np.sum(np.linalg.solve(np.outer(x, x), x))

tp.jit(tp.grad(f))(np.zeros(3))


# T601: lanes of a number that all of them share
tp.vmap(lambda x, rate: x * rate)(x, 2.0)


# T601: an axis that there is not
tp.vmap(lambda row: np.sum(row), in_axes=1)(x)


# T601: axes for more arguments than there are
tp.vmap(lambda w, x: w @ x, in_axes=(None, 0, 0))(np.eye(3), np.ones((5, 3)))


# T601: axes for a part of a tree that there is not
tp.vmap(lambda p: p["w"] * 2.0, in_axes=({"weights": 0},))({"w": x})


# T603: a result that is longer in some lanes than in others
tp.vmap(lambda row: row[row > 0.0])(np.ones((4, 3)))


# T603: a result of all lanes, said to be one
tp.vmap(lambda a: a * 2.0, out_axes=None)(x)


# T603: a write into what all lanes share
def f(total, a):
    total += a
    return total

tp.vmap(f, in_axes=(None, 0))(x.copy(), x)


# T604: a sum over lanes that have no name
tp.vmap(lambda a: a / tp.lax.psum(a, "batch"))(x)


# T604: a name that is another's
tp.vmap(lambda a: a - tp.lax.pmean(a, "rows"), axis_name="batch")(x)


# T605: a sum over all lanes in a branch of some
tp.vmap(lambda a: tp.lax.psum(a, "batch") if a > 0.5 else a, axis_name="batch")(x)


# T605: a lane that sends twice
tp.vmap(lambda a: tp.lax.ppermute(a, "batch", [(0, 1), (0, 2)]), axis_name="batch")(x)


# T130: random numbers in lanes
tp.vmap(lambda a: a + np.random.normal())(x)


# T211: a branch on a row
def f(row):
    if row > 0:
        return row
    return -row

tp.vmap(f)(np.ones((4, 3)))


# T131: switch, where cond is meant
def f(x):
    return tp.lax.switch(x[0] > 1.0, lambda v: v, lambda v: -v)

tp.grad(f)(x)


# T131: the function of a scan returns its carry alone
def f(x):
    total, _ = tp.lax.scan(lambda c, v: c + v, 0.0, x)
    return total

tp.grad(f)(x)


# T203: the carry and the arrays of a scan are swapped
def f(x):
    total, _ = tp.lax.scan(lambda c, v: (c + v, c), x, 0.0)
    return total

tp.grad(f)(x)


# T206: a carry that grows
def f(x):
    return np.sum(tp.lax.while_loop(lambda c: np.sum(c) < 9.0, lambda c: np.concatenate([c, c]), x))

tp.grad(f)(x)


# T211: a loop that asks an array whether it goes on
def f(x):
    return np.sum(tp.lax.while_loop(lambda c: c < 9.0, lambda c: c * 2.0, x))

tp.grad(f)(x)


# T205: branches that give different things
def f(x):
    return tp.lax.cond(x[0] > 0.0, lambda v: v, lambda v: np.sum(v), x)

tp.jit(f)(x)


# T131: cond of values
def f(x):
    return tp.lax.cond(x[0] > 0.0, x, -x)

tp.jit(f)(x)


# T211: cond of an array
def f(x):
    return tp.lax.cond(x > 0.0, lambda v: v, lambda v: -v, x)

tp.jit(f)(x)


# T207: the arguments of a loop's body are swapped
def f(x):
    return tp.lax.fori_loop(0, 3, lambda s, i: s + x[i], 0.0)

tp.grad(f)(x)


# T131: a loop to a float
def f(x):
    return tp.lax.fori_loop(0, x[0], lambda i, s: s + x[i], 0.0)

tp.grad(f)(x)


# T207: a place that is a float
def f(x):
    return np.sum(tp.lax.dynamic_slice(x, (len(x) / 2,), (1,)))

tp.grad(f)(x)


# T203: one number for the place of a slice
def f(x):
    return np.sum(tp.lax.dynamic_slice(x, 1, 2))

tp.grad(f)(x)


# T416: a function of lax that NumPy has
def f(x):
    return np.sum(tp.lax.rsqrt(x))

tp.grad(f)(x)


# T416: the module of trees by its longer name
def f(p):
    return np.sum(tp.tree_util.tree_map(np.sin, p)["w"])

tp.grad(f)({"w": x})


# T601: the array is given to vmap itself
tp.vmap(np.sin, x)


# T601: axes for two results where there is one
tp.vmap(lambda a: 2.0 * a, out_axes=(0, 0))(x)


# T132: a loop without its first value
def f(x):
    return tp.lax.fori_loop(0, 3, lambda i, s: s + x[i])

tp.grad(f)(x)


# T119: a body that returns nothing
def f(x):
    def body(i, s):
        s = s + x[i]
    return tp.lax.fori_loop(0, 3, body, 0.0)

tp.grad(f)(x)


# T203: a scan over arrays of other lengths
def f(x):
    return tp.lax.scan(lambda c, v: (c + v[0] * v[1], None), 0.0, (x, x[:2]))[0]

tp.grad(f)(x)


# T121: an update without an index
def f(x):
    return np.sum(x.at.set(5.0))

tp.grad(f)(x)


# T132: an update without a value
def f(x):
    return np.sum(x.at[0].set())

tp.grad(f)(x)


# AttributeError: at of NumPy's own arrays
x.at[0].set(5.0)


# AttributeError: at without an index
tp.at(x).set(5.0)


# TypeError: random numbers without a key
tp.random.normal((3,))


# T201: a number in the place of a key
def f(x):
    return np.sum(x * tp.random.normal(0, (3,)))

tp.grad(f)(x)


# T203: trees that do not fit
params, grads = {"w": x, "b": 1.0}, {"w": x}
tp.tree.map(lambda p, g: p - 0.1 * g, params, grads)


# T120: arithmetic of lists of parameters
def f(params):
    grads = [2.0 * p for p in params]
    return np.sum((params - 0.1 * grads)[0])

tp.grad(f)([x, x])


# T120: arithmetic of a dict of parameters
def f(params, x):
    return np.sum(params * x)

tp.grad(f)({"w": x}, x)


# T602: parameters that are no lanes
def loss(w, x, y):
    return (w @ x - y) ** 2

tp.vmap(tp.grad(loss))(np.ones(3), np.ones((5, 3)), np.ones(5))


# T131: an argument that is given to vmap
def f(x):
    return np.sum(tp.vmap(np.sin, x))

tp.grad(f)(x)


# T601: axes by name
tp.vmap(lambda x, a: x * a, in_axes={"x": 0, "a": None})(x, a=2.0)


# ValueError: more of a choice than there is
tp.random.choice(tp.random.key(0), 3, (5,), replace=False)
"""


def message_of(mistake: Mistake) -> tuple[str, BaseException | None]:
    """What the mistake raises, as Python shows it."""
    import numpy as np

    import transpile as tp

    linecache.cache[FILE] = (len(mistake.text), None, (mistake.text + "\n").splitlines(keepends=True), FILE)
    scope = {"np": np, "tp": tp, "x": np.array([1.0, 2.0, 3.0]), "__name__": "model", "__file__": FILE}
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(mistake.text, FILE, "exec"), scope)
    except Exception as raised:
        text = _MARKS.sub("0x...", f"{type(raised).__name__}: {raised}")
        return text.rstrip(), raised
    return "nothing", None


def page() -> str:
    """The page, as Markdown."""
    from transpile.errors import CODES

    mistakes = _mistakes()
    lines = [
        "# Messages",
        "",
        "What transpile says, by the code in square brackets. `make docs` writes this page; in the examples `x` is",
        "`np.array([1.0, 2.0, 3.0])`, `np` NumPy and `tp` transpile.",
        "",
    ]
    for code, meaning in CODES.items():
        lines += [f"## {code}: {meaning}", ""]
        for mistake in mistakes:
            if mistake.code == code:
                lines += _shown(mistake)
    lines += ["## When a function runs", "", "These are Python's own exceptions, with the line of the function.", ""]
    for mistake in mistakes:
        if mistake.code not in CODES:
            lines += _shown(mistake)
    return "\n".join(lines).rstrip() + "\n"


def _shown(mistake: Mistake) -> list[str]:
    message, _ = message_of(mistake)
    title = mistake.title[0].upper() + mistake.title[1:]
    return [f"**{title}**", "", "```python", mistake.text, "```", "", "```text", message, "```", ""]


MISTAKES = _mistakes()

if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parent), str(HERE.parent / "runtime")]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
