"""Templates: calls of functions, lists, reductions, functions of arrays, checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Lines, indent, new_target, scalar_name, target, template, use, write
from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker


@template
def helper_scalar(g: Maker, s: Scope) -> Lines:
    """A call of a function with a branch and two returns."""
    f = g.helper("scalar")
    text = f"{f}({g.scalar(s, 1)}, {g.scalar(s, 1)})"
    return [f"{g.declare(s, 's', g.fresh('s'))} = {text}"]


@template
def helper_array(g: Maker, s: Scope) -> Lines:
    f = g.helper("array")
    text = f"{f}({g.vector(s, 1)}, {g.scalar(s, 0)})"
    return [f"{g.declare(s, 'v', g.fresh('v'))} = {text}"]


@template
def helper_mutates(g: Maker, s: Scope) -> Lines:
    """The called function writes into its argument."""
    lines, x = target(g, s, "v")
    return [*lines, f"{g.helper('mutates')}({x}, {g.scalar(s, 1)})", *use(g, s, "v", x)]


@template
def helper_returns_argument(g: Maker, s: Scope) -> Lines:
    """The function returns its argument: the result is an alias."""
    lines, x = target(g, s, "v")
    y = g.declare(s, "v", g.fresh("v"), like=x)
    return [*lines, f"{y} = {g.helper('same')}({x})", *write(g, s, "v", y), *use(g, s, "v", x)]


@template
def helper_pair(g: Maker, s: Scope) -> Lines:
    f = g.helper("pair")
    text = f"{f}({g.vector(s, 1)})"
    a, x = g.declare(s, "s", g.fresh("s")), g.declare(s, "v", g.fresh("v"))
    return [f"{a}, {x} = {text}"]


@template
def inner_function(g: Maker, s: Scope) -> Lines:
    """A function that reads a name of the enclosing one."""
    f = f"local{len(g.taken)}"
    g.taken.add(f)
    lines, c = scalar_name(g, s)
    text = f"{f}({g.scalar(s, 1)})"
    a = g.declare(s, "s", g.fresh("s"))
    form = g.choose(
        [f"def {f}(t):", f"    return math.sin(t * {c}) + {c}"], [f"{f} = lambda t: np.tanh(t - {c}) * {c}"]
    )
    return [*lines, *form, f"{a} = {text}"]


@template
def append_stack(g: Maker, s: Scope) -> Lines:
    """Values collected in a list, which then becomes an array."""
    inner = s.inner(loop=True)
    i = g.declare(inner, "i", g.fresh("i"))
    name = f"parts{len(g.taken)}"
    g.taken.add(name)
    if g.chance(0.5):
        item, last = g.expression(inner, "s"), f"np.array({name})"
        kind = "v"
    else:
        item, last = g.expression(inner, "v"), f"np.stack({name})"
        kind = "m"
    lines = [f"{name} = []", f"for {i} in range(n):", *indent([*g.statements(inner, 1), f"{name}.append({item})"])]
    return [*lines, f"{g.declare(s, kind, g.fresh(kind))} = {last}"]


@template
def comprehension(g: Maker, s: Scope) -> Lines:
    inner = s.inner(loop=True)
    i = g.declare(inner, "i", g.fresh("i"))
    text = f"np.array([{g.expression(inner, 's')} for {i} in range(n)])"
    return [f"{g.declare(s, 'v', g.fresh('v'))} = {text}"]


@template
def unpack(g: Maker, s: Scope) -> Lines:
    texts = [g.expression(s, "s") for _ in range(3)]
    a, b = g.declare(s, "s", g.fresh("s")), g.declare(s, "s", g.fresh("s"))
    if g.chance(0.5):
        return [f"{a}, {b} = {texts[0]}, {texts[1]}"]
    rest = f"rest{len(g.taken)}"
    g.taken.add(rest)
    return [f"{a}, *{rest} = {', '.join(texts)}", f"{b} = {rest}[0] * {rest}[1]"]


@template
def where(g: Maker, s: Scope) -> Lines:
    x = f"np.where({g.vector(s, 0)} > {g.choose('0.07', '-0.31')}, {g.vector(s, 1)}, {g.choose(g.vector(s, 1), g.scalar(s, 1))})"
    return [f"{g.declare(s, 'v', g.fresh('v'))} = np.tanh({x})"]


@template
def reduction(g: Maker, s: Scope) -> Lines:
    v, m = g.vector(s, 1), g.matrix(s, 1)
    text = g.choose(
        f"np.max({v})",
        f"np.sum({m})",
        f"np.prod(np.cos({v}))",
        f"np.min({v} + {g.number()})",
        f"({v}).mean()",
        f"np.linalg.norm(1.5 + ({v}) ** 2)",
        f"max({g.scalar(s, 1)}, {g.scalar(s, 1)})",
    )
    return [f"{g.declare(s, 's', g.fresh('s'))} = math.tanh(0.3 * {text})"]


@template
def array_function(g: Maker, s: Scope) -> Lines:
    v = g.vector(s, 1)
    text = g.choose(
        f"np.cumsum({v})",
        f"np.concatenate([({v})[1:], ({v})[:1]])",
        f"np.maximum({v}, {g.scalar(s, 1)})",
        f"np.diag({g.matrix(s, 1)})",
        f"np.sum({g.matrix(s, 1)}, axis=1)",
        f"np.abs({v}) ** 2",
        f"np.roll({v}, 1)",
        f"np.full(n, {g.scalar(s, 1)})",
        f"np.zeros(n) + {g.scalar(s, 1)}",
        f"np.sort({v})",
    )
    return [f"{g.declare(s, 'v', g.fresh('v'))} = np.sin({text})"]


@template
def fill_buffer(g: Maker, s: Scope) -> Lines:
    """A new buffer, filled by a recurrence."""
    inner = s.inner(loop=True)
    i = g.declare(inner, "i", g.fresh("i"))
    x = g.fresh("v")
    lines = [
        f"{x} = np.{g.choose('zeros(n)', 'empty(n)', 'ones(n)')}",
        f"{x}[0] = {g.expression(s, 's')}",
        f"for {i} in range(1, n):",
        *indent([*g.statements(inner, g.choose(0, 1)), f"{x}[{i}] = math.tanh({x}[{i} - 1] + {g.scalar(inner, 1)})"]),
    ]
    g.declare(s, "v", x)
    return lines


@template
def integer_start(g: Maker, s: Scope) -> Lines:
    """A number that starts as an integer and becomes a float in the first iteration."""
    a, i = g.fresh("s"), g.fresh("i")
    lines = [f"{a} = 1", f"for {i} in range(n):", f"    {a} = {a} * math.cos({g.scalar(s, 1)})"]
    g.declare(s, "s", a)
    return lines


@template
def assert_raise(g: Maker, s: Scope) -> Lines:
    """Checks that pass."""
    a = g.scalar(s, 0)
    return g.choose([f"assert math.sin({a}) < 2.0"], [f"if math.cos({a}) > 2.0:", "    raise ValueError('too large')"])


@template
def dead_code(g: Maker, s: Scope) -> Lines:
    """A value that nobody reads, and elements that are written and then overwritten."""
    lines, x = new_target(g, s, "v")
    unread = g.fresh("s")
    return [*lines, f"{unread} = {g.scalar(s, 2)}", f"{x}[:] = {g.scalar(s, 1)}", f"{x}[:] = {g.expression(s, 'v')}"]
