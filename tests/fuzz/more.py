"""Templates: closures that write, calls with all sorts of arguments, exits of nested loops, views of views in loops, gathers and
masks as targets, ``out`` and ``where``, reductions along axes in loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Lines, bounded, indent, name_or, new_target, scalar_name, target, template, use, use_text
from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker


def local(g: Maker) -> str:
    name = f"local{len(g.taken)}"
    g.taken.add(name)
    return name


# -------------------------------------------------------------------------------------------------- functions


@template
def closure_writes_loop(g: Maker, s: Scope) -> Lines:
    """An inner function writes into an array of the enclosing one."""
    (lines, x), f, i = target(g, s, "v"), local(g), g.fresh("i")
    return [
        *lines,
        f"def {f}(at, arg):",
        f"    {x}[at] = {g.choose('math.sin', 'np.tanh')}(arg * {x}[at - 1])",
        f"for {i} in range({g.choose('n', '2')}):",
        f"    {f}({i}, {g.scalar(s, 1)})",
        *use(g, s, "v", x),
    ]


@template
def closure_nonlocal_loop(g: Maker, s: Scope) -> Lines:
    """An inner function rebinds a name of the enclosing one."""
    a, f, i = g.fresh("s"), local(g), g.fresh("i")
    start = g.expression(s, "s")
    lines = [
        f"{a} = {start}",
        f"def {f}(arg):",
        f"    nonlocal {a}",
        f"    {a} = 0.5 * {a} + math.sin(arg)",
        f"    return {a} * arg",
        f"for {i} in range({g.choose('n', 'trips', '2')}):",
        f"    {f}({g.scalar(s, 1)} + 0.1 * {i})",
    ]
    g.declare(s, "s", a)
    return lines


@template
def helper_writes_view(g: Maker, s: Scope) -> Lines:
    """The called function writes into a part of an array."""
    if g.chance(0.5):
        lines, x = target(g, s, "m")
        part = g.choose(f"{x}[{g.index(s)}]", f"{x}[:, {g.index(s)}]", f"{x}.T[0]", f"{x}[1, ::-1]")
        kind = "m"
    else:
        lines, x = target(g, s, "v")
        part, kind = g.choose(f"{x}[1:]", f"{x}[::-1]", f"{x}[:2]"), "v"
    return [*lines, f"{g.helper('mutates')}({part}, {g.scalar(s, 1)})", *use(g, s, kind, x)]


@template
def keyword_arguments(g: Maker, s: Scope) -> Lines:
    f = g.helper("keyword")
    text = g.choose(
        f"{f}({g.vector(s, 1)})",
        f"{f}({g.vector(s, 1)}, {g.vector(s, 1)}, scale={g.scalar(s, 1)})",
        f"{f}(*[{g.vector(s, 1)}, {g.vector(s, 1)}], **{{'factor': {bounded(g, s)}}})",
    )
    return [f"{g.declare(s, 'v', g.fresh('v'))} = {text}"]


@template
def function_argument(g: Maker, s: Scope) -> Lines:
    """A lambda is passed to a function, which calls it in a loop."""
    lines, c = scalar_name(g, s)
    form = g.choose(f"lambda t: np.sin(t + {c})", f"lambda t, c={c}: c * np.tanh(t)", "np.tanh")
    text = f"{g.helper('apply')}({form}, {g.vector(s, 1)}, {g.choose('2', 'trips')})"
    return [*lines, f"{g.declare(s, 'v', g.fresh('v'))} = {text}"]


@template
def helper_returns_early(g: Maker, s: Scope) -> Lines:
    """A return inside two loops of a called function."""
    text = f"{g.definition('first_below')}({g.matrix(s, 1)}, {g.choose('-0.35', '0.15', '-9.0')})"
    return [f"{g.declare(s, 's', g.fresh('s'))} = {text}"]


@template
def builtins(g: Maker, s: Scope) -> Lines:
    v = g.vector(s, 1)
    i = g.fresh("i")
    text = g.choose(
        f"sum(t * t for t in ({v})[:2])",
        f"max({g.scalar(s, 1)}, {g.scalar(s, 1)}, 0.2)",
        f"abs({g.scalar(s, 1)}) + pow({g.scalar(s, 0)}, 2)",
        f"sum([math.sin(({v})[{i}]) for {i} in range(n) if {i} != 1])",
        f"float(all([t > -50.0 for t in ({v})])) * {g.scalar(s, 1)}",
        f"divmod(7, 4)[1] * {g.scalar(s, 1)}",
        f"min([{g.scalar(s, 1)}, {g.scalar(s, 1)}])",
    )
    return [f"{g.declare(s, 's', g.fresh('s'))} = math.tanh({text})"]


@template
def zip_comprehension(g: Maker, s: Scope) -> Lines:
    a, b = g.fresh("s"), g.fresh("s")
    text = f"np.array([math.tanh({a} * {b}) for {a}, {b} in zip({g.vector(s, 0)}, {g.vector(s, 1)})])"
    return [f"{g.declare(s, 'v', g.fresh('v'))} = {text}"]


# ------------------------------------------------------------------------------------------------------ loops


@template
def return_in_nested_loops(g: Maker, s: Scope) -> Lines:
    inner = s.inner(loop=True)
    i, j = g.declare(inner, "i", g.fresh("i")), g.fresh("i")
    deep = inner.inner(loop=True)
    deep.i.append(j)
    return [
        f"for {i} in range({g.choose('n', '2')}):",
        *indent(g.statements(inner, 1)),
        f"    for {j} in range({i} + 1):",
        *indent(indent([*g.statements(deep, 1), f"if {g.test(deep)}:", f"    return {g.result(deep)}"])),
    ]


@template
def loop_else_arrays(g: Maker, s: Scope) -> Lines:
    """A search loop left by break, with arrays written in the loop and in its else."""
    (lines, x), i = target(g, s, "v"), g.fresh("i")
    return [
        *lines,
        f"for {i} in range({g.choose('n', '2', '0')}):",
        f"    {x}[{i}] = np.sin({x}[{i}] + {x}[{i} - 1])",
        f"    if {x}[{i}] > {g.choose('0.37', '0.81', '5.0')}:",
        f"        {x} *= 0.7",
        "        break",
        "else:",
        f"    {x}[{g.choose('0', '1:', '-1')}] {g.choose('=', '+=', '*=')} {bounded(g, s)}",
        *use(g, s, "v", x),
    ]


@template
def while_continue(g: Maker, s: Scope) -> Lines:
    """Continue, break and else of a while loop that writes into an array."""
    (lines, x), k = target(g, s, "v"), g.fresh("i")
    inner = s.inner(loop=True)
    inner.i.append(k)
    return [
        *lines,
        f"{k} = -1",
        f"while {k} < n - 1:",
        f"    {k} += 1",
        f"    if {g.choose(f'{x}[{k}] > 0.29', f'{k} == 1', g.test(inner))}:",
        f"        {x}[{k}] *= 0.6",
        "        continue",
        f"    {x}[{k} - 1] += 0.3 * np.sin({x}[{k}])",
        f"    if {x}[0] < {g.choose('-0.87', '-5.0')}:",
        "        break",
        *g.choose([], ["else:", f"    {x}[0] = {g.scalar(s, 1)}"]),
        *use(g, s, "v", x),
    ]


@template
def while_walrus(g: Maker, s: Scope) -> Lines:
    k, a = g.fresh("i"), g.fresh("s")
    (lines, b), (more, c) = scalar_name(g, s), scalar_name(g, s)
    made = [
        f"{k} = 0",
        f"while ({a} := {b} * math.cos({c} + {k})) > {g.choose('-0.23', '0.11')} and {k} < 3:",
        f"    {k} += 1",
        *use_text(g, s, a)[:1],
    ]
    made[-1] = "    " + made[-1]
    g.declare(s, "s", a)
    return [*lines, *more, *made]


@template
def no_trip_while(g: Maker, s: Scope) -> Lines:
    """A while loop without iterations; the arrays of its body stay unchanged."""
    (lines, x), k = target(g, s, "v"), g.fresh("i")
    return [
        *lines,
        f"{k} = {g.choose('n', '5', 'trips + 3')}",
        f"while {k} < 3:",
        f"    {x}[0] = {g.expression(s, 's')}",
        f"    {k} += 1",
        *use(g, s, "v", x),
    ]


@template
def history_loop(g: Maker, s: Scope) -> Lines:
    """A list collects copies of an array that is written."""
    (lines, x), i, name = new_target(g, s, "v"), g.fresh("i"), local(g)
    start = g.choose("[]", f"[{x}.copy()]")
    return [
        *lines,
        f"{name} = {start}",
        f"for {i} in range({g.choose('n', '2')}):",
        f"    {x}[{i}] = np.tanh({x}[{i} - 1] + {g.scalar(s, 1)})",
        f"    {name}.append({g.choose(f'{x}.copy()', f'{x} * 1.0', f'np.sin({x})')})",
        *use_text(g, s, f"np.sum(np.stack({name}) * {x})"),
    ]


@template
def views_of_views_loop(g: Maker, s: Scope) -> Lines:
    """Augmented assignment through a view of a view in each iteration."""
    (lines, x), i = target(g, s, "m"), g.fresh("i")
    row, part = g.fresh("v"), g.fresh("v")
    return [
        *lines,
        f"for {i} in range({g.choose('n', '2')}):",
        f"    {row} = {g.choose(f'{x}[{i}]', f'{x}[:, {i}]', f'{x}.T[{i}]')}",
        f"    {part} = {row}[{g.choose('1:', '::2', '::-1', ':-1')}]",
        f"    {part} {g.choose('*=', '+=', '-=')} {g.choose(bounded(g, s), f'0.3 * np.sin({part})')}",
        f"    {part}[0] = {row}[-1] * {g.number()}",
        *use(g, s, "m", x),
    ]


@template
def extremes_loop(g: Maker, s: Scope) -> Lines:
    """np.where, maximum, sort and the like on carried values."""
    (lines, x), i = new_target(g, s, "v"), g.fresh("i")
    y = name_or(g, s, "v")
    step = g.choose(
        f"{x} = np.maximum(np.sin({x} + 0.1 * {i}), {y})",
        f"{x} = np.sort(np.tanh({x} * {y} + 0.2))[::-1]",
        f"{x} = np.where({x} > 0.13, np.sin({x}), {x} * {y})",
        f"{x} = np.clip({x} * 1.3, -0.71, {g.choose('0.63', '9.0')})",
        f"{x}[{i}] = np.max({x}) - np.min({y})",
        f"{x} = np.roll(np.minimum({x}, np.cos({y})), 1)",
    )
    return [
        *lines,
        f"for {i} in range({g.choose('n', 'trips', '2') if '[' + i + ']' not in step else 'n'}):",
        f"    {step}",
        *use(g, s, "v", x),
    ]


@template
def axis_loop(g: Maker, s: Scope) -> Lines:
    """Reductions along an axis in a loop that writes the matrix."""
    (lines, x), i, v = target(g, s, "m"), g.fresh("i"), g.fresh("v")
    axis = g.choose("0", "1", "-1")
    step = g.choose(
        [f"{v} = np.sum({x}, axis={axis})", f"{x}[{i}] = np.tanh({v})"],
        [f"{x} -= 0.3 * np.mean({x}, axis={axis}, keepdims=True)"],
        [f"{v} = np.max({x}, axis={axis})", f"{x}[:, {i}] *= np.cos({v})"],
        [f"{v} = np.linalg.norm({x} + 2.0, axis={axis})", f"{x} += 0.1 * np.sin({v})[:, None]"],
        [f"{x}[{i}] = np.tanh(np.cumsum({x}, axis={axis})[{i}])"],
    )
    return [*lines, f"for {i} in range({g.choose('n', '2')}):", *indent(step), *use(g, s, "m", x)]


# ----------------------------------------------------------------------------------------------------- arrays


@template
def gather_write(g: Maker, s: Scope) -> Lines:
    """Integer arrays and lists as targets, without repeated indices."""
    if g.chance(0.5):
        lines, x = target(g, s, "v")
        where = g.choose("[2, 0]", "np.array([0, 1])", "[-1, 1]")
        return [
            *lines,
            g.choose(
                f"{x}[{where}] = np.sin({g.vector(s, 1)})[:2]",
                f"{x}[{where}] *= {bounded(g, s)}",
                f"{x}[{where}] += 0.3 * np.tanh({g.vector(s, 0)}[1:3])",
                f"{x}[{where}] = {x}[{where}][::-1]",
            ),
        ]
    lines, x = target(g, s, "m")
    rows, columns = g.choose("[0, 2]", "np.array([1, 0])"), g.choose("[1, 0]", "np.array([2, 1])")
    return [
        *lines,
        g.choose(
            f"{x}[{rows}, {columns}] = np.sin({g.vector(s, 1)})[:2]",
            f"{x}[{rows}] *= {bounded(g, s)}",
            f"{x}[:, {columns}] = {x}[:, {columns}][:, ::-1] * 0.9",
            f"{x}[{rows}, {g.index(s)}] += {g.small(s, 's')}",
            f"{x}[np.arange(n), np.arange(n)] = np.tanh({g.vector(s, 1)})",
        ),
    ]


@template
def mask_of_matrix(g: Maker, s: Scope) -> Lines:
    """Boolean masks of rank 2, masks of rows, and masks on both sides."""
    (lines, x), limit = target(g, s, "m"), g.choose("0.12", "-0.27", "0.44")
    y = name_or(g, s, "v")
    return [
        *lines,
        g.choose(
            f"{x}[{x} > {limit}] = {g.expression(s, 's')}",
            f"{x}[{x} < {limit}] *= {bounded(g, s)}",
            f"{x}[{y} > {limit}] = np.sin({y})",
            f"{x}[{y} < {limit}] += {g.small(s, 's')}",
            f"{x}[0, {y} > {limit}] = {y}[{y} > {limit}]",
        ),
        *use(g, s, "m", x),
    ]


@template
def out_argument(g: Maker, s: Scope) -> Lines:
    lines, x = target(g, s, "v")
    y = name_or(g, s, "v")
    return [
        *lines,
        g.choose(
            f"np.multiply({x}, {bounded(g, s)}, out={x})",
            f"np.sin({y}, out={x})",
            f"np.add({x}, 0.3 * {y}, out={x})",
            f"np.tanh({x}, out={x}, where={x} > 0.19)",
            f"np.multiply({x}, 0.5, out={x}, where={y} < 0.31)",
        ),
        *use(g, s, "v", x),
    ]


@template
def where_argument(g: Maker, s: Scope) -> Lines:
    v, limit = g.vector(s, 1), g.choose("0.17", "-0.21")
    y = name_or(g, s, "v")
    text = g.choose(
        f"np.sum({v}, where={y} > {limit})",
        f"np.max({v}, where={y} > {limit}, initial=-1.7)",
        f"np.mean({v}, where=np.arange(n) > 0)",
    )
    return [f"{g.declare(s, 's', g.fresh('s'))} = np.tanh({text})"]


@template
def ufunc_method(g: Maker, s: Scope) -> Lines:
    v, w = g.vector(s, 1), g.vector(s, 0)
    text = g.choose(
        f"np.add.accumulate({v})",
        f"np.multiply.accumulate(np.cos({v}))",
        f"np.add.reduce(np.multiply.outer({v}, {w}))",
        f"np.maximum.accumulate({v})",
        f"np.subtract.outer({v}, {w})[0]",
    )
    return [f"{g.declare(s, 'v', g.fresh('v'))} = np.sin({text})"]


@template
def flat_view(g: Maker, s: Scope) -> Lines:
    """A reshape of an array in C order is a view."""
    m, flat = g.fresh("m"), g.fresh("v")
    values = g.expression(s, "v")
    lines = [
        f"{m} = np.zeros((n, n))",
        f"{flat} = {m}.{g.choose('reshape(-1)', 'reshape(n * n)', 'ravel()')}",
        f"{flat}[::n + 1] = {values}",
        f"{m}[0] += {bounded(g, s)}",
        f"{flat}[1] *= {g.number()}",
    ]
    after = use_text(g, s, f"np.sum({flat} ** 2)")
    g.declare(s, "m", m)
    return [*lines, *after]


@template
def errstate_and_messages(g: Maker, s: Scope) -> Lines:
    a, v = g.scalar(s, 0), g.vector(s, 1)
    y = g.fresh("v")
    lines = [
        'with np.errstate(divide="ignore", invalid="ignore"):',
        f"    {y} = np.where({v} > 0.1, np.sqrt(np.abs({v}) + 1.0), 0.5)",
        f"if {a} > 1e6:",
        f'    raise ValueError(f"too large: {{{a}:.3f}}")',
    ]
    g.declare(s, "v", y)
    return lines
