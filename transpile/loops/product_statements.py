"""Statements that sum products: loop nests around a product, sums that loops carry, BLAS calls of a matrix and a vector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from transpile.analysis.accesses import is_pure
from transpile.analysis.affine import Linear
from transpile.core import nodes as ir
from transpile.core.types import INT
from transpile.loops.size_assumptions import SMALL
from transpile.loops.terms import REALS, Code, Read, Term, Terms, negated
from transpile.ops.tables import record_of

ZERO = Linear(0)


@dataclass(frozen=True)
class Letter:
    """An index that runs over ``range(low, high)``."""

    index: ir.Var
    low: Linear
    high: Linear

    def replaced(self, var: ir.Var, by: Linear) -> Letter:
        """The letter with ``var`` replaced by ``by`` in its range; the index itself stays."""
        return replace(self, low=self.low.replaced(var, by), high=self.high.replaced(var, by))

    @property
    def is_small(self) -> bool:
        """Whether the size of the range is a constant of at most `SMALL`."""
        size = self.high - self.low
        return not size.terms and size.const <= SMALL

    @property
    def form(self) -> Linear:
        """The index as a linear form."""
        return Linear.atom(self.index)


@dataclass(frozen=True)
class Product:
    """``target += sum of terms`` over all values of the letters, which stand in loop order, outermost first.

    ``fills``: the target is 0 before. It is then an array allocated in the iteration or, if not ``is_own``, the iteration's
    part of an array from outside. Without a target, the sum is ``result``.
    """

    stmt: ir.Stmt
    letters: tuple[Letter, ...]
    target: Read | None
    terms: tuple[Term, ...]
    fills: bool = False
    result: ir.Var | None = None
    is_own: bool = True

    def replaced(self, var: ir.Var, by: Linear) -> Product:
        """The product with ``var`` replaced by ``by`` in ranges, target and terms; ``stmt`` stays."""
        return replace(
            self,
            letters=tuple(c.replaced(var, by) for c in self.letters),
            target=None if self.target is None else self.target.replaced(var, by),
            terms=tuple(t.replaced(var, by) for t in self.terms),
        )

    @property
    def reads(self) -> Iterator[Read]:
        """All elements that the terms read."""
        for term in self.terms:
            yield from term.reads


def product_of(code: Code, stmt: ir.Stmt, outer: ir.For) -> Product | None:
    """The sum of products that a loop nest or a call of ``gemv`` computes; None if it computes none. ``outer``: the outermost
    loop around the statement, or the statement itself."""
    inside = code.inside(outer)
    if isinstance(stmt, ir.Call) and stmt.library == "blas.gemv":
        return _of_call(code, stmt, inside)
    found = _nest(code, stmt, inside)
    if found is None:
        return None
    own = {c.index for c in found.letters}
    around = code.indices_around(stmt)
    reads = [*found.reads, *(() if found.target is None else (found.target,))]
    forms = [f for r in reads for f in r.at] + [f for c in found.letters for f in (c.low, c.high)]
    if any(v in inside and v not in own and v not in around for f in forms for v in f.atoms):
        return None  # a subscript is not known before the statement
    return found


def _nest(code: Code, stmt: ir.Stmt, inside: set[ir.Var]) -> Product | None:
    """The product of a loop nest that ends in one addition to an element, or that carries its sum; None for other nests.
    ``inside``: the variables that the outermost loop defines."""
    letters: list[Letter] = []
    found: ir.Stmt = stmt
    while isinstance(found, ir.For):
        letter = letter_of(code, found)
        if letter is None:
            return None
        letters.append(letter)
        if found.inits:
            return _carried(code, stmt, found, letters, inside)
        if not found.body.stmts:
            return None
        *lets, last = found.body.stmts
        if not all(isinstance(s, ir.Let) and is_pure(s) for s in lets):
            return None
        found = last
    if not isinstance(found, (ir.Add, ir.Store)) or found.buf.type.dtype not in REALS:
        return None
    target = Read(found.buf, tuple(code.forms.of(a) for a in found.args))
    terms = Terms(code, stmt, inside).of(found.value)
    if terms is not None and isinstance(found, ir.Store):  # ``x[i] = x[i] + …``
        mine = [t for t in terms if t.reads == (target,) and t.factor == 1.0 and not t.scalars]
        terms = [t for t in terms if t is not mine[0]] if len(mine) == 1 else None
    return Product(stmt, tuple(letters), target, tuple(terms)) if terms else None


def letter_of(code: Code, loop: ir.For) -> Letter | None:
    """The index of a loop with step 1 that never stops early, as a letter; None for other loops."""
    if (
        loop.body.stop is not None
        or loop.trips is not None
        or not isinstance(loop.step, ir.Const)
        or loop.step.value != 1
    ):
        return None
    return Letter(loop.index, code.forms.of(loop.start), code.forms.of(loop.bound))


def added(code: Code, param: ir.Var, out: ir.Operand) -> tuple[ir.Operand, bool] | None:
    """A pair of the operand that an iteration adds to the carried value ``param`` to get ``out``, and True if it is subtracted
    instead; None if the value changes in another way."""
    let = code.definer.get(out) if isinstance(out, ir.Var) else None
    if not isinstance(let, ir.Let) or not record_of(let).is_sum or param not in let.args:
        return None
    is_difference = record_of(let).is_difference
    if is_difference and let.args[0] is not param:
        return None
    return (let.args[1] if let.args[0] is param else let.args[0]), is_difference


def _carried(code: Code, stmt: ir.Stmt, loop: ir.For, letters: list[Letter], inside: set[ir.Var]) -> Product | None:
    """The product of a nest that carries its sum, ``result = 0; for …: result = result + products``; None for other nests.
    Appends the letters of the inner loops to ``letters``, which has that of ``loop``."""
    first = stmt
    if not isinstance(first, ir.For) or first is not loop or len(loop.inits) != 1:
        return None
    start = loop.inits[0]
    if not isinstance(start, ir.Const) or start.value != 0 or loop.results[0].type.dtype not in REALS:
        return None
    while True:
        (param,), (out,) = loop.body.params, loop.body.yields
        inner = [s for s in loop.body.stmts if isinstance(s, ir.For)]
        if not all(isinstance(s, ir.For) or (isinstance(s, ir.Let) and is_pure(s)) for s in loop.body.stmts):
            return None
        if not inner:
            break
        if len(inner) > 1 or inner[0].results != (out,) or inner[0].inits != (param,):
            return None
        (loop,) = inner
        letter = letter_of(code, loop)
        if letter is None:
            return None
        letters.append(letter)
    found = added(code, param, out)
    terms = None if found is None else Terms(code, stmt, inside).of(found[0])
    if found is None or not terms:
        return None
    if found[1]:
        terms = negated(terms)
    return Product(stmt, tuple(letters), None, tuple(terms), True, first.results[0])


# --------------------------------------------------------------------------------------------------------- calls


@dataclass(frozen=True)
class Lying:
    """An operand of a call as a part of an array: for each axis of ``var`` a subscript or a start and a size; the sliced axes
    in the operand's order."""

    var: ir.Var
    parts: tuple[Linear | tuple[Linear, Linear | None], ...]
    order: tuple[int, ...]

    def sizes(self) -> list[Linear | None]:
        """Sizes of the operand, in the order of its axes; None where unknown."""
        found = []
        for axis in self.order:
            part = self.parts[axis]
            assert isinstance(part, tuple)
            found.append(part[1])
        return found

    def at(self, *indices: Linear) -> Read:
        """The element of the array at these subscripts of the operand."""
        found = list(self.parts)
        for axis, index in zip(self.order, indices):
            part = found[axis]
            assert isinstance(part, tuple)
            found[axis] = part[0] + index
        return Read(self.var, tuple(found))  # type: ignore[arg-type]


def lying(code: Code, op: ir.Operand) -> Lying | None:
    """The array part that an operand of a call is: an array itself, or a slice or transpose of one; None for other views and
    for results of other statements."""
    let = code.definer.get(op) if isinstance(op, ir.Var) else None
    if isinstance(let, ir.View) and isinstance(let.step, ir.Permute):
        inner = lying(code, let.base)
        return None if inner is None else replace(inner, order=inner.order[::-1])
    if isinstance(let, ir.View) and isinstance(let.step, ir.Index):
        base, args = let.base, let.args[1:]
        assert isinstance(base, ir.Var)
        sizes = code.sizes.get(base, ())
        parts: list[Linear | tuple[Linear, Linear | None]] = []
        for axis, item in enumerate(let.items):
            if isinstance(item, ir.Point):
                parts.append(code.forms.of(args[item.arg]))
            elif isinstance(item, ir.Slice) and item.start is not None and item.stop is not None:
                start = code.forms.of(args[item.start])
                parts.append((start, code.forms.of(args[item.stop]) - start))
            else:
                parts.append((ZERO, code.forms.of(sizes[axis]) if sizes else None))
        order = tuple(k for k, p in enumerate(parts) if isinstance(p, tuple))
        return Lying(base, tuple(parts), order)
    if not isinstance(op, ir.Var) or isinstance(let, (ir.Let, ir.Call)):
        return None
    sizes = code.sizes.get(op, ())
    return Lying(
        op,
        tuple((ZERO, code.forms.of(sizes[k]) if sizes else None) for k in range(op.type.rank)),
        tuple(range(op.type.rank)),
    )


def _of_call(code: Code, let: ir.Call, inside: set[ir.Var]) -> Product | None:
    """The product that a call of ``gemv`` computes; None if operands or sizes are not known, or if its factor of the old value
    is neither 0 nor 1."""
    alpha, beta = let.args[0], let.args[3]
    views = [lying(code, let.args[k]) for k in (1, 2, 4)]
    if any(v is None for v in views) or not isinstance(beta, ir.Const) or beta.value not in (0, 1):
        return None
    a, x, y = [v for v in views if v is not None]
    if a.var.type.dtype not in REALS:
        return None
    (rows, columns), (count,), (out,) = a.sizes(), x.sizes(), y.sizes()
    heights, widths = out if out is not None else rows, columns if columns is not None else count
    if heights is None or widths is None:
        return None
    i, k = Letter(ir.Var(ir.SYNTHETIC, INT), ZERO, heights), Letter(ir.Var(ir.SYNTHETIC, INT), ZERO, widths)
    terms = Terms(code, let, inside)
    factor = terms.of(alpha)
    first, second = (_element(terms, r) for r in (a.at(i.form, k.form), x.at(k.form)))
    if factor is None or first is None or second is None or len(factor) > 1:
        return None
    target = y.at(i.form)
    fills = beta.value == 0
    is_own = y.var in inside
    if fills and is_own and (not isinstance(code.definer.get(y.var), ir.Alloc) or len(target.at) != 1):
        return None
    term = factor[0].times(first).times(second)
    return Product(let, (i, k), target, (term,), fills, is_own=is_own or not fills)


def _element(terms: Terms, read: Read) -> Term | None:
    """The term that equals an element. For an element of a temporary it is the term stored there, if that is a single one with
    one read; else the read itself."""
    made = terms.made(read.var)
    if made is not None:
        store, indices = made
        found = terms.of(store.value, dict(zip(indices, read.at)))
        if found is not None and len(found) == 1 and len(found[0].reads) == 1:
            return found[0]
    return Term(reads=(read,))
