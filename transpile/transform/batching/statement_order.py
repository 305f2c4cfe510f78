"""The dependences between the statements of a block, and an order with few regions, each as large as the dependences allow.

x = f(a)                   x = f(a)
while y > tol: ...    ->   z = g(x)                      first, all that is ready and runs for all lanes at once,
z = g(x)                   for lane in range(batch):     then all that is ready and runs lane by lane
w = y if z else 0              while y > tol: ...
                               w = y if z else 0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from transpile.analysis.called import may_act
from transpile.core import nodes as ir
from transpile.core.walk import blocks, defined, defines, dim_symbols, leaves, reads, statements, written


@dataclass
class Step:
    """One statement, or the statements of one region."""

    stmts: list[ir.Stmt]
    is_region: bool
    outside: set[ir.Var] = field(default_factory=set)  # variables that are read after a region


class Links:
    """The dependences of a block: ``before[k]`` are the statements that statement k depends on. ``together`` as in
    `transpile.transform.batching.lane_modes`."""

    def __init__(self, fn: ir.Function, block: ir.Block, together: bool) -> None:
        self.fn, self.block, self.together = fn, block, together
        stmts = block.stmts
        self.own = [{v for v in all_reads(s, fn) if isinstance(v, ir.Var)} for s in stmts]
        maker: dict[ir.Var, int] = {v: k for k, s in enumerate(stmts) for v in defines(s)}
        self.within = {v: k for k, s in enumerate(stmts) for b in blocks(s) for v in defined(b)}
        self.before: list[set[int]] = [set() for _ in stmts]
        last_write: dict[ir.Var, int] = {}
        last_reads: dict[ir.Var, list[int]] = {}
        effect: int | None = None
        for k, stmt in enumerate(stmts):
            for var in self.own[k]:
                if maker.get(var, k) < k:
                    self.before[k].add(maker[var])
            for symbol in self.symbols(stmt):
                at = maker.get(symbol, self.within.get(symbol))
                if at is not None and at < k:
                    self.before[k].add(at)
            inside = [stmt, *(s for b in blocks(stmt) for s in statements(b))]
            changed = {r for s in inside if (r := written(s)) is not None}
            for var in changed:
                self.before[k].update(last_reads.get(var, ()))
                if var in last_write:
                    self.before[k].add(last_write[var])
            for var in self.own[k] - changed:
                if var in last_write:
                    self.before[k].add(last_write[var])
            for var in changed:
                last_write[var], last_reads[var] = k, []
            for var in self.own[k] - changed:
                if var.buffer or var.type.kind == "stack":
                    last_reads.setdefault(var, []).append(k)
            if any(may_act(s) for s in inside):
                if effect is not None:
                    self.before[k].add(effect)
                effect = k
            self.before[k].discard(k)

    def symbols(self, stmt: ir.Stmt) -> Iterator[ir.Var]:
        """The variables that hold the sizes in the types of variables defined by the statement or by one nested in it."""
        for var in (*defines(stmt), *(v for b in blocks(stmt) for v in defined(b))):
            for dim in var.type.dims:
                for name in dim.symbols():
                    op = self.fn.symbols.get(name)
                    if isinstance(op, ir.Var):
                        yield op

    def sized_within(self, k: int) -> Iterator[tuple[ir.Var, int]]:
        """The variables of the sizes of statement ``k`` that are defined inside another statement of the block, each with that
        one's number."""
        for symbol in self.symbols(self.block.stmts[k]):
            at = self.within.get(symbol, k)
            if at != k:
                yield symbol, at

    def users(self, var: ir.Var) -> set[int]:
        """The numbers of the statements of the block that read or write the variable, also by nested statements."""
        return {k for k, own in enumerate(self.own) if var in own}

    def merged(self, groups: list[set[int]]) -> list[set[int]]:
        """The groups, each with the statements that must stand between its members; groups that share a member or depend on
        each other are one. Also new groups of statements that depend on each other by way of a group."""
        node = list(range(len(self.before)))  # for each statement, the first one of its group
        for group in groups:
            first = min(group | {m for k in group for m in range(len(node)) if node[m] == node[k]})
            joined = {node[k] for k in group}
            node = [first if n in joined else n for n in node]
        while True:
            ring = self.ring(node)
            if ring is None:
                break
            first = min(ring)
            node = [first if n in ring else n for n in node]
        found: dict[int, set[int]] = {}
        for k, n in enumerate(node):
            found.setdefault(n, set()).add(k)
        starts = {node[min(g)] for g in groups}
        return [g for n, g in found.items() if len(g) > 1 or n in starts]

    def ring(self, node: list[int]) -> set[int] | None:
        """A set of nodes that all depend on each other; None if there is none. ``node``: for each statement, the node that it
        belongs to."""
        ahead: dict[int, set[int]] = {}
        for k, n in enumerate(node):
            ahead.setdefault(n, set()).update(node[j] for j in self.before[k])
        for n in ahead:
            ahead[n].discard(n)
        # Kahn's algorithm: the nodes that remain contain a cycle
        rest = {n: set(a) for n, a in ahead.items()}
        users: dict[int, set[int]] = {}
        for n, a in rest.items():
            for m in a:
                users.setdefault(m, set()).add(n)
        ready = [n for n, a in rest.items() if not a]
        while ready:
            n = ready.pop()
            rest.pop(n)
            for user in users.get(n, ()):
                rest[user].discard(n)
                if not rest[user]:
                    ready.append(user)
        for start in rest:
            forward, backward = _reach(start, rest), _reach(start, {n: users.get(n, set()) & rest.keys() for n in rest})
            if ring := forward & backward:
                return ring | {start}
        return None

    def order(self, groups: list[set[int]], lane: list[bool]) -> list[Step]:
        """The statements as steps, with few regions: alternately all whole statements that are ready, one a step, and all that
        run lane by lane (``lane``) and are ready, in one step. The statements of each of ``groups`` stay in one region."""
        stmts = self.block.stmts
        group_of: dict[int, set[int]] = {k: g for g in groups for k in g}
        done: set[int] = set()
        steps: list[Step] = []
        while len(done) < len(stmts):
            for k in range(len(stmts)):
                if k not in done and not lane[k] and self.before[k] <= done:
                    done.add(k)
                    steps.append(Step([stmts[k]], False))
            region: set[int] = set()
            grown = True
            while grown:
                grown = False
                for k in range(len(stmts)):
                    if k in done or k in region or not lane[k]:
                        continue
                    mine = group_of.get(k, {k})
                    if all(self.before[j] <= done | region | mine for j in mine):
                        region |= mine
                        grown = True
            if self.together:
                region -= self.early(region - group_of.keys(), region, lane)
            if region:
                inside = [stmts[k] for k in sorted(region)]
                done |= region
                steps.append(Step(inside, True))
        self.note_outside(steps)
        return steps

    def early(self, some: set[int], region: set[int], lane: list[bool]) -> set[int]:
        """Those of ``some``, numbers of statements of ``region``, that read memory only for a later region. That one reads the
        memory itself, which saves an array for all lanes. Empty if the region consists of nothing else."""
        found = set()
        for k in some:
            stmt = self.block.stmts[k]
            if (
                isinstance(stmt, ir.Let)
                and stmt.prim == "index"
                and isinstance(stmt.args[0], ir.Var)
                and stmt.args[0].buffer
            ):
                users = {j for j, before in enumerate(self.before) if k in before}
                if users and not users & region and all(lane[j] for j in users):
                    found.add(k)
        return found if found < region else set()

    def note_outside(self, steps: list[Step]) -> None:
        """Sets ``outside`` of each region in ``steps``: the variables defined in it that other statements, or the yields of the
        block, read."""
        place = {id(s): k for k, s in enumerate(self.block.stmts)}
        out = {v for v in leaves(self.block) if isinstance(v, ir.Var)}
        for step in steps:
            if not step.is_region:
                continue
            inside = {place[id(s)] for s in step.stmts}
            rest = [k for k in range(len(self.own)) if k not in inside]
            read = {v for k in rest for v in (*self.own[k], *self.symbols(self.block.stmts[k]))} | out
            step.outside = {v for s in step.stmts for v in defines(s) if v in read}


def _reach(start: int, ahead: Mapping[int, set[int]]) -> set[int]:
    """The nodes that can be reached from ``start`` in one step or more; ``ahead`` maps each node to those one step away."""
    found: set[int] = set()
    todo = [start]
    while todo:
        for n in ahead[todo.pop()]:
            if n not in found:
                found.add(n)
                todo.append(n)
    return found


def all_reads(stmt: ir.Stmt, fn: ir.Function) -> Iterator[ir.Operand]:
    """The operands that a statement of ``fn``, and those nested in it, read or write: also yields of nested blocks and the
    values of sizes."""
    for one in (stmt, *(s for b in blocks(stmt) for s in statements(b))):
        yield from reads(one)
        root = written(one)
        if root is not None:
            yield root
        for name in dim_symbols(one):
            if name in fn.symbols:
                yield fn.symbols[name]
        for block in blocks(one):
            yield from leaves(block)
