"""Calls vector versions of elementary functions (`transpile_runtime.compiled.vector`) in innermost loops that LLVM vectorises.

If a function is accurate for most arguments only, the loop runs in blocks. The arguments of a block are tested first, and a
block with one outside uses the general function. Blocks are also used if most arguments allow a faster function:

    for i in range(n):                    for start in range(0, n, 512):
        y[i] = sin(x[i])                      end = min(start + 512, n)
                                              outside = 0.0
                                              for i in range(start, end):
                                                  outside = joined(outside, outside_bounded(x[i]))
                              ->              if all_inside(outside):
                                                  for i in range(start, end):
                                                      y[i] = sin_bounded(x[i])
                                              else:
                                                  for i in range(start, end):
                                                      y[i] = sin(x[i])
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from transpile.analysis.accesses import Roots, is_pure
from transpile.analysis.affine import Forms, Linear
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks
from transpile.core.types import BOOL, INT, Type
from transpile.core.walk import Cloner, blocks, defined, statements
from transpile.loops.loop_shape import has_recurrence, is_serial, known_trips
from transpile.ops.tables import record_of

SIZE = 512  # elements of a block: the arguments are still in the nearest cache when they are read again
DEAR = 10.0  # effort of a computation that takes as long as a vector function saves
FILLED = {"random.normals": "draws.normals", "random.normals32": "draws.normals32"}
"""Functions that fill memory with random numbers, and their vectorised versions."""
FEW = 8  # iterations below which vectors do not pay


def call_vector_functions(fn: ir.Function) -> ir.Function:
    """The lowered function with calls of vector functions, most of them in loops that LLVM vectorises."""
    return replace(fn, body=_Vectors(fn).block(fn.body))


class _Vectors:
    def __init__(self, fn: ir.Function) -> None:
        self.forms = Forms(fn.body)
        self.roots = Roots(fn)

    def block(self, block: ir.Block) -> ir.Block:
        return replace(block, stmts=[one for s in block.stmts for one in self.stmt(s)])

    def stmt(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        """The statements that replace one: vector functions in loops that LLVM vectorises; outside those only functions as fast
        alone."""
        if isinstance(stmt, ir.Let):
            return [named(stmt, _alone(stmt))]
        if isinstance(stmt, ir.Call):
            return [drawn(stmt)]
        if isinstance(stmt, ir.For) and is_vectorised(stmt, self.forms):
            return self.in_blocks(stmt) or [vectorised(stmt)]
        return [with_blocks(stmt, self.block) if blocks(stmt) else stmt]

    # ---- blocks

    def in_blocks(self, loop: ir.For) -> list[ir.Stmt] | None:
        """The loop in blocks, if it calls a function for most arguments only and they can be tested beforehand; None otherwise.

        A loop known to be no longer than a block is one block.
        """
        partly = [s for s in loop.body.stmts if isinstance(s, ir.Let) and is_float(s) and near(s)]
        needed = _Arguments(self, loop)
        partly = [s for s in partly if needed.is_small(s) or needed.take(s.args, bool(in_loops(s)))]
        if not partly or not isinstance(loop.step, ir.Const) or abs(loop.step.value) != 1:
            return None
        tests = {(near(s)[1], s.args): None for s in partly if not needed.is_small(s)}
        if not tests:
            return [vectorised(loop, {s.var for s in partly})]
        if (known_trips(loop) or SIZE + 1) <= SIZE:
            inside, test = self.test(loop, loop.start, loop.bound, needed.lets(), list(tests))
            return [*test, self.choice(loop, inside, partly, loop.results)]
        start, end = ir.Var("start", INT), ir.Var("end", INT)
        up = loop.step.value > 0
        full = ir.Let(ir.Var("", INT), "add" if up else "sub", (start, ir.Const(SIZE, INT)), {}, loop.loc)
        nearer = ir.Let(end, "minimum" if up else "maximum", (full.var, loop.bound), {"py": True}, loop.loc)
        inside, test = self.test(loop, start, end, needed.lets(), list(tests))
        carried = tuple(ir.Var(p.name, p.type) for p in loop.body.params)
        part = replace(loop, start=start, bound=end, inits=carried)
        results = tuple(ir.Var(r.name, r.type) for r in loop.results)
        body = ir.Block(carried, [full, nearer, *test, self.choice(part, inside, partly, results)], results)
        step = ir.Const(SIZE * loop.step.value, INT)
        return [replace(loop, index=start, step=step, body=body, kind="serial", combiners=())]

    def choice(self, part: ir.For, inside: ir.Var, partly: list[ir.Let], results: tuple[ir.Var, ...]) -> ir.If:
        """A branch on ``inside``, whether all arguments of a block are in the range of their vector functions, between two
        versions of the loop ``part``. ``partly``: the *lets* whose vector function is right only there."""
        only = all(map(in_loops, partly))
        fast = Cloner({}).stmt(vectorised(part, {s.var for s in partly}))
        slow = Cloner({}).stmt(vectorised(part) if only else with_blocks(part, self.block))
        assert isinstance(fast, ir.For) and isinstance(slow, ir.For)
        return ir.If(inside, ir.Block((), [fast], fast.results), ir.Block((), [slow], slow.results), results, part.loc)

    def test(
        self,
        loop: ir.For,
        start: ir.Operand,
        end: ir.Operand,
        lets: list[ir.Let],
        tests: list[tuple[str, tuple[ir.Operand, ...]]],
    ) -> tuple[ir.Var, list[ir.Stmt]]:
        """A pair: a variable that is true if all arguments from ``start`` to ``end`` lie inside the ranges of their vector
        functions, and the statements that compute it. ``lets`` compute the arguments; ``tests`` has test functions and
        arguments."""
        cloner = Cloner({})
        index = cloner.fresh(loop.index)
        stmts: list[ir.Stmt] = [cloner.stmt(named(s, in_loops(s))) for s in lets]
        params: dict[Type, ir.Var] = {}
        found: dict[Type, ir.Operand] = {}  # by type of the arguments
        for name, args in tests:
            type_ = Type("float32" if all(a.type.dtype == "float32" for a in args) else "float64")
            one = ir.Let(ir.Var("", type_), "vector", tuple(map(cloner.operand, args)), {"vector": name}, loop.loc)
            param = params.setdefault(type_, ir.Var("outside", type_))
            both = ir.Let(
                ir.Var("", type_), "vector", (found.get(type_, param), one.var), {"vector": "joined"}, loop.loc
            )
            stmts += [one, both]
            found[type_] = both.var
        body = ir.Block(tuple(params.values()), stmts, tuple(found.values()))
        results = tuple(ir.Var("outside", t) for t in found)
        inits = tuple(ir.Const(0.0, t) for t in found)
        kind, joined = loop.kind, ("joined",) * len(inits) if loop.kind == "vector" else ()
        asked = ir.For(
            index, start, end, loop.step, inits, body, results, None, False, loop.loc, False, kind, joined, loop.width
        )
        after: list[ir.Stmt] = [asked]
        inside = [ir.Let(ir.Var("", BOOL), "vector", (r,), {"vector": "all_inside"}, loop.loc) for r in results]
        if len(inside) > 1:
            inside.append(ir.Let(ir.Var("", BOOL), "both", tuple(s.var for s in inside), {}, loop.loc))
        return inside[-1].var, [*after, *inside]


class _Arguments:
    """The statements from which arguments of functions in a loop body are computed, if that can be done before the
    iteration."""

    def __init__(self, around: _Vectors, loop: ir.For) -> None:
        self.around, self.loop = around, loop
        self.at = {s.var: k for k, s in enumerate(loop.body.stmts) if isinstance(s, ir.Let)}
        self.own = set(defined(loop.body))
        self.wanted: set[int] = set()

    def take(self, args: tuple[ir.Operand, ...], if_cheap: bool) -> bool:
        """Whether all arguments can be computed beforehand; then `lets` has the *lets* needed too.

        With ``if_cheap``, false if one of these *lets* takes as long as a vector function saves.
        """
        found: set[int] = set()
        if not all(self.reach(a, found) for a in args):
            return False
        if if_cheap and any(record_of(self.let(k)).effort >= DEAR for k in found):
            return False
        self.wanted |= found
        return True

    def reach(self, op: ir.Operand, found: set[int]) -> bool:
        """Whether an operand can be computed beforehand; adds the positions of the *lets* needed to ``found``."""
        if not isinstance(op, ir.Var) or op not in self.own or op is self.loop.index:
            return True
        k = self.at.get(op)
        if k is None:
            return False
        if k in found:
            return True
        found.add(k)
        let = self.let(k)
        if (
            not is_pure(let)
            or (near(let) and not in_loops(let))
            or (let.prim == "index" and not self.is_unchanged(let, k))
        ):
            return False
        return all(self.reach(a, found) for a in let.args[let.prim == "index" :])

    def is_small(self, let: ir.Let) -> bool:
        """Whether the argument of a sine or a similar function is the result of a function with bounded values, so that no test
        is needed."""
        x = let.args[0]
        k = self.at.get(x) if isinstance(x, ir.Var) else None
        return k is not None and near(let)[1] == "outside_bounded" and record_of(self.let(k)).bounded

    def is_unchanged(self, read: ir.Let, at: int) -> bool:
        """Whether the element that ``read``, statement ``at`` of the body, reads has the same value before the loop: no other
        iteration writes it, and the own iteration only later."""
        around, stmts = self.around, self.loop.body.stmts
        root = read.args[0]
        if not isinstance(root, ir.Var) or root in self.own:
            return False
        place = tuple(around.forms.of(i) for i in read.args[1:])
        for k, stmt in enumerate(stmts):
            for write in statements(ir.Block((), [stmt])):
                if not isinstance(write, (ir.Store, ir.Add)) or around.roots.of(write.buf) is not around.roots.of(root):
                    continue
                if write.buf is not root or k < at or tuple(around.forms.of(i) for i in write.args) != place:
                    return False
                if not any(self.is_own(p) for p in place):
                    return False
        return True

    def is_own(self, form: Linear) -> bool:
        """Whether the subscript has another value in each iteration."""
        return form.coefficient(self.loop.index) != 0 and not (form.without(self.loop.index).atoms & self.own)

    def let(self, k: int) -> ir.Let:
        """The *let* that is statement number ``k`` of the loop body."""
        found = self.loop.body.stmts[k]
        assert isinstance(found, ir.Let)
        return found

    def lets(self) -> list[ir.Let]:
        """The *lets* needed for all arguments taken so far, in the order of the body."""
        return [self.let(k) for k in sorted(self.wanted)]


def vectorised(loop: ir.For, inside: Collection[ir.Var] = ()) -> ir.For:
    """The loop with vector functions; *lets* of variables in ``inside`` call the versions for arguments that pass the test,
    others those for all arguments."""

    def block(body: ir.Block) -> ir.Block:
        return replace(body, stmts=[stmt(s) for s in body.stmts])

    def stmt(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Call):
            return drawn(s)
        if not isinstance(s, ir.Let):
            return with_blocks(s, block) if blocks(s) else s
        return named(s, near(s)[0] if s.var in inside else in_loops(s))

    return replace(loop, body=block(loop.body))


def near(let: ir.Let) -> tuple[str, ...]:
    """A pair of names, the vector function for arguments that pass a test, and the test; empty if there is none."""
    vector = record_of(let).vector
    return () if vector is None or vector.near is None else vector.near


def in_loops(let: ir.Let) -> str:
    """The name of the vector function for all arguments; empty if there is none."""
    vector = record_of(let).vector
    return "" if vector is None else vector.name


def _alone(let: ir.Let) -> str:
    """The name of the vector function if it is as fast outside vectorised loops; empty otherwise."""
    vector = record_of(let).vector
    return "" if vector is None or not vector.alone else vector.name


def drawn(call: ir.Call) -> ir.Call:
    """The call, with the vector version of a function that fills an array with random numbers; other calls unchanged."""
    return replace(call, function=ir.Library(FILLED[call.library])) if call.library in FILLED else call


def named(let: ir.Let, name: str) -> ir.Let:
    """The *let* as the primitive that its record has for vectors, or else as a call of the vector function ``name``; unchanged
    if ``name`` is empty or it is no floating-point operation."""
    if record_of(let).in_vectors:
        return replace(let, prim=record_of(let).in_vectors)
    return replace(let, params={**let.params, "vector": name}) if name and is_float(let) else let


def is_float(let: ir.Let) -> bool:
    """Whether all operands of a *let* are float64 or float32, and it does not have Python's own semantics."""
    if let.params.get("py") or _is_pythons(let):
        return False
    return bool(let.args) and all(a.type.dtype in ("float64", "float32") for a in let.args)


def _is_pythons(let: ir.Let) -> bool:
    """Whether the operation is computed differently because its operands are Python numbers."""
    record, types = record_of(let), [a.type for a in let.args]
    return record.element_of(types, let.var.type, let.params) != record.element_of(
        types, let.var.type.strong, let.params
    )


def is_vectorised(loop: ir.For, forms: Forms) -> bool:
    """Whether an innermost loop is expected to be vectorised and may have at least `FEW` iterations; False for other loops."""
    if any(isinstance(s, (ir.For, ir.While)) for s in statements(loop.body)) or is_serial(loop):
        return False
    if loop.body.stop is not None or loop.trips is not None:
        return False
    if has_recurrence(loop, forms):
        return False
    trips = known_trips(loop)
    return trips is None or trips >= FEW
