"""Templates: writes of elements, slices, rows, blocks, through masks and integer arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Lines, bounded, place, target, template, use_text
from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker


@template
def element_write(g: Maker, s: Scope) -> Lines:
    lines, x = target(g, s, g.choose("v", "v", "m"))
    return [*lines, f"{x}[{place(g, s, x)}] = {g.expression(s, 's')}"]


@template
def element_augmented(g: Maker, s: Scope) -> Lines:
    lines, x = target(g, s, g.choose("v", "v", "m"))
    op, value = g.choose(
        ("+", g.small(s, "s")),
        ("-", g.small(s, "s")),
        ("*", f"np.cos({g.scalar(s, 1)})"),
        ("/", f"(1.2 + {g.scalar(s, 0)} ** 2)"),
    )
    return [*lines, f"{x}[{place(g, s, x)}] {op}= {value}"]


@template
def element_square(g: Maker, s: Scope) -> Lines:
    """The overwritten value is needed by the derivative."""
    lines, x = target(g, s, "v")
    i = g.index(s)
    return [*lines, f"{x}[{i}] = {g.choose('np.tanh', 'math.sin')}({x}[{i}] * {x}[{g.index(s)}])"]


@template
def slice_write(g: Maker, s: Scope) -> Lines:
    lines, x = target(g, s, "v")
    a = g.vector(s, 1)
    return [
        *lines,
        g.choose(
            f"{x}[1:] = np.tanh({a})[:-1]",
            f"{x}[:] = np.sin({a})",
            f"{x}[::2] = {g.expression(s, 's')}",
            f"{x}[:2] = ({a})[-2:]",
            f"{x}[::-1] = np.tanh({a})",
            f"{x}[n - 2:] = {g.number()}",
        ),
    ]


@template
def slice_augmented(g: Maker, s: Scope) -> Lines:
    lines, x = target(g, s, "v")
    a = g.vector(s, 1)
    return [
        *lines,
        g.choose(
            f"{x}[1:] += 0.3 * np.sin({a})[1:]",
            f"{x}[::2] *= {bounded(g, s)}",
            f"{x}[:-1] -= 0.4 * np.tanh({a})[1:]",
            f"{x}[:] /= 1.0 + ({a}) ** 2",
        ),
    ]


@template
def slice_overlap(g: Maker, s: Scope) -> Lines:
    """Overlapping parts of one buffer on both sides."""
    lines, x = target(g, s, "v")
    return [
        *lines,
        g.choose(
            f"{x}[1:] += {x}[:-1]",
            f"{x}[:-1] = {x}[1:]",
            f"{x}[1:] = {x}[:-1] * 0.7",
            f"{x} += {x}[::-1]",
            f"{x}[:] = {x}[::-1]",
            f"{x}[:-1] *= np.cos({x}[1:])",
        ),
    ]


@template
def row_write(g: Maker, s: Scope) -> Lines:
    lines, x = target(g, s, "m")
    i, a = g.index(s), g.vector(s, 1)
    return [
        *lines,
        g.choose(
            f"{x}[{i}] = np.tanh({a})",
            f"{x}[:, {i}] = np.sin({a})",
            f"{x}[{i}] += 0.3 * np.sin({a})",
            f"{x}[{i}, 1:] *= {bounded(g, s)}",
            f"{x}[1:, {i}] = {x}[:-1, {i}] * 0.5",
        ),
    ]


@template
def block_write(g: Maker, s: Scope) -> Lines:
    lines, x = target(g, s, "m")
    return [
        *lines,
        g.choose(
            f"{x}[1:, 1:] = {x}[:-1, :-1] * {bounded(g, s)}",
            f"{x}[:2, :2] -= 0.3 * np.tanh({x}[-2:, -2:])",
            f"{x}[1:-1, 1:-1] += 0.25 * ({x}[:-2, 1:-1] + {x}[2:, 1:-1])",
            f"{x}[:, ::2] = {g.expression(s, 's')}",
            f"{x} += {x}.T",
        ),
    ]


@template
def mask_write(g: Maker, s: Scope) -> Lines:
    lines, x = target(g, s, "v")
    limit = g.choose("0.11", "-0.23", "0.42")
    return [
        *lines,
        g.choose(
            f"{x}[{x} > {limit}] = {g.expression(s, 's')}",
            f"{x}[{x} < {limit}] *= {bounded(g, s)}",
            f"{x}[{x} > {limit}] = np.sin({x}[{x} > {limit}])",
        ),
    ]


@template
def repeated_set(g: Maker, s: Scope) -> Lines:
    """Of several writes to one element the last counts."""
    lines, x = target(g, s, "v")
    return [
        *lines,
        g.choose(
            f"{x}[[0, 0]] = [{g.scalar(s, 1)}, {g.expression(s, 's')}]",
            f"{x}[np.array([1, 0, 1])] = np.array([{g.scalar(s, 1)}, {g.number()}, {g.expression(s, 's')}])",
            f"{x}[[0, 1, 0]] += 0.3 * np.sin({g.vector(s, 0)}[:3])",
        ),
    ]


@template
def repeated_gather(g: Maker, s: Scope) -> Lines:
    text = f"{g.vector(s, 0)}[np.array([{g.choose('0, 1, 0, 0', '1, 1', '0, 2, 2, 1, 0')}])]"
    y = g.fresh("v")
    return [f"{y} = {text}", *use_text(g, s, f"np.sum({y} * {y}[0])")]


@template
def scatter_add(g: Maker, s: Scope) -> Lines:
    """np.add.at adds all repeated elements."""
    lines, x = target(g, s, "v")
    return [*lines, f"np.add.at({x}, np.array([0, 1, 0]), 0.3 * np.sin({g.vector(s, 0)}[:3]))"]


@template
def gather_permutation(g: Maker, s: Scope) -> Lines:
    text = g.vector(s, 1)
    order = g.choose("np.arange(n)[::-1]", "np.arange(n) - 1", "(np.arange(n) + 1) % n")
    return [f"{g.declare(s, 'v', g.fresh('v'))} = np.tanh(({text})[{order}])"]
