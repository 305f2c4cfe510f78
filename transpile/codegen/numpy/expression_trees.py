"""Nests expressions: a value without a user's name that is used once becomes part of the expression that uses it.

Python evaluates a nested expression in place, so a value moves to the statement that uses it. It may move if nothing that it
reads is written in between and it does not enter a loop. A value with the user's name stays a statement. Reads of an element,
transposes and sizes are cheap: they may be repeated at each use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from transpile.analysis.liveness import Numbers, stmt_reads
from transpile.codegen.numpy.memory_sharing import Aliases
from transpile.codegen.numpy.printed_shapes import Shape
from transpile.core import nodes as ir
from transpile.core.functions import must_run
from transpile.core.walk import blocks, defines, leaves, reads, statements, written
from transpile.ops.tables import prims, record_of

WEIGHT = 12  # maximum number of operations in one expression
CHOICE = 3  # weight of a conditional expression
COPIES = 3  # how often a cheap value may be repeated
FLAGS = ("_result", "_done", "_stop")  # the frontend's names for flags of exits
FREE = ("index", "transpose", "dim", "item", "cast", "broadcast", "stretch", "sized", "copy")
STEPS = ("+", "-", "*", "//", "%")  # operators of ``i - 1`` or ``i % 3``


Tree = ir.Let | ir.If | ir.Call
Trees = dict[ir.Var, Tree]


@dataclass(frozen=True)
class Nested:
    """A function without the statements that are nested in others; ``trees`` maps their variables to them.

    ``aliases``: which variables may share memory, with no copy but those in the code.
    """

    fn: ir.Function
    trees: Trees
    aliases: Aliases
    tests: frozenset[ir.Var] = frozenset()  # results of branches of which only the truth is used

    def is_connective(self, stmt: ir.If) -> bool:
        """Whether a branch with one result can be printed as ``a and b`` or ``a or b``, which give one of their operands.

        Either only the truth of the result is used, or the result is a Python bool exactly if the test is one. Whether one side
        is a suitable constant is not checked here.
        """
        (result,) = stmt.results
        return result.type.is_bool and (result in self.tests or result.type.weak == stmt.test.type.weak)

    def leaves(self, operands: Iterable[ir.Operand]) -> Iterator[ir.Var]:
        """Yields the variables, not nested themselves, that are read when the operands are evaluated."""
        for operand in operands:
            if not isinstance(operand, ir.Var):
                continue
            tree = self.trees.get(operand)
            if tree is None:
                yield operand
            elif isinstance(tree, ir.If):
                yield from self.leaves((tree.test, *tree.then.yields, *tree.orelse.yields))
            else:
                yield from self.leaves(tree.args)

    def reads(self, stmt: ir.Stmt) -> Iterator[ir.Var]:
        """Yields the variables that a statement reads by itself, through nested expressions; the buffer that it writes
        counts."""
        return self.leaves(stmt_reads(stmt))

    def ends(self, block: ir.Block) -> Iterator[ir.Var]:
        """Yields the variables that the end of a block reads, through nested expressions."""
        return self.leaves(leaves(block))

    def everything_read(self) -> set[ir.Var]:
        """All variables that are read anywhere."""
        found = set(self.ends(self.fn.body))
        for stmt in statements(self.fn.body):
            found.update(self.reads(stmt), *(self.ends(b) for b in blocks(stmt)))
        return found

    def passed_over(self) -> set[ir.Var]:
        """Unread results of calls with several results: they are printed as ``_``."""
        calls = [s for s in statements(self.fn.body) if isinstance(s, ir.Call) and len(s.results) > 1]
        return {r for s in calls for r in s.results} - self.everything_read() if calls else set()


def nest(fn: ir.Function, names: dict[ir.Var, str]) -> Nested:
    """``fn`` with values nested into the statements that use them; ``names`` has better names for merged variables
    (`Settled`)."""
    nester = _Nester(fn, names)
    nester.block(fn.body)
    branches = [s for s in statements(fn.body) if isinstance(s, ir.If) and len(s.results) == 1]
    tests = frozenset(s.results[0] for s in branches if nester.is_test(s.results[0]))
    nested = Nested(fn, nester.trees, nester.aliases, tests)
    return replace(nested, fn=replace(fn, body=_without(fn.body, nested)))


def is_synthetic(name: str) -> bool:
    """Whether a name is the compiler's placeholder for a value to which the user gave no name."""
    return name == ir.SYNTHETIC


@dataclass(frozen=True, slots=True)
class _Site:
    """Where an expression is evaluated: before statement ``at`` of a block, or at its end if there is no such statement.

    With ``stop`` it is evaluated there as the block's ``stop``.
    """

    block: ir.Block
    at: int
    stop: bool = False


@dataclass(frozen=True, slots=True)
class _Use:
    """A use of a value: where, by which statement or block, and as which of its operands (-1: the ``stop`` of a block)."""

    site: _Site
    by: ir.Stmt | ir.Block
    slot: int


class _Nester:
    """Decides which values are nested: fills ``trees``."""

    def __init__(self, fn: ir.Function, names: dict[ir.Var, str]) -> None:
        self.fn, self.names = fn, names
        self.numbers = Numbers(fn, reserved=1)
        self.aliases = Aliases(fn, self.numbers, set())
        self.trees: Trees = {}
        self.uses: dict[ir.Var, list[_Use]] = {}
        # id of a block -> the block around, the position in it, whether it is a loop's
        self.parents: dict[int, tuple[ir.Block, int, bool]] = {}
        self.owners: dict[int, ir.If] = {}  # id of a branch's side -> the branch
        self.sites: dict[ir.Var, tuple[_Site, ...]] = {}  # nested variable -> where it is evaluated
        self.weights: dict[tuple[int, int], int] = {}
        self.defs: dict[ir.Var, ir.Let | ir.Call] = {}
        self.pinned: set[ir.Var] = set()
        self.writes: dict[int, int] = {}
        self.heads = {id(s.test) for s in statements(fn.body) if isinstance(s, ir.While)}
        self.scan(fn.body)

    # ---- facts

    def scan(self, block: ir.Block) -> None:
        """Collects the facts about a block: uses, definitions, writes, and where nested blocks stand."""
        for at, stmt in enumerate(block.stmts):
            site = _Site(block, at)
            root = written(stmt)
            if root is not None:
                self.pinned.add(root)
            self.writes[id(stmt)] = self.write_mask(stmt)
            for slot, operand in enumerate(reads(stmt)):
                self.use(operand, _Use(site, stmt, slot))
            if isinstance(stmt, (ir.Let, ir.Call)):
                self.defs.update(dict.fromkeys(defines(stmt), stmt))
            for inner in blocks(stmt):
                is_loop = not isinstance(stmt, ir.If)
                self.parents[id(inner)] = (block, at, is_loop)
                if isinstance(stmt, ir.If):
                    self.owners[id(inner)] = stmt
                self.scan(inner)
        end = _Site(block, len(block.stmts))
        for slot, operand in enumerate(block.yields):
            self.use(operand, _Use(end, block, slot))
        if block.stop is not None:
            self.use(block.stop, _Use(replace(end, stop=True), block, -1))

    def use(self, operand: ir.Operand, use: _Use) -> None:
        if isinstance(operand, ir.Var):
            self.uses.setdefault(operand, []).append(use)

    def write_mask(self, stmt: ir.Stmt) -> int:
        """The bits of the buffers that a statement, or one in its blocks, writes."""
        mask = 0
        for inner in (stmt, *(s for b in blocks(stmt) for s in statements(b))):
            if isinstance(inner, (ir.Store, ir.Add)):
                mask |= self.numbers.bit(inner.buf)
        return mask

    # ---- the walk, from the last statement to the first: the users of a value are decided before the value

    def block(self, block: ir.Block) -> None:
        """Decides for all statements of a block, nested ones too."""
        for at in range(len(block.stmts) - 1, -1, -1):
            stmt = block.stmts[at]
            for inner in reversed(blocks(stmt)):
                self.block(inner)
            match stmt:
                case ir.Let() | ir.Call(results=(_,)):
                    self.decide(block, at, stmt, stmt.var, stmt.args)
                case ir.If() if self.is_expression(stmt):
                    (result,) = stmt.results
                    self.decide(block, at, stmt, result, self.deep(stmt))

    def is_expression(self, stmt: ir.If) -> bool:
        """Whether the branch can be printed as a conditional expression: it has one result, and all statements in it are
        nested."""
        if len(stmt.results) != 1:
            return False
        return all(
            all(self.is_nested(s) for s in side.stmts) and not isinstance(side.yields[0], ir.Undef)
            for side in (stmt.then, stmt.orelse)
        )

    def is_nested(self, stmt: ir.Stmt) -> bool:
        """Whether the statement is part of an expression."""
        return isinstance(stmt, Tree) and any(self.trees.get(v) is stmt for v in defines(stmt))

    def deep(self, stmt: ir.If) -> tuple[ir.Operand, ...]:
        """All operands, not nested themselves, that a conditional expression reads, test included."""
        out: list[ir.Operand] = []

        def expand(operand: ir.Operand) -> None:
            tree = self.trees.get(operand) if isinstance(operand, ir.Var) else None
            if isinstance(tree, (ir.Let, ir.Call)):
                for a in tree.args:
                    expand(a)
            elif isinstance(tree, ir.If):
                for a in (tree.test, *tree.then.yields, *tree.orelse.yields):
                    expand(a)
            else:
                out.append(operand)

        for operand in (stmt.test, *stmt.then.yields, *stmt.orelse.yields):
            expand(operand)
        return tuple(out)

    def decide(self, block: ir.Block, at: int, stmt: Tree, var: ir.Var, args: tuple[ir.Operand, ...]) -> None:
        """Nests ``stmt``, at position ``at`` of the block, where ``var`` is used, if it may move there and is not too long.

        ``args`` are the operands that it reads there.
        """
        uses = self.uses.get(var, [])
        if (
            not uses
            or not (self.may_move(stmt, var) or self.is_late(block, at, stmt, var))
            or not all(self.takes(use, stmt) for use in uses)
        ):
            return
        if any(use.slot < 0 for use in uses) and all(use.by is uses[0].by for use in uses):
            uses = [
                use for use in uses if use.slot < 0
            ]  # a stop flag is often carried as well, to be tested after the loop
        sites = tuple(site for use in uses for site in self.resolved(use))
        is_step = self.is_step(stmt)
        if len(sites) > (COPIES if self.is_cheap(stmt) else 1) and not is_step:
            return
        read = 0
        for arg in args:
            if isinstance(arg, ir.Var):
                read |= self.aliases.of(arg) or self.numbers.bit(arg)
        read &= ~1
        if not all(self.reaches(block, at, site, read, stmt) for site in sites):
            return
        weight = 0 if is_step or (isinstance(stmt, ir.Let) and stmt.prim in FREE) else 1
        is_choice = isinstance(stmt, ir.Let) and stmt.prim == "where" and not var.type.dims
        weight = CHOICE if isinstance(stmt, ir.If) or is_choice else weight
        keys = [(id(site.block), site.at) for site in sites]
        if any(self.weights.get(key, 0) + weight > WEIGHT for key in keys):
            return
        for key in keys:
            self.weights[key] = self.weights.get(key, 0) + weight
        self.trees[var] = stmt
        self.sites[var] = sites

    def resolved(self, use: _Use) -> tuple[_Site, ...]:
        """The sites where the use is evaluated in the text: if the user is itself nested, the sites of the expression around
        it."""
        if isinstance(use.by, Tree):
            (target,) = defines(use.by)[:1] or (None,)
            if target in self.trees and self.trees[target] is use.by:
                return tuple(found for site in self.sites[target] for found in self.outside(site))
        return self.outside(use.site)

    def outside(self, site: _Site) -> tuple[_Site, ...]:
        """The sites where an expression at this site is evaluated in the text. Inside a side of a branch that is printed as a
        conditional expression, these are the sites of that expression, or of those around it."""
        owner = self.owners.get(id(site.block))
        if owner is None or not owner.results or self.trees.get(owner.results[0]) is not owner:
            return (site,)
        return tuple(found for s in self.sites[owner.results[0]] for found in self.outside(s))

    def may_move(self, stmt: Tree, var: ir.Var) -> bool:
        """Whether the value may be nested at all, wherever it is used.

        It must be an array or number without a user's name (or a flag, or the cast in ``return float(x)``), its memory never
        written, and its statement not one that must run in its place.
        """
        name = self.names.get(var, var.name)
        ours = is_synthetic(name) or name in FLAGS and not isinstance(stmt, ir.If)
        ours = ours or isinstance(stmt, ir.Let) and self.is_last_cast(stmt, name)
        if var in self.pinned or var.type.kind != "array" or not ours or must_run(stmt):
            return False
        return not isinstance(stmt, ir.Let) or stmt.prim != "item"

    def is_last_cast(self, stmt: ir.Let, name: str) -> bool:
        """Whether a statement is the cast in ``return float(x)``: of a scalar of the same name, used only by the return."""
        source, uses = stmt.args[0] if stmt.args else None, self.uses.get(stmt.var, [])
        if stmt.prim != "cast" or stmt.var.type.dims or not isinstance(source, ir.Var):
            return False
        return self.names.get(source, source.name) == name and all(use.by is self.fn.body for use in uses)

    def is_late(self, block: ir.Block, at: int, stmt: Tree, var: ir.Var, first: bool = True) -> bool:
        """Whether ``stmt`` computes a carried variable's next value while its present value, so named too, is still read later.

        It is better set at the end. The statements that still read it may themselves be late, as when two variables are
        swapped; ``first`` False: these are not asked again.
        """
        uses = self.uses.get(var, [])
        if len(uses) != 1 or uses[0].by is not block or uses[0].slot < 0 or not block.params or var in self.pinned:
            return False
        param = block.params[uses[0].slot]
        if (
            self.names.get(param, param.name) != self.names.get(var, var.name)
            or isinstance(stmt, ir.Let)
            and stmt.prim == "item"
        ):
            return False
        reads = self.uses.get(param, ())
        if any(self.position(use.site, block) > at for use in reads):
            return True
        late = [(use.by, use.site) for use in reads if use.site.block is block and use.by is not stmt]
        return first and any(
            self.is_late(block, site.at, by, by.var, False)
            for by, site in late
            if isinstance(by, ir.Let) or isinstance(by, ir.Call) and len(by.results) == 1
        )

    def position(self, site: _Site, block: ir.Block) -> int:
        """The position of the statement of ``block`` in which the site stands, or before which; -1 if the site is not in the
        block."""
        here, at = site.block, site.at
        while here is not block:
            if id(here) not in self.parents:
                return -1
            here, at, _ = self.parents[id(here)]
        return at

    def is_cheap(self, stmt: Tree) -> bool:
        """Whether a statement may be repeated at each use: it reads one element, the size of an axis, or a transpose, of a
        named value."""
        if not isinstance(stmt, ir.Let):
            return False
        if stmt.prim == "index":
            path = stmt.params["path"]
            points = all(isinstance(s, ir.Index) and all(isinstance(i, ir.Point) for i in s.items) for s in path)
            return not stmt.var.type.dims and points and self.is_named(stmt.args[0])
        return stmt.prim in ("dim", "transpose") and self.is_named(stmt.args[0])

    def is_step(self, stmt: Tree) -> bool:
        """Whether a statement combines a named integer with a constant other than 0 by ``+``, ``-``, ``*``, ``//`` or ``%``.

        ``i - 1`` is repeated at each use, as a person would write it.
        """
        if not isinstance(stmt, ir.Let) or len(stmt.args) != 2 or stmt.var.type.dims or not stmt.var.type.is_int:
            return False
        operator = record_of(stmt).operator
        if operator is None or operator.sign not in STEPS:
            return False
        first, second = stmt.args
        if isinstance(first, ir.Const) and record_of(stmt).commutes:
            first, second = second, first
        return isinstance(second, ir.Const) and second.value != 0 and self.is_named(first)

    def is_named(self, operand: ir.Operand) -> bool:
        """Whether the operand is a variable with a user's name, or one that no *let* or call defines, such as a parameter."""
        return isinstance(operand, ir.Var) and (
            operand not in self.defs or not is_synthetic(self.names.get(operand, operand.name))
        )

    def takes(self, use: _Use, stmt: Tree) -> bool:
        """Whether the text of the use has room for the expression of ``stmt``.

        It has none where only a name may stand, nor where the operand is printed more than once, unless ``stmt`` is cheap or a
        step.
        """
        by = use.by
        if isinstance(by, ir.Let):
            if by.prim == "item" or (by.prim == "dim" and not self.is_cheap(stmt)):
                return False
            shape = by.params.get("shape")
            if isinstance(shape, Shape) and use.slot in (shape.like, shape.of):
                return False
            return not is_repeated(by.prim, use.slot) or self.is_cheap(stmt) or self.is_step(stmt)
        return True

    def is_test(self, var: ir.Var) -> bool:
        """Whether only the truth of the value is used, or it is a flag of the frontend."""
        return var.name in FLAGS or all(map(self.asks_truth, self.uses.get(var, [])))

    def asks_truth(self, use: _Use) -> bool:
        """Whether this use needs only the truth of the value."""
        match use.by:
            case ir.If():
                return use.slot == 0
            case ir.Store():
                return use.by.value.type.is_bool and use.by.buf.type.is_bool
            case ir.Let():
                return record_of(use.by).is_negation
            case ir.Block() if use.slot >= 0 and id(use.by) in self.owners:
                return self.is_test(self.owners[id(use.by)].results[use.slot])
            case ir.Block():
                return use.slot < 0 or id(use.by) in self.heads
        return False

    # ---- moving

    def reaches(self, block: ir.Block, at: int, site: _Site, read: int, stmt: Tree) -> bool:
        """Whether nothing writes ``read``, a mask of memory, between statement ``at`` of the block and the site.

        There must be no loop in between, unless ``stmt`` is a step, and a site that is a ``stop`` must not read carried values.
        """
        here, upto = site.block, site.at
        while here is not block:
            parent, position, is_loop = self.parents[id(here)]
            if (is_loop and not self.is_step(stmt)) or self.is_written(here, 0, upto, read):
                return False
            here, upto = parent, position
        if self.is_written(block, at + 1, upto, read):
            return False
        return not site.stop or not self.reads_carried(site.block, stmt)

    def is_written(self, block: ir.Block, start: int, stop: int, read: int) -> bool:
        """Whether one of the statements from ``start`` up to, not including, ``stop`` writes memory in the mask ``read``."""
        return any(self.writes[id(s)] & read for s in block.stmts[start:stop])

    def reads_carried(self, block: ir.Block, stmt: Tree) -> bool:
        """Whether ``stmt``, as the ``stop`` of the block, would read old carried values: these have been replaced by then."""
        old = {p for p, y in zip(block.params, block.yields) if p is not y}
        todo: list[ir.Operand] = list(self.deep(stmt) if isinstance(stmt, ir.If) else stmt.args)
        while todo:
            operand = todo.pop()
            if operand in old:
                return True
            if (
                isinstance(operand, ir.Var)
                and operand in self.defs
                and is_synthetic(self.names.get(operand, operand.name))
            ):
                todo += self.defs[operand].args
        return False


def renamings(stmts: Sequence[ir.Stmt], at: int, nested: Nested) -> int:
    """The number (at least 1) of consecutive ``identity`` statements from ``at`` on that read none of each other's results.

    They are printed as one assignment, ``a, b = b, a``. It is 1 also if there is none.
    """
    made: set[ir.Operand] = set()
    for stmt in stmts[at:]:
        if not isinstance(stmt, ir.Let) or stmt.prim != "identity" or not made.isdisjoint(nested.leaves(stmt.args)):
            break
        made.add(stmt.var)
    return max(len(made), 1)


def is_repeated(prim: str, slot: int) -> bool:
    """Whether the template of a primitive mentions operand ``slot`` more than once; False for other spellings."""
    entry = prims().get(prim)
    return entry is not None and isinstance(entry.render, str) and len(re.findall(rf"\{{{slot}\}}", entry.render)) > 1


def _without(block: ir.Block, nested: Nested) -> ir.Block:
    """The block without nested statements; a branch that is ``and`` or ``or`` becomes a *let*."""
    stmts: list[ir.Stmt] = []
    trees = nested.trees
    for stmt in block.stmts:
        if isinstance(stmt, Tree) and any(trees.get(v) is stmt for v in defines(stmt)):
            continue
        match stmt:
            case ir.If():
                stmt = replace(stmt, then=_without(stmt.then, nested), orelse=_without(stmt.orelse, nested))
                stmt = _connective(stmt, nested) or stmt
            case ir.For():
                stmt = replace(stmt, body=_without(stmt.body, nested))
            case ir.While():
                stmt = replace(stmt, test=_without(stmt.test, nested), body=_without(stmt.body, nested))
        stmts.append(stmt)
    return ir.Block(block.params, stmts, block.yields, block.stop)


def _connective(stmt: ir.If, nested: Nested) -> ir.Let | None:
    """The branch as ``t = a and b`` or ``t = a or b``; None if it is neither.

    The operands of the branch are nested, so they are evaluated no earlier than before.
    """
    if len(stmt.results) != 1 or not nested.is_connective(stmt) or stmt.then.stmts or stmt.orelse.stmts:
        return None
    (result,), (a,), (b,) = stmt.results, stmt.then.yields, stmt.orelse.yields
    if isinstance(b, ir.Const) and not b.value and not isinstance(a, ir.Undef):
        return ir.Let(result, "logical_and", (stmt.test, a), {}, stmt.loc)
    if isinstance(a, ir.Const) and a.value and not isinstance(b, ir.Undef):
        return ir.Let(result, "logical_or", (stmt.test, b), {}, stmt.loc)
    return None


__all__ = ["Nested", "Tree", "Trees", "is_synthetic", "nest", "renamings"]
