"""*Printable form*: core in which everything that the text says is decided before a line is written.

Nested values are no statements any more (`expression_trees`), unneeded copies are removed (`copy_elision`), variables have
their names (`variable_names`). This module derives which values are computed in the memory of a name, and what is assigned from
one name to another. The writer prints this form, and the report of memory walks over it.

An augmented assignment to an array changes its memory, so a rebinding becomes one only if nothing else reads that memory.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from transpile.analysis.liveness import Liveness
from transpile.codegen.numpy.expression_trees import Nested, Tree
from transpile.codegen.numpy.memory_sharing import FOREIGN
from transpile.core import nodes as ir
from transpile.core.walk import statements
from transpile.ops.tables import record_of

Handed = tuple[str, ir.Operand, ir.Var]  # the assigned name, the value, the variable


class InPlace(NamedTuple):
    """The augmented assignment ``name sign operand``; for the sign ``+=`` it replaces ``name = name + operand``."""

    sign: str
    operand: ir.Operand


class Printable:
    """A function in printable form: nested values, names of variables, liveness, and what is unpacked or may be a 0-d array."""

    def __init__(self, nested: Nested, names: dict[ir.Var, str]) -> None:
        self.nested, self.names = nested, names
        self.live = Liveness(nested.fn, nested.aliases.numbers, nested.reads, nested.ends)
        self.items = item_groups(nested)
        self.loose = _zero_d(nested)

    @property
    def fn(self) -> ir.Function:
        return self.nested.fn

    def tree(self, operand: ir.Operand) -> Tree | None:
        """The statement nested in place of the operand, or None."""
        return self.nested.trees.get(operand) if isinstance(operand, ir.Var) else None

    def is_name(self, operand: ir.Operand, name: str) -> bool:
        """Whether the operand is printed as this name."""
        return isinstance(operand, ir.Var) and operand not in self.nested.trees and self.names[operand] == name

    # ---- updates in place

    def in_place(self, name: str, let: ir.Let, live: int) -> InPlace | None:
        """The augmented assignment that replaces ``name = let``, or None if it would change memory that is read later.

        ``live``: a mask of the variables that are read later. None too if ``let`` does not update ``name``, or gives an array
        of another dtype or shape.
        """
        found = self.augmented(name, let)
        if found is None:
            return None
        first, second = found
        if not let.var.type.dims:
            return None if first in self.loose else InPlace(augmented(let), second)
        if first.type.dims != let.var.type.dims or first.type.dtype != let.var.type.dtype:
            return None
        return None if self.is_seen(name, first, let.var, live) else InPlace(augmented(let), second)

    def augmented(self, name: str, let: ir.Let) -> tuple[ir.Var, ir.Operand] | None:
        """The operand of ``let`` that is ``name`` already, and the other one; None if an augmented assignment is not possible.

        ``name`` may be the second operand if they commute.
        """
        if not augmented(let) or "via" in let.params or "py" in let.params:
            return None
        first, second = let.args
        if not self.is_name(first, name):
            is_start = isinstance(first, ir.Const) and not name.endswith("_bar")
            if not record_of(let).commutes or not self.is_name(second, name) or first.type.dims or is_start:
                return None
            first, second = second, first
        assert isinstance(first, ir.Var)
        return first, second

    def is_seen(self, name: str, old: ir.Var, new: ir.Var, live: int) -> bool:
        """Whether the array ``old`` is read later under a name other than ``name``, when ``new`` has taken its place.

        ``live``: a mask of the variables live then. Memory that must not be written counts as read.
        """
        numbers, aliases = self.nested.aliases.numbers, self.nested.aliases.of(old)
        if live & numbers.bit(old):  # another name gets it at the end of the block
            return True
        hidden = numbers.bit(old) | numbers.bit(new)
        for var in numbers.members(aliases & ~(1 << FOREIGN)):
            if self.names.get(var) == name:
                hidden |= numbers.bit(var)
        return bool(aliases & ((live & ~hidden) | 1 << FOREIGN))

    # ---- values that blocks pass on

    def pairs(
        self,
        targets: Sequence[ir.Var],
        sources: Sequence[ir.Operand],
        wanted: int | None = None,
        unsaid: Collection[ir.Var] = (),
    ) -> list[Handed]:
        """The assignments that pass ``sources`` on to ``targets``, in order: (name, value, target).

        Omitted are those of one Python variable to itself, of an undefined value, of a nested target, of one in ``unsaid``, and
        of one that is not in the mask ``wanted`` (None: all are).
        """
        found: list[Handed] = []
        for target, source in zip(targets, sources):
            if isinstance(source, ir.Undef) or target in self.nested.trees or target in unsaid:
                continue
            if wanted is not None and not wanted >> self.nested.aliases.numbers.number(target) & 1:
                continue
            name = self.names[target]
            if not self.is_name(source, name):
                found.append((name, source, target))
        return found


def augmented(let: ir.Let) -> str:
    """Python's sign of the augmented assignment for an elementwise primitive, such as ``+=``; empty if there is none."""
    record = record_of(let)
    return record.operator.augmented if record.operator is not None and record.elementwise else ""


def item_groups(nested: Nested) -> dict[ir.Var, list[ir.Let]]:
    """Maps the result of each primitive with several results to the *lets* that unpack it."""
    groups: dict[ir.Var, list[ir.Let]] = {}
    for stmt in statements(nested.fn.body):
        if isinstance(stmt, ir.Let) and stmt.prim == "item" and isinstance(stmt.args[0], ir.Var):
            groups.setdefault(stmt.args[0], []).append(stmt)
    return groups


def _zero_d(nested: Nested) -> set[ir.Var]:
    """Scalar variables that may be the caller's 0-d arrays, which ``+=`` would change: NumPy scalars from parameters or
    stacks."""
    found = {p for p in nested.fn.params if not p.type.dims and not p.type.weak}
    if not found:
        return found
    links: list[tuple[ir.Var, ir.Operand]] = []
    for stmt in statements(nested.fn.body):
        match stmt:
            case ir.If():
                links += [*zip(stmt.results, stmt.then.yields), *zip(stmt.results, stmt.orelse.yields)]
            case ir.For() | ir.While():
                for operands in (stmt.inits, stmt.body.yields):
                    links += [*zip(stmt.body.params, operands), *zip(stmt.results, operands)]
            case ir.Pop():
                if not stmt.var.type.dims:
                    found.add(stmt.var)
            case ir.Let() if stmt.prim == "copy" or record_of(stmt).is_view(len(stmt.args)):
                links.append((stmt.var, stmt.args[0]))
    while more := {target for target, source in links if source in found and target not in found}:
        found |= more
    return found
