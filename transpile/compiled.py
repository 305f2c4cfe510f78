"""Compiled programs: a kernel, called with the leaves of the arguments, and the result put together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from runtime.compiled.again import Again, OtherSizes
from transpile.captured import Place, Stale, reader
from transpile.conditions import Scope, checker
from transpile.frontend.reads import Read
from transpile.loader import explain
from transpile.program import Program, slim
from transpile.repeated import Call, Otherwise, result
from transpile.results import Wanted, assemble_flat, converter, is_as_returned
from transpile.tree import Tree, flatten, unflatten

ndarray = np.ndarray


class Recipe(NamedTuple):
    """What a compiled call is made of besides its kernel: plain data, kept on disk beside the code."""

    name: str
    trees: tuple[Tree, ...]  # of the arguments by position, then of those by name; their leaves numbered
    known: tuple[tuple[int, Any], ...]  # leaves whose values are compiled in
    slots: tuple[int, ...]  # for each parameter that is the user's, the leaf of the call that it is
    written: tuple[bool, ...]  # whether the function writes it
    pairs: tuple[tuple[int, int], ...]  # parameters that must not share memory
    out_tree: Tree
    results: tuple[Wanted, ...]  # for each leaf of the result what the kernel's value has to be made


class Compiled(Program):
    """Runs a kernel. ``leaves`` are those of the first call, ``places`` and ``reads`` what it needs from outside."""

    def __init__(
        self,
        target: Any,
        recipe: Recipe,
        kernel: Any,
        leaves: Sequence[Any],
        places: Sequence[Place],
        reads: Sequence[Read],
    ) -> None:
        super().__init__()
        self.target, self.recipe, self.kernel = target, recipe, kernel
        self.examples = [slim(v) for v in leaves]
        self.places, self.reads = places, reads
        self.convert = [converter(w) for w in recipe.results]
        self.finish = assemble_flat(recipe.out_tree, self.convert)
        self.outside, self.unchanged = reader(places), checker(reads)
        self.general: Callable[[], Compiled] | None = None  # makes the one that assumes nothing of sizes

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any], leaves: list[Any]) -> Any:
        if self.unchanged is not None and not self.unchanged():
            raise Stale
        given = [leaves[k] for k in self.recipe.slots]
        if self.outside is not None:
            given += self.outside()
        values = [v[()] if isinstance(v, ndarray) and not v.ndim else v for v in given]
        if overlap(values, self.recipe.pairs):
            return run_plain(self.target, args, kwargs)
        try:
            out = self.kernel(*values)
        except OtherSizes:
            raise
        except Again:
            out = None
        except Exception as error:
            explain(error)
            raise
        else:
            return self.finish(out)
        return self.finish(run_converted(self.kernel, values, self.recipe.written))

    def front(self, otherwise: Otherwise) -> Callable[..., Any] | None:
        recipe = self.recipe
        fully = set(range(len(self.examples))) - set(recipe.slots)
        call = Call(recipe.name, recipe.trees, self.examples, dict(recipe.known), fully, self.reads, self.places)
        return call.write(otherwise, self._call)

    def _call(self, scope: Scope, leaves: Mapping[int, str], values: list[str]) -> None:
        """Writes the call of the kernel and what is made of its results."""
        given = ", ".join([*(leaves[k] for k in self.recipe.slots), *values])
        call = f"{scope.constant(self.kernel)}({given})"
        direct = is_as_returned(self.recipe.out_tree, self.convert)
        scope.lines += ["try:", f"    return {call}" if direct else f"    __out = {call}"]
        scope.lines += [f"except {scope.constant(Again)}:", "    break"]
        scope.lines += [f"except {scope.constant(Exception)} as __error:"]
        scope.lines += [f"    {scope.constant(explain)}(__error)", "    raise"]
        if direct:
            return
        names = [f"__r{k}" for k in range(len(self.convert))]
        if names:
            scope.line(f"{', '.join(names)} = __out")
        made = [n if c is None else f"{scope.constant(c)}({n})" for n, c in zip(names, self.convert)]
        scope.line(f"return {result(scope, self.recipe.out_tree, made)}")


def overlap(values: Sequence[Any], pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether an array that the function writes shares memory with another that it is given: compiled code takes its arrays
    for different ones."""
    for k, j in pairs:
        a, b = values[k], values[j]
        if np.may_share_memory(a, b) and (a is b or np.shares_memory(a, b)):
            return True
    return False


def run_plain(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The call of the user's function as it is; the results have memory of their own."""
    while hasattr(target, "__transpile_level__"):
        target = target.__wrapped__
    leaves, tree = flatten(target(*args, **kwargs))
    return unflatten(tree, [np.array(v) if isinstance(v, ndarray) else v for v in leaves])


def run_converted(kernel: Any, values: Sequence[Any], written: Sequence[bool]) -> Any:
    """The call with arrays in C order that may be written; what the function writes is copied back."""
    ready = list(values)
    back: list[tuple[ndarray, ndarray]] = []
    changed = False
    for k, v in enumerate(values):
        if not isinstance(v, ndarray) or (v.flags.carray and type(v) is ndarray):
            continue
        changed = True
        is_written = k < len(written) and written[k]
        if is_written and not v.flags.writeable:
            raise ValueError("assignment destination is read-only")
        ready[k] = np.array(v, order="C")
        if is_written:
            back.append((v, ready[k]))
    if not changed:
        raise TypeError("the arguments are not of the types that the function was compiled for")
    try:
        return kernel(*ready)
    except Exception as error:
        explain(error)
        raise
    finally:  # what was written before an exception too
        for original, copy in back:
            original[...] = copy
