"""The value that a statement adds, as a sum of products of elements: looks through the temporaries from which it was computed.

t[j] = w[i, j] * a
z = x[k] * t[j]                 z   is   a * w[i, j] * x[k]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from transpile.analysis.accesses import Roots, Touches, accesses, is_array
from transpile.analysis.affine import Forms, Linear
from transpile.analysis.value_ranges import is_integer
from transpile.core import nodes as ir
from transpile.core.walk import blocks, defined, defines, leaves, reads
from transpile.ops.tables import record_of
from transpile.ops.traits import NOT_EQUAL

LIMIT = 4  # terms of a sum
REALS = ("float64", "float32")


@dataclass(frozen=True)
class Read:
    """An element of an array."""

    var: ir.Var
    at: tuple[Linear, ...]

    def replaced(self, var: ir.Var, by: Linear) -> Read:
        """The element with ``var`` replaced by ``by`` in its subscripts."""
        return replace(self, at=tuple(f.replaced(var, by) for f in self.at))

    def has(self, var: ir.Var) -> bool:
        """Whether a subscript depends on ``var``."""
        return any(f.coefficient(var) for f in self.at)


@dataclass(frozen=True)
class Term:
    """Product of a number, scalar variables and array elements."""

    factor: float = 1.0
    scalars: tuple[ir.Var, ...] = ()
    reads: tuple[Read, ...] = ()

    def times(self, other: Term) -> Term:
        """The product of both terms, as one term."""
        return Term(self.factor * other.factor, self.scalars + other.scalars, self.reads + other.reads)

    def replaced(self, var: ir.Var, by: Linear) -> Term:
        """The term with ``var`` replaced by ``by`` in subscripts; scalars stay."""
        return replace(self, reads=tuple(r.replaced(var, by) for r in self.reads))


Path = tuple[tuple[ir.Block, int], ...]
"""The blocks around a statement, outermost first, each with the position of the statement in it."""


class Code:
    """Facts about the statements of one function that passes ask for."""

    def __init__(self, fn: ir.Function) -> None:
        self.fn = fn
        self.forms = Forms(fn.body)
        self.roots = Roots(fn)
        self.touches = Touches(self.roots)
        self.path: dict[int, Path] = {}
        self.definer: dict[ir.Var, ir.Stmt] = {}
        self.loop: dict[ir.Var, ir.For] = {}  # by index
        self.index: dict[int, ir.Var] = {}  # by the id of the loop body
        self.writers: dict[ir.Var, list[ir.Stmt]] = {}  # by root
        self.readers: dict[ir.Var, list[ir.Stmt]] = {}  # by root; of the whole array or of elements
        self.sizes: dict[ir.Var, tuple[ir.Operand, ...]] = {}
        self.order: dict[ir.Var, int] = {}  # of definition
        self.insides: dict[int, set[ir.Var]] = {}
        for param in fn.params:
            self.place_of(param)
        self._visit(fn.body, ())
        self._learn(fn.body)
        for param in fn.params:
            found = [self._dim(param, axis) for axis in range(param.type.rank)]
            if param.type.dims and all(f is not None for f in found):
                self.sizes[param] = tuple(f for f in found if f is not None)

    def inside(self, loop: ir.For) -> set[ir.Var]:
        """Variables that a loop defines, including its index."""
        if id(loop) not in self.insides:
            self.insides[id(loop)] = {loop.index, *defined(loop.body)}
        return self.insides[id(loop)]

    def indices_around(self, stmt: ir.Stmt) -> set[ir.Var]:
        """Indices of the loops around a statement."""
        return {self.index[id(block)] for block, _ in self.path[id(stmt)] if id(block) in self.index}

    def place_of(self, var: ir.Var) -> int:
        """Position of a variable in the order of definitions; a variable not seen before comes last."""
        return self.order.setdefault(var, len(self.order))

    def _visit(self, block: ir.Block, around: Path) -> None:
        """Notes for each statement of a block, nested ones included, where it stands and what it defines, reads and writes."""
        for k, stmt in enumerate(block.stmts):
            path = (*around, (block, k))
            self.path[id(stmt)] = path
            for var in defines(stmt):
                self.definer[var] = stmt
                self.place_of(var)
            if isinstance(stmt, ir.For):
                self.place_of(stmt.index)
                self.loop[stmt.index] = stmt
                self.index[id(stmt.body)] = stmt.index
            if isinstance(stmt, ir.Alloc):
                self.sizes[stmt.var] = stmt.args if stmt.prim == "empty" else ()
            for a in accesses(stmt):
                if a.kind != "read":
                    self.writers.setdefault(self.roots.of(a.var), []).append(stmt)
            for op in (*reads(stmt), *(o for inner in blocks(stmt) for o in leaves(inner))):
                if is_array(op):
                    self.readers.setdefault(self.roots.of(op), []).append(stmt)  # type: ignore[arg-type]
            for inner in blocks(stmt):
                self._visit(inner, path)

    def _learn(self, body: ir.Block) -> None:
        """Makes two sizes aliases where a guard raises if they differ."""
        for stmt in body.stmts:
            if isinstance(stmt, ir.If) and any(isinstance(s, ir.Raise) for s in stmt.then.stmts):
                let = self.definer.get(stmt.test) if isinstance(stmt.test, ir.Var) else None
                if (
                    isinstance(let, ir.Let)
                    and record_of(let).relation is NOT_EQUAL
                    and all(is_integer(a) for a in let.args)
                ):
                    pair = self.forms.as_alias(*let.args)
                    if pair is not None:
                        self.forms.alias(*pair)

    def _dim(self, param: ir.Var, axis: int) -> ir.Operand | None:
        """The variable that holds the size of a parameter along an axis; None if the outermost block does not read it."""
        for stmt in self.fn.body.stmts:
            if (
                isinstance(stmt, ir.Let)
                and stmt.prim == "dim"
                and stmt.args[0] is param
                and stmt.params["axis"] == axis
            ):
                return stmt.var
        return None

    def is_within(self, stmt: ir.Stmt, outer: ir.Stmt) -> bool:
        """Whether a statement is ``outer`` or stands inside it."""
        return stmt is outer or any(b is inner for inner in blocks(outer) for b, _ in self.path[id(stmt)])

    def written(self, block: ir.Block, first: int, last: int, but: ir.Stmt) -> set[ir.Var]:
        """Roots that statements number ``first`` to ``last`` of a block, both included, write or add to, not counting the
        statement ``but`` inside them."""
        found: set[ir.Var] = set()
        for stmt in block.stmts[first : last + 1]:
            self._written(stmt, but, found)
        return found

    def _written(self, stmt: ir.Stmt, but: ir.Stmt, found: set[ir.Var]) -> None:
        """Adds to ``found`` the roots that a statement, without the statement ``but`` inside it, writes or adds to."""
        if stmt is but:
            return
        if not any(p[0] is b for b in blocks(stmt) for p in self.path[id(but)]):
            t = self.touches.of(stmt)
            found |= t.written | t.added
            return
        for inner in blocks(stmt):
            for s in inner.stmts:
                self._written(s, but, found)


class Terms:
    """Expands the values that one statement in a loop adds, into terms."""

    def __init__(self, code: Code, stmt: ir.Stmt, inside: set[ir.Var]) -> None:
        self.code, self.stmt, self.inside = code, stmt, inside
        self.steps = 0

    def of(self, op: ir.Operand, where: Mapping[ir.Var, Linear] | None = None) -> list[Term] | None:
        """Terms whose sum is the operand; None if it is not a sum of at most `LIMIT` products. ``where``: forms that replace
        loop indices."""
        where = where or {}
        self.steps += 1
        if isinstance(op, ir.Const):
            return [Term(float(op.value))]
        if not isinstance(op, ir.Var) or op.type.dtype not in REALS or op.type.dims or self.steps > 60:
            return None
        if op not in self.inside:
            return [Term(scalars=(op,))]
        let = self.code.definer.get(op)
        if not isinstance(let, ir.Let):
            return None
        if let.prim == "index":
            return self.read(let, where)
        record = record_of(let)
        if not record.is_polynomial or any(a.type.dtype != op.type.dtype for a in let.args):
            return None
        parts = [self.of(a, where) for a in let.args]
        if any(p is None for p in parts):
            return None
        first, *rest = [p for p in parts if p is not None]
        if record.multiplies:
            if len(first) > 1 and len(rest[0]) > 1:
                return None
            found = [a.times(b) for a in first for b in rest[0]]
        else:
            found = [t for p, sign in zip((first, *rest), record.signs) for t in (p if sign > 0 else negated(p))]
        return found if len(found) <= LIMIT else None

    def read(self, let: ir.Let, where: Mapping[ir.Var, Linear]) -> list[Term] | None:
        """The terms of an element that is read: those of the value stored there if the array is a temporary filled element by
        element, else the element itself. None if these are not known, or a statement may write the element before the sum is
        computed."""
        source = let.args[0]
        assert isinstance(source, ir.Var)
        at = tuple(self.form(a, where) for a in let.args[1:])
        made = self.made(source)
        if made is not None:
            store, indices = made
            return self.of(store.value, dict(zip(indices, at)))
        return [Term(reads=(Read(source, at),))] if self.is_steady(let, source) else None

    def form(self, op: ir.Operand, where: Mapping[ir.Var, Linear]) -> Linear:
        """The form of a subscript with the variables in ``where`` replaced."""
        found = self.code.forms.of(op)
        for var, by in where.items():
            found = found.replaced(var, by)
        return found

    def made(self, array: ir.Var) -> tuple[ir.Store, list[ir.Var]] | None:
        """A pair of the only store into a temporary and the loop indices that are its subscripts, if the store fills the
        temporary element by element; else None."""
        alloc = self.code.definer.get(array)
        writers = self.code.writers.get(self.code.roots.of(array), [])
        if not isinstance(alloc, ir.Alloc) or alloc.prim != "empty" or array not in self.inside or len(writers) != 1:
            return None
        (store,) = writers
        if not isinstance(store, ir.Store) or store.buf is not array:
            return None
        home, path = self.code.path[id(alloc)], self.code.path[id(store)]
        around = path[len(home) :]
        if path[len(home) - 1][0] is not home[-1][0] or len(around) != len(store.args):
            return None
        mine = [b for b, _ in self.code.path[id(self.stmt)]]
        if any(b is m for b, _ in around for m in mine):
            return None  # another iteration of a loop around the statement may have filled the element
        indices = [a for a in store.args if isinstance(a, ir.Var) and a in self.code.loop]
        if len({*indices}) != len(store.args):
            return None
        bodies = [self.code.loop[i].body for i in indices]
        return (store, indices) if all(any(b is body for body in bodies) for b, _ in around) else None

    def is_steady(self, let: ir.Let, source: ir.Var) -> bool:
        """Whether nothing from the read ``let`` up to the statement whose terms are expanded writes the array ``source``; the
        statement itself does not count."""
        mine, its = self.code.path[id(let)], self.code.path[id(self.stmt)]
        for (block, k), (other, at) in zip(mine, its):
            if block is not other:
                return False
            if k != at:
                return k < at and self.code.roots.of(source) not in self.code.written(block, k, at, self.stmt)
        return True  # the read stands in the statement


def negated(terms: list[Term]) -> list[Term]:
    """New terms with the opposite sign."""
    return [replace(t, factor=-t.factor) for t in terms]
