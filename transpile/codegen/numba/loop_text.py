"""Prints lowered core as one Numba function: scalar statements, element accesses, loops and calls of `transpile_runtime`.

Every variable has one Python name. A value that is read once is printed where it is read, unless a write lies in between.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from transpile.analysis.messages import is_other_sizes, message, site
from transpile.codegen.checked_arithmetic import wrapping
from transpile.codegen.entry_guard import Guard
from transpile.codegen.expression_nodes import LOAD, boolean, call, dotted, number, operator
from transpile.codegen.layout import Line
from transpile.codegen.numba.guard_tests import tests
from transpile.codegen.numba.kernel_names import shared_names
from transpile.codegen.numba.kernel_nodes import (
    attribute,
    constant,
    dtype_node,
    is_natural,
    less_one,
    listed,
    mentions,
    part,
    undefined,
)
from transpile.codegen.numba.numba_scalars import element_node, is_narrow
from transpile.codegen.numba.range_lengths import Lengths
from transpile.codegen.numba.value_reach import Reach, is_call, reaches
from transpile.codegen.printer import flat
from transpile.core import nodes as ir
from transpile.core.types import INT, Type
from transpile.core.walk import statements, uses
from transpile.errors import error
from transpile.loops.check_hoisting import raises
from transpile.loops.small_integers import Small
from transpile.ops.tables import record_of

_WIDTH = 88  # an expression longer than this is assigned to a variable

MODULES = (
    "again",
    "arrays",
    "blas",
    "draws",
    "entry",
    "errors",
    "intmath",
    "linalg",
    "random",
    "scalars",
    "shares",
    "special",
    "vector",
)
"""The modules of `transpile_runtime.compiled` that the text may name."""

RESERVED = (*MODULES, *"prange np math njit range stop float int max min bool".split())


def emit(fn: ir.Function, taken: Sequence[str] = (), guard: Guard | None = None) -> list[Line]:
    """The lines of a lowered function, without decorator; ``taken`` names are not used for variables.

    With a ``guard`` it begins with tests that raise ``again.Again`` for a call that does not fit.
    """
    return _Emitter(fn, taken).function(guard)


def kernel_variables(fn: ir.Function) -> dict[ir.Var, str]:
    """Maps the variables of a lowered function to their names in its text; variables that its text does not name are left
    out."""
    emitter = _Emitter(fn, ())
    emitter.function(None)
    return {var: emitter.name(var) for var in (*emitter.names, *emitter.same)}


class _Emitter:
    """Writes the lines of one function: methods for statements append to ``lines``, those for values return nodes."""

    def __init__(self, fn: ir.Function, taken: Sequence[str]) -> None:
        self.fn = fn
        self.lines: list[Line] = []
        self.names: dict[ir.Var, str] = {}
        self.has_threads = any(isinstance(s, ir.For) and s.kind == "parallel" for s in statements(fn.body))
        self.taken: set[str] = {*RESERVED, *keyword.kwlist, fn.name, *taken}
        self.count = Counter(o for o in uses(fn.body) if isinstance(o, ir.Var))
        self.same = shared_names(fn)
        self.once: set[ir.Var] = set()  # results of calls read once, in their block
        self.inline: dict[ir.Var, tuple[ast.expr, bool]] = {}
        self.loc = ir.NOWHERE
        self.lets = {s.var: s for s in statements(fn.body) if isinstance(s, ir.Let)}
        self.small = Small(fn)
        self.wrapping = wrapping(fn)
        self.steady: set[ir.Var] = set()  # loop indices known not to be negative
        self.released: dict[str, list[str]] = {}  # names of loop indices whose loops have ended

    # ---- names

    def name(self, var: ir.Var) -> str:
        """The name of a variable, chosen at the first request; variables of `shared_names` have the name of another."""
        var = self.same.get(var, var)
        if var not in self.names:
            self.names[var] = self.fresh(var.name)
        return self.names[var]

    def fresh(self, wanted: str) -> str:
        """A name like ``wanted`` that no other variable has; it counts as taken from then on."""
        base = "".join(c if c.isalnum() or c == "_" else "_" for c in wanted) or "t"
        base = base if not base[0].isdigit() else f"_{base}"
        between = "_"
        if self.has_threads:  # Numba itself renames the second ``x`` of a parallel loop to ``x_2``
            base, between = f"{base}_" if re.search(r"_\d+$", base) else base, ""
        found, k = base, 1
        while found in self.taken:
            k += 1
            found = f"{base}{between}{k}"
        self.taken.add(found)
        return found

    def index(self, var: ir.Var) -> str:
        """The name of a loop index: that of an earlier loop's index, which has ended, if it has the same name; else a new
        one."""
        found = self.released.get(var.name)
        if found:
            self.names[var] = found.pop()
        return self.name(var)

    # ---- operands

    def plain(self, op: ir.Operand) -> ast.expr:
        """The node of an operand: a constant, an arbitrary value, the expression held for printing here, or a variable."""
        if isinstance(op, ir.Const):
            return constant(op)
        if isinstance(op, ir.Undef):
            return undefined(op.type)
        held = self.inline.get(op)
        return held[0] if held is not None else self.variable(op)

    def variable(self, var: ir.Var) -> ast.expr:
        return ast.Name(self.name(var), LOAD)

    def all(self, operands: Sequence[ir.Operand]) -> list[ast.expr]:
        return [self.plain(o) for o in operands]

    def typed(self, op: ir.Operand) -> ast.expr:
        """The node of an argument of a kept function; an int64 constant becomes ``np.int64(...)``.

        For a literal Numba would compile a version of the function of its own.
        """
        node = self.plain(op)
        return call(dotted("np.int64"), node) if isinstance(op, ir.Const) and op.type.dtype == "int64" else node

    # ---- function and blocks

    def function(self, guard: Guard | None) -> list[Line]:
        """The lines of the whole function, with the tests of the ``guard`` first unless it is None."""
        self.loc = self.fn.loc
        self.put(0, f"def {self.fn.name}", call(ast.Name("", LOAD), *map(self.variable, self.fn.params)), ":")
        for test in tests(guard, [self.variable(p) for p in self.fn.params]) if guard is not None else ():
            self.lines += [Line(1, ("if ", test, ":")), Line(2, ("raise ", dotted("again.Again")))]
        self.block(self.fn.body, 1)
        self.loc = self.fn.loc
        self.put(1, "return", *([" ", *listed(self.all(self.fn.body.yields))] if self.fn.body.yields else []))
        return self.lines

    def put(self, depth: int, *parts: str | ast.expr) -> None:
        """Appends a line at this depth, made of text and nodes, for the user's current line."""
        self.lines.append(Line(depth, parts, self.loc))

    def block(self, block: ir.Block, depth: int) -> None:
        """Writes the statements of a block."""
        plan = reaches(block, self.count, self.once)
        for k, stmt in enumerate(block.stmts):
            self.loc = stmt.loc
            self.statement(stmt, depth, plan[k])

    def statement(self, stmt: ir.Stmt, depth: int, plan: Reach) -> None:
        _STATEMENTS[type(stmt)](self, stmt, depth, plan)

    def let(self, stmt: ir.Let, depth: int, plan: Reach) -> None:
        """Writes ``var = value``; a value that is read once may instead be kept in ``inline``, to be printed where it is read.

        It may if it is a scalar or a view, no call, is not too long, and reads nothing that is written before that.
        """
        node = self.value(stmt)
        held = [self.inline[a] for a in stmt.args if isinstance(a, ir.Var) and a in self.inline]
        has_read = stmt.prim == "index" or any(h[1] for h in held)
        may = plan.once and stmt.var.type.kind == "array" and not is_call(stmt)
        may = may and (not stmt.var.type.dims or isinstance(stmt, ir.View))
        if may and not (has_read and plan.barrier) and len(flat(node)) < _WIDTH:
            self.inline[stmt.var] = (node, has_read)
        elif is_call(stmt) and not self.count[stmt.var]:
            self.put(depth, node)  # called for its side effect
        else:
            self.assign(depth, stmt.var, node)

    def assign(self, depth: int, var: ir.Var, node: ast.expr) -> None:
        """Writes ``var = node``, unless the node is that variable."""
        name = self.name(var)
        if not (isinstance(node, ast.Name) and node.id == name):
            self.put(depth, f"{name} = ", node)

    def called(self, stmt: ir.Let) -> ast.expr:
        """The node of a call of a runtime function, which the primitive names."""
        return call(dotted(stmt.prim), *self.all(stmt.args))

    def calls(self, stmt: ir.Call, depth: int, plan: Reach) -> None:
        """Writes a call of a kept or library function, and the assignments of its results that are read."""
        assert not isinstance(stmt.function, ir.Custom)
        given = map(self.typed, stmt.args) if isinstance(stmt.function, ir.Kept) else self.all(stmt.args)
        made = call(dotted(stmt.function.name), *given)
        if not any(self.count[r] for r in stmt.results):
            self.put(depth, made)
        elif len(stmt.results) == 1:
            self.assign(depth, stmt.results[0], made)
        else:
            self.several(stmt.results, made, depth)

    def several(self, results: Sequence[ir.Var], made: ast.expr, depth: int) -> None:
        """Writes ``t = made`` and assignments that unpack the tuple ``t`` into ``results``.

        A result that is never read gets none; a scalar that is read once is printed where it is read.
        """
        whole = self.fresh("")
        self.put(depth, f"{whole} = ", made)
        for k, result in enumerate(results):
            one = part(ast.Name(whole, LOAD), number(k))
            if result in self.once and not result.type.dims:
                self.inline[result] = (one, False)
            elif self.count[result]:
                self.assign(depth, result, one)

    def viewed(self, stmt: ir.View) -> ast.expr:
        """The node of a view: ``reshape(...)``, ``.T`` for any permutation, or a subscript."""
        base = self.plain(stmt.base)
        match stmt.step:
            case ir.Reshape():
                return call(attribute(base, "reshape"), self.shape(stmt.args[1:]))
            case ir.Permute():
                return attribute(base, "T")
        return part(base, *self.parts(stmt))

    def value(self, stmt: ir.Let) -> ast.expr:
        """The node of what a *let* computes, cast to the dtype of its variable if Numba would give another one.

        T501 if compiled code does not support the primitive.
        """
        if isinstance(stmt, ir.View):
            return self.viewed(stmt)
        if is_call(stmt):
            return self.called(stmt)
        match stmt.prim:
            case "index":
                return self.access(stmt.args[0], stmt.args[1:])
            case "dim":
                return part(attribute(self.plain(stmt.args[0]), "shape"), number(stmt.params["axis"]))
            case "cast":
                return self.cast(stmt.args[0], stmt.var.type)
            case "item":
                return part(self.plain(stmt.args[0]), number(stmt.params["k"]))
        if stmt.var in self.wrapping or (record_of(stmt).wraps and is_numpy_integer(stmt)):
            return call(dotted(record_of(stmt).wraps), *self.all(stmt.args))
        types = [a.type for a in stmt.args]
        element = record_of(stmt).element_of(types, stmt.var.type, stmt.params)
        if element is None:
            message = f"compiled code does not support {stmt.prim!r} yet"
            raise error("T501", message, stmt.loc, "call the function without jit")
        node = element_node(element, self.all(stmt.args))
        if is_natural(stmt.var.type) or is_narrow(stmt.prim, types, stmt.params):
            return node
        return call(dtype_node(stmt.var.type.dtype), node)

    def parts(self, stmt: ir.View) -> Iterator[ast.expr]:
        """Yields the subscripts of a view by `Index`: an index, a slice with both ends, or ``:``."""
        assert isinstance(stmt.step, ir.Index)
        args = stmt.args[1:]
        for item in stmt.step.items:
            match item:
                case ir.Point(arg):
                    yield self.plain(args[arg])
                case ir.Slice(int(start), int(stop)):
                    yield ast.Slice(self.plain(args[start]), self.plain(args[stop]))
                case _:
                    yield ast.Slice()

    def cast(self, op: ir.Operand, to: Type) -> ast.expr:
        """The node of an operand as a scalar of the dtype of ``to``, the operand's own node if it has that dtype.

        To bool it is whether the number is not 0. A float becomes uint8, uint16 or uint32 by way of int64.
        """
        node = self.plain(op)
        if op.type.dtype == to.dtype:
            return node
        match to.dtype:
            case "bool":
                return operator("!=", [node, number(0)])
            case "float64" | "int64" if op.type.is_bool:
                one, none = (1.0, 0.0) if to.dtype == "float64" else (1, 0)
                return ast.IfExp(node, number(one), number(none))
            case "float64" | "int64" if is_natural(op.type):  # float() of a float32 is a float32
                return call(ast.Name(to.dtype[:-2], LOAD), node)
            case "uint8" | "uint16" | "uint32" if op.type.is_float:
                node = call(dtype_node("int64"), node)
        return call(dtype_node(to.dtype), node)

    def access(self, root: ir.Operand, indices: Sequence[ir.Operand]) -> ast.expr:
        """The node of an element, ``root[i, j]``."""
        return part(self.plain(root), *map(self.subscript, indices))

    def subscript(self, op: ir.Operand) -> ast.expr:
        """The node of a subscript that is not negative: a call of ``np.uint64`` unless LLVM can see the sign.

        Numba tests the sign of a subscript unless it is unsigned, which prevents vectorisation by LLVM. The sign of a loop
        index, or of one plus a constant, is known to LLVM.
        """
        node = self.plain(op)
        return node if self.is_steady(op) else call(dotted("np.uint64"), node)

    def is_steady(self, op: ir.Operand) -> bool:
        """Whether LLVM can see the sign: a constant, an index of a loop that counts up from a constant that is not negative, or
        one of these plus or minus a constant."""
        if isinstance(op, ir.Const) or op in self.steady:
            return True
        let = self.lets.get(op) if isinstance(op, ir.Var) else None
        if let is None or not record_of(let).is_sum:
            return False
        a, b = let.args
        return (self.is_steady(a) and isinstance(b, ir.Const)) or (
            isinstance(a, ir.Const) and self.is_steady(b) and not record_of(let).is_difference
        )

    def shape(self, sizes: Sequence[ir.Operand]) -> ast.expr:
        """The tuple of the sizes, as a node."""
        return ast.Tuple(self.all(sizes), LOAD)

    # ---- statements

    def alloc(self, stmt: ir.Alloc, depth: int, plan: Reach) -> None:
        made = call(dotted("np.empty"), self.shape(stmt.args), dtype_node(stmt.var.type.dtype))
        self.assign(depth, stmt.var, made)

    def store(self, stmt: ir.Store | ir.Add, depth: int, plan: Reach) -> None:
        place = self.access(stmt.buf, [stmt.args[i.arg] for i in _points(stmt)])
        self.put(depth, place, " += " if isinstance(stmt, ir.Add) else " = ", self.plain(stmt.value))

    def branch(self, stmt: ir.If, depth: int, plan: Reach) -> None:
        """Writes ``if`` with both sides; ``else`` is left out if its side writes nothing."""
        loc = stmt.loc
        self.put(depth, "if ", self.plain(stmt.test), ":")
        self.inside(loc, depth + 1, lambda: self.side(stmt.then, stmt.results, depth + 1))
        start = len(self.lines)
        self.loc = loc
        self.put(depth, "else:")
        self.side(stmt.orelse, stmt.results, depth + 1)
        if len(self.lines) == start + 1:
            self.lines.pop()

    def inside(self, loc: ir.Loc, depth: int, write: Callable[[], None]) -> None:
        """Calls ``write``, which writes a body at ``depth``, and writes ``pass`` if it wrote no line."""
        start = len(self.lines)
        write()
        if len(self.lines) == start:
            self.loc = loc
            self.put(depth, "pass")

    def side(self, block: ir.Block, results: Sequence[ir.Var], depth: int) -> None:
        """Writes one side of a branch, then the assignments of its values to the branch's results."""
        self.block(block, depth)
        for result, out in zip(results, block.yields):
            self.assign(depth, result, self.plain(out))

    def loop(self, stmt: ir.For, depth: int, plan: Reach) -> None:
        """Writes a ``for`` loop with its carried values; a parallel one over ``prange``, unless it may raise."""
        trips = self.begin(stmt, depth)
        span = self.range(stmt)
        index = self.index(stmt.index)
        is_parallel = stmt.kind == "parallel"
        remark = ""
        if is_parallel and raises(stmt):
            remark = "  # on threads"  # Numba's prange cannot raise: if Numba compiles this text, the loop is serial
        elif is_parallel:
            span = call(ast.Name("prange", LOAD), *span.args)
        self.put(depth, f"for {index} in ", span, f":{remark}")
        match stmt.start, stmt.step:
            case ir.Const(value=first), ir.Const(value=step) if first >= 0 and step > 0:
                self.steady.add(stmt.index)
        self.inside(stmt.loc, depth + 1, lambda: self.turn(stmt, depth + 1, trips))
        self.released.setdefault(stmt.index.name, []).append(index)

    def range(self, stmt: ir.For) -> ast.Call:
        """The node of the loop's range, as a call; a loop that runs backwards gives its numbers from the last to the first."""
        start, step = stmt.start, stmt.step
        if stmt.backwards and ir.is_literal(step, 1):
            return self.downwards(stmt)
        ends = [self.plain(start), self.stop(stmt), self.plain(step)]
        if stmt.backwards:
            return call(dotted("arrays.backwards"), *ends)
        if ir.is_literal(step, 1):
            ends = [ends[1]] if ir.is_literal(start, 0) else ends[:2]
        return call(ast.Name("range", LOAD), *ends)

    def stop(self, stmt: ir.For) -> ast.expr:
        """The node of an end for the loop's range: its bound, unless the length of the range may not fit in 64 bits.

        Then it is ``max(bound, start)``, or a call of ``intmath.stop_of``, which gives an end that no loop runs long enough to
        reach.
        """
        bound = self.plain(stmt.bound)
        if ir.is_literal(stmt.start, 0) and ir.is_literal(stmt.step, 1) or id(stmt) not in self.lengths.long:
            return bound
        if isinstance(stmt.start, ir.Const) and stmt.start.value >= 0 and ir.is_literal(stmt.step, 1):
            return call(ast.Name("max", LOAD), bound, self.plain(stmt.start))
        return call(dotted("intmath.stop_of"), self.plain(stmt.start), bound, self.plain(stmt.step))

    @cached_property
    def lengths(self) -> Lengths:
        """The value ranges of the function, with the loops in ``long`` whose range may be too long for 64 bits; computed when
        first used."""
        return Lengths(self.fn)

    def downwards(self, stmt: ir.For) -> ast.Call:
        """The range from the last number down to the first, for a loop with step 1.

        An empty loop whose bound might be the least integer gets a limited end: there ``- 1`` would wrap, and the loop would
        run.
        """
        start, bound = stmt.start, stmt.bound
        is_small = self.small.is_small(start)
        first = less_one(self.plain(start), is_small)
        if ir.is_literal(start, 0):
            first = number(-1)
        if self.small.is_small(bound):
            last = less_one(self.plain(bound))
        else:
            last = less_one(call(ast.Name("max", LOAD), self.plain(bound), self.plain(start)), is_small)
        return call(ast.Name("range", LOAD), last, first, number(-1))

    def repeat(self, stmt: ir.While, depth: int, plan: Reach) -> None:
        """Writes ``while True:`` with the test, which breaks, at the beginning of the body."""
        trips = self.begin(stmt, depth)
        for param, twin in zip(stmt.body.params, stmt.test.params):
            self.names[twin] = self.name(param)
        loc = stmt.loc
        self.put(depth, "while True:")
        self.block(stmt.test, depth + 1)
        self.loc = loc
        self.put(depth + 1, "if ", ast.UnaryOp(ast.Not(), self.plain(stmt.test.yields[0])), ":")
        self.put(depth + 2, "break")
        self.turn(stmt, depth + 1, trips)

    def begin(self, stmt: ir.For | ir.While, depth: int) -> str | None:
        """Writes the initial values of carried variables, and 0 for the trip count if it is requested.

        Returns the name of the trip count, or None.
        """
        for param, init in zip(stmt.body.params, stmt.inits):
            self.assign(depth, param, self.plain(init))
        if stmt.trips is None:
            return None
        self.put(depth, f"{self.name(stmt.trips)} = 0")
        return self.name(stmt.trips)

    def turn(self, stmt: ir.For | ir.While, depth: int, trips: str | None) -> None:
        """Writes a loop's body: the block, the values it passes on, ``trips += 1`` unless ``trips`` is None, and ``break``.

        The condition of the ``break`` is evaluated before values are passed on.
        """
        body, loc = stmt.body, stmt.loc
        self.block(body, depth)
        self.loc = loc
        stop = None if body.stop is None else self.plain(body.stop)
        if stop is not None and not isinstance(stop, ast.Name):
            name = self.fresh("done")
            self.put(depth, f"{name} = ", stop)
            stop = ast.Name(name, LOAD)
        self.carry(body, depth)
        if trips is not None:
            self.put(depth, f"{trips} += 1")
        if stop is not None:
            self.put(depth, "if ", stop, ":")
            self.put(depth + 1, "break")

    def carry(self, body: ir.Block, depth: int) -> None:
        """Writes the assignments of the next carried values; one statement for all if one of them would overwrite what another
        reads."""
        pairs = [(p, self.plain(y)) for p, y in zip(body.params, body.yields)]
        pairs = [(p, node) for p, node in pairs if not (isinstance(node, ast.Name) and node.id == self.name(p))]
        clash = any(mentions(node, self.name(p)) for k, (p, _) in enumerate(pairs) for _, node in pairs[k + 1 :])
        if clash:
            self.put(depth, f"{', '.join(self.name(p) for p, _ in pairs)} = ", *listed([node for _, node in pairs]))
            return
        for param, node in pairs:
            self.assign(depth, param, node)

    def new_stack(self, stmt: ir.NewStack, depth: int, plan: Reach) -> None:
        """Writes a new empty list, as a comprehension from which Numba infers the type of its elements."""
        none = call(ast.Name("range", LOAD), number(0))
        made = ast.ListComp(undefined(stmt.var.type), [ast.comprehension(ast.Name("_", ast.Store()), none, [], 0)])
        self.assign(depth, stmt.var, made)

    def push(self, stmt: ir.Push, depth: int, plan: Reach) -> None:
        self.put(depth, call(attribute(self.variable(stmt.stack), "append"), self.plain(stmt.value)))

    def pop(self, stmt: ir.Pop, depth: int, plan: Reach) -> None:
        self.assign(depth, stmt.var, call(attribute(self.plain(stmt.stack), "pop")))

    def print(self, stmt: ir.Print, depth: int, plan: Reach) -> None:
        """Writes a call of ``errors.say`` with the number of the message and a tuple of the values, which is not empty."""
        shown = self.shape(stmt.args or (ir.Const(0, INT),))
        self.put(depth, call(dotted("errors.say"), number(site(message(stmt))), shown))

    def raise_(self, stmt: ir.Raise, depth: int, plan: Reach) -> None:
        """Writes ``raise``: of the exception with its message, or of ``again.OtherSizes`` if the code was compiled for other
        sizes."""
        if is_other_sizes(stmt):
            self.put(depth, "raise ", dotted("again.OtherSizes"))
        else:
            self.failing(stmt, depth, stmt.args)

    def failing(self, stmt: ir.Raise | ir.Check | ir.BoundsCheck, depth: int, args: Sequence[ir.Operand]) -> None:
        """Writes ``raise errors.X_(number of the message, *args)``."""
        made = dotted(f"errors.{stmt.exception}_")
        self.put(depth, "raise ", call(made, number(site(message(stmt))), *self.all(args)))

    def check(self, stmt: ir.Check, depth: int, plan: Reach) -> None:
        """Writes ``if test: raise ...``."""
        self.put(depth, "if ", self.plain(stmt.test), ":")
        self.failing(stmt, depth + 1, ())

    def check_bounds(self, stmt: ir.BoundsCheck, depth: int, plan: Reach) -> None:
        """Writes ``if`` with a ``raise`` for a subscript not less than the size or, if the statement says so, negative.

        A ``guard`` of the statement is tested first.
        """
        test = operator(">=", [self.plain(stmt.at), self.plain(stmt.size)])
        if stmt.low:
            test = boolean(ast.Or(), operator("<", [self.plain(stmt.at), number(0)]), test)
        if stmt.guard is not None:
            test = boolean(ast.And(), self.plain(stmt.guard), test)
        self.put(depth, "if ", test, ":")
        self.failing(stmt, depth + 1, (stmt.given, stmt.size))


_STATEMENTS: dict[type, Callable[[_Emitter, Any, int, Reach], None]] = {
    ir.Let: _Emitter.let,
    ir.View: _Emitter.let,
    ir.Call: _Emitter.calls,
    ir.Alloc: _Emitter.alloc,
    ir.Store: _Emitter.store,
    ir.Add: _Emitter.store,
    ir.If: _Emitter.branch,
    ir.For: _Emitter.loop,
    ir.While: _Emitter.repeat,
    ir.NewStack: _Emitter.new_stack,
    ir.Push: _Emitter.push,
    ir.Pop: _Emitter.pop,
    ir.Print: _Emitter.print,
    ir.Raise: _Emitter.raise_,
    ir.Check: _Emitter.check,
    ir.BoundsCheck: _Emitter.check_bounds,
}


def is_numpy_integer(let: ir.Let) -> bool:
    """Whether the result is a NumPy int64 of int64 operands, which wraps: Numba tells LLVM that plain integer sums do not."""
    return not let.var.type.weak and all(x.type.dtype == "int64" for x in (let.var, *let.args))


def _points(stmt: ir.Store | ir.Add) -> list[ir.Point]:
    """The items of all steps of the path, each an index."""
    return [i for step in stmt.path for i in step.items]  # type: ignore[union-attr, misc]


__all__ = ["MODULES", "emit", "kernel_variables"]
