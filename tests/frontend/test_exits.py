"""Exits: the desugared function does what the function does; and which names may be unassigned."""

from __future__ import annotations

import random
import re
import textwrap

import gast
import pytest

from transpile.frontend.sources.definite import maybe_unassigned
from transpile.frontend.sources.structured_exits import STOP, Desugared, desugar


def parse(source: str) -> gast.FunctionDef:
    return gast.parse(textwrap.dedent(source)).body[0]


class Runnable(gast.NodeTransformer):
    """``__stop__ = flags`` ends the loop when its trip is over."""

    def visit_Assign(self, node):
        if getattr(node.targets[0], "id", "") != STOP:
            return node
        return [node, gast.If(gast.Name(STOP, gast.Load(), None, None), [gast.Break()], [])]


def compiled(node: gast.FunctionDef, **names):
    module = gast.Module([Runnable().visit(gast.parse(gast.unparse(node)).body[0])], [])
    namespace = dict(names)
    exec(compile(gast.unparse(module), "<desugared>", "exec"), namespace)
    return namespace[node.name]


def check_form(found: Desugared) -> None:
    """What the lifter relies on."""
    nodes = list(gast.walk(found.node))
    assert not any(isinstance(n, (gast.Break, gast.Continue)) for n in nodes)
    returns = [n for n in nodes if isinstance(n, gast.Return)]
    assert returns == [n for n in found.node.body[-1:] if isinstance(n, gast.Return)]
    loops = [n for n in nodes if isinstance(n, (gast.For, gast.While))]
    assert not any(n.orelse for n in loops)
    stops = [n for n in nodes if isinstance(n, gast.Assign) and getattr(n.targets[0], "id", "") == STOP]
    assert all(any(loop.body[-1] is s for loop in loops) for s in stops)
    assert not any(isinstance(n, gast.Name) and n.id == STOP and isinstance(n.ctx, gast.Load) for n in nodes)
    for n in nodes:
        if isinstance(n, gast.Assign) and getattr(n.targets[0], "id", "") in found.flags:
            assert n.value.value in (True, False)
        if isinstance(n, gast.stmt):
            assert n.lineno


def text(source: str) -> str:
    found = desugar(parse(source))
    check_form(found)
    return gast.unparse(found.node).strip()


def test_straight_code_is_left_alone():
    source = "def f(x):\n    y = x * 2\n    if y > 0:\n        y = -y\n    return y"
    assert text(source) == source
    assert desugar(parse(source)).result is None


def test_no_return_at_all():
    source = "def f(x):\n    x[0] = 1\n    if x[0] > 0:\n        return\n    x[1] = 2"
    assert text(source) == "def f(x):\n    x[0] = 1\n    if x[0] > 0:\n        pass\n    else:\n        x[1] = 2"


def test_a_path_without_a_return_gives_none():
    source = "def f(x):\n    if x > 0:\n        return x"
    assert text(source).splitlines()[1:] == [
        "    if x > 0:",
        "        _result = x",
        "    else:",
        "        _result = None",
        "    return _result",
    ]


def test_raise_stays_in_place():
    source = "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return x"
    assert text(source) == source


def test_break_without_use_of_the_rest():
    source = "def f(x):\n    while True:\n        x = x * 2\n        if x > 9:\n            break\n    return x"
    assert text(source) == textwrap.dedent("""\
        def f(x):
            while True:
                _stop = False
                x = x * 2
                if x > 9:
                    _stop = True
                __stop__ = _stop
            return x""")


def test_continue_needs_a_flag_only_where_both_sides_go_on():
    source = """\
        def f(x, n):
            for i in range(n):
                if i > 1:
                    if i > 2:
                        continue
                    x = x + 1
                x = x * 2
            return x"""
    assert text(source) == textwrap.dedent("""\
        def f(x, n):
            for i in range(n):
                _skip = False
                if i > 1:
                    if i > 2:
                        _skip = True
                    else:
                        x = x + 1
                if not _skip:
                    x = x * 2
            return x""")


def test_flags_do_not_clash():
    source = (
        "def f(_stop):\n    while True:\n        _stop_2 = 1\n        if _stop:\n            break\n    return _stop"
    )
    assert desugar(parse(source)).flags == {"_stop_3"}


def test_break_and_return_in_one_loop():
    source = """\
        def f(x, n):
            for i in range(n):
                if x > i:
                    return i
                if x < -i:
                    break
            return -1"""
    assert "__stop__ = _stop or _done" in text(source)


def test_the_function_is_not_changed():
    node = parse("def f(x):\n    while x:\n        if x > 1:\n            break\n        return x\n    return 0")
    before = gast.dump(node)
    desugar(node)
    assert gast.dump(node) == before


def test_expressions_are_the_same_objects():
    node = parse("def f(x):\n    while True:\n        if x > 1:\n            return x\n        x = x + 1")
    names = [n for n in gast.walk(node) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load)]
    after = list(gast.walk(desugar(node).node))
    assert all(any(n is m for m in after) for n in names)


# ------------------------------------------------------------------------------------------- random programs


class Maker:
    """Writes random functions of a, b with every kind of exit."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.names = ["x", "y", "z"]

    def program(self) -> str:
        body = self.block(1, depth=0, loop=False)
        ending = self.rng.choice(["    return x", "", "    return (x, a)", "    return"])
        return "def f(a, b, tick):\n    x = a\n" + "\n".join([*body, ending])

    def test(self) -> str:
        name = self.rng.choice([*self.names, "a", "b", "i"])
        return self.rng.choice(
            [
                f"a > {self.rng.randint(-1, 4)}",
                f"{name} % 3 == 0",
                f"{name} < b",
                f"tick() % {self.rng.randint(2, 5)} == 0",
            ]
        )

    def value(self) -> str:
        return f"{self.rng.choice([*self.names, 'a', 'b'])} + {self.rng.randint(0, 3)}"

    def block(self, level: int, depth: int, loop: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self.rng.randint(1, 3)):
            lines += self.stmt(level, depth, loop)
        return lines

    def stmt(self, level: int, depth: int, loop: bool) -> list[str]:
        pad, rng = "    " * level, self.rng
        inner = lambda in_loop: self.block(level + 1, depth + 1, in_loop)  # noqa: E731
        kind = rng.random()
        if depth < 4 and kind < 0.3:
            lines = [f"{pad}if {self.test()}:", *inner(loop)]
            return lines + ([f"{pad}else:", *inner(loop)] if rng.random() < 0.5 else [])
        if depth < 3 and kind < 0.5:
            head = rng.choice(
                [
                    f"for i in range({rng.choice(['b', '3', 'a'])}):",
                    f"while tick() < {rng.randint(20, 60)}:",
                    "while True:",
                ]
            )
            guard = (
                f"{pad}    if tick() > 40:\n{pad}        {rng.choice(['break', 'return a'])}"  # first, so that it ends
            )
            lines = [pad + head, *([guard] if head == "while True:" else []), *inner(True)]
            return lines + ([f"{pad}else:", *inner(loop)] if rng.random() < 0.3 else [])
        if depth < 3 and kind < 0.56:
            return [f"{pad}with scope():", *inner(loop)]
        if loop and kind < 0.72:
            return [pad + rng.choice(["break", "continue"])]
        if kind < 0.8:
            return [
                pad + rng.choice([f"return {self.value()}", "return", "return None", f"return ({self.value()}, b)"])
            ]
        if kind < 0.83:
            return [pad + "raise KeyError(x)"]
        return [f"{pad}{rng.choice(self.names)} = {self.value()}"]


class Scope:
    def __enter__(self):
        pass

    def __exit__(self, *_):
        return False


def outcome(f, a, b):
    """What a run gives: the result or the exception, and how often the clock was asked."""
    ticks = [0]

    def tick():
        ticks[0] += 1
        if ticks[0] > 200:
            raise TimeoutError
        return ticks[0]

    try:
        return f(a, b, tick), ticks[0]
    except NameError as e:
        return "NameError", re.search("'(\\w+)'", str(e))[1], ticks[0]
    except Exception as e:
        return type(e).__name__, str(e), ticks[0]


@pytest.mark.parametrize("seed", range(150))
def test_random_programs(seed):
    source = Maker(random.Random(seed)).program()
    found = desugar(parse(source))
    check_form(found)
    original, structured = compiled_source(source), compiled(found.node, scope=Scope)
    flagged = {n.id for n in maybe_unassigned(parse(source))}
    for a in range(-1, 4):
        for b in range(-1, 3):
            wanted = outcome(original, a, b)
            assert outcome(structured, a, b) == wanted, source + "\n\n" + gast.unparse(found.node)
            if wanted[0] == "NameError" and wanted[1] in original.__code__.co_varnames:
                assert wanted[1] in flagged, source


def compiled_source(source: str):
    namespace = {"scope": Scope}
    exec(source, namespace)
    return namespace["f"]


# ---------------------------------------------------------------------------------------- definite assignment


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("if a: y = 1\nreturn y", ["y"]),
        ("if a: y = 1\nelse: y = 2\nreturn y", []),
        ("if a: y = 1\nelse: raise ValueError\nreturn y", []),
        ("if a: y = 1\nelse: return 0\nreturn y", []),
        ("for i in range(a): y = i\nreturn y", ["y"]),
        ("for i in range(3): y = i\nreturn y + i", []),
        ("for i in range(3):\n    if a: continue\n    y = i\nreturn y", ["y"]),
        ("for i in range(a): pass\nreturn i", ["i"]),
        ("for i in range(a):\n    y = i\n    break\nelse: y = 0\nreturn y", []),
        ("while True:\n    y = a\n    if y: break\nreturn y", []),
        ("while True:\n    if a: break\n    y = a\nreturn y", ["y"]),
        ("while a: y = 1\nreturn y", ["y"]),
        ("while (y := a) > 1: a = a - 1\nreturn y", []),
        ("if a and (y := a) > 1: return y\nreturn 0", []),
        ("if a or (y := a) > 1: return 0\nreturn y", []),
        ("if a and (y := a) > 1: return 0\nreturn y", ["y"]),
        ("b = (y := 1) if a else 2\nreturn y", ["y"]),
        ("y += a\nreturn y", ["y"]),
        ("with scope(): y = 1\nreturn y", []),
        ("y = [z for z in a]\nreturn y", []),
        ("def g(): return y\nreturn g", []),
        ("assert (y := a)\nreturn y", []),
        ("x, (y, *z) = a\nreturn x + y + z", []),
        ("return q", []),
    ],
)
def test_maybe_unassigned(body, names):
    node = parse("def f(a):\n" + textwrap.indent(body, "    "))
    assert [n.id for n in maybe_unassigned(node)] == names
