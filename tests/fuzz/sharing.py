"""Templates of programs in which aliasing depends on control flow: they are computed right or refused.

Some copy arrays that others share, so that not all are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Lines, indent, new_target, risky, target, use, use_text, write
from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker


def held(g: Maker, x: str) -> str:
    """The array itself, or a copy of it."""
    return g.choose(x, f"{x}.copy()")


@risky
def maybe_alias(g: Maker, s: Scope) -> Lines:
    (first, u), (second, w) = target(g, s, "v"), new_target(g, s, "v")
    return [
        *first,
        *second,
        f"if {g.test(s)}:",
        f"    {w} = {held(g, u)}",
        *write(g, s, "v", g.choose(u, w)),
        *use(g, s, "v", g.choose(u, w)),
    ]


@risky
def either_alias(g: Maker, s: Scope) -> Lines:
    (first, u), (second, w) = new_target(g, s, "v"), new_target(g, s, "v")
    test = g.test(s)
    y = g.declare(s, "v", g.fresh("v"), like=u)
    one, other = held(g, u), held(g, w)
    form = g.choose(
        [f"{y} = {one} if {test} else {other}"], [f"if {test}:", f"    {y} = {one}", "else:", f"    {y} = {other}"]
    )
    return [*first, *second, *form, *write(g, s, "v", g.choose(u, w, y)), *use(g, s, "v", g.choose(u, w, y))]


@risky
def alias_in_loop(g: Maker, s: Scope) -> Lines:
    """From the second iteration on, two names share memory."""
    (first, u), (second, w) = target(g, s, "v"), new_target(g, s, "v")
    i = g.fresh("i")
    return [
        *first,
        *second,
        f"for {i} in range({g.choose('1', '2', 'trips')}):",
        *indent(write(g, s, "v", g.choose(u, w))),
        f"    {w} = {held(g, u)}",
        *g.choose([], write(g, s, "v", g.choose(u, w))),
        *use(g, s, "v", g.choose(u, w)),
    ]


@risky
def view_of_rebound(g: Maker, s: Scope) -> Lines:
    """A view of an array that a loop rebinds."""
    lines, x = new_target(g, s, "m")
    y, i = g.declare(s, "v", g.fresh("v"), like=x), g.fresh("i")
    return [
        *lines,
        f"{y} = {held(g, f'{x}[0]')}",
        f"for {i} in range({g.choose('1', '2', 'trips')}):",
        *indent(write(g, s, "v", y)),
        f"    {x} = {x} * 0.9",
        *use(g, s, "m", x),
        *use(g, s, "v", y),
    ]


@risky
def appended_then_written(g: Maker, s: Scope) -> Lines:
    """A list that holds an array rather than a copy of it."""
    lines, x = new_target(g, s, "v")
    name, i = f"parts{len(g.taken)}", g.fresh("i")
    g.taken.add(name)
    step = g.choose(write(g, s, "v", x), [f"{x} = {x} * 0.8"])
    return [
        *lines,
        f"{name} = []",
        f"for {i} in range(n):",
        *indent(step),
        f"    {name}.append({held(g, x)})",
        *write(g, s, "v", x),
        *use_text(g, s, f"np.sum(np.stack({name}) * {g.number()})"),
    ]


@risky
def three_way_swap(g: Maker, s: Scope) -> Lines:
    lines, names = [], []
    for _ in range(3):
        more, name = new_target(g, s, "v")
        lines, names = [*lines, *more], [*names, name]
    turned = g.choose([names[1], names[2], names[0]], [names[1], names[0], names[0]], [names[1], names[1], names[2]])
    i = g.fresh("i")
    return [
        *lines,
        f"for {i} in range({g.choose('2', '3', 'trips')}):",
        *indent(write(g, s, "v", g.choose(names))),
        f"    {', '.join(names)} = {', '.join(turned)}",
        *use(g, s, "v", names[0]),
        *use(g, s, "v", names[2]),
    ]


@risky
def window(g: Maker, s: Scope) -> Lines:
    """A view that moves through a buffer, written in the next iteration."""
    lines, x = new_target(g, s, "v")
    y, i = g.fresh("v"), g.fresh("i")
    return [
        *lines,
        f"{y} = {x}[:2]",
        f"for {i} in range(1, n - 1):",
        f"    {y}[0] = {g.expression(s, 's')}",
        f"    {y} = {held(g, f'{x}[{i}:{i} + 2]')}",
        *use(g, s, "v", x),
        *use_text(g, s, f"np.sum({y})"),
    ]


@risky
def named_in_body(g: Maker, s: Scope) -> Lines:
    """A name assigned only in the loop body, written after the loop or in the next iteration."""
    (first, u), (second, w) = new_target(g, s, "v"), new_target(g, s, "v")
    i, y = g.fresh("i"), g.fresh("v")
    lines = [
        f"for {i} in range(n):",
        *indent(g.choose([], [f"if {i} > 0:", f"    {y}[0] = 0.5 * {y}[1]"])),
        *indent(g.choose([], write(g, s, "v", u))),
        f"    {y} = {held(g, g.choose(u, w, f'{u} * 0.9'))}",
    ]
    g.declare(s, "v", y, like=u)
    return [*first, *second, *lines, *g.choose([], write(g, s, "v", y)), *use(g, s, "v", g.choose(u, w, y))]


@risky
def items_of_list(g: Maker, s: Scope) -> Lines:
    """Elements of a list are swapped or become the same array."""
    (first, u), (second, w) = new_target(g, s, "v"), new_target(g, s, "v")
    name, i = f"pair{len(g.taken)}", g.fresh("i")
    g.taken.add(name)
    step = g.choose(
        f"{name}[0], {name}[1] = {name}[1], {name}[0]",
        f"{name}[0] = {held(g, f'{name}[1]')}",
        f"{name}[1] = {held(g, u)}",
        f"{name}[0] = {name}[0] * 0.8",
    )
    return [
        *first,
        *second,
        f"{name} = [{held(g, u)}, {held(g, w)}]",
        f"for {i} in range({g.choose('2', 'trips', 'n')}):",
        f"    {name}[{g.choose('0', '1')}][0] = {g.expression(s, 's')}",
        f"    {step}",
        *g.choose([], write(g, s, "v", g.choose(u, w))),
        *use_text(g, s, f"np.sum({name}[0] * {name}[1])"),
        *g.choose([], use(g, s, "v", u)),
    ]


@risky
def items_of_dict(g: Maker, s: Scope) -> Lines:
    (first, u), (second, w) = new_target(g, s, "v"), new_target(g, s, "v")
    name, other, i = f"tree{len(g.taken)}", f"tree{len(g.taken) + 1}", g.fresh("i")
    g.taken |= {name, other}
    step = g.choose(
        f'{name}["a"] = {held(g, w)}',
        f'{name}["a"] = {held(g, f"""{name}["b"]""")}',
        f'{name}["a"], {name}["b"] = {name}["b"], {name}["a"]',
        f"{name} = {other}",
        f'{other}["a"] = {name}["a"] * 0.9',
    )
    return [
        *first,
        *second,
        f'{name} = {{"a": {held(g, u)}, "b": {held(g, w)}}}',
        f"{other} = {g.choose(name, f'dict({name})', f'{name}.copy()')}",
        f"for {i} in range({g.choose('2', 'trips', 'n')}):",
        f'    {name}["{g.choose("a", "b")}"][1] = {g.expression(s, "s")}',
        f"    {step}",
        *use_text(g, s, f'np.sum({name}["a"] * {name}["b"])'),
        *use_text(g, s, f'{other}["a"][0]'),
    ]


@risky
def elements_of_grown(g: Maker, s: Scope) -> Lines:
    """An array taken out of a list that grew is written, or one that was put in."""
    (first, x), name, i, y = new_target(g, s, "v"), f"grown{len(g.taken)}", g.fresh("i"), g.fresh("v")
    g.taken.add(name)
    item = g.choose(f"{x} * 0.7", f"np.sin({x} + {i})")
    after = g.choose(
        [f"{y} = {held(g, f'{name}[-1]')}", f"{y}[0] = {g.expression(s, 's')}"],
        [f"for {y} in {name}:", f"    {y} *= 0.5"],
        [f"{y} = {name}[0]", f"{y} = {y} * 2.0"],
    )
    return [
        *first,
        f"{name} = {g.choose('[]', f'[{held(g, x)}]')}",
        f"for {i} in range(n):",
        f"    {name}.append({item})",
        *after,
        *g.choose([], write(g, s, "v", x)),
        *use_text(g, s, f"np.sum(np.stack({name}))"),
    ]


@risky
def returned_alias(g: Maker, s: Scope) -> Lines:
    """An inner function returns the array that it wrote."""
    (first, x), f, i, y = new_target(g, s, "v"), f"give{len(g.taken)}", g.fresh("i"), g.fresh("v")
    g.taken.add(f)
    lines = [
        f"def {f}():",
        f"    {x}[1:] += 0.3 * np.sin({x}[:-1])",
        f"    return {held(g, x)}",
        f"for {i} in range({g.choose('2', 'n')}):",
        f"    {y} = {f}()",
        *indent(g.choose([], [f"{y}[0] *= 0.9"])),
    ]
    g.declare(s, "v", y, like=x)
    return [*first, *lines, *g.choose([], write(g, s, "v", y)), *use(g, s, "v", x), *use(g, s, "v", y)]
