"""Decides which values of the forward sweep are recorded for the reverse sweep.

*Needed* are the free variables of the adjoint statements. A needed value of a loop body is *free* if the reverse iteration can
recompute it from what is still available: inputs, values from outside the loops, loop indices, buffers that nobody overwrites
later. For the rest, a minimum cut finds the cheapest set of values to record.

If everything that a loop nest needs is free, transcendental functions included, nothing is recorded: the forward loop often
becomes dead, and each iteration runs forward and backward at once. Otherwise the forward loop runs anyway, and values that are
expensive to recompute (cost 2 and more) are recorded instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from transpile.analysis.minimum_cut import INFINITE, min_cut
from transpile.analysis.overwrites import Overwrites
from transpile.analysis.scopes import Def, sizes_before
from transpile.core import nodes as ir
from transpile.core.functions import computes, prints, routine_of
from transpile.core.walk import blocks, defines, dim_symbols, leaves, reads
from transpile.ops.tables import prims, record_of
from transpile.transform.sweep import Sweep

CALL = 3  # cost of calling a function, on the scale of the records


class Needs:
    """Decides what is recorded for a function with these ``facts`` and its reverse sweep. ``recorded`` maps each variable to
    the reason."""

    def __init__(self, facts: Overwrites, sweep: Sweep, symbols: dict[str, ir.Operand]) -> None:
        self.sweep = sweep
        self.symbols = symbols
        self.overwrites = facts
        self.defs = facts.defs
        self.escapes: dict[ir.Var, None] = {}
        self.needed: dict[int, dict[ir.Var, None]] = {}  # id of the innermost loop -> needed values of its body
        # id of the outermost loop -> ids of the loops inside with needed values, and their depths
        self.nests: dict[int, dict[int, int]] = {}
        self.loops: dict[int, ir.For | ir.While] = {}
        self.recorded: dict[ir.Var, str] = {}
        self.stored: dict[ir.Var, ir.Store] = {}  # values that are stored in a buffer of the function -> the store
        for site in facts.at.values():
            if isinstance(site.stmt, ir.Store) and isinstance(site.stmt.value, ir.Var):
                found = self.defs.get(site.stmt.value)
                if found is not None and found.block is site.block and self.is_lasting(site.stmt.buf):
                    self.stored.setdefault(site.stmt.value, site.stmt)
        self.tests = {s.stmt.test for s in facts.at.values() if isinstance(s.stmt, ir.If)}
        self._free: dict[tuple[ir.Var, bool], bool] = {}

    # ---- needed values

    def collect(self, block: ir.Block) -> None:
        """Notes all values of the forward sweep that a block of the reverse sweep, or a block nested in it, reads: operands,
        sizes and yields."""
        for stmt in block.stmts:
            for operand in reads(stmt):
                self.need(operand)
            for symbol in dim_symbols(stmt):
                self.need(self.symbols[symbol])
            for inner in blocks(stmt):
                self.collect(inner)
        for operand in leaves(block):
            self.need(operand)

    def need(self, operand: ir.Operand) -> None:
        """Notes a value of the forward sweep that the reverse sweep reads, in ``needed`` if it is defined in a loop, in
        ``escapes`` if only in a branch. Buffers, parameters and values outside of both need no note."""
        operand = self.sweep.current(operand)
        found = self.defs.get(operand) if isinstance(operand, ir.Var) else None
        if found is None or operand.buffer:  # type: ignore[union-attr]
            return
        loops = found.loops
        if loops:
            self.loops[id(loops[-1])] = loops[-1]
            self.needed.setdefault(id(loops[-1]), {})[operand] = None  # type: ignore[index]
            self.nests.setdefault(id(loops[0]), {})[id(loops[-1])] = len(loops)
        elif found.nest:
            self.escapes[operand] = None  # type: ignore[index]

    def is_lasting(self, buf: ir.Var) -> bool:
        """Whether a buffer lives as long as the function: it is a parameter or allocated outside all loops and branches."""
        found = self.defs.get(buf)
        return found is None or not found.nest

    # ---- free values

    def is_available(self, operand: ir.Operand) -> bool:
        """Whether the operand still has its value in the reverse sweep: it is a constant, a parameter, or defined outside all
        loops."""
        if not isinstance(operand, ir.Var) or operand not in self.defs:
            return True
        return not self.defs[operand].loops

    def is_free(self, operand: ir.Operand, dear: bool) -> bool:
        """Whether the reverse iteration can obtain the operand with nothing recorded: it is available, the index of a loop
        whose start and step are free, kept in a buffer, or can be recomputed from free operands. With ``dear``, expensive
        primitives may be recomputed too."""
        if self.is_available(operand):
            return True
        assert isinstance(operand, ir.Var)
        key = (operand, dear)
        if key not in self._free:
            self._free[key] = False  # no cycles: a loop's parameter is never free
            self._free[key] = self._is_free(operand, dear)
        return self._free[key]

    def _is_free(self, var: ir.Var, dear: bool) -> bool:
        """Whether the reverse iteration can obtain ``var``, which is defined in a loop; `is_free` remembers the answer."""
        found = self.defs[var]
        if found.kind == "index":
            assert isinstance(found.stmt, ir.For)
            return all(self.is_free(o, dear) for o in (found.stmt.start, found.stmt.step))
        if self.place_of(var) is not None:
            return True
        if not self.can_recompute(found, dear):
            return False
        assert computes(found.stmt)
        return all(self.is_free(a, dear) for a in self.inputs(found.stmt))

    def place_of(self, var: ir.Var) -> ir.Store | None:
        """The store by which a buffer of the function keeps ``var`` until the reverse sweep: nothing overwrites it, and its
        subscripts are free. None if there is none, and for values of cost 0, which are better recomputed."""
        stmt = self.stored.get(var)
        if stmt is None or not self.overwrites.is_kept(stmt):
            return None
        made = self.defs[var].stmt
        if isinstance(made, ir.Let) and cost(made) == 0:
            return None
        return stmt if all(self.is_free(a, dear=False) for a in stmt.args) else None

    def can_recompute(self, found: Def, dear: bool) -> bool:
        """Whether the statement of the definition ``found`` may run again in the reverse sweep, if its operands are there; with
        ``dear``, also if it is expensive or a rounded test. A read of a buffer may if nothing overwrites the place."""
        stmt = found.stmt
        if found.kind != "stmt" or not computes(stmt):
            return False
        routine = routine_of(stmt)
        if routine is not None and prints(routine):
            return False
        root = stmt.args[0] if stmt.args else None
        if isinstance(stmt, ir.Let) and isinstance(root, ir.Var) and root.buffer:
            if stmt.prim == "dim":
                return self.is_lasting(root)
            is_there = self.is_lasting(root) and self.overwrites.is_stable(stmt)
            return is_there or self.overwrites.original(stmt) is not None
        if dear:
            return True
        return cost(stmt) <= 1 and all(v not in self.tests or self.is_exact(v) for v in defines(stmt))

    def is_exact(self, operand: ir.Operand) -> bool:
        """Whether the operand has the same value when it is evaluated again: no floating-point arithmetic enters it, which a
        compiler may contract or reassociate differently in the two sweeps."""
        if self.is_available(operand):
            return True
        assert isinstance(operand, ir.Var)
        found = self.defs[operand]
        stmt = found.stmt
        if found.kind != "stmt" or not computes(stmt) or isinstance(stmt, ir.Let) and prims()[stmt.prim].exact:
            return True
        return not operand.type.is_float and all(self.is_exact(a) for a in stmt.args)

    def inputs(self, stmt: ir.Let | ir.Call) -> tuple[ir.Operand, ...]:
        """The operands that a recomputation of the statement reads, then the values of the sizes that it needs; without a
        buffer as first operand."""
        args = stmt.args
        if args and isinstance(args[0], ir.Var) and args[0].buffer:
            args = args[1:]
        return (*args, *(self.symbols[s] for s in self.sizes(stmt)))

    def sizes(self, stmt: ir.Stmt) -> tuple[str, ...]:
        """The size symbols whose values the statement needs before it runs."""
        return sizes_before(stmt, self.symbols, self.defs)

    # ---- recorded values

    def decide(self) -> None:
        """Decides what is recorded, for one outermost loop after another; fills ``recorded``."""
        for root in list(self.nests):
            self._decide_nest(root)

    def _in_nest(self, root: int) -> list[int]:
        """Ids of the loops with needed values in the nest whose outermost loop has the id ``root``, the innermost first."""
        depth = self.nests[root]
        return sorted(depth, key=lambda k: -depth[k])

    def _decide_nest(self, root: int) -> None:
        """Decides what is recorded of the nest whose outermost loop has the id ``root``: nothing, if all needed values can be
        recomputed, expensive ones too."""
        free = all(self.is_free(v, dear=True) for key in self._in_nest(root) for v in self.needed[key])
        done: set[int] = set()
        while True:
            todo = [k for k in self._in_nest(root) if k not in done]
            if not todo:
                return
            done.add(todo[0])
            if not free:
                self._decide_loop(todo[0])
            seen: set[ir.Var] = set()
            for var in list(self.needed[todo[0]]):
                self._need_outer(var, self.loops[todo[0]], seen)

    def _decide_loop(self, key: int) -> None:
        """Adds to ``recorded`` the cheapest set of values of the loop with id ``key`` from which its needed values can be
        recomputed: a minimum cut."""
        loop = self.loops[key]
        needed = [v for v in self.needed[key] if not self.is_free(v, dear=False)]
        costs: dict[ir.Var, int] = {}
        edges: list[tuple[ir.Var, ir.Var]] = []
        sources: list[ir.Var] = []
        queue = list(needed)
        for var in queue:
            if var in costs:
                continue
            costs[var] = _cost(var)
            found = self.defs[var]
            if not self.can_recompute(found, dear=False):
                sources.append(var)
                continue
            assert computes(found.stmt)
            for arg in self.inputs(found.stmt):
                if isinstance(arg, ir.Var) and self._is_inner(arg, loop) and not self.is_free(arg, dear=False):
                    edges.append((arg, var))
                    queue.append(arg)
        for var in min_cut(costs, edges, sources, needed):
            var = self._named(var, costs, edges)
            self.recorded[var] = self._why(var)

    def _named(self, var: ir.Var, costs: dict[ir.Var, int], edges: list[tuple[ir.Var, ir.Var]]) -> ir.Var:
        """``var``; if that is unnamed and computed from a single variable that costs no more to record, that variable, and so
        on. ``edges``: pairs (operand, result)."""
        while var.name == ir.SYNTHETIC:
            above = {u for u, v in edges if v is var}
            if len(above) != 1 or costs[min(above, key=id)] > costs[var]:
                break
            (var,) = above
        return var

    def _is_inner(self, var: ir.Var, loop: ir.For | ir.While) -> bool:
        """Whether ``loop`` is the innermost loop around the definition of ``var``."""
        found = self.defs.get(var)
        return found is not None and bool(found.loops) and found.loops[-1] is loop

    def _need_outer(self, var: ir.Var, loop: ir.For | ir.While, seen: set[ir.Var]) -> None:
        """Notes as needed the values from outside ``loop`` that the recomputation of ``var`` there reads; nothing for recorded
        values. ``seen``: the variables visited so far, to which those visited here are added."""
        if var in self.recorded or var in seen:
            return
        seen.add(var)
        found = self.defs.get(var)
        if found is None:
            return
        if not self._is_inner(var, loop):
            self.need(var)
            return
        if found.kind == "index":
            assert isinstance(found.stmt, ir.For)
            inputs: Iterable[ir.Operand] = (found.stmt.start, found.stmt.step)
        elif (kept := self.place_of(var)) is not None:
            inputs = kept.args
        else:
            assert computes(found.stmt), found
            inputs = self.inputs(found.stmt)
        for arg in inputs:
            if isinstance(arg, ir.Var) and arg in self.defs:
                self._need_outer(arg, loop, seen)

    def _why(self, var: ir.Var) -> str:
        """The reason why ``var`` is recorded, as text for `transpile.report`."""
        found, stmt = self.defs[var], self.defs[var].stmt
        line = stmt.loc.line if stmt is not None else 0
        match stmt:
            case ir.For() | ir.While() if found.kind == "param":
                return f"carried by the loop in line {line}: each iteration replaces it"
            case ir.For() | ir.While():
                what = "iteration count" if var is stmt.trips else "result"
                return f"{what} of the loop in line {line}, which does not run again"
            case ir.If():
                return f"result of the branch in line {line}, which does not run again"
            case ir.Call(function=ir.Routine() as called):
                return f"expensive to recompute ({called})"
            case ir.Call():
                return f"result of the call in line {line}, which is not repeated"
            case ir.Let() if isinstance(stmt.args[0] if stmt.args else None, ir.Var) and stmt.args[0].buffer:  # type: ignore[union-attr]
                return f"read from {stmt.args[0].label}, which is overwritten later"  # type: ignore[union-attr]
            case ir.Let() if cost(stmt) > 1:
                return f"expensive to recompute ({stmt.prim})"
            case ir.Let() if var in self.tests and not self.is_exact(var):
                return f"tested in line {line}: a test of rounded numbers is not repeated"
            case ir.Let(prim="index"):
                name = stmt.args[0].name  # type: ignore[union-attr]
                return f"part of {name or 'an array'}, which is gone after its iteration"
            case ir.Let():
                return (
                    f"computed in line {line} from values that are gone after their iteration, and no larger than they"
                )
        return f"taken from a stack in line {line}"


def decided(facts: Overwrites, sweep: Sweep, symbols: dict[str, ir.Operand]) -> Needs:
    """The decisions on what is recorded for a reverse sweep of the function that ``facts`` describe."""
    needs = Needs(facts, sweep, symbols)
    needs.collect(sweep.block)
    needs.decide()
    return needs


def is_dear(stmt: ir.Stmt) -> bool:
    """Whether recomputing the statement costs more than arithmetic; False for statements other than computations and
    allocations."""
    return (isinstance(stmt, ir.Alloc) or computes(stmt)) and cost(stmt) > 1


def cost(stmt: ir.Let | ir.Alloc | ir.Call) -> int:
    """The cost of recomputing the statement (`transpile.ops.record`): `CALL` for a call; a power with constant exponent 1 to 4
    counts as a product."""
    if isinstance(stmt, ir.Call):
        return CALL
    record = record_of(stmt)
    if record.is_power and isinstance(stmt.args[1], ir.Const) and stmt.args[1].value in (1, 2, 3, 4):
        return 1
    return record.cost


def _cost(var: ir.Var) -> int:
    """The cost of recording ``var``: ``50**rank``, with at most four axes counted; practically infinite for a tuple."""
    if var.type.kind == "tuple":
        return INFINITE // 2
    return 50 ** min(var.type.rank, 4)
