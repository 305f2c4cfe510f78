"""Templates: values that are constant on some path, where a slope is infinite; captured tables that are read in part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Lines, indent, kind_of_fault, new_target, scalar_name
from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker

STEEP = (
    "{x} ** 0.4",
    "{x} ** {p}",
    "np.cbrt({x})",
    "np.sqrt({x})",
    "np.arccos(np.minimum({x}, 1.0))",
    "{x} ** 1.5",
    "{x} ** (1 / 3)",
)


@kind_of_fault
def steep_at_nothing(g: Maker, s: Scope) -> Lines:
    """A power, root or arc function at a value that is 0 or 1 whatever the arguments, on one path, in one iteration or in one
    element."""
    lines, total = scalar_name(g, s)
    x, i = g.fresh("v"), g.fresh("i")
    steep = g.choose(STEEP).replace("{x}", x).replace("{p}", f"(0.6 + 0.1 * math.cos({total}))")
    read = f"{total} += 0.2 * np.sum({steep})"
    far = f"0.3 + ({g.scalar(s, 1)}) ** 2"
    if g.chance(0.35):
        some = g.choose("0.0", "0.0", "1.0")
        return [*lines, f"if {g.test(s)}:", f"    {x} = {far}", "else:", f"    {x} = {some}", read]
    if g.chance(0.35):
        head = g.choose([f"for {i} in range({g.choose('2', '3', 'trips')}):"], [f"{i} = 0", f"while {i} < 3:"])
        step = [f"{i} += 1"] if len(head) > 1 else []
        return [*lines, f"{x} = 0.0", *head, *indent([read, f"{x} = {x} + {far}", *step])]
    more, v = new_target(g, s, "v")
    if g.chance(0.3):
        at = g.choose("0", "-1", ":2", "...")
        later = [
            f"{x} = {v} * {v} + 0.2",
            f"for {i} in range(3):",
            *indent([read, f"if {i} == 1:", f"    {x}[{at}] = 0.0"]),
        ]
        other = [f"{x} = {far}", f"for {i} in range(3):", *indent([read, f"{x} = 0.0 if {i} == 0 else {x}"])]
        return [*lines, *more, *g.choose(later, other)]
    # away from 0: the difference of equal numbers would have an infinite slope, and NaN would be right
    made = g.choose(
        f"np.maximum({v} - 0.017, 0.0)", f"np.where({v} > 0.1, np.abs({v}) + 0.2, 0.0)",
        f"np.concatenate([np.zeros(2), {v} * {v} + 0.2])",
        f"np.stack([{v} ** 2 + 0.3, np.zeros(n)])",
        f"np.clip(3.0 * {v} - 0.017, 0.0, 1.0)", f"np.fmax({v} - 0.017, np.zeros(n))",
    )  # fmt: skip
    if g.chance(0.3):
        buffer = [
            f"{x} = np.zeros(n)",
            f"for {i} in range(1, n):",
            f"    {x}[{i}] = {v}[{i}] ** 2 + 0.3 * {x}[{i} - 1]",
        ]
        return [*lines, *more, *buffer, read]
    return [*lines, *more, f"{x} = {made}", read]


@kind_of_fault
def table_outside(g: Maker, s: Scope) -> Lines:
    """Numbers and arrays in a table of the module; some entries are read, others not."""
    lines, total = scalar_name(g, s)
    more, v = new_target(g, s, "v")
    table, i, key = g.definition("TABLE"), g.fresh("i"), g.choose('"one"', '"two"')
    one = f"{table}[{key}]"
    step = g.choose(
        [f"{total} += {one}[0] * np.sum({v})"],
        [f"for {i} in {one}[1]:", f"    {total} = 0.5 * {total} + 0.1 * math.sin({total} * {i})"],
        [f"{total} += 0.1 * np.sum({one}[2] * {v}[:3])"],
        [f"{v}[:3] += 0.2 * {one}[2]", f"{total} += {one}[1][-1] * {v}[0]"],
        [f"{total} += 0.1 * len({table}) * {total} + 0.1 * np.sum(np.array({one}[1]) * {v}[0])"],
        [f"for {i} in range(len({one}[2])):", f"    {total} += 0.1 * {one}[2][{i}] * {v}[{i}]"],
        [f"{total} = {{entry}}({v}, {key}) * 0.3 + {total}"],
    )
    if "{entry}" in step[0]:
        step = [step[0].replace("{entry}", g.helper("entry"))]
    return [*lines, *more, *step]
