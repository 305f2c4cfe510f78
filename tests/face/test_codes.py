"""One example for every code of `transpile.errors.CODES` that a user's program or request can bring about, and bad input.

Each example is a module of its own, written to a file: ``$`` in its text (taken out before it is written) marks where the
first diagnostic must point, to the line and the column.
"""

from __future__ import annotations

import copy
import importlib.util
import itertools
import re
import sys

import numpy as np
import pytest
from mistakes import WITHOUT_EXAMPLE
from raised_at import raised_at

import transpile as tp
from transpile.cli import main
from transpile.errors import CODES

HEAD = "import math\nimport operator\nfrom contextlib import nullcontext\n\nimport numpy as np\nimport transpile as tp\n\n\n"

X = np.array([0.5, 1.5, 2.5])
A = np.arange(12.0).reshape(3, 4)
K = np.array([1, 2])

# code, call (an expression over f, tp, np and the arguments a), arguments, the module's text
CASES: list[tuple[str, str, tuple, str]] = []


def case(code, text, *args, call="tp.jvp(f, a, a)"):
    CASES.append((code, call, args, text))


GRAD = "tp.grad(f)(*a)"
JIT = "tp.jit(f)(*a)"


# -------------------------------------------------------------------------------- T1xx: the language

case("T101", "def f(x):\n    return np.sum(x) * len({$*x})\n", X)
if sys.version_info >= (3, 11):
    case(
        "T101",
        "def f(x):\n    $try:\n        return np.sum(x)\n    except* ValueError:\n        pass\n    return 0.0\n",
        X,
    )
case("T102", "def f(x):\n    $class C:\n        pass\n    return np.sum(x)\n", X)
case("T103", "$async def f(x):\n    return x\n", X)
case("T103", "def f(x):\n    $async def g(y):\n        return y\n    return np.sum(x)\n", X)
case("T104", "def f(x):\n    for v in x:\n        $yield v\n", X)
case("T105", "def f(x):\n    $try:\n        return np.sum(x)\n    except ValueError:\n        return 0.0\n", X)
case("T106", "def f(x):\n    with $open('/dev/null'):\n        y = np.sum(x)\n    return y\n", X)
case(
    "T106",
    "import threading\n\nlock = threading.Lock()\n\n\ndef f(x):\n    with $lock:\n        y = np.sum(x)\n    return y\n",
    X,
)
case("T107", "C = 0\n\n\ndef f(x):\n    $global C\n    C = 1\n    return np.sum(x)\n", X)
case("T108", "class P:\n    a = 1\n\n\ndef f(x):\n    p = x\n    del $p.a\n    return np.sum(x)\n", X)
case("T108", "def f(x):\n    y = x.copy()\n    del $y[0]\n    return np.sum(y)\n", X)
case("T110", "def f(x):\n    $import colorsys.nothing as c\n    return np.sum(x)\n", X)
case("T112", "def f(x):\n    return np.sum(x) * len(${k for k in (1, 2)})\n", X)
case("T113", "def f(x):\n    s = np.sum(x)\n    for k in $s:\n        s = s + 1.0\n    return s\n", X)
case("T115", "def f(x):\n    if x < 0:\n        return $f(x + 1.0)\n    return f(x - 1.0) * x\n", 3.0)
case("T115", "def g(x):\n    return $f(x)\n\n\ndef f(x):\n    return g(x)\n", 1.0)
case("T115", "def f(x, s=''):\n    if x > 9.0:\n        return x\n    return $f(2.0 * x, s + 'a')\n", 1.0)
case(
    "T115",
    "def f(x):\n    n = 0\n\n    def g(k):\n        nonlocal n\n        n += 1\n"
    "        return x if k == 0 else g(k - 1)\n\n    return $g(9)\n",
    1.0,
)
case("T116", "def f(x):\n    z = $y + x\n    y = z\n    return np.sum(y)\n", X)
case("T117", "def g(x, **kw):\n    return x\n\n\ndef f(x):\n    return np.sum(g(x, **$x))\n", X)
case("T118", "def f(x):\n    if x > 2:\n        return x\n    $return x, x\n", 1.0)
case("T119", "def f(x):\n    y = x\n    $while np.sum(x) > 100.0:\n        y = (y, y)\n    return x\n", X)
case("T119", "def f(x):\n    y = {'a': x}\n    $while np.sum(x) > 100.0:\n        y.pop('a')\n    return x\n", X)
case("T119", "def f(x):\n    out = [v for v in x]\n    for v in $out:\n        out.append(v)\n    return sum(out)\n", X)
case("T119", "def f(x):\n    d = {'a': x[0]}\n    for k in $d:\n        d['b'] = x[1]\n    return d['a']\n", X)
case("T119", "def f(x):\n    out = [x[0]]\n    r = $[out.append(v) for v in out]\n    return sum(out)\n", X)
case(
    "T119",
    "def f(x):\n    out = [x[0]]\n    $for v in out:\n        out.append(v * 0.5)\n        if v < 0.1:\n            break\n"
    "    return sum(out)\n",
    X,
)
case(
    "T119",
    "def f(x):\n    q = [x[0]]\n    s = x[0]\n    while s < 3.0:\n        q.append(s)\n        s += 0.5\n"
    "        if s > 1.0:\n            s += $q.pop()\n    return s\n",
    X,
)
case(
    "T120",
    "def f(x):\n    z = zip([1.0], x[:1])\n    a = sum(p * q for p, q in z)\n    return a + sum$(p * q for p, q in z)\n",
    X,
)
case(
    "T120",
    "def f(x):\n    z = map(np.sin, [x[0]])\n    s = 0.0\n    for _ in [0, 1]:\n"
    "        for v in $z:\n            s += v\n    return s\n",
    X,
)
case("T120", "def f(x):\n    return x[0] if $[1] < (2,) else x[1]\n", X)
case("T120", "def f(x):\n    y = x[0]\n    return x[0] if $y is x[0] else x[1]\n", X)
case("T120", "def f(x):\n    return x[0] * sum($[1, 2] - [1, 1])\n", X)
case(
    "T120",
    "def f(x):\n    rows = []\n    for k in range(3):\n        rows.append(k * x)\n"
    "    return x[0] if $rows[0] is rows[1] else x[1]\n",
    X,
)
case("T120", "def f(x):\n    return np.sum($x + None)\n", X)
case("T121", "def f(x):\n    return np.sum($x.nothing)\n", X)
case("T122", "def f(a):\n    b = a * 2.0\n    y = b.reshape(12)\n    $y[0] = 1.0\n    return np.sum(b)\n", A)
case("T123", "def f(x):\n    t = (x, x)\n    $t[0] = x\n    return np.sum(x)\n", X)
case("T123", "def f(x):\n    $(x, x)[0] += 1.0\n    return np.sum(x)\n", X)
case("T123", "def f(x):\n    $np.diagonal(x)[0] = 1.0\n    return np.sum(x)\n", np.eye(3))
case(
    "T123",
    "def g(q, k):\n    if k > 0:\n        $q.append(k)\n        g(q, k - 1)\n\n\ndef f(x):\n    g([], 9)\n    return x\n",
    1.0,
)
case(
    "T123",
    "def g(a, b, k):\n    if k > 0:\n        a[0] = b[1]\n        g(a, b, k - 1)\n\n\n"
    "def f(x):\n    y = 2.0 * x\n    $g(y, y, 9)\n    return np.sum(y)\n",
    X,
)
case("T123", "Q = []\n\n\ndef f(x):\n    $Q.append(x)\n    return np.sum(x)\n", X)
case("T123", "Q = {'a': 1.0}\n\n\ndef f(x):\n    $Q['a'] = x\n    return np.sum(x)\n", X)
case("T130", "def f(x):\n    return x[0] * $np.random.rand(3)[0]\n", X)
case("T130", "def f(x):\n    return np.sum($np.random.default_rng(0).normal(x))\n", X)
case("T130", "def f(x):\n    return np.sum($np.busday_count(x, x) * x)\n", X)
case("T131", "def f(x):\n    return np.sum($np.convolve(x, x, mode='nothing'))\n", X)
case("T131", "def f(x):\n    for k in $range(0, 3, 0):\n        x = x + k\n    return np.sum(x)\n", X)
case(
    "T131",
    "def f(x):\n    return $sorted([(x[0] * k, k) for k in (1, 2, 3, 4, 5, 6, 7, 8, 9)], key=lambda p: -p[0])[0][0]\n",
    X,
)
case("T132", "def f(x):\n    def g(a):\n        return a\n\n    return np.sum($g(x, 2.0))\n", X)
case("T133", "def f(x):\n    if x[0] > 100.0:\n        $raise\n    return np.sum(x)\n", X)
case("T134", "def f(x):\n    $p, q = (x, x, x)\n    return np.sum(p)\n", X)
case("T135", "$def f(x):\n    return np.sum(" + "-" * 600 + "x)\n", X)

# -------------------------------------------------------------------------------- T2xx: types and shapes

case("T201", "def f(x):\n    return $np.concatenate(x[0])\n", X)
case("T201", "def f(x):\n    return np.sum($x << 1)\n", X)
case("T202", "def f(x, y):\n    return np.sum($x * y)\n", X, X[:2])
case("T202", "def f(x, y):\n    return np.sum($x @ y)\n", X, X[:2])
case("T203", "def f(x):\n    return np.sum($np.split(x, 0)[0])\n", X)
case("T204", "def f(x):\n    if x[0] > 0:\n        y = x\n    else:\n        y = x[0]\n    return np.sum($y)\n", X)
case("T204", "def f(x):\n    return np.sum($x if x[0] > 0 else x[0])\n", X)
case("T205", "def f(x):\n    return np.sum($x if x[0] > 0 else x > 0.5)\n", X)
case("T205", "def f(x):\n    if x[0] > 0:\n        y = x\n    else:\n        y = x > 0.5\n    return np.sum($y)\n", X)
case(
    "T206",
    "def f(x):\n    y, k = x, np.sum(x)\n    $while k < 3.0:\n        y = np.append(y, k)\n        k = k + 1.0\n    return k\n",
    X,
)
case("T207", "def f(x):\n    return $x[1, 2]\n", X)
case("T207", "def f(x):\n    t = [x, x]\n    return np.sum($t[5])\n", X)
case("T208", "def f(x):\n    return np.sum($np.moveaxis(x, 0, 4))\n", A)
case("T131", "def f(x):\n    return np.sum($np.linalg.pinv(x, rcond=0.1, rtol=0.1))\n", A)
case("T131", "def f(x):\n    return np.sum($np.polyint(x, 1.5))\n", A)
case("T131", "def f(x):\n    return $np.mean(x, dtype=int) * x[0]\n", X)
case("T131", "def f(x):\n    return x[$x.sum(dtype=bool)]\n", X)
case("T131", "def f(x):\n    return np.sum($np.add(x, x, dtype=int) * x)\n", X)
case("T131", "def f(x):\n    return np.sum($np.less(x, 0.3, dtype=float) * x)\n", X)
case("T131", "def f(x):\n    return np.sum($np.diff(x, -1))\n", X)
case(
    "T131",
    "import scipy.linalg\n\n\ndef f(x):\n    return np.sum($scipy.linalg.lstsq(x, x, lapack_driver='gelsy')[0])\n",
    A,
)
case("T131", "def f(x):\n    return np.sum($np.concatenate([x, x], dtype=int))\n", X)
case("T131", "def f(x):\n    return np.sum($np.stack([x, x], dtype='float32', casting='safe'))\n", X)
case("T131", "def f(x):\n    return $np.percentile(x, 150)\n", A)
case("T131", "def f(x):\n    return np.sum($np.polyder(x, 'a'))\n", X)
case("T132", "def f(x):\n    return np.sum($np.sinc(x, x))\n", X)
case("T132", "def f(x):\n    return $max()\n", 1.0)
case("T132", "def f(x):\n    return $tp.linearize(np.sin, x, has_aux=True)[0]\n", 1.0)
case("T132", "def f(x):\n    return $tp.jvp(np.sin, (x,), (x,), True)[0]\n", 1.0)
case("T203", "def f(x):\n    for a, b in $zip(x, (1, 2), strict=True):\n        pass\n    return a * b\n", X)
case("T203", "def f(x):\n    return np.sum($np.polyval(x, 2.0))\n", A)
case("T208", "def f(x):\n    return np.sum($np.sum(x, axis=5))\n", A)
case("T208", "def f(x):\n    return np.sum($np.trace(x, axis1=0, axis2=2))\n", A)
case("T203", "def f(x):\n    return np.sum($np.squeeze(x, axis=0))\n", A)
case("T202", "def f(x):\n    return np.sum($x.reshape(2, 2))\n", X)
case("T209", "def f(x):\n    return np.sum($x.astype('longdouble'))\n", X)
case("T210", "def f(x):\n    return np.sum($np.sum(x, axis=int(x[0, 0])))\n", A)
case("T211", "def f(x):\n    if $x > 0:\n        return np.sum(x)\n    return -np.sum(x)\n", X)
case("T212", "def f(x):\n    k = np.arange(3)\n    $k += 0.5\n    return np.sum(k * x)\n", X)
case("T213", "def f(x):\n    return $float(x)\n", X)
case("T214", "def f(x):\n    return np.sum($np.array([[x[0], 1.0], [2.0]]))\n", X)

# -------------------------------------------------------------------------------- T3xx: derivatives

case("T301", "$def f(x):\n    return x * 2.0\n", X, call=GRAD)
case("T302", "def f($x):\n    return np.sum(x)\n", K, call=GRAD)
case("T302", "def f(x, *, $k):\n    return np.sum(x) * k\n", X, call="tp.grad(f, argnames='k')(*a, k=None)")
case("T302", "@tp.jit\ndef f(x, $k):\n    return np.sum(x) * k\n", X, 3, call="tp.grad(f, argnums=-1)(*a)")
case("T302", "def f(x):\n    return $tp.grad(lambda n: n * 2)(3) * np.sum(x)\n", X)
case("T303", "def f(x):\n    return np.sum($np.linalg.svd(x)[0])\n", A, call=GRAD)
case(
    "T303",
    "@tp.custom_vjp\ndef g(x):\n    return x\n\n\ng.defvjp(lambda x: (x, x), lambda k, y: (y,))\n\n\ndef f(x):\n    return $g(x)\n",
    1.0,
)
case("T304", "import scipy.special\n\n\ndef f(v):\n    return $scipy.special.jv(v, 2.0)\n", 1.5, call=GRAD)
case("T305", "$def f(x):\n    return np.argmax(x)\n", X, call=GRAD)
case("T306", "$def f(x):\n    return np.sum(x)\n", X, call="tp.grad(f, argnums=2)(*a)")
case("T307", "@tp.custom_jvp\ndef g(x):\n    return x\n\n\ndef f(x):\n    return $g(x)\n", 1.0, call=GRAD)
case("T308", "$def f(x):\n    return x\n", 1.0, call="tp.grad(f, has_aux=True)(*a)")
case("T309", "def f(x):\n    return np.sum(x)\n", X, call="tp.jvp(f, a, (np.ones(5),))")
case("T310", "$def f(x):\n    return np.sum(x)\n", X, call="tp.grad(f, argnums=())(*a)")
case("T311", "def f($x):\n    return np.sum(x)\n", X * 1j, call=GRAD)
case("T312", "def f(x):\n    return np.sum($x * x)\n", X, call="tp.linear_transpose(f, *a)(1.0)")

# -------------------------------------------------------------------------------- T4xx: names, sources, arguments

case("T401", "scope = {}\nexec('def g(x): return x', scope)\nf = scope['g']\n", 1.0, call=GRAD)
case("T402", "f = operator.attrgetter('real')\n", 1.0, call=GRAD)
case("T402", "f = len\n", X, call=GRAD)
case("T402", "def f(x):\n    return $operator.attrgetter('real')(x)\n", 1.0)
case("T405", "def f(x):\n    return np.sum(x) + $undefined_thing\n", X)
case("T407", "$def f(x):\n    return np.sum(x)\n", X, call="tp.grad(f, argnames='z')(*a)")
case("T408", "$def f(x):\n    return x\n", X, X, call=GRAD)
case("T408", "$def f(x, y):\n    return x\n", 1.0, call=GRAD)
case("T408", "$def f(x):\n    return x\n", 1.0, call="tp.grad(f)(*a, y=2.0)")
case("T408", "$def f(x, /):\n    return x\n", 1.0, call="tp.grad(f)(x=2.0)")
case("T409", "def f($x):\n    return np.sum(x)\n", np.ones(2, dtype=object), call=GRAD)
case("T409", "def f(x, $k):\n    return np.sum(x)\n", X, call="tp.grad(f)(*a, k=np.ones(2, '>f8'))")
case("T411", "f = 3\n", 1.0, call=GRAD)
case("T412", "def f(x):\n    return x\n", 1.0, call="(move(), tp.grad(f)(*a))")
case("T416", "def f(x):\n    return np.sum($np.nothing(x))\n", X)
case("T417", "def f(x):\n    return $lambda y: x\n", X)
case("T417", "def f(x):\n    if x.ndim > 3:\n        return x\n    $return slice(3)\n", X)
case(
    "T418",
    "flag = True\n\n\ndef f(x):\n    return x if flag else 2.0 * x\n",
    1.0,
    call="((pull := tp.vjp(f, *a)[1]), f.__globals__.update(flag=False), pull(1.0))",
)

# -------------------------------------------------------------------------------- T5xx: compiling

case("T501", "def f(x):\n    if x > 9.0:\n        $raise SystemExit(1)\n    return x\n", 1.0, call=JIT)
case("T502", "$def f(x):\n    return x + 1\n", np.ones(2, dtype=np.float16), call=JIT)
case("T502", "def f(n):\n    return $n & 0xFFFFFFFFFFFFFFFF\n", 5, call=JIT)
case("T503", "def f(x):\n    return x * 2.0\n", 1.0, call="(hide('numba'), tp.jit(f)(*a))")
case("T505", "def f(x):\n    return x\n", 1.0, call="tp.jit(f, target='gpu')")
case("T505", "def f(x):\n    return x\n", 1.0, call="tp.source(tp.grad(f), *a, stage='nothing')")

# -------------------------------------------------------------------------------- T6xx: batching

case("T601", "def f(x):\n    return x\n", X, call="tp.vmap(f, in_axes=2)(*a)")
case("T602", "def f(x, y):\n    return x * y\n", X, X[:2], call="tp.vmap(f)(*a)")
case("T604", "from transpile import lax\n\ndef f(x):\n    return x / $lax.psum(x, 'i')\n", X, call="tp.vmap(f)(*a)")
case(
    "T605",
    "from transpile import lax\n\ndef f(x):\n    return $lax.psum(x, 'i') if x > 1.0 else x\n",
    X,
    call="tp.vmap(f, axis_name='i')(*a)",
)
case("T603", "$def f(x):\n    return x[x > 1.0]\n", A, call="tp.vmap(f)(*a)")

# ------------------------------------------------------------------------------------------- the command line

COMMANDS: list[tuple[str, str, int, str]] = [
    ("T403", "x = 1\ndef f($:\n    pass\n", 1, ""),
    ("T404", "def g(x: float):\n    return x\n", 2, ""),
    ("T406", "C = compute()\n\n\ndef f(x: float):\n    return x * $C\n", 1, ""),
    ("T407", "def f(x: float):\n    return x\n", 2, "--wrt q"),
    ("T407", "def f(x: float):\n    return x\n", 2, "--wrt x,x"),
    ("T410", "$from nowhere import thing\n\n\ndef f(x: float):\n    return x * thing\n", 1, ""),
    ("T411", "$f = 3\n", 1, ""),
    ("T413", "", 2, ""),
    ("T414", "def f($x: 'Float[np.ndarray, \"n ... d\"]'):\n    return np.sum(x)\n", 1, ""),
    ("T414", "def f(x):\n    return x\n", 2, "--arg x=flot"),
    ("T415", "def f($x):\n    return x\n", 1, ""),
    ("T416", "def f(x: float):\n    return $math.nothing(x)\n", 1, ""),
    ("T901", "def f(x: float):\n    return x\n", 2, ""),
    ("T903", "def f(x: float):\n    return x\n", 2, "-o no/such/folder.py"),
]
TARGETS = {"T413": "nothing.py:f", "T901": "prog.py"}

count = itertools.count()


def marked(text):
    """The text without its mark, and the place of the mark as "line:col", empty without one."""
    before, mark, after = text.partition("$")
    place = f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}" if mark else ""
    return before + after, place


def place(found):
    return f"{found.loc.line}:{found.loc.col}" if found.loc.line else ""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module, imports it, and gives it with the place of its mark."""

    def load(text):
        name = f"codes_{next(count)}"
        text, at = marked(HEAD + text)
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(name, path)
        made = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, made)
        spec.loader.exec_module(made)
        return made, at

    return load


@pytest.mark.parametrize(
    ("code", "call", "args", "text"),
    [pytest.param(*c, marks=[pytest.mark.numba] if c[1] == JIT else [], id=f"{c[0]}-{k}") for k, c in enumerate(CASES)],
)
def test_a_program(module, monkeypatch, code, call, args, text):
    made, at = module(text)
    given = copy.deepcopy(args)
    path = made.__file__

    def move():  # the file changes under the running program
        with open(path) as old:
            moved = "import math\n\n\n" + old.read()
        with open(path, "w") as new:
            new.write(moved)

    scope = {"tp": tp, "np": np, "f": made.f, "a": args, "move": move}
    scope["hide"] = lambda name: monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(tp.TranspileError) as caught:
        eval(call, scope)
    found = caught.value.diagnostics[0]
    assert found.code == code, str(found)
    assert place(found) == at, str(found)
    assert caught.value.codes == (code,)
    for was, now in zip(given, args):
        assert np.array_equal(was, now)
    if at:
        assert found.loc.file == path
        line, col = (int(n) for n in at.split(":"))
        assert f"{found.loc.file.rpartition('/')[2]}:{line}:{col}: error[{code}]: " in str(caught.value)


@pytest.mark.parametrize(("code", "text", "status", "options"), COMMANDS)
def test_a_command(tmp_path, monkeypatch, capsys, code, text, status, options):
    text, at = marked(HEAD + text)
    (tmp_path / "prog.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["grad", TARGETS.get(code, "prog.py:f"), *options.split()]) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert re.findall(r"error\[(T\d+)\]", err) == [code]
    assert err.startswith(f"prog.py:{at}: error[{code}]: " if at else f"error[{code}]: ")


def test_an_unknown_transform_is_a_request_that_cannot_be_read(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["laplacian", "prog.py:f"])
    assert caught.value.code == 2
    assert "'laplacian'" in capsys.readouterr().err


def test_every_code_has_an_example():
    reached = {c[0] for c in CASES} | {c[0] for c in COMMANDS}
    assert reached.isdisjoint(WITHOUT_EXAMPLE)
    assert reached | set(WITHOUT_EXAMPLE) == set(CODES)


# ------------------------------------------------------------------------------------------- found by the run

OUT_OF_RANGE = "def f(x, k):\n    y = x * 2.0\n    return np.sum(y) * $x[k]\n"


@pytest.mark.parametrize("k", [7, -4])
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.numba)])
def test_an_index_out_of_range_names_the_line(module, compiled, k):
    made, at = module(OUT_OF_RANGE)
    if compiled:
        pytest.importorskip("numba")
    x = X.copy()
    f = tp.grad(made.f)
    with pytest.raises(IndexError) as caught:
        (tp.jit(f) if compiled else f)(x, k)
    assert raised_at(caught.value) == f"{made.__name__}.py:{at.partition(':')[0]}: return np.sum(y) * x[k]"
    assert np.array_equal(x, X)


def test_a_rank_that_depends_on_the_trip_is_refused(module):
    text = "def f(x):\n    y = x\n    $while np.sum(y) < 3.5:\n        y = y[None]\n    return np.sum(y)\n"
    made, at = module(text)
    with pytest.raises(tp.TranspileError) as caught:
        tp.grad(made.f)(X)
    assert (caught.value.codes, place(caught.value.diagnostics[0])) == (("T119",), at)
