"""One template for each construct of the language that a random program may hold.

A template takes the `Maker` and the `Scope` and gives lines (nested ones are indented); it makes whatever it needs that is not
there. Its name is the construct's. Order matters: `TEMPLATES` is a table in the order of the text, so that a seed means the
same program everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker

Lines = list[str]
TEMPLATES: dict[str, Callable] = {}
RISKY: dict[str, Callable] = {}  # what shares memory depends on what runs: right or refused


def template(f: Callable) -> Callable:
    TEMPLATES[f.__name__] = f
    return f


def risky(f: Callable) -> Callable:
    RISKY[f.__name__] = f
    return f


def indent(lines: Lines) -> Lines:
    return ["    " + line for line in lines]


# ------------------------------------------------------------------------------------------- names and memory


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
    """x = x + ...: another memory; whoever shares the old one keeps it."""
    kind = g.choose("v", "v", "m")
    lines = [] if s.rebindable(kind) else new(g, s, kind)
    x = g.choose(s.rebindable(kind))
    text = f"{x} {g.choose('+', '-')} {g.small(s, kind)}" if g.chance(0.6) else g.expression(s, kind)
    g.declare(s, kind, x)
    return [*lines, f"{x} = {text}"]


@template
def mutate_array(g: Maker, s: Scope) -> Lines:
    """x += ...: the same memory; whoever shares it sees the change."""
    kind = g.choose("v", "v", "m")
    lines, x = target(g, s, kind)
    op = g.choose("+", "-", "*", "/")
    value = {"*": "np.cos({})", "/": "(1.0 + {} ** 2)"}.get(op, "0.4 * np.sin({})").format(_name_or(g, s, kind))
    return [*lines, f"{x} {op}= {value}"]


@template
def rebind_scalar(g: Maker, s: Scope) -> Lines:
    lines = [] if s.s else assign_scalar(g, s)
    x = g.choose(s.s)
    op, value = g.choose(("+", g.small(s, "s")), ("-", g.small(s, "s")), ("*", f"math.cos({g.scalar(s, 1)})"))
    return [*lines, f"{x} {op}= {value}"]


@template
def alias(g: Maker, s: Scope) -> Lines:
    """A second name, then a write through one of the two and a read of the other."""
    kind = g.choose("v", "v", "m")
    lines, x = target(g, s, kind)
    y = g.declare(s, kind, g.fresh(kind), like=x)
    written = g.choose(x, y)
    return [*lines, f"{y} = {x}", *write(g, s, kind, written), *use(g, s, kind, y if written == x else x)]


@template
def alias_then_rebind(g: Maker, s: Scope) -> Lines:
    """The old name gets new memory: the second keeps the old values."""
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
            f"{y} *= {_bounded(g, s)}",
            f"{y}[:] = {g.expression(s, 's')}",
            f"{y} += 0.3 * np.ones({count})",
        )
    )
    if g.chance(0.6):
        lines += write(g, s, "v", x)
    return [*lines, *use_text(g, s, f"np.sum({y})"), *use(g, s, "v", x)]


@template
def view_row(g: Maker, s: Scope) -> Lines:
    """A row or a column is a vector that stays."""
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
        f"{z}[{g.choose('0', '-1', '1:')}] {g.choose('=', '+=')} {_bounded(g, s)}",
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
    """Two buffers change places after each trip that writes into one of them."""
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
    """Names of arrays change places in a branch or in straight code, then one is written."""
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


# ---------------------------------------------------------------------------------------------------- writes


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
    """What is overwritten is needed."""
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
            f"{x}[::2] *= {_bounded(g, s)}",
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
            f"{x}[{i}, 1:] *= {_bounded(g, s)}",
            f"{x}[1:, {i}] = {x}[:-1, {i}] * 0.5",
        ),
    ]


@template
def block_write(g: Maker, s: Scope) -> Lines:
    lines, x = target(g, s, "m")
    return [
        *lines,
        g.choose(
            f"{x}[1:, 1:] = {x}[:-1, :-1] * {_bounded(g, s)}",
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
            f"{x}[{x} < {limit}] *= {_bounded(g, s)}",
            f"{x}[{x} > {limit}] = np.sin({x}[{x} > {limit}])",
        ),
    ]


@template
def repeated_set(g: Maker, s: Scope) -> Lines:
    """Of several writes to one place the last counts."""
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
    """np.add.at adds all."""
    lines, x = target(g, s, "v")
    return [*lines, f"np.add.at({x}, np.array([0, 1, 0]), 0.3 * np.sin({g.vector(s, 0)}[:3]))"]


@template
def gather_permutation(g: Maker, s: Scope) -> Lines:
    text = g.vector(s, 1)
    order = g.choose("np.arange(n)[::-1]", "np.arange(n) - 1", "(np.arange(n) + 1) % n")
    return [f"{g.declare(s, 'v', g.fresh('v'))} = np.tanh(({text})[{order}])"]


# ----------------------------------------------------------------------------------------------------- loops


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
    """The rows of a loop are views."""
    lines, x = new_target(g, s, "m")
    e = g.fresh("v")
    return [
        *lines,
        f"for {e} in {x}:",
        f"    {e} {g.choose('*=', '+=')} {_bounded(g, s)}",
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
    """No trip at all: everything stays."""
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
    """The number of trips depends on the data."""
    t = g.fresh("s")
    start = f"{t} = {g.choose('0.1', f'0.2 * math.tanh({g.scalar(s, 0)})')}"
    g.declare(s, "s", t)
    inner = s.inner(loop=True)
    inner.s.remove(t)  # nothing else moves it
    step = f"    {t} = {t} + 0.41 + 0.3 * math.sin({g.scalar(s, 0)}) ** 2"
    return [start, f"while {t} < {g.choose('1.3', '1.9')}:", *body(g, inner), step]


@template
def nested_while_break(g: Maker, s: Scope) -> Lines:
    """A while loop in another, left by break."""
    (first, k), (second, l), (third, a) = counter(g), counter(g), scalar_name(g, s)
    inner = s.inner(loop=True)
    deep = inner.inner(loop=True)
    # what happens before the test must not hold an exit of its own, so that the counters advance
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


# --------------------------------------------------------------------------------------------------- branches


@template
def if_(g: Maker, s: Scope) -> Lines:
    return [f"if {g.test(s)}:", *body(g, s.inner())]


@template
def if_else(g: Maker, s: Scope) -> Lines:
    return [f"if {g.test(s)}:", *body(g, s.inner()), "else:", *body(g, s.inner())]


@template
def elif_(g: Maker, s: Scope) -> Lines:
    return [
        f"if {g.test(s)}:",
        *body(g, s.inner(), 1),
        f"elif {g.test(s)}:",
        *body(g, s.inner(), 1),
        "else:",
        *body(g, s.inner(), 1),
    ]


@template
def defined_in_both(g: Maker, s: Scope) -> Lines:
    """A name that only the branches define."""
    kind = g.choose("s", "v")
    test, one, two = g.test(s), g.expression(s, kind), g.expression(s, kind)
    x = g.declare(s, kind, g.fresh(kind))
    return [f"if {test}:", f"    {x} = {one}", "else:", f"    {x} = {two}"]


@template
def ifexp(g: Maker, s: Scope) -> Lines:
    kind = g.choose("s", "s", "v")
    text = f"{g.expression(s, kind)} if {g.test(s)} else {g.expression(s, kind)}"
    return [f"{g.declare(s, kind, g.fresh(kind))} = {text}"]


@template
def and_or(g: Maker, s: Scope) -> Lines:
    test = g.choose(f"{g.test(s)} and {g.test(s)}", f"{g.test(s)} or {g.test(s)}", f"not ({g.test(s)} and {g.test(s)})")
    return [f"if {test}:", *body(g, s.inner())]


@template
def chained_comparison(g: Maker, s: Scope) -> Lines:
    return [f"if -0.37 < {g.scalar(s, 1)} < {g.choose('0.52', '1.31')}:", *body(g, s.inner())]


@template
def walrus(g: Maker, s: Scope) -> Lines:
    text = g.scalar(s, 1)
    a = g.declare(s, "s", g.fresh("s"))
    return [f"if ({a} := {text}) > 0.17:", *body(g, s.inner(), 1)]


# ------------------------------------------------------------------------------------- calls, results, arrays


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
    """The result of the call is its argument: an alias."""
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
    """A function that reads a name of the outer one."""
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
    """Values collected in a list, then made an array."""
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
    """A buffer that is made here and filled by a recurrence."""
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
    """A number that begins as an integer and becomes a float in the first trip."""
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
    """What nobody reads, and what is written and then overwritten."""
    lines, x = new_target(g, s, "v")
    unread = g.fresh("s")
    return [*lines, f"{unread} = {g.scalar(s, 2)}", f"{x}[:] = {g.scalar(s, 1)}", f"{x}[:] = {g.expression(s, 'v')}"]


# ---------------------------------------------------------------------- what shares memory depends on what runs


@risky
def maybe_alias(g: Maker, s: Scope) -> Lines:
    (first, u), (second, w) = target(g, s, "v"), new_target(g, s, "v")
    return [
        *first,
        *second,
        f"if {g.test(s)}:",
        f"    {w} = {u}",
        *write(g, s, "v", g.choose(u, w)),
        *use(g, s, "v", g.choose(u, w)),
    ]


@risky
def either_alias(g: Maker, s: Scope) -> Lines:
    (first, u), (second, w) = new_target(g, s, "v"), new_target(g, s, "v")
    y = g.declare(s, "v", g.fresh("v"), like=u)
    form = g.choose(
        [f"{y} = {u} if {g.test(s)} else {w}"], [f"if {g.test(s)}:", f"    {y} = {u}", "else:", f"    {y} = {w}"]
    )
    return [*first, *second, *form, *write(g, s, "v", g.choose(u, w, y)), *use(g, s, "v", g.choose(u, w, y))]


@risky
def alias_in_loop(g: Maker, s: Scope) -> Lines:
    """From the second trip on, two names are one memory."""
    (first, u), (second, w) = target(g, s, "v"), new_target(g, s, "v")
    i = g.fresh("i")
    return [
        *first,
        *second,
        f"for {i} in range({g.choose('1', '2', 'trips')}):",
        *indent(write(g, s, "v", g.choose(u, w))),
        f"    {w} = {u}",
        *g.choose([], write(g, s, "v", g.choose(u, w))),
        *use(g, s, "v", g.choose(u, w)),
    ]


@risky
def view_of_rebound(g: Maker, s: Scope) -> Lines:
    """A view of what a loop rebinds."""
    lines, x = new_target(g, s, "m")
    y, i = g.declare(s, "v", g.fresh("v"), like=x), g.fresh("i")
    return [
        *lines,
        f"{y} = {x}[0]",
        f"for {i} in range({g.choose('1', '2', 'trips')}):",
        *indent(write(g, s, "v", y)),
        f"    {x} = {x} * 0.9",
        *use(g, s, "m", x),
        *use(g, s, "v", y),
    ]


@risky
def appended_then_written(g: Maker, s: Scope) -> Lines:
    """A list that holds an array, not a copy of it."""
    lines, x = new_target(g, s, "v")
    name, i = f"parts{len(g.taken)}", g.fresh("i")
    g.taken.add(name)
    step = g.choose(write(g, s, "v", x), [f"{x} = {x} * 0.8"])
    return [
        *lines,
        f"{name} = []",
        f"for {i} in range(n):",
        *indent(step),
        f"    {name}.append({x})",
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
    """A view that moves through a buffer, written in the next trip."""
    lines, x = new_target(g, s, "v")
    y, i = g.fresh("v"), g.fresh("i")
    return [
        *lines,
        f"{y} = {x}[:2]",
        f"for {i} in range(1, n - 1):",
        f"    {y}[0] = {g.expression(s, 's')}",
        f"    {y} = {x}[{i}:{i} + 2]",
        *use(g, s, "v", x),
        *use_text(g, s, f"np.sum({y})"),
    ]


# ------------------------------------------------------------------------------------------- what they share


def new(g: Maker, s: Scope, kind: str) -> Lines:
    text = g.expression(s, kind)
    return [f"{g.declare(s, kind, g.fresh(kind))} = {text}"]


def new_target(g: Maker, s: Scope, kind: str) -> tuple[Lines, str]:
    """A new array with memory of its own."""
    lines = new(g, s, kind)
    return lines, lines[-1].split(" = ")[0]


def target(g: Maker, s: Scope, kind: str) -> tuple[Lines, str]:
    """An array that may be written: one that is there, else a new one."""
    names = getattr(s, kind)
    if not names or g.chance(0.2):
        return new_target(g, s, kind)
    return [], g.choose(names)


def place(g: Maker, s: Scope, x: str) -> str:
    """An index of one element."""
    return g.index(s) if x in s.v else f"{g.index(s)}, {g.index(s)}"


def write(g: Maker, s: Scope, kind: str, x: str) -> Lines:
    """A write into an array, of some sort."""
    element = f"{x}[{g.index(s)}]" if kind == "v" else f"{x}[{g.index(s)}, {g.index(s)}]"
    return [
        g.choose(
            f"{element} = {g.expression(s, 's')}",
            f"{element} += {g.small(s, 's')}",
            f"{x}[1:] *= {_bounded(g, s)}",
            f"{x} += {g.small(s, 's')}",
            f"{x}[0] = {_bounded(g, s)}",
            f"{x} *= {_bounded(g, s)}",
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


def _bounded(g: Maker, s: Scope) -> str:
    return f"math.cos({g.scalar(s, 1)})"


def _name_or(g: Maker, s: Scope, kind: str) -> str:
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
