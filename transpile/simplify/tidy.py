"""Small simplifications after a transform: loops no longer carry invariant values, branches that do nothing disappear, and
values computed twice are computed once.

    s_bar = 1.0                              x_bar[i] += x[i]
    for i in ...:                     ->     (with 1.0 for s_bar)
        x_bar[i] += s_bar * x[i]
        s_bar = s_bar
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace

from transpile.analysis.undefined import has_trip
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.functions import computes, must_run, routine_of
from transpile.core.peephole import fold_floats, identity, is_const
from transpile.core.walk import (
    blocks,
    dim_symbols,
    map_operands,
    map_reads,
    reads,
    resize,
    statements,
    uses,
    written,
    written_in,
)
from transpile.ops.tables import record_of
from transpile.simplify.value_numbering import Numbering

Moved = Callable[[object, object], None]


def tidy(fn: ir.Function) -> ir.Function:
    """``fn`` without invariant carried values, empty branches and repeated computations; neighbouring branches on one test
    become one. The same object if nothing changes."""
    symbols = dict(fn.symbols)
    tidying = _Tidy(lambda old, new: None, merge=True)
    tidying.symbols = symbols
    body = tidying.block(fn.body)
    symbols.update((name, tidying.operand(operand)) for name, operand in symbols.items())
    return fn if body is fn.body else replace(fn, body=body, symbols=symbols)


def tidy_block(block: ir.Block, symbols: dict[str, ir.Operand], moved: Moved = lambda old, new: None) -> ir.Block:
    """``block`` tidied, but branches are not merged; the same object if nothing changes. The values of ``symbols`` are updated
    in place; ``moved(old, new)`` is called for each statement and block that is replaced."""
    tidying = _Tidy(moved)
    new = tidying.block(block)
    symbols.update((name, tidying.operand(operand)) for name, operand in symbols.items())
    return new


class _Tidy(Numbering):
    """Rebuilds a block and replaces operands by equal ones."""

    scoped = ("computed", "passed")

    def __init__(self, moved: Moved, merge: bool = False) -> None:
        super().__init__()
        self.merge = merge  # whether neighbouring branches on one test are merged
        self.versions: dict[ir.Var, int] = {}  # buffer -> a number that changes with every write
        self.passed: set[ir.Operand] = set()  # tests of checks that have passed: they are false here
        self.lets: dict[
            ir.Operand, tuple[ir.Let, int]
        ] = {}  # value read from a buffer -> the read, the buffer's version
        self.halves: dict[ir.Var, ir.Operand] = {}  # 0.5 * x -> x
        self.turned: dict[ir.Operand, tuple[ir.Var, int, tuple[int, ...]]] = {}  # x.T -> x, its version, the axes
        self.moved = moved
        self.symbols: dict[str, ir.Operand] = {}  # the symbols of sizes, where branches are merged

    def block(self, block: ir.Block) -> ir.Block:
        """The block tidied, the same object if nothing changes; computations and passed checks found in it are forgotten
        afterwards."""
        with self.inside():
            return self._block(block)

    def _block(self, block: ir.Block) -> ir.Block:
        """The block tidied, in the current scope; the same object if nothing changes."""
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            new = self.stmt(stmt)
            if isinstance(new, ir.Store) and self.is_there(new):
                continue
            self._written(stmt)
            if self.merge and isinstance(new, ir.If) and (first := _mergeable(stmts, new, self.symbols)) is not None:
                stmts.append(_merged(stmts.pop(first), new, self.symbols))  # type: ignore[arg-type]
            elif new is not None:
                stmts.append(new)
        yields = tuple(self.operand(o) for o in block.yields)
        stop = None if block.stop is None else self.operand(block.stop)
        same = len(stmts) == len(block.stmts) and all(a is b for a, b in zip(stmts, block.stmts))
        if same and all(a is b for a, b in zip(yields, block.yields)) and stop is block.stop:
            return block
        new_block = ir.Block(block.params, stmts, yields, stop)
        self.moved(block, new_block)
        return new_block

    def _written(self, stmt: ir.Stmt) -> None:
        """Notes that the memory which the statement, or one nested in it, writes has changed: it gets a new version."""
        roots = [written(stmt), *(root for block in blocks(stmt) for root in written_in(block))]
        for root in roots:
            if root is not None:
                self.versions[root] = self.versions.get(root, 0) + 1

    def form_of_variable(self, var: ir.Var) -> Hashable:
        return var, self.versions.get(var, 0)

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | None:
        """The statement tidied, with operands replaced by equal ones; None if it is not needed any more."""
        changed = any(isinstance(o, ir.Var) and o in self.equal for o in reads(stmt))
        base = map_reads(stmt, self.operand) if changed else stmt
        match base:
            case ir.If():
                new = self.branch(base)
            case ir.For() | ir.While():
                new = self.loop(base)
            case ir.Let() if changed and (same := _identity(base) or self.twice_half(base)) is not None:
                self.equal[base.var] = same
                return None
            case ir.Let(prim="transpose") if (same := self.turned_back(base)) is not None:
                self.equal[base.var] = same
                return None
            case ir.Let() | ir.Call() if _is_value(base):
                return None if self.is_known(base) else base
            case _:
                return base
        if new is not None and new is not stmt:
            self.moved(stmt, new)
        return new

    def is_known(self, stmt: ir.Let | ir.Call) -> bool:
        """Whether an earlier visible statement computed the same value; its variable, which may take over the name, then
        replaces this one from here on. False if both variables have names of the user, except for one size with one name."""
        var = stmt.var
        if isinstance(stmt, ir.Let):
            self.note(stmt)
        if (earlier := self.earlier(stmt)) is None:
            return False
        same, home = earlier
        named = ir.SYNTHETIC not in (var.name, same.name)
        if named and isinstance(stmt, ir.Let) and stmt.prim == "dim" and var.name == same.name:
            named = False  # one size with one name
        if named:
            return False
        if same.name == ir.SYNTHETIC and self.depth == home:  # a name given in a branch may be wrong elsewhere
            same.name = var.name
        self.equal[var] = same
        return True

    def note(self, stmt: ir.Let) -> None:
        """Notes a read of a buffer in ``lets``, with the buffer's version, and a product with 0.5 in ``halves``."""
        if stmt.prim == "index" and isinstance(stmt.args[0], ir.Var) and stmt.args[0].buffer:
            self.lets[stmt.var] = stmt, self.versions.get(stmt.args[0], 0)
        if record_of(stmt).multiplies and is_const(stmt.args[0], 0.5) and stmt.args[1].type == stmt.var.type:
            self.halves[stmt.var] = stmt.args[1]

    def is_there(self, stmt: ir.Store) -> bool:
        """Whether a store writes the value that the place is known to hold, such as ``v_dot[i] = v_dot[i]`` where a number was
        added to ``v[i]``."""
        read = self.lets.get(stmt.value) if isinstance(stmt.value, ir.Var) else None
        if read is None or read[0].args[0] is not stmt.buf or read[1] != self.versions.get(stmt.buf, 0):
            return False
        return read[0].params["path"] == stmt.path and read[0].args[1:] == stmt.args

    def twice_half(self, stmt: ir.Let) -> ir.Operand | None:
        """``x`` if the statement adds ``0.5 * x`` to itself, as in the adjoint of ``0.5 * x * x``; else None."""
        half = stmt.args[0]
        if record_of(stmt).signs != (1, 1) or stmt.args[1] is not half or not isinstance(half, ir.Var):
            return None
        return self.halves.get(half)

    def turned_back(self, stmt: ir.Let) -> ir.Var | None:
        """``x`` if the statement transposes ``x.T`` back and ``x`` has not been written since. Otherwise None, and the
        transposition is noted for later statements."""
        of, axes = stmt.args[0], stmt.params["axes"]
        if of in self.turned:
            origin, version, before = self.turned[of]
            straight = tuple(before[a] for a in axes) == tuple(range(len(axes)))
            if straight and version == self.versions.get(origin, 0) and origin.type == stmt.var.type:
                return origin
        if isinstance(of, ir.Var):
            self.turned[stmt.var] = of, self.versions.get(of, 0), axes
        return None

    def branch(self, stmt: ir.If) -> ir.Stmt | None:
        """The branch tidied, without results that both sides give alike; None if nothing is left, or if it is a check that has
        passed before."""
        if _is_check(stmt):
            if stmt.test in self.passed:
                return None
            self.passed.add(stmt.test)
        then, orelse = self.block(stmt.then), self.block(stmt.orelse)
        then, orelse = _known(then, stmt.test, True), _known(orelse, stmt.test, False)
        keep = []
        for r, a, b in zip(stmt.results, then.yields, orelse.yields):
            joined = a if a is b or (isinstance(a, ir.Const) and a == b) else None
            if joined is not None and not isinstance(joined, ir.Undef):
                self.equal[r] = joined
            keep.append(joined is None)
        if not then.stmts and not orelse.stmts and not any(keep):
            return None
        if then is stmt.then and orelse is stmt.orelse and all(keep):
            return stmt
        if not all(keep):
            then, orelse = self._yields(then, keep), self._yields(orelse, keep)
        return replace(stmt, then=then, orelse=orelse, results=tuple(r for r, k in zip(stmt.results, keep) if k))

    def _yields(self, block: ir.Block, keep: list[bool]) -> ir.Block:
        """A new block with only the yields for which ``keep`` is true."""
        new = replace(block, yields=tuple(y for y, k in zip(block.yields, keep) if k))
        self.moved(block, new)
        return new

    def loop(self, stmt: ir.For | ir.While) -> ir.Stmt:
        """The loop tidied, without carried values that no iteration changes; the same object if nothing changes."""
        stmt = _from_nothing(stmt)
        body = stmt.body
        keep = []
        for k, (p, init, out, r) in enumerate(zip(body.params, stmt.inits, body.yields, stmt.results)):
            fixed = _is_fixed(p, init, out)
            if fixed:
                self.equal[p] = self.equal[r] = init
                if isinstance(stmt, ir.While):
                    self.equal[stmt.test.params[k]] = init
            keep.append(not fixed)
        self._written(stmt)  # in the body, values read before the loop may have been overwritten
        new_body = self.block(body)
        test = self.block(stmt.test) if isinstance(stmt, ir.While) else None
        if all(keep) and new_body is body and (test is None or test is stmt.test):  # type: ignore[union-attr]
            return stmt
        if not all(keep):
            trimmed = replace(
                new_body,
                params=tuple(p for p, k in zip(body.params, keep) if k),
                yields=tuple(y for y, k in zip(new_body.yields, keep) if k),
            )
            self.moved(new_body if new_body is not body else body, trimmed)
            new_body = trimmed
        new = replace(
            stmt,
            body=new_body,
            inits=tuple(i for i, k in zip(stmt.inits, keep) if k),
            results=tuple(r for r, k in zip(stmt.results, keep) if k),
        )
        if isinstance(new, ir.While):
            assert test is not None
            new = replace(new, test=replace(test, params=tuple(p for p, k in zip(stmt.test.params, keep) if k)))  # type: ignore[union-attr]
        if any(_is_fixed(*carry) for carry in zip(new_body.params, new.inits, new_body.yields)):
            self.moved(stmt, new)
            return self.loop(new)  # a yield has turned out to be the carried value itself
        return new


def _is_value(stmt: ir.Let | ir.Call) -> bool:
    """Whether the statement only computes one array or scalar, so that an equal statement can replace it."""
    if must_run(stmt):
        return False
    if isinstance(stmt, ir.Call):
        return routine_of(stmt) is not None and len(stmt.results) == 1
    return stmt.var.type.kind == "array" and stmt.prim != "empty"


def _is_check(stmt: ir.If) -> bool:
    """Whether the branch only raises, if its test is true."""
    return len(stmt.then.stmts) == 1 and not stmt.orelse.stmts and isinstance(stmt.then.stmts[0], ir.Raise) \
        and not stmt.results  # fmt: skip


def _is_fixed(param: ir.Var, init: ir.Operand, out: ir.Operand) -> bool:
    """Whether a carried value, with initial value ``init`` and next value ``out``, surely is ``init`` in all iterations; False
    if that is undefined."""
    return (out is param or (isinstance(out, ir.Const) and out == init)) and not isinstance(init, ir.Undef)


def _from_nothing(stmt: ir.For | ir.While) -> ir.For | ir.While:
    """The loop with `Undef` as the initial value of each carried variable that its body does not read; only if the loop surely
    has an iteration. The loop itself if there is none."""
    if not stmt.inits or not has_trip(stmt):
        return stmt
    read = set(uses(stmt.body))
    inits = tuple(
        ir.Undef(i.type) if p not in read and isinstance(i, ir.Var) and not _is_fixed(p, i, end) else i
        for p, i, end in zip(stmt.body.params, stmt.inits, stmt.body.yields)
    )
    return stmt if inits == stmt.inits else replace(stmt, inits=inits)


def _known(block: ir.Block, test: ir.Operand, value: bool) -> ir.Block:
    """The block, one side of a branch on ``test``, with the constant ``value`` in place of the test, or a cast of it, among its
    yields."""
    if not isinstance(test, ir.Var):
        return block
    same = {test, *(s.var for s in block.stmts if isinstance(s, ir.Let) and s.prim == "cast" and s.args[0] is test)}
    same = {v for v in same if v.type.is_bool}
    if not same.intersection(y for y in block.yields if isinstance(y, ir.Var)):
        return block
    yields = tuple(ir.Const(value, y.type) if isinstance(y, ir.Var) and y in same else y for y in block.yields)
    read = {
        o for s in block.stmts for o in (*reads(s), *(u for b in blocks(s) for u in uses(b))) if isinstance(o, ir.Var)
    }
    stmts = [s for s in block.stmts if not (isinstance(s, ir.Let) and s.var in same - read)]
    return replace(block, stmts=stmts, yields=yields)


def _identity(stmt: ir.Let) -> ir.Operand | None:
    """The operand or constant that equals the *let*, as for ``1 * x``, ``x / 1`` and ``0 + x``, which appear when a constant is
    no longer carried; None if there is none of the same type."""
    if (number := fold_floats(record_of(stmt), stmt.args)) is not None:
        return number
    same = identity(record_of(stmt), stmt.args, signed=False)
    return same if isinstance(same, ir.Var) and same.type == stmt.var.type else None


def _mergeable(stmts: list[ir.Stmt], second: ir.If, symbols: Mapping[str, ir.Operand]) -> int | None:
    """The position in ``stmts`` of the last branch, if it is on the same test as ``second`` and the statements after it, and
    their sizes, can move before both; else None."""
    between: list[ir.Stmt] = []
    for at in range(len(stmts) - 1, -1, -1):
        stmt = stmts[at]
        if isinstance(stmt, ir.If):
            if stmt.test is not second.test:
                return None
            inner = [s for block in blocks(stmt) for s in statements(block)]
            made = {*stmt.results, *(written(s) for s in inner)}
            fixed = any(isinstance(s, ir.Effect) for s in inner) and bool(between)
            sizes = [symbols[name] for s in between for name in dim_symbols(s) if name in symbols]
            return None if fixed or any(o in made for o in (*sizes, *(o for s in between for o in reads(s)))) else at
        if not (isinstance(stmt, ir.Alloc) or computes(stmt)):
            return None
        between.append(stmt)
    return None


def _merged(first: ir.If, second: ir.If, symbols: dict[str, ir.Operand]) -> ir.If:
    """One new branch that does what ``first`` and ``second``, on the same test, do; adds new size symbols to ``symbols``."""
    sides = []
    for k, (a, b) in enumerate(((first.then, second.then), (first.orelse, second.orelse))):
        known: dict[ir.Operand, ir.Operand] = dict(zip(first.results, a.yields))

        def operand(o: ir.Operand, known: dict[ir.Operand, ir.Operand] = known) -> ir.Operand:
            return known.get(o, o) if isinstance(o, ir.Var) else o

        stmts = [map_operands(s, operand) for s in b.stmts]
        _resize(stmts, known, symbols, k)
        sides.append(ir.Block((), [*a.stmts, *stmts], (*a.yields, *(operand(y) for y in b.yields))))
    return replace(second, then=sides[0], orelse=sides[1], results=(*first.results, *second.results), loc=first.loc)


def _resize(
    stmts: list[ir.Stmt], known: Mapping[ir.Operand, ir.Operand], symbols: dict[str, ir.Operand], side: int
) -> None:
    """Changes in ``stmts``, in place, sizes that are results of the first branch into the values that this side yields for them
    (``known``); adds a symbol for each such variable to ``symbols``. ``side``: 0 or 1, for their names."""
    sizes: dict[str, Dim] = {}
    for name, value in list(symbols.items()):
        inner = known.get(value) if isinstance(value, ir.Var) else None
        if isinstance(inner, ir.Const):
            sizes[name] = Dim(int(inner.value))
        elif isinstance(inner, ir.Var):
            sizes[name] = Dim.symbol(f"{name}.{side}")
            symbols[f"{name}.{side}"] = inner
    if sizes:
        resize(ir.Block((), stmts), sizes)
