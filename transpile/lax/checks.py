"""Argument checks of the functions of `transpile.lax`.

In transformed code the frontend replaces these functions by checks of types instead of values
(`transpile.frontend.calls.lax_calls`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from transpile import tree
from transpile.base import untaken
from transpile.base.treedef import TreeDef, text
from transpile.errors import TranspileError, error, with_article

SWITCH_HINT = "write switch(index, [f, g], *operands); for a truth value, cond(pred, true_fun, false_fun, *operands)"
COND_HINT = "write cond(pred, true_fun, false_fun, *operands)"
ROWS_HINT = "pass arrays with the same number of rows, or xs=None and a length"


# --------------------------------------------------------------------------------------------- structures that agree


class Kind:
    """Dtype and shape of a leaf; ``weak`` for a Python number, whose dtype may change; ``word`` is the text for messages."""

    __slots__ = ("dtype", "shape", "weak", "word")

    def __init__(self, dtype: str, shape: Sequence[Any], weak: bool, word: str) -> None:
        self.dtype, self.shape, self.weak, self.word = dtype, shape, weak, word


def kind_of(leaf: Any) -> Kind:
    """The kind of a leaf of a call outside transformed code; the dtype is "" if it is neither an array nor a number. Python
    ints and floats are weak, bools not."""
    if type(leaf) in (bool, int, float):
        return Kind(np.result_type(type(leaf)).name, (), type(leaf) is not bool, type(leaf).__name__)
    if not isinstance(leaf, (np.ndarray, np.generic)):
        return Kind("", (), False, repr(leaf))
    shape = ", ".join(map(str, leaf.shape))
    return Kind(leaf.dtype.name, leaf.shape, False, f"{leaf.dtype.name}[{shape}]" if shape else leaf.dtype.name)


def becomes(a: Kind, b: Kind) -> bool:
    """True if the dtypes agree, or ``a`` is a Python number that takes the dtype of ``b``; shapes are not compared."""
    if a.dtype == b.dtype:
        return True
    if not a.weak or not a.dtype or not b.dtype:
        return False
    number = {"i": 0, "f": 0.0}[np.dtype(a.dtype).kind]
    return np.result_type(number, np.dtype(b.dtype)) == np.dtype(b.dtype)


def typed(shape: TreeDef, kinds: Iterator[Kind]) -> str:
    """The text of a structure with the words of ``kinds`` in the place of its leaves, in order."""
    return text(shape, (k.word for k in kinds))


Asked = tuple[list[Kind], TreeDef]


def difference(message: str, a: Asked, b: Asked, alike: Any, codes: tuple[str, str]) -> tuple[str, str] | None:
    """``(code, text)`` of the diagnostic if the trees ``a`` and ``b`` differ, else None.

    ``codes`` are that for other structures and that for leaves that are not ``alike(k, l)``; ``message`` has a ``{}`` for each
    tree.
    """
    if a[1] == b[1] and all(alike(k, m) for k, m in zip(a[0], b[0])):
        return None
    texts = [typed(shape, iter(kinds)) for kinds, shape in (a, b)]
    return codes[a[1] == b[1]], message.format(*texts)


INTEGER_HINT = "convert a float with int(...)"


def integer(what: str, value: Any, code: str = "T131") -> Any:
    """The value as an int; raises the diagnostic ``code`` if it is not one integer (an array of rank 0 may be). ``what`` names
    it in messages."""
    wrong = wrong_integer(what, kind_of(value) if np.ndim(value) == 0 else kind_of(np.asarray(value)))
    if wrong is not None:
        raise error(code, wrong, hint=INTEGER_HINT)
    return operator.index(value)


def wrong_integer(what: str, kind: Kind) -> str | None:
    """The message if ``kind`` is not that of one integer, else None; ``what`` names the value in it."""
    if not kind.dtype or np.dtype(kind.dtype).kind not in "iu" or len(kind.shape):
        return f"{what} is {kind.word}, not one integer"
    return None


CARRIED = "the carry of {} is {{}} before the body and {{}} after it"
BRANCHES = "{} returns {{}} from {} and {{}} from {}"
CARRY_HINT = "return a carry of the same structure, shapes and dtypes as the one that the body takes"
BRANCH_HINT = "return the same structure, shapes and dtypes from all branches"


def _asked(value: Any) -> Asked:
    leaves, shape = tree.flatten(value)
    return [kind_of(leaf) for leaf in leaves], shape


def carried(what: str, before: Any, after: Any) -> Any:
    """``after``, the value carried out of an iteration, unchanged, if it is of the kind of ``before``, the value carried in.

    T119 if the structure differs, T206 if the dtype or the shape of a leaf does. An int or float of Python's in ``before`` may
    become a scalar of any dtype that it adopts in arithmetic. ``what`` names the function in messages.
    """
    found = difference(
        CARRIED.format(what), _asked(before), _asked(after),
        lambda a, b: becomes(a, b) and tuple(a.shape) == tuple(b.shape), ("T119", "T206"),
    )  # fmt: skip
    if found is not None:
        raise error(found[0], found[1], hint=CARRY_HINT)
    return after


# ------------------------------------------------------------------------------------------------------- branches


def either(pred: Any, true_fun: Any, true_operands: Any, false_fun: Any, false_operands: Any) -> Any:
    """The result of `cond`: ``true_fun(*true_operands)`` if ``pred`` is true, else that of the other side; T211, T118 or T205
    if invalid."""
    one_truth("pred of cond is", pred)
    _alike("cond", [(true_fun, true_operands), (false_fun, false_operands)], ("true_fun", "false_fun"))
    return true_fun(*true_operands) if pred else false_fun(*false_operands)


def _alike(what: str, sides: Sequence[untaken.Side], names: Sequence[str]) -> None:
    """Raises T118 or T205 unless the results of all ``sides``, pairs of function and operands, agree, also of those not taken.
    ``names`` are theirs in messages."""
    typed_sides = [(f, tree.map(_typed_truth, args)) for f, args in sides]
    found = [(k, tree.flatten(y)) for k, y in untaken.structures(typed_sides, _kind)]
    for (j, a), (k, b) in zip(found, found[1:]):
        wrong = difference(BRANCHES.format(what, names[j], names[k]), a, b, _may_meet, ("T118", "T205"))
        if wrong is not None:
            raise error(wrong[0], wrong[1], hint=BRANCH_HINT)
    if found:
        untaken.passed(typed_sides)


def _typed_truth(leaf: Any) -> Any:
    """A Python bool as a NumPy bool, because the compiler treats Python bools as known values; any other leaf unchanged."""
    return np.bool_(leaf) if type(leaf) is bool else leaf


def _kind(shape: tuple[int | None, ...], dtype: str, is_weak: bool) -> Kind:
    sizes = ", ".join("?" if n is None else str(n) for n in shape)
    word = {"int64": "int", "float64": "float"}[dtype] if is_weak else dtype
    return Kind(dtype, shape, is_weak, f"{word}[{sizes}]" if shape else word)


def _may_meet(a: Kind, b: Kind) -> bool:
    """True if leaves of two branches agree: equal shapes, where a size None, known only at run time, agrees with any, and
    dtypes of which one becomes the other."""
    if len(a.shape) != len(b.shape) or any(None not in (m, n) and m != n for m, n in zip(a.shape, b.shape)):
        return False
    return becomes(a, b) or becomes(b, a)


def one_truth(what: str, value: Any, kinds: str = "biuf") -> Any:
    """The value, unchanged; T211 if it is not one boolean or number whose dtype is of these NumPy ``kinds``. ``what`` is the
    beginning of the message, up to its verb."""
    if not is_one_truth(kind_of(value), kinds):
        is_typed = isinstance(value, (bool, int, float, np.ndarray, np.generic))
        word = kind_of(value).word if is_typed else a_type(value)
        raise not_one(what, word)
    return value


def is_one_truth(kind: Kind, kinds: str) -> bool:
    return not len(kind.shape) and kind.dtype != "" and np.dtype(kind.dtype).kind in kinds


def not_one(what: str, found: str) -> TranspileError:
    return error("T211", f"{what} {found}, not one truth value", hint=TRUTH_HINT)


TRUTH_HINT = "make it one truth value with np.all, np.any or &; to choose between elements, use np.where or select"


def functions(true_fun: Any, false_fun: Any) -> None:
    """Raises T131 unless both arguments of `cond` can be called."""
    for name, value in (("true_fun", true_fun), ("false_fun", false_fun)):
        if not callable(value):
            raise error("T131", f"{name} of cond is {a_type(value)}, not a function", hint=COND_HINT)


def one_of(index: Any, branches: Any, operands: tuple[Any, ...]) -> Any:
    """The result of the branch at ``index``, clipped to the valid range, of a `switch`; T131, T118 or T205 if the arguments are
    invalid."""
    wrong = wrong_branches(branches) or wrong_integer("the index of switch", kind_of(index))
    if wrong is not None:
        raise error("T131", wrong, hint=SWITCH_HINT)
    _alike("switch", [(f, operands) for f in branches], [f"branch {k}" for k in range(len(branches))])
    return branches[min(max(operator.index(index), 0), len(branches) - 1)](*operands)


def wrong_branches(branches: Any) -> str | None:
    """The message if the branches of a switch are invalid, else None."""
    if callable(branches):
        return "the branches of switch are one function, not a sequence of functions"
    if not isinstance(branches, Sequence) or not all(map(callable, branches)):
        return "the branches of switch are not a sequence of functions"
    return None if len(branches) else "switch has no branches"


def selected(pred: Any, on_true: Any, on_false: Any) -> None:
    """Raises T201 or T203 if the arguments of `select` are invalid."""
    found = wrong_selection(
        *(kind_of(np.asarray(v) if isinstance(v, (list, tuple)) else v) for v in (pred, on_true, on_false))
    )
    if found is not None:
        raise error(found[0], found[1], hint=found[2])


def wrong_selection(pred: Kind, a: Kind, b: Kind, same: Any = lambda p, q: tuple(p) == tuple(q)) -> Any:
    """Code, text and hint of the diagnostic if the arguments of `select` are invalid, else None; ``same`` compares two
    shapes."""
    if len(a.shape) != len(b.shape) or not same(a.shape, b.shape):
        return "T203", f"the arrays of select have different shapes: {a.word} and {b.word}", SELECT_HINT
    if not becomes(a, b) and not becomes(b, a):
        return "T201", f"the arrays of select have different dtypes: {a.word} and {b.word}", CAST_HINT
    if len(pred.shape) and (len(pred.shape) != len(a.shape) or not same(pred.shape, a.shape)):
        return "T203", f"pred of select is {pred.word}, which does not fit arrays of type {a.word}", SELECT_HINT
    if pred.dtype == "bool":
        return None
    return "T201", f"pred of select is {pred.word}, not bool", "write a comparison, as in pred != 0"


SELECT_HINT = "give all three one shape, with np.broadcast_to, or use np.where, which broadcasts"
CAST_HINT = "convert it with .astype(...)"


# ---------------------------------------------------------------------------------------------------------- scans


def unrolled(what: str, given: Any, name: str = "unroll") -> None:
    """Raises T131 unless ``given``, the argument ``name`` of the function ``what``, is a boolean or an integer of at least
    0."""
    wrong = wrong_unrolling(what, given, name)
    if wrong is not None:
        raise error("T131", wrong, hint=UNROLL_HINT)


def wrong_unrolling(what: str, given: Any, name: str) -> str | None:
    """The message if ``given``, the argument ``name`` of ``what``, is not a boolean or an integer of at least 0, else None."""
    if np.ndim(given) == 0 and np.asarray(given).dtype.kind in "biu" and given >= 0:
        return None
    return f"{name} of {what} is {given!r}, not a truth value or an integer of at least 0"


UNROLL_HINT = "leave it out: it has no effect here"


def length(what: str, xs: Any, given: Any) -> int:
    """The common number of rows of the leaves of ``xs``; if it has none, ``given``, the length.

    T203 if two of these differ, if there is neither, or if a leaf is a number; T131 if ``given`` is not an integer.
    """
    leaves = tree.leaves(xs)
    if any(np.ndim(x) == 0 for x in leaves):
        raise error("T203", no_rows(what), hint=ROWS_HINT)
    lengths = [len(x) for x in leaves] + ([] if given is None else [integer(f"the length of {what}", given)])
    if not lengths:
        raise error("T203", no_length(what), hint=ROWS_HINT)
    if len(set(lengths)) > 1:
        raise error("T203", different_rows(what, lengths), hint=ROWS_HINT)
    return lengths[0]


def no_rows(what: str) -> str:
    return f"{what} over a number, which has no rows"


def no_length(what: str) -> str:
    return f"the number of iterations of {what} is not known: xs has no arrays, and length is not given"


def different_rows(what: str, lengths: Sequence[Any]) -> str:
    return f"{what} over arrays with different numbers of rows: {' and '.join(map(str, dict.fromkeys(lengths)))}"


def is_nothing(n: int) -> bool:
    return n == 0


def row(xs: Any, k: int) -> Any:
    """The tree of row ``k`` of each leaf of ``xs``."""
    return tree.map(lambda x: x[k], xs)


def pair(found: Any) -> Any:
    """``found``, what the function of `scan` returned, unchanged; T131 unless it is a pair."""
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        shown = typed(*reversed(_asked(found)))  # type: ignore[arg-type]
        raise error("T131", no_pair(shown), hint=PAIR_HINT)
    return found


PAIR_HINT = "return (carry, None) if there is no y"


def no_pair(shown: str) -> str:
    return f"the function of scan returns {shown}, not a pair (carry, y)"


def now(y: Any) -> Any:
    """A copy of the tree, whose arrays share no memory with those of ``y``, to keep its present values."""
    return tree.map(lambda x: x.copy() if isinstance(x, np.ndarray) else x, y)


def stacked(ys: Sequence[Any], reverse: bool) -> Any:
    """The trees, in order (``reverse``: last one first), stacked into one: each leaf is an array with a row for each tree.

    T119 if a tree has another structure than the first, T206 for leaves of another shape.
    """
    first, shape = tree.flatten(ys[0])
    for y in ys[1:]:
        found = difference(
            "the y of scan is {} in one iteration and {} in another", (list(map(kind_of, first)), shape), _asked(y),
            lambda a, b: tuple(a.shape) == tuple(b.shape), ("T119", "T206"),
        )  # fmt: skip
        if found is not None:
            raise error(found[0], found[1], hint="return a y of the same structure and shapes in each iteration")
    columns = [np.stack(column) for column in zip(*(tree.leaves(y) for y in ys))]
    return shape.unflatten([c[::-1] if reverse else c for c in columns])


def equally_long(left: Sequence[Any], right: Sequence[Any]) -> None:
    """States that two lists of slices have equal shapes, so that transformed code needs no check; does nothing here."""


def cumulative(what: str, operand: Any, axis: Any, kinds: str = "iuf") -> None:
    """Raises T201 if ``operand`` is not an array of a dtype of these ``kinds``, T203 if ``axis`` is none of its axes, T131 if
    it is no integer."""
    found = wrong_cumulative(what, kind_of(operand), kinds, integer(f"the axis of {what}", axis))
    if found is not None:
        raise error(found[0], found[1], hint=found[2])


def wrong_cumulative(what: str, kind: Kind, kinds: str, axis: int) -> tuple[str, str, str] | None:
    """Code, text and hint of the diagnostic if an array of this kind has no running sum along ``axis``, else None; ``what``
    names the function."""
    if not kind.dtype or np.dtype(kind.dtype).kind not in kinds:
        wanted = "floats" if kinds == "f" else "numbers"
        return "T201", f"{what} takes an array of {wanted}, not {kind.word}", CAST_HINT
    rank = len(kind.shape)
    if -rank <= axis < rank:
        return None
    return "T203", f"{what} along axis {axis}, but the array has rank {rank}", AXES_HINT


AXES_HINT = "axes count from 0, or from -1 at the end"


def along(axis: int, start: int, stop: int, step: int) -> Any:
    """The index of an array that is ``start:stop:step`` along ``axis``, which may be negative, and whole along the other
    axes."""
    if axis < 0:
        return (..., slice(start, stop, step), *[slice(None)] * (-axis - 1))
    return (*[slice(None)] * axis, slice(start, stop, step))


# ------------------------------------------------------------------------------------------------------ solutions


def callables(what: str, **functions: Any) -> None:
    """Raises T131 unless each of ``functions``, arguments by name of ``what``, can be called."""
    for name, value in functions.items():
        if not callable(value):
            raise no_function(what, name, a_type(value))


def no_function(what: str, name: str, word: str) -> TranspileError:
    return error("T131", f"{name} of {what} is {word}, not a function", hint="pass a function, not what it returns")


def a_type(value: Any) -> str:
    """The name of a value's type with an article: ``a list``, ``an array``; ``None`` for None."""
    name = "array" if isinstance(value, np.ndarray) else type(value).__name__
    return "None" if value is None else with_article(name)


def solution(what: str, wanted: str, solved: Any, like: Any, has_aux: bool, f: Callable[[Any], Any]) -> Any:
    """``solved``, what the user's solver returned, unchanged; with ``has_aux`` a pair of the solution and an auxiliary value.

    T308 if ``has_aux`` and it is no pair, T302 unless all leaves of the solution are floats, T307 unless the solution and ``f``
    of it have the structure and the ranks of ``like``. In messages ``what`` names the function called, and ``wanted`` stands
    for ``f``.
    """
    if has_aux and not (isinstance(solved, (tuple, list)) and len(solved) == 2):
        raise error("T308", AUX, hint=AUX_HINT)
    found = solved[0] if has_aux else solved
    if any(not k.dtype or np.dtype(k.dtype).kind != "f" for k in _asked(found)[0]):
        raise error("T302", NO_FLOATS, hint=FLOATS_HINT)
    for part, value in ((f"solve of {what}", lambda: found), (wanted, lambda: f(found))):
        wrong = unlike(part, _asked(value()), _asked(like))
        if wrong is not None:
            raise error("T307", wrong, hint=SOLUTION_HINT)
    return solved


def same_side(solved: Any, b: Any, has_aux: bool) -> Any:
    """``solved``, what the solver of `custom_linear_solve` returned; T307 unless its solution has the dtypes of ``b``, whose
    integers count as float64."""
    found, side = _asked(solved[0] if has_aux else solved), _asked(b)
    wanted = [k.dtype if np.dtype(k.dtype).kind == "f" else "float64" for k in side[0]]
    if [k.dtype for k in found[0]] != wanted:
        texts = [typed(shape, iter(kinds)) for kinds, shape in (found, side)]
        raise error("T307", f"the solution of custom_linear_solve is {texts[0]}, but 'b' is {texts[1]}", hint=SIDE_HINT)
    return solved


SIDE_HINT = "return a solution of the same structure, shapes and dtypes as 'b'"


def unlike(what: str, found: Asked, like: Asked) -> str | None:
    """The message if the trees ``found``, the result of ``what``, and ``like`` differ in structure or ranks, else None; dtypes
    may differ, but must be there."""
    if found[1] == like[1] and all(
        len(a.shape) == len(b.shape) and a.dtype and b.dtype for a, b in zip(*found[:1], like[0])
    ):
        return None
    texts = [typed(shape, iter(kinds)) for kinds, shape in (found, like)]
    return f"{what} returns {texts[0]}, but the solution is {texts[1]}"


AUX = "has_aux=True: solve must return a pair (solution, auxiliary)"
AUX_HINT = "return a pair, or leave has_aux out"
NO_FLOATS = "the solution is not floating-point"
FLOATS_HINT = "start from a float: 1.0 instead of 1"
SOLUTION_HINT = "return the same structure and shapes as the solution"

# --------------------------------------------------------------------------------------------------------- slices


def starts(what: str, operand: Any, given: Any, sizes: Sequence[int]) -> Any:
    """The start indices, as a tuple of ints, of a slice of these sizes, moved so that the slice lies in the array; negative
    ones of ``given`` count from the end.

    T203 if sizes or the number of entries do not fit, T131 for a size and T207 for an index that is not an integer.
    """
    shape = np.shape(operand)
    if np.ndim(given) == 0 or np.ndim(sizes) == 0:
        raise error("T203", one_number(what), hint=EACH_AXIS_HINT)
    if not len(given) == len(sizes) == len(shape):
        raise error("T203", wrong_numbers(what, len(shape), len(given), len(sizes)), hint=EACH_AXIS_HINT)
    for n, size in zip(shape, sizes):
        at_most(what, size, n)
    places = [integer(f"an index of {what}", k, "T207") for k in given]
    return tuple(min(max(k + n if k < 0 else k, 0), n - size) for k, n, size in zip(places, shape, sizes))


EACH_AXIS_HINT = "give one for each axis: (i, j)"


def wrong_numbers(what: str, rank: int, starts: int, sizes: int) -> str:
    return f"{what} of an array of rank {rank}, with {starts} indices and {sizes} sizes"


def one_number(what: str) -> str:
    return f"{what} takes an index and a size for each axis, not one number"


def last_axis(what: str, operand: Any) -> int:
    """The size of the last axis, as an int; T203 for a number."""
    if np.ndim(operand) == 0:
        raise error("T203", no_axis(what), hint=NO_AXIS_HINT)
    return int(np.shape(operand)[-1])


def no_axis(what: str) -> str:
    return f"{what} of a number, which has no axis"


NO_AXIS_HINT = "pass an array"


def at_most(what: str, size: int, n: int) -> None:
    """Raises T203 unless ``size`` lies between 0 and ``n``, the size of the axis; T131 if it is not an integer."""
    integer(f"a size of {what}", size)
    if not 0 <= size <= n:
        takes, of = TOO_MANY
        raise error("T203", f"{what}{takes}{size}{of}{n}", hint=TOO_MANY_HINT)


TOO_MANY = (" takes ", " elements of an axis of size ")  # before the size, and before that of the axis
TOO_MANY_HINT = "a size lies between 0 and the size of the axis"


def part(operand: Any, starts: Sequence[int], sizes: Sequence[int]) -> Any:
    """A copy of the slice of these sizes that begins at ``starts``."""
    return np.array(operand[_box(starts, sizes)])


def replaced(operand: Any, starts: Sequence[int], update: Any) -> Any:
    """A copy of ``operand`` with ``update`` in the slice of its shape that begins at ``starts``."""
    done = np.array(operand)
    done[_box(starts, np.shape(update))] = update
    return done


def _box(starts: Sequence[int], sizes: Sequence[int]) -> Any:
    return tuple(slice(k, k + n) for k, n in zip(starts, sizes))


def same_dtype(what: str, operand: Any, update: Any) -> None:
    """Raises T201 unless the array and its update have the same dtype; ``what`` names the function."""
    a, b = kind_of(operand), kind_of(update)
    if a.dtype != b.dtype or not a.dtype:
        raise error("T201", other_dtype(what, a, b), hint=CAST_HINT)


def other_dtype(what: str, a: Kind, b: Kind) -> str:
    return f"{what}: the array is {a.dtype or a.word}, the update {b.dtype or b.word}"
