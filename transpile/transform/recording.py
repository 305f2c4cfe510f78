"""Reverse mode, second half: joins the forward and the reverse sweep in one function.

`transpile.transform.to_be_recorded` has decided what is recorded. Here the forward sweep gets the statements that record, and
each reference of the reverse sweep to a variable of the forward sweep is replaced by one of:

- the variable itself, if it was defined outside all loops (a branch that defines it yields it);
- the index of the mirrored loop;
- an entry of its tape: an array with one entry per iteration if the trip counts are known before the outermost loop, else
  a stack;
- a recomputation, placed in the mirror of the block of the original statement.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from transpile.analysis.scopes import is_own_size
from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.functions import computes
from transpile.core.reasons import AGAIN, KEPT
from transpile.core.types import Type
from transpile.core.walk import defined, defines, map_reads, resize, resized
from transpile.transform.mirror_fusion import may_reorder
from transpile.transform.sweep import Sweep
from transpile.transform.to_be_recorded import Needs


@dataclass
class _Level:
    """A block of the reverse sweep that is being linked, with the forward block that it mirrors."""

    forward: ir.Block | None
    out: ir.Block
    memo: dict[ir.Var, ir.Operand] = field(default_factory=dict)
    loop: ir.For | ir.While | None = None  # the forward loop, if the block is the body of its mirror
    index: ir.Var | None = None  # the index of the mirror


def link(fn: ir.Function, sweep: Sweep, b: Builder, needs: Needs) -> ir.Block:
    """One new block that runs the forward sweep of ``fn`` with what ``needs`` says is recorded, then the reverse sweep; it
    yields what the reverse sweep yields."""
    linker = _Linker(fn, sweep, b, needs)
    with b.into(ir.Block()) as out:
        linker.forward()
        linker.reverse(out)
    return out


class _Linker:
    def __init__(self, fn: ir.Function, sweep: Sweep, b: Builder, needs: Needs) -> None:
        self.fn, self.sweep, self.b, self.needs = fn, sweep, b, needs
        self.defs = needs.defs
        self.tapes: dict[ir.Var, ir.Var] = {}
        self.roots: dict[int, list[ir.Var]] = {}  # id of a top-level statement -> variables recorded in it
        for var in needs.recorded:
            self.roots.setdefault(id(self.defs[var].nest[0][0]), []).append(var)
        self.pushing: set[int] = set()  # ids of the loops in which something is pushed on a stack
        self.escaped: dict[ir.Var, ir.Operand] = {}
        self.levels: list[_Level] = []
        self.renamed: dict[str, Dim] = {}  # size symbols known only in a loop -> their names in the reverse sweep
        self.read_here: set[str] = set()  # those of them taken from a value of this block: no other block knows them
        self.narrow = _has_narrow_floats(fn)

    # ---- tapes

    def loops_of(self, var: ir.Var) -> tuple[ir.For | ir.While, ...]:
        """The loops of the forward sweep around the definition of ``var``, the outermost first."""
        return self.defs[var].loops

    def make_tape(self, var: ir.Var) -> None:
        """Emits the tape of ``var``, before the outermost loop around it, and notes it in ``tapes``: an array with an axis for
        each loop if trip counts and sizes are known here, else a stack."""
        b, name = self.b, f"{var.label}_tape"
        reason, unknown = self.needs.recorded[var], why_uncountable(var, self.needs)
        assert reason, var
        if unknown:
            stack = ir.Var(name, replace(var.type, kind="stack"))
            b.emit(ir.NewStack(stack, self._loc(var), f"{reason}; on a stack, because {unknown}"))
            self.tapes[var] = stack
            self.pushing.update(map(id, self.loops_of(var)))
            return
        counts = tuple(self.trip_count(loop) for loop in self.loops_of(var))  # type: ignore[arg-type]
        type_ = Type(var.type.dtype, (*counts, *var.type.dims))
        with b.at(self._loc(var)):
            self.tapes[var] = b.alloc(name, type_, "empty", reason=reason, dims=type_.dims, dtype=type_.dtype)

    def _loc(self, var: ir.Var):  # type: ignore[no-untyped-def]
        stmt = self.defs[var].stmt
        return self.fn.loc if stmt is None else stmt.loc

    def trip_count(self, loop: ir.For) -> Dim:
        """The trip count, as a size, of a loop that does not stop early and has a constant step."""
        b = self.b
        start, bound = b.form(loop.start), b.form(loop.bound)
        assert isinstance(loop.step, ir.Const)
        step = loop.step.value
        span = (bound - start) if step > 0 else (start - bound)
        return span.clip() if abs(step) == 1 else (span + (abs(step) - 1)).clip() // abs(step)

    def ordinal(self, loop: ir.For, index: ir.Operand) -> Expr:
        """The number of the iteration, counted from 0, in which the loop's index is ``index``; emitted, for the sweep that is
        being built."""
        b = self.b
        assert isinstance(loop.step, ir.Const)
        start = self.resolve(loop.start) if self.levels else loop.start
        away = b.expr(index) - b.expr(start)
        return away if loop.step.value == 1 else away // loop.step

    def tape_path(self, var: ir.Var) -> tuple[ir.Index]:
        """The path to the entry of one iteration in the tape of ``var``: one point for each loop, then full slices."""
        points = tuple(ir.Point(k) for k in range(len(self.loops_of(var))))
        return (ir.Index((*points, *(ir.Slice() for _ in var.type.dims))),)

    # ---- forward sweep

    def forward(self) -> None:
        """Emits the forward sweep with tapes and recordings; notes in ``escaped`` how values defined in branches are seen
        outside."""
        for stmt in self.fn.body.stmts:
            for var in self.roots.get(id(stmt), ()):
                self.make_tape(var)
            new, escaping = self.forward_stmt(stmt, True)
            self.b.emit(new)
            self.escaped.update(escaping)

    def forward_block(self, block: ir.Block, escape: bool) -> tuple[ir.Block, dict[ir.Var, ir.Operand]]:
        """A new block with recordings, and each variable defined in it that the reverse sweep reads after it, with the operand
        by which it is seen at the end of the block: itself, or the result of an inner branch. Without ``escape``, as in loops,
        there are none."""
        escaping: dict[ir.Var, ir.Operand] = {}
        with self.b.into(ir.Block(block.params, [], block.yields, block.stop)) as out:
            for param in block.params:
                self.record(param)
            for stmt in block.stmts:
                new, found = self.forward_stmt(stmt, escape)
                self.b.emit(new)
                escaping.update(found)
                for var in defines(stmt):
                    self.record(var)
                    if escape and var in self.needs.escapes:
                        escaping[var] = var
        return out, escaping

    def forward_stmt(self, stmt: ir.Stmt, escape: bool) -> tuple[ir.Stmt, dict[ir.Var, ir.Operand]]:
        """The statement with its recordings, and the operands by which variables defined in its branches are seen after it;
        empty for loops and without ``escape``."""
        match stmt:
            case ir.If():
                return self.forward_if(stmt, escape)
            case ir.For():
                body, _ = self.forward_block(stmt.body, False)
                return replace(stmt, body=body), {}
            case ir.While():
                body, _ = self.forward_block(stmt.body, False)
                return replace(stmt, body=body), {}
        return stmt, {}

    def forward_if(self, stmt: ir.If, escape: bool) -> tuple[ir.Stmt, dict[ir.Var, ir.Operand]]:
        """The branch with recordings and a further result for each variable that the reverse sweep reads outside (undefined on
        the other side), and these variables with their results."""
        then, from_then = self.forward_block(stmt.then, escape)
        orelse, from_else = self.forward_block(stmt.orelse, escape)
        seen: dict[ir.Var, ir.Operand] = {}
        results = list(stmt.results)
        for side, other, found in ((then, orelse, from_then), (orelse, then, from_else)):
            for var, operand in found.items():
                out = ir.Var(var.name, var.type)
                results.append(out)
                side.yields = (*side.yields, operand)
                other.yields = (*other.yields, ir.Undef(var.type))
                seen[var] = out
        return replace(stmt, then=then, orelse=orelse, results=tuple(results)), seen

    def record(self, var: ir.Var) -> None:
        """Emits the statement that records ``var`` on its tape; does nothing if it has none."""
        tape = self.tapes.get(var)
        if tape is None:
            return
        if tape.type.kind == "stack":
            self.b.emit(ir.Push(tape, var, self._loc(var)))
            return
        with self.b.at(self._loc(var)):
            ordinals = [self.ordinal(loop, loop.index).op for loop in self.loops_of(var)]  # type: ignore[arg-type, union-attr]
            self.b.emit(ir.Store(tape, self.tape_path(var), tuple(ordinals), var, self.b.loc))

    # ---- reverse sweep

    def reverse(self, out: ir.Block) -> None:
        """Emits the reverse sweep into ``out`` and sets what ``out`` yields."""
        self.levels.append(_Level(self.fn.body, out))
        start = len(out.stmts)
        for stmt in self.sweep.block.stmts:
            self.reverse_stmt(stmt)
        out.yields = tuple(self.resolve(o) for o in self.sweep.block.yields)
        self.levels.pop()
        made = ir.Block((), out.stmts[start:], out.yields)
        if self.renamed:
            resize(made, self.renamed)  # its statements have the sizes of the reverse sweep
            for var in self.escaped.values():  # and so do the values that branches yield to it
                if isinstance(var, ir.Var):
                    var.type = resized(var.type, self.renamed.get)

    def reverse_block(self, block: ir.Block, loop: ir.For | ir.While | None, index: ir.Var | None) -> ir.Block:
        """A new block with the references of ``block`` replaced. If it is the body of a mirror, ``loop`` is the forward loop
        and ``index`` the index of the mirror; else both are None."""
        forward = self.sweep.sides.get(block)
        around, self.read_here = self.read_here, set()
        with self.b.into(ir.Block(block.params)) as out:
            self.levels.append(_Level(forward, out, loop=loop, index=index))
            for stmt in block.stmts:
                self.reverse_stmt(stmt)
            out.yields = tuple(self.resolve(o) for o in block.yields)
            out.stop = None if block.stop is None else self.resolve(block.stop)
            self.levels.pop()
        if self.read_here:
            resize(out, {name: self.renamed.pop(name) for name in sorted(self.read_here)})
        self.read_here = around
        return out

    def reverse_stmt(self, stmt: ir.Stmt) -> None:
        """Emits a statement of the reverse sweep with its references replaced by what stands for them; a mirror runs upwards if
        its order does not matter."""
        b = self.b
        with b.at(stmt.loc):
            new = map_reads(stmt, self.resolve)
            forward = self.sweep.mirrors.get(stmt)
            match new:
                case ir.If():
                    then, orelse = self.reverse_block(new.then, None, None), self.reverse_block(new.orelse, None, None)
                    new = replace(new, then=then, orelse=orelse)
                case ir.For():
                    assert forward is None or isinstance(forward, (ir.For, ir.While))
                    backwards = new.backwards and not (forward is not None and self.in_any_order(new, forward))
                    symbol = self.symbol_of_mirror(new.index, forward)
                    body = self.reverse_block(new.body, forward, new.index)
                    new = replace(new, body=body, backwards=backwards, symbol=symbol)
                case ir.While():
                    test, body = self.reverse_block(new.test, None, None), self.reverse_block(new.body, None, None)
                    new = replace(new, test=test, body=body)
                case _:
                    self.have_dims(new)
            b.emit(new)
            if computes(new):
                for var in defines(new):
                    self.have_read_sizes(var)

    def symbol_of_mirror(self, index: ir.Var, loop: ir.For | ir.While | None) -> Dim | None:
        """A new size symbol for the mirror's index, to which that of the forward loop is mapped; None if there is no forward
        loop, it may stop early, or its symbol is missing or mapped already."""
        if not isinstance(loop, ir.For) or loop.body.stop is not None or loop.symbol is None:
            return None
        name = loop.symbol.as_symbol
        if name is None or name in self.renamed:
            return None
        self.renamed[name] = symbol = self.b.own_symbol(index, loop.symbol)
        return symbol

    def in_any_order(self, mirror: ir.For, loop: ir.For | ir.While) -> bool:
        """Whether the iterations of the mirror of ``loop`` may run in any order, so that they can run upwards, which lets
        processors load and store ahead. False if something recorded in the loop is on a stack."""
        return id(loop) not in self.pushing and may_reorder(mirror)

    def have_dims(self, stmt: ir.Stmt) -> None:
        """Emits what gives the sizes that ``stmt`` needs at run time, in the reverse sweep, and maps their symbols to new
        ones."""
        for symbol in self.needs.sizes(stmt):
            operand = self.b.symbols[symbol]
            found = self.resolve(operand)
            if found is not operand and symbol not in self.renamed:
                self.rename(symbol, self.symbol_of(found))

    def rename(self, symbol: str, size: Dim) -> None:
        """Maps a size symbol of the forward sweep to its name ``size`` in the reverse sweep, together with all unmapped symbols
        of the same value."""
        self.renamed[symbol] = size
        value = self.sweep.current(self.b.symbols[symbol])
        if value in self.defs:
            self.renamed.update(
                (name, size) for name, op in self.b.symbols.items() if op is value and name not in self.renamed
            )

    def have_read_sizes(self, var: ir.Var) -> None:
        """Emits reads of the sizes of ``var`` from ``var`` itself, where a loop of the forward sweep found them at run time,
        and maps their symbols, in this block only."""
        for axis, dim in enumerate(var.type.dims):
            symbol = dim.as_symbol
            if symbol is not None and symbol not in self.renamed and not self.is_there(symbol):
                before = set(self.renamed)
                self.rename(symbol, self.symbol_of(self.b.let("dim", var, axis=axis).op))
                self.read_here |= set(self.renamed) - before

    def is_there(self, symbol: str) -> bool:
        """Whether the reverse sweep sees the value of a size symbol: no loop of the forward sweep defines it."""
        operand = self.sweep.current(self.b.symbols[symbol]) if symbol in self.b.symbols else None
        return not isinstance(operand, ir.Var) or operand not in self.defs or not self.defs[operand].loops

    def symbol_of(self, operand: ir.Operand) -> Dim:
        """The operand as a size: a number for a constant, else a new symbol bound to it."""
        if isinstance(operand, ir.Const):
            return Dim(int(operand.value))
        return self.b.own_symbol(operand)

    # ---- what stands for a variable of the forward sweep

    def resolve(self, operand: ir.Operand) -> ir.Operand:
        """The operand of the reverse sweep that stands for an operand of the forward sweep; emitted where necessary, once for
        each block. Other operands are unchanged."""
        operand = self.sweep.current(operand)
        if not isinstance(operand, ir.Var) or operand not in self.defs:
            return operand
        if operand.buffer:
            self.keep(operand)
            return operand
        found = self.defs[operand]
        if not found.loops:
            self.keep(operand)
            return self.escaped[operand] if found.nest else operand
        level = self.level_of(found.block)
        if operand not in level.memo:
            with self.b.into(level.out):
                level.memo[operand] = self.have(operand, level)
        return level.memo[operand]

    def keep(self, var: ir.Var) -> None:
        """Notes on the statement that defines an array of the forward sweep, in its ``reason``, that the reverse sweep reads it
        in place."""
        stmt = self.defs[var].stmt
        if var.type.dims and isinstance(stmt, (ir.Let, ir.Alloc, ir.Call)):
            stmt.reason = stmt.reason or KEPT

    def level_of(self, block: ir.Block) -> _Level:
        """The entry of ``levels`` for the block of the reverse sweep that mirrors a forward block, the innermost one."""
        for level in reversed(self.levels):
            if level.forward is block:
                return level
        raise AssertionError("a value is needed outside the mirror of its block")

    def have(self, var: ir.Var, level: _Level) -> ir.Operand:
        """The operand that stands for ``var``, defined in a loop: the mirrored index, a read of its tape or of the buffer that
        keeps it, or a recomputation. Emitted into the current block, the mirror of its block."""
        found = self.defs[var]
        if found.kind == "index":
            return self.mirrored_index(found.stmt, level)  # type: ignore[arg-type]
        if var in self.needs.recorded:
            return self.load(var)
        kept = self.needs.place_of(var)
        if kept is not None:
            args = tuple(self.resolve(a) for a in kept.args)
            with self.b.at(kept.loc):
                return self.b.bind(
                    var.name, var.type, "index", (kept.buf, *args), {"path": kept.path, "dims": var.type.dims}
                )
        assert computes(found.stmt), f"{var} is neither recorded nor recomputed"
        with self.b.at(found.stmt.loc):
            self.compute_again(found.stmt, level)
        return level.memo[var]

    def compute_again(self, stmt: ir.Let | ir.Call, level: _Level) -> None:
        """Emits a recomputation of ``stmt`` with new variables, which ``level.memo`` then has for the old ones, except for
        recorded ones."""
        args = tuple(self.resolve(a) for a in self.sources(stmt))
        again = {v: ir.Var(v.name, v.type) for v in defines(stmt)}
        if isinstance(stmt, ir.Let):
            new: ir.Let | ir.Call = replace(stmt, var=again[stmt.var], args=args, reason=AGAIN)
        else:
            new = replace(stmt, results=tuple(again.values()), args=args, reason=AGAIN)
        self.sweep.origins.update(dict.fromkeys(again.values(), stmt))
        self.have_dims(stmt)
        self.b.emit(new)
        level.memo.update((v, w) for v, w in again.items() if v not in self.needs.recorded)
        self.have_own_sizes(stmt)

    def have_own_sizes(self, stmt: ir.Let | ir.Call) -> None:
        """Maps the size symbols that a recomputed value gives itself, known only at run time, to their names in the reverse
        sweep."""
        types = [t for v in defines(stmt) for t in (v.type, *v.type.items)]
        for symbol in {s: None for t in types for d in t.dims for s in d.symbols()}:
            operand = self.b.symbols.get(symbol)
            if symbol not in self.renamed and operand is not None and is_own_size(stmt, operand, self.defs):
                found = self.resolve(operand)
                if found is not operand:
                    self.rename(symbol, self.symbol_of(found))

    def sources(self, stmt: ir.Let | ir.Call) -> tuple[ir.Operand, ...]:
        """The operands that the statement reads when it is recomputed: those of the statement, but for a read of a buffer that
        is overwritten later and began as a copy, the source of the copy."""
        facts, root = self.needs.overwrites, stmt.args[0] if stmt.args else None
        if isinstance(stmt, ir.Let) and isinstance(root, ir.Var) and root.buffer and stmt.prim == "index":
            if not facts.is_stable(stmt):
                return (facts.original(stmt) or root, *stmt.args[1:])
        return stmt.args

    def mirrored_index(self, loop: ir.For, level: _Level) -> ir.Operand:
        """The index of the forward loop for the iteration that the mirror is in; emitted if the mirror counts iterations from
        0, as for a loop that may stop early."""
        assert level.index is not None
        if loop.body.stop is None:
            return level.index
        b = self.b
        start, step = b.expr(self.resolve(loop.start)), b.expr(self.resolve(loop.step))
        if loop.backwards:  # its first iteration has the last index
            count = (b.expr(self.resolve(loop.bound)) - start + step - 1) // step
            return (start + (count - 1 - b.expr(level.index)) * step).op
        return (start + b.expr(level.index) * step).op

    def load(self, var: ir.Var) -> ir.Operand:
        """The recorded value of ``var``, by a statement that is emitted: popped from its stack, or read from its tape."""
        b, tape = self.b, self.tapes[var]
        type_ = var.type.strong if self.narrow else var.type
        new = ir.Var(var.name, type_)
        if tape.type.kind == "stack":
            new.type = var.type
            b.emit(ir.Pop(new, tape, self._loc(var)))
            return new
        ordinals = []
        for loop in self.loops_of(var):
            level = self.level_of(loop.body)
            assert level.index is not None and isinstance(loop, ir.For)
            ordinals.append(self.ordinal(loop, level.index).op)
        params = {"path": self.tape_path(var), "dims": var.type.dims}
        with b.at(self._loc(var)):
            b.emit(ir.Let(new, "index", (tape, *ordinals), params, b.loc))
            return b.cast(new, var.type).op


def is_countable(var: ir.Var, needs: Needs) -> bool:
    """Whether the sizes of ``var`` and the trip counts of all loops around it are known before the outermost loop, so that its
    tape can be an array."""
    return not why_uncountable(var, needs)


def why_uncountable(var: ir.Var, needs: Needs) -> str:
    """The first reason why ``var`` needs a stack, as text for users; empty if the trip counts and sizes are known before the
    outermost loop."""
    for loop in needs.defs[var].loops:
        line = loop.loc.line
        if isinstance(loop, ir.While) or loop.body.stop is not None:
            return f"when the loop in line {line} ends is only known at run time"
        if not all(_is_outside(o, needs) for o in (loop.start, loop.bound, loop.step)):
            return f"the number of iterations of the loop in line {line} changes"
        if not isinstance(loop.step, ir.Const):
            return f"the step of the loop in line {line} is not a constant"
    known = all(_is_outside(needs.symbols[s], needs) for d in var.type.dims for s in d.symbols())
    return "" if known else "its size changes"


def _is_outside(operand: ir.Operand, needs: Needs) -> bool:
    """Whether the operand is defined outside all loops and branches of the forward sweep, so that its value is there before the
    outermost loop."""
    if not isinstance(operand, ir.Var) or operand not in needs.defs:
        return True
    return not needs.defs[operand].nest


def _has_narrow_floats(fn: ir.Function) -> bool:
    return any(v.type.dtype in ("float16", "float32") for v in [*fn.params, *defined(fn.body)])
