"""Checks of single rules: builds one primitive or API function and applies its derivative rules by a straight-line transform of
its own.

Forward is compared with central differences, reverse with forward, then both again for second order. Independent of
`transpile.transform`, so that a fault there does not look like a fault of a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.core_eval import evaluate
from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.types import BOOL, FLOAT, INT, Type
from transpile.ops.language import Ratio
from transpile.ops.record import REFUSED, UNWRITTEN, ZERO, Scatter
from transpile.ops.tables import prims

Build = Callable[..., Any]  # (b, *Exprs) -> Expr or tuple of Expr


def type_of(value: Any, dims: Callable[[int], Dim] = Dim.of) -> Type:
    """The type of an argument; ``dims`` gives the form of a size (constant or symbol)."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, (int, float)) and not isinstance(value, np.generic):
        return INT if isinstance(value, int) else FLOAT
    x = np.asarray(value)
    return Type(x.dtype.name, tuple(dims(n) for n in x.shape))


def symbolic(n: int) -> Dim:
    """A size as a known 1 or as a symbol, one for each size."""
    return Dim.of(n) if n == 1 else Dim.symbol(f"n{n}")


def _by_example(a: Dim, b: Dim) -> Dim | None:
    """The dims if they may agree: they differ only if the sizes that their symbols are named after differ; others are assumed
    equal."""

    def size(name: str) -> Dim | None:
        return Dim(int(name[1:])) if name[1:].isdigit() else None

    first, second = a.substitute(size), b.substitute(size)
    return None if first.is_const and second.is_const and first != second else a


class Program:
    """A function of one builder call on the types of ``args``."""

    def __init__(self, build: Build, args: Sequence[Any], dims: Callable[[int], Dim] = Dim.of) -> None:
        self.args = args
        self.b = Builder(prims())
        self.b.unify = _by_example
        self.params = [ir.Var(f"x{k}", type_of(a, dims)) for k, a in enumerate(args)]
        for var in self.params:
            self._bind_symbols(var)
            if var.type.is_int and not var.type.dims:
                self.b.form(var)
        result = build(self.b, *(self.b.expr(v) for v in self.params))
        self.outs = [self.b.expr(o) for o in (result if isinstance(result, (tuple, list)) else (result,))]

    def _bind_symbols(self, var: ir.Var) -> None:
        for axis, dim in enumerate(var.type.dims):
            name = dim.as_symbol
            if name and name not in self.b.symbols:
                self.b.bind_symbol(dim, self.b.let("dim", var, axis=axis).op)

    def expand(self) -> None:
        """Replaces primitives by their expansions."""
        stmts: list[ir.Stmt] = []
        for stmt in self.b.block.stmts:
            rule = prims()[stmt.prim].expansion if isinstance(stmt, ir.Let) else None
            if rule is not None:
                with self.b.into(ir.Block()) as inside:
                    found = rule(*(self.b.expr(a) for a in stmt.args))
                stmts += [*inside.stmts, ir.Let(stmt.var, "identity", (found.op,), {}, stmt.loc)]
            else:
                stmts.append(stmt)
        self.b.block.stmts[:] = stmts

    def run(
        self, outs: Sequence[Any], args: Sequence[Any], extra: Sequence[ir.Var] = (), strict: bool = False
    ) -> tuple[Any, ...]:
        from transpile.core import nodes as ir

        body = ir.Block((), list(self.b.block.stmts), tuple(o.op if isinstance(o, Expr) else o for o in outs))
        return evaluate(ir.Function("f", (*self.params, *extra), body, self.b.symbols), *args, strict=strict)

    def value(self, *args: Any) -> tuple[Any, ...]:
        return self.run(self.outs, args or self.args)


def factor(partial: Any) -> Any:
    """A partial derivative as a factor."""
    return partial.number if isinstance(partial, Ratio) else partial


def active_args(args: Sequence[Any]) -> list[int]:
    return [k for k, a in enumerate(args) if not isinstance(a, bool) and np.asarray(a).dtype.kind == "f"]


def push(b: Builder, stmts: Sequence[Any], dots: dict[ir.Var, Expr]) -> None:
    """Emits the tangents of all that ``stmts`` define into ``b``; no loops."""

    def dot(op: ir.Operand) -> Expr | None:
        return dots.get(op) if isinstance(op, ir.Var) else None

    for stmt in stmts:
        if isinstance(stmt, ir.Let):
            _push_let(b, stmt, dot, dots)
        elif isinstance(stmt, ir.Alloc):
            bar = b.zeros("t", stmt.var.type)
            found = dot(stmt.args[0]) if stmt.args else None
            if found is not None:
                prim = b.prims[stmt.prim]
                value = prim.jvp(None, [b.expr(a) for a in stmt.args], [found], stmt.params)
                b.store(bar, (), (), value)
            dots[stmt.var] = b.expr(bar)
        elif isinstance(stmt, ir.If):
            _push_if(b, stmt, dots)
        elif isinstance(stmt, (ir.Store, ir.Add)):
            found = dot(stmt.value)
            emit = b.store if isinstance(stmt, ir.Store) else b.add
            if found is not None:
                emit(dots[stmt.buf].op, stmt.path, stmt.args, b.broadcast(found, stmt.value.type.dims))


def _push_if(b: Builder, stmt: ir.If, dots: dict[ir.Var, Any]) -> None:
    """Emits the branch again, for the tangents of its results."""
    sides = []
    for block in (stmt.then, stmt.orelse):
        with b.into(ir.Block()) as side:
            side.stmts += block.stmts
            inner = dict(dots)
            push(b, block.stmts, inner)
            side.yields = tuple((inner[y] if y in inner else m_zero(b, y.type)).op for y in block.yields)
        sides.append(side)
    results = tuple(ir.Var("dot", r.type) for r in stmt.results)
    b.emit(ir.If(stmt.test, sides[0], sides[1], results, b.loc))
    dots.update((r, b.expr(d)) for r, d in zip(stmt.results, results))


def _push_let(b: Builder, stmt: ir.Let, dot: Callable[[ir.Operand], Expr | None], dots: dict[ir.Var, Any]) -> None:
    prim = b.prims[stmt.prim]
    if stmt.prim == "item":
        found = dots.get(stmt.args[0])  # type: ignore[arg-type]
        if found is not None and found[stmt.params["k"]] is not None:
            dots[stmt.var] = found[stmt.params["k"]]
        return
    tangents = [dot(a) for a in stmt.args]
    if all(t is None for t in tangents) or not (stmt.var.type.is_float or stmt.var.type.kind == "tuple"):
        return
    args = [b.expr(a) for a in stmt.args]
    if prim.elementwise:
        y = b.expr(stmt.var)
        total = None
        for k, t in enumerate(tangents):
            if t is None or prim.partials[k] is ZERO:
                continue
            partial = factor(prim.partials[k](y, *args))
            part = b.elementwise("where", *_masked(stmt, k, t)) if stmt.prim == "where" else t * partial
            total = part if total is None else total + part
        if total is not None:
            dots[stmt.var] = b.broadcast(b.cast(total, stmt.var.type), stmt.var.type.dims)
        return
    if prim.jvp is ZERO:
        return
    assert prim.jvp is not REFUSED, stmt.prim
    y: Any = b.expr(stmt.var)
    if stmt.var.type.kind == "tuple":
        y = tuple(b.let("item", stmt.var, k=k) for k in range(len(stmt.var.type.items)))
    found = prim.jvp(y, args, tangents, stmt.params)
    if isinstance(found, tuple):
        for f, t in zip(found, stmt.var.type.items):
            assert f is None or (f.dtype == t.dtype and len(f.dims) == t.rank), (stmt.prim, f, t)
        dots[stmt.var] = found  # type: ignore[assignment]
    elif found is not None:
        assert found.dtype == stmt.var.type.dtype, (stmt.prim, found, stmt.var)
        assert found.rank == stmt.var.type.rank or isinstance(found.op, ir.Const), (stmt.prim, found, stmt.var)
        dots[stmt.var] = found


def _masked(stmt: ir.Let, k: int, t: Expr) -> tuple[Any, Any, Any]:
    return (stmt.args[0], t, 0.0) if k == 1 else (stmt.args[0], 0.0, t)


def pull(b: Builder, stmts: Sequence[Any], bars: dict[ir.Var, Any]) -> dict[ir.Var, Any]:
    """The adjoints of all that ``stmts`` (lets and branches) depend on, from those of their results."""
    buffers: dict[ir.Var, ir.Var] = {}

    def add(op: ir.Operand, part: Any) -> None:
        if part is None or not isinstance(op, ir.Var) or not (op.type.is_float or op.type.kind == "tuple"):
            return
        if isinstance(part, Scatter):
            if op not in buffers:
                old = bars.pop(op, None)
                buffers[op] = b.zeros("bar", op.type) if old is None else b.copy("bar", old)
            b.add(buffers[op], part.path, part.args, part.value)
            return
        assert part.dtype == op.type.dtype, (op, part)
        part = b.broadcast(part, op.type.dims)
        if op in buffers:
            b.add(buffers[op], (), (), part)
        else:
            bars[op] = bars[op] + part if op in bars else part

    for stmt in reversed(list(stmts)):
        if isinstance(stmt, ir.If):
            for op, part in _pull_if(b, stmt, bars):
                add(op, part)
            continue
        assert isinstance(stmt, ir.Let), stmt
        var, prim = stmt.var, b.prims[stmt.prim]
        if stmt.prim == "item":
            if var in bars or var in buffers:
                slots = bars.setdefault(stmt.args[0], {})  # type: ignore[arg-type]
                bar = b.read(buffers[var]) if var in buffers else bars[var]
                slots[stmt.params["k"]] = slots[stmt.params["k"]] + bar if stmt.params["k"] in slots else bar
            continue
        bar = b.read(buffers.pop(var)) if var in buffers else bars.get(var)
        if bar is None:
            continue
        args = [b.expr(a) for a in stmt.args]
        wants = [isinstance(a, ir.Var) and a.type.is_float for a in stmt.args]
        y: Any = b.expr(var)
        if prim.elementwise:
            _pull_elementwise(b, stmt, prim, bar, args, add)
            continue
        if prim.vjp is ZERO or not any(wants):
            continue
        assert prim.vjp is not REFUSED, stmt.prim
        if var.type.kind == "tuple":
            y = tuple(b.let("item", var, k=k) for k in range(len(var.type.items)))
            bar = tuple(bar.get(k) for k in range(len(var.type.items)))
        for arg, part, wanted in zip(stmt.args, prim.vjp(y, bar, args, wants, stmt.params), wants):
            if wanted:
                add(arg, part)
    for var, buffer in buffers.items():
        bars[var] = b.read(buffer)
    return bars


def _pull_if(b: Builder, stmt: ir.If, bars: dict[ir.Var, Any]) -> list[tuple[ir.Var, Expr]]:
    """Emits the branch again, for the adjoints of the variables that it reads."""
    if not any(r in bars for r in stmt.results):
        return []
    sides, found = [], []
    for block in (stmt.then, stmt.orelse):
        with b.into(ir.Block()) as side:
            side.stmts += block.stmts
            start = {y: bars[r] for r, y in zip(stmt.results, block.yields) if r in bars and isinstance(y, ir.Var)}
            inner = pull(b, block.stmts, start)
            own = {s.var for s in block.stmts}
            found.append({v: x for v, x in inner.items() if v not in own and isinstance(x, Expr)})
        sides.append(side)
    outer = list(dict.fromkeys([*found[0], *found[1]]))
    for side, inner in zip(sides, found):
        with b.into(side):
            side.yields = tuple((inner[v] if v in inner else m_zero(b, v.type)).op for v in outer)
    results = tuple(ir.Var("bar", v.type) for v in outer)
    b.emit(ir.If(stmt.test, sides[0], sides[1], results, b.loc))
    return [(v, b.expr(r)) for v, r in zip(outer, results)]


def _pull_elementwise(
    b: Builder, stmt: ir.Let, prim: Any, bar: Expr, args: list[Expr], add: Callable[..., None]
) -> None:
    for k, (arg, partial) in enumerate(zip(stmt.args, prim.partials)):
        if partial in (ZERO, UNWRITTEN) or not (isinstance(arg, ir.Var) and arg.type.is_float):
            continue
        if stmt.prim == "where":
            add(arg, b.elementwise("where", *_masked(stmt, k, bar)))
        elif prim.constant is not None:  # NaN where it is chosen; the transform applies its masks after the partials
            add(arg, b.elementwise("where", bar.eq(0), 0.0, bar * factor(partial(b.expr(stmt.var), *args))))
        else:
            add(arg, b.cast(bar * factor(partial(b.expr(stmt.var), *args)), arg.type))


# ------------------------------------------------------------------------------------------------------ checks


def derivative(program: Program, wrt: Sequence[int], order: str) -> tuple[list[Expr], list[ir.Var]]:
    """The tangents of the results ("jvp") or adjoints of the arguments ("vjp"), with the variables of the seeds."""
    program.expand()
    b = program.b
    stmts = list(b.block.stmts)
    if order == "jvp":
        seeds = [ir.Var(f"dot{k}", program.params[k].type) for k in wrt]
        dots: dict[ir.Var, Any] = {program.params[k]: b.expr(s) for k, s in zip(wrt, seeds)}
        push(b, stmts, dots)
        outs = [dots.get(o.op) if isinstance(o.op, ir.Var) else None for o in program.outs]
        return [
            b.let("full", 0.0, dims=o.dims, dtype=o.dtype) if d is None and o.dims else b.expr(0.0) if d is None else d
            for o, d in zip(program.outs, outs)
        ], seeds
    floats = [o for o in program.outs if o.type.is_float]
    seeds = [ir.Var(f"bar{k}", o.type) for k, o in enumerate(floats)]
    bars: dict[ir.Var, Any] = {}
    for o, s in zip(floats, seeds):
        if isinstance(o.op, ir.Var):
            bars[o.op] = bars[o.op] + b.expr(s) if o.op in bars else b.expr(s)
    bars = pull(b, stmts, bars)
    return [
        bars[program.params[k]] if program.params[k] in bars else m_zero(b, program.params[k].type) for k in wrt
    ], seeds


def m_zero(b: Builder, type_: Type) -> Expr:
    return b.let("full", 0.0, dims=type_.dims, dtype=type_.dtype) if type_.dims else b.expr(ir.Const(0.0, type_))


def _random_like(values: Sequence[Any], seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    found = [rng.standard_normal(np.shape(v)).astype(np.asarray(v).dtype) for v in values]
    return [
        float(f) if isinstance(v, float) and not isinstance(v, np.generic) else f[()] for f, v in zip(found, values)
    ]


def _moved(args: Sequence[Any], wrt: Sequence[int], dots: Sequence[Any], h: float) -> list[Any]:
    out = list(args)
    for k, d in zip(wrt, dots):
        moved = np.asarray(args[k]) + h * np.asarray(d)
        out[k] = float(moved) if isinstance(args[k], float) else moved.astype(np.asarray(args[k]).dtype)[()]
    return out


def _floats(values: Sequence[Any]) -> list[np.ndarray]:
    return [np.asarray(v, dtype=float) for v in values if np.asarray(v).dtype.kind == "f"]


def _differences(
    f: Callable[..., Sequence[Any]], args: Sequence[Any], wrt: Sequence[int], dots: Sequence[Any]
) -> list[Any]:
    """Central differences, extrapolated once."""

    def slope(h: float) -> list[np.ndarray]:
        up, down = _floats(f(*_moved(args, wrt, dots, h))), _floats(f(*_moved(args, wrt, dots, -h)))
        return [(u - d) / (2 * h) for u, d in zip(up, down)]

    return [(4 * fine - coarse) / 3 for fine, coarse in zip(slope(5e-5), slope(1e-4))]


def check(
    build: Build,
    args: Sequence[Any],
    *,
    tol: float = 2e-7,
    order: int = 2,
    dims: Any = Dim.of,
    smooth: bool = True,
    wrt: Sequence[int] | None = None,
) -> None:
    """Checks forward against differences, reverse against forward, and both again for second derivatives."""
    wrt = active_args(args) if wrt is None else wrt
    first = Program(build, args, dims)
    values = first.value()
    if not wrt or not _floats(values):
        return
    dots = _random_like([args[k] for k in wrt], 1)
    forward = Program(build, args, dims)
    tangents, seeds = derivative(forward, wrt, "jvp")
    got = [g for g, v in zip(forward.run(tangents, [*args, *dots], seeds), values) if np.asarray(v).dtype.kind == "f"]
    if smooth:
        wanted = _differences(Program(build, args, dims).value, args, wrt, dots)
        for g, w in zip(got, wanted):
            _close(g, w, tol, "forward against differences")
    reverse = Program(build, args, dims)
    adjoints, bar_vars = derivative(reverse, wrt, "vjp")
    bars = _random_like([v for v in values if np.asarray(v).dtype.kind == "f"], 2)
    back = reverse.run(adjoints, [*args, *bars], bar_vars)
    for k, a in zip(wrt, back):
        assert np.shape(a) == np.shape(args[k]), (np.shape(a), np.shape(args[k]))
    left = sum(np.sum(np.asarray(d, float) * np.asarray(a, float)) for d, a in zip(dots, back))
    right = sum(np.sum(np.asarray(w, float) * np.asarray(g, float)) for w, g in zip(bars, got))
    _close(left, right, max(tol / 10, 1e-9), "reverse against forward")
    if order > 1 and smooth:
        _second(build, args, wrt, dims, dots, bars, tol * 20)


def _second(
    build: Build,
    args: Sequence[Any],
    wrt: Sequence[int],
    dims: Any,
    dots: Sequence[Any],
    bars: Sequence[Any],
    tol: float,
) -> None:
    """Checks the derivatives of the derivatives: forward over reverse, and reverse over forward."""

    def reverse(b: Builder, *xs: Expr) -> Any:
        program = _Inner(build, b, xs[: len(args)])
        return program.pull([b.expr(x) for x in xs[len(args) :]], wrt)

    _check_forward(reverse, [*args, *bars], dims, tol, "forward over reverse")

    def forward(b: Builder, *xs: Expr) -> Any:
        return _Inner(build, b, xs[: len(args)]).push(xs[len(args) :], wrt)

    full = [*args, *dots]
    _check_forward(forward, full, dims, tol, "forward over forward")
    wrt_all = active_args(full)
    program = Program(forward, full, dims)
    values = program.value()
    seeds = _random_like([v for v in values if np.asarray(v).dtype.kind == "f"], 5)
    adjoints, bar_vars = derivative(program, wrt_all, "vjp")
    back = program.run(adjoints, [*full, *seeds], bar_vars)
    moves = _random_like([full[k] for k in wrt_all], 6)
    slopes = _differences(Program(forward, full, dims).value, full, wrt_all, moves)
    left = sum(np.sum(np.asarray(d, float) * np.asarray(a, float)) for d, a in zip(moves, back))
    right = sum(np.sum(np.asarray(w, float) * np.asarray(g, float)) for w, g in zip(seeds, slopes))
    _close(left, right, tol, "reverse over forward")


def _check_forward(build: Build, args: Sequence[Any], dims: Any, tol: float, what: str) -> None:
    wrt = active_args(args)
    moves = _random_like([args[k] for k in wrt], 7)
    program = Program(build, args, dims)
    tangents, seeds = derivative(program, wrt, "jvp")
    got = _floats(program.run(tangents, [*args, *moves], seeds))
    wanted = _differences(Program(build, args, dims).value, args, wrt, moves)
    for g, w in zip(got, wanted):
        _close(g, w, tol, what)


class _Inner:
    """The straight-line derivative of a build within another builder."""

    def __init__(self, build: Build, b: Builder, xs: Sequence[Expr]) -> None:
        self.b, self.xs = b, xs
        start = len(b.block.stmts)
        result = build(b, *xs)
        self.outs = [b.expr(o) for o in (result if isinstance(result, (tuple, list)) else (result,))]
        self.stmts = list(b.block.stmts[start:])

    def pull(self, bars: Sequence[Expr], wrt: Sequence[int]) -> list[Expr]:
        floats = [o for o in self.outs if o.type.is_float]
        found: dict[ir.Var, Any] = {}
        for o, bar in zip(floats, bars):
            found[o.op] = found[o.op] + bar if o.op in found else bar  # type: ignore[index]
        found = pull(self.b, self.stmts, found)
        return [
            found.get(self.xs[k].op) or m_zero(self.b, self.xs[k].type)
            if False
            else (found[self.xs[k].op] if self.xs[k].op in found else m_zero(self.b, self.xs[k].type))
            for k in wrt
        ]

    def push(self, dots: Sequence[Expr], wrt: Sequence[int]) -> list[Expr]:
        found: dict[ir.Var, Any] = {self.xs[k].op: d for k, d in zip(wrt, dots)}  # type: ignore[misc]
        push(self.b, self.stmts, found)
        return [found[o.op] if o.op in found else m_zero(self.b, o.type) for o in self.outs]  # type: ignore[index]


def _close(got: Any, wanted: Any, tol: float, what: str) -> None:
    got, wanted = np.asarray(got, float), np.asarray(wanted, float)
    got = np.broadcast_to(got, wanted.shape) if got.ndim == 0 else got
    assert got.shape == wanted.shape, f"{what}: shape {got.shape}, not {wanted.shape}"
    assert not np.isnan(got).any(), f"{what}: NaN in {got}"
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    assert np.allclose(got, wanted, rtol=0, atol=tol * scale), f"{what}:\n{got}\nis not\n{wanted}"


def check_prim(name: str, args: Sequence[Any], params: dict[str, Any], **options: Any) -> None:
    """As `check`, for one primitive with its own example; elementwise ones with promotion and broadcasting."""
    from transpile.ops.tables import prims

    def build(b: Builder, *xs: Expr) -> Any:
        y = b.elementwise(name, *xs, **params) if prims()[name].elementwise else b.let(name, *xs, **params)
        if y.type.kind == "tuple":
            return tuple(b.let("item", y, k=k) for k in range(len(y.type.items)))
        return y

    check(build, args, **options)
