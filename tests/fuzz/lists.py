"""Templates: growing lists of numbers, arrays, pairs and lists; read, compared, tested, iterated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Lines, indent, kind_of_fault, scalar_name
from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker


def list_name(g: Maker) -> str:
    name = f"items{len(g.taken)}"
    g.taken.add(name)
    return name


def grown(g: Maker, s: Scope, name: str, element: str = "") -> Lines:
    """A list to which a loop appends: always, sometimes, or while a condition holds."""
    inner = s.inner(loop=True)
    i = g.declare(inner, "i", g.fresh("i"))
    item = element or g.expression(inner, "s")
    start = g.choose("[]", "[]", f"[{item.replace(i, '0')}]" if not element else "[]")
    grows = [f"{name}.append({item})"]
    if g.chance(0.5):
        grows = [f"if {g.test(inner)}:", *indent(grows)]
    if g.chance(0.25):
        return [f"{name} = {start}", f"{i} = 0", f"while {i} < {g.choose('3', 'n')}:", *indent([*grows, f"{i} += 1"])]
    return [f"{name} = {start}", f"for {i} in range({g.choose('n', '3', 'trips')}):", *indent(grows)]


@kind_of_fault
def list_asked(g: Maker, s: Scope) -> Lines:
    """Truth, length, comparison and membership of a list that grew."""
    (lines, total), name = scalar_name(g, s), list_name(g)
    value = g.scalar(s, 0)
    test = g.choose(
        name, f"not {name}", f"len({name}) > 1", f"{name} == []", f"{name} != []", f"bool({name})", f"{value} in {name}",
        f"{value} not in {name}", f"{name} == [{value}]", f"{name} and {name}[0] > 0.1", f"{name}[:1] == {name}[-1:]",
    )  # fmt: skip
    use = g.choose(f"{name}[-1]", f"{name}[0]", f"sum({name})", f"len({name})", f"max({name})")
    return [*lines, *grown(g, s, name), f"if {test}:", f"    {total} += 0.3 * math.sin(len({name}) + 0.5)",
            f"if {name}:", f"    {total} += 0.3 * math.sin({use})"]  # fmt: skip


@kind_of_fault
def list_indexed(g: Maker, s: Scope) -> Lines:
    """Elements at an index from data, from either end, and slices."""
    (lines, total), name, k = scalar_name(g, s), list_name(g), g.fresh("i")
    index = g.choose(
        f"{k} % len({name})", f"-1 - {k} % len({name})", f"len({name}) - 1", f"({k} * 7) % len({name})", "-1"
    )
    text = g.choose(
        f"{name}[{index}]", f"sum({name}[{k} % 2:])", f"sum({name}[::-1][:2])", f"{name}[{index}] * {name}[0]"
    )
    kind = f"{k} = int(abs({g.scalar(s, 1)}) * 5.0)" if g.chance(0.6) else f"{k} = trips"
    return [*lines, *grown(g, s, name), kind, f"if len({name}) > 0:", f"    {total} += 0.3 * math.sin({text})"]


@kind_of_fault
def list_iterated(g: Maker, s: Scope) -> Lines:
    """Every way to iterate over a list that grew."""
    (lines, total), name = scalar_name(g, s), list_name(g)
    a, b, i = g.fresh("s"), g.fresh("s"), g.fresh("i")
    loop = g.choose(
        [f"for {a} in {name}:", f"    {total} += 0.3 * math.sin({a})"],
        [f"for {i}, {a} in enumerate({name}):", f"    {total} += 0.1 * math.sin({a} * {i})"],
        [f"for {a}, {b} in zip({name}, {name}[1:]):", f"    {total} += 0.2 * math.tanh({a} - 2.0 * {b})"],
        [f"for {a} in reversed({name}):", f"    {total} = 0.5 * {total} + math.sin({a})"],
        [f"for {a} in {name}[1:]:", f"    {total} += 0.3 * math.cos({a})"],
        [f"for {a} in sorted({name}):", f"    {total} = 0.6 * {total} + 0.2 * math.sin({a})"],
        [f"{total} += 0.2 * sum([math.sin({a}) for {a} in {name}])"],
        [f"{total} += 0.2 * sum(math.sin({a}) for {a} in {name} if {a} > 0.1)"],
        [f"{a} = np.array({name})", f"{total} += 0.2 * np.sum({a} * {a})"],
    )
    return [*lines, *grown(g, s, name), *loop]


@kind_of_fault
def list_changed(g: Maker, s: Scope) -> Lines:
    """Methods that change a list, after it grew or during iteration."""
    (lines, total), name = scalar_name(g, s), list_name(g)
    a, text = g.fresh("s"), g.scalar(s, 0)
    change = g.choose(
        [f"{name}.append({text})"], [f"{name}.insert(0, {text})"], [f"{name}.extend([{text}, 0.3])"], [f"{name} += [{text}]"],
        [f"{name}.reverse()"], [f"{name}.sort()"], [f"if {name}:", f"    {total} += 0.2 * {name}.pop()"],
        [f"if len({name}) > 1:", f"    {name}[1] = {text}"], [f"if {name}:", f"    {name}[-1] = {name}[0] * 0.5"],
        [f"{name} = {name} + [{text}]"], [f"{name} = [{a} * 0.5 for {a} in {name}]"], [f"{name} = {name}[1:]"],
        [f"for {a} in {name}:", f"    if len({name}) < 6:", f"        {name}.append({a} * 0.5)"],
        [f"while len({name}) > 1:", f"    {total} += 0.1 * math.sin({name}.pop())"],
        [f"{name}.clear()"], [f"del {name}[0:1]"],
    )  # fmt: skip
    return [*lines, *grown(g, s, name), *change, f"for {a}_2 in {name}:", f"    {total} += 0.2 * math.sin({a}_2)",
            f"{total} += 0.01 * len({name})"]  # fmt: skip


@kind_of_fault
def list_of_pairs(g: Maker, s: Scope) -> Lines:
    (lines, total), name, a, b = scalar_name(g, s), list_name(g), g.fresh("s"), g.fresh("s")
    pair = f"({g.expression(s, 's')}, {g.expression(s, 's')})"
    return [*lines, *grown(g, s, name, pair), f"for {a}, {b} in {name}:", f"    {total} += 0.2 * math.sin({a} * {b})",
            f"if len({name}) > 1:", f"    {total} += 0.1 * {name}[-1][0] - 0.1 * {name}[-2][1]"]  # fmt: skip


@kind_of_fault
def list_of_arrays(g: Maker, s: Scope) -> Lines:
    (lines, total), name = scalar_name(g, s), list_name(g)
    text = g.choose(f"np.sum({name}[-1])", f"np.sum(np.stack({name}) ** 2)", f"np.sum(np.concatenate({name}))", f"sum({name})[0]",
                    f"np.sum({name}[0] * {name}[-1])")  # fmt: skip
    return [
        *lines,
        *grown(g, s, name, g.expression(s, "v")),
        f"if len({name}) > 0:",
        f"    {total} += 0.2 * math.sin({text})",
    ]


@kind_of_fault
def list_of_lists(g: Maker, s: Scope) -> Lines:
    """A table as in dynamic programming."""
    (lines, total), name, i, j = scalar_name(g, s), list_name(g), g.fresh("i"), g.fresh("i")
    made = g.choose(
        [f"{name} = [[0.0] * n for {i} in range(n)]"], [f"{name} = [[{g.scalar(s, 0)} for {j} in range(n)] for {i} in range(n)]"],
        [f"{name} = []", f"for {i} in range(n):", f"    {name}.append([0.0] * n)"],
    )  # fmt: skip
    inner = s.inner(loop=True)
    g.declare(inner, "i", i)
    g.declare(inner, "i", j)
    best = g.choose(f"max({name}[{i} - 1][{j}], {name}[{i}][{j} - 1])", f"{name}[{i} - 1][{j} - 1] * 0.5")
    loop = [f"for {i} in range(1, n):", f"    for {j} in range(1, n):",
            f"        {name}[{i}][{j}] = {best} + 0.3 * math.sin({g.scalar(inner, 1)})"]  # fmt: skip
    return [*lines, *made, *loop, f"{total} += 0.2 * math.sin({name}[-1][-1] + {name}[n - 1][1])"]
