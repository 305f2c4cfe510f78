"""The arrays that are alive at once while the generated Python runs: a walk over the function as it is printed, with sizes as
values.

A name holds its array until it is bound again, as in CPython; a temporary lives until its expression is done. A loop is walked
twice, so that arrays which live on into the next iteration count. Arguments belong to the caller and do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from transpile.codegen.numpy.expression_trees import Nested
from transpile.codegen.numpy.memory_sharing import is_view
from transpile.codegen.numpy.printable_form import Printable, augmented
from transpile.core import nodes as ir
from transpile.core.walk import blocks, defined, defines, leaves, reads, statements
from transpile.reports.formula import Formula

ELIDED = 256 * 1024  # bytes from which NumPy computes into an operand without another reference


@dataclass(frozen=True, eq=False)
class Array:
    """An array with memory of its own: the name that it is made for (none: a temporary), its size, and where it is made."""

    name: str
    formula: Formula
    bytes: int
    loc: ir.Loc
    is_exact: bool = True


@dataclass(frozen=True)
class Peak:
    """The moment at which most memory is alive, and the arrays alive then. Of a branch, the larger side counts. If not
    ``is_exact``, the formula is a bound and the bytes are measured."""

    bytes: int
    formula: Formula
    loc: ir.Loc
    arrays: tuple[Array, ...]
    is_exact: bool = True


Value = tuple[Array, ...]  # the arrays that a value keeps alive


class Walk:
    """Walks a function that is about to be printed. ``size_of`` gives the formula and the bytes of an array; for those in
    ``bounded`` the formula is only a bound."""

    def __init__(
        self,
        form: Printable,
        size_of: Mapping[ir.Var, tuple[Formula, int]],
        bounded: Collection[ir.Var] = (),
    ) -> None:
        self.form, self.nested, self.names, self.size_of = form, form.nested, form.names, size_of
        self.bounded = bounded
        self.held: dict[str, Value] = {}
        self.users: Counter[Array] = Counter()  # references to each array, by names and expressions
        self.bytes = 0
        self.quiet: dict[int, bool] = {}  # id of a branch or loop -> whether it creates no array
        self.loc = form.fn.loc
        self.best: tuple[int, ir.Loc, list[Array]] = (0, self.loc, [])

    def run(self) -> Peak:
        """The peak of the function, with all its results alive at once at the end."""
        fn = self.nested.fn
        self.block(fn.body)
        for out in fn.body.yields:
            self.take(self.value(out))  # all results are held at once
        total, loc, alive = self.best
        exact = all(a.is_exact for a in alive)
        return Peak(total, sum((a.formula for a in alive), Formula()), loc, tuple(alive), exact)

    # ---- memory

    def take(self, value: Value) -> None:
        """Adds a reference to each array of ``value``; notes the moment if more bytes are alive than ever before."""
        for array in value:
            if not self.users[array]:
                self.bytes += array.bytes
            self.users[array] += 1
        if value and self.bytes > self.best[0]:
            self.best = (self.bytes, self.loc, list(self.users))

    def drop(self, value: Value) -> None:
        """Removes a reference to each array of ``value``; an array that has none left is freed."""
        for array in value:
            self.users[array] -= 1
            if not self.users[array]:
                del self.users[array]
                self.bytes -= array.bytes

    def bind(self, name: str, value: Value) -> None:
        """Notes ``name = value``: the name refers to these arrays, no longer to its old ones. The caller's own reference to
        ``value`` stays."""
        old = self.held.get(name, ())
        self.take(value)
        self.held[name] = value
        self.drop(old)

    def new(self, var: ir.Var, loc: ir.Loc) -> Value:
        """A new array for ``var``, with one reference, which the caller must drop."""
        formula, size = self.size_of[var]
        name = "" if var in self.nested.trees else self.names.get(var, "")
        made = (Array(name, formula, size, loc, var not in self.bounded),)
        self.take(made)
        return made

    # ---- expressions

    def value(self, operand: ir.Operand) -> Value:
        """The arrays of an operand, each with one more reference, which the caller must drop; () for a constant."""
        if not isinstance(operand, ir.Var):
            return ()
        tree = self.nested.trees.get(operand)
        if isinstance(tree, ir.Let):
            return self.let(tree)
        if isinstance(tree, ir.Call):
            return tuple(array for value in self.called(tree).values() for array in value)
        if isinstance(tree, ir.If):
            self.drop(self.value(tree.test))
            found = [self.value(side.yields[0]) for side in (tree.then, tree.orelse)]
            self.drop(found[1])
            return found[0]
        found_now = self.held.get(self.names.get(operand, ""), ())
        self.take(found_now)
        return found_now

    def let(self, let: ir.Let) -> Value:
        """The arrays of the result of an expression, each with one more reference, which the caller must drop; those of its
        operands are dropped."""
        held = [self.value(a) for a in let.args]
        if not let.var.type.dims and let.var.type.kind != "tuple":
            out: Value = ()
        elif let.var.type.kind == "tuple" or is_view(let):
            sources = held[:1] if let.prim in ("index", "broadcast", "sized", "stretch", "reshape", "item") else held
            out = tuple(dict.fromkeys(a for value in sources for a in value))
            self.take(out)
            if let.var.type.kind == "tuple":
                out = self.several(let)
        else:
            out = self.into_operand(let, held) or self.new(let.var, let.loc)
        for value in held:
            self.drop(value)
        return out

    def called(self, call: ir.Call) -> dict[ir.Var, Value]:
        """For each result of a call that is an array and has a name or stands inside another expression, its new array, with
        one reference, which the caller must drop."""
        held = [self.value(a) for a in call.args]
        wanted = [r for r in call.results if r.type.dims and (r in self.names or r in self.nested.trees)]
        made = {r: self.new(r, call.loc) for r in wanted}
        for value in held:
            self.drop(value)
        return made

    def several(self, let: ir.Let) -> Value:
        """New arrays, with one reference each, for the results of a primitive with several that are arrays and used."""
        items = self.form.items.get(let.var, [])
        made: list[Array] = []
        for item in items:
            if item.var.type.dims:
                made += self.new(item.var, let.loc)
        return tuple(made)

    def into_operand(self, let: ir.Let, held: Sequence[Value]) -> Value:
        """The operand's array that NumPy reuses for the result of large arithmetic, with one more reference: of the same size
        and dtype, and without another reference; () if there is none. ``held``: the arrays of each operand."""
        _, size = self.size_of[let.var]
        if not augmented(let) or size < ELIDED:
            return ()
        for operand, value in zip(let.args, held):
            if (
                len(value) == 1
                and self.users[value[0]] == 1
                and value[0].bytes == size
                and operand.type.dtype == let.var.type.dtype
            ):
                self.take(value)
                return value
        return ()

    # ---- statements

    def block(self, block: ir.Block) -> None:
        for stmt in block.stmts:
            if stmt.loc.line:
                self.loc = stmt.loc
            self.stmt(stmt)

    def stmt(self, stmt: ir.Stmt) -> None:
        """Walks a statement: notes which arrays it makes, binds and frees."""
        match stmt:
            case ir.Let():
                self.assign(stmt)
            case ir.Call():
                for var, made in self.called(stmt).items():
                    self.bind(self.names[var], made)
                    self.drop(made)
            case ir.Alloc():
                self.assign(ir.Let(stmt.var, stmt.prim, stmt.args, stmt.params, stmt.loc))
            case ir.NewStack():
                made = self.new(stmt.var, stmt.loc)
                self.bind(self.names[stmt.var], made)
                self.drop(made)
            case ir.Store() | ir.Add() | ir.Print() | ir.Raise():
                read = [
                    self.value(o)
                    for o in ((*stmt.args, stmt.value) if isinstance(stmt, (ir.Store, ir.Add)) else stmt.args)
                ]
                for value in read:
                    self.drop(value)
            case ir.Push():
                self.drop(self.value(stmt.value))
            case ir.Pop():
                self.pop(stmt)
            case ir.If():
                self.branch(stmt)
            case ir.For() | ir.While():
                self.loop(stmt)

    def assign(self, let: ir.Let) -> None:
        """Walks ``name = expression``: binds the name to the arrays of the result, unless it is computed in place."""
        if let.prim == "item":
            return
        name, live = self.names.get(let.var, ""), self.form.live.after.get(id(let), 0)
        found = self.form.in_place(name, let, live)
        if found is not None:  # in place
            for value in [self.value(a) for a in let.args if not self.form.is_name(a, name)]:
                self.drop(value)
            return
        made = self.let(let)
        if let.var.type.kind == "tuple":
            for item, array in zip([i for i in self.form.items.get(let.var, []) if i.var.type.dims], made):
                self.bind(self.names[item.var], (array,))
        elif let.var.type.dims:
            self.bind(name, made)
        self.drop(made)

    def pop(self, stmt: ir.Pop) -> None:
        """Binds the name of a popped array to no array: it counts as part of the stack, which is in fact a little smaller
        then."""
        if stmt.var.type.dims:
            self.bind(self.names[stmt.var], ())

    def hand(self, targets: Sequence[ir.Var], sources: Sequence[ir.Operand]) -> None:
        """Notes ``targets = sources``, for those pairs that the printed code assigns."""
        for name, operand, _ in self.form.pairs(targets, sources):
            tree = self.form.tree(operand)
            if isinstance(tree, ir.Let) and self.form.in_place(name, tree, 0) is not None:
                for value in [self.value(a) for a in tree.args if not self.form.is_name(a, name)]:
                    self.drop(value)
                continue
            value = self.value(operand)
            self.bind(name, value)
            self.drop(value)

    def branch(self, stmt: ir.If) -> None:
        """Walks both sides of a branch from the same start. After it, each name holds the array of the side that leaves more
        bytes alive."""
        self.drop(self.value(stmt.test))
        if not self.has_memory(stmt):
            return
        before = dict(self.held)
        ends: list[tuple[int, dict[str, Value]]] = []
        for side in (stmt.then, stmt.orelse):
            self.restore(before)
            self.block(side)
            self.hand(stmt.results, side.yields)
            ends.append((self.bytes, dict(self.held)))
        (_, less), (_, most) = sorted(ends, key=lambda end: end[0])
        self.restore({**less, **most})

    def restore(self, held: Mapping[str, Value]) -> None:
        """Binds each name in ``held`` to its arrays there, and all other names to none."""
        for name in [*self.held]:
            if name not in held:
                self.drop(self.held.pop(name))
        for name, value in held.items():
            self.bind(name, value)

    def has_memory(self, stmt: ir.If | ir.For | ir.While) -> bool:
        """Whether anything inside the statement creates an array or binds a name to one; False means that it need not be
        walked."""
        if id(stmt) not in self.quiet:
            found = any(v.type.dims or v.type.kind != "array" for v in defines(stmt))
            for block in blocks(stmt):
                found = found or any(v.type.dims or v.type.kind != "array" for v in defined(block))
                operands = (o for s in statements(block) for o in reads(s))
                found = found or any(map(self.makes, operands)) or any(map(self.makes, leaves(block)))
            self.quiet[id(stmt)] = not found
        return not self.quiet[id(stmt)]

    def makes(self, operand: ir.Operand) -> bool:
        """Whether the operand is an expression, printed in place, that contains a temporary array."""
        tree = self.nested.trees.get(operand) if isinstance(operand, ir.Var) else None
        if isinstance(tree, ir.If):
            return any(map(self.makes, (tree.test, *tree.then.yields, *tree.orelse.yields)))
        return tree is not None and (bool(tree.var.type.dims) or any(map(self.makes, tree.args)))

    def loop(self, stmt: ir.For | ir.While) -> None:
        """Walks the body of a loop twice; not at all if it makes no array."""
        if not self.has_memory(stmt):
            return
        self.hand(stmt.body.params, stmt.inits)
        for _ in range(2):
            if isinstance(stmt, ir.While):
                self.block(stmt.test)
                self.drop(self.value(stmt.test.yields[0]))
            self.block(stmt.body)
            self.hand(stmt.body.params, stmt.body.yields)
        self.hand(stmt.results, stmt.body.params)


def variables(nested: Nested) -> Iterator[ir.Var]:
    """The variables that may be arrays with memory of their own: those that statements define, and expressions printed in
    place."""
    yield from defined(nested.fn.body)
    for var, tree in nested.trees.items():
        yield var
        if isinstance(tree, ir.If):
            yield from (*defined(tree.then), *defined(tree.orelse))
