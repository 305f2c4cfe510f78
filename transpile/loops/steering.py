"""The caller's arrays whose contents decide which memory is touched: their elements reach a subscript, a size, or a branch that
counts.

    n = 0                                       m: the number of its true entries is the size of an
    for i in range(len(m)): n += m[i]           array, which a second loop over m fills
    out = np.empty(n)
    for i in range(len(m)): if m[i]: out[k] = x[i]; k += 1

Such an array may be read more than once and must hold the same each time: if another thread writes it in between, compiled code
may write outside its memory. A subscript with a bounds check where it is used does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from transpile.analysis.accesses import Roots, accesses, is_array
from transpile.core import nodes as ir
from transpile.core.walk import statements

Of = frozenset[ir.Var]
NONE: Of = frozenset()
_SEARCHING = "arrays"
"""The runtime module whose functions may branch on floating-point contents; the others branch on integers and booleans only."""


def steering(fn: ir.Function, kept: Sequence[ir.Function] = ()) -> Of:
    """Array parameters whose contents decide which memory ``fn`` touches; ``kept``: the kept functions that it calls."""
    inner: dict[str, tuple[bool, ...]] = {one.name: (False,) * len(one.params) for one in kept}
    while True:
        found = {one.name: _which(one, _Flow(one, inner, one.params).found) for one in kept}
        if found == inner:
            return _Flow(fn, inner, [p for p in fn.params if p.type.dims]).found
        inner = found


def _which(fn: ir.Function, found: Of) -> tuple[bool, ...]:
    """For each parameter, whether it is in ``found``."""
    return tuple([p in found for p in fn.params])


class _Flow:
    """Data flow from parameters to steering uses. ``of``: for each value, the parameters it depends on; ``memory``: for each
    root, the parameters its contents depend on."""

    def __init__(self, fn: ir.Function, kept: Mapping[str, tuple[bool, ...]], asked: Iterable[ir.Var]) -> None:
        self.roots = Roots(fn)
        self.kept = kept
        self.found: Of = NONE
        self.changed = True
        self.of: dict[ir.Var, Of] = {}
        self.memory: dict[ir.Var, Of] = {}
        for p in asked:
            if p.type.dims:
                self.fill(p, frozenset((p,)))
            else:
                self.learn(p, frozenset((p,)))
        self.sizes = {s.var: s for s in statements(fn.body) if isinstance(s, ir.Let) and s.prim == "dim"}
        self.checked = self.checks(fn)
        while self.changed:
            self.changed = False
            self.block(fn.body, NONE)

    # ---- dependences found so far

    def value(self, *operands: ir.Operand) -> Of:
        """Parameters that the operands depend on."""
        return NONE.union(*(self.of.get(o, NONE) for o in operands if isinstance(o, ir.Var)))

    def held(self, array: ir.Operand) -> Of:
        """Parameters that the contents of an array depend on."""
        return self.memory.get(self.roots.of(array), NONE) if isinstance(array, ir.Var) and is_array(array) else NONE

    def learn(self, var: ir.Var, found: Of) -> None:
        """Adds the parameters ``found`` to those that the value of ``var`` depends on."""
        if not found <= self.of.get(var, NONE):
            self.of[var] = self.of.get(var, NONE) | found
            self.changed = True

    def fill(self, array: ir.Operand, found: Of) -> None:
        """Adds the parameters ``found`` to those that the contents of an array depend on."""
        if isinstance(array, ir.Var) and is_array(array) and not found <= self.held(array):
            self.memory[self.roots.of(array)] = self.held(array) | found
            self.changed = True

    def steer(self, found: Of) -> None:
        """Adds the parameters ``found`` to ``self.found``, the result."""
        if not found <= self.found:
            self.found |= found
            self.changed = True

    # ---- subscripts with a bounds check

    def checks(self, fn: ir.Function) -> set[tuple[ir.Var, object]]:
        """Pairs of a subscript and the size that it is checked against, over all unguarded checks of both ends."""
        return {
            (s.at, self.size(s.size))
            for s in statements(fn.body)
            if isinstance(s, ir.BoundsCheck) and s.low and s.guard is None
            if isinstance(s.at, ir.Var)
        }

    def size(self, op: ir.Operand) -> object:
        """A pair of the array and the axis that a size belongs to; the operand itself if it is not a size of an array."""
        let = self.sizes.get(op) if isinstance(op, ir.Var) else None
        if let is None or not isinstance(let.args[0], ir.Var):
            return op
        return let.args[0], let.params["axis"]

    def subscripts(self, array: ir.Operand, indices: Iterable[ir.Operand]) -> None:
        """Adds to the result the parameters on which those subscripts of ``array`` depend that have no bounds check."""
        for axis, index in enumerate(indices):
            if (index, (array, axis)) not in self.checked:
                self.steer(self.value(index))

    # ---- statements

    def block(self, block: ir.Block, under: Of) -> None:
        """Follows the data flow through a block; ``under``: the parameters that decide whether it runs."""
        for stmt in block.stmts:
            self.stmt(stmt, under)

    def stmt(self, stmt: ir.Stmt, under: Of) -> None:
        """Follows the data flow through a statement, nested blocks included; ``under``: the parameters that decide whether it
        runs."""
        match stmt:
            case ir.Let(prim="index"):
                self.subscripts(stmt.args[0], stmt.args[1:])
                self.learn(stmt.var, self.held(stmt.args[0]) | self.value(*stmt.args[1:]))
            case ir.View():
                self.steer(self.value(*stmt.args[1:]))
            case ir.Let():
                self.let(stmt, under)
            case ir.Call():
                self.call(stmt, under)
            case ir.Alloc():
                self.steer(self.value(*stmt.args))
            case ir.Store() | ir.Add():
                self.subscripts(stmt.buf, stmt.args)
                self.fill(stmt.buf, self.value(stmt.value, *stmt.args) | under)
            case ir.If():
                test = under | self.value(stmt.test)
                for side in (stmt.then, stmt.orelse):
                    self.block(side, test)
                    for result, out in zip(stmt.results, side.yields):
                        self.hand(result, out, test)
            case ir.For():
                self.loop(stmt, under)
            case ir.While():
                self.repeat(stmt, under)
            case ir.Push():
                self.fill(stmt.stack, self.value(stmt.value) | self.held(stmt.value) | under)
            case ir.Pop():
                self.learn(stmt.var, self.held(stmt.stack) | under)

    def hand(self, to: ir.Var, op: ir.Operand, under: Of) -> None:
        """Passes the dependences of a yielded value, and those of the test that decides (``under``), on to a result."""
        self.learn(to, self.value(op) | under)
        if is_array(to):
            self.fill(to, self.held(op) | under)

    def let(self, stmt: ir.Let, under: Of) -> None:
        """Passes on dependences through a *let* other than ``index`` and views."""
        found = self.value(*stmt.args)
        if stmt.prim == "dim":  # a size depends on which array it is, not on its contents
            self.learn(stmt.var, self.value(stmt.args[0]))
            return
        self.learn(stmt.var, found)

    def call(self, stmt: ir.Call, under: Of) -> None:
        """Passes on dependences through a call: results and written arrays depend on all arguments and contents. Adds those
        that steer the called function to the result."""
        self.goes_by(stmt)
        found = self.value(*stmt.args).union(*(self.held(a) for a in stmt.args if is_array(a)))
        for access in accesses(stmt):
            if access.kind != "read":
                self.fill(access.var, found | under)
        for result in stmt.results:
            self.learn(result, found)
            if is_array(result):
                self.fill(result, found | under)

    def goes_by(self, stmt: ir.Call) -> None:
        """Adds to the result the parameters that the control flow or the accesses of a called function depend on; of kept
        functions it is known which, of others guessed from the types of the arguments."""
        inside = self.kept.get(stmt.function.name) if isinstance(stmt.function, ir.Kept) else None
        is_searching = stmt.library.partition(".")[0] == _SEARCHING
        has_array = any(map(is_array, stmt.args))
        for k, a in enumerate(stmt.args):
            if inside is not None:
                goes_by = inside[k]
            elif is_array(a):
                goes_by = is_searching or a.type.is_int or a.type.is_bool
            else:
                goes_by = has_array
            if goes_by:
                self.steer(self.value(a) | self.held(a))

    def loop(self, stmt: ir.For, under: Of) -> None:
        """Follows the data flow through a ``for`` loop; its ends and ``stop`` decide how often the body runs."""
        ends = self.value(stmt.start, stmt.bound, stmt.step)
        stop = NONE if stmt.body.stop is None else self.value(stmt.body.stop)
        self.learn(stmt.index, ends)
        self.carry(stmt, under | ends | stop)

    def repeat(self, stmt: ir.While, under: Of) -> None:
        """Follows the data flow through a ``while`` loop; its test and ``stop`` decide how often the body runs."""
        test = self.value(*stmt.test.yields)
        stop = NONE if stmt.body.stop is None else self.value(stmt.body.stop)
        for param, init in zip(stmt.test.params, stmt.body.params):
            self.hand(param, init, NONE)
        self.block(stmt.test, under | test)
        self.carry(stmt, under | test | stop)

    def carry(self, stmt: ir.For | ir.While, under: Of) -> None:
        """Passes on dependences through carried values, results and the body of a loop; ``under``: the parameters that decide
        how often it runs."""
        for k, (param, init) in enumerate(zip(stmt.body.params, stmt.inits)):
            self.hand(param, init, under)
            self.hand(param, stmt.body.yields[k], under)
        for result, param in zip(stmt.results, stmt.body.params):
            self.hand(result, param, under)
        if stmt.trips is not None:
            self.learn(stmt.trips, under)
        self.block(stmt.body, under)
