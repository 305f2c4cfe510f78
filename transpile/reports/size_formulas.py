"""Sizes and counts of a core function as formulas over the arguments of a call: their dimensions and integer arguments.

A number known only at run time (a trip count, the size of a selection) gets a symbol of its own, to be measured (`probe`). A
loop index is its start plus its step times the number of the iteration, a symbol that `Sizes.summed` and `Sizes.extreme`
eliminate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transpile.analysis.scopes import definitions
from transpile.core import dims
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.forms import of_operation
from transpile.ops.record import Op
from transpile.ops.tables import record_of
from transpile.reports.formula import Atom, Formula, Operation

Loop = ir.For | ir.While


class Sizes:
    """``known``: the values of symbols; ``unknown``: for each other symbol the variable (its largest value counts) or the loop
    (the total of its iterations counts) that it stands for."""

    def __init__(self, core: ir.Function, values: Mapping[ir.Var, Any]) -> None:
        self.core, self.values = core, values
        self.defs = definitions(core)
        self.known: dict[str, int] = {}
        self.unknown: dict[str, ir.Var | Loop] = {}
        self.trips: dict[str, ir.For] = {}  # symbol for the number of an iteration -> the loop
        self.signed: set[str] = set()  # symbols that may be negative
        self._found: dict[object, Formula] = {}
        self._names: dict[str, object] = {}

    # ---- formulas

    def of(self, operand: ir.Operand) -> Formula:
        """The value of an integer scalar as a formula; a new symbol if it is known only at run time."""
        if isinstance(operand, ir.Const):
            return Formula.of(int(operand.value))
        assert isinstance(operand, ir.Var), operand
        if operand not in self._found:
            self._found[operand] = self._of(operand)
        return self._found[operand]

    def _of(self, var: ir.Var) -> Formula:
        """The formula of an integer variable, computed for the first time."""
        found = self.defs.get(var)
        stmt = found.stmt if found is not None else None
        if found is not None and found.kind == "index":
            assert isinstance(stmt, ir.For)
            return self.of(stmt.start) + self.of(stmt.step) * self.trip(stmt)
        if found is not None and stmt is None:
            return self._argument(var)
        if isinstance(stmt, ir.Let) and stmt.prim == "dim" and isinstance(stmt.args[0], ir.Var):
            return self._size(var, stmt.args[0], stmt.params["axis"])
        if isinstance(stmt, ir.Let) and is_computed(stmt):
            computed = self.computed(record_of(stmt), [self.of(a) for a in stmt.args])
            assert computed is not None, stmt
            return computed
        if isinstance(stmt, ir.For) and var is stmt.trips and (count := self.count(stmt)) is not None:
            return count
        if isinstance(stmt, (ir.For, ir.While)) and var is stmt.trips:
            once = not found.loops  # type: ignore[union-attr]
            return self.unknown_symbol(
                f"{'' if once else 'most '}iterations(line {stmt.loc.line})", stmt if once else var
            )
        line = stmt.loc.line if stmt is not None else 0
        self.signed.add(name := f"{var.name}(line {line})" if var.name != ir.SYNTHETIC else f"number(line {line})")
        return self.unknown_symbol(name, var)

    def _argument(self, var: ir.Var) -> Formula:
        """The symbol for an integer parameter, whose value, if given, is noted in ``known``."""
        name = self.unique(var.name, var)
        self.signed.add(name)
        if var in self.values:
            self.known[name] = int(self.values[var])
        return Formula.symbol(name)

    def _size(self, var: ir.Var, root: ir.Var, axis: int) -> Formula:
        """The formula for ``var``, the size of ``root`` along ``axis``: that of its dim; if that is a symbol which ``var``
        defines, the symbol, known for a parameter, else to be measured."""
        dim, found = root.type.dims[axis], self.defs.get(root)
        symbol = dim.as_symbol
        if symbol is None or self.core.symbols.get(symbol) not in (var, None):
            return self.of_dim(dim)
        if found is not None and found.stmt is None:
            name = self.unique(symbol.rstrip("."), var)
            if root in self.values:
                self.known[name] = np.shape(self.values[root])[axis]
            return Formula.symbol(name)
        line = found.stmt.loc.line if found is not None and found.stmt is not None else 0
        name = f"{root.name}.shape[{axis}]" if root.name != ir.SYNTHETIC else f"size(line {line})"
        return self.unknown_symbol(name, var)

    def of_dim(self, dim: Dim) -> Formula:
        """A size (a dim) as a formula over the sizes and integers of the arguments; with new symbols for sizes known only at
        run time."""
        if (least := dim.as_min) is not None:
            return self.one_of("min", *map(self.of_dim, least))
        total = Formula.of(dim.const)
        for atom, coefficient in dim.terms:
            total = total + self._of_atom(atom) * coefficient
        return total

    def _of_atom(self, atom: dims.Atom) -> Formula:
        """The formula for an atom of a dim: a symbol, an integer, or a product, quotient or clipped value of dims."""
        if atom.kind in ("symbol", "int"):
            operand = self.core.symbols.get(atom.name)
            if operand is None:
                return self.unknown_symbol(atom.name.rstrip("."), None)
            return self.of(operand)
        first, *rest = map(self.of_dim, atom.operands)
        if atom.kind == "max0":
            return self.clipped(first)
        return first * rest[0] if atom.kind == "mul" else Formula.operation("//", first, rest[0])

    def bytes_of(self, var: ir.Var) -> Formula:
        """The bytes of the elements of a variable as a formula; of one entry, if it is a stack."""
        return self.elements(var) * np.dtype(var.type.dtype).itemsize

    def elements(self, var: ir.Var) -> Formula:
        """The number of elements of a variable as a formula; 1 for a scalar."""
        total = Formula.of(1)
        for dim in var.type.dims:
            total = total * self.of_dim(dim)
        return total

    def unknown_symbol(self, name: str, what: ir.Var | Loop | None) -> Formula:
        """The symbol for a number known only at run time, named ``name``. ``what``, the variable or loop that it stands for, is
        noted in ``unknown``, to be measured; None if nothing can be."""
        name = self.unique(name, what)
        if what is not None:
            self.unknown[name] = what
        return Formula.symbol(name)

    def unique(self, name: str, what: object) -> str:
        """``name``, or, if that stands for something other than ``what``, with ``#2``, ``#3``, ... added; the same for the same
        object."""
        found, k = name, 1
        while self._names.setdefault(found, what) is not what:
            k += 1
            found = f"{name}#{k}"
        return found

    # ---- loops

    def trip(self, loop: ir.For) -> Formula:
        """The symbol for the number of the loop's iteration, counted from 0, which is noted in ``trips``."""
        name = self.unique(f"iteration({loop.index.label}, line {loop.loc.line})", loop)
        self.trips[name] = loop
        return Formula.symbol(name)

    def span(self, loop: ir.For) -> Formula | None:
        """The trip count as a formula, if it is not negative: the bound minus the start, divided by the step and rounded up.
        None if the step is no constant."""
        if not isinstance(loop.step, ir.Const):
            return None
        step = int(loop.step.value)
        start, bound = self.of(loop.start), self.of(loop.bound)
        away = bound - start if step > 0 else start - bound
        return away if abs(step) == 1 else Formula.operation("//", away + (abs(step) - 1), abs(step))

    def count(self, loop: Loop) -> Formula | None:
        """The trip count as a formula, at least 0; None if it is not known before the loop, or the step is no constant."""
        if isinstance(loop, ir.While) or loop.body.stop is not None:
            return None
        span = self.span(loop)
        return None if span is None else self.clipped(span)

    def clipped(self, value: Formula) -> Formula:
        """``max(value, 0)``; ``value`` itself if it is known to be nonnegative."""
        return value if self.is_size(value) else Formula.operation("max", value, 0)

    def is_size(self, value: Formula) -> bool:
        """True if the value is known to be nonnegative."""
        least = self.extreme(value, largest=False)
        return least is not None and all(
            c >= 0 and all(power % 2 == 0 or self._is_size(a) for a, power in product) for product, c in least.summands
        )

    def _is_size(self, atom: Atom) -> bool:
        """True if an atom is known to be nonnegative: a symbol not in ``signed``, a ``max`` with a nonnegative operand, or
        another operation on nonnegative operands."""
        if isinstance(atom, str):
            return atom not in self.signed
        return (any if atom.name == "max" else all)(map(self.is_size, atom.operands))

    def extreme(self, value: Formula, largest: bool) -> Formula | None:
        """The formula without numbers of iterations: its largest value (``largest``), or its smallest, over the iterations of
        all loops; None if it is not known which iteration has it."""
        found = self._without_operations(value, largest)
        while found is not None:
            name = next((s for s in reversed(found.symbols) if s in self.trips), None)
            if name is None:
                return found
            parts, last = found.coefficients(name), self.span(self.trips[name])
            if parts is None or last is None:
                return None
            rises = all(self._sign(p) >= 0 for p in parts[1:])
            if not rises and any(self._sign(p) > 0 or len(parts) > 2 for p in parts[1:]):
                return None
            at = last - 1 if rises == largest else Formula()
            found = found.substitute(lambda s, name=name, at=at: at if s == name else None)  # type: ignore[misc]
            found = self._without_operations(found, largest)
        return None

    def _without_operations(self, value: Formula, largest: bool) -> Formula | None:
        """The value with each operation that depends on an iteration replaced by a bound, upper for ``largest``, else lower;
        None if there is no bound."""
        total = Formula()
        for product, coefficient in value.summands:
            part: Formula | None = Formula.of(coefficient)
            for atom, power in product:
                factor: Formula | None = Formula.factor(atom, value.order)
                if not isinstance(atom, str) and any(s in self.trips for s in factor.symbols):  # type: ignore[union-attr]
                    factor = self._bound(atom, largest == (coefficient > 0))
                    if not all(self._is_size(other) for other, _ in product):
                        return None
                part = None if factor is None or part is None else part * factor**power
            if part is None:
                return None
            total = total + part
        return total

    def _bound(self, atom: Operation, largest: bool) -> Formula | None:
        """An upper (``largest``) or lower bound of an operation over all iterations; None if it is not known."""
        first, second = atom.operands
        if atom.name in ("max", "min"):
            bounds = [self.extreme(o, largest) for o in atom.operands]
            return None if None in bounds else self.one_of(atom.name, *bounds)  # type: ignore[arg-type]
        if not second.is_const or second.const <= 0:
            return None
        if atom.name == "%":
            return second - 1 if largest else Formula()
        bound = self.extreme(first, largest)
        return None if bound is None else Formula.operation("//", bound, second)

    def computed(self, record: Op, numbers: Sequence[Formula]) -> Formula | None:
        """The result of the operation ``record`` on the integers ``numbers``; None if it is no formula."""
        if record.extreme:
            return self.one_of("max" if record.extreme > 0 else "min", *numbers)
        if record.division:
            return Formula.operation(record.division, *numbers)
        return of_operation(record, numbers)

    def one_of(self, name: str, a: Formula, b: Formula) -> Formula:
        """``max(a, b)`` or ``min(a, b)``, as ``name`` says; ``a`` or ``b`` itself if it is known which is larger."""
        if a != b and self.is_size(a - b):
            return a if name == "max" else b
        if a != b and self.is_size(b - a):
            return b if name == "max" else a
        return Formula.operation(name, a, b)

    def _sign(self, value: Formula) -> int:
        """1 if all terms are positive, -1 if all are negative, 0 for the formula 0; 2 if they differ or a symbol may be
        negative."""
        signs = {1 if c > 0 else -1 for _, c in value.summands}
        if any(a in self.signed for p, _ in value.terms for a, _ in p if isinstance(a, str)):
            return 2
        return signs.pop() if len(signs) == 1 else 2 if signs else 0

    def is_changing(self, symbol: str) -> bool:
        """Whether a symbol differs between the iterations of a loop: the number of an iteration, or a measured number that a
        loop computes."""
        return symbol in self.trips or bool(self._measured_in(symbol))

    def _measured_in(self, symbol: str) -> tuple[Loop, ...]:
        """The loops around the definition of the variable that a measured symbol stands for; none for other symbols."""
        found = self.defs.get(what) if isinstance(what := self.unknown.get(symbol), ir.Var) else None
        return () if found is None else found.loops

    def summed(self, value: Formula, loops: Sequence[Loop]) -> tuple[Formula | None, bool]:
        """The sum of ``value`` over all iterations of ``loops``, the outermost first; None if there is no closed form. The flag
        is True if a trip count is known only at run time: the total of that loop's iterations is then one measured symbol, and
        loops around it are not summed."""
        for k in reversed(range(len(loops))):
            loop = loops[k]
            if any(around is loop for s in value.symbols for around in self._measured_in(s)):
                return None, False
            count = self.count(loop)
            if count is None:
                if any(s in self.trips for s in value.symbols):
                    return None, False
                return value * self.unknown_symbol(f"iterations(line {loop.loc.line})", loop), True
            assert isinstance(loop, ir.For)
            (name,) = self.trip(loop).symbols
            found = value.summed(name, count)
            if found is None:
                return None, False
            value = found
        return value, False


def is_computed(let: ir.Let) -> bool:
    """Whether `Sizes.computed` has a formula for the statement: an operation on integers that it knows."""
    record = record_of(let)
    known = record.extreme or record.division or record.signs or record.multiplies or record.same
    return bool(known) and all(a.type.is_int for a in let.args)
