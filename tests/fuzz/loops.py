"""Templates: loops of all sorts, and ways to leave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Lines, body, bounded, counter, indent, loop, new_target, place, scalar_name, target, template, use
from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker


@template
def for_range(g: Maker, s: Scope) -> Lines:
    return loop(g, s, f"range({g.choose('n', 'n', '2', '3', 'trips')})")


@template
def for_bounds(g: Maker, s: Scope) -> Lines:
    return loop(
        g, s, g.choose("range(1, n)", "range(0, n, 2)", "range(n - 1, -1, -1)", "range(n - 1, 0, -2)", "range(1, n, 2)")
    )


@template
def for_vector(g: Maker, s: Scope) -> Lines:
    lines, x = new_target(g, s, "v")
    inner = s.inner(loop=True)
    e = g.declare(inner, "s", g.fresh("s"))
    return [*lines, f"for {e} in {g.choose(x, f'reversed({x})', f'{x}[1:]')}:", *body(g, inner)]


@template
def for_rows(g: Maker, s: Scope) -> Lines:
    lines, x = new_target(g, s, "m")
    inner = s.inner(loop=True)
    inner.m.remove(x)  # the rows are read-only names of it here
    e = g.declare(inner, "v", g.fresh("v"), like=x)
    inner.memory.pop(x)
    return [*lines, f"for {e} in {x}:", *body(g, inner)]


@template
def write_rows(g: Maker, s: Scope) -> Lines:
    """The loop variable is a view of a row."""
    lines, x = new_target(g, s, "m")
    e = g.fresh("v")
    return [
        *lines,
        f"for {e} in {x}:",
        f"    {e} {g.choose('*=', '+=')} {bounded(g, s)}",
        f"    {e}[0] = {g.choose('math.sin', 'np.tanh')}({e}[1] * {e}[-1])",
        *use(g, s, "m", x),
    ]


@template
def for_zip(g: Maker, s: Scope) -> Lines:
    (first, x), (second, y) = new_target(g, s, "v"), new_target(g, s, "v")
    inner = s.inner(loop=True)
    a, b = g.declare(inner, "s", g.fresh("s")), g.declare(inner, "s", g.fresh("s"))
    return [*first, *second, f"for {a}, {b} in zip({x}, {y}):", *body(g, inner)]


@template
def for_enumerate(g: Maker, s: Scope) -> Lines:
    lines, x = new_target(g, s, "v")
    inner = s.inner(loop=True)
    i = g.declare(inner, "i", g.fresh("i"))
    a = g.declare(inner, "s", g.fresh("s"))
    return [*lines, f"for {i}, {a} in enumerate({x}):", *body(g, inner)]


@template
def for_tuple(g: Maker, s: Scope) -> Lines:
    items = ", ".join(g.scalar(s, 1) for _ in range(g.choose(2, 3)))
    inner = s.inner(loop=True)
    e = g.declare(inner, "s", g.fresh("s"))
    return [f"for {e} in ({items}):", *body(g, inner, 1)]


@template
def empty_for(g: Maker, s: Scope) -> Lines:
    """A loop without iterations: nothing changes."""
    return loop(g, s, g.choose("range(0)", "range(n, n)", "range(2, 1)", "range(trips - trips)", "range(1, n, -1)"))


@template
def nested_for(g: Maker, s: Scope) -> Lines:
    inner = s.inner(loop=True)
    i, j = g.declare(inner, "i", g.fresh("i")), g.fresh("i")
    lines, x = target(g, inner, g.choose("v", "m"))
    deep = inner.inner(loop=True)
    deep.i.append(j)
    head = g.choose("range(n)", f"range({i})", f"range({i} + 1)", f"range({i}, n)")
    core = f"{x}[{place(g, deep, x)}] {g.choose('+=', '=')} 0.5 * np.sin({g.scalar(deep, 1)})"
    return [
        f"for {i} in range({g.choose('n', '2', 'trips')}):",
        *indent([*lines, f"for {j} in {head}:", *indent([core, *g.statements(deep, 1)]), *g.statements(inner, 1)]),
    ]


@template
def loop_else(g: Maker, s: Scope) -> Lines:
    a = scalar_name(g, s)
    i = g.fresh("i")
    return [
        *a[0],
        f"for {i} in range(n):",
        f"    {a[1]} += {g.small(s, 's')}",
        f"    if {a[1]} > {g.choose('0.31', '1.17', '9.5')}:",
        "        break",
        "else:",
        f"    {a[1]} = {a[1]} * {g.number()}",
    ]


@template
def while_count(g: Maker, s: Scope) -> Lines:
    lines, k = counter(g)
    inner = s.inner(loop=True)
    return [*lines, f"while {k} < {g.choose('2', '3', 'trips', 'n')}:", *body(g, inner), f"    {k} += 1"]


@template
def while_data(g: Maker, s: Scope) -> Lines:
    """The trip count depends on the data."""
    t = g.fresh("s")
    start = f"{t} = {g.choose('0.1', f'0.2 * math.tanh({g.scalar(s, 0)})')}"
    g.declare(s, "s", t)
    inner = s.inner(loop=True)
    inner.s.remove(t)  # no other statement may change it
    step = f"    {t} = {t} + 0.41 + 0.3 * math.sin({g.scalar(s, 0)}) ** 2"
    return [start, f"while {t} < {g.choose('1.3', '1.9')}:", *body(g, inner), step]


@template
def nested_while_break(g: Maker, s: Scope) -> Lines:
    """A while loop inside another, left by break."""
    (first, k), (second, l), (third, a) = counter(g), counter(g), scalar_name(g, s)
    inner = s.inner(loop=True)
    deep = inner.inner(loop=True)
    # the statements before the test must contain no exit, so that the counters advance
    before, after = g.statements(deep, 1), g.statements(inner, 1)
    return [
        *third,
        *first,
        f"while {k} < {g.choose('2', '3')}:",
        *indent(
            [
                *second,
                f"while {g.choose('True', f'{l} < 5')}:",
                *indent(
                    [
                        f"{l} += 1",
                        *before,
                        f"{a} = {a} + {g.small(deep, 's')}",
                        f"if {a} > {g.choose('0.33', '0.71', '1.4')} or {l} > 2:",
                        "    break",
                    ]
                ),
                *after,
                f"{k} += 1",
            ]
        ),
    ]


@template
def break_(g: Maker, s: Scope) -> Lines:
    inner = s.inner(loop=True)
    i = g.declare(inner, "i", g.fresh("i"))
    return [
        f"for {i} in range({g.choose('n', '3', 'trips')}):",
        *indent([*g.statements(inner, 1), f"if {g.test(inner)}:", "    break", *g.statements(inner, 1)]),
    ]


@template
def continue_(g: Maker, s: Scope) -> Lines:
    inner = s.inner(loop=True)
    i = g.declare(inner, "i", g.fresh("i"))
    return [
        f"for {i} in range({g.choose('n', '3', 'trips')}):",
        *indent([*g.statements(inner, 1), f"if {g.test(inner)}:", "    continue", *g.statements(inner, 1)]),
    ]


@template
def early_return(g: Maker, s: Scope) -> Lines:
    return [f"if {g.test(s)}:", f"    return {g.result(s)}"]


@template
def return_in_loop(g: Maker, s: Scope) -> Lines:
    inner = s.inner(loop=True)
    i = g.declare(inner, "i", g.fresh("i"))
    return [
        f"for {i} in range(n):",
        *indent(
            [*g.statements(inner, 1), f"if {g.test(inner)}:", f"    return {g.result(inner)}", *g.statements(inner, 1)]
        ),
    ]
