"""Which statements of a function run for all lanes at once, which lane by lane, and in which order.

A statement is *shared* (it does not depend on the data of any lane), *whole* (one statement does it for all lanes) or *by
lane*. Statements by lane stand in regions, ``for lane in range(batch): ...``. Each block is ordered so that it has as few
regions as its dependences allow.

By lane run statements whose control flow differs between lanes, primitives without a rule for all lanes at once, prints and
raises, and statements that define or read a value that cannot leave a region, because its size differs between lanes or because
it may be undefined. A collective over the lanes is never by lane.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

from transpile.analysis.mapped import Mapped, acts_in_lanes, below_branches
from transpile.core import nodes as ir
from transpile.core.functions import computes
from transpile.core.walk import blocks, defined, defines, leaves, reads, statements, written
from transpile.ops.tables import prims
from transpile.transform.batching.contradictions import Apart, Differs, Escapes
from transpile.transform.batching.families import FAMILIES, Made
from transpile.transform.batching.lane_places import can_shift, is_fill
from transpile.transform.batching.named_axis import Axis
from transpile.transform.batching.statement_order import Links, Step, all_reads


class WholeCall(Protocol):
    """A call of a function with a custom rule, as one call for all lanes: `transpile.transform.batching.decided.Parts`."""

    def is_dear(self) -> bool: ...


C = TypeVar("C", bound=WholeCall)


class Modes(Generic[C]):
    """``steps``: for each block, by its id, its statements in order, alone or together in a region. ``together``: all
    statements except products and draws for all lanes at once run in regions, as compiled code is fastest lane by lane."""

    def __init__(
        self,
        fn: ir.Function,
        mapped: Mapped,
        together: bool,
        call: Callable[[ir.Call], C],
        elsewhere: Collection[int] = (),
        axis: Axis | None = None,
    ) -> None:
        self.call = call  # the functions of a call for all lanes; raises `Escapes` if there are none
        self.fn, self.mapped, self.together, self.axis = fn, mapped, together, axis
        self.elsewhere = elsewhere  # ids of statements that are emitted elsewhere, for all lanes at once
        self.prims = prims()
        self.under = below_branches(mapped, fn)
        self.forced: set[int] = set()  # ids of statements that run by lane because of others
        self.known: dict[int, bool] = {}
        self.steps: dict[int, list[Step]] = {}
        self.maybe = _maybe_undefined(fn.body)
        self.sized = self.named_sizes()
        self.refuse_shared_gaps()
        self.calls: dict[int, C] = {}  # calls that can be whole
        self.effects = {id(s) for s in statements(fn.body) if acts_in_lanes(mapped, s, self.under)}
        self.block(fn.body, None)

    def refuse_shared_gaps(self) -> None:
        """Raises `Differs` for a value that lanes share, that may be undefined, and that a branch or loop passes to a value
        that differs: an undefined value cannot be broadcast to all lanes."""
        for stmt in statements(self.fn.body):
            match stmt:
                case ir.If():
                    given = [*zip(stmt.results, stmt.then.yields), *zip(stmt.results, stmt.orelse.yields)]
                case ir.For() | ir.While():
                    given = [*zip(stmt.results, stmt.inits), *zip(stmt.results, stmt.body.yields)]
                case _:
                    continue
            for result, op in given:
                if op in self.maybe and self.mapped.has(result) and not self.mapped.has(op):
                    raise Differs(op)

    def named_sizes(self) -> dict[ir.Var, ir.Var]:
        """Maps each value with a size that all lanes share, but that is known only once the value exists, to the variable of
        this size."""
        found: dict[ir.Var, ir.Var] = {}
        for name, size in self.fn.symbols.items():
            let = self.mapped.made.get(size) if isinstance(size, ir.Var) else None
            if not isinstance(let, ir.Let) or let.prim != "dim" or self.mapped.has(let.var):
                continue
            (source,) = let.args
            if isinstance(source, ir.Var) and name in source.type.dims[let.params["axis"]].symbols():
                found.setdefault(source, let.var)
                item = self.mapped.made.get(source)
                if isinstance(item, ir.Let) and item.prim == "item" and isinstance(item.args[0], ir.Var):
                    found.setdefault(item.args[0], let.var)  # the primitive that defines all items at once
        return found

    # ---- single statements

    def is_shared(self, stmt: ir.Stmt) -> bool:
        """Whether nothing in the statement, or in one nested in it, differs between lanes, so that it runs once for all of
        them."""
        has = self.mapped.has
        if self.is_common(stmt):
            return False
        for one in (stmt, *(s for b in blocks(stmt) for s in statements(b))):
            root = written(one)
            if has(*defines(one)) or root is not None and has(root) or id(one) in self.effects:
                return False
            if self.mapped.diverges(one) or has(*reads(one)) and not isinstance(one, ir.Let):
                return False
            if isinstance(one, ir.Let) and has(*one.args):
                return False
        return True

    def is_common(self, stmt: ir.Stmt) -> bool:
        """Whether all lanes must reach the statement together: it is, or contains, a collective over their axis."""
        return self.axis is not None and self.axis.is_in(stmt)

    def is_lane(self, stmt: ir.Stmt) -> bool:
        """Whether a statement runs lane by lane; decided once. Raises `Apart` if it does although all lanes must reach it
        together."""
        found = self.known.get(id(stmt))
        if found is None:
            self.known[id(stmt)] = found = self.decide(stmt)
            if found and self.is_common(stmt):
                raise Apart(stmt)
        return found

    def decide(self, stmt: ir.Stmt) -> bool:
        """Whether a statement runs lane by lane, decided anew; blocks nested in it are divided into steps on the way."""
        if id(stmt) in self.forced:
            return True
        if self.is_shared(stmt) or id(stmt) in self.elsewhere:
            return False
        if self.must(stmt):
            return True
        for block in blocks(stmt):
            self.block(block, stmt)
        if id(stmt) in self.forced:
            return True
        return self.together and not self.is_common(stmt) and self.prefers(stmt)

    def must(self, stmt: ir.Stmt) -> bool:
        """Whether the statement, which is not shared, can only run lane by lane."""
        match stmt:
            case ir.Effect():
                return True
            case ir.Call(function=ir.Routine()):
                return any(self.mapped.has_size(v.type) for v in (*stmt.args, *stmt.results)) \
                    or not self.goes_equally_deep(stmt)  # fmt: skip
            case ir.Call():
                return id(stmt) in self.effects or not self.can_call(stmt)
            case ir.If() | ir.For() | ir.While():
                if self.mapped.diverges(stmt) or self.holds_effect(stmt):
                    return True
                return any(self.mapped.has_size(v.type) for v in (*defines(stmt), *_params(stmt)))
            case ir.Let() | ir.Alloc():
                if any(self.mapped.has_size(t) for t in (stmt.var.type, *(a.type for a in stmt.args))):
                    return True
                if self.mapped.collective(stmt) is not None:
                    return False
                return not self.can(stmt)
            case ir.Store() | ir.Add():
                if self.mapped.has_size(stmt.value.type) or self.mapped.has_size(stmt.buf.type):
                    return True
                if is_fill(stmt) and self.mapped.has(stmt.args[0]):
                    return False
                return not can_shift(stmt.path, stmt.args, self.mapped.has)
        return False

    def can(self, stmt: ir.Let | ir.Alloc) -> bool:
        """Whether there is a rule for the statement on all lanes at once, for the operands that differ."""
        name = self.prims[stmt.prim].family
        if name == "place":
            return can_shift(stmt.params["path"], stmt.args[1:], self.mapped.has)
        if name == "size":
            return True
        family = FAMILIES.get(name)
        made = Made(stmt.prim, stmt.args, stmt.params, stmt.var.type)
        return family is not None and family.can(made, self.mapped.has)

    def goes_equally_deep(self, stmt: ir.Call) -> bool:
        """Whether a call of a kept function can be one call for all lanes: the recursion surely has the same depth in all of
        them."""
        found = self.mapped.called_as(stmt)
        return not (found.splits or any(found.sizes))

    def can_call(self, stmt: ir.Call) -> bool:
        """Whether a function with a custom rule can be called for all lanes at once: no size in it differs between lanes. If
        so, its functions for all lanes are noted in ``calls``."""
        if any(self.mapped.has_size(v.type) for v in (*stmt.args, *stmt.results)):
            return False
        try:
            self.calls[id(stmt)] = self.call(stmt)
        except Escapes:
            return False
        return True

    def holds_effect(self, stmt: ir.Stmt) -> bool:
        """Whether a statement nested in ``stmt`` has an effect, such as a print or an exception, in single lanes."""
        return any(id(s) in self.effects for b in blocks(stmt) for s in statements(b))

    def prefers(self, stmt: ir.Stmt) -> bool:
        """Whether a statement that could run for all lanes at once runs lane by lane in compiled code (``together``), where
        that is faster."""
        if isinstance(stmt, (ir.NewStack, ir.Push, ir.Pop)) or any(v in self.sized for v in defines(stmt)):
            return False
        if isinstance(stmt, (ir.If, ir.For, ir.While)):
            inside = [s for b in blocks(stmt) for s in statements(b)]
            if any(not self.mapped.has(v) for v in defines(stmt)):
                return False  # it defines a shared value
            if any((root := written(s)) is not None and not self.mapped.has(root) for s in inside):
                return False
            return not any(self.is_dear(s) or isinstance(s, (ir.NewStack, ir.Push, ir.Pop)) for s in inside)
        if (
            isinstance(stmt, ir.Let)
            and stmt.prim == "dim"
            or computes(stmt)
            and any(map(self.is_measured, defines(stmt)))
        ):
            return False
        return not self.is_dear(stmt)

    def is_measured(self, var: ir.Var) -> bool:
        """Whether a size of the value is known only once the value exists, so that memory for all lanes cannot be allocated
        before."""
        sizes = [self.fn.symbols.get(name) for dim in var.type.dims for name in dim.symbols()]
        made = [self.mapped.made.get(size) for size in sizes if isinstance(size, ir.Var)]
        return any(isinstance(m, ir.Let) and m.prim == "dim" and m.args[0] is var for m in made)

    def is_dear(self, stmt: ir.Stmt) -> bool:
        """Whether the statement is a product that is one call for all lanes, since lanes share a matrix, or a draw, whose steps
        wait for each other in one lane but not across lanes; or a call that contains one."""
        if isinstance(stmt, ir.Call):
            return id(stmt) in self.calls and self.calls[id(stmt)].is_dear()
        if not isinstance(stmt, ir.Let) or not self.mapped.has(stmt.var):
            return False
        if self.prims[stmt.prim].family == "draw":
            return True
        shared = any(not self.mapped.has(a) and a.type.rank >= 2 for a in stmt.args)
        return shared and self.prims[stmt.prim].together

    # ---- blocks

    def block(self, block: ir.Block, owner: ir.Stmt | None) -> None:
        """Divides a block into steps, noted in ``steps``. ``owner``: the statement that the block is part of, None for the
        function's body; it is forced to run lane by lane if a value that cannot leave a region has to leave the block."""
        stmts = block.stmts
        links = Links(self.fn, block, self.together)
        while True:
            lane = [self.is_lane(s) for s in stmts]
            if owner is not None and id(owner) in self.forced:
                return
            groups = self.groups(block, owner, lane, links)
            if groups is None:
                return
            merged = links.merged(groups)
            more = [k for group in merged for k in group if not lane[k]]
            if not more:
                break
            for k in more:
                self.forced.add(id(stmts[k]))
                self.known.pop(id(stmts[k]), None)
        self.refuse_shared_changes(block, lane)
        self.steps[id(block)] = links.order(merged, lane)

    def groups(self, block: ir.Block, owner: ir.Stmt | None, lane: list[bool], links: Links) -> list[set[int]] | None:
        """Sets of numbers of statements that must stand in one region. None if the ``owner`` of the block must run lane by lane
        as a whole, which is noted. ``lane``: for each statement whether it runs lane by lane. Raises `Escapes` for a result
        whose size differs."""
        found: list[set[int]] = []
        out = set(leaves(block))
        for k, stmt in enumerate(block.stmts):
            private: list[ir.Var] = []
            if lane[k]:
                private = [v for v in defines(stmt) if self.is_private(v, stmt)]
            elif any(v in self.maybe and self.mapped.has(v) for v in defines(stmt)):
                # a region reads its inputs at its top, where this one may be undefined
                private = [v for v in defines(stmt) if v in self.maybe and self.is_read_in_region(v, block, lane)]
            elif isinstance(stmt, ir.NewStack) and self.mapped.has(stmt.var) and self.is_split(stmt.var, block, lane):
                private = [stmt.var]
            for var in private:
                if var in out and owner is None:
                    if self.mapped.has_size(var.type):
                        raise Escapes(var)
                elif var in out:
                    assert owner is not None
                    self.forced.add(id(owner))
                    self.known.pop(id(owner), None)
                    return None
                found.append({k, *links.users(var)})
            # a size that differs is known only in the region that finds it
            found += [{at, k} for symbol, at in links.sized_within(k) if self.mapped.has(symbol)]
        effects = {k for k, s in enumerate(block.stmts) if id(s) in self.effects or self.holds_effect(s)}
        if effects:
            found.append(effects)
        return found

    def is_private(self, var: ir.Var, stmt: ir.Stmt) -> bool:
        """Whether a value that ``stmt`` defines in a region cannot leave it: its size differs, it may be undefined, or it is a
        stack or a tuple."""
        if self.mapped.has_size(var.type) or var.type.kind != "array" or var in self.maybe:
            return True
        return isinstance(stmt, ir.NewStack)

    def is_read_in_region(self, var: ir.Var, block: ir.Block, lane: Sequence[bool] = ()) -> bool:
        """Whether ``var`` differs between lanes and a statement of the block that runs lane by lane reads it; ``lane`` says
        which statements do, () if the block has been divided already."""
        if not self.mapped.has(var):
            return False
        known = self.steps.get(id(block), [])
        steps = [Step([s], by_lane) for s, by_lane in zip(block.stmts, lane)] if lane else known
        return any(
            var in all_reads(s, self.fn)
            if step.is_region
            else any(self.is_read_in_region(var, inner) for inner in blocks(s))
            for step in steps
            for s in step.stmts
        )

    def is_split(self, stack: ir.Var, block: ir.Block, lane: list[bool]) -> bool:
        """Whether some pushes or pops of a stack are in regions, or the size of its entries differs; it must then be in one
        region as a whole."""
        if self.mapped.has_size(stack.type):
            return True
        for k, stmt in enumerate(block.stmts):
            inside = [stmt, *(s for b in blocks(stmt) for s in statements(b))]
            touching = [s for s in inside if isinstance(s, (ir.Push, ir.Pop)) and s.stack is stack]
            if touching and (lane[k] or self.is_in_region(stmt, stack)):
                return True
        return False

    def is_in_region(self, stmt: ir.Stmt, stack: ir.Var) -> bool:
        """Whether a region inside ``stmt``, which does not itself run lane by lane, pushes to or pops from the stack."""
        for block in blocks(stmt):
            for step in self.steps.get(id(block), ()):
                for one in step.stmts:
                    nested = [one, *(s for b in blocks(one) for s in statements(b))]
                    touches = any(isinstance(s, (ir.Push, ir.Pop)) and s.stack is stack for s in nested)
                    if touches and (step.is_region or self.is_in_region(one, stack)):
                        return True
        return False

    def refuse_shared_changes(self, block: ir.Block, lane: list[bool]) -> None:
        """Raises `Differs` for a value that lanes share but that a region writes, or defines and the rest of the block reads:
        each lane gets its own. ``lane``: for each statement whether it runs lane by lane."""
        for stmt, by_lane in zip(block.stmts, lane):
            if not by_lane:
                continue
            own = {*defines(stmt), *(v for b in blocks(stmt) for v in defined(b))}
            for one in (stmt, *(s for b in blocks(stmt) for s in statements(b))):
                root = written(one)
                if root is not None and root not in own and not self.mapped.has(root):
                    raise Differs(root)
        made = {v for s, by_lane in zip(block.stmts, lane) if by_lane for v in defines(s)}
        for var in made & self.sized.keys():
            if not self.mapped.has(self.sized[var]):
                raise Differs(self.sized[var])  # it is unknown before the first lane of the region
        outside = [s for s, by_lane in zip(block.stmts, lane) if not by_lane]
        read = {o for s in outside for o in all_reads(s, self.fn)} | set(leaves(block))
        for var in made & {v for v in read if isinstance(v, ir.Var)}:
            if not self.mapped.has(var):
                raise Differs(var)


def _params(stmt: ir.Stmt) -> Iterator[ir.Var]:
    """The parameters of the blocks of a statement."""
    for block in blocks(stmt):
        yield from block.params


def _maybe_undefined(body: ir.Block) -> set[ir.Var]:
    """The results and carried values that some path leaves undefined."""
    found: set[ir.Var] = set()

    def is_open(op: ir.Operand) -> bool:
        return isinstance(op, ir.Undef) or isinstance(op, ir.Var) and op in found

    size = -1
    while size != len(found):
        size = len(found)
        for stmt in statements(body):
            match stmt:
                case ir.If():
                    for result, *given in zip(stmt.results, stmt.then.yields, stmt.orelse.yields):
                        if any(map(is_open, given)):
                            found.add(result)
                case ir.For() | ir.While():
                    tests = (stmt.test.params,) if isinstance(stmt, ir.While) else ()
                    for k, (init, out) in enumerate(zip(stmt.inits, stmt.body.yields)):
                        if is_open(init) or is_open(out):
                            found.add(stmt.results[k])
                            found.update(p[k] for p in (stmt.body.params, *tests))
    return found
