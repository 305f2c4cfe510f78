"""Templates: names of arrays, rebinding and mutation, views, copies, swaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Lines, bounded, name_or, new, new_target, target, template, use, use_text, write
from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker


@template
def assign_scalar(g: Maker, s: Scope) -> Lines:
    text = g.expression(s, "s")
    name = g.choose(s.s) if s.s and (s.depth or g.chance(0.5)) else g.fresh("s")
    g.declare(s, "s", name)
    return [f"{name} = {text}"]


@template
def assign_array(g: Maker, s: Scope) -> Lines:
    kind = g.choose("v", "v", "m")
    text = g.expression(s, kind)
    return [f"{g.declare(s, kind, g.fresh(kind))} = {text}"]


@template
def rebind_array(g: Maker, s: Scope) -> Lines:
    """x = x + ...: new memory; other names of the old memory keep it."""
    kind = g.choose("v", "v", "m")
    lines = [] if s.rebindable(kind) else new(g, s, kind)
    x = g.choose(s.rebindable(kind))
    text = f"{x} {g.choose('+', '-')} {g.small(s, kind)}" if g.chance(0.6) else g.expression(s, kind)
    g.declare(s, kind, x)
    return [*lines, f"{x} = {text}"]


@template
def mutate_array(g: Maker, s: Scope) -> Lines:
    """x += ...: the same memory; other names see the change."""
    kind = g.choose("v", "v", "m")
    lines, x = target(g, s, kind)
    op = g.choose("+", "-", "*", "/")
    value = {"*": "np.cos({})", "/": "(1.0 + {} ** 2)"}.get(op, "0.4 * np.sin({})").format(name_or(g, s, kind))
    return [*lines, f"{x} {op}= {value}"]


@template
def rebind_scalar(g: Maker, s: Scope) -> Lines:
    lines = [] if s.s else assign_scalar(g, s)
    x = g.choose(s.s)
    op, value = g.choose(("+", g.small(s, "s")), ("-", g.small(s, "s")), ("*", f"math.cos({g.scalar(s, 1)})"))
    return [*lines, f"{x} {op}= {value}"]


@template
def alias(g: Maker, s: Scope) -> Lines:
    """A second name, then a write through one name and a read through the other."""
    kind = g.choose("v", "v", "m")
    lines, x = target(g, s, kind)
    y = g.declare(s, kind, g.fresh(kind), like=x)
    written = g.choose(x, y)
    return [*lines, f"{y} = {x}", *write(g, s, kind, written), *use(g, s, kind, y if written == x else x)]


@template
def alias_then_rebind(g: Maker, s: Scope) -> Lines:
    """The old name gets new memory; the second name keeps the old values."""
    lines, x = new_target(g, s, "v")
    y = g.declare(s, "v", g.fresh("v"), like=x)
    lines += [f"{y} = {x}", f"{x} = {x} + {g.number()}"]
    g.declare(s, "v", x)
    return [*lines, *write(g, s, "v", g.choose(x, y)), *use(g, s, "v", y)]


@template
def view_slice(g: Maker, s: Scope) -> Lines:
    lines, x = target(g, s, "v")
    y = g.fresh("v")
    text, count = g.choose(
        ("1:", "n - 1"), (":-1", "n - 1"), ("::2", "(n + 1) // 2"), ("::-1", "n"), ("1:3", "2"), ("-2:", "2")
    )
    lines.append(f"{y} = {x}[{text}]")
    lines.append(
        g.choose(
            f"{y}[0] = {g.expression(s, 's')}",
            f"{y}[-1] += {g.small(s, 's')}",
            f"{y} *= {bounded(g, s)}",
            f"{y}[:] = {g.expression(s, 's')}",
            f"{y} += 0.3 * np.ones({count})",
        )
    )
    if g.chance(0.6):
        lines += write(g, s, "v", x)
    return [*lines, *use_text(g, s, f"np.sum({y})"), *use(g, s, "v", x)]


@template
def view_row(g: Maker, s: Scope) -> Lines:
    """A row or a column as a vector that stays a view."""
    lines, x = target(g, s, "m")
    y = g.fresh("v")
    text = g.choose(f"{x}[{g.index(s)}]", f"{x}[:, {g.index(s)}]", f"{x}[{g.index(s)}, :]", f"{x}[{g.index(s)}, ::-1]")
    g.declare(s, "v", y, like=x)
    lines.append(f"{y} = {text}")
    return [*lines, *g.choose(write(g, s, "v", y), write(g, s, "m", x)), *use(g, s, "m", x)]


@template
def view_transpose(g: Maker, s: Scope) -> Lines:
    lines, x = target(g, s, "m")
    y = g.declare(s, "m", g.fresh("m"), like=x)
    return [*lines, f"{y} = {x}.T", *write(g, s, "m", y), *use(g, s, "m", x)]


@template
def view_of_view(g: Maker, s: Scope) -> Lines:
    lines, x = target(g, s, "m")
    y, z = g.fresh("m"), g.fresh("v")
    lines += [
        f"{y} = {x}[1:, :]",
        f"{z} = {y}[0]",
        f"{z}[{g.choose('0', '-1', '1:')}] {g.choose('=', '+=')} {bounded(g, s)}",
    ]
    return [*lines, *use(g, s, "m", x)]


@template
def copy(g: Maker, s: Scope) -> Lines:
    kind = g.choose("v", "m")
    lines, x = target(g, s, kind)
    y = g.declare(s, kind, g.fresh(kind))
    form = g.choose(f"{x}.copy()", f"np.array({x})", f"np.copy({x})", f"{x} * 1.0")
    return [*lines, f"{y} = {form}", *write(g, s, kind, g.choose(x, y)), *use(g, s, kind, g.choose(x, y))]


@template
def swap_buffers(g: Maker, s: Scope) -> Lines:
    """Two buffers are swapped after each iteration, which writes into one of them."""
    (first, u), (second, w) = new_target(g, s, "v"), new_target(g, s, "v")
    inner, i = s.inner(loop=True), g.fresh("i")
    inner.i.append(i)
    j = g.fresh("i")
    lines = [
        f"for {i} in range({g.choose('2', '3', 'n')}):",
        f"    for {j} in range(n):",
        f"        {w}[{j}] = np.tanh({u}[{j}] * {u}[{j} - 1] + {g.scalar(s, 1)})",
        f"    {u}, {w} = {w}, {u}",
    ]
    return [*first, *second, *lines, *use(g, s, "v", g.choose(u, w))]


@template
def swap_names(g: Maker, s: Scope) -> Lines:
    """Names of arrays are swapped in a branch or in straight code, then one array is written."""
    (first, u), (second, w) = new_target(g, s, "v"), new_target(g, s, "v")
    swap = f"{u}, {w} = {w}, {u}"
    if g.chance(0.5):
        swapped = [f"if {g.test(s)}:", f"    {swap}"]
    else:
        swapped = [swap]
    return [*first, *second, *swapped, *write(g, s, "v", u), *use(g, s, "v", w)]


@template
def swap_scalars(g: Maker, s: Scope) -> Lines:
    lines: Lines = []
    while len(s.s) < 2:
        lines += new(g, s, "s")
    a, b = g.rng.sample(s.s, 2)
    return [*lines, g.choose(f"{a}, {b} = {b}, {a}", f"{a}, {b} = {b}, {a} + {g.small(s, 's')}")]


@template
def swap_elements(g: Maker, s: Scope) -> Lines:
    if g.chance(0.5):
        lines, x = target(g, s, "v")
        i, j = g.index(s), g.index(s)
        return [*lines, f"{x}[{i}], {x}[{j}] = {x}[{j}], {x}[{i}]"]
    lines, x = target(g, s, "m")
    i, j = g.index(s), g.index(s)
    return [*lines, g.choose(f"{x}[[0, 1]] = {x}[[1, 0]]", f"{x}[{i}, 0], {x}[{j}, 1] = {x}[{j}, 1], {x}[{i}, 0]")]
