"""Finds the variables that may share memory if the copies in ``copied`` are made and no others.

Memory moves along *links*: a view, an omitted copy, a value that a loop or branch carries, a pushed value. Each pair of
variables that may share memory keeps the links that cause it, so that `copy_elision` can cut one of them. `FOREIGN` stands for
memory that must not be written: the caller's arrays and read-only views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transpile.analysis.liveness import Numbers
from transpile.core import nodes as ir
from transpile.core.walk import defined
from transpile.ops.tables import prims

FOREIGN = 0  # number of the bit


@dataclass(frozen=True, slots=True)
class Link:
    """A place where memory moves: its kind, the ``id`` of the node, the position in the node, and the number of loops around
    it."""

    kind: str  # alloc, let, init, yield, return, push, pop
    node: int  # id of the statement or block
    k: int = 0
    depth: int = 0


Reason = tuple[tuple[Link, ...], tuple[int, int] | None]


def is_memory(operand: ir.Operand) -> bool:
    """Whether the operand is an array or a stack of arrays; scalars and tuples are values, never memory."""
    return isinstance(operand, ir.Var) and bool(operand.type.dims) and operand.type.kind != "tuple"


def is_view(let: ir.Let) -> bool:
    """Whether NumPy may return a view of an operand for this *let*."""
    if let.prim == "index":
        return all(not isinstance(step, ir.Index) or step.is_basic for step in let.params["path"])
    entry = prims().get(let.prim)
    return entry is not None and entry.is_view(len(let.args))


class Aliases:
    """``near[k]``: the bits of the variables that may share memory with variable ``k``, itself left out."""

    def __init__(self, fn: ir.Function, numbers: Numbers, copied: set[Link]) -> None:
        self.numbers, self.copied = numbers, copied
        self.near: dict[int, int] = {}
        self.reasons: dict[tuple[int, int], Reason] = {}
        self.items: dict[tuple[ir.Var, int], ir.Var] = {}
        # primitives with several results, which may be views -> operands
        self.tuples: dict[ir.Var, Sequence[ir.Operand]] = {}
        self.version = 0  # grows with each pair
        self.stops: dict[ir.Operand, int] = {}  # flag that ends loops -> how many
        for param in fn.params:
            if is_memory(param):
                self.add(numbers.of[param], 1 << FOREIGN, (), None)
        self.block(fn.body, 0)

    # ---- the relation

    def of(self, operand: ir.Operand) -> int:
        """The bits of the variable and of all that may share memory with it; 0 if the operand is no memory."""
        if not is_memory(operand):
            return 0
        number = self.numbers.number(operand)  # type: ignore[arg-type]
        return self.near.get(number, 0) | 1 << number

    def add(self, number: int, found: int, links: tuple[Link, ...], source: int | None) -> None:
        """Notes that variable ``number`` may share memory with those in the mask ``found``, because of ``links``.

        ``source``: the variable that shared memory with them before, None if there is none. Pairs already noted keep their
        reasons.
        """
        fresh = found & ~self.near.get(number, 0) & ~(1 << number)
        if not fresh:
            return
        self.version += 1
        self.near[number] = self.near.get(number, 0) | fresh
        while fresh:
            low = fresh & -fresh
            other = low.bit_length() - 1
            self.near[other] = self.near.get(other, 0) | 1 << number
            reason: Reason = (links, None if source is None or other == source else (source, other))
            self.reasons.setdefault((number, other), reason)
            fresh ^= low

    def chain(self, a: int, b: int) -> list[Link]:
        """The links that cause variables ``a`` and ``b`` to share memory, of which one must be cut; empty if no copy can
        separate them."""
        found: list[Link] = []
        pair: tuple[int, int] | None = (a, b)
        while pair is not None:
            reason = self.reasons.get(pair) or self.reasons.get((pair[1], pair[0]))
            if reason is None:
                break
            found += reason[0]
            pair = reason[1]
        return found

    def define(self, var: ir.Var, source: ir.Operand, link: Link) -> None:
        """Notes that ``var`` may have the memory of ``source``, unless the link is cut or one of them is no memory."""
        if is_memory(var) and is_memory(source) and link not in self.copied:
            number = self.numbers.number(source)  # type: ignore[arg-type]
            self.add(self.numbers.number(var), self.of(source), (link,), number)

    # ---- statements

    def block(self, block: ir.Block, depth: int) -> None:
        for stmt in block.stmts:
            self.stmt(stmt, depth)

    def stmt(self, stmt: ir.Stmt, depth: int) -> None:
        """Notes what a statement, under ``depth`` loops, makes share memory."""
        match stmt:
            case ir.Let():
                self.let(stmt, depth)
            case ir.Alloc(prim="copy"):
                self.define(stmt.var, stmt.args[0], Link("alloc", id(stmt), 0, depth))
            case ir.Push():
                self.define(stmt.stack, stmt.value, Link("push", id(stmt), 0, depth))
            case ir.Pop():
                self.define(stmt.var, stmt.stack, Link("pop", id(stmt), 0, depth))
            case ir.If():
                inner = self.numbers.mask((*defined(stmt.then), *defined(stmt.orelse), *stmt.results))
                for side in (stmt.then, stmt.orelse):
                    at = depth - self.ended(stmt, side)
                    self.block(side, at)
                    self.join(
                        stmt.results,
                        side.yields,
                        [Link("yield", id(side), k, at) for k in range(len(side.yields))],
                        inner,
                    )
            case ir.For() | ir.While():
                self.loop(stmt, depth)

    def ended(self, stmt: ir.If, side: ir.Block) -> int:
        """The number of loops that this side of a branch ends: its statements run once in these loops."""
        found = 0
        for result, value in zip(stmt.results, side.yields):
            levels = self.stops.get(result, 0)
            if isinstance(value, ir.Const):
                found = max(found, levels if value.value else 0)
            elif levels:
                self.stops[value] = levels
        return found

    def let(self, stmt: ir.Let, depth: int) -> None:
        """Notes what a *let* makes share memory; a view that must not be written shares memory with `FOREIGN`."""
        if stmt.prim == "item" and isinstance(stmt.args[0], ir.Var):
            for source in self.tuples.get(stmt.args[0], ()):
                self.define(stmt.var, source, Link("let", id(stmt), 0, depth))
            first = self.items.setdefault((stmt.args[0], stmt.params["k"]), stmt.var)
            if first is not stmt.var:
                self.define(stmt.var, first, Link("let", id(stmt), 0, depth))
            return
        if is_view(stmt) and stmt.var.type.kind == "tuple":
            self.tuples[stmt.var] = stmt.args
        if not is_view(stmt) or not stmt.var.type.dims:
            return
        sources = stmt.args[:1]
        link = Link("let", id(stmt), 0, depth)
        for source in sources:
            self.define(stmt.var, source, link)
        if not prims()[stmt.prim].is_writable and is_memory(sources[0]) and link not in self.copied:
            self.add(self.numbers.number(stmt.var), 1 << FOREIGN, (link,), None)

    def loop(self, stmt: ir.For | ir.While, depth: int) -> None:
        """Notes what a loop makes share memory, repeating its blocks until nothing is new."""
        m = self.numbers
        if isinstance(stop := stmt.body.stop, ir.Var):
            around = [self.stops.get(r, 0) for r, y in zip(stmt.results, stmt.body.yields) if y is stop]
            self.stops[stop] = 1 + max(around, default=0)
        params, n = stmt.body.params, len(stmt.inits)
        inits = [Link("init", id(stmt), k, depth) for k in range(n)]
        outs = [Link("yield", id(stmt.body), k, depth + 1) for k in range(n)]
        inner = m.mask(defined(stmt.body)) | (m.mask(defined(stmt.test)) if isinstance(stmt, ir.While) else 0)
        inner |= m.mask(stmt.results)
        self.join(params, stmt.inits, inits, inner)
        while True:
            before = self.version
            if isinstance(stmt, ir.While):
                self.block(stmt.test, depth + 1)
            self.block(stmt.body, depth + 1)
            self.join(params, stmt.body.yields, outs, inner)
            if self.version == before:
                break
        self.join(stmt.results, stmt.inits, inits, inner)
        self.join(stmt.results, stmt.body.yields, outs, inner)

    def join(self, targets: Sequence[ir.Var], sources: Sequence[ir.Operand], links: Sequence[Link], inner: int) -> None:
        """Notes ``targets = sources``, all at once, by these ``links``; cut links are left out.

        ``inner``: a mask of variables, dead afterwards or not yet defined, with which no target is noted to share memory by its
        source.
        """
        pairs: list[tuple[ir.Var, int, Link]] = []
        for target, source, link in zip(targets, sources, links):
            if is_memory(target) and is_memory(source) and link not in self.copied:
                pairs.append((target, self.numbers.number(source), link))  # type: ignore[arg-type]
        found = [(self.near.get(s, 0) | 1 << s) for _, s, _ in pairs]
        for (target, origin, link), near in zip(pairs, found):
            self.add(self.numbers.number(target), near & ~inner, (link,), origin)
        for i, (a, source_a, link_a) in enumerate(pairs):
            for _j, (b, source_b, link_b) in enumerate(pairs[:i]):
                if found[i] >> source_b & 1:
                    number, other = self.numbers.number(a), self.numbers.number(b)
                    fresh = not self.near.get(number, 0) >> other & 1
                    self.add(number, 1 << other, (link_a, link_b), None)
                    if fresh and source_a != source_b:
                        self.reasons[(number, other)] = ((link_a, link_b), (source_a, source_b))


__all__ = ["FOREIGN", "Aliases", "Link", "is_memory", "is_view"]
