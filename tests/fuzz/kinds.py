"""Templates: results of several arrays, functions of integers, slices that hold one element, integers near 2**63, calls that
may return the argument itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Lines, indent, kind_of_fault, new_target, scalar_name, use, write
from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker

SPREAD = "np.diag(np.arange(n) + 1.0)"  # keeps eigenvalues apart


@kind_of_fault
def several_results(g: Maker, s: Scope) -> Lines:
    """Functions with several results, applied to carried values."""
    lines, m = new_target(g, s, "m")
    a, b = g.fresh("v"), g.fresh("m")
    step = g.choose(
        [f"{a}, {b} = np.linalg.eigh(0.2 * ({m} + {m}.T) + {SPREAD})", f"{m} = {m} * 0.5 + 0.1 * np.outer({a}, {b}[0] ** 2)"],
        [f"{b}, {a} = np.linalg.qr(0.2 * {m} + {SPREAD})", f"{m} = np.tanh({b} * {b} + 0.2 * {a} * {a})"],
        [f"{a} = np.linalg.svd(0.2 * {m} + {SPREAD})", f"{m} = {m} * 0.5 + 0.1 * {a}[1] * {a}[0] ** 2"],
        [f"{a}, {b} = np.linalg.slogdet(0.2 * {m} + {SPREAD})", f"{m} = np.sin({m} * {b} * {a})"],
        [f"{a}, {b} = np.modf(3.0 * {m})", f"{m} = np.cos({a}) + 0.1 * {b}"],
        [f"{a}, {b} = np.frexp({m})", f"{m} = np.sin({a} * 0.7) + 0.1 * {b}"],
        [f"{a}, {b} = np.divmod({m}, 0.7)", f"{m} = np.sin({b}) + 0.1 * {a}"],
        [f"{a}, {b} = np.unique(np.round({m}), return_counts=True)", f"{m} = {m} * 0.5 + 0.01 * np.sum({a} * {b})"],
        [f"{a} = np.nonzero({m} > 0.0)", f"{m} = np.tanh({m} + 0.1 * np.sum({m}[{a}]))"],
        [f"{a}, {b} = np.histogram({m}, bins=3)", f"{m} = np.tanh({m} * {b}[-1] + 0.01 * {a}[0])"],
        [f"{a} = np.bincount(np.array([0, 2, 1, 1]), minlength=n)", f"{m} = np.sin({m} * {a}[0] + 0.1 * {a}[-1])"],
        [f"{a} = np.argsort({m}[0])", f"{m} = 0.8 * {m}[{a}] + 0.1"],
    )  # fmt: skip
    i = g.fresh("i")
    if g.chance(0.3):
        step = [f"if {g.test(s)}:", *indent(step), "else:", f"    {m} = {m} * 0.9"]
    head = f"for {i} in range({g.choose('2', '3', 'trips')}):" if g.chance(0.75) else ""
    loop = [head, *indent(step)] if head else [f"{i} = 0", f"while {i} < 2:", *indent([*step, f"{i} += 1"])]
    return [*lines, *loop, *use(g, s, "m", m)]


@kind_of_fault
def integer_function(g: Maker, s: Scope) -> Lines:
    """A function that returns an integer from data, as a factor, an index and a trip count."""
    lines, total = scalar_name(g, s)
    (more, x), k, i = new_target(g, s, "v"), g.fresh("i"), g.fresh("i")
    f = g.definition(g.choose("count_of", "first_of", "digits_of", "rank_of"))
    use_ = g.choose(
        [f"{total} += 0.1 * {k} * {x}[{k} % n]"],
        [f"for {i} in range({k}):", f"    {total} = 0.5 * {total} + 0.1 * math.sin({x}[{i} % n])"],
        [f"{x}[{k} % n] += 0.3", f"{total} += 0.1 * np.sum({x}[{k} % n:])"],
        [f"{total} += 0.2 * {x}[-1 - {k} % n] ** {k}" if f != "digits_of" else f"{total} += 0.01 * {k}"],
        [f"if {k} > 1:", f"    {total} += 0.2 * math.sin({total} * {k})"],
    )
    return [*lines, *more, f"{k} = {f}({x}, {g.choose('0.13', '-0.3', '0.6')})", *use_]


@kind_of_fault
def thin_slice(g: Maker, s: Scope) -> Lines:
    """Slices, masks and reshapes of one element, in operations that treat a single element differently."""
    lines, total = scalar_name(g, s)
    (first, x), (second, m) = new_target(g, s, "v"), new_target(g, s, "m")
    k, i = g.fresh("i"), g.fresh("i")
    f = g.definition("count_of")
    position = g.choose(f"{k} = {f}({x}, 0.1) % n", f"{k} = trips % n", f"{k} = n - 1")
    one = g.choose(
        f"{x}[{k}:{k} + 1]", f"{x}[{x} == np.max({x})]", f"{x}[{k} - n:][:1]", f"{x}[{k}::n]", f"{x}[:{k} + 1][-1:]"
    )
    column, row = g.choose((f"{m}[:, {k}:{k} + 1]", f"{m}[{k}:{k} + 1, :]"), (f"{m}[:, {k}:][:, :1]", f"{m}[{k}:][:1]"))
    text = g.choose(
        f"{one} + {x}", f"{x} * {one}", f"np.maximum({one}, {x})", f"np.where({one} > 0.1, {x}, {one})", f"{column} + {row}",
        f"np.minimum({m}, {column} + {row})", f"{column} @ {row}", f"{m} * {column}", f"{m} - {row}", f"np.squeeze({one}) * {x}",
        f"np.reshape({one}, -1) + {x}", f"np.outer({one}, {x})", f"np.broadcast_to({one}, (n,)) * {x}", f"{one} * {m}",
        f"np.concatenate([{one}, {x}])",
    )  # fmt: skip
    in_loop = [
        f"for {i} in range({g.choose('2', 'n')}):",
        f"    {k} = {i}",
        f"    {total} += 0.1 * np.sum(np.sin({text}))",
    ]
    alone = [position, f"{total} += 0.1 * np.sum(np.sin({text}))"]
    return [*lines, *first, *second, *(in_loop if g.chance(0.4) else alone)]


@kind_of_fault
def large_integers(g: Maker, s: Scope) -> Lines:
    """Integers near 2**63: results that fit are right; for others compiled code raises."""
    lines, total = scalar_name(g, s)
    k, i = g.fresh("i"), g.fresh("i")
    start, step = g.choose(
        ("1", f"({k} * 6364136 + 1442695) % 2147483647"), ("2**62", f"{k} - {i} * 3"), ("2**61", f"{k} + {k} // 2"),
        ("-(2**62)", f"{k} // 3 * 3 - {i}"), ("1", f"{k} * 31 + {i} + 7"), ("3", f"{k} * {k}"), ("1", f"{k} << ({i} * 9)"),
        ("trips + 1", f"{k} ** 2 + {i}"), ("2**40 + trips", f"({k} * {k}) % 1000003"), ("2**62", f"abs(-{k}) + (2**61 >> {i})"),
    )  # fmt: skip
    count = g.choose("3", "4", "n", "6")
    read = g.choose(
        f"math.sin({k} % 1000)", f"math.sin({k} / 2.0**60)", f"math.cos({k} % 97 * 0.1)", f"float({k} > 2**61)"
    )
    return [*lines, f"{k} = {start}", f"for {i} in range({count}):", f"    {k} = {step}", f"{total} += 0.2 * {read}"]


VECTOR = """
    np.asarray({x}) | {x}.reshape(-1) | {x}.ravel() | {x}[:] | {x}[...] | np.atleast_1d({x}) | +{x} | {x}.real | np.real({x}) |
    {x}.astype(float, copy=False) | {x}.astype(float) | np.squeeze({x}) | np.asfortranarray({x}) | np.ascontiguousarray({x}) |
    np.einsum('i->i', {x}) | np.copy({x}) | np.array({x}) | np.flip({x}) | np.diff({x}, n=0) | sum([{x}]) |
    np.split({x}, [n])[0] | np.meshgrid({x}, copy=False)[0] | {x}.T | {x}.view() | np.nan_to_num({x}, copy=False) |
    {x}.flatten() | np.atleast_2d({x})[0] | np.expand_dims({x}, 0)[0] | np.positive({x}) | np.conj({x}) |
    np.broadcast_arrays({x}, {x})[0] | np.roll({x}, 0) | {x}.clip(-9.0, 9.0) | np.concatenate([{x}]) | np.stack([{x}])[0] |
    np.abs({x}) | abs({x}) | np.moveaxis({x}, 0, 0) | np.reshape({x}, (n,)) |
    np.lib.stride_tricks.sliding_window_view({x}, 1)[:, 0] | np.broadcast_to({x}, (2, n))[1] | {x}.squeeze() |
    np.vstack([{x}])[0] | np.trim_zeros({x}) | np.tril({x})[0] | np.array([{x}])[0] | np.asarray([{x}])[0] |
    ({x} if trips < 9 else -{x}) | np.sort({x})
"""
MATRIX = """
    np.einsum('ij->ji', {x}) | {x}.T | np.transpose({x}) | {x}.swapaxes(0, 1) | np.moveaxis({x}, 0, 1) | {x}.reshape(n, n) |
    +{x} | np.rot90({x}) | np.fliplr({x}) | np.asarray({x}) | {x}.view() | np.squeeze({x}) | np.asfortranarray({x}) | {x}.real |
    np.triu({x}) | np.ascontiguousarray({x}.T) | {x}.ravel().reshape(n, n) | np.copy({x}) | np.permute_dims({x}, (1, 0)) |
    np.matrix_transpose({x}) | np.roll({x}, 0, axis=0) | {x}[::-1, ::-1] | {x}[:, :, None][..., 0] | np.array_split({x}, 1)[0] |
    np.hsplit({x}, [n])[0]
"""
READ = """
    np.diagonal({x}) | {x}.diagonal() | np.diag({x}) | np.einsum('ii->i', {x}) | np.broadcast_to({x}[0], (n, n)) | {x}[0] |
    {x}[:, 0] | np.lib.stride_tricks.sliding_window_view({x}, (2, 2)) | {x}[..., 0] | {x}.flat[1:3] | {x}.reshape(-1) |
    {x}[0, ...] | {x}[0, 0, ...]
"""


def calls(texts: str) -> list[str]:
    return [text.strip() for text in texts.split(" |")]


@kind_of_fault
def call_then_write(g: Maker, s: Scope) -> Lines:
    """A call that may return the argument itself, a view of it or a copy: one is written, the other read."""
    kind = g.choose("v", "v", "m")
    lines, x = new_target(g, s, kind)
    y = g.fresh(kind)
    made = f"{y} = {g.choose(calls(VECTOR if kind == 'v' else MATRIX)).replace('{x}', x)}"
    first, second = g.choose((x, y), (y, x))
    written = g.choose(
        [f"{first}[0] = {g.expression(s, 's')}"], [f"{first} *= 0.7"], [f"{first}[1:] += 0.2"], write(g, s, kind, x)
    )
    body = [
        made,
        *written,
        *use_both(g, s, x, y),
        *([f"{second}[-1] = 0.3", *use_both(g, s, x, y)] if g.chance(0.4) else []),
    ]
    if g.chance(0.25):
        return [*lines, f"for {g.fresh('i')} in range({g.choose('2', '3')}):", *indent(body)]
    return [*lines, *body]


@kind_of_fault
def view_then_write_base(g: Maker, s: Scope) -> Lines:
    """A view through which later writes of its base are read."""
    lines, x = new_target(g, s, "m")
    y = g.fresh("v")
    return [*lines, f"{y} = {g.choose(calls(READ)).replace('{x}', x)}", *write(g, s, "m", x), *use_both(g, s, x, y)]


def use_both(g: Maker, s: Scope, x: str, y: str) -> Lines:
    lines, total = scalar_name(g, s)
    return [*lines, f"{total} += 0.1 * np.sin(np.sum({y}) + 0.5 * np.sum({x} * {x}))"]
