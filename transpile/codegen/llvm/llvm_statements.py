"""Control flow and memory: one method for each kind of statement of lowered core."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from transpile.analysis.messages import is_other_sizes, message, site
from transpile.codegen.llvm import function_calls, packet_instructions, threads
from transpile.codegen.llvm.hints import describe, group_of_accesses
from transpile.codegen.llvm.llvm_values import Array, Packet, Scalar, Unsupported, Value, scalar_type
from transpile.codegen.llvm.long_call_code import cost
from transpile.codegen.llvm.operands import Operands, plain
from transpile.codegen.llvm.scalar_instructions import named
from transpile.core import nodes as ir
from transpile.core.packets import has_lanes
from transpile.core.types import Type
from transpile.loops.short_vectors import lanes_of
from transpile.ops.tables import record_of
from transpile.ops.traits import NOT_EQUAL


@dataclass(frozen=True, slots=True)
class Cells:
    """Memory in the stack frame for a value passed between blocks.

    It holds a number, the parts of an array, or the elements of a small array.
    """

    places: Sequence[Any]
    array: Array | None = None
    sizes: Sequence[int] = ()


class Statements(Operands):
    # ---- blocks

    """Writes the statements of a function: a method for each kind, most of which bind the results in ``values``."""

    def block(self, block: ir.Block) -> None:
        """Writes the statements of a block, in the open block of memory; `Unsupported` for a kind without a method."""
        for stmt in block.stmts:
            method = _STATEMENTS.get(type(stmt))
            if method is None:
                raise Unsupported(type(stmt).__name__)
            before = self.loc
            self.loc = stmt.loc if stmt.loc.file else before
            method(self, stmt)
            self.loc = before

    # ---- lets

    def let(self, stmt: ir.Let) -> None:
        """Writes a *let* and binds its variable to the value."""
        self.lets[stmt.var] = stmt
        if has_lanes(stmt):
            self.values[stmt.var] = packet_instructions.let(self, stmt)
            return
        method = Statements.called if record_of(stmt).is_call else _LETS.get(stmt.prim)
        if method is not None:
            self.values[stmt.var] = method(self, stmt)
            return
        result = scalar_type(stmt.var.type)
        args = [self.scalar(a) for a in stmt.args]
        element = record_of(stmt).element_of([a.type for a in stmt.args], stmt.var.type, stmt.params)
        if element is None:
            raise Unsupported(stmt.prim)
        found = self.element(element, args, result)
        self.values[stmt.var] = self.cast(found, result)

    def read(self, stmt: ir.Let) -> Value:
        """The element that an ``index`` reads; if its operand is a number, that number."""
        array = self.value(stmt.args[0])
        if isinstance(array, Scalar):
            return array
        return self.load(array, [self.index(i) for i in stmt.args[1:]])

    def size(self, stmt: ir.Let) -> Value:
        """The size of an axis of an array."""
        return Scalar(self.whole(stmt.args[0]).sizes[stmt.params["axis"]], self.types.intp)

    def converted(self, stmt: ir.Let) -> Value:
        """The value of a cast; to bool it is whether the number is not 0."""
        (op,), to = stmt.args, stmt.var.type
        x, wanted = self.scalar(op), scalar_type(to)
        if to.dtype == "bool" and not op.type.is_bool:
            zero = self.constant(plain(0, op.type), x.type)
            return self.comparison("!=", x, zero)
        return self.cast(x, wanted)

    def called(self, stmt: ir.Let) -> Value:
        """The result of a runtime function that the primitive names: a tuple, or a number of the dtype of the variable."""
        found = self.call(named(stmt.prim), [self.value(a) for a in stmt.args])
        self.held(found)
        return found if isinstance(found.type, self.types.BaseTuple) else self.cast(found, scalar_type(stmt.var.type))

    def calls(self, stmt: ir.Call) -> None:
        """Writes a call of a kept or library function and binds its results; of several only those that are read somewhere."""
        if isinstance(stmt.function, ir.Kept):
            found = function_calls.call(self, stmt)
        else:
            given = [self.value(a) for a in stmt.args]
            self.before_call(stmt, given)
            found = self.call(named(stmt.library), given)
        self.held(found)
        if len(stmt.results) == 1:
            self.values[stmt.results[0]] = self.result(found, stmt.results[0])
        for k, result in enumerate(stmt.results if len(stmt.results) > 1 else ()):
            if result not in self.read_somewhere:
                continue
            one = Scalar(self.builder.extract_value(found.value, k), found.type[k])
            self.values[result] = self.result(one, result)

    def result(self, found: Scalar, var: ir.Var) -> Value:
        """The result of a call as a value: an array, a number cast to the dtype of ``var``, or else ``found`` itself."""
        if isinstance(found.type, self.types.Array):
            return self.array(found)
        return self.cast(found, scalar_type(var.type)) if not var.type.dims else found

    def item(self, stmt: ir.Let) -> Value:
        """The value of one member of a tuple."""
        whole, k = self.scalar(stmt.args[0]), stmt.params["k"]
        found = Scalar(self.builder.extract_value(whole.value, k), whole.type[k])
        if isinstance(found.type, self.types.Array):
            return self.array(found)
        return self.cast(found, scalar_type(stmt.var.type))

    def view(self, stmt: ir.View) -> None:
        """Binds the variable of a view, which has the memory of its base."""
        array, args = self.whole(stmt.base), [self.index(n) for n in stmt.args[1:]]
        self.lets[stmt.var] = stmt
        match stmt.step:
            case ir.Reshape():
                self.values[stmt.var] = self.in_order(array, tuple(args))
            case ir.Permute():
                self.values[stmt.var] = self.turned(array)
            case ir.Index(items):
                self.values[stmt.var] = self.part(array, items, args)

    def in_order(self, array: Array, sizes: tuple[Any, ...]) -> Array:
        """The C-contiguous array with other sizes, the same memory; `Unsupported` if the array has strides."""
        if array.strides is not None:
            raise Unsupported("a view of what does not lie in C order")
        return Array(array.dtype, array.data, sizes, None, array.meminfo, array.root)

    # ---- memory

    def alloc(self, stmt: ir.Alloc) -> None:
        """Binds a new array, in the stack frame or on the heap, where the open block owns it; its content is undefined."""
        if stmt.space == "frame":
            sizes = [n.value for n in stmt.args if isinstance(n, ir.Const)]
            self.values[stmt.var] = self.local(scalar_type(stmt.var.type), sizes, stmt.var)
            return
        array = self.made(scalar_type(stmt.var.type), [self.index(n) for n in stmt.args], stmt.var)
        self.hold(array.meminfo)
        self.values[stmt.var] = array

    def write(self, stmt: ir.Store | ir.Add) -> None:
        """Writes a store of an element, or the addition of a value to it."""
        array = self.whole(stmt.buf)
        indices = [self.index(stmt.args[i.arg]) for step in stmt.path for i in step.items]  # type: ignore[union-attr]
        value = self.scalar(stmt.value)
        if isinstance(stmt, ir.Add):
            # as ``array[indices] += value``
            value = self.infix("+", self.load(array, indices), value)
        self.store(array, indices, value)

    def packet_read(self, stmt: ir.PacketRead) -> None:
        self.values[stmt.var] = packet_instructions.read(self, stmt)

    def packet_store(self, stmt: ir.PacketStore) -> None:
        packet_instructions.store(self, stmt)

    def new_stack(self, stmt: ir.NewStack) -> None:
        type_ = stmt.var.type
        self.stacks[stmt.var] = self.stack(scalar_type(Type(type_.dtype)), len(type_.dims), self.small.of(stmt.var))

    def push(self, stmt: ir.Push) -> None:
        self.pushed(self.stacks[stmt.stack], self.value(stmt.value))

    def pop(self, stmt: ir.Pop) -> None:
        last = self.popped(self.stacks[stmt.stack])
        self.values[stmt.var] = last if isinstance(last, Array) else self.cast(last, scalar_type(stmt.var.type))

    # ---- values passed between blocks

    def carried(self, var: ir.Var) -> Cells:
        """New cells for a value of the variable.

        An array passed by value has a local array for its elements; any other has an owner's cell and cells for its address and
        sizes.
        """
        dtype = scalar_type(Type(var.type.dtype))
        if var.type.lanes:
            return Cells([self.cell(packet_instructions.vector(self, var.type))])
        if not var.type.dims:
            return Cells([self.cell(self.context.get_value_type(dtype))])
        sizes = self.small.of(var)
        if sizes is not None:
            return Cells([], self.local(dtype, sizes), sizes)
        _, *rest = self.nothing(dtype, len(var.type.dims)).parts
        return Cells([self.owner(), *(self.cell(p.type) for p in rest)])

    def parts(self, cells: Cells, value: Value, type_: Type) -> list[Any]:
        """The LLVM values to store in the cells for a value: its own parts, or its elements if it is passed by value.

        A number is cast to the dtype of ``type_``. `Unsupported` for an array with strides that is not passed by value.
        """
        if isinstance(value, Packet):
            return [value.value]
        if not isinstance(value, Array):
            return [self.cast(value, scalar_type(type_)).value]
        if cells.array is not None:
            return [self.load(value, at) for at in self.elements(cells.sizes)]
        if value.strides is not None:
            raise Unsupported("an array that is carried and does not lie in C order")
        return list(value.parts)

    def put(self, cells: Cells, parts: Sequence[Any]) -> None:
        """Writes stores of these parts into the cells."""
        if cells.array is not None:
            for at, part in zip(self.elements(cells.sizes), parts):
                self.store(cells.array, at, part)
        for cell, part in zip(cells.places, parts):
            self.builder.store(part, cell)

    def get(self, cells: Cells, type_: Type) -> Value:
        """The value now in the cells, of this type; an array passed by value is the cells' own array, uncopied."""
        if cells.array is not None:
            return cells.array
        parts = [self.builder.load(c) for c in cells.places]
        if type_.lanes:
            return Packet(parts[0], scalar_type(Type(type_.dtype)))
        if not type_.dims:
            return Scalar(parts[0], scalar_type(type_))
        return self.nothing(scalar_type(type_), len(type_.dims)).with_parts(parts)

    def keep(self, cells: Cells, var: ir.Var) -> None:
        """Binds ``var`` to the value in the cells. The open block owns an array's memory from here on, unless it is passed by
        value."""
        found = self.get(cells, var.type)
        if isinstance(found, Array) and cells.array is None:
            self.blocks[-1][found.meminfo] = cells.places[0]
        self.values[var] = found

    def handed(self, block: ir.Block, cells: Sequence[Cells], types: Sequence[Type]) -> list[list[Any]]:
        """The parts that the open block stores in the ``cells`` at its end, a list for each value it yields.

        They are not stored yet. Memory in them has a reference of its own, which outlives the block.
        """
        found = []
        for own, op, type_ in zip(cells, block.yields, types):
            value = self.value(op)
            if own.array is None:
                value = self.taken(value)
            if isinstance(op, ir.Undef) and own.array is not None:
                found.append([self.constant(plain(0, Type(type_.dtype)), own.array.dtype)] * math.prod(own.sizes))
            else:
                found.append(self.parts(own, value, type_))
        return found

    def branch(self, stmt: ir.If) -> None:
        """Writes a branch; at the top level one that tests a size for this specialisation also makes the size known
        afterwards."""
        self.divided(stmt)
        if len(self.blocks) == 1 and any(is_other_sizes(s) for s in stmt.then.stmts):
            self.agree(stmt.test)

    def agree(self, test: ir.Operand) -> None:
        """After a test that two sizes differ, which has left the function if so, replaces one size by the other.

        ``test``: the operand of the test. LLVM then sees one value, also in other functions.
        """
        let = self.lets.get(test) if isinstance(test, ir.Var) else None
        if let is None or record_of(let).relation is not NOT_EQUAL:
            return
        asked, known = let.args
        size = self.lets.get(asked) if isinstance(asked, ir.Var) else None
        if size is None or size.prim != "dim" or not isinstance(size.args[0], ir.Var):
            return
        array, value = self.whole(size.args[0]), self.index(known)
        axis = size.params["axis"]
        self.values[size.args[0]] = replace(array, sizes=(*array.sizes[:axis], value, *array.sizes[axis + 1 :]))

    def divided(self, stmt: ir.If) -> None:
        """Writes a branch with both sides, and binds its results."""
        test = self.truth(self.scalar(stmt.test))
        cells = [self.carried(r) for r in stmt.results]
        with self.builder.if_else(test) as (then, otherwise):
            for side, block in ((then, stmt.then), (otherwise, stmt.orelse)):
                with side:
                    self.side(block, stmt.results, cells)
        for result, own in zip(stmt.results, cells):
            self.keep(own, result)

    def side(self, block: ir.Block, results: Sequence[ir.Var], cells: Sequence[Cells]) -> None:
        """Writes one side of a branch, and stores its values in the cells of the branch's ``results``."""
        self.open()
        self.block(block)
        found = self.handed(block, cells, [r.type for r in results])
        self.close()
        for own, parts in zip(cells, found):
            self.put(own, parts)

    # ---- loops

    def loop(self, stmt: ir.For) -> None:
        if stmt.kind == "parallel":
            threads.loop(self, stmt)
        else:
            self.counted(stmt)

    def counted(self, stmt: ir.For) -> None:
        """Writes a `For` as a loop in this thread, forwards or backwards; `Unsupported` if its step is not a constant."""
        if not isinstance(stmt.step, ir.Const) or not isinstance(stmt.step.value, int) or not stmt.step.value:
            raise Unsupported("a step that is not known")
        b, start, bound, step = self.builder, self.index(stmt.start), self.index(stmt.bound), stmt.step.value
        natural = step == 1 and not stmt.backwards
        trips = None if natural else self.no_more(self.trips(start, bound, step), stmt)
        first, last = (start, bound) if natural else (self.number(0), trips)
        with self.frame(stmt) as (_, carry):
            counter = self.cell(self.int)
            b.store(first, counter)
            head, body, end = (b.function.append_basic_block(n) for n in ("loop", "trip", "end"))
            with self.watched(stmt, counter, last, end) as (last_here, after, asks):
                b.branch(head)
                b.position_at_end(head)
                at = b.load(counter)
                b.cbranch(b.icmp_signed("<", at, last_here), body, after)
                b.position_at_end(body)
                index = at
                if not natural:
                    k = b.sub(b.sub(trips, self.number(1)), at) if stmt.backwards else at
                    index = b.add(start, b.mul(k, self.number(step)))
                self.values[stmt.index] = self.cast(Scalar(index, self.types.intp), scalar_type(stmt.index.type))
                self.group = group_of_accesses(self.module) if stmt.index in self.apart else None
                stop = carry()
                b.store(b.add(at, self.number(1), flags=["nsw"]), counter)
                back = self.back(stop, head, end, stmt if asks else None)
                describe(self.module, back, stmt, self.group, lanes_of(stmt), self.is_large)
                self.group = None

    def back(self, stop: Any, head: Any, end: Any, asks: ir.For | ir.While | None) -> Any:
        """Writes the branch to the next iteration, at ``head``, or to ``end`` if the bit ``stop`` holds; gives the instruction.

        ``head`` and ``end`` are blocks; ``stop`` None goes on. ``asks``: the loop, if it spends its work and polls the watch
        first, else None.
        """
        b = self.builder
        if asks is not None:
            if stop is not None:
                go_on = b.function.append_basic_block("next")
                b.cbranch(stop, end, go_on)
                b.position_at_end(go_on)
                stop = None
            self.spend(self.number(cost(asks.body)))
            self.ask()
        return b.branch(head) if stop is None else b.cbranch(stop, end, head)

    def trips(self, start: Any, bound: Any, step: int) -> Any:
        """The length of ``range(start, bound, step)`` as an LLVM integer, to be read as unsigned: so it holds any
        difference."""
        b = self.builder
        first, last = (start, bound) if step > 0 else (bound, start)
        span = b.sub(b.sub(last, first), self.number(1))
        count = span if abs(step) == 1 else b.udiv(span, self.number(abs(step)))
        return b.select(b.icmp_signed("<", first, last), b.add(count, self.number(1)), self.number(0))

    def no_more(self, trips: Any, stmt: ir.For) -> Any:
        """The trip count, an LLVM integer, limited to the largest signed number: no loop completes more iterations.

        A loop that runs backwards needs no limit: the forward loop has completed as many.
        """
        b, step = self.builder, stmt.step.value  # type: ignore[union-attr]  # checked in counted()
        is_short = step < 0 and isinstance(stmt.bound, ir.Const) and stmt.bound.value >= 0
        if stmt.backwards or is_short or abs(step) > 2:
            return trips
        return b.select(b.icmp_signed("<", trips, self.number(0)), self.number(2**63 - 1), trips)

    def repeat(self, stmt: ir.While) -> None:
        """Writes a `While` loop."""
        b = self.builder
        with self.frame(stmt) as (cells, carry), self.nested():
            head, body, end = (b.function.append_basic_block(n) for n in ("loop", "trip", "end"))
            b.branch(head)
            b.position_at_end(head)
            for own, param in zip(cells, stmt.test.params):
                self.values[param] = self.get(own, param.type)
            self.open()
            self.block(stmt.test)
            test = self.truth(self.scalar(stmt.test.yields[0]))
            self.close()
            b.cbranch(test, body, end)
            b.position_at_end(body)
            stop = carry()
            describe(self.module, self.back(stop, head, end, stmt if self.watch is not None else None), stmt)
            b.position_at_end(end)

    @contextmanager
    def frame(self, stmt: ir.For | ir.While) -> Iterator[tuple[list[Cells], Callable[[], Any]]]:
        """A context for a loop: gives the cells of its carried values, one for each, and a function ``trip``.

        ``trip`` writes an iteration with the next carried values, and returns the bit that ends the loop, or None. At its end
        the context binds the results of the loop.
        """
        b, body = self.builder, stmt.body
        cells = [self.carried(p) for p in body.params]
        for own, init, param in zip(cells, stmt.inits, body.params):
            if own.array is not None and isinstance(init, ir.Undef):
                continue
            value = self.value(init)
            if isinstance(value, Array) and own.array is None:
                self.count_up(value.meminfo)
            self.put(own, self.parts(own, value, param.type))
        trips = None
        if stmt.trips is not None:
            trips = self.cell(self.int)
            b.store(self.number(0), trips)

        def trip() -> Any:
            for own, param in zip(cells, body.params):
                self.values[param] = self.get(own, param.type)
            self.open()
            self.block(body)
            stop = None if body.stop is None else self.truth(self.scalar(body.stop))
            found = self.handed(body, cells, [p.type for p in body.params])
            self.close()
            for own, param, parts in zip(cells, body.params, found):
                old = self.values[param]
                if isinstance(old, Array) and own.array is None:
                    self.count_down(old.meminfo)
                self.put(own, parts)
            if trips is not None:
                b.store(b.add(b.load(trips), self.number(1)), trips)
            return stop

        yield cells, trip
        for own, result in zip(cells, stmt.results):
            self.keep(own, result)
        for own, param in list(zip(cells, body.params))[len(stmt.results) :]:  # unread results
            if param.type.dims:
                self.keep(own, ir.Var("", param.type))
        if trips is not None and stmt.trips is not None:
            self.values[stmt.trips] = Scalar(b.load(trips), self.types.intp)

    # ---- effects

    def check(self, stmt: ir.Check) -> None:
        """Writes a check, which raises its exception if its test holds."""
        self.fail_if(self.truth(self.scalar(stmt.test)), f"errors.{stmt.exception}_", (self.site(stmt),))

    def check_bounds(self, stmt: ir.BoundsCheck) -> None:
        """Writes a check that raises if the subscript is not less than the size or, if the statement says so, is negative.

        If it has a guard, only where that holds.
        """
        b = self.builder
        at, size, given, *guard = (self.scalar(a) for a in stmt.operands)
        compare = b.icmp_unsigned if stmt.low else b.icmp_signed  # as an unsigned number a negative one is large
        wrong = compare(">=", at.value, size.value)
        if guard:
            wrong = b.and_(self.truth(guard[0]), wrong)
        self.fail_if(wrong, f"errors.{stmt.exception}_", (self.site(stmt), given, size))

    def raise_(self, stmt: ir.Raise) -> None:
        """Writes a ``raise``; what follows goes into a block that is never reached."""
        if is_other_sizes(stmt):
            self.fail("again.OtherSizes", ())
        else:
            self.fail(f"errors.{stmt.exception}_", (self.site(stmt), *(self.value(a) for a in stmt.args)))
        self.builder.position_at_end(self.builder.function.append_basic_block("unreachable"))

    def show(self, stmt: ir.Print) -> None:
        """Writes a call into the interpreter that prints the message, with a tuple of the values, which is not empty."""
        values = [self.value(a) for a in stmt.args] or [self.constant(0, self.types.int64)]
        given = [self.struct(v) if isinstance(v, Array) else v for v in values]
        type_ = self.types.BaseTuple.from_types(tuple([v.type for v in given]))
        whole = self.context.make_tuple(self.builder, type_, [v.value for v in given])
        self.call(named("errors.say"), (self.site(stmt), Scalar(whole, type_)))

    def site(self, stmt: ir.Effect) -> Scalar:
        """The number of the statement's message, as a constant of LLVM."""
        return self.constant(site(message(stmt)), self.types.int64)


_LETS: dict[str, Callable[[Statements, ir.Let], Value]] = {
    "index": Statements.read,
    "dim": Statements.size,
    "cast": Statements.converted,
    "item": Statements.item,
}
_STATEMENTS: dict[type, Callable[[Statements, Any], None]] = {
    ir.Let: Statements.let,
    ir.View: Statements.view,
    ir.Call: Statements.calls,
    ir.Alloc: Statements.alloc,
    ir.Store: Statements.write,
    ir.PacketRead: Statements.packet_read,
    ir.PacketStore: Statements.packet_store,
    ir.Add: Statements.write,
    ir.If: Statements.branch,
    ir.For: Statements.loop,
    ir.While: Statements.repeat,
    ir.NewStack: Statements.new_stack,
    ir.Push: Statements.push,
    ir.Pop: Statements.pop,
    ir.Print: Statements.show,
    ir.Raise: Statements.raise_,
    ir.Check: Statements.check,
    ir.BoundsCheck: Statements.check_bounds,
}
