"""Decides which copies are made, and removes all others.

Core copies freely: a buffer begins as a copy of a value, a read of a buffer is a snapshot, loops and branches pass on values.
In NumPy each of these can be an alias of the same memory, unless a write would become visible where it must not. So: begin
without copies; where a write (or a result) meets memory that is read later under another name, cut the cheapest link that made
them share memory, and repeat; finally remove copies that later ones made unnecessary.

    u: buffer = new copy p     (p is carried and not read again)     ->     nothing: p is written in place
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from transpile.analysis.liveness import Liveness, Numbers
from transpile.codegen.numpy.memory_sharing import FOREIGN, Aliases, Link, is_memory
from transpile.core import nodes as ir
from transpile.core.walk import defines, map_reads, statements, uses

# Where to copy if several places would do: in as few loops as possible, then as the user would write it.
_RANK = {"alloc": 0, "push": 0, "return": 1, "let": 2, "init": 3, "yield": 4, "pop": 5}
_RESULT_RANK = {**_RANK, "yield": 1, "return": 2, "let": 3}  # of results: in the branch that needs it


@dataclass(frozen=True)
class Settled:
    """A function in which every name is a reference, as in Python; ``names`` has better names for merged variables.

    A variable that is not in it keeps its own name.
    """

    fn: ir.Function
    names: dict[ir.Var, str]


def settle_copies(fn: ir.Function) -> Settled:
    """``fn`` with explicit copies (*let* ``copy``) where they are needed, and no others; aliases are merged into one
    variable."""
    copied = find_copies(fn)
    return _Rewriter(fn, copied).run()


def find_copies(fn: ir.Function) -> set[Link]:
    """The links at which memory must be copied; the set is minimal in that no link added for a conflict can be left out."""
    numbers = Numbers(fn, reserved=1)
    live = Liveness(fn, numbers)
    forced = set(_forced(fn))
    copied = set(forced)
    order: list[Link] = []
    while True:
        found = _cuts(fn, Aliases(fn, numbers, copied), live, copied)
        if not found:
            break
        copied |= set(found)
        order += found
    if len(order) < 2:
        return copied
    for link in order:  # cuts that later ones made unnecessary
        without = copied - {link}
        if not _cuts(fn, Aliases(fn, numbers, without), live, without):
            copied = without
    return copied


def _forced(fn: ir.Function) -> Iterator[Link]:
    """Yields the links of copies that are always made.

    These are copies into buffers written through a reshape, which must be C-contiguous, and copies of scalars.
    """
    shaped = _shaped(fn)
    for stmt, depth in _with_depth(fn.body, 0):
        if isinstance(stmt, ir.Alloc) and stmt.prim == "copy" and (stmt.var in shaped or not is_memory(stmt.args[0])):
            yield Link("alloc", id(stmt), 0, depth)


def _shaped(fn: ir.Function) -> set[ir.Var]:
    """The buffers written through a reshape."""
    return {
        s.buf for s in statements(fn.body)
        if isinstance(s, (ir.Store, ir.Add)) and any(isinstance(step, ir.Reshape) for step in s.path)
    }  # fmt: skip


def _with_depth(block: ir.Block, depth: int) -> Iterator[tuple[ir.Stmt, int]]:
    """Yields all statements of the block, nested ones too, each with the number of loops around it, ``depth`` more."""
    for stmt in block.stmts:
        yield stmt, depth
        match stmt:
            case ir.If():
                yield from _with_depth(stmt.then, depth)
                yield from _with_depth(stmt.orelse, depth)
            case ir.For() | ir.While():
                if isinstance(stmt, ir.While):
                    yield from _with_depth(stmt.test, depth + 1)
                yield from _with_depth(stmt.body, depth + 1)


def _cuts(fn: ir.Function, aliases: Aliases, live: Liveness, copied: set[Link]) -> list[Link]:
    """The links to cut, one for each conflict that no other cut of this round resolves; empty if there is no conflict.

    ``aliases`` is what shares memory if the links ``copied`` are cut.
    """
    numbers = aliases.numbers
    found: dict[Link, None] = {}

    def cut(a: int, b: int, extra: tuple[Link, ...] = ()) -> None:
        chain = [*extra, *aliases.chain(a, b)]
        if any(link in found for link in chain):
            return
        assert chain, f"memory conflict in {fn.name} that no copy ends"
        rank = _RESULT_RANK if extra else _RANK
        found[min(chain, key=lambda link: (link.depth, rank[link.kind]))] = None

    for stmt in statements(fn.body):
        if isinstance(stmt, (ir.Store, ir.Add)) and is_memory(stmt.buf):
            number = numbers.of[stmt.buf]
            seen = live.after[id(stmt)] & ~(1 << number)
            if stmt.buf not in fn.params:
                seen |= 1 << FOREIGN
            victims = aliases.near.get(number, 0) & seen
            while victims:
                low = victims & -victims
                cut(number, low.bit_length() - 1)
                victims ^= low
    _check_results(fn, aliases, copied, cut)
    return list(found)


def _check_results(fn: ir.Function, aliases: Aliases, copied: set[Link], cut: Callable[..., None]) -> None:
    """Calls ``cut`` for each result that shares memory with another result, or memory that is not the function's own."""
    results = [
        (o, Link("return", id(fn.body), k)) for k, o in enumerate(fn.body.yields)
        if is_memory(o) and Link("return", id(fn.body), k) not in copied
    ]  # fmt: skip
    for k, (operand, link) in enumerate(results):
        number = aliases.numbers.number(operand)  # type: ignore[arg-type]
        near = aliases.near.get(number, 0)
        if near & 1 << FOREIGN:
            cut(number, FOREIGN, (link,))
        for other, _ in results[:k]:
            if other is operand:
                cut(number, number, (link,))
            elif near >> aliases.numbers.number(other) & 1:  # type: ignore[arg-type]
                cut(number, aliases.numbers.number(other), (link,))  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------------- rewriting


class _Rewriter:
    """Rewrites a function with copies at the links ``copied`` and aliases everywhere else."""

    def __init__(self, fn: ir.Function, copied: set[Link]) -> None:
        self.fn = fn
        self.shaped = _shaped(fn)
        self.copied = {(link.kind, link.node, link.k) for link in copied}
        self.same: dict[ir.Var, ir.Var] = {}  # a variable -> the one it is an alias of
        self.names: dict[ir.Var, str] = {}
        self.reads = list(uses(fn.body))
        self.computed = {v for s in statements(fn.body) if isinstance(s, (ir.Let, ir.Call)) for v in defines(s)}

    def run(self) -> Settled:
        body = self.block(self.fn.body, "return")
        return Settled(replace(self.fn, body=body), self.names)

    def is_copied(self, kind: str, node: object, k: int = 0) -> bool:
        """Whether the link of this kind at ``node``, position ``k``, is one at which memory is copied."""
        return (kind, id(node), k) in self.copied

    def operand(self, operand: ir.Operand) -> ir.Operand:
        """The operand, with an alias replaced by the variable it stands for."""
        while isinstance(operand, ir.Var) and operand in self.same:
            operand = self.same[operand]
        return operand

    def root(self, var: ir.Var) -> ir.Var:
        found = self.operand(var)
        assert isinstance(found, ir.Var)
        return found

    def merge(self, var: ir.Var, into: ir.Operand) -> None:
        """Makes ``var`` an alias of ``into``; of the two names the user's is kept."""
        assert isinstance(into, ir.Var)
        self.same[var] = into
        if var.name != ir.SYNTHETIC and self.names.get(into, into.name) == ir.SYNTHETIC:
            self.names[into] = self.names.get(var, var.name)

    def is_renamed(self, var: ir.Var, source: ir.Operand) -> bool:
        """Whether the buffer and its initial value both have names, not the same, as for an adjoint that begins as another
        value."""
        assert isinstance(source, ir.Var)
        return ir.SYNTHETIC not in (var.name, old := self.names.get(source, source.name)) and var.name != old

    def is_handed_on(self, source: ir.Var) -> bool:
        """Whether ``source`` is an adjoint that a statement computes and that is read only once: the adjoint it starts gives
        the name."""
        return source.name.endswith("_bar") and source in self.computed and self.reads.count(source) == 1

    def block(self, block: ir.Block, kind: str) -> ir.Block:
        """The block with its statements rewritten; ``kind``, of link, says what its end is: "yield", "return", or "test" for no
        link."""
        stmts = [new for stmt in block.stmts for new in self.stmt(stmt)]
        yields = self.handed(kind, block, block.yields, stmts)
        stop = None if block.stop is None else self.operand(block.stop)
        return ir.Block(block.params, stmts, yields, stop)

    def handed(
        self,
        kind: str,
        node: object,
        operands: tuple[ir.Operand, ...],
        out: list[ir.Stmt],
        names: tuple[ir.Var, ...] = (),
    ) -> tuple[ir.Operand, ...]:
        """The operands, aliases resolved, that a block or loop passes on; the copies they need are appended to ``out``.

        ``kind`` and ``node`` say which links these are; a copy of operand ``k`` has the name of ``names[k]``, or none.
        """
        found: list[ir.Operand] = []
        for k, operand in enumerate(operands):
            new = self.operand(operand)
            if self.is_copied(kind, node, k) and is_memory(new):
                name = names[k].name if names else ir.SYNTHETIC
                copy = ir.Var(name, new.type)
                out.append(ir.Let(copy, "copy", (new,), {}, getattr(node, "loc", ir.NOWHERE)))
                new = copy
            found.append(new)
        return tuple(found)

    def stmt(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        """The statements, possibly none, that stand for a statement; copies and reads that are aliases are left out."""
        match stmt:
            case ir.If():
                test = self.operand(stmt.test)
                then, orelse = self.block(stmt.then, "yield"), self.block(stmt.orelse, "yield")
                return [replace(stmt, test=test, then=then, orelse=orelse)]
            case ir.For() | ir.While():
                return self.loop(stmt)
        new: Any = map_reads(stmt, self.operand, self.root)
        match stmt:
            case ir.Alloc(prim="copy") if not self.is_copied("alloc", stmt):
                if self.is_renamed(stmt.var, new.args[0]):
                    if self.is_handed_on(new.args[0]):
                        self.names[new.args[0]] = stmt.var.name
                        self.same[stmt.var] = new.args[0]
                        return []
                    return [ir.Let(stmt.var, "identity", new.args, {}, stmt.loc, stmt.reason)]
                self.merge(stmt.var, new.args[0])
                return []
            case ir.Alloc(prim="copy"):
                # a computed array has the memory order of its operands
                params = {"order": "C"} if stmt.var in self.shaped else {}
                return [ir.Let(stmt.var, "copy", new.args, params, stmt.loc, stmt.reason)]
            case ir.Let() if self.is_copied("let", stmt):
                return self.copied_view(stmt, new)
            case ir.Let(prim="index") if not stmt.params["path"] and is_memory(stmt.var):
                self.merge(stmt.var, new.args[0])
                return []
            case ir.Push() if self.is_copied("push", stmt):
                copy = ir.Var(ir.SYNTHETIC, stmt.value.type)
                return [ir.Let(copy, "copy", (new.value,), {}, stmt.loc), replace(new, value=copy)]
        return [new]

    def loop(self, stmt: ir.For | ir.While) -> list[ir.Stmt]:
        """The copies of initial values, then the loop."""
        out: list[ir.Stmt] = []
        inits = self.handed("init", stmt, stmt.inits, out, stmt.body.params)
        mapped: Any = map_reads(stmt, self.operand)
        new = replace(mapped, inits=inits)
        if isinstance(stmt, ir.While):
            test = self.block(stmt.test, "test")
            new = replace(new, test=replace(test, params=stmt.body.params))
        return [*out, replace(new, body=self.block(stmt.body, "yield"))]

    def copied_view(self, stmt: ir.Let, new: ir.Let) -> list[ir.Stmt]:
        """The statements for a view that must be copied: the view as a new variable, then its copy; one for a read of a whole
        array."""
        if stmt.prim == "index" and not stmt.params["path"]:
            return [ir.Let(stmt.var, "copy", new.args, {}, stmt.loc, stmt.reason)]
        view = ir.Var(ir.SYNTHETIC, stmt.var.type)
        return [replace(new, var=view), ir.Let(stmt.var, "copy", (view,), {}, stmt.loc, stmt.reason)]
