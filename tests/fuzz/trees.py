"""Templates: dicts, dataclasses, named tuples and tuples that loops carry, written into and rebound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Lines, bounded, indent, name_or, new_target, template, use, use_text, write
from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker


def tree_name(g: Maker) -> str:
    name = f"state{len(g.taken)}"
    g.taken.add(name)
    return name


def trip(g: Maker, s: Scope, lines: Lines) -> Lines:
    """A ``for`` or ``while`` loop with these lines; ``{i}`` in them is the index."""
    i = g.fresh("i")
    lines = [line.replace("{i}", i) for line in lines]
    if g.chance(0.3):
        return [f"{i} = 0", f"while {i} < {g.choose('2', '3', 'n')}:", *indent(lines), f"    {i} += 1"]
    return [f"for {i} in range({g.choose('2', 'n', '0', 'min(trips, n)')}):", *indent(lines)]


@template
def dict_in_loop(g: Maker, s: Scope) -> Lines:
    """A loop rebinds some items of a dict and writes into others."""
    (first, x), t = new_target(g, s, "v"), tree_name(g)
    step = g.choose(
        [f'{t}["u"] = np.tanh({t}["u"] + {g.scalar(s, 1)})'],
        [f'{t}["u"][{{i}}] = {g.choose("math.sin", "np.tanh")}({t}["u"][{{i}} - 1] * {t}["c"])'],
        [f'{t}["u"] *= {bounded(g, s)}', f'{t}["w"] = {t}["u"] * 0.5'],
        [f'{t}["u"], {t}["w"] = {t}["w"], np.sin({t}["u"])'],
    )
    lines = [*step, f'{t}["c"] {g.choose("= 0.5 *", "+= 0.1 *")} {t}["u"][0]']
    held = x if any('["u"][' in line for line in step) else f"{x}.copy()"
    made = f'{t} = {{"u": {held}, "c": {g.choose("0", "1.0", g.scalar(s, 1))}, "w": np.cos({x})}}'
    after = use_text(g, s, g.choose(f'np.sum({t}["u"] * {t}["w"])', f'{t}["c"]', f'np.sum({t}["u"]) * {t}["c"]'))
    return [*first, made, *trip(g, s, lines), *after, *use(g, s, "v", x)]


@template
def dict_rebuilt_in_loop(g: Maker, s: Scope) -> Lines:
    t, f = tree_name(g), g.definition("dict_of")
    made = f'{t} = {{"u": {g.expression(s, "v")}, "c": {g.expression(s, "s")}}}'
    more = g.choose([], [f'{t}["u"][0] = {g.expression(s, "s")}'])
    lines = [f"{t} = {f}({t}, {g.scalar(s, 1)})", *more]
    return [made, *trip(g, s, lines), *use_text(g, s, f'np.sum({t}["u"]) + {t}["c"]')]


@template
def dataclass_in_loop(g: Maker, s: Scope) -> Lines:
    """A method-like function changes the instance, or makes another."""
    (first, x), t, cls = new_target(g, s, "v"), tree_name(g), g.definition("State")
    step = g.choose(
        f"{t} = {g.definition('rebuilt_of')}({t}, {g.scalar(s, 1)})",
        f"{t} = {g.definition('changed_of')}({t}, {{i}}, {g.scalar(s, 1)})",
        f"{g.definition('changed_of')}({t}, {{i}}, {g.scalar(s, 1)})",
        f"{t}.c = {t}.c * 0.5 + np.sum({t}.u)",
    )
    more = g.choose([], [f"{t}.u[1:] *= {bounded(g, s)}"], [f"{t}.u = {t}.u * {t}.c * 0.1"])
    rebinds = "rebuilt" in step or any(".u =" in line for line in more)
    held = f"{x}.copy()" if rebinds else g.choose(x, f"{x}.copy()", f"{x}[::-1]")
    made = f"{t} = {cls}({held}, {g.choose('0.0', '1', g.scalar(s, 1))})"
    return [*first, made, *trip(g, s, [step, *more]), *use_text(g, s, f"np.sum({t}.u * {t}.c)")]


@template
def named_tuple_in_loop(g: Maker, s: Scope) -> Lines:
    t, cls = tree_name(g), g.definition("Pair")
    step = g.choose(
        f"{t} = {g.definition('rebuilt_of')}({t}, {g.scalar(s, 1)})",
        f"{t} = {t}._replace(c={t}.c * 0.5 + {t}.u[0])",
        f"{t} = {cls}(np.sin({t}.u), {t}.c + {g.small(s, 's')})",
    )
    made = f"{t} = {cls}({g.expression(s, 'v')}, {g.expression(s, 's')})"
    return [made, *trip(g, s, [step]), f"{g.declare(s, 's', g.fresh('s'))} = 0.3 * np.tanh(np.sum({t}.u) * {t}.c)"]


@template
def tuple_in_loop(g: Maker, s: Scope) -> Lines:
    """A tuple that is unpacked, written and packed again."""
    (first, x), (second, y), t = new_target(g, s, "v"), new_target(g, s, "v"), tree_name(g)
    u, w = g.fresh("v"), g.fresh("v")
    lines = [
        f"{u}, {w} = {t}",
        g.choose(f"{w}[1:] = np.sin({u}[:-1])", f"{w} = np.tanh({w} * {u})", f"{w} = {w} + 0.1 * {name_or(g, s, 'v')}"),
        g.choose(f"{t} = ({w}, {u})", f"{t} = ({u} * 0.9, {w})"),
    ]
    own = (
        f"{x}.copy()",
        f"{y} * 0.5",
    )  # among arrays read later, which one is written must not depend on the iteration
    held = own if "[1:]" in lines[1] else g.choose((x, y), own)
    return [
        *first,
        *second,
        f"{t} = ({held[0]}, {held[1]})",
        *trip(g, s, lines),
        *use_text(g, s, f"np.sum({t}[0] * {t}[1])"),
    ]


@template
def list_of_parameters_loop(g: Maker, s: Scope) -> Lines:
    """A list of arrays, updated as in training."""
    t, p, i = tree_name(g), g.fresh("v"), g.fresh("i")
    step = g.choose(
        [f"{t} = [{p} - 0.1 * np.sin({p}) for {p} in {t}]"],
        [f"for {p} in {t}:", f"    {p} -= 0.1 * np.sin({p})"],
        [f"for {i} in range(len({t})):", f"    {t}[{i}] = {t}[{i}] * {bounded(g, s)}"],
    )
    made = f"{t} = [{g.expression(s, 'v')}, {g.expression(s, 'm')}]"
    k = g.fresh("i")
    return [
        made,
        f"for {k} in range({g.choose('2', 'trips', 'n')}):",
        *indent(step),
        *use_text(g, s, f"np.sum({t}[0]) * np.sum({t}[1])"),
    ]


@template
def nested_tree(g: Maker, s: Scope) -> Lines:
    """A nested tree, read and written by path, without a loop."""
    (first, x), t = new_target(g, s, "v"), tree_name(g)
    return [
        *first,
        f'{t} = {{"p": [{x}, {g.expression(s, "s")}], "q": ({g.expression(s, "m")}, None)}}',
        f'{t}["p"][0][{g.index(s)}] {g.choose("=", "+=")} {bounded(g, s)}',
        f'{t}["q"][0][0] *= {t}["p"][1]',
        *g.choose([], write(g, s, "v", x)),
        *use_text(g, s, f'np.sum({t}["p"][0]) + np.sum({t}["q"][0])'),
    ]
