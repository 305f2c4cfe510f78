"""Ways in which Python gives two objects one name, and pairs of contents that differ in size, dtype, number or flag.

Each way is the text of a module with ``f(x)``, which reads the contents ``A`` and ``B`` (set in the module before it runs).
``USE`` stands for an expression of ``a``, one of the contents, and of ``x``.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

X = np.array([0.7, 1.3, 0.4])

WAYS: dict[str, str] = {
    "factory": """
def make(a):
    def use(x):
        return USE
    return use
first, second = make(A), make(B)
def f(x):
    return first(x) + 10.0 * second(x)
""",
    "nested_factories": """
def outer(a):
    def middle():
        def use(x):
            return USE
        return use
    return middle()
first, second = outer(A), outer(B)
def f(x):
    return first(x) + 10.0 * second(x)
""",
    "factory_of_readers": """
def make(w):
    def read():
        return w
    return read
first, second = make(A), make(B)
def use(a, x):
    return USE
def f(x):
    return use(first(), x) + 10.0 * use(second(), x)
""",
    "objects": """
class Holder:
    def __init__(self, w):
        self.w = w
first, second = Holder(A), Holder(B)
def use(a, x):
    return USE
def f(x):
    return use(first.w, x) + 10.0 * use(second.w, x)
""",
    "methods": """
class Holder:
    def __init__(self, w):
        self.w = w
    def use(self, x):
        a = self.w
        return USE
first, second = Holder(A), Holder(B)
def f(x):
    return first.use(x) + 10.0 * second.use(x)
""",
    "bound_methods": """
class Holder:
    def __init__(self, w):
        self.w = w
    def use(self, x):
        a = self.w
        return USE
first, second = Holder(A).use, Holder(B).use
def f(x):
    return first(x) + 10.0 * second(x)
""",
    "objects_in_list": """
class Holder:
    def __init__(self, w):
        self.w = w
    def __call__(self, x):
        a = self.w
        return USE
net = [Holder(A), Holder(B)]
def f(x):
    total, factor = 0.0, 1.0
    for layer in net:
        total = total + factor * layer(x)
        factor = factor * 10.0
    return total
""",
    "objects_of_objects": """
class Inner:
    def __init__(self, w):
        self.w = w
class Outer:
    def __init__(self, w):
        self.inner = Inner(w)
    def use(self, x):
        a = self.inner.w
        return USE
class Both:
    def __init__(self):
        self.first, self.second = Outer(A), Outer(B)
both = Both()
def f(x):
    return both.first.use(x) + 10.0 * both.second.use(x)
""",
    "subclasses": """
class Base:
    def use(self, x):
        a = self.w
        return USE
class Left(Base):
    w = A
class Right(Base):
    w = B
first, second = Left(), Right()
def f(x):
    return first.use(x) + 10.0 * second.use(x)
""",
    "classes_of_one_name": """
def make(content):
    class Holder:
        w = content
        def use(self, x):
            a = self.w
            return USE
    return Holder
first, second = make(A)(), make(B)()
def f(x):
    return first.use(x) + 10.0 * second.use(x)
""",
    "nested_classes": """
class Left:
    class Inner:
        w = A
class Right:
    class Inner:
        w = B
def use(a, x):
    return USE
def f(x):
    return use(Left.Inner.w, x) + 10.0 * use(Right.Inner.w, x)
""",
    "class_and_static_methods": """
class Base:
    @classmethod
    def use(cls, x):
        a = cls.w
        return USE
class Left(Base):
    w = A
class Right(Base):
    w = B
def f(x):
    return Left.use(x) + 10.0 * Right.use(x)
""",
    "properties": """
class Holder:
    def __init__(self, w):
        self._w = w
    @property
    def w(self):
        return self._w
first, second = Holder(A), Holder(B)
def use(a, x):
    return USE
def f(x):
    return use(first.w, x) + 10.0 * use(second.w, x)
""",
    "slots": """
class Holder:
    __slots__ = ("w",)
    def __init__(self, w):
        self.w = w
first, second = Holder(A), Holder(B)
def use(a, x):
    return USE
def f(x):
    return use(first.w, x) + 10.0 * use(second.w, x)
""",
    "dataclasses": """
from dataclasses import dataclass
from typing import Any
@dataclass
class Holder:
    w: Any
first, second = Holder(A), Holder(B)
def use(a, x):
    return USE
def f(x):
    return use(first.w, x) + 10.0 * use(second.w, x)
""",
    "named_tuples": """
from collections import namedtuple
Holder = namedtuple("Holder", "w")
first, second = Holder(A), Holder(B)
def use(a, x):
    return USE
def f(x):
    return use(first.w, x) + 10.0 * use(second.w, x)
""",
    "partials": """
import functools
def use(a, x):
    return USE
first, second = functools.partial(use, A), functools.partial(use, B)
def f(x):
    return first(x) + 10.0 * second(x)
""",
    "partials_by_name": """
import functools
def use(x, a):
    return USE
first, second = functools.partial(use, a=A), functools.partial(use, a=B)
def f(x):
    return first(x) + 10.0 * second(x)
""",
    "defaults": """
def make(w):
    def use(x, a=w):
        return USE
    return use
first, second = make(A), make(B)
def f(x):
    return first(x) + 10.0 * second(x)
""",
    "keyword_defaults": """
def first(x, *, a=A):
    return USE
def second(x, *, a=B):
    return USE
def f(x):
    return first(x) + 10.0 * second(x)
""",
    "lambdas_with_defaults": """
uses = [lambda x, a=a: USE for a in (A, B)]
def f(x):
    return uses[0](x) + 10.0 * uses[1](x)
""",
    "lambdas_on_one_line": """
make = lambda a: lambda x: USE
first, second = make(A), make(B)
f = lambda x: first(x) + 10.0 * second(x)
""",
    "two_lambdas_one_line": """
first, second = (lambda x, a=A: USE), (lambda x, a=B: USE)
f = lambda x: first(x) + 10.0 * second(x)
""",
    "loop_of_functions": """
uses = []
for content in (A, B):
    def use(x, a=content):
        return USE
    uses.append(use)
def f(x):
    return uses[0](x) + 10.0 * uses[1](x)
""",
    "namespaces": """
from types import SimpleNamespace
first, second = SimpleNamespace(w=A), SimpleNamespace(w=B)
def use(a, x):
    return USE
def f(x):
    return use(first.w, x) + 10.0 * use(second.w, x)
""",
    "dict_values": """
first, second = {"w": A}, {"w": B}
def use(a, x):
    return USE
def f(x):
    return use(first["w"], x) + 10.0 * use(second["w"], x)
""",
    "list_of_dicts": """
layers = [{"w": A}, {"w": B}]
def use(a, x):
    return USE
def f(x):
    total, factor = 0.0, 1.0
    for layer in layers:
        total = total + factor * use(layer["w"], x)
        factor = factor * 10.0
    return total
""",
    "dict_of_functions": """
def make(a):
    def use(x):
        return USE
    return use
table = {"first": make(A), "second": make(B)}
def f(x):
    return table["first"](x) + 10.0 * table["second"](x)
""",
    "decorated": """
import functools
def scaled(a):
    def wrap(g):
        @functools.wraps(g)
        def run(x):
            return g(x) * 0.0 + USE
        return run
    return wrap
@scaled(A)
def first(x):
    return x[0]
@scaled(B)
def second(x):
    return x[0]
def f(x):
    return first(x) + 10.0 * second(x)
""",
    "recursive": """
def make(a):
    def use(x, n):
        if n <= 0:
            return USE
        return use(x, n - 1)
    return use
first, second = make(A), make(B)
def f(x):
    return first(x, 2) + 10.0 * second(x, 2)
""",
    "recursive_runtime": """
def make(a):
    def use(x, n):
        if n <= 0:
            return USE
        return use(x * 0.9, n - 1) + x[0]
    return use
first, second = make(A), make(B)
def f(x):
    return first(x, 20) + 10.0 * second(x, 20)
""",
    "recursive_methods": """
class Holder:
    def __init__(self, w):
        self.w = w
    def use(self, x, n):
        if n <= 0:
            a = self.w
            return USE
        return self.use(x * 0.9, n - 1) + x[0]
first, second = Holder(A), Holder(B)
def f(x):
    return first.use(x, 20) + 10.0 * second.use(x, 20)
""",
    "recursive_objects": """
class Holder:
    def __init__(self, w):
        self.w = w
first, second = Holder(A), Holder(B)
def use(h, x, n):
    if n <= 0:
        a = h.w
        return USE
    return use(h, x * 0.9, n - 1) + x[0]
def f(x):
    return use(first, x, 20) + 10.0 * use(second, x, 20)
""",
    "bodies_of_loops": """
from transpile import lax
def make(a):
    def body(k, total):
        x = total[1]
        return (total[0] + USE, x)
    return body
first, second = make(A), make(B)
def f(x):
    return lax.fori_loop(0, 2, first, (0.0, x))[0] + 10.0 * lax.fori_loop(0, 2, second, (0.0, x))[0]
""",
    "inner_gradients": """
import transpile as tp
def make(a):
    def use(x):
        return USE
    return use
first, second = tp.grad(make(A)), tp.grad(make(B))
def f(x):
    return np.sum(first(x) * x) + 10.0 * np.sum(second(x) * x)
""",
    "inner_batches": """
import transpile as tp
def make(a):
    def use(x):
        return USE
    return use
first, second = tp.vmap(make(A)), tp.vmap(make(B))
def f(x):
    xs = np.stack([x, 2.0 * x])
    return np.sum(first(xs)) + 10.0 * np.sum(second(xs))
""",
    "custom_rules": """
import transpile as tp
def make(a):
    @tp.custom_jvp
    def use(x):
        return USE
    @use.defjvp
    def rule(primals, tangents):
        x, = primals
        return use(x), tp.jvp(lambda x: USE, (x,), tangents)[1]
    return use
first, second = make(A), make(B)
def f(x):
    return first(x) + 10.0 * second(x)
""",
    "decorated_transforms": """
import transpile as tp
def make(a):
    @tp.jit
    def use(x):
        return USE
    return use
first, second = make(A), make(B)
def f(x):
    return first(x) + 10.0 * second(x)
""",
    "one_object_two_ways": """
class Holder:
    def __init__(self, w):
        self.w = w
one = Holder(A)
class Pair:
    pass
pair = Pair()
pair.left, pair.right = one, one
other = Holder(B)
def use(a, x):
    return USE
def f(x):
    return use(pair.left.w, x) + use(pair.right.w, x) + use(one.w, x) + 10.0 * use(other.w, x)
""",
    "arguments_of_objects": """
class Holder:
    def __init__(self, w):
        self.w = w
def use(h, x):
    a = h.w
    return USE
first, second = Holder(A), Holder(B)
def both(h, g, x):
    return use(h, x) + 10.0 * use(g, x)
def f(x):
    return both(first, second, x)
""",
    "operators": """
class Holder:
    def __init__(self, w):
        self.w = w
    def __matmul__(self, x):
        a = self.w
        return USE
first, second = Holder(A), Holder(B)
def f(x):
    return (first @ x) + 10.0 * (second @ x)
""",
    "chosen_by_enums": """
import enum
class Holder(enum.Enum):
    left = 1
    right = 2
    @property
    def w(self):
        return A if self is Holder.left else B
def use(a, x):
    return USE
def f(x):
    return use(Holder.left.w, x) + 10.0 * use(Holder.right.w, x)
""",
    "global_and_local": """
first_w = A
def first(x):
    a = first_w
    return USE
def second(x):
    first_w = B
    a = first_w
    return USE
def f(x):
    return first(x) + 10.0 * second(x)
""",
    "attributes_of_functions": """
def first(x):
    a = first.w
    return USE
def second(x):
    a = second.w
    return USE
first.w, second.w = A, B
def f(x):
    return first(x) + 10.0 * second(x)
""",
}


def floats(*shape: int, dtype: str = "float64") -> np.ndarray:
    return (np.cos(1.0 + np.arange(np.prod(shape))) + 0.2).reshape(shape).astype(dtype)


ARRAY = "len(a) * x[0] + np.sum(a * a) * x[1] + np.sum(np.cos(a) * x[2]) * x[0]"
MATRIX = "a.shape[0] * x[0] + a.shape[1] * x[1] + np.sum(np.tanh(x[2] * a) @ np.ones(a.shape[1]))"
LOOP = "np.sum(np.array([x[k % 3] * a[k] for k in range(len(a))])) * x[1]"
NUMBER = "a * x[0] + x[1] ** a + x[2] / a"
CHOICE = "(x[0] * x[1] if a == 'left' else np.sin(x[2]))"
FLAG = "(x[0] * x[1] if a else np.sin(x[2]))"
ABSENT = "(x[0] if a is None else x[1] * a)"

CONTENTS: dict[str, tuple[str, Any, Any]] = {
    "3 and 4": (ARRAY, floats(3), floats(4)),
    "3 and 1": (ARRAY, floats(3), floats(1)),
    "1 and 5": (ARRAY, floats(1), floats(5)),
    "matrices": (MATRIX, floats(2, 3), floats(5, 4)),
    "loops": (LOOP, floats(4), floats(6)),
    "float32": (ARRAY, floats(3), floats(3, dtype="float32")),
    "integers": (ARRAY, floats(3), np.arange(1, 5)),
    "numbers": (NUMBER, 2, 3),
    "int and float": (NUMBER, 2, 2.5),
    "numbers of NumPy": (NUMBER, np.float64(2.0), np.float32(3.0)),
    "strings": (CHOICE, "left", "right"),
    "flags": (FLAG, True, False),
    "None": (ABSENT, None, 2.0),
}


def load(way: str, contents: str, folder: Path) -> types.ModuleType:
    """The module of a way with these contents, loaded from a file of its own."""
    use, a, b = CONTENTS[contents]
    name = f"two_{way}_{list(CONTENTS).index(contents)}"
    path = folder / f"{name}.py"
    path.write_text("import numpy as np\n" + WAYS[way].replace("USE", use))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    module.A, module.B = a, b  # type: ignore[attr-defined]
    spec.loader.exec_module(module)
    return module


def difference(f: Callable, x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """The gradient by central differences of fourth order."""

    def moved(d: np.ndarray) -> float:
        return (8 * (f(x + d) - f(x - d)) - (f(x + 2 * d) - f(x - 2 * d))) / (12 * step)

    return np.array([moved(d) for d in step * np.eye(len(x))])


def check(f: Callable, modes: dict[str, Callable], what: str, x: np.ndarray = X) -> None:
    """Compares the function, transformed in each of these ways, with itself and its differences."""
    for name, run in modes.items():
        wanted = difference(f, x) if "grad" in name else np.array([f(x), f(2.0 * x)]) if "vmap" in name else f(x)
        got = run(f)(np.stack([x, 2.0 * x]) if "vmap" in name else x)
        single = "NumPy" in what or "float32" in what
        np.testing.assert_allclose(
            got, wanted, 1e-4 if single else 1e-7, 1e-4 if single else 1e-7, err_msg=f"{what}: {name}"
        )
