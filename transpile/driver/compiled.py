"""Compiled programs: they call a kernel with the leaves of the arguments and rebuild the result."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from transpile.aggregates import Tree, flatten
from transpile.base.captured import Place, Stale, reader
from transpile.core.taken import Taken
from transpile.driver.conditions import Scope, checker
from transpile.driver.fast_path import Call, Otherwise, result
from transpile.driver.program import Program, slim
from transpile.driver.results import Wanted, assemble_flat, converter, is_as_returned
from transpile.driver.shared_arguments import instead, is_twice, overlap
from transpile.driver.tracebacks import framed
from transpile.frontend.resolve.reads import Read
from transpile_runtime.compiled.again import Again, OtherSizes

ndarray = np.ndarray


class Recipe(NamedTuple):
    """The data of a compiled program apart from its kernel, which is kept on disk beside the code."""

    name: str
    trees: tuple[Tree, ...]  # of the arguments by position, then of those by name; their leaves numbered
    known: tuple[tuple[int, Any], ...]  # leaves whose values are compiled in
    slots: tuple[int, ...]  # for each parameter of the user, its leaf in the call
    written: tuple[bool, ...]  # for each of these, whether the function writes it
    pairs: tuple[tuple[int, int], ...]  # parameters that must not share memory
    out_tree: Tree
    results: tuple[Wanted, ...]  # for each leaf of the result, the type it is converted to
    taken: Taken = Taken()
    changes_containers: bool = False  # it changes lists, dicts or objects among its arguments
    of_sizes: frozenset[int] = frozenset()  # numbers of the messages about sizes that do not agree
    outputs: tuple[Any, ...] = ()  # results allocated by the caller: `transpile.codegen.results_passed_in.Output`


class Compiled(Program):
    """The program that runs a kernel.

    ``leaves`` are those of the first call. ``places`` are the outside values that it takes as arguments, ``reads`` everything
    that lifting read outside the function.
    """

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
        self.taken, self.slots = recipe.taken, recipe.slots
        self.writes = any(recipe.written) or recipe.changes_containers
        self.convert = [converter(w) for w in recipe.results]
        self.finish = assemble_flat(recipe.out_tree, self.convert)
        self.outside, self.unchanged = reader(places), checker(reads)
        self.general: Callable[[], Compiled] | None = None  # makes the program without assumptions about sizes

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any], leaves: list[Any]) -> Any:
        if self.unchanged is not None and not self.unchanged():
            raise Stale
        if self.recipe.changes_containers and is_twice((*args, *kwargs.values()), self.reads):
            return instead(self.target, args, kwargs)
        given = [leaves[k] for k in self.recipe.slots]
        if self.outside is not None:
            given += self.outside()
        values = [v[()] if isinstance(v, ndarray) and not v.ndim else v for v in given]
        if overlap(values, self.recipe.pairs):
            return instead(self.target, args, kwargs)
        ready, back = contiguous(values, self.recipe.written)
        made = [np.empty(_shape(o, values), o.dtype) for o in self.recipe.outputs]
        try:
            out = self.kernel(*ready, *made)
        except OtherSizes:
            raise
        except Again:
            raise TypeError("the arguments are not of the types that the function was compiled for") from None
        except Exception as error:
            if is_of_arguments(error):
                raise OverflowError(too_large(self.target, args, kwargs)) from None
            raise
        finally:  # also after an exception: what was written before it
            for original, copy, first in back:
                np.copyto(original, copy, where=_differ(copy, first))
        return self.finish(self.joined(out, made))

    def joined(self, out: Any, made: Sequence[Any]) -> Any:
        """The results in order, from ``out``, which the kernel returned, and the arrays ``made`` that it filled: a tuple, or
        the only result alone."""
        count, outputs = len(self.convert), self.recipe.outputs
        if not outputs:
            return out
        rest = iter(out if count - len(outputs) > 1 else (out,))
        arrays = {o.result: array for o, array in zip(outputs, made)}
        found = tuple([arrays[k] if k in arrays else next(rest) for k in range(count)])
        return found if count != 1 else found[0]

    def is_of_sizes(self, failed: Exception) -> bool:
        return getattr(failed, "site", None) in self.recipe.of_sizes

    def front(self, otherwise: Otherwise) -> Callable[..., Any] | None:
        recipe = self.recipe
        fully = set(range(len(self.examples))) - set(recipe.slots)
        call = Call(recipe.name, recipe.trees, self.examples, dict(recipe.known), fully, self.reads, self.places)
        call.once = recipe.changes_containers
        return call.write(otherwise, self._call, self._outputs)

    def _outputs(self, scope: Scope, leaves: Mapping[int, str], values: list[str]) -> None:
        """Writes to ``scope`` the lines that allocate the result arrays passed to the kernel; ``leaves`` and ``values`` are the
        texts of leaves and of outside values."""
        given = self._given(leaves, values)
        shapes: dict[str, str] = {}
        for output in self.recipe.outputs:
            shape = self._shape_text(scope, output, given, shapes)
            dtype = scope.constant(np.dtype(output.dtype))
            scope.line(f"__r{output.result} = {scope.constant(np.empty)}({shape}, {dtype})")

    def _call(self, scope: Scope, leaves: Mapping[int, str], values: list[str]) -> None:
        """Writes to ``scope`` the call of the kernel and the conversion of its results; ``leaves`` and ``values`` are the texts
        of leaves and of outside values."""
        recipe = self.recipe
        names = [f"__r{k}" for k in range(len(self.convert))]
        passed = [names[o.result] for o in recipe.outputs]
        call = f"{scope.constant(self.kernel)}({', '.join([*self._given(leaves, values), *passed])})"
        direct = not passed and is_as_returned(recipe.out_tree, self.convert)
        scope.lines += ["try:", f"    return {call}" if direct else f"    __out = {call}"]
        scope.lines += [f"except {scope.constant(Again)}:", "    break"]
        scope.lines += [f"except {scope.constant(OverflowError)} as __error:"]
        scope.lines += [f"    if {scope.constant(is_of_arguments)}(__error):", "        break"]
        scope.line(f"    raise {scope.constant(framed)}(__error)")
        scope.lines += [f"except {scope.constant(KeyboardInterrupt)} as __error:"]
        scope.line(f"    raise {scope.constant(framed)}(__error)")
        scope.lines += [f"except {scope.constant(Exception)} as __error:"]
        if self.taken.pairs:
            scope.lines += self._other_sizes(scope, leaves)
        scope.line(f"    raise {scope.constant(framed)}({self._failed(scope, len(recipe.trees))})")
        if direct:
            return
        returned = [n for n in names if n not in passed]
        if returned:
            scope.line(f"{', '.join(returned)} = __out")
        made = [n if c is None else f"{scope.constant(c)}({n})" for n, c in zip(names, self.convert)]
        scope.line(f"return {result(scope, recipe.out_tree, made)}")

    def _given(self, leaves: Mapping[int, str], values: Sequence[str]) -> list[str]:
        return [*(leaves[k] for k in self.recipe.slots), *values]

    def _shape_text(self, scope: Scope, output: Any, given: Sequence[str], shapes: dict[str, str]) -> str:
        """The text of an output's shape, from ``given``, the texts of the kernel's arguments.

        The shape of an argument is read once, into a local variable, whose name is kept in ``shapes``.
        """

        def shape_of(value: str) -> str:
            if value not in shapes:
                shapes[value] = scope.bind(f"{value}.shape")
            return shapes[value]

        if all(isinstance(size, int) for size in output.sizes):
            return scope.constant(output.sizes)
        source = output.sizes[0]
        if isinstance(source, tuple):
            k = source[0]
            rank = self.kernel_rank(k)
            if output.sizes == tuple([(k, axis) for axis in range(rank)]):
                return shape_of(given[k])
        parts = [str(s) if isinstance(s, int) else f"{shape_of(given[s[0]])}[{s[1]}]" for s in output.sizes]
        return f"({', '.join(parts)},)"

    def kernel_rank(self, k: int) -> int:
        """The rank of argument ``k`` of the kernel: a leaf of the call or, after these, an outside value."""
        own = len(self.recipe.slots)
        return np.ndim(self.examples[self.recipe.slots[k]] if k < own else self.places[k - own].read())


def _shape(output: Any, values: Sequence[Any]) -> tuple[int, ...]:
    """The shape of an output: each of its sizes is an int, or ``(k, axis)`` for that size of ``values[k]``."""
    return tuple([s if isinstance(s, int) else values[s[0]].shape[s[1]] for s in output.sizes])


def is_of_arguments(error: Exception) -> bool:
    """True for an OverflowError without a site: an argument was an integer of more than 64 bits. Errors that compiled code
    raises itself have a site."""
    return isinstance(error, OverflowError) and not hasattr(error, "site")


def too_large(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The message for an integer argument of more than 64 bits, with the name of the first such argument, if one is found."""
    while hasattr(target, "__wrapped__"):
        target = target.__wrapped__
    try:
        given = dict(inspect.signature(target).bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):
        given = {f"number {k}": a for k, a in enumerate(args)} | dict(kwargs)
    for name, value in given.items():
        for leaf in flatten(value)[0]:
            if isinstance(leaf, int) and not -(2**63) <= leaf < 2**63:
                return (
                    f"the argument {name!r} holds the integer {leaf}, which does not fit in the int64 of compiled code"
                )
    return "an argument does not fit in the int64 of compiled code"


def contiguous(
    values: Sequence[Any], written: Sequence[bool]
) -> tuple[list[Any], list[tuple[ndarray, ndarray, ndarray]]]:
    """``(ready, back)``: the values with copies of those arrays that are not plain, writeable and in C order, and ``(array,
    copy, first)`` for each copied one that is ``written``.

    ``first`` is the initial content of the copy: only elements that differ from it are written back, because other threads may
    be writing the rest. ValueError for a written array that is read-only.
    """
    ready = list(values)
    back: list[tuple[ndarray, ndarray, ndarray]] = []
    for k, v in enumerate(values):
        if not isinstance(v, ndarray) or (v.flags.carray and type(v) is ndarray):
            continue
        is_written = k < len(written) and written[k]
        if is_written and not v.flags.writeable:
            raise ValueError("assignment destination is read-only")
        ready[k] = np.array(v, order="C")
        if is_written:
            back.append((v, ready[k], ready[k].copy()))
    return ready, back


def _differ(x: ndarray, y: ndarray) -> ndarray:
    """An array of booleans, true where two arrays in C order of the same shape and dtype differ bitwise."""
    word = np.dtype(f"u{min(x.itemsize, 8)}")
    differ = x.view(word) != y.view(word)
    return np.any(differ.reshape(*x.shape, x.itemsize // word.itemsize), axis=-1)
