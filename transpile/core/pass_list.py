"""A list of passes as data: what each one requires, ensures and breaks, and why it stands where it does.

A `Chain` is checked when it is constructed: every property that a pass requires holds at the beginning or was ensured before,
and nothing has broken it since. All passes of both dialects run through `Chain.run`, where `transpile.core.watch` sees each of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core import watch


@dataclass(frozen=True)
class Property:
    """A property that code may have between passes. ``holds`` tests it on the code, where that is possible."""

    name: str
    says: str
    holds: Callable[[ir.Function], bool] | None = None


@dataclass(frozen=True)
class Pass:
    """One pass. ``run`` takes the function and the settings named in ``given``; it returns the same object if it changed
    nothing. If ``when`` names a setting, the pass runs only if that setting is true."""

    name: str
    run: Callable[..., ir.Function]
    why: str
    requires: tuple[Property, ...] = ()
    ensures: tuple[Property, ...] = ()
    breaks: tuple[Property, ...] = ()
    given: tuple[str, ...] = ()
    when: str = ""
    dialect: str = ""  # of its result, if that differs from the chain's


@dataclass(frozen=True)
class Group:
    """Passes, and further passes that run only if one of the first changed something."""

    passes: tuple[Step, ...]
    after: tuple[Step, ...]


Step = Pass | Group


class WrongOrder(ValueError):
    """A pass requires a property that does not hold where it stands."""


@dataclass(frozen=True)
class Chain:
    """An ordered list of passes over one dialect. ``begins``: the properties that hold before the first pass; ``wanted``: those
    that must hold after the last one."""

    dialect: str
    steps: tuple[Step, ...]
    vocabulary: tuple[Property, ...]
    begins: tuple[Property, ...] = ()
    wanted: tuple[Property, ...] = ()

    def __post_init__(self) -> None:
        used = {p for one in self.passes() for p in (*one.requires, *one.ensures, *one.breaks)} | {
            *self.begins,
            *self.wanted,
        }
        if strange := used - {*self.vocabulary}:
            raise WrongOrder(f"not in the vocabulary: {', '.join(sorted(p.name for p in strange))}")
        at_end = self.ends()
        if missing := [p.name for p in self.wanted if p not in at_end]:
            raise WrongOrder(f"at the end there does not hold: {', '.join(missing)}")

    def passes(self) -> Iterator[Pass]:
        """All passes in order, those in groups included; a pass that stands here twice is given twice."""
        return _passes(self.steps)

    def ends(self) -> frozenset[Property]:
        """The properties that surely hold after the last pass; raises `WrongOrder` if a pass requires one that does not
        hold."""
        return _after(self.steps, frozenset(self.begins))

    def run(self, fn: ir.Function, settings: Any = None) -> ir.Function:
        """The function after all passes; ``settings`` has an attribute for each name in a pass's ``given`` and ``when``."""
        return _run(self.steps, fn, self.dialect, settings)

    def without(self, name: str) -> Chain:
        """A copy of the chain without the passes of this name; raises `WrongOrder` if another pass needs one."""
        return replace(self, steps=_mapped(self.steps, lambda one: None if one.name == name else one))

    def instead(self, name: str, run: Callable[..., ir.Function]) -> Chain:
        """A copy of the chain with ``run`` as the function of the passes of this name."""
        return replace(self, steps=_mapped(self.steps, lambda one: replace(one, run=run) if one.name == name else one))


def _passes(steps: Sequence[Step]) -> Iterator[Pass]:
    for step in steps:
        if isinstance(step, Pass):
            yield step
        else:
            yield from _passes(step.passes)
            yield from _passes(step.after)


def _after(steps: Sequence[Step], held: frozenset[Property]) -> frozenset[Property]:
    """The properties that hold after the steps if ``held`` hold before, whether or not optional steps ran; raises `WrongOrder`
    if a step requires one that does not hold."""
    for step in steps:
        if isinstance(step, Group):
            held = _unchanged(step.passes, held) & _after((*step.passes, *step.after), held)
            continue
        if missing := [p.name for p in step.requires if p not in held]:
            raise WrongOrder(f"{step.name} requires what does not hold there: {', '.join(missing)}")
        found = held - {*step.breaks} | {*step.ensures}
        held = held & found if step.when else found
    return held


def _unchanged(steps: Sequence[Step], held: frozenset[Property]) -> frozenset[Property]:
    """The properties that hold after steps that changed nothing if ``held`` hold before: also those that the steps ensure,
    since what they would remove was absent."""
    for step in steps:
        if isinstance(step, Group):
            held = _unchanged(step.passes, held)
        elif not step.when:
            held |= {*step.ensures}
    return held


def _run(steps: Sequence[Step], fn: ir.Function, dialect: str, settings: Any) -> ir.Function:
    """The function after the steps. What comes ``after`` in a group runs only if a pass of the group gave another object; a
    pass with ``when`` only if that setting is true."""
    for step in steps:
        if isinstance(step, Group):
            new = _run(step.passes, fn, dialect, settings)
            fn = fn if new is fn else _run(step.after, new, dialect, settings)
        elif not step.when or getattr(settings, step.when):
            given = [getattr(settings, name) for name in step.given]
            fn = watch.run(step, fn, given, step.dialect or dialect) if watch.ON else step.run(fn, *given)
    return fn


def _mapped(steps: Sequence[Step], change: Callable[[Pass], Pass | None]) -> tuple[Step, ...]:
    """The steps with each pass replaced by ``change(pass)``, or removed if ``change`` returns None."""
    kept: list[Step] = []
    for step in steps:
        if isinstance(step, Group):
            passes = _mapped(step.passes, change)
            kept += [Group(passes, _mapped(step.after, change))] if passes else []
        elif (new := change(step)) is not None:
            kept.append(new)
    return tuple(kept)
