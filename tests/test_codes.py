"""One example for every code of `transpile.errors.CODES` that a user's program or request can bring about, and bad input.

Each example is a module of its own, written to a file: ``$`` in its text (taken out before it is written) marks where the
first diagnostic must point, to the line and the column.
"""

from __future__ import annotations

import importlib.util
import itertools
import re
import sys
import threading

import numpy as np
import pytest

import transpile as tp
from transpile.cli import main
from transpile.errors import CODES

HEAD = "import math\nimport operator\nfrom contextlib import nullcontext\n\nimport numpy as np\nimport transpile as tp\n\n\n"

X = np.array([0.5, 1.5, -2.0])
A = np.arange(12.0).reshape(3, 4)
K = np.array([1, 2])

NOT_REACHED: dict[str, str] = {}

# code, call (an expression over f, tp, np and the arguments a), arguments, the module's text
CASES: list[tuple[str, str, tuple, str]] = []


def case(code, text, *args, call="tp.jvp(f, a, a)"):
    CASES.append((code, call, args, text))


GRAD = "tp.grad(f)(*a)"
JIT = "tp.jit(f)(*a)"

# ------------------------------------------------------------------------------------------------------- T1xx

case("T101", "def f(x):\n    return np.sum(x) + $(lambda: (yield))()\n", X)
case("T101", "def f(x):\n    y = $x @ x if True else (await x)\n    return y\n", X)
case("T101", "def f(x):\n    return np.sum(x) * len($x'a')\n".replace("x'a'", "t'{x}'"), X)
case("T101", "def f(x):\n    $type A = int\n    return np.sum(x)\n", X)
case("T102", "def f(x):\n    $class C:\n        pass\n    return np.sum(x)\n", X)
case("T103", "$async def f(x):\n    return x\n", X)
case("T103", "def f(x):\n    $async def g(y):\n        return y\n    return np.sum(x)\n", X)
case("T104", "def f(x):\n    for v in x:\n        $yield v\n", X)
case("T105", "def f(x):\n    $try:\n        return np.sum(x)\n    except ValueError:\n        return 0.0\n", X)
case("T106", "def f(x):\n    with $nullcontext():\n        y = np.sum(x)\n    return y\n", X)
case("T107", "C = 0\n\n\ndef f(x):\n    $global C\n    C = 1\n    return np.sum(x)\n", X)
case("T108", "def f(x):\n    y = x.copy()\n    del $y[0]\n    return np.sum(y)\n", X)
case("T109", "def f(x):\n    $match 3:\n        case 3:\n            return np.sum(x)\n    return 0.0\n", X)
case("T110", "def f(x):\n    $import colorsys.nothing as c\n    return np.sum(x)\n", X)
case("T111", "def f(x):\n    return np.sum($~x)\n", X)
case("T112", "def f(x):\n    return np.sum(x) * len(${k for k in (1, 2)})\n", X)
case("T113", "def f(x):\n    s = np.sum(x)\n    for k in $s:\n        s = s + 1.0\n    return s\n", X)
case("T114", "def f(x):\n    $(x, x)[0] += 1.0\n    return np.sum(x)\n", X)
case("T114", "class P:\n    pass\n\n\ndef f(x):\n    for $x[0] in (1.0, 2.0):\n        pass\n    return np.sum(x)\n", X)
case("T115", "def f(x):\n    if x < 0:\n        return x\n    return $f(x - 1.0) * x\n", 3.0)
case("T116", "def f(x):\n    z = $y + x\n    y = z\n    return np.sum(y)\n", X)
case("T117", "def g(x, **kw):\n    return x\n\n\ndef f(x):\n    return np.sum(g(x, **$x))\n", X)
case("T118", "def f(x):\n    if x > 2:\n        return x\n    return x, x\n", 1.0)
case("T119", "def f(x):\n    y = x\n    $while np.sum(x) > 100.0:\n        y = (y, y)\n    return x\n", X)
case("T120", "def f(x):\n    return np.sum($x + None)\n", X)
case("T121", "def f(x):\n    return np.sum($x.nothing)\n", X)
case("T122", "def f(a):\n    b = a * 2.0\n    y = b.reshape(12)\n    $y[0] = 1.0\n    return np.sum(b)\n", A)
case("T123", "def f(x):\n    t = (x, x)\n    $t[0] = x\n    return np.sum(x)\n", X)
case("T124", "def f(x):\n    y = x.copy()\n    $y[1:] += y[:-1]\n    return np.sum(y)\n", X)
case("T130", "def f(x):\n    return x[0] * $np.random.rand(3)[0]\n", X)
case("T131", "def f(x):\n    return $max((x[0], x[1]), key=lambda v: -v)\n", X)
case("T132", "def f(x):\n    def g(a):\n        return a\n\n    return np.sum($g(x, 2.0))\n", X)
case("T133", "def f(x):\n    if x[0] > 100.0:\n        $raise\n    return np.sum(x)\n", X)
case("T134", "def f(x):\n    $p, q = (x, x, x)\n    return np.sum(p)\n", X)

# ------------------------------------------------------------------------------------------------------- T2xx

case("T201", "def f(x):\n    return $np.concatenate(x[0])\n", X)
case("T202", "def f(x, y):\n    return np.sum($x * y)\n", X, X[:2])
case("T203", "def f(x, n):\n    return np.sum($np.array_split(x, n)[0])\n", X, 2.0)
case("T203", "def f(x):\n    return np.sum($np.split(x, 0)[0])\n", X)
case("T204", "def f(x):\n    if x[0] > 0:\n        y = x\n    else:\n        y = x[0]\n    return np.sum(y)\n", X)
case("T205", "def f(x):\n    y = 'a' if x[0] > 0 else x[0]\n    return y\n", X)
case("T206", "def f(x):\n    y = x\n    k = np.sum(x)\n    $while k < 3.0:\n        y = y[1:]\n        k = k + 1.0\n    return k\n", X)
case("T207", "def f(x):\n    return $x[1, 2]\n", X)
case("T208", "def f(x):\n    return np.sum($np.sum(x, axis=3))\n", X)
case("T208", "def f(x):\n    return np.sum($np.moveaxis(x, 0, 4))\n", A)
case("T209", "def f(x):\n    return np.sum($x.astype('complex128').real)\n", X)
case("T210", "def f(x):\n    return np.sum(np.sum(x, axis=$int(x[0, 0])))\n", A)
case("T211", "def f(x):\n    if $x > 0:\n        return np.sum(x)\n    return -np.sum(x)\n", X)
case("T212", "def f(x):\n    k = np.arange(3)\n    $k += 0.5\n    return np.sum(k * x)\n", X)
case("T213", "def f(x):\n    return $float(x)\n", X)
case("T213", "def f(x):\n    return math.sin($x)\n", X)
case("T214", "def f(x):\n    return np.sum($np.array([[x[0], x[1]], [x[2]]]))\n", X)

# ------------------------------------------------------------------------------------------------------- T3xx

case("T301", "$def f(x):\n    return x * 2.0\n", X, call=GRAD)
case("T302", "$def f(x):\n    return np.sum(x)\n", K, call=GRAD)
case("T303", "def f(x):\n    return np.sum($np.partition(x, 1))\n", X, call=GRAD)
case("T304", "def f(x):\n    return np.sum($np.linalg.svd(x)[0])\n", A, call=GRAD)
case("T305", "$def f(x):\n    return np.argmax(x)\n", X, call=GRAD)
case("T306", "$def f(x):\n    return np.sum(x)\n", X, call="tp.grad(f, argnums=2)(*a)")
case("T307", "@tp.custom_jvp\ndef g(x):\n    return x\n\n\ndef f(x):\n    return $g(x)\n", 1.0, call=GRAD)
case("T308", "$def f(x):\n    return x\n", 1.0, call="tp.grad(f, has_aux=True)(*a)")
case("T309", "def f(x):\n    return np.sum(x)\n", X, call="tp.jvp(f, a, (np.ones(5),))")
case("T310", "$def f(x):\n    return np.sum(x)\n", X, call="tp.grad(f, argnums=())(*a)")
case("T311", "$def f(x):\n    return np.sum(x)\n", X * 1j, call=GRAD)

# ------------------------------------------------------------------------------------------------------- T4xx

case("T401", "scope = {}\nexec('def g(x): return x', scope)\nf = scope['g']\n", 1.0, call=GRAD)
case("T402", "f = operator.attrgetter('real')\n", 1.0, call=GRAD)
case("T402", "f = len\n", X, call=GRAD)
case("T405", "def f(x):\n    return np.sum(x) + $undefined_thing\n", X)
case("T407", "$def f(x):\n    return np.sum(x)\n", X, call="tp.grad(f, argnames='z')(*a)")
case("T408", "def f(x):\n    return np.sum(x)\n", X, 2.0, call=GRAD)
case("T409", "def f(x):\n    return np.sum(x)\n", np.ones(2, dtype=object), call=GRAD)
case("T411", "f = 3\n", 1.0, call=GRAD)
case("T412", "def f(x):\n    return x\n", 1.0, call="(move(), tp.grad(f)(*a))")
case("T416", "def f(x):\n    return np.sum($np.nothing(x))\n", X)
case("T417", "def deco(g):\n    return operator.attrgetter('real')\n\n\n@deco\ndef f(x):\n    return x\n", 1.0)

# ------------------------------------------------------------------------------------------------------- T5xx

case("T501", "def f(x):\n    $print(x)\n    return np.sum(x)\n", X, call=JIT)
case("T502", "$def f(x):\n    return x + 1\n", np.ones(2, dtype=np.float16), call=JIT)
case("T503", "def f(x):\n    return x * 2.0\n", 1.0, call="(hide('numba'), tp.jit(f)(*a))")
case("T505", "def f(x):\n    return x\n", 1.0, call="tp.jit(f, target='gpu')")
case("T505", "def f(x):\n    return x\n", 1.0, call="tp.source(tp.grad(f), *a, stage='nothing')")

