"""The text of lowered core: one Numba function of scalar statements, element accesses, loops and calls of `transpile_runtime`.

Every variable has one Python name; a value that is read once is printed where it is read, unless a write lies in between.
"""

from __future__ import annotations

import keyword
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from transpile.analysis.messages import is_other_sizes, message, site
from transpile.codegen.checked_arithmetic import CALLS, wrapping
from transpile.codegen.numba.kernel_names import shared_names
from transpile.codegen.numba.numba_scalars import ATOM, COMPARE, LOOSE, POWER, SUM, TERM, UNARY, is_narrow, spell
from transpile.core import nodes as ir
from transpile.core.number_functions import NUMBER_CALLS
from transpile.core.types import Type
from transpile.core.walk import blocks, leaves, reads, statements, uses
from transpile.errors import error
from transpile.loops.check_hoisting import raises
from transpile.loops.small_integers import Small

_WIDTH = 88  # an expression longer than this gets a name

Piece = tuple[str, int]  # text and precedence


@dataclass
class Text:
    """Lines of a module and, for each (from 1), the user's line."""

    lines: list[str] = field(default_factory=list)
    locs: dict[int, ir.Loc] = field(default_factory=dict)

    def add(self, depth: int, line: str, loc: ir.Loc | None = None) -> None:
        self.lines.append("    " * depth + line)
        if loc is not None and loc.line:
            self.locs[len(self.lines)] = loc


HEADER = """import math

import numpy as np
from numba import njit

from transpile_runtime.compiled import {modules}
"""
RESERVED = (
    "again",
    "prange",
    "np",
    "math",
    "njit",
    "range",
    "intmath",
    "scalars",
    "special",
    "vector",
    "linalg",
    "blas",
    "arrays",
    "draws",
    "random",
    "stop",
    "errors",
    "float",
    "int",
    "max",
    "min",
    "bool",
)


def emit(fn: ir.Function, options: str, modules: str, taken: Sequence[str] = ()) -> Text:
    """The module text of a lowered function; ``options`` are the arguments of ``njit``, names ``taken`` are no variables."""
    text = Text()
    for line in HEADER.format(modules=modules).splitlines():
        text.add(0, line)
    text.add(0, "")
    text.add(0, "")
    text.add(0, f"@njit({options})")
    _Emitter(fn, text, taken).function()
    return text


class _Emitter:
    def __init__(self, fn: ir.Function, text: Text, taken: Sequence[str]) -> None:
        self.fn, self.text = fn, text
        self.names: dict[ir.Var, str] = {}
        self.has_threads = any(isinstance(s, ir.For) and s.kind == "parallel" for s in statements(fn.body))
        self.taken: set[str] = {*RESERVED, *keyword.kwlist, fn.name, *taken}
        self.count = Counter(o for o in uses(fn.body) if isinstance(o, ir.Var))
        self.same = shared_names(fn)
        self.once: set[ir.Var] = set()  # results of calls that are read once, in their block
        self.inline: dict[ir.Var, tuple[str, int, bool]] = {}
        self.loc: ir.Loc | None = None
        self.lets = {s.var: s for s in statements(fn.body) if isinstance(s, ir.Let)}
        self.small = Small(fn)
        self.wrapping = wrapping(fn)
        self.steady: set[ir.Var] = set()  # loop indices that are known to be no negative numbers
        self.released: dict[str, list[str]] = {}  # names of loop indices whose loops are over

    # ---- names

    def name(self, var: ir.Var) -> str:
        var = self.same.get(var, var)
        if var not in self.names:
            self.names[var] = self.fresh(var.name)
        return self.names[var]

    def fresh(self, wanted: str) -> str:
        base = "".join(c if c.isalnum() or c == "_" else "_" for c in wanted) or "t"
        base = base if not base[0].isdigit() else f"_{base}"
        between = "_"
        if self.has_threads:  # Numba itself makes ``x_2`` of the second ``x`` of a parallel loop
            base, between = f"{base}_" if re.search(r"_\d+$", base) else base, ""
        found, k = base, 1
        while found in self.taken:
            k += 1
            found = f"{base}{between}{k}"
        self.taken.add(found)
        return found

    def index(self, var: ir.Var) -> str:
        """The name of a loop index: one that an earlier loop had, if there is one."""
        found = self.released.get(var.name)
        if found:
            self.names[var] = found.pop()
        return self.name(var)

    # ---- operands

    def piece(self, op: ir.Operand) -> Piece:
        if isinstance(op, ir.Const):
            return constant(op)
        if isinstance(op, ir.Undef):
            return undefined(op.type), ATOM
        held = self.inline.get(op)
        return (held[0], held[1]) if held is not None else (self.name(op), ATOM)

    def plain(self, op: ir.Operand) -> str:
        return self.piece(op)[0]

    def typed(self, op: ir.Operand) -> str:
        """An argument; a number is no literal, of which Numba would make a function of its own."""
        text = self.plain(op)
        return f"np.int64({text})" if isinstance(op, ir.Const) and op.type.dtype == "int64" else text

    def fill(self, template: str, level: int, args: Sequence[ir.Operand]) -> str:
        """The template with its operands, in parentheses where they bind less."""
        alone = "(" in template and level == ATOM  # a call: its arguments need none
        parts = []
        for k, arg in enumerate(args):
            text, own = self.piece(arg)
            tight = own >= level if (k or level in (POWER, UNARY, COMPARE, LOOSE)) else own > level
            parts.append(f"({text})" if not alone and own != ATOM and tight else text)
        return template.format(*parts)

    # ---- function and blocks

    def function(self) -> None:
        params = ", ".join(self.name(p) for p in self.fn.params)
        self.text.add(0, f"def {self.fn.name}({params}):", self.fn.loc)
        self.block(self.fn.body, 1)
        results = ", ".join(self.plain(y) for y in self.fn.body.yields)
        self.text.add(1, f"return {results}" if results else "return", self.fn.loc)

    def put(self, depth: int, line: str) -> None:
        self.text.add(depth, line, self.loc)

    def block(self, block: ir.Block, depth: int) -> None:
        plan = _plan(block, self.count, self.once)
        for k, stmt in enumerate(block.stmts):
            self.loc = stmt.loc
            self.statement(stmt, depth, plan[k])

    def statement(self, stmt: ir.Stmt, depth: int, plan: _Reach) -> None:
        _STATEMENTS[type(stmt)](self, stmt, depth, plan)

    def let(self, stmt: ir.Let, depth: int, plan: _Reach) -> None:
        text, level = self.value(stmt)
        held = [self.inline[a] for a in stmt.args if isinstance(a, ir.Var) and a in self.inline]
        has_read = stmt.prim in ("index", "dim") and stmt.prim == "index" or any(h[2] for h in held)
        may = plan.once and stmt.var.type.kind == "array" and not is_call(stmt)
        may = may and (not stmt.var.type.dims or isinstance(stmt, ir.View))
        if may and len(text) < _WIDTH and not (has_read and plan.barrier):
            self.inline[stmt.var] = (text, level, has_read)
        elif is_call(stmt) and not self.count[stmt.var]:
            self.put(depth, text)  # for what it writes
        else:
            self.put(depth, f"{self.name(stmt.var)} = {text}")

    def call(self, stmt: ir.Call, depth: int, plan: _Reach) -> None:
        assert not isinstance(stmt.function, ir.Custom)
        shown = self.typed if isinstance(stmt.function, ir.Kept) else self.plain
        text = f"{stmt.function.name}({', '.join(map(shown, stmt.args))})"
        if not any(self.count[r] for r in stmt.results):
            self.put(depth, text)
        elif len(stmt.results) == 1:
            self.put(depth, f"{self.name(stmt.results[0])} = {text}")
        else:
            self.several(stmt.results, text, depth)

    def several(self, results: Sequence[ir.Var], text: str, depth: int) -> None:
        """The results of a call, each from the tuple that it gives."""
        whole = self.fresh("")
        self.put(depth, f"{whole} = {text}")
        for k, result in enumerate(results):
            if result in self.once and not result.type.dims:
                self.inline[result] = (f"{whole}[{k}]", ATOM, False)
            elif self.count[result]:
                self.put(depth, f"{self.name(result)} = {whole}[{k}]")

    def called(self, stmt: ir.Let) -> str:
        return f"{stmt.prim}({', '.join(map(self.plain, stmt.args))})"

    def viewed(self, stmt: ir.View) -> str:
        base = self.plain(stmt.base)
        match stmt.step:
            case ir.Reshape():
                return f"{base}.reshape({self.shape(stmt.args[1:])})"
            case ir.Permute():
                return f"{base}.T"
        return f"{base}[{', '.join(self.parts(stmt))}]"

    def value(self, stmt: ir.Let) -> Piece:
        if isinstance(stmt, ir.View):
            return self.viewed(stmt), ATOM
        if is_call(stmt):
            return self.called(stmt), ATOM
        match stmt.prim:
            case "index":
                return self.access(stmt.args[0], stmt.args[1:]), ATOM
            case "dim":
                return f"{self.plain(stmt.args[0])}.shape[{stmt.params['axis']}]", ATOM
            case "cast":
                return self.cast(stmt.args[0], stmt.var.type)
            case "item":
                return f"{self.plain(stmt.args[0])}[{stmt.params['k']}]", ATOM
        if stmt.var in self.wrapping or (stmt.prim in CALLS and is_numpy_integer(stmt)):
            return f"{CALLS[stmt.prim]}({', '.join(self.plain(a) for a in stmt.args)})", ATOM
        types = [a.type for a in stmt.args]
        found = spell(stmt.prim, types, stmt.var.type, stmt.params)
        if found is None:
            raise error("T501", f"'{stmt.prim}' cannot be compiled yet", stmt.loc)
        template, level = found
        text = self.fill(template, level, stmt.args)
        if is_natural(stmt.var.type) or is_narrow(stmt.prim, types, stmt.params):
            return text, level
        return f"{dtype_text(stmt.var.type.dtype)}({text})", ATOM

    def parts(self, stmt: ir.View) -> Iterator[str]:
        """The subscripts of a view."""
        assert isinstance(stmt.step, ir.Index)
        for item in stmt.step.items:
            match item:
                case ir.Point(arg):
                    yield self.plain(stmt.args[1:][arg])
                case ir.Slice(int(start), int(stop)):
                    yield f"{self.plain(stmt.args[1:][start])}:{self.plain(stmt.args[1:][stop])}"
                case _:
                    yield ":"

    def cast(self, op: ir.Operand, to: Type) -> Piece:
        text, level = self.piece(op)
        if op.type.dtype == to.dtype:
            return text, level
        match to.dtype:
            case "bool":
                return self.fill("{0} != 0", COMPARE, [op]), COMPARE
            case "float64" | "int64" if op.type.is_bool:
                one, none = ("1.0", "0.0") if to.dtype == "float64" else ("1", "0")
                return self.fill(f"{one} if {{0}} else {none}", LOOSE, [op]), LOOSE
            case "float64" | "int64" if not is_natural(op.type):  # float() of a float32 is one
                return f"{dtype_text(to.dtype)}({text})", ATOM
            case "float64":
                return f"float({text})", ATOM
            case "int64":
                return f"int({text})", ATOM
        return f"{dtype_text(to.dtype)}({text})", ATOM

    def access(self, root: ir.Operand, indices: Sequence[ir.Operand]) -> str:
        inner = ", ".join(self.subscript(i) for i in indices)
        return f"{self.plain(root)}[{inner or '()'}]"

    def subscript(self, op: ir.Operand) -> str:
        """An index, known not to be negative. Numba asks whether it is, unless it is unsigned, and so keeps LLVM from vectors;
        of a loop index, or one with a number added, LLVM knows it."""
        text = self.plain(op)
        return text if self.is_steady(op) else f"np.uint64({text})"

    def is_steady(self, op: ir.Operand) -> bool:
        if isinstance(op, ir.Const) or op in self.steady:
            return True
        let = self.lets.get(op) if isinstance(op, ir.Var) else None
        if let is None or let.prim not in ("add", "sub"):
            return False
        a, b = let.args
        return (self.is_steady(a) and isinstance(b, ir.Const)) or (
            isinstance(a, ir.Const) and self.is_steady(b) and let.prim == "add"
        )

    def shape(self, sizes: Sequence[ir.Operand]) -> str:
        inner = ", ".join(self.plain(s) for s in sizes)
        return f"({inner},)" if len(sizes) == 1 else f"({inner})"

    # ---- statements

    def alloc(self, stmt: ir.Alloc, depth: int, plan: _Reach) -> None:
        self.put(depth, f"{self.name(stmt.var)} = np.empty({self.shape(stmt.args)}, {dtype_text(stmt.var.type.dtype)})")

    def store(self, stmt: ir.Store | ir.Add, depth: int, plan: _Reach) -> None:
        place = self.access(stmt.buf, [stmt.args[i.arg] for i in _points(stmt)])
        sign = "+=" if isinstance(stmt, ir.Add) else "="
        self.put(depth, f"{place} {sign} {self.plain(stmt.value)}")

    def branch(self, stmt: ir.If, depth: int, plan: _Reach) -> None:
        test = self.plain(stmt.test)
        loc = stmt.loc
        self.put(depth, f"if {test}:")
        start = len(self.text.lines)
        self.side(stmt.then, stmt.results, depth + 1)
        if len(self.text.lines) == start:
            self.text.add(depth + 1, "pass", loc)
        start = len(self.text.lines)
        self.text.add(depth, "else:", loc)
        self.side(stmt.orelse, stmt.results, depth + 1)
        if len(self.text.lines) == start + 1:
            self.text.lines.pop()

    def side(self, block: ir.Block, results: Sequence[ir.Var], depth: int) -> None:
        self.block(block, depth)
        for result, out in zip(results, block.yields):
            name, text = self.name(result), self.plain(out)
            if name != text:
                self.put(depth, f"{name} = {text}")

    def loop(self, stmt: ir.For, depth: int, plan: _Reach) -> None:
        loc = stmt.loc
        trips = self.begin(stmt, depth)
        span = self.range(stmt, depth)
        index = self.index(stmt.index)
        remark = ""
        if stmt.kind == "parallel" and raises(stmt):
            remark = "  # on threads"  # Numba's own cannot raise: where it compiles this text, it does without
        elif stmt.kind == "parallel":
            span = f"p{span}"
        self.put(depth, f"for {index} in {span}:{remark}")
        if (
            isinstance(stmt.start, ir.Const)
            and stmt.start.value >= 0
            and isinstance(stmt.step, ir.Const)
            and stmt.step.value > 0
        ):
            self.steady.add(stmt.index)
        start = len(self.text.lines)
        self.turn(stmt, depth + 1, trips)
        self.released.setdefault(stmt.index.name, []).append(index)
        if len(self.text.lines) == start:
            self.text.add(depth + 1, "pass", loc)

    def range(self, stmt: ir.For, depth: int) -> str:
        start, bound, step = stmt.start, stmt.bound, stmt.step
        if not stmt.backwards:
            if ir.is_literal(step, 1):
                return (
                    f"range({self.plain(bound)})"
                    if ir.is_literal(start, 0)
                    else f"range({self.plain(start)}, {self.plain(bound)})"
                )
            return f"range({self.plain(start)}, {self.plain(bound)}, {self.plain(step)})"
        first = self.fill("{0} - 1", SUM, [start])
        if ir.is_literal(start, 0):
            first = "-1"
        elif not self.small.is_small(start):
            first = f"scalars.minus({self.plain(start)}, 1)"
        if ir.is_literal(step, 1):
            last = self.fill("{0} - 1", SUM, [bound])
            if not self.small.is_small(bound):  # with the least integer `- 1` would wrap, and the loop run
                last = f"max({self.plain(bound)}, {self.plain(start)}) - 1"
                if not self.small.is_small(start):
                    last = f"scalars.minus({last[:-4]}, 1)"
            return f"range({last}, {first}, -1)"
        args = f"{self.plain(start)}, {self.plain(bound)}, {self.plain(step)}"
        return f"arrays.backwards({args})"

    def repeat(self, stmt: ir.While, depth: int, plan: _Reach) -> None:
        trips = self.begin(stmt, depth)
        for param, twin in zip(stmt.body.params, stmt.test.params):
            self.names[twin] = self.name(param)
        loc = stmt.loc
        self.put(depth, "while True:")
        self.block(stmt.test, depth + 1)
        self.loc = loc
        test = self.fill("not {0}", LOOSE, [stmt.test.yields[0]])
        self.put(depth + 1, f"if {test}:")
        self.put(depth + 2, "break")
        self.turn(stmt, depth + 1, trips)

    def begin(self, stmt: ir.For | ir.While, depth: int) -> str | None:
        """Sets what the loop carries; its results go by the names of what is carried."""
        for param, init in zip(stmt.body.params, stmt.inits):
            name, text = self.name(param), self.plain(init)
            if name != text:
                self.put(depth, f"{name} = {text}")
        if stmt.trips is None:
            return None
        self.put(depth, f"{self.name(stmt.trips)} = 0")
        return self.name(stmt.trips)

    def turn(self, stmt: ir.For | ir.While, depth: int, trips: str | None) -> None:
        body, loc = stmt.body, stmt.loc
        self.block(body, depth)
        self.loc = loc
        stop = None
        if body.stop is not None:
            stop = self.plain(body.stop)
            if not stop.isidentifier():
                name = self.fresh("done")
                self.put(depth, f"{name} = {stop}")
                stop = name
        self.carry(body, depth)
        if trips is not None:
            self.put(depth, f"{trips} += 1")
        if stop is not None:
            self.put(depth, f"if {stop}:")
            self.put(depth + 1, "break")

    def carry(self, body: ir.Block, depth: int) -> None:
        pairs = [(self.name(p), self.plain(y)) for p, y in zip(body.params, body.yields)]
        pairs = [(name, text) for name, text in pairs if name != text]
        clash = any(_mentions(text, name) for k, (name, _) in enumerate(pairs) for _, text in pairs[k + 1 :])
        if clash:
            self.put(depth, f"{', '.join(n for n, _ in pairs)} = {', '.join(t for _, t in pairs)}")
        else:
            for name, text in pairs:
                self.put(depth, f"{name} = {text}")

    def new_stack(self, stmt: ir.NewStack, depth: int, plan: _Reach) -> None:
        type_ = stmt.var.type
        rank = len(type_.dims)
        element = f"np.empty(({'0, ' * rank}), {dtype_text(type_.dtype)})" if rank else zero(type_.dtype)
        self.put(depth, f"{self.name(stmt.var)} = [{element} for _ in range(0)]")

    def push(self, stmt: ir.Push, depth: int, plan: _Reach) -> None:
        self.put(depth, f"{self.name(stmt.stack)}.append({self.plain(stmt.value)})")

    def pop(self, stmt: ir.Pop, depth: int, plan: _Reach) -> None:
        self.put(depth, f"{self.name(stmt.var)} = {self.plain(stmt.stack)}.pop()")

    def print(self, stmt: ir.Print, depth: int, plan: _Reach) -> None:
        self.put(depth, f"errors.say({_site(stmt)}, {self.shape(stmt.args) if stmt.args else '(0,)'})")

    def raise_(self, stmt: ir.Raise, depth: int, plan: _Reach) -> None:
        self.put(depth, "raise again.OtherSizes" if is_other_sizes(stmt) else self.raised(stmt, stmt.args))

    def raised(self, stmt: ir.Raise | ir.Check | ir.BoundsCheck, args: Sequence[ir.Operand]) -> str:
        return f"raise errors.{stmt.exception}_({', '.join([str(_site(stmt)), *map(self.plain, args)])})"

    def check(self, stmt: ir.Check, depth: int, plan: _Reach) -> None:
        self.put(depth, f"if {self.plain(stmt.test)}:")
        self.put(depth + 1, self.raised(stmt, ()))

    def check_bounds(self, stmt: ir.BoundsCheck, depth: int, plan: _Reach) -> None:
        test = self.fill("{0} >= {1}", COMPARE, [stmt.at, stmt.size])
        if stmt.low:
            test = f"{self.fill('{0} < 0', COMPARE, [stmt.at])} or {test}"
        if stmt.guard is not None:
            test = f"({test})" if stmt.low else test
            test = f"{self.fill('{0}', LOOSE, [stmt.guard])} and {test}"
        self.put(depth, f"if {test}:")
        self.put(depth + 1, self.raised(stmt, (stmt.given, stmt.size)))


_STATEMENTS: dict[type, Callable[[_Emitter, Any, int, _Reach], None]] = {
    ir.Let: _Emitter.let,
    ir.View: _Emitter.let,
    ir.Call: _Emitter.call,
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


def _site(stmt: ir.Effect) -> int:
    return site(message(stmt))


# --------------------------------------------------------------------------------------- where a value is read


@dataclass(frozen=True)
class _Reach:
    """Of a *let*: whether it is read once and in its own block; whether a write lies before that."""

    once: bool = False
    barrier: bool = False


def _plan(block: ir.Block, count: Counter[ir.Var], once: set[ir.Var]) -> list[_Reach]:
    """``once`` is told of the results of calls that are read once and in the block."""
    last: dict[ir.Var, int] = {}
    end = len(block.stmts)
    for k, stmt in enumerate(block.stmts):
        for op in reads(stmt):
            if isinstance(op, ir.Var):
                last[op] = k
    for op in leaves(block):
        if isinstance(op, ir.Var):
            last[op] = end
    walls = [k for k, s in enumerate(block.stmts) if not isinstance(s, (ir.Let, ir.Alloc, ir.NewStack)) or is_call(s)]
    plan = []
    for k, stmt in enumerate(block.stmts):
        if isinstance(stmt, ir.Call):
            once.update(r for r in stmt.results if r in last and count[r] == 1)
        at = last.get(stmt.var) if isinstance(stmt, ir.Let) else None
        if at is None or count[stmt.var] != 1:  # type: ignore[union-attr]
            plan.append(_Reach())
        else:
            plan.append(_Reach(True, any(k < w < at for w in walls)))
    return plan


def is_call(stmt: ir.Stmt) -> bool:
    """Whether the statement has a line of its own: a call is not read where its value is."""
    return isinstance(stmt, ir.Let) and stmt.prim in NUMBER_CALLS


def is_numpy_integer(let: ir.Let) -> bool:
    """Whether the result is an integer of NumPy's, which wraps: of sums as they stand, Numba tells LLVM that none does."""
    return not let.var.type.weak and all(x.type.dtype == "int64" for x in (let.var, *let.args))


def _points(stmt: ir.Store | ir.Add) -> list[ir.Point]:
    return [i for step in stmt.path for i in step.items]  # type: ignore[union-attr, misc]


def _mentions(text: str, name: str) -> bool:
    import re

    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None


# ------------------------------------------------------------------------------------------------------ types


def is_natural(type_: Type) -> bool:
    """Whether Numba's arithmetic gives the dtype by itself."""
    return type_.dtype in ("float64", "int64", "bool")


def dtype_text(dtype: str) -> str:
    """The dtype as generated code names it."""
    return "np.bool_" if dtype == "bool" else f"np.{dtype}"


def zero(dtype: str) -> str:
    return {"float64": "0.0", "int64": "0", "bool": "False"}.get(dtype, f"{dtype_text(dtype)}(0)")


def undefined(type_: Type) -> str:
    """Some value of the type: it is never read."""
    if not type_.dims:
        return zero(type_.dtype)
    return f"np.empty(({'0, ' * len(type_.dims)}), {dtype_text(type_.dtype)})"


def constant(op: ir.Const) -> Piece:
    value, dtype = op.value, op.type.dtype
    if isinstance(value, bool):
        return repr(value), ATOM
    if isinstance(value, float):
        if math.isnan(value):
            text, level = "math.nan", ATOM
        elif math.isinf(value):
            text, level = ("math.inf", ATOM) if value > 0 else ("-math.inf", UNARY)
        else:
            text, level = repr(value), UNARY if value < 0 or str(value).startswith("-") else ATOM
    else:
        text, level = repr(value), UNARY if value < 0 else ATOM
    if dtype in ("float64", "int64"):
        return (f"float({text})", ATOM) if dtype == "float64" and isinstance(value, int) else (text, level)
    return f"{dtype_text(dtype)}({text})", ATOM


__all__ = ["TERM", "Text", "blocks", "constant", "emit"]
