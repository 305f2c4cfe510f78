"""Templates: names that are first set inside a block and read elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Lines, indent, kind_of_fault, scalar_name
from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker


@kind_of_fault
def first_set_inside(g: Maker, s: Scope) -> Lines:
    """A name first set in a nested block; any block around it may read it, before it in a later iteration or after it."""
    lines, total = scalar_name(g, s)
    kind = g.choose("s", "v", "v", "m")
    name = g.fresh(kind)
    reader = {"s": name, "v": f"np.sum({name} * {name})", "m": f"np.mean({name})"}[kind]
    read = f"{total} += 0.3 * np.sin({reader})"
    inner, more = _level(g, s, kind, name, read, g.choose(1, 2, 2, 3))
    after = [read] if g.chance(0.7) else []
    if g.chance(0.4):
        g.declare(s, kind, name)
    return [*lines, *more, *inner, *after]


def _level(g: Maker, s: Scope, kind: str, name: str, read: str, depth: int) -> tuple[Lines, Lines]:
    """A block that sets the name, and the lines needed before it."""
    if depth == 0:
        lines = [f"{name} = {g.expression(s, kind)}"]
        if g.chance(0.4):
            change = f"{name} = np.tanh({name} * 1.1)" if kind == "s" else f"{name}[0] = {g.expression(s, 's')}"
            lines.append(change)
        return lines, []
    if g.chance(0.3):
        inner, before = _level(g, s.inner(), kind, name, read, depth - 1)
        other = ["else:", f"    {name} = {g.expression(s, kind)}"] if g.chance(0.4) else []
        return [f"if {g.test(s)}:", *indent(inner), *other], before
    scope = s.inner(loop=True)
    i = g.declare(scope, "i", g.fresh("i"))
    inner, before = _level(g, scope, kind, name, read, depth - 1)
    early = [f"if {i} > 0:", f"    {read}"] if g.chance(0.3) else []
    late = [read] if g.chance(0.5) else []
    leave = [f"if {g.test(scope)}:", "    break"] if g.chance(0.3) else []
    if g.chance(0.25):
        head, step = [f"{i} = 0", f"while {i} < {g.choose('2', '3', 'n')}:"], [f"{i} += 1"]
        return [*head, *indent([*early, *inner, *late, *step, *leave])], before
    return [
        f"for {i} in range({g.choose('2', '3', 'n', 'trips', 'trips + 1')}):",
        *indent([*early, *inner, *late, *leave]),
    ], before


@kind_of_fault
def found_by_search(g: Maker, s: Scope) -> Lines:
    """The first element that passes a test, and its index; a loop inside a loop that ends there."""
    lines, total = scalar_name(g, s)
    i, j = g.fresh("i"), g.fresh("i")
    hit, best = g.fresh("v"), g.fresh("s")
    outer, inner = s.inner(loop=True), s.inner(loop=True)
    g.declare(inner, "i", i)
    g.declare(inner, "i", j)
    return [
        *lines,
        f"for {i} in range(n):",
        f"    for {j} in range(n):",
        f"        {hit} = {g.expression(inner, 'v')}",
        f"        {best} = {hit}[{j}] * math.cos({total})",
        f"        if {best} > {g.choose('0.3', '-0.2', '0.7')}:",
        "            break",
        f"    {total} += 0.3 * math.sin({best}) + 0.1 * {hit}[{i}]",
        f"{total} = {total} + 0.1 * np.sum({hit}) * {best} + 0.01 * {j}",
    ]
