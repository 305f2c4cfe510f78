"""Random core functions of x, y: float64[4], s: float64 and A: float64[4, 4], for the printer.

They consist of constructs that are hard to print: values under a few names that clash, buffers, views that are read late, loops
and branches that swap values, stops in nested branches, stacks.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.types import BOOL, INT, Type
from transpile.ops.tables import prims

N = Dim(4)
VEC, MAT, NUM = Type("float64", (N,)), Type("float64", (N, N)), Type("float64")
NAMES = ("x", "y", "z", "u", "t", "w", "", "", "")
POINT: ir.Path = (ir.Index((ir.Point(0),)),)
ROW: ir.Path = (ir.Index((ir.Point(0), ir.Slice())),)
COLUMN: ir.Path = (ir.Index((ir.Slice(), ir.Point(0))),)
PART: ir.Path = (ir.Index((ir.Slice(0, 1),)),)
REVERSED: ir.Path = (ir.Index((ir.Slice(None, None, 0),)),)


def random_function(seed: int) -> ir.Function:
    """A random function, the same for the same seed."""
    maker = _Maker(seed)
    params = [ir.Var("x", VEC), ir.Var("y", VEC), ir.Var("s", NUM), ir.Var("A", MAT)]
    scope = maker.filled(params, [], 0, maker.random.randrange(3, 10))
    maker.b.block.yields = maker.values(scope, maker.types(1, 4))
    return ir.Function("f", tuple(params), maker.b.block, maker.b.symbols)


class _Maker:
    def __init__(self, seed: int) -> None:
        self.random, self.b, self.line = random.Random(seed), Builder(prims()), 0

    # ---- pieces

    def types(self, least: int, most: int) -> list[Type]:
        return [self.random.choice([VEC, VEC, NUM, MAT]) for _ in range(self.random.randrange(least, most))]

    def name(self) -> str:
        return self.random.choice(NAMES)

    def value(self, scope: Sequence[ir.Var], type_: Type) -> ir.Operand:
        """An operand of a type; for a buffer, its current value."""
        found = [v for v in scope if v.type.dims == type_.dims and v.type.is_float and v.type.kind == "array"]
        if not found:
            fill = self.random.choice([0.5, 2.0, -1.0, 3.0])
            return (
                self.b.operand(fill)
                if not type_.dims
                else self.b.let("full", fill, dims=type_.dims, dtype="float64").op
            )
        var = self.random.choice(found)
        return self.b.read(var, name=self.name()).op if var.buffer else var

    def values(self, scope: Sequence[ir.Var], types: Sequence[Type]) -> tuple[ir.Operand, ...]:
        return tuple(self.value(scope, t) for t in types)

    def index(self, loops: Sequence[ir.Var]) -> ir.Operand:
        if loops and self.random.random() < 0.7:
            return self.random.choice(loops)
        return self.b.operand(self.random.randrange(4))

    def test(self, scope: Sequence[ir.Var]) -> Expr:
        return self.b.expr(self.value(scope, NUM)) > self.random.choice([0.0, 1.0, 2.0, 4.0])

    # ---- statements

    def filled(self, scope: Sequence[ir.Var], loops: Sequence[ir.Var], depth: int, count: int) -> list[ir.Var]:
        """Adds ``count`` statements to the current block; returns the variables in scope after them."""
        inner = list(scope)
        for _ in range(count):
            self.line += 1
            self.b.loc = ir.Loc("p.py", self.line)
            new = self.statement(inner, loops, depth)
            inner += [v for v in new if isinstance(v, ir.Var) and v not in inner]
        return inner

    def statement(self, scope: list[ir.Var], loops: Sequence[ir.Var], depth: int) -> Sequence[ir.Operand]:
        simple, nested = (
            (self.compute, self.matrix, self.vector, self.buffer, self.write),
            (self.branch, self.loop, self.stack),
        )
        chosen = self.random.choices(simple, (22, 8, 6, 10, 20))[0]
        if depth < 3 and self.random.random() < 0.34:
            chosen = self.random.choices(nested, (14, 14, 6))[0]
        return chosen(scope, loops, depth)

    def compute(self, scope: list[ir.Var], loops: Sequence[ir.Var], depth: int) -> Sequence[ir.Operand]:
        r, b = self.random, self.b
        type_ = r.choice([VEC, VEC, NUM, MAT])
        first, second = self.value(scope, type_), self.value(scope, r.choice([type_, NUM]))
        if r.random() < 0.4:
            first = b.elementwise("mul", first, 0.5).op
        result = b.elementwise(r.choice(["add", "sub", "mul", "maximum"]), first, second).op
        if isinstance(result, ir.Var) and result not in scope and r.random() < 0.5:
            result.name = self.name()
        if r.random() < 0.3:  # a name of its own, as carried values and results of lane regions have
            result = b.bind(self.name() or "v", result.type, "identity", (result,))
        return (result,)

    def matrix(self, scope: list[ir.Var], loops: Sequence[ir.Var], depth: int) -> Sequence[ir.Operand]:
        r, b = self.random, self.b
        a = self.value(scope, MAT)
        match r.randrange(4):
            case 0:
                return (b.let("transpose", a, axes=(1, 0), name=self.name()).op,)
            case 1:
                return (b.read(a, r.choice([ROW, COLUMN]), (self.index(loops),), name=self.name()).op,)
            case 2:
                return (b.let("sum", a, axes=(r.randrange(2),), keepdims=False, name=self.name()).op,)
        return (b.let("sum", a, axes=(0, 1), keepdims=False, name=self.name()).op,)

    def vector(self, scope: list[ir.Var], loops: Sequence[ir.Var], depth: int) -> Sequence[ir.Operand]:
        b = self.b
        a = self.value(scope, VEC)
        match self.random.randrange(3):
            case 0:
                return (b.read(a, POINT, (self.index(loops),), name=self.name()).op,)
            case 1:
                return (b.broadcast(b.let("reshape", a, dims=(N, Dim(1))), (N, N)).op,)
        return (b.read(a, REVERSED, (-1,), name=self.name()).op,)

    def buffer(self, scope: list[ir.Var], loops: Sequence[ir.Var], depth: int) -> Sequence[ir.Operand]:
        type_ = self.random.choice([VEC, VEC, MAT, NUM])
        if self.random.random() < 0.8:
            return (self.b.copy(self.name(), self.value(scope, type_)),)
        return (self.b.zeros(self.name(), type_),)

    def write(self, scope: list[ir.Var], loops: Sequence[ir.Var], depth: int) -> Sequence[ir.Operand]:
        buffers = [v for v in scope if v.buffer]
        if not buffers:
            return self.compute(scope, loops, depth)
        buf = self.random.choice(buffers)
        path, args, type_ = self.random.choice(self.places(buf.type, loops))
        value = self.b.read(self.value(scope, VEC), PART, (0, 3)).op if path == PART else self.value(scope, type_)
        (self.b.add if self.random.random() < 0.5 else self.b.store)(buf, path, args, value)
        return ()

    def places(self, type_: Type, loops: Sequence[ir.Var]) -> list[tuple[ir.Path, tuple[ir.Operand | int, ...], Type]]:
        if not type_.dims:
            return [((), (), NUM)]
        if len(type_.dims) == 1:
            return [(POINT, (self.index(loops),), NUM), ((), (), VEC), (PART, (1, 4), VEC), (REVERSED, (-1,), VEC)]
        across: ir.Path = (ir.Permute((1, 0)), *ROW)
        rows = [(p, (self.index(loops),), VEC) for p in (ROW, across)]
        return [*rows, ((ir.Permute((1, 0)),), (), MAT), ((ir.Diagonal(),), (), VEC)]

    # ---- control

    def branch(self, scope: list[ir.Var], loops: Sequence[ir.Var], depth: int) -> Sequence[ir.Operand]:
        test, types = self.test(scope), self.types(0, 3)
        sides = []
        for _ in range(2):
            with self.b.into(ir.Block()) as side:
                inner = self.filled(scope, loops, depth + 1, self.random.randrange(4))
                side.yields = self.values(inner, types)
            sides.append(side)
        results = tuple(ir.Var(self.name(), t) for t in types)
        self.b.emit(ir.If(test.op, sides[0], sides[1], results, self.b.loc))
        return results

    def loop(self, scope: list[ir.Var], loops: Sequence[ir.Var], depth: int) -> Sequence[ir.Operand]:
        types, loc = self.types(0, 4), self.b.loc
        inits, names = self.values(scope, types), [self.name() for _ in types]
        params, results = (tuple(ir.Var(k, t) for k, t in zip(names, types)) for _ in range(2))
        trips = ir.Var("trips", INT) if self.random.random() < 0.3 else None
        if self.random.random() < 0.75:
            index = ir.Var("i", INT)
            with self.b.into(ir.Block(params)) as body:
                self.b.form(index)
                self.body(body, [*scope, *params], [*loops, index], types, depth)
            span = (self.b.operand(self.random.choice([0, 0, 1])), self.b.operand(self.random.choice([3, 4, 4, 0])))
            backwards = self.random.random() < 0.3
            self.b.emit(ir.For(index, *span, self.b.operand(1), inits, body, results, trips, backwards, loc))
        else:
            self.emit_while(scope, loops, types, inits, params, results, trips, depth)
        if trips is None:
            return results
        return (*results, self.b.cast(trips, NUM).op)

    def emit_while(self, scope, loops, types, inits, params, results, trips, depth) -> None:  # type: ignore[no-untyped-def]
        b, loc = self.b, self.b.loc
        before, inside, after = (ir.Var("c", INT) for _ in range(3))
        seen = tuple(ir.Var(p.name, p.type) for p in params)
        with b.into(ir.Block((*seen, before))) as test:
            if self.random.random() < 0.4:
                self.filled([*scope, *seen], loops, 3, 2)
            more = b.expr(before) < self.random.choice([2, 3])
            if self.random.random() < 0.5:
                more = b.elementwise("logical_and", more, b.expr(self.value([*scope, *seen], NUM)) < 50.0)
            test.yields = (more.op,)
        with b.into(ir.Block((*params, inside))) as body:
            self.body(body, [*scope, *params], loops, types, depth)
            body.yields = (*body.yields, (b.expr(inside) + 1).op)
        b.emit(ir.While((*inits, b.operand(0)), test, body, (*results, after), trips, loc))

    def body(
        self, body: ir.Block, scope: list[ir.Var], loops: Sequence[ir.Var], types: Sequence[Type], depth: int
    ) -> None:
        """The statements of a loop body, its yields, and perhaps its stop, which may be in a last branch."""
        r, b = self.random, self.b
        inner = self.filled(scope, loops, depth + 1, r.randrange(1, 6))
        kind = r.random()
        if kind < 0.65:
            stop = self.test(inner).op if kind > 0.5 else None
            body.yields, body.stop = self.values(inner, types), stop
            return
        test, sides = self.test(inner), []
        for _ in range(2):
            with b.into(ir.Block()) as side:
                behind = self.filled(inner, loops, depth + 1, r.randrange(3))
                stops = b.operand(r.random() < 0.5) if r.random() < 0.7 else self.test(behind).op
                side.yields = (stops, *self.values(behind, types))
            sides.append(side)
        results = tuple(ir.Var(self.name(), t) for t in types)
        decided = ir.Var("stop", BOOL)
        b.emit(ir.If(test.op, sides[0], sides[1], (decided, *results), b.loc))
        body.stop = decided
        body.yields = results if r.random() < 0.7 else self.values([*inner, *results], types)

    def stack(self, scope: list[ir.Var], loops: Sequence[ir.Var], depth: int) -> Sequence[ir.Operand]:
        b, r = self.b, self.random
        type_ = r.choice([VEC, NUM])
        tape, loc = ir.Var("tape", Type("float64", type_.dims, kind="stack")), b.loc
        b.emit(ir.NewStack(tape, loc))
        index = ir.Var("i", INT)
        with b.into(ir.Block()) as body:
            b.form(index)
            inner = self.filled(scope, [*loops, index], depth + 1, r.randrange(3))
            b.emit(ir.Push(tape, self.value(inner, type_), b.loc))
            self.filled(inner, [*loops, index], depth + 1, r.randrange(2))
        b.emit(ir.For(index, b.operand(0), b.operand(3), b.operand(1), (), body, loc=loc))
        total, index, popped = b.zeros("total", type_), ir.Var("i", INT), ir.Var(self.name(), type_)
        with b.into(ir.Block()) as body:
            b.form(index)
            b.emit(ir.Pop(popped, tape, b.loc))
            b.add(total, (), (), popped)
            self.filled([*scope, total, popped], [*loops, index], depth + 1, r.randrange(2))
        b.emit(ir.For(index, b.operand(0), b.operand(3), b.operand(1), (), body, backwards=True, loc=loc))
        return (total,)
