"""The building blocks of templates: the tables in which they are registered, new arrays, writes, reads, loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker

Lines = list[str]
TEMPLATES: dict[str, Callable] = {}
RISKY: dict[str, Callable] = {}  # aliasing depends on control flow: right or refused

KINDS: dict[str, Callable] = {}  # constructs in which faults were found: right or refused


def template(f: Callable) -> Callable:
    TEMPLATES[f.__name__] = f
    return f


def risky(f: Callable) -> Callable:
    RISKY[f.__name__] = f
    return f


def kind_of_fault(f: Callable) -> Callable:
    KINDS[f.__name__] = f
    return f


def indent(lines: Lines) -> Lines:
    return ["    " + line for line in lines]


def new(g: Maker, s: Scope, kind: str) -> Lines:
    text = g.expression(s, kind)
    return [f"{g.declare(s, kind, g.fresh(kind))} = {text}"]


def new_target(g: Maker, s: Scope, kind: str) -> tuple[Lines, str]:
    """A new array with memory of its own."""
    lines = new(g, s, kind)
    return lines, lines[-1].split(" = ")[0]


def target(g: Maker, s: Scope, kind: str) -> tuple[Lines, str]:
    """An array that may be written: an existing one, else a new one."""
    names = getattr(s, kind)
    if not names or g.chance(0.2):
        return new_target(g, s, kind)
    return [], g.choose(names)


def place(g: Maker, s: Scope, x: str) -> str:
    """The index of one element."""
    return g.index(s) if x in s.v else f"{g.index(s)}, {g.index(s)}"


def write(g: Maker, s: Scope, kind: str, x: str) -> Lines:
    """A random write into an array."""
    element = f"{x}[{g.index(s)}]" if kind == "v" else f"{x}[{g.index(s)}, {g.index(s)}]"
    return [
        g.choose(
            f"{element} = {g.expression(s, 's')}",
            f"{element} += {g.small(s, 's')}",
            f"{x}[1:] *= {bounded(g, s)}",
            f"{x} += {g.small(s, 's')}",
            f"{x}[0] = {bounded(g, s)}",
            f"{x} *= {bounded(g, s)}",
        )
    ]


def use(g: Maker, s: Scope, kind: str, x: str) -> Lines:
    """A read of an array that reaches the result."""
    element = f"{x}[{g.index(s)}]" if kind == "v" else f"{x}[{g.index(s)}, {g.index(s)}]"
    return use_text(g, s, g.choose(element, f"np.sum({x})", f"np.sum({x} * {x})"))


def use_text(g: Maker, s: Scope, text: str) -> Lines:
    if not s.s:
        return [f"{g.declare(s, 's', g.fresh('s'))} = 0.3 * np.sin({text})"]
    return [f"{g.choose(s.s)} += 0.3 * np.sin({text})"]


def bounded(g: Maker, s: Scope) -> str:
    return f"math.cos({g.scalar(s, 1)})"


def name_or(g: Maker, s: Scope, kind: str) -> str:
    return {"v": g.vector, "m": g.matrix}[kind](s, 0)


def scalar_name(g: Maker, s: Scope) -> tuple[Lines, str]:
    if s.s and g.chance(0.7):
        return [], g.choose(s.s)
    text = g.expression(s, "s")
    name = g.declare(s, "s", g.fresh("s"))
    return [f"{name} = {text}"], name


def counter(g: Maker) -> tuple[Lines, str]:
    k = g.fresh("i")
    return [f"{k} = 0"], k


def loop(g: Maker, s: Scope, head: str) -> Lines:
    inner = s.inner(loop=True)
    i = g.declare(inner, "i", g.fresh("i"))
    return [f"for {i} in {head}:", *body(g, inner)]


def body(g: Maker, inner: Scope, count: int | None = None) -> Lines:
    return indent(g.statements(inner, count or g.choose(1, 2, 2)) or ["pass"])
