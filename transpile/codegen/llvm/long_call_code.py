"""Writes the code by which a function counts its work for its watch (`transpile.codegen.llvm.long_calls`), and polls it.

for i in range(n):                  nested loops, and ``while``, poll in each iteration; the work of inner loops counts
for c in pieces of range(n):        a loop that is in no other runs in pieces, and polls between them: the iterations
    for i in c:                     of a piece can still be vectorised

If an iteration may do too much work, which may be known only at run time, the loops in it poll as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from transpile.analysis.accesses import is_array
from transpile.analysis.affine import Forms
from transpile.codegen.llvm import long_calls
from transpile.codegen.llvm.llvm_values import Array, Scalar, Value
from transpile.codegen.llvm.stacks import Stacks
from transpile.core import nodes
from transpile.core.walk import blocks, statements
from transpile.ops.computation import DEAR
from transpile.ops.tables import record_of

_CALL = 200  # in units of a load, a store or a scalar addition
_PER_ELEMENT = 16  # work of a runtime function on an array
_FEW = 64  # iterations of a short loop
_CUBIC = ("linalg",)  # modules whose functions have cubic cost, like a matrix product
PIECE = 2 * long_calls.FIRST  # work between two polls
MANY = 128  # iterations
_LITTLE = 2**14  # work of a short loop
_MUCH = 2**21  # work of an iteration up to which a loop can poll for the loops in it
LONGEST = 2**40  # limit of the work counted at once


def takes_long(fn: nodes.Function) -> bool:
    """Whether a call may take so long that it must be watched: it has a ``while``, a loop that is not short, or a heavy
    call."""
    return any(
        isinstance(s, nodes.While) or (isinstance(s, nodes.For) and not is_short(s)) or is_heavy(s)
        for s in statements(fn.body)
    )


def is_heavy(stmt: nodes.Stmt) -> bool:
    """Whether the statement is a call that may take long: of a kept function, or with an array as argument."""
    return isinstance(stmt, nodes.Call) and (isinstance(stmt.function, nodes.Kept) or any(map(is_array, stmt.args)))


def is_short(loop: nodes.For) -> bool:
    """Whether the loop has constant ends, few iterations, little work in all, and nothing in it that may take long.

    A parallel loop never is.
    """
    if not isinstance(loop.start, nodes.Const) or not isinstance(loop.bound, nodes.Const) or loop.kind == "parallel":
        return False
    inner, trips = list(statements(loop.body)), abs(loop.bound.value - loop.start.value)
    if trips > _FEW or any(
        isinstance(s, nodes.While) or (isinstance(s, nodes.For) and not is_short(s)) or is_heavy(s) for s in inner
    ):
        return False
    return trips * cost(loop.body) <= _LITTLE


def is_last(loop: nodes.For) -> bool:
    """Whether the loop contains no other ``for`` loop, short ones aside."""
    return not any(isinstance(s, nodes.For) and not is_short(s) for s in statements(loop.body))


def is_deep(block: nodes.Block, *around: nodes.For) -> bool:
    """Whether nested loops in the block do more work than a walk over an array; ``around``: the loops around the block.

    They come outermost first. No array is so large that such a walk takes long.
    """
    for stmt in block.stmts:
        nest = around
        if isinstance(stmt, nodes.For) and not is_short(stmt):
            nest = (*around, stmt)
            if is_last(stmt) and around and not is_walk(nest):
                return True
        if any(is_deep(b, *nest) for b in blocks(stmt)):
            return True
    return False


def is_walk(nest: Sequence[nodes.For]) -> bool:
    """Whether each iteration of the innermost loop accesses an element of its own; ``nest``: the loops, outermost first.

    The index of each loop, or its sum with a constant, must be a subscript of one access.
    """
    wanted, block = {loop.index for loop in nest}, nest[-1].body
    moved = {
        s.var: s.args[0]
        for s in block.stmts
        if isinstance(s, nodes.Let) and record_of(s).is_sum and isinstance(s.args[1], nodes.Const)
    }
    for stmt in block.stmts:
        if isinstance(stmt, (nodes.Store, nodes.Add)) or (isinstance(stmt, nodes.Let) and stmt.prim == "index"):
            subscripts = stmt.args[1:] if isinstance(stmt, nodes.Let) else stmt.args
            if wanted <= {moved.get(i, i) for i in subscripts}:  # type: ignore[arg-type]
                return True
    return False


def _is_like_a_sum(let: nodes.Let) -> bool:
    """Whether the value's magnitude is bounded by the sum of its operands', as for a sum, a minimum or a maximum."""
    magnitude = record_of(let).magnitude
    return magnitude is not None and not record_of(let).multiplies


def _is_clipped(let: nodes.Let) -> bool:
    """Whether the value is the result of a runtime function that lies between 0 and its last operand, as a clipped end of a
    slice."""
    return record_of(let).is_call and record_of(let).below is not None


def cost(block: nodes.Block) -> int:
    """A rough cost, at least 1, of running the statements once; loops count their own work, so only short ones are included.

    The unit is a load, a store or a scalar addition.
    """
    total = 1
    for stmt in block.stmts:
        match stmt:
            case nodes.Let():
                total += int(DEAR) if record_of(stmt).is_dear else 1
            case nodes.Store() | nodes.Add():
                total += 1
            case nodes.Call():
                total += 1 if len(stmt.results) < 2 else 1 + len(stmt.results)
            case nodes.For() if is_short(stmt):
                total += abs(stmt.bound.value - stmt.start.value) * cost(stmt.body)  # type: ignore[union-attr]
            case nodes.If():
                total += max(cost(b) for b in blocks(stmt))
    return total


class Work:
    """The work of one iteration of ``loop`` with all loops in it, as far as it is known before the loop: `of_trip` gives it.

    Amounts are ints where known now, else LLVM doubles. Ends of inner loops that depend on outer indices are replaced by their
    extreme values. A loop whose length is known only inside the iteration is assumed to have `MANY` iterations; if it has more
    it counts its own work.
    """

    def __init__(self, writer: Watching, loop: nodes.For) -> None:
        self.writer, self.loop = writer, loop
        self.forms = Forms(loop.body)
        self.lets = self.forms.lets
        self.ends: dict[nodes.Var, nodes.For] = {}
        self.counts: dict[tuple[nodes.Operand, nodes.Operand], Any] = {}  # trip counts of loops with these ends
        self.doubles: dict[int, tuple[Any, Any]] = {}  # identity of an LLVM integer -> the integer, its double

    def of_trip(self) -> Any:
        """The work of one iteration, an int or an LLVM double; None if it is not known before the loop.

        It is None if there is a ``while``, a heavy call, a loop that may stop early, or a loop of unknown length around others.
        """
        inner = list(statements(self.loop.body))
        if any(
            isinstance(s, nodes.While) or is_heavy(s) or (isinstance(s, nodes.For) and s.body.stop is not None)
            for s in inner
        ):
            return None
        self.ends[self.loop.index] = self.loop
        return self.block(self.loop.body)

    def block(self, block: nodes.Block) -> Any:
        """The work of running a block once, loops included, an int or an LLVM double; None if not known.

        Innermost loops of unknown length are added to the writer's ``unknown``.
        """
        total: Any = cost(block)
        for loop in self.loops(block):
            trips = self.trips(loop)
            if trips is None:
                if not is_last(loop):
                    return None
                self.writer.unknown.add(loop.index)
                trips = MANY
            self.ends[loop.index] = loop
            inner = self.block(loop.body)
            if inner is None:
                return None
            total = self.sum(total, self.product(trips, inner))
        return total

    def loops(self, block: nodes.Block) -> Iterator[nodes.For]:
        """Yields the outermost loops of the block, also those inside other statements, without the short ones."""
        for stmt in block.stmts:
            if isinstance(stmt, nodes.For):
                if not is_short(stmt):
                    yield stmt
            else:
                for inner in blocks(stmt):
                    yield from self.loops(inner)

    def trips(self, loop: nodes.For) -> Any:
        """The largest possible trip count of a loop, not less than 0: an int, or a double of LLVM's; None if not known.

        A double is computed by instructions that are emitted here; it is not rounded up if the step does not divide the range.
        """
        if not isinstance(loop.step, nodes.Const) or not loop.step.value:
            return None
        ends = (loop.start, loop.bound) if loop.step.value > 0 else (loop.bound, loop.start)
        if ends not in self.counts:
            self.counts[ends] = self.of_block(*ends)
        if self.counts[ends] is None:
            low, high = self.value(ends[0], False), self.value(ends[1], True)
            if low is None or high is None:
                return None
            count = self.sum(high, low, -1)
            self.counts[ends] = count if low == 0 and self.is_size(ends[1]) else self.larger(count, 0, True)
        return self.quotient(self.counts[ends], abs(loop.step.value))

    def of_block(self, low: nodes.Operand, high: nodes.Operand) -> int | None:
        """The largest trip count, an int, of a loop from ``low`` to ``high`` over a block of a range; else None.

        The upper end of a block is a minimum, of which one operand is its lower end plus a constant.
        """
        let = self.lets.get(high) if isinstance(high, nodes.Var) else None
        if let is None or record_of(let).extreme >= 0:
            return None
        apart = (self.forms.of(x).plus(self.forms.of(low), -1) for x in let.args)
        return next((max(form.const, 0) for form in apart if not form.terms), None)

    def is_size(self, op: nodes.Operand) -> bool:
        """Whether the operand, defined before the loop, is the size of an array, which is not negative."""
        let = self.writer.lets.get(op) if isinstance(op, nodes.Var) else None
        return let is not None and let.prim == "dim"

    def value(self, op: nodes.Operand, most: bool, depth: int = 4) -> Any:
        """The upper bound (``most``) or the lower bound of an integer, an int or an LLVM double; None if not known.

        ``depth`` limits how many definitions are followed. An index has the ends of its loop as bounds.
        """
        if isinstance(op, nodes.Const):
            return int(op.value)
        if not isinstance(op, nodes.Var) or not depth:
            return None
        if op in self.ends:
            loop = self.ends[op]
            is_upwards = isinstance(loop.step, nodes.Const) and loop.step.value > 0
            return self.value(loop.bound if is_upwards is most else loop.start, most, depth - 1)
        known = self.writer.values.get(op)
        if isinstance(known, Scalar):
            number = self.writer.cast(known, self.writer.types.intp).value
            if id(number) not in self.doubles:
                self.doubles[id(number)] = number, self.double(number)
            return self.doubles[id(number)][1]
        let = self.lets.get(op)
        record = None if let is None else record_of(let)
        if let is None or record is None or not (record.is_sum or record.extreme):
            return None
        x = self.value(let.args[0], most, depth - 1)
        y = self.value(let.args[1], most is not record.is_difference, depth - 1)
        if x is None or y is None:
            return None
        return self.sum(x, y, record.signs[1]) if record.is_sum else self.larger(x, y, record.extreme > 0)

    # ---- numbers

    def double(self, value: Any) -> Any:
        """The amount, an int or any LLVM number, as an LLVM double."""
        return self.writer.double(value)

    def sum(self, x: Any, y: Any, sign: int = 1) -> Any:
        """``x + sign * y`` of two amounts: an int if both are ints, ``x`` itself if ``y`` is the int 0, else an LLVM double."""
        if isinstance(y, int) and (isinstance(x, int) or not y):
            return x + sign * y if isinstance(x, int) else x
        b = self.writer.builder
        return (b.fadd if sign > 0 else b.fsub)(self.double(x), self.double(y))

    def product(self, trips: Any, work: Any) -> Any:
        """The product of two amounts: an int if both are ints, else an LLVM double that is computed here."""
        if isinstance(trips, int) and isinstance(work, int):
            return trips * work
        return self.writer.builder.fmul(self.double(trips), self.double(work))

    def quotient(self, x: Any, step: int) -> Any:
        """The amount divided by ``step``: an int is rounded up, an LLVM double is not rounded."""
        if step == 1 or isinstance(x, int):
            return x if step == 1 else -(-x // step)
        return self.writer.builder.fmul(x, self.double(1).type(1.0 / step))

    def larger(self, x: Any, y: Any, which: bool) -> Any:
        """The larger of two amounts, or the smaller unless ``which``: an int if both are ints, else an LLVM double."""
        if isinstance(x, int) and isinstance(y, int):
            return max(x, y) if which else min(x, y)
        b, x, y = self.writer.builder, self.double(x), self.double(y)
        return b.select(b.fcmp_ordered(">" if which else "<", x, y), x, y)


class Watching(Stacks):
    """Writes the counting of work and the polls of the watch; nothing is counted in a function without watch."""

    def __init__(self, context: Any, typing: Any) -> None:
        super().__init__(context, typing)
        self.watch: Any = None  # the watch's address; None in a function without watch
        self.left: Any = None  # a cell: the work until the next poll
        self.gives_lock = False
        self.together: tuple[Any, Any] | None = None  # in a chunk of a parallel loop: see `long_calls.poll_together`

        self.values: dict[nodes.Var, Value] = {}
        self.lets: dict[nodes.Var, nodes.Let] = {}  # statements written so far
        self.unknown: set[nodes.Var] = set()  # indices of inner loops whose unknown trip counts may be large
        self.around: dict[nodes.Var, nodes.For] = {}  # index -> loop around the current statement
        self.depth = 0  # number of loops around the current statement
        self.is_counted: Any = (
            False  # whether one of these counts and polls for all in it; a bit if known only at run time
        )

    def begin_watch(self, fn: nodes.Function, given: Sequence[Any]) -> None:
        """Sets up the watch at a function's beginning: the last argument in ``given``, if there is one more than parameters.

        Without it nothing is done. A kept function counts its own statements here, and polls.
        """
        if len(given) == len(fn.params):
            return
        _, _, type_ = long_calls.types()
        self.watch = self.builder.bitcast(given[-1], type_.as_pointer())
        self.left = self.cell(self.int)
        self.watch_back()
        if self.is_narrow:
            self.spend(self.number(cost(fn.body)))
            self.ask()

    def begin_chunk(self, code: Any, owner: Any, bare: Any) -> None:
        """Sets up a new watch, in the stack frame, for a chunk of a parallel loop.

        The arguments are addresses of fields that all threads share: ``code`` and ``owner`` for `long_calls.poll_together`, and
        ``bare``, which says whether the call is bare.
        """
        _, _, type_ = long_calls.types()
        self.watch = self.cell(type_)
        long_calls.begin(self.builder, self.watch, self.builder.load(bare))
        self.left = self.cell(self.int)
        self.together = code, owner
        self.watch_back()

    def end_watch(self) -> None:
        """At the end of a kept function stores the remaining work in the watch, for its caller."""
        if self.watch is not None and self.is_narrow:
            self.handed_watch()

    def handed_watch(self) -> Any:
        """The address of the watch, untyped, to pass to a kept function; first stores the remaining work in the watch."""
        b = self.builder
        b.store(b.load(self.left), long_calls.field(b, self.watch, long_calls.LEFT))
        return b.bitcast(self.watch, self.cgutils.voidptr_t)

    def watch_back(self) -> None:
        """Reads the remaining work back from the watch after a call that changed it; nothing without watch."""
        if self.watch is not None:
            self.builder.store(
                self.builder.load(long_calls.field(self.builder, self.watch, long_calls.LEFT)), self.left
            )

    def spend(self, amount: Any) -> None:
        """Subtracts an amount, an LLVM integer, from the remaining work."""
        b = self.builder
        b.store(b.sub(b.load(self.left), amount), self.left)

    def ask(self) -> None:
        """Writes a poll of the watch that is made if the remaining work is negative; the function is left if a signal ends the
        call."""
        if self.watch is None:
            return
        b = self.builder
        with b.if_then(b.icmp_signed("<", b.load(self.left), self.number(0)), likely=False):
            if self.together is None:
                goes_on = b.call(long_calls.poll(self.module, self.gives_lock), [self.watch])
            else:
                goes_on = b.call(long_calls.poll_together(self.module), [self.watch, *self.together])
            with b.if_then(b.icmp_signed("==", goes_on, self.number(0)), likely=False):
                self.interrupted()
            self.watch_back()

    # ---- loops

    @contextmanager
    def nested(self, is_counted: Any = False) -> Iterator[None]:
        """A context for the code inside a loop. ``is_counted``, a bool or a bit: the loop counts the work in it, and polls."""
        before = self.depth, self.is_counted
        self.depth, self.is_counted = self.depth + 1, self.either(self.is_counted, is_counted)
        yield
        self.depth, self.is_counted = before

    @contextmanager
    def watched(self, loop: nodes.For, counter: Any, last: Any, end: Any) -> Iterator[tuple[Any, Any, bool]]:
        """A context that counts the work of a loop while ``counter``, a cell, runs to ``last``; code after it is at ``end``.

        The loop branches to the block ``end`` also if it is left early. Gives a triple: the end of its iterations as they are
        written, the block after them, and whether each iteration polls, a bool.
        """
        b, above = self.builder, self.is_counted
        self.around[loop.index] = loop
        is_limited = all(self.is_size(o) for o in (loop.start, loop.bound))
        if not is_limited or loop.index in self.unknown:
            above = False
        if self.watch is None or is_short(loop) or above is True:
            with self.nested():
                yield last, end, False
            b.position_at_end(end)
            return
        work = cost(loop.body) if self.is_counted is True else Work(self, loop).of_trip()
        counts = self.is_little(loop, work)
        with self.nested(counts):
            if work is None:
                yield last, end, True
                b.position_at_end(end)
                return
            spent = work if counts is True else self.choice(counts, work, cost(loop.body))
            if is_last(loop) and is_limited and self.depth > 1:
                first, has_exit = b.load(counter), loop.body.stop is not None
                if not has_exit:
                    self.spend_many(spent, b.sub(last, first), above)
                yield last, end, False
                b.position_at_end(end)
                if has_exit:
                    self.spend_many(spent, b.sub(b.load(counter), first), above)
            else:
                yield from self.pieces(work, self.choice(above, 0, spent), above, counter, last, end)

    def is_little(self, loop: nodes.For, work: Any) -> Any:
        """Whether a loop can poll for the loops in it: True, False, or a bit. ``work``: that of an iteration, None if not
        known."""
        if work is None or not is_deep(loop.body):
            return work is not None
        if isinstance(work, int):
            return work <= _MUCH
        return self.builder.fcmp_ordered("<=", work, work.type(float(_MUCH)))

    def either(self, x: Any, y: Any) -> Any:
        """The disjunction of two tests, each a bool or a bit: a bool if that is known now, else a bit."""
        if isinstance(x, bool) or isinstance(y, bool):
            return x is True or y is True or (y if x is False else x)
        return self.builder.or_(x, y)

    def choice(self, test: Any, x: Any, y: Any) -> Any:
        """The amount of work ``x`` if the test holds, else ``y``.

        A Python bool chooses now and gives the amount as it is; a bit gives an LLVM double.
        """
        if isinstance(test, bool):
            return x if test else y
        return self.builder.select(test, self.double(x), self.double(y))

    def double(self, work: Any) -> Any:
        """The amount as an LLVM double: a constant for an int, an LLVM integer is converted here."""
        from llvmlite import ir

        if isinstance(work, int):
            return ir.DoubleType()(float(work))
        return work if work.type == ir.DoubleType() else self.builder.sitofp(work, ir.DoubleType())

    def is_size(self, op: nodes.Operand) -> bool:
        """Whether an end of a loop is a constant, or bounded by sizes of arrays.

        No array has so many elements that one loop over them takes long.
        """
        if not isinstance(op, nodes.Var):
            return True
        loop, let = self.around.get(op), self.lets.get(op)
        if loop is not None:
            return self.is_size(loop.start) and self.is_size(loop.bound)
        if let is None:
            return False
        return let.prim == "dim" or (_is_like_a_sum(let) and all(map(self.is_size, let.args))) or _is_clipped(let)

    def pieces(
        self, work: Any, spent: Any, above: Any, counter: Any, last: Any, end: Any
    ) -> Iterator[tuple[Any, Any, bool]]:
        """Writes a loop in pieces, with polls between them, until ``counter`` reaches ``last``; yields as `watched` does.

        ``work``: the work of an iteration; ``spent``: the part of it that is counted; ``above``, a bool or a bit: run it as one
        piece, as an outer loop polls.
        """
        b = self.builder
        most = self.trips_of_piece(work, b.sub(last, b.load(counter)), above)
        head, piece, after = (b.function.append_basic_block(n) for n in ("pieces", "piece", "pause"))
        b.branch(head)
        b.position_at_end(head)
        first = b.load(counter)
        b.cbranch(b.icmp_signed("<", first, last), piece, end)
        b.position_at_end(piece)
        rest = b.sub(last, first)
        least = b.select(b.icmp_unsigned("<", rest, most), rest, most)
        yield b.add(first, least, flags=["nsw"]), after, False
        b.position_at_end(after)
        self.spend_trips(spent, b.sub(b.load(counter), first))
        self.ask()
        b.branch(head)
        b.position_at_end(end)

    def trips_of_piece(self, work: Any, trips: Any, above: Any) -> Any:
        """The number of iterations between two polls, an LLVM integer, if each does this ``work``; at least 1.

        It is all ``trips`` if an outer loop polls (``above``, False or a bit), or if, with ``work`` a double, all together do
        little.
        """
        if isinstance(work, int):
            few = PIECE // work // long_calls.TRIPS * long_calls.TRIPS or max(PIECE // work, 1)
            return self.number(few) if above is False else self.builder.select(above, trips, self.number(few))
        b, double = self.builder, work.type
        found = self.cell(self.int)
        b.store(trips, found)
        is_large = b.not_(b.fcmp_ordered("<", b.fmul(b.sitofp(trips, double), work), double(PIECE)))
        if above is not False:
            is_large = b.and_(is_large, b.not_(above))
        with b.if_then(is_large, likely=False):
            several = b.fptosi(b.fdiv(double(PIECE), work), self.int)
            b.store(b.select(b.icmp_signed(">", several, self.number(1)), several, self.number(1)), found)
        return b.load(found)

    def spend_many(self, work: Any, trips: Any, above: Any) -> None:
        """Writes code that counts ``trips`` iterations of this ``work`` and polls, if they are more than `MANY`.

        For few it would take longer than the work. ``above``, False or a bit: an outer loop counts it.
        """
        b = self.builder
        is_many = b.icmp_signed(">", trips, self.number(MANY))
        with b.if_then(is_many if above is False else b.and_(is_many, b.not_(above)), likely=False):
            self.spend_trips(work, trips)
            self.ask()

    def spend_trips(self, work: Any, trips: Any) -> None:
        """Subtracts ``trips``, an LLVM integer, times ``work``, an int or an LLVM double, from the remaining work.

        With a double at most `LONGEST` is subtracted.
        """
        b = self.builder
        if isinstance(work, int):
            self.spend(b.mul(trips, self.number(work)))
            return
        total, most = b.fmul(b.sitofp(trips, work.type), work), work.type(float(LONGEST))
        self.spend(b.fptosi(b.select(b.fcmp_ordered("<", total, most), total, most), self.int))

    # ---- calls

    def before_call(self, stmt: nodes.Call, args: Sequence[Any]) -> None:
        """Counts the work of a library call on arrays, and polls before it; nothing if no argument is an array.

        ``args`` are the values of the arguments.
        """
        arrays = [a for a in args if isinstance(a, Array)]
        if self.watch is None or not arrays:
            return
        b, module = self.builder, stmt.library.partition(".")[0]
        if module in ("blas", *_CUBIC):
            whole = max(arrays, key=lambda a: len(a.sizes))
            total = b.mul(self.product(whole), self.other(arrays, whole, module))
        else:
            total = self.number(0)
            for a in arrays:
                total = b.add(total, b.mul(self.product(a), self.number(_PER_ELEMENT)))
        limit = self.number(LONGEST)
        self.spend(b.select(b.icmp_unsigned("<", total, limit), total, limit))
        self.ask()

    def product(self, array: Array) -> Any:
        """The number of elements of an array, an LLVM integer."""
        total = self.number(1)
        for n in array.sizes:
            total = self.builder.mul(total, n)
        return total

    def other(self, arrays: Sequence[Array], whole: Array, module: str) -> Any:
        """The factor of a product's work beside the number of elements of ``whole``, an LLVM integer.

        It is the number of columns of the first other matrix, 1 if there is none; in `linalg` that of columns of ``whole``.
        """
        if module in _CUBIC:
            return whole.sizes[-1] if whole.sizes else self.number(1)
        others = [a for a in arrays if a is not whole and len(a.sizes) == 2]
        return others[0].sizes[1] if others else self.number(1)
