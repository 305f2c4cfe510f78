"""The fast path of repeated calls: one generated function for the structure and types of the arguments.

It checks what the kernel does not check: the classes of containers and numbers, the keys of dicts, and that what was read
outside is unchanged. Dtypes, ranks, layouts and sizes of 1 are checked by the kernel, which raises `Again`. If anything
differs, the call takes the ordinary path.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

import numpy as np

from transpile.aggregates import Content, Leaf, Node, Static, Tree, close_own
from transpile.base.captured import HOLDERS, Place
from transpile.base.zeros import is_minus_zero
from transpile.driver.conditions import Scope, commonest, same_array_kind, structure, unchanged
from transpile.driver.errstate import CALM, is_watched, state
from transpile.driver.shared_arguments import are_copied, is_twice, overlap
from transpile.driver.tracebacks import CAUGHT, framed
from transpile.frontend.resolve.reads import Read

ndarray = np.ndarray
MISS = object()  # an argument that was not given

Otherwise = Callable[[tuple[Any, ...], tuple[Any, ...], Mapping[str, Any]], Any]
"""The ordinary call, with the arguments (`MISS` for one that was not given), further positional ones, and keyword ones."""

Writer = Callable[[Scope, Mapping[int, str], list[str]], None]
"""Writes lines to a scope, given the texts that read the leaves of a call and the outside values."""


class Call:
    """A description of the calls of one specialisation, from which their function is written.

    ``known`` are leaves with compiled-in values. ``fully`` are the leaves whose dtype and sizes nothing else checks. The values
    at the outside ``places`` are passed after the leaves.
    """

    def __init__(
        self,
        name: str,
        trees: Sequence[Tree],
        examples: Sequence[Any],
        known: Mapping[int, Any],
        fully: Container[int],
        reads: Sequence[Read] = (),
        places: Sequence[Place] = (),
    ) -> None:
        self.name, self.trees, self.examples, self.known = name, trees, examples, known
        self.fully, self.reads, self.places = fully, reads, places
        self.pairs: Sequence[tuple[int, int]] = ()  # leaves (places count as -1 - k) that must not share memory
        self.once = False  # if true, no container may occur twice

    def write(self, otherwise: Otherwise, finish: Writer, prepare: Writer | None = None) -> Callable[..., Any] | None:
        """The generated function; None if no fast path exists for such calls.

        ``finish(scope, leaves, values)`` writes the call itself, from the texts of the leaves and of the outside values;
        ``prepare`` writes lines before it, which may fail and then leave the fast path. Any other call goes to ``otherwise``.
        """
        if any(isinstance(x, ndarray) and type(x) is not ndarray for x in self.examples):
            return None  # a subclass of ndarray: converted, or refused
        names = [f"__a{k}" for k in range(len(self.trees))]
        scope = Scope("", commonest(self.reads, [p.holder for p in self.places if p.kind == "global"]))
        given = f"({', '.join(names)}{',' * (len(names) == 1)})"
        scope.miss = "break"
        scope.need("not __rest and not __named")
        scope.need(f"({scope.constant(state)}() is {scope.constant(CALM)}[0] or not {scope.constant(is_watched)}())")
        leaves: dict[int, str] = {}

        def look(leaf: Leaf, value: str) -> None:
            leaves[leaf.k] = _look(scope, self.examples[leaf.k], value, leaf.k in self.fully)
            if leaf.k in self.known:
                known = self.known[leaf.k]
                scope.need(f"{value} == {scope.constant(known)}")
                if isinstance(known, float) and known == 0.0:
                    scope.need(f"{scope.constant(is_minus_zero)}({value}) is {is_minus_zero(known)}")

        if not all(structure(scope, tree, name, look) for tree, name in zip(self.trees, names)):
            return None
        unchanged(scope, self.reads)
        values = self._outside(scope)
        if self.once or self.pairs:
            scope.need(f"not {scope.constant(are_copied)}()")
        if self.once:
            scope.need(f"not {scope.constant(is_twice)}({given}, {scope.constant(self.reads)})")
        if self.pairs:
            among = [*(leaves.get(k, "None") for k in range(len(self.examples))), *reversed(values)]
            scope.need(f"not {scope.constant(overlap)}(({', '.join(among)},), {scope.constant(self.pairs)})")
        if prepare is not None:
            scope.settle()
            prepare(scope, leaves, values)
        scope.attempt()
        finish(scope, leaves, values)
        short = ["while True:", *(f"    {line}" for line in scope.lines)]
        last = f"    return {scope.constant(otherwise)}({given}, __rest, __named)"
        scope.lines = [*short, "try:", last, f"except {scope.constant(CAUGHT)} as __error:"]
        scope.line(f"    raise {scope.constant(framed)}(__error)")
        heading = ", ".join([*(f"{n}=None" for n in names), *["/"][: len(names)], "*__rest", "**__named"])
        return scope.function(self.name, heading, (MISS,) * len(names))

    def _outside(self, scope: Scope) -> list[str]:
        """The texts that pass the outside values, in order, read into local variables; adds to ``scope`` a test that each has
        its present type."""
        if self.places:
            scope.need(f"not {scope.constant(HOLDERS)}.open")
        found = []
        for k, place in enumerate(self.places):
            own = place.kind == "object"
            text = scope.constant(place.holder) if own else scope.place(place.kind, place.holder, place.name)
            for kind, key in place.steps:
                text = f"{text}.{key}" if kind == "attr" else f"{text}[{scope.constant(key)}]"
            found.append(_look(scope, place.read(), scope.bind(text), -1 - k in self.fully))
        return found


def _look(scope: Scope, example: Any, value: str, fully: bool) -> str:
    """The text that passes the leaf ``value``, a text, to a kernel: a scalar for an array of rank 0, unless ``fully``.

    Adds tests to ``scope`` that the leaf has the type of ``example``, with ``fully`` also its dtype, rank and axes of size 1.
    """
    scope.need(scope.is_type(value, type(example)))
    if type(example) is not ndarray:
        return value
    if fully:
        same_array_kind(scope, example, value)
    elif not example.ndim:
        scope.need(f"not {value}.ndim")
        return f"{value}[()]"
    return value


# ------------------------------------------------------------------------------------------------------- results


def result(scope: Scope, tree: Tree, leaves: Sequence[str]) -> str:
    """The text that builds a result with this structure from ``leaves``, the texts of its leaves."""
    if isinstance(tree, Leaf):
        return leaves[tree.k]
    if isinstance(tree, Static):
        return (
            scope.constant(tree.value)
            if tree.lasts() or not isinstance(tree, Content)
            else f"{scope.constant(tree.fresh)}()"
        )
    assert isinstance(tree, Node), tree
    parts = [result(scope, child, leaves) for child in tree.children]
    if tree.kind == "tuple":
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
    if tree.kind == "list":
        return f"[{', '.join(parts)}]"
    if tree.kind == "dict" and tree.cls is None:
        return "{" + ", ".join(f"{scope.constant(k)}: {p}" for k, p in zip(tree.keys, parts)) + "}"
    return f"{scope.constant(close_own)}({scope.constant(tree)}, ({', '.join(parts)},))"
