"""What statements do to memory: which array a name stands for, what is read and written, and the order of effects.

Two names have the same *root* if they can stand for the same memory: a view and its array, or the values that branches and
loops carry. Other arrays do not overlap: they are allocated, or parameters, which the caller has checked to be disjoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from transpile.core import nodes as ir
from transpile.core.walk import blocks, defines, leaves, reads
from transpile.ops.tables import record_of


def is_array(op: ir.Operand) -> bool:
    """Whether the operand is memory: an array, a buffer (of any rank), a stack, or the tuple of several results of a primitive,
    some of which may be arrays."""
    return isinstance(op, ir.Var) and (bool(op.type.dims) or op.buffer or op.type.kind in ("tuple", "stack"))


class Roots:
    """Classes of names that may stand for the same memory (union-find)."""

    def __init__(self, fn: ir.Function) -> None:
        self.parent: dict[ir.Var, ir.Var] = {}
        self.written_params = {p for p in fn.params if p.buffer}
        self._block(fn.body)

    def of(self, var: ir.Var) -> ir.Var:
        """The root of a variable's class."""
        while (up := self.parent.get(var, var)) is not var:
            var = up
        return var

    def _join(self, a: ir.Operand, b: ir.Operand) -> None:
        """Makes two names one class, if both are arrays."""
        if is_array(a) and is_array(b):
            first, second = self.of(a), self.of(b)  # type: ignore[arg-type]
            if first is not second:
                self.parent[second] = first

    def _block(self, block: ir.Block) -> None:
        """Joins the names that the statements of a block, nested ones included, may make stand for the same memory."""
        for stmt in block.stmts:
            match stmt:
                case ir.Call():
                    for result in stmt.results:
                        for a in stmt.args:
                            self._join(a, result)
                case ir.Let() if is_array(stmt.var):
                    for a in stmt.args:
                        self._join(a, stmt.var)
                case ir.If():
                    for side in (stmt.then, stmt.orelse):
                        for result, out in zip(stmt.results, side.yields):
                            self._join(result, out)
                case ir.For() | ir.While():
                    inner = (stmt.body, stmt.test) if isinstance(stmt, ir.While) else (stmt.body,)
                    for k, init in enumerate(stmt.inits):
                        names = [init, stmt.body.yields[k], *stmt.results[k : k + 1], *(b.params[k] for b in inner)]
                        arrays = [x for x in names if is_array(x)]  # an init may be `Undef`
                        for x in arrays[1:]:
                            self._join(arrays[0], x)
                case ir.Push():
                    self._join(stmt.stack, stmt.value)
                case ir.Pop():
                    self._join(stmt.stack, stmt.var)
            for inner_block in blocks(stmt):
                self._block(inner_block)


@dataclass(frozen=True, slots=True)
class Access:
    """An element that a statement touches; ``indices`` is None for the whole array or an unknown part of it."""

    var: ir.Var
    indices: tuple[ir.Operand, ...] | None
    kind: str  # "read", "write" or "add"


def accesses(stmt: ir.Stmt) -> Iterator[Access]:
    """The accesses of the statement itself, without nested blocks.

    A view and the read of a size touch nothing; a *let* of another primitive counts as reading and writing its array operands.
    """
    match stmt:
        case ir.Let(prim="index"):
            yield Access(stmt.args[0], stmt.args[1:], "read")  # type: ignore[arg-type]
        case ir.View() | ir.Let(prim="dim" | "item"):
            return
        case ir.Let():
            for a in stmt.args:
                if is_array(a):
                    yield Access(a, None, "read")  # type: ignore[arg-type]
                    yield Access(a, None, "write")  # type: ignore[arg-type]
        case ir.Call():
            for k, a in enumerate(stmt.args):
                if is_array(a):
                    yield Access(a, None, "read")  # type: ignore[arg-type]
                    if k in stmt.written:
                        yield Access(a, None, "write")  # type: ignore[arg-type]
        case ir.Store():
            yield Access(stmt.buf, stmt.args, "write")
        case ir.Add():
            yield Access(stmt.buf, stmt.args, "add")
        case ir.PacketRead():
            yield Access(stmt.buf, None, "read")
        case ir.PacketStore():
            yield Access(stmt.buf, None, "write")
        case ir.Push():
            yield Access(stmt.stack, None, "write")
            if is_array(stmt.value):
                yield Access(stmt.value, None, "read")  # type: ignore[arg-type]
        case ir.Pop():
            yield Access(stmt.stack, None, "write")
        case ir.Print() | ir.Raise():
            for a in stmt.args:
                if is_array(a):
                    yield Access(a, None, "read")  # type: ignore[arg-type]


def handed(stmt: ir.Stmt) -> Iterator[tuple[ir.Var, ir.Operand]]:
    """The pairs of a variable that a branch or a loop assigns and an operand that it assigns to it; loop results are left
    out."""
    match stmt:
        case ir.If():
            for block in (stmt.then, stmt.orelse):
                yield from zip(stmt.results, block.yields)
        case ir.For() | ir.While():
            yield from zip(stmt.body.params, stmt.inits)
            yield from zip(stmt.body.params, stmt.body.yields)


@dataclass(slots=True)
class Touch:
    """What a statement, including nested blocks, defines, uses and does."""

    defs: set[ir.Var] = field(default_factory=set)
    uses: set[ir.Var] = field(default_factory=set)
    found: list[Access] = field(default_factory=list)
    read: set[ir.Var] = field(default_factory=set)  # roots, as in the next two
    written: set[ir.Var] = field(default_factory=set)
    added: set[ir.Var] = field(default_factory=set)
    raises: bool = False
    acts: bool = False  # it prints: nothing visible may move past it
    visible: bool = False  # it writes memory of the caller

    def include(self, other: Touch) -> None:
        """Adds the touch ``other`` of another statement."""
        self.defs |= other.defs
        self.uses |= other.uses
        self.found += other.found
        self.read |= other.read
        self.written |= other.written
        self.added |= other.added
        self.raises |= other.raises
        self.acts |= other.acts
        self.visible |= other.visible


class Touches:
    """The touches of the statements of one function, each computed once."""

    def __init__(self, roots: Roots) -> None:
        self.roots = roots
        self.known: dict[int, tuple[ir.Stmt, Touch]] = {}
        self.writes: dict[int, tuple[ir.Stmt, set[ir.Var]]] = {}

    def of(self, stmt: ir.Stmt) -> Touch:
        """The `Touch` of a statement with all nested ones; the same object each time."""
        held = self.known.get(id(stmt))
        if held is None or held[0] is not stmt:
            held = self.known[id(stmt)] = (stmt, self._touch(stmt))
        return held[1]

    def changed(self, stmt: ir.Stmt) -> set[ir.Var]:
        """The roots that a statement writes or adds to, including nested blocks."""
        held = self.writes.get(id(stmt))
        if held is None or held[0] is not stmt:
            roots = {self.roots.of(a.var) for a in accesses(stmt) if a.kind != "read"}
            roots.update(*(self.changed(inner) for block in blocks(stmt) for inner in block.stmts))
            held = self.writes[id(stmt)] = (stmt, roots)
        return held[1]

    def _touch(self, stmt: ir.Stmt) -> Touch:
        """The `Touch` of a statement and all nested ones, computed."""
        t = Touch()
        t.defs.update(defines(stmt))
        t.uses.update(o for o in reads(stmt) if isinstance(o, ir.Var))
        for a in accesses(stmt):
            root = self.roots.of(a.var)
            t.uses.add(a.var)
            t.found.append(a)
            {"read": t.read, "write": t.written, "add": t.added}[a.kind].add(root)
            t.visible |= a.kind != "read" and root in self.roots.written_params
        if isinstance(stmt, ir.Effect):
            t.raises |= not isinstance(stmt, ir.Print)
            t.acts |= isinstance(stmt, ir.Print)
        if isinstance(stmt, ir.Call) or isinstance(stmt, ir.Let) and may_raise(stmt):
            t.raises = True
        # arrays that a branch or a loop carries must be complete: small ones are carried as their elements
        t.read.update(self.roots.of(o) for _, o in handed(stmt) if is_array(o))  # type: ignore[arg-type]
        if isinstance(stmt, ir.For):
            t.defs.add(stmt.index)
        for block in blocks(stmt):
            t.defs.update(block.params)
            t.uses.update(o for o in leaves(block) if isinstance(o, ir.Var))
            for inner in block.stmts:
                t.include(self.of(inner))
        return t

    def ordered(self, first: ir.Stmt, second: ir.Stmt) -> bool:
        """Whether ``second``, which stands after ``first``, must stay there: they touch the same memory or variables, or have
        effects."""
        return is_ordered(self.of(first), self.of(second))

    def after(self, first: ir.Stmt, others: Sequence[ir.Stmt]) -> list[ir.Stmt]:
        """The statements of ``others`` that must stay after ``first``, or after another one of them.

        Each is tested once, against all found so far together: the order of a statement and a group follows from the orders of
        single statements.
        """
        group, found = Touch(), []
        group.include(self.of(first))
        for stmt in others:
            own = self.of(stmt)
            if is_ordered(group, own):
                found.append(stmt)
                group.include(own)
        return found


def is_ordered(a: Touch, b: Touch) -> bool:
    """Whether the statements with touch ``b`` must stay after those with touch ``a``."""
    if a.defs & b.uses or b.defs & a.uses:
        return True
    if a.written & b.read or a.added & b.read or a.read & (b.written | b.added):
        return True
    if a.written & (b.written | b.added) or a.added & b.written:
        return True
    if a.raises and b.found:  # it may be the check that the elements exist
        return True
    return has_order(a, b)


def has_order(a: Touch, b: Touch) -> bool:
    """Whether two pieces of code must keep their order because both raise or print, or one does and the other writes memory of
    the caller."""
    first, second = a.raises or a.acts, b.raises or b.acts
    return (first and second) or (first and b.visible) or (second and a.visible)


def may_raise(let: ir.Let) -> bool:
    """Whether a *let* may raise, as its record says: a Python integer division by zero, for example."""
    raises = record_of(let).raises
    if raises is None:
        return False
    values = [a.value if isinstance(a, ir.Const) else None for a in let.args]
    return bool(raises([a.type for a in let.args], values, let.var.type))


def is_pure(let: ir.Let) -> bool:
    """Whether a *let* may be recomputed, moved or removed: it cannot raise."""
    return not may_raise(let)
