"""The text that Numba compiles: a module of lowered functions, each with one signature."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from transpile.analysis.messages import sites
from transpile.codegen.entry_guard import Guard
from transpile.codegen.expression_nodes import LOAD, call, dotted
from transpile.codegen.import_statements import import_lines, imported, imported_from
from transpile.codegen.layout import WIDTH, Line, lay_out
from transpile.codegen.numba.loop_text import MODULES, emit
from transpile.codegen.templates import literal
from transpile.core import nodes as ir
from transpile.loops.size_assumptions import Assumed

UNWRAPPED = 10**9  # columns, for text that is not meant to be read
EMPTY = Line(0, ())


@dataclass(frozen=True)
class Options:
    """How a function is compiled.

    ``sizes``: assumptions about the sizes of its parameters (`transpile.loops.size_assumptions`).
    """

    fastmath: Any = ("contract", "reassoc")
    threads: int = 0  # number of threads of parallel loops
    sizes: tuple[Assumed, ...] = ()
    vectors: bool = True  # whether functions of `transpile_runtime.compiled.vector` may be called

    @property
    def decorator(self) -> ast.Call:
        """The node of ``njit(...)`` with its options, without types."""
        flags = self.fastmath if isinstance(self.fastmath, bool) else frozenset(self.fastmath)
        more = {"parallel": literal(PRANGE)} if self.threads else {}
        return call(ast.Name("njit", LOAD), error_model=literal("numpy"), fastmath=literal(flags), **more)


PRANGE = {
    "prange": True,
    **dict.fromkeys(("comprehension", "reduction", "inplace_binop", "setitem", "numpy", "stencil"), False),
}
"""Options by which Numba runs explicit ``prange`` loops in parallel, and nothing else."""


@dataclass(frozen=True)
class Module:
    """Functions as lines, and the messages of their errors by number."""

    messages: Mapping[int, Any]
    functions: tuple[Line, ...]

    @staticmethod
    def of(
        lowered: Sequence[ir.Function],
        options: Options,
        own: Mapping[str, ast.expr] = MappingProxyType({}),
        guard: Guard | None = None,
    ) -> Module:
        """The module of lowered functions, in this order, each under the usual decorator or that of its name in ``own``.

        Only the last function has the ``guard``.
        """
        names = [fn.name for fn in lowered]
        lines: list[Line] = []
        for fn in lowered:
            decorator = Line(0, ("@", own.get(fn.name, options.decorator)))
            lines += [EMPTY, EMPTY, decorator, *emit(fn, names, guard if fn is lowered[-1] else None)]
        return Module({number: entry for fn in lowered for number, entry in sites(fn).items()}, tuple(lines))

    @property
    def names(self) -> set[str]:
        """All names, of variables and modules, that occur in the functions."""
        return {n.id for n in self.nodes() if isinstance(n, ast.Name)}

    def nodes(self) -> Iterator[ast.AST]:
        """Yields all nodes in the functions, decorators included."""
        for line in self.functions:
            for part in line.parts:
                if isinstance(part, ast.expr):
                    yield from ast.walk(part)

    def registered(self) -> list[Line]:
        """The lines of the statement that registers the messages with the runtime; empty if there are none."""
        entries = [Line(1, (f"{number}: ", literal(entry), ",")) for number, entry in self.messages.items()]
        update = Line(0, (dotted("errors.SITES.update"), "({"))
        return [update, *entries, Line(0, ("})",))] if entries else []

    def imports(self) -> list[list[ast.stmt]]:
        """The import statements of what is outside `transpile_runtime`, in two groups, of which the first may be empty."""
        names = self.names
        numba = [imported_from("numba", n) for n in ("njit", "prange") if n in names]
        return [[imported("math")] if "math" in names else [], [imported("numpy", "np"), *numba]]

    def ours(self) -> list[ast.stmt]:
        """The import statement of the runtime modules that the text uses, in a list; empty if it uses none."""
        names = self.names | ({"errors"} if self.messages else set())
        used = [m for m in MODULES if m in names]
        return [imported_from("transpile_runtime.compiled", *used)] if used else []

    def text(self, width: int = WIDTH) -> tuple[str, dict[int, ir.Loc]]:
        """A pair: the text of the whole module, wrapped at ``width``, and a map from its line numbers, from 1, to the user's
        location."""
        head = [Line(0, (text,)) for text in import_lines([*self.imports(), self.ours()])]
        messages = self.registered()
        return printed([*head, *([EMPTY] if messages else []), *messages, *self.functions], width)

    def body(self) -> list[Line]:
        """The lines below the imports: registered messages, then functions."""
        messages = self.registered()
        return [*messages, *self.functions[0 if messages else 2 :]]


def printed(lines: Sequence[Line], width: int = WIDTH) -> tuple[str, dict[int, ir.Loc]]:
    """A pair: the text of the lines, wrapped at ``width``, and a map from its line numbers, from 1, to the user's location.

    Lines without a location are left out of the map.
    """
    text: list[str] = []
    locs: dict[int, ir.Loc] = {}
    for line, of in lay_out(lines, False, width):
        text.append(line)
        if of.loc.line:
            locs[len(text)] = of.loc
    return "\n".join(text) + "\n", locs
