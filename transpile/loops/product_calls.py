"""Emits products as BLAS calls: operands as array parts, loops around the calls, and the rest of the original loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from transpile.analysis.affine import Linear
from transpile.base.loc import Loc
from transpile.core import nodes as ir
from transpile.core.dims import ANY
from transpile.core.rebuild import with_blocks
from transpile.core.types import BOOL, INT, Type
from transpile.core.walk import blocks, map_operands, map_reads
from transpile.loops.array_contraction import points
from transpile.loops.blas_roles import Call
from transpile.loops.product_statements import Letter, Product
from transpile.loops.terms import Code, Read, Term


@dataclass
class Private:
    """A temporary of one iteration, ``old`` (None: a scalar sum), and ``new``, the array that holds it for all iterations.

    ``new`` has one axis of size ``trips`` for each loop in ``around``, then the axes of ``old``. Those have sizes ``sizes`` in
    one iteration and ``lengths`` overall, and the iteration's part begins at ``shifts``; these forms may contain the indices of
    the loops.
    """

    old: ir.Var | None
    new: ir.Var
    around: tuple[tuple[ir.For, Letter], ...]
    sizes: tuple[Linear, ...]
    shifts: tuple[Linear, ...] = ()
    lengths: tuple[Linear, ...] = ()
    trips: tuple[Linear, ...] = ()  # sizes of the axes for the loops


class Maker:
    """Builds statements; the list that it appends to can be exchanged."""

    def __init__(self, code: Code, loc: Loc) -> None:
        self.code, self.loc = code, loc
        self.before: list[ir.Stmt] = []
        self.stmts: list[ir.Stmt] = []

    def let(self, prim: str, args: tuple[ir.Operand, ...], kind: Type = INT, **params: object) -> ir.Var:
        """The variable, of type ``kind``, of a *let* that is appended."""
        var = ir.Var(ir.SYNTHETIC, kind)
        self.stmts.append(ir.Let(var, prim, args, params, self.loc))
        return var

    def call(self, function: str, args: tuple[ir.Operand, ...], filled: int) -> None:
        """Appends a call of the library function ``function`` that fills argument number ``filled``."""
        self.stmts.append(ir.Call(ir.Library(function), args, (), (filled,), self.loc))

    def view(self, base: ir.Var, step: ir.Step, args: Sequence[ir.Operand], rank: int) -> ir.Var:
        """The variable of a view of ``base`` through one ``step``, which is appended; ``rank`` is that of the view."""
        var = ir.Var(ir.SYNTHETIC, Type(base.type.dtype, (ANY,) * rank))
        self.stmts.append(ir.view(var, base, step, tuple(args), self.loc))
        return var

    def form(self, form: Linear) -> ir.Operand:
        """An operand with the value of the form; what computes it is appended."""
        found: ir.Operand | None = None
        terms = sorted(form.terms, key=lambda t: (t[1] < 0, self.code.place_of(t[0])))
        for var, coef in terms:
            piece: ir.Operand = var
            if abs(coef) != 1:
                piece = self.let("mul", (var, ir.Const(abs(coef), INT)))
            if found is None:
                found = piece if coef > 0 else self.let("neg", (piece,))
            else:
                found = self.let("add" if coef > 0 else "sub", (found, piece))
        if found is None:
            return ir.Const(form.const, INT)
        if form.const:
            prim = "add" if form.const > 0 else "sub"
            found = self.let(prim, (found, ir.Const(abs(form.const), INT)))
        return found

    def length(self, form: Linear) -> ir.Operand:
        """An operand with the value of the form, but at least 0; what computes it is appended."""
        found = self.form(form)
        if isinstance(found, ir.Const):
            return ir.Const(max(found.value, 0), INT)
        return found if self.is_size(found) else self.let("maximum", (found, ir.Const(0, INT)), py=True)

    def is_size(self, op: ir.Operand) -> bool:
        """Whether an operand is the size of an array, hence not negative."""
        let = self.code.definer.get(op) if isinstance(op, ir.Var) else None
        return isinstance(let, ir.Let) and let.prim == "dim"

    def element(self, read: Read) -> ir.Var:
        """The variable with the element ``read``; its read and what computes the subscripts are appended."""
        kind = Type(read.var.type.dtype)
        args = (read.var, *(self.form(f) for f in read.at))
        return self.let("index", args, kind, path=points(len(read.at)), dims=())

    def product(self, term: Term, dtype: Type) -> ir.Operand:
        """An operand of type ``dtype``: the term's number times its scalars and elements; what computes it is appended."""
        found: ir.Operand = ir.Const(term.factor, dtype)
        for value in (*term.scalars, *(self.element(r) for r in term.reads)):
            is_one = isinstance(found, ir.Const) and found.value == 1.0
            found = value if is_one else self.let("mul", (found, value), dtype)
        return found

    def loops(self, letters: Sequence[Letter], body: list[ir.Stmt]) -> list[ir.Stmt]:
        """The statements in loops over the letters; computations for the ranges stand before the loop that needs them."""
        kept, self.stmts = self.stmts, []
        inner = body
        for c in letters[::-1]:
            start, stop = self.form(c.low), self.form(c.high)
            made, self.stmts = self.stmts, []
            loop = ir.For(c.index, start, stop, ir.Const(1, INT), (), ir.Block((), inner), (), None, False, self.loc)
            inner = [*made, loop]
        self.stmts = kept
        return inner


def emitted(
    make: Maker, calls: Sequence[Call], privates: Sequence[Private], copies: set[ir.Var], zeroed: bool = False
) -> list[ir.Stmt]:
    """The statements of the calls. Allocations, of ``privates`` (the arrays for all iterations) and ``copies``, go to
    ``make.before``.

    The first call to fill one of ``privates`` ignores its old values; with ``zeroed`` so does the first call for any other
    target.
    """
    fresh = {p.new for p in privates}
    filled: set[ir.Var] = set()
    make.stmts = make.before
    for p in privates:
        lead = [make.length(f) for f in p.trips]
        sizes = (*lead, *(make.length(f) for f in p.lengths))
        make.before.append(ir.Alloc(p.new, "empty", sizes, {}, make.loc))
        make.code.sizes[p.new] = sizes
        make.code.place_of(p.new)
    out: list[ir.Stmt] = []
    make.stmts = out
    copied = {var: _copy(make, var) for var in sorted(copies, key=make.code.place_of)}
    for call in calls:
        beta = 1.0
        target = call.c.var
        if target not in filled if target in fresh else zeroed:
            filled.add(target)
            if call.part is None and all(call.c.has(c.index) for c in call.around):
                beta = 0.0
            elif target in fresh:
                _fill(make, target)
            else:
                _clear(make, call)
        call = _with_own_indices(replace(call, a=_renamed(call.a, copied), b=_renamed(call.b, copied)))
        kept, make.stmts = make.stmts, []
        _call(make, call, beta)
        body, make.stmts = make.stmts, kept
        make.stmts += make.loops(call.around, body)
    return out


def _with_own_indices(call: Call) -> Call:
    """The call with fresh indices for the loops around it, since other calls use the same letters."""
    for k, c in enumerate(call.around):
        new = replace(c, index=ir.Var(c.index.name, INT))
        around = tuple(new if j == k else x.replaced(c.index, new.form) for j, x in enumerate(call.around))
        rows, summed = (x.replaced(c.index, new.form) for x in (call.rows, call.summed))
        columns = call.columns and call.columns.replaced(c.index, new.form)
        a, b, target = (r.replaced(c.index, new.form) for r in (call.a, call.b, call.c))
        part = call.part and replace(call.part, offset=call.part.offset.replaced(c.index, new.form))
        term = call.term.replaced(c.index, new.form)
        call = Call(around, rows, columns, summed, a, b, target, part, term)
    return call


def _renamed(read: Read, copied: dict[ir.Var, ir.Var]) -> Read:
    """The read, from the copy of its array if ``copied`` has one."""
    return replace(read, var=copied.get(read.var, read.var))


def _nest(make: Maker, sizes: Sequence[ir.Operand], body) -> None:  # type: ignore[no-untyped-def]
    """Appends a loop nest over the sizes; ``body(indices)`` makes its statements."""
    indices = [ir.Var(n, INT) for n in "ijklmn"[: len(sizes)]]
    make.stmts += nest(indices, sizes, body(tuple(indices)), make.loc)


def nest(indices: Sequence[ir.Var], sizes: Sequence[ir.Operand], stmts: list[ir.Stmt], loc: Loc) -> list[ir.Stmt]:
    """One loop nest around the statements, with ``indices`` that run from 0 up to the sizes, the first one outermost; a
    list."""
    for i, n in zip(indices[::-1], sizes[::-1]):
        stmts = [ir.For(i, ir.Const(0, INT), n, ir.Const(1, INT), (), ir.Block((), stmts), (), None, False, loc)]
    return stmts


def _fill(make: Maker, var: ir.Var) -> None:
    """Appends loops that fill an array with zeros."""
    zero = ir.Const(0.0, Type(var.type.dtype))
    _nest(make, make.code.sizes[var], lambda at: [ir.Store(var, points(len(at)), at, zero, make.loc)])


def _clear(make: Maker, call: Call) -> None:
    """Appends loops that store 0.0 in all elements of the target to which the call adds."""
    letters = [c for c in (*call.around, *call.letters) if call.c.has(c.index)]
    if call.part is not None and call.part.second is call.rows.index:
        letters = [c for c in letters if c is not call.rows] + [call.rows]
    at, here = call.c.at, letters
    for c in letters:
        new = replace(c, index=ir.Var(c.index.name, INT))
        here = [replace(x, index=new.index) if x.index is c.index else x.replaced(c.index, new.form) for x in here]
        at = tuple(f.replaced(c.index, new.form) for f in at)
    kept, make.stmts = make.stmts, []
    indices = tuple(make.form(f) for f in at)
    store = ir.Store(call.c.var, points(len(at)), indices, ir.Const(0.0, Type(call.c.var.type.dtype)), make.loc)
    body, make.stmts = [*make.stmts, store], kept
    make.stmts += make.loops(here, body)


def _copy(make: Maker, var: ir.Var) -> ir.Var:
    """A new array with the elements of ``var``: its allocation goes to ``make.before``, the loop nest that copies is
    appended."""
    new = ir.Var(var.name, var.type, True)
    sizes = make.code.sizes[var]
    make.before.append(ir.Alloc(new, "empty", sizes, {}, make.loc))

    def body(at: tuple[ir.Var, ...]) -> list[ir.Stmt]:
        value = ir.Var(ir.SYNTHETIC, Type(var.type.dtype))
        read = ir.Let(value, "index", (var, *at), {"path": points(len(at)), "dims": ()}, make.loc)
        return [read, ir.Store(new, points(len(at)), at, value, make.loc)]

    _nest(make, sizes, body)
    return new


def _call(make: Maker, call: Call, beta: float) -> None:
    """Appends the views and the library call of one product; ``beta`` is the factor of the target's old value."""
    rows, columns, summed = call.rows, call.columns, call.summed
    dtype = Type(call.c.var.type.dtype)
    alpha = make.product(call.term, dtype)
    boxes = {c.index: _box(call, c) for c in call.letters}
    ends = {i: _ends(make, low, high) for i, (low, high) in boxes.items()}
    part = call.part
    first, second, target = call.a, call.b, call.c
    if columns is None:
        of_vector = [(first, (rows, summed)), (second, (summed,)), (target, (rows,))]
        a, b, c = (_view(make, read, letters, ends) for read, letters in of_vector)
        make.call("blas.gemv", (alpha, a, b, ir.Const(beta, dtype), c), 4)
        return
    if part is not None and rows.index not in (part.first, part.second):  # the columns take the place of the rows
        rows, columns, first, second = columns, rows, second, first
    a = _view(make, first, (rows, summed), ends)
    b = _view(make, second, (summed, columns), ends)
    c = _view(make, target, (rows, columns), ends)
    if part is None:
        factor = ir.Const(beta, dtype)
        make.call("blas.gemm", (alpha, a, b, factor, c), 4)
        return
    if part.first is not rows.index:
        part = part.turned()
    offset = part.offset.plus(boxes[part.first][0]).plus(boxes[part.second][0], -1)
    of_target = ir.Const(part.second is columns.index, BOOL)
    flags = (make.form(offset), ir.Const(part.from_there, BOOL), of_target)
    make.call("blas.part", (alpha, a, b, c, *flags), 3)


def _box(call: Call, letter: Letter) -> tuple[Linear, Linear]:
    """A pair of the least start and the greatest end of a letter's range over all values of the other letters."""
    low, high = letter.low, letter.high
    for c in call.letters:
        low = low.replaced(c.index, c.low)
        high = high.replaced(c.index, c.high - 1)
    return low, high


def _ends(make: Maker, low: Linear, high: Linear) -> tuple[ir.Operand, ir.Operand]:
    """A pair of operands for the start ``low`` and the end ``high`` of a range; the end is at least the start. What computes
    them is appended."""
    start, stop = make.form(low), make.form(high)
    if isinstance(start, ir.Const) and start.value == 0 and make.is_size(stop):
        return start, stop
    return start, make.let("maximum", (stop, start), py=True)


def _view(
    make: Maker, read: Read, letters: tuple[Letter, ...], ends: dict[ir.Var, tuple[ir.Operand, ir.Operand]]
) -> ir.Operand:
    """The part of an array that ``read`` reads, as a matrix or vector whose axes are these letters, in this order; ``ends`` has
    start and end of each letter. Views and subscripts are appended; the array itself if the part is all of it."""
    args: list[ir.Operand] = []
    items: list[ir.Item] = []
    order: list[ir.Var] = []
    sizes = make.code.sizes.get(read.var, ())
    for axis, form in enumerate(read.at):
        letter = next((c for c in letters if form.coefficient(c.index)), None)
        if letter is None:
            items.append(ir.Point(len(args)))
            args.append(make.form(form))
            continue
        order.append(letter.index)
        start, stop = ends[letter.index]
        rest = form.without(letter.index)
        if not rest.terms and not rest.const:
            if isinstance(start, ir.Const) and start.value == 0 and sizes and _is_all(make, sizes[axis], stop):
                items.append(ir.Slice())
                continue
        else:
            start, stop = (make.let("add", (o, make.form(rest))) for o in (start, stop))
        items.append(ir.Slice(len(args), len(args) + 1))
        args += [start, stop]
    found, items = read.var, shortened(items)
    if items:
        found = make.view(found, ir.Index(tuple(items)), args, len(letters))
    if order != [c.index for c in letters]:
        found = make.view(found, ir.Permute((1, 0)), (), 2)
    return found


def shortened(items: Sequence[ir.Item]) -> list[ir.Item]:
    """The items without full slices at the end."""
    found = list(items)
    while found and found[-1] == ir.Slice():
        found.pop()
    return found


def _is_all(make: Maker, size: ir.Operand, stop: ir.Operand) -> bool:
    """Whether a slice that ends at ``stop`` reaches the end of an axis of this size."""
    return size is stop or make.code.forms.of(size) == make.code.forms.of(stop)


# ----------------------------------------------------------------------------------------- the rest of the loop


def replaced_in(
    code: Code, loop: ir.For, p: Product, privates: Sequence[Private], pulled: Term, kept: Sequence[Letter]
) -> ir.Stmt:
    """The loop without the product ``p``; temporaries of an iteration (``privates``) become parts of the arrays for all
    iterations. ``pulled``: the factors that stay in the loop; ``kept``: the indices that it still sums over."""
    return _Rest(code, p, privates, pulled, kept).stmt(loop)[0]


class _Rest:
    """Rewrites the loop that a product has left."""

    def __init__(
        self, code: Code, p: Product, privates: Sequence[Private], pulled: Term, kept: Sequence[Letter]
    ) -> None:
        self.code, self.p, self.pulled, self.kept = code, p, pulled, kept
        self.privates = {v.old: v for v in privates if v.old is not None}
        self.sums = [v for v in privates if v.old is None]
        self.named: dict[ir.Var, ir.Var] = {}  # views that replace temporaries as operands

    def block(self, block: ir.Block) -> ir.Block:
        return replace(block, stmts=[new for s in block.stmts for new in self.stmt(s)])

    def stmt(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        """The statements that replace one: for the product the read of its sum (or none), for the allocation of a temporary a
        view, for other accesses of it those of the array for all iterations."""
        make = Maker(self.code, stmt.loc)
        if stmt is self.p.stmt:
            return self.result(make)
        if isinstance(stmt, ir.Alloc) and stmt.var in self.privates:
            return self.view(make, self.privates[stmt.var])
        if isinstance(stmt, ir.Let) and stmt.prim == "index" and stmt.args[0] in self.privates:
            private = self.privates[stmt.args[0]]
            args = self.at(make, private, stmt.args[1:])
            params = {**stmt.params, "path": points(len(args))}
            return [*make.stmts, replace(stmt, args=(private.new, *args), params=params)]
        if isinstance(stmt, (ir.Store, ir.Add)) and stmt.buf in self.privates:
            private = self.privates[stmt.buf]
            args = self.at(make, private, stmt.args)
            return [*make.stmts, replace(stmt, buf=private.new, args=args, path=points(len(args)))]
        new = map_reads(stmt, lambda o: self.named.get(o, o) if isinstance(o, ir.Var) else o)
        return [with_blocks(new, self.block) if blocks(new) else new]

    def at(self, make: Maker, private: Private, args: Sequence[ir.Operand]) -> tuple[ir.Operand, ...]:
        """Subscripts in the new array of ``private`` for the subscripts ``args`` of the temporary; what computes them is
        appended to ``make``."""
        own = []
        for a, shift in zip(args, private.shifts):
            shift = self.here(private, shift)
            is_none = not shift.terms and not shift.const
            own.append(a if is_none else make.let("add", (make.form(shift), a)))
        return (*(m.index for m, _ in private.around), *own)

    def here(self, private: Private, form: Linear) -> Linear:
        """The form with loop indices in place of the letters."""
        for m, c in private.around:
            form = form.replaced(c.index, Linear.atom(m.index))
        return form

    def view(self, make: Maker, private: Private) -> list[ir.Stmt]:
        """The statements that replace the allocation of a temporary: a view of the iteration's part of ``private.new``.
        Operands that name the temporary read the view from here on."""
        assert private.old is not None
        args: list[ir.Operand] = [m.index for m, _ in private.around]
        items: list[ir.Item] = [ir.Point(k) for k in range(len(args))]
        for size, shift, length in zip(private.sizes, private.shifts, private.lengths):
            size, shift = self.here(private, size), self.here(private, shift)
            if not shift.terms and not shift.const and size == length:
                items.append(ir.Slice())
            else:
                items.append(ir.Slice(len(args), len(args) + 1))
                args += [make.form(shift), make.form(shift + size)]
        step = ir.Index(tuple(shortened(items)))
        self.named[private.old] = make.view(private.new, step, args, len(private.sizes))
        return make.stmts

    def result(self, make: Maker) -> list[ir.Stmt]:
        """The statements that define the iteration's sum: a read from the array of all sums, times the factors that stay,
        summed in a loop over the letter that is ``kept``. Empty if the product's target is in memory."""
        p = self.p
        if p.result is None:
            return []
        (private,) = self.sums
        dtype = p.result.type
        read = Read(private.new, tuple(c.form for _, c in private.around) + tuple(c.form for c in self.kept))
        outer, make.stmts = make.stmts, []
        value: ir.Operand = make.element(self.local(read, private))
        for r in self.pulled.reads:
            value = make.let("mul", (make.element(self.local(r, private)), value), Type(dtype.dtype))
        for s in self.pulled.scalars:
            value = make.let("mul", (value, s), Type(dtype.dtype))
        if self.pulled.factor != 1.0:
            value = make.let("mul", (value, ir.Const(self.pulled.factor, Type(dtype.dtype))), Type(dtype.dtype))
        inner, make.stmts = make.stmts, outer
        if not self.kept:
            last = inner[-1]
            assert isinstance(last, ir.Let)
            return [*inner[:-1], replace(last, var=p.result)]
        (letter,) = self.kept
        param, total, index = ir.Var(p.result.name, dtype), ir.Var(p.result.name, dtype), ir.Var(letter.index.name, INT)
        inner = [map_operands(s, lambda o: index if o is letter.index else o) for s in inner]
        low, high = (make.form(self.here(private, f)) for f in (letter.low, letter.high))
        body = ir.Block((param,), [*inner, ir.Let(total, "add", (param, value), {}, make.loc)], (total,))
        zero = ir.Const(0.0, Type(dtype.dtype))
        loop = ir.For(index, low, high, ir.Const(1, INT), (zero,), body, (p.result,), None, False, make.loc)
        return [*make.stmts, loop]

    def local(self, read: Read, private: Private) -> Read:
        """The element with loop indices in place of the letters."""
        return Read(read.var, tuple(self.here(private, f) for f in read.at))
