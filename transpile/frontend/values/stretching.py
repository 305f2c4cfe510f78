"""Sizes that are broadcast together: which of them may be 1 when the function runs, and what they are then together.

    sizes of arguments          the example decides, with a check (`transpile.frontend.values.symbols`)
    one that only the run knows against one that is never 1      it is that size, or 1: a check
    two that only the run knows                                  the other one where one is 1: a size of its own, and a check

An array with an axis that may be 1 is *stretched* (primitive ``stretch``), whose adjoint asks the size when the function runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from transpile.core import nodes as ir
from transpile.core.dims import Atom, Dim
from transpile.core.places import is_nonnegative
from transpile.frontend.lifting import Lifting
from transpile.frontend.values.symbols import disagreement, emit_failure


@dataclass
class Stretch:
    """A size that is either ``to`` or 1, found in ``block``; ``parts``: sizes that broadcast to ``to`` where they meet."""

    to: Dim
    parts: tuple[Dim, ...]
    block: ir.Block


class Stretching:
    """What is known of sizes that may be 1."""

    def __init__(self, lx: Lifting) -> None:
        self.lx = lx
        self.known: dict[Dim, list[Stretch]] = {}
        self.learnt = 0  # how many sizes were known to be equal when the keys of `known` were written

    def meet(self, a: Dim, b: Dim) -> Dim | None:
        """The size of what is broadcast together; None where that cannot be."""
        symbols = self.lx.symbols
        x, y = symbols.resolve(a), symbols.resolve(b)
        if x == y or y.is_one or symbols.is_checked(self.lx, x, y):
            return x
        if x.is_one:
            return y
        if self._is_clipped(x, y):
            return y if x == y.clip() else x
        if self.parts(x, y):
            return y
        if self.parts(y, x):
            return x
        if self.is_given(x) and self.is_given(y):
            return symbols.unify(self.lx, x, y)
        first, second = self.may_be_one(x), self.may_be_one(y)
        if not first and not second:
            return symbols.unify(self.lx, x, y)
        if first and second:
            return self._either(x, y)
        narrow, wide = (x, y) if first else (y, x)
        self._check(narrow, wide)
        self._note(narrow, wide, (wide,))
        return wide

    def fits(self, a: Dim, room: Dim) -> bool:
        """Whether a size can be broadcast to another, which stays what it is: checked where only the run knows."""
        symbols = self.lx.symbols
        a, room = symbols.resolve(a), symbols.resolve(room)
        if a == room or a.is_one or self.parts(a, room) or symbols.is_checked(self.lx, a, room):
            return True
        if self._is_clipped(a, room):
            return True
        surely = room.is_one or self.is_given(a) and self.is_given(room) or not self.may_be_one(a)
        if surely or self.parts(room, a):  # where each is the other one or 1, they are equal
            return symbols.unify(self.lx, a, room) is not None
        self._check(a, room)
        self._note(a, room, (room,))
        return True

    def parts(self, a: Dim, b: Dim) -> tuple[Dim, ...]:
        """The sizes that make ``b`` where they meet, if ``a`` is known to be that size or 1; else none."""
        symbols = self.lx.symbols
        a, b = symbols.resolve(a), symbols.resolve(b)
        return () if a == b or a.is_one else self._way(a, b, {})

    def _way(self, a: Dim, b: Dim, seen: dict[Dim, None]) -> tuple[Dim, ...]:
        """The same from one size to the next: sizes that turned out to be equal may lead back to one that was ``seen``."""
        seen[a] = None
        for found in self._stretches(a):
            if any(block is found.block for block in self.lx.b.open):
                to = self.lx.symbols.resolve(found.to)
                if to == b:
                    return found.parts
                if to not in seen and (parts := self._way(to, b, seen)):
                    return parts
        return ()

    def _stretches(self, dim: Dim) -> list[Stretch]:
        """What is known of a size, whatever it was called when that was noted."""
        symbols = self.lx.symbols
        if self.learnt != (learnt := len(symbols.equal) + len(symbols.forms)):
            self.learnt, known = learnt, self.known
            self.known = {}
            for key, stretches in known.items():
                self.known.setdefault(symbols.resolve(key), []).extend(stretches)
        return self.known.get(dim, [])

    def narrower(self, to: Dim) -> list[Dim]:
        """The sizes that are known to be this one, or 1."""
        return [dim for dim in list(self.known) if self.parts(dim, to)]

    def is_given(self, dim: Dim) -> bool:
        """Whether the size is of arguments of the whole function, so that the example decides. Those of a function that calls
        itself are others in each call."""
        symbols, outer = self.lx.symbols, self.lx.outer
        if symbols.is_open or not symbols.is_size(dim):
            return False
        if self.lx.sizes is None or outer is None:
            return True
        around = self.lx.sizes.around(dim)
        return around is not None and outer.stretching.is_given(around[0])

    def is_one(self, dim: Dim) -> bool:
        """Whether the size must be 1: by the example, with a check; checked where only the run knows."""
        symbols = self.lx.symbols
        found = symbols.decide(self.lx, dim, Dim(1))
        return symbols.unify(self.lx, dim, Dim(1)) is not None if found is None else found

    def may_be_one(self, dim: Dim) -> bool:
        """Whether the size can be 1 when the function runs: one of an argument that is 1 is known to be."""
        if dim.is_const:
            return dim.is_one
        if dim.as_symbol in self.lx.symbols.origins and self._is_never_one(dim):
            return False
        if is_nonnegative(self.lx.symbols.least(dim) - 2):
            return False
        if (1 - dim.const) % gcd(*(coef for _, coef in dim.terms)):
            return False
        (atom, coef), *more = dim.terms
        return bool(more) or dim.const != 0 or coef != 1 or not self._is_product_of_many(atom)

    def _is_never_one(self, dim: Dim) -> bool:
        """Whether a size of an argument is not 1: a call's key tells those that are."""
        lx = self.lx
        if lx.sizes is None or lx.outer is None:
            return True
        around = lx.sizes.around(dim)
        return around is not None and not lx.outer.stretching.may_be_one(around[0])

    def _is_product_of_many(self, atom: Atom) -> bool:
        return atom.kind == "mul" and not all(self.may_be_one(d) for d in atom.operands)

    def _is_clipped(self, x: Dim, y: Dim) -> bool:
        """Whether one is the other or 0, and the other is not negative in a trip of the loops around."""
        symbols = self.lx.symbols
        if x.clip() != y.clip() or not symbols.is_reached(y if x == y.clip() else x):
            return False
        symbols.checked[x, y] = self.lx.b.block
        return True

    def _wish(self, x: Dim, y: Dim) -> None:
        if self.lx.sizes is not None:
            self.lx.sizes.wish(x, y)

    def _either(self, x: Dim, y: Dim) -> Dim:
        self._wish(x, y)
        b = self.lx.b
        p, q = b.dim(x), b.dim(y)
        common = b.fresh_symbol("size")
        size = b.elementwise("where", p.eq(1), q, p, name="size")
        b.bind_symbol(common, size.op)
        self._refuse(q.ne(1) & q.ne(size), p.op, q.op)
        parts = tuple(dict.fromkeys((*self._leaves(x), *self._leaves(y))))
        for dim in (x, y):
            self._note(dim, common, parts)
        return common

    def _leaves(self, dim: Dim) -> tuple[Dim, ...]:
        """The sizes that a common size is made of."""
        for stretches in self.known.values():
            for found in stretches:
                if found.to == dim and found.parts != (dim,):
                    return found.parts
        return (dim,)

    def _check(self, narrow: Dim, wide: Dim) -> None:
        self._wish(narrow, wide)
        p, n = self.lx.b.dim(narrow), self.lx.b.dim(wide)
        self._refuse(p.ne(1) & p.ne(n), p.op, n.op)

    def _refuse(self, test, p: ir.Operand, q: ir.Operand) -> None:  # type: ignore[no-untyped-def]
        where = self.lx.symbols.where(self.lx)
        emit_failure(self.lx, test.op, disagreement(where), (p, q), self.lx.b.loc, where)

    def _note(self, dim: Dim, to: Dim, parts: tuple[Dim, ...]) -> None:
        self.known.setdefault(dim, []).append(Stretch(to, parts, self.lx.b.block))
