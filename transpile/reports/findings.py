"""The findings about a derivative for the arguments of one call: what it records, how much and why, and its peaks of memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from transpile.codegen.numpy.printed_module import printable
from transpile.core import nodes as ir
from transpile.core.functions import reached
from transpile.reports.call_numbers import Values
from transpile.reports.formula import Formula
from transpile.reports.loop_peak import Lowered, Plan, compiled_plan
from transpile.reports.measured_values import values_of
from transpile.reports.peak import Peak, Walk, variables
from transpile.reports.probe import Run
from transpile.reports.recorded import Amount, amounts, decisions, finished, largest, outermost
from transpile.reports.report import Report, total
from transpile.reports.size_formulas import Sizes

POINTER = 8  # bytes of an entry of a Python list, without the object that it points to
NUMBER, ARRAY = 32, 112  # bytes of a number object; of an array object without its elements


def find(core: ir.Function, signature: str, given: Mapping[ir.Var, Any], run: Run, lowered: Lowered) -> Report:
    """The report on the derivative ``core`` in one call.

    ``given``: the values of its parameters; ``run``: runs another function on the arguments; ``lowered``: gives the lowered
    functions that are compiled for a function; ``signature``: the text that describes the arguments.
    """
    found = _Findings(core, Sizes(core, given), lowered)
    return found.report(signature, values_of(found.sizes, found.amounts, found.every(), run))


class _Findings:
    """The findings that need no numbers."""

    def __init__(self, core: ir.Function, sizes: Sizes, lowered: Lowered) -> None:
        self.core, self.sizes = core, sizes
        self.amounts = amounts(sizes)
        self.stacks = [a for a in self.amounts if a.entries is not None]
        self.form = printable(core)
        self.formulas = {v: self.most(sizes.bytes_of(v)) for v in variables(self.form.nested) if v.type.kind == "array"}
        self.formulas.update({a.var: _listed(a, a.entries or 0, a.formula) for a in self.stacks})
        self.results = [self.most(sizes.bytes_of(y)) for y in core.body.yields if isinstance(y, ir.Var)]
        self.calls = bool(reached(core))  # calls of kept functions, which hold memory of their own
        given = [(a, self.dims_of(a.var)) for a in self.stacks]
        self.plan: Plan | None = None if self.calls else compiled_plan(core, sizes, given, lowered)

    def most(self, formula: Formula) -> Formula:
        """The formula at the iteration that makes it largest; the formula itself if that is not known."""
        return self.sizes.extreme(formula, largest=True) or formula

    def dims_of(self, var: ir.Var) -> tuple[Formula, ...]:
        """The sizes of a variable as formulas, each at the iteration that makes it largest."""
        return tuple(self.most(self.sizes.of_dim(d)) for d in var.type.dims)

    def every(self) -> Iterable[Formula]:
        """The formulas whose values are needed: of all arrays, results and stacks, interpreted and compiled."""
        return [*self.formulas.values(), *self.results, *(self.plan.formulas if self.plan is not None else ())]

    def report(self, signature: str, values: Values) -> Report:
        """The report on a call that ``signature`` describes, with its numbers ``values``."""
        found = [finished(a, self.sizes, values, self.form.names.get(a.var, "")) for a in self.amounts]
        found = [r for r in found if r.name]  # an array without a name is not in the text
        recorded = tuple(r for r in found if r.kind in ("tape", "stack"))
        together = largest(recorded)
        return Report(
            name=self.core.name,
            signature=signature,
            file=self.core.loc.file,
            recorded=recorded,
            kept=tuple(r for r in found if r.kind == "kept"),
            not_recorded=tuple(outermost(decisions(self.sizes))),
            bytes=total(together),
            formula=sum((r.formula for r in together), Formula()),
            results=len(self.core.body.yields),
            result_bytes=values.of(sum(self.results, Formula())),
            peak=None if self.calls else self.peak(values),
            compiled_peak=None if self.plan is None else self.plan.peak(values),
            known=dict(values.known),
            measured=dict(values.measured),
        )

    def peak(self, values: Values) -> Peak | None:
        """The peak of the interpreted derivative; None if the size of an array is unknown."""
        bytes_of = {v: values.of(f) for v, f in self.formulas.items()}
        for amount in self.stacks:
            if amount.var in values.entries:
                exact = _listed(amount, values.entries[amount.var], values.taken[amount.var])
                bytes_of[amount.var] = int(exact.const)
        if any(n is None for v, n in bytes_of.items() if v.type.dims or v.type.kind == "stack"):
            return None
        sizes = {v: (f, bytes_of[v] or 0) for v, f in self.formulas.items()}
        return Walk(self.form, sizes, values.taken).run()


def _listed(amount: Amount, entries: Formula | int, size: Formula | int) -> Formula:
    """The bytes of a Python list with so many ``entries``, with the objects in it; ``size``: the bytes of the elements of its
    arrays, if it holds arrays. True and False exist only once, so only the pointers to them count."""
    type_ = amount.var.type
    each = POINTER + (ARRAY if type_.dims else 0 if type_.is_bool else NUMBER)
    return Formula.of(entries) * each + (size if type_.dims else 0)
