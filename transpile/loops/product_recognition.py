"""Recognises products that loops compute piece by piece and turns each into one matrix product, called before or after the
loop.

    for i in range(n):                            t = x @ w.T
        t = w @ x[i]                    ->        for i in range(n):
        y[i] = tanh(t)                                y[i] = tanh(t[i])
        c += np.outer(a[i], b[i])                 c += a.T @ b

A temporary of one iteration gets an axis for all iterations. Sums are added, and factors multiplied, in another order; nothing
else changes. If a range depends on another index, as in a triangle, only that part is multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from transpile.analysis.affine import Linear
from transpile.core import nodes as ir
from transpile.core.dims import ANY
from transpile.core.rebuild import with_blocks
from transpile.core.types import INT, Type
from transpile.core.walk import blocks
from transpile.loops.blas_roles import Call, call_of
from transpile.loops.product_calls import Maker, Private, emitted, replaced_in
from transpile.loops.product_dependence import Conflicts
from transpile.loops.product_fission import parts
from transpile.loops.product_statements import Letter, Product, product_of
from transpile.loops.sum_splitting import one_by_one
from transpile.loops.terms import Code, Read, Term

ROUNDS = 40  # products of one function


def recognise_products(fn: ir.Function) -> ir.Function:
    """The function with products that loops compute piece by piece as BLAS calls, as far as that is legal."""
    for _ in range(ROUNDS):
        search = _Search(fn)
        found = search.run() or search.parted()
        if found is None:
            return fn
        fn = found
    return fn


@dataclass
class _Found:
    """A product, the loops that it leaves (outer before inner), and the calls and arrays that replace it. ``pulled``: factors
    that stay in the loop; ``kept``: indices that it still sums over."""

    product: Product
    loops: tuple[ir.For, ...]
    before: bool
    calls: list[Call]
    privates: list[Private]
    copies: set[ir.Var] = field(default_factory=set)
    pulled: Term = field(default_factory=Term)
    kept: tuple[Letter, ...] = ()


class _Search:
    """Searches a function for one product to replace. ``only``: the statements to search; None for all."""

    def __init__(self, fn: ir.Function, only: Sequence[ir.Stmt] | None = None) -> None:
        self.fn = fn
        self.only = None if only is None else {id(s) for s in only}
        self.code = Code(fn)
        self.conflicts = Conflicts(self.code)

    def run(self) -> ir.Function | None:
        """The function with one product replaced, or a sum of several terms split into one nest a term; None if there is
        none."""
        return self.first(False) or self.first(True)

    def first(self, across: bool) -> ir.Function | None:
        """The function with the first product that can be moved, or with a carried sum of several products split; None if there
        is none. ``across``: only sums over one index, moved out of one loop."""
        for chain, stmt in self.candidates(self.fn.body, ()):
            outer = chain[0] if chain else stmt
            if not isinstance(outer, ir.For):
                continue
            if self.only is not None and not any(id(s) in self.only for s in (*chain, stmt)):
                continue
            p = product_of(self.code, stmt, outer)
            if p is None or self.is_seen_outside(p):
                continue
            if p.result is not None and len(p.terms) > 1:
                if not across and self.falls_apart(p, chain):
                    return instead_of(self.code, p.stmt, one_by_one(Maker(self.code, p.stmt.loc), p))
                continue
            if across:
                found = self.lifted(p, chain, True, True) if p.result is not None and len(p.letters) == 1 else None
                if found is not None:
                    return self.with_calls(found)
                continue
            if len(p.letters) + len(chain) < 3 or all(len(t.reads) < 2 for t in p.terms):
                continue
            found = self.in_place(p) or self.lifted(p, chain, True) or self.lifted(p, chain, False)
            if found is not None:
                return self.with_calls(found)
        return None

    def parted(self) -> ir.Function | None:
        """The function with one sum of a nest in a nest of its own, if that nest is then a product; else None."""
        for chain, stmt in self.candidates(self.fn.body, ()):
            for new in parts(self.code, stmt, chain) if isinstance(stmt, ir.For) else ():
                found = _Search(instead_of(self.code, stmt, new), new).run()
                if found is not None:
                    return found
        return None

    def candidates(self, block: ir.Block, chain: tuple[ir.For, ...]) -> Iterator[tuple[tuple[ir.For, ...], ir.Stmt]]:
        """Pairs of the loops around a statement, up to the next branch, and the statement: each loop, and each call in a loop.
        ``chain``: the loops around ``block``."""
        for stmt in block.stmts:
            if isinstance(stmt, ir.For) or (chain and isinstance(stmt, ir.Call)):
                yield chain, stmt
            if isinstance(stmt, ir.For):
                yield from self.candidates(stmt.body, (*chain, stmt))
            elif isinstance(stmt, (ir.If, ir.While)):
                for inner in blocks(stmt):
                    yield from self.candidates(inner, ())

    def falls_apart(self, p: Product, chain: tuple[ir.For, ...]) -> bool:
        """Whether each term of the sum ``p`` is a product that can be moved before the loops of ``chain`` on its own."""
        alone = [replace(p, terms=(t,)) for t in p.terms]
        return len(p.letters) + len(chain) >= 3 and all(
            len(one.terms[0].reads) > 1 and self.lifted(one, chain, True) is not None for one in alone
        )

    def with_calls(self, found: _Found) -> ir.Function:
        """The function with the product that was ``found`` replaced by calls."""
        top = found.loops[0] if found.loops else found.product.stmt
        make = Maker(self.code, top.loc)
        calls = emitted(make, found.calls, found.privates, found.copies, not found.product.is_own)
        if not found.loops:
            return instead_of(self.code, top, [*make.before, *calls])
        assert isinstance(top, ir.For)
        rest = replaced_in(self.code, top, found.product, found.privates, found.pulled, found.kept)
        new = [*calls, rest] if found.before else [rest, *calls]
        return instead_of(self.code, top, [*make.before, *new])

    def is_seen_outside(self, p: Product) -> bool:
        """Whether the target of the product is memory that the caller sees, so that the product stays as it is."""
        return p.target is not None and self.code.roots.of(p.target.var) in self.code.roots.written_params

    # ---- kinds of moves

    def in_place(self, p: Product) -> _Found | None:
        """The calls for a nest of three or more loops around a product, at the same place; None if that is not possible."""
        if p.target is None or p.fills or not isinstance(p.stmt, ir.For):
            return None
        root = self.code.roots.of(p.target.var)
        if any(self.code.roots.of(r.var) is root for r in p.reads) or len(p.letters) < 3:
            return None
        calls = [call_of(p.letters, p.target, t) for t in p.terms]
        if any(c is None for c in calls):
            return None
        return _Found(p, (), True, [c for c in calls if c is not None], [])

    def lifted(self, p: Product, chain: tuple[ir.For, ...], before: bool, across: bool = False) -> _Found | None:
        """The product moved out of the innermost loops of ``chain``; None if a dependence forbids it or no BLAS routine fits.

        It is moved out of the innermost loop, then of one more at a time, at most four in all, until a BLAS routine fits.
        ``before``: to the place before these loops, else after them. ``across``: only out of the innermost loop, and only if
        the call then reads a matrix along its rows instead of across them.
        """
        moved: list[tuple[ir.For, Letter]] = []
        steps: list[tuple[ir.For, Product, tuple[ir.For, ...]]] = []
        for k in range(len(chain) - 1, max(len(chain) - (2 if across else 5), -1), -1):
            loop = chain[k]
            if not self.conflicts.is_plain(loop, chain[:k]):
                return None
            steps.append((loop, p, chain[:k]))
            letter = Letter(ir.Var(loop.index.name, INT), *(self.code.forms.of(o) for o in (loop.start, loop.bound)))
            p = p.replaced(loop.index, letter.form)
            moved = [(m, c.replaced(loop.index, letter.form)) for m, c in moved]
            moved.insert(0, (loop, letter))
            p = replace(p, letters=(letter, *p.letters))
            made = self.made(p, moved, before, letter.index if k == len(chain) - 1 and across else None)
            if made is None:
                continue
            for outer, inner, around in steps:
                found = self.conflicts.allow(outer, inner, before, around)
                if found is None:
                    return None
                made.copies |= found
            return made
        return None

    def made(
        self, p: Product, moved: Sequence[tuple[ir.For, Letter]], before: bool, line: ir.Var | None = None
    ) -> _Found | None:
        """The calls for a product moved out of the loops ``moved``, to the place before them (``before``) or after them; None
        if no BLAS routine fits. ``line``: see `call_of`."""
        loop = moved[0][0]
        inside = self.code.inside(loop)
        privates: dict[ir.Var, Private] = {}
        for var in {r.var: None for r in (*p.reads, *([p.target] if p.target and not p.fills else []))}:
            if var in inside:
                private = self.private(var, moved)
                if private is None or (p.target is not None and var is p.target.var):
                    return None
                privates[var] = private
        if any(s in inside for t in p.terms for s in t.scalars):
            return None
        terms = [replace(t, reads=tuple(_seen(r, privates) for r in t.reads)) for t in p.terms]
        letters = [c for _, c in moved]
        if p.result is not None:
            return self.summed(p, moved, before, terms[0], privates, line)
        target = p.target
        assert target is not None
        if p.fills and not p.is_own:
            if not all(any(f == c.form for f in target.at) for c in letters):
                return None
        elif p.fills:
            private = self.private(target.var, moved)
            if private is None or target.var in privates:
                return None
            privates[target.var] = private
            target = _seen(target, privates)
        elif not target.at:
            return None
        own = frozenset(v.new for v in privates.values())
        calls = [call_of(p.letters, target, t, own) for t in terms]
        if any(c is None for c in calls):
            return None
        done = [c for c in calls if c is not None]
        if not self.shifted(done, list(privates.values()), moved):
            return None
        return _Found(p, tuple(m for m, _ in moved), before, done, list(privates.values()))

    def summed(
        self,
        p: Product,
        moved: Sequence[tuple[ir.For, Letter]],
        before: bool,
        term: Term,
        privates: dict[ir.Var, Private],
        line: ir.Var | None,
    ) -> _Found | None:
        """The call for a sum that an iteration of the loops ``moved`` carries: it fills an array with the sums of all
        iterations. None if no BLAS routine fits or the call cannot stand before the loops.

        ``term``: the only term of ``p``, which reads ``privates`` in place of temporaries. ``line``: see `call_of`.
        """
        assert p.result is not None
        outer = [c for _, c in moved]
        inner = p.letters[len(outer) :]
        for j, a in enumerate(term.reads):
            for b in term.reads[:j]:
                others = tuple(r for r in term.reads if r is not a and r is not b)
                kept = tuple(c for c in inner if any(r.has(c.index) for r in others))
                if len(kept) > 1 or any(
                    f.coefficient(c.index) for c in kept for x in inner if x not in kept for f in (x.low, x.high)
                ):
                    continue
                new = ir.Var(p.result.name, Type(p.result.type.dtype, (ANY,) * (len(outer) + len(kept))), True)
                target = Read(new, tuple(c.form for c in (*outer, *kept)))
                own = frozenset(v.new for v in privates.values())
                call = call_of(p.letters, target, Term(reads=(b, a)), own, line)
                if call is None:
                    continue
                sizes = tuple(c.high for c in kept)
                made = Private(None, new, tuple(moved), sizes)
                if not self.shifted([call], [*privates.values(), made], moved):
                    continue
                found = _Found(p, tuple(m for m, _ in moved), before, [call], [*privates.values(), made])
                found.pulled = replace(term, reads=others)
                found.kept = kept
                return found if before and not any(r.var in own for r in others) else None
        return None

    # ---- arrays of one iteration

    def private(self, var: ir.Var, moved: Sequence[tuple[ir.For, Letter]]) -> Private | None:
        """The temporary ``var`` of an iteration with the array that holds it for all iterations of those loops in ``moved``
        that contain its allocation; None if it is not allocated in one of them."""
        alloc = self.code.definer.get(var)
        if not isinstance(alloc, ir.Alloc) or alloc.prim != "empty" or self.code.roots.of(var) is not var:
            return None
        path = self.code.path[id(alloc)]
        around = tuple((m, c) for m, c in moved if any(b is m.body for b, _ in path))
        rank = len(around) + len(alloc.args)
        new = ir.Var(var.name, Type(var.type.dtype, (ANY,) * rank), True)
        sizes = []
        for a in alloc.args:
            form = self.code.forms.of(a)
            for m, c in around:
                form = form.replaced(m.index, c.form)
            sizes.append(form)
        return Private(var, new, around, tuple(sizes)) if around else None

    def shifted(self, calls: list[Call], privates: list[Private], moved: Sequence[tuple[ir.For, Letter]]) -> bool:
        """Sets starts and lengths of the axes of ``privates`` in place, and shifts the subscripts in the list ``calls``; False
        if that is impossible. ``moved``: the loops that the product leaves."""
        outer = [c for _, c in moved]
        facts = self.conflicts.base
        inside = self.code.inside(moved[0][0])
        for private in privates:
            lead = len(private.around)
            shifts: list[Linear] | None = None
            for k, call in enumerate(calls):
                for name in ("a", "b", "c"):
                    read: Read = getattr(call, name)
                    if read.var is not private.new:
                        continue
                    mine: list[Linear] = []
                    at = list(read.at)
                    for axis in range(lead, len(at)):
                        letter = next((x for x in call.letters if at[axis].coefficient(x.index) == 1), None)
                        if letter is None:
                            letter = next((x for x in call.around if at[axis].coefficient(x.index) == 1), None)
                        shift = Linear(0) if letter is None else at[axis].without(letter.index).times(-1)
                        mine.append(shift)
                        at[axis] = at[axis] + shift
                    if shifts is not None and shifts != mine:
                        return False
                    shifts = mine
                    calls[k] = call = replace(call, **{name: replace(read, at=tuple(at))})  # type: ignore[arg-type]
            private.shifts = tuple(shifts or [Linear(0)] * len(private.sizes))
            sizes = []
            for size, shift in zip(private.sizes, private.shifts):
                least, most = extreme(shift, outer, False), extreme(size + shift, outer, True)
                if least is None or most is None or not facts.is_not_negative(least) or most.atoms & inside:
                    return False
                sizes.append(most)
            private.lengths = tuple(sizes)
            trips = [extreme(c.high, outer, True) for _, c in private.around]
            if any(f is None or f.atoms & inside for f in trips):
                return False
            private.trips = tuple(f for f in trips if f is not None)
        return True


def _seen(read: Read, privates: dict[ir.Var, Private]) -> Read:
    """The same element in the array for all iterations, if ``privates`` has one for the array of ``read``; else ``read``
    itself."""
    private = privates.get(read.var)
    if private is None:
        return read
    return Read(private.new, (*(c.form for _, c in private.around), *read.at))


def extreme(form: Linear, letters: Sequence[Letter], most: bool) -> Linear | None:
    """The greatest value of a form over the letters (``most``), or the least; ranges of inner letters may depend on outer ones.
    None if the value still depends on a letter."""
    for c in letters[::-1]:
        coef = form.coefficient(c.index)
        if coef:
            end = c.high - 1 if (coef > 0) == most else c.low
            form = form.replaced(c.index, end)
    return None if any(form.coefficient(c.index) for c in letters) else form


def instead_of(code: Code, top: ir.Stmt, new: Sequence[ir.Stmt]) -> ir.Function:
    """The function with the statement ``top`` replaced by the statements ``new``."""
    path = code.path[id(top)]

    def block_with(block: ir.Block) -> ir.Block:
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            if stmt is top:
                stmts += new
            elif any(b is inner for inner in blocks(stmt) for b, _ in path):
                stmts.append(with_blocks(stmt, lambda b: block_with(b) if any(b is o for o, _ in path) else b))
            else:
                stmts.append(stmt)
        return replace(block, stmts=stmts)

    return replace(code.fn, body=block_with(code.fn.body))
