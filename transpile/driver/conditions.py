"""Generated straight-line Python tests: whether values have a structure, and whether what was read outside is unchanged.

The lines form one function. Its free names are constants (`Scope.constant`), cells of the user's functions, and globals of the
module in which most of the reads are: Python reads a global of the function's own module in a nanosecond, a key of another dict
in twenty.
"""

from __future__ import annotations

import builtins
import keyword
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from transpile.aggregates import Leaf, Node, Static, Tree, flatten, is_leaf, overriding
from transpile.frontend.resolve.reads import MISSING, Read

FAILURES = (NameError, AttributeError, LookupError, ValueError, TypeError)
"""Exceptions raised by reading something outside that no longer exists."""

Look = Callable[[Leaf, str], None]  # called with a leaf and the text that reads it


class Scope:
    """A function being written: its lines, its free names, and pending tests, which are written together.

    ``miss`` is the statement run when a test fails.
    """

    def __init__(self, miss: str, namespace: Any = None) -> None:
        self.miss = miss
        self.namespace = namespace if type(namespace) is dict else {"__builtins__": builtins}
        self.free: dict[str, CellType] = {}
        self.names: dict[tuple[bool, int], str] = {}
        self.lines: list[str] = []
        self.tests: list[str] = []
        self.count = 0

    # ---- names

    def constant(self, value: Any, is_cell: bool = False) -> str:
        """The name of a free variable bound to an object, the same name for the same object; with ``is_cell``, ``value`` is the
        cell of that variable."""
        key = (is_cell, id(value))
        if key not in self.names:
            self.names[key] = name = f"__c{len(self.free)}"
            self.free[name] = value if is_cell else CellType(value)
        return self.names[key]

    def place(self, kind: str, holder: Any, key: Any) -> str:
        """The text that reads the value at a place: ``key`` of ``holder``, as the ``kind`` of read says."""
        if kind == "cell":
            return self.constant(holder, is_cell=True)
        if kind == "object":
            return self.constant(holder)
        if kind == "has":
            return f"{self.constant(hasattr)}({self.constant(holder)}, {self.constant(key)})"
        if kind == "part":
            first, name, steps = key
            return self.place(first, holder, name) + "".join(f"[{self.constant(k)}]" for _, k in steps)
        if self.is_global(kind, holder, key):
            return str(key)
        if kind in ("global", "item", "default"):
            return f"{self.constant(holder)}[{self.constant(key)}]"
        if _is_name(key) or isinstance(key, str) and key.isidentifier() and key.endswith("__"):  # ``m.__class__``
            return f"{self.constant(holder)}.{key}"
        return f"{self.constant(getattr)}({self.constant(holder)}, {self.constant(key)})"

    def read(self, read: Read) -> str:
        """The text that repeats a read of something outside."""
        if read.kind != "number":
            return self.place(read.kind, read.holder, read.key)
        kind, name, steps = read.key
        text = self.place(kind, read.holder, name)
        for step, key in steps:
            if step == "item":
                text = f"{text}[{self.constant(key)}]"
            else:
                text = f"{text}.{key}" if _is_name(key) else f"{self.constant(getattr)}({text}, {self.constant(key)})"
        return text

    def is_global(self, kind: str, holder: Any, key: Any) -> bool:
        """True if a place is a global of the module whose namespace the generated function has, so that its name reads it."""
        return kind == "global" and holder is self.namespace and _is_name(key)

    # ---- lines

    def line(self, text: str) -> None:
        self.lines.append(text)

    def need(self, test: str) -> None:
        """Adds a pending test, a Python condition; pending tests are written together by `settle`."""
        self.tests.append(test)

    def settle(self) -> None:
        """Writes the pending tests as one ``if``, which runs ``miss`` unless all hold."""
        if self.tests:
            self.lines += [f"if not ({' and '.join(self.tests)}):", f"    {self.miss}"]
            self.tests = []

    def bind(self, value: str) -> str:
        """Writes the pending tests and the assignment of ``value``, a text, to a new local variable; returns its name."""
        self.settle()
        self.count += 1
        self.line(f"__v{self.count} = {value}")
        return f"__v{self.count}"

    def is_type(self, value: str, cls: type) -> str:
        return f"{self.constant(type)}({value}) is {self.constant(cls)}"

    def attempt(self) -> None:
        """Puts the lines so far, and the pending tests, under a ``try`` that runs ``miss`` if an object that they read no
        longer exists."""
        self.settle()
        if self.lines:
            failed = [f"except {self.constant(FAILURES)}:", f"    {self.miss}"]
            self.lines = ["try:", *(f"    {line}" for line in self.lines), *failed]

    # ---- the whole

    def function(self, name: str, heading: str, defaults: tuple[Any, ...] = ()) -> Callable[..., Any]:
        """The Python function ``name`` with the lines written so far, bound to the constants that they use.

        ``heading`` is the text of its parameters, ``defaults`` the default values of the last ones.
        """
        body = [f"  {line}" for line in self.lines]
        text = "\n".join([f"def make({', '.join(self.free)}):", f" def __call({heading}):", *body, " return __call"])
        inner = _inside(_inside(compile(text, f"<transpile call of {name}>", "exec", dont_inherit=True)))
        cells = tuple(self.free[n] for n in inner.co_freevars)
        return FunctionType(inner.replace(co_name=name), self.namespace, name, defaults, cells)


def _inside(code: CodeType) -> CodeType:
    """The code object of the first function that a code object defines."""
    return next(const for const in code.co_consts if isinstance(const, CodeType))


def _is_name(key: Any) -> bool:
    return isinstance(key, str) and key.isidentifier() and not keyword.iskeyword(key) and not key.startswith("__")


def commonest(reads: Iterable[Read], others: Iterable[Any] = ()) -> Any:
    """The module namespace in which most of the reads are, together with ``others``, each of which counts once; None without
    any."""
    holders = [*(r.holder for r in reads if r.kind == "global"), *others]
    counted = Counter(map(id, holders))
    return max(holders, key=lambda holder: counted[id(holder)], default=None)


# ---------------------------------------------------------------------------------------------------- structures


def structure(scope: Scope, tree: Tree, value: str, look: Look) -> bool:
    """Writes tests that ``value``, a text, has the structure, and calls ``look(leaf, text)`` for each leaf; False if no short
    test exists.

    The tests are pending in ``scope``. If the result is False, some of them are there nevertheless.
    """
    if isinstance(tree, Leaf):
        look(tree, value)
        return True
    if isinstance(tree, Static):
        if not tree.lasts():
            return False
        scope.need(f"{value} is {scope.constant(tree.value)}")  # an equal object takes the ordinary path
        return True
    assert isinstance(tree, Node), tree
    if tree.kind == "registered":
        return False  # its flatten function would have to be called
    scope.need(scope.is_type(value, _class(tree)))
    if tree.kind in ("tuple", "list"):
        scope.need(f"{scope.constant(len)}({value}) == {len(tree.children)}")
    elif tree.kind == "dict":
        kinds = _types(tree.keys)
        if not {*kinds} <= {str, int, bool}:
            return False
        scope.need(f"{scope.constant(tuple)}({value}) == {scope.constant(tree.keys)}")
        if {*kinds} != {str}:  # 1 is True
            scope.need(f"{scope.constant(_types)}({value}) == {scope.constant(kinds)}")
    elif tree.kind == "dataclass":
        scope.need(f"not {scope.constant(overriding)}({value}, {scope.constant(tree.keys)})")
    items = zip(tree.children, _items(scope, tree, value))
    return all(structure(scope, child, scope.bind(item), look) for child, item in items)


def _types(keys: Iterable[Any]) -> tuple[type, ...]:
    return tuple(map(type, keys))


def _class(tree: Node) -> type:
    return tree.cls or {"tuple": tuple, "list": list, "dict": dict}[tree.kind]


def _items(scope: Scope, tree: Node, value: str) -> list[str]:
    if tree.kind == "dict":
        return [f"{value}[{scope.constant(key)}]" for key in tree.keys]
    if tree.kind == "dataclass":
        return [f"{value}.{key}" for key in tree.keys]
    return [f"{value}[{k}]" for k in range(len(tree.children))]


def same_array_kind(scope: Scope, example: Any, value: str) -> None:
    """Adds pending tests that the array read by ``value``, a text, has the dtype and rank of the example, and size 1 along the
    same axes."""
    scope.need(f"{value}.dtype is {scope.constant(example.dtype)} and {value}.ndim == {example.ndim}")
    ones = [n == 1 for n in example.shape]
    if any(ones):
        scope.need(" and ".join(f"{value}.shape[{k}] {'==' if one else '!='} 1" for k, one in enumerate(ones)))
    elif ones:
        scope.need(f"1 not in {value}.shape")


# ------------------------------------------------------------------------------------------------ what was read


def unchanged(scope: Scope, reads: Iterable[Read]) -> None:
    """Adds tests to ``scope`` that each place holds the same object as when it was read, or a container of the same
    structure."""
    for read in reads:
        if read.tree is not None:
            _same_structure(scope, read)
        elif type(read.value) is MethodType and read.kind == "attr":  # each access makes a new object
            _same_method(scope, read)
        elif (
            is_leaf(read.value)
            and read.kind == "number"
            or read.kind in ("entries", "signs")
            or read.now() is not read.value  # an equal object
        ):
            scope.need(f"{scope.constant(read.holds)}()")
        elif read.value is MISSING:
            _absent(scope, read)
        else:
            scope.need(f"{scope.read(read)} is {scope.constant(read.value)}")


def _same_method(scope: Scope, read: Read) -> None:
    """Adds tests to ``scope`` that an attribute is a method with the same function and object as when it was read."""
    found = scope.bind(scope.place(read.kind, read.holder, read.key))
    scope.need(scope.is_type(found, MethodType))
    for name in ("__func__", "__self__"):
        scope.need(f"{found}.{name} is {scope.constant(getattr(read.value, name))}")


def _absent(scope: Scope, read: Read) -> None:
    """Adds tests to ``scope`` that a name or attribute that did not exist still does not: a builtin is not hidden by a
    global."""
    if scope.is_global(read.kind, read.holder, read.key) and hasattr(builtins, read.key):
        scope.need(f"{read.key} is {scope.constant(getattr(builtins, read.key))}")
    elif read.kind == "attr":
        scope.need(f"not {scope.place('has', read.holder, read.key)}")
    else:
        scope.need(f"{scope.constant(read.holds)}()")


def _same_structure(scope: Scope, read: Read) -> None:
    """Adds tests to ``scope`` that the container at a place has the same structure, and loose leaves of the same type; a call
    of ``read.holds`` if no short test exists."""
    lines, tests, count = list(scope.lines), list(scope.tests), scope.count
    if read.holds():
        examples, loose = flatten(read.now())[0], dict(read.loose)

        def look(leaf: Leaf, value: str) -> None:
            scope.need(scope.is_type(value, type(examples[leaf.k])))
            if leaf.k in loose and isinstance(examples[leaf.k], np.ndarray):
                same_array_kind(scope, examples[leaf.k], value)

        if structure(scope, read.tree, scope.bind(scope.read(read)), look):
            return
    scope.lines, scope.tests, scope.count = lines, tests, count
    scope.need(f"{scope.constant(read.holds)}()")


def checker(reads: Sequence[Read]) -> Callable[[], bool] | None:
    """A function that returns True if everything outside that was read still means the same; None without ``reads``.

    Its second call makes a generated function that tests for the very same objects; later calls run that first, and compare
    meanings only if it fails.
    """
    if not reads:
        return None
    written: list[Callable[[], bool]] = []
    asked = False

    def same() -> bool:
        nonlocal asked
        if written and written[0]():
            return True
        if asked and not written:
            written.append(_written(reads))
        asked = True
        return all(r.holds() for r in reads)

    return same


def _written(reads: Sequence[Read]) -> Callable[[], bool]:
    """The generated function without arguments that returns True if each place holds what it held when it was read."""
    scope = Scope("return False", commonest(reads))
    unchanged(scope, reads)
    scope.attempt()
    scope.line("return True")
    return scope.function("unchanged", "")
