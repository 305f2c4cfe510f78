"""Combines the size checks of each argument into one check with one message.

    if p != n: raise ...                 if y.shape != (n,):
                               ->            raise ValueError(f"logistic.py:8: y has shape {y.shape}, expected {(n,)}")

Printed text omits a check that a matrix product of the same two arguments makes itself. Compiled code keeps all tests, from
which it learns which sizes are equal; their messages are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from transpile.aggregates import Node, leaf_paths
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import BOOL, INT, Type
from transpile.errors import short_path
from transpile.ops.tables import record_of
from transpile.ops.traits import NOT_EQUAL


@dataclass(frozen=True)
class _Check:
    """The condition that ``param.shape[axis]`` equals ``size``, a constant or the size of another parameter.

    ``other`` is that parameter and its axis, None for a constant; ``where`` is the beginning of the message.
    """

    param: ir.Var
    axis: int
    size: ir.Operand
    other: tuple[ir.Var, int] | None
    loc: ir.Loc
    where: str


def say_guards(fn: ir.Function, is_printed: bool = True) -> ir.Function:
    """The function with the size checks at its top level combined: one check of the whole shape for each parameter.

    There are several if an axis is checked more than once; what a matrix product checks itself is left out. Without
    ``is_printed`` each check stays where it is, and only its message is the combined one. ``fn`` itself if there are no size
    checks.
    """
    sizes: dict[ir.Var, tuple[ir.Var, int]] = {}
    for stmt in fn.body.stmts:
        if (
            isinstance(stmt, ir.Let)
            and stmt.prim == "dim"
            and isinstance(stmt.args[0], ir.Var)
            and stmt.args[0] in fn.params
        ):
            sizes[stmt.var] = (stmt.args[0], stmt.params["axis"])
    if not sizes:
        return fn
    canonical = {op for op in fn.symbols.values() if isinstance(op, ir.Var)}
    tests = {s.var: s for s in fn.body.stmts if isinstance(s, ir.Let) and record_of(s).relation is NOT_EQUAL}
    checks: dict[int, _Check] = {}
    for k, stmt in enumerate(fn.body.stmts):
        found = _check(stmt, tests, sizes, canonical, fn.loc)
        if found is not None:
            checks[k] = found
    if not checks:
        return fn
    by_param: dict[ir.Var, list[_Check]] = {}
    for check in checks.values():
        by_param.setdefault(check.param, []).append(check)
    stmts: list[ir.Stmt] = []
    for k, stmt in enumerate(fn.body.stmts):
        if k not in checks:
            stmts.append(stmt)
            continue
        if not is_printed:
            layer = next(layer for layer in _layers(by_param[checks[k].param]) if _is_in(checks[k], layer))
            stmts.append(_told(stmt, checks[k].param, layer, fn))
            continue
        together = by_param.pop(checks[k].param, None)
        for layer in _layers(together or ()):
            open_ = [c for c in layer if not _is_made_by_product(c, fn)]
            if open_:
                stmts += _guard(open_, layer, fn)
    return replace(fn, body=replace(fn.body, stmts=stmts))


def _layers(checks: Sequence[_Check]) -> list[list[_Check]]:
    """The checks of a parameter in layers with at most one check for each axis; each layer is tested as one shape.

    A check that repeats one of an earlier layer is left out.
    """
    layers: list[dict[int, _Check]] = []
    for check in checks:
        if any(check.axis in layer and layer[check.axis].size == check.size for layer in layers):
            continue
        free = next((layer for layer in layers if check.axis not in layer), None)
        if free is None:
            free = {}
            layers.append(free)
        free[check.axis] = check
    return [list(layer.values()) for layer in layers]


def _check(
    stmt: ir.Stmt,
    tests: Mapping[ir.Var, ir.Let],
    sizes: Mapping[ir.Var, tuple[ir.Var, int]],
    canonical: set[ir.Var],
    at: ir.Loc,
) -> _Check | None:
    """The size check that a statement makes, or None: a branch on ``a != b`` that only raises an error about these two sizes.

    ``tests``: results of comparisons by ``!=``; ``sizes``: variable to the parameter and axis whose size it is; ``canonical``:
    those that a symbol stands for, which are never what is checked; ``at``: the place of a check without one of its own.
    """
    if not isinstance(stmt, ir.If) or stmt.results or stmt.orelse.stmts or len(stmt.then.stmts) != 1:
        return None
    effect = stmt.then.stmts[0]
    made = tests.get(stmt.test) if isinstance(stmt.test, ir.Var) else None
    if made is None or not isinstance(effect, ir.Raise) or len(effect.args) != 2:
        return None
    if tuple(effect.args) != tuple(made.args) or effect.sizes_at is None:
        return None
    a, b = made.args
    for size, wanted in ((a, b), (b, a)):
        if isinstance(size, ir.Var) and size in sizes and size not in canonical:
            if isinstance(wanted, ir.Const) or wanted in sizes:
                where = effect.sizes_at
                if not where and at.line:  # sizes required by the request, not by a statement
                    where = f"{short_path(at.file)}:{at.line}: "
                return _Check(*sizes[size], wanted, sizes.get(wanted), stmt.loc, where)  # type: ignore[arg-type]
    return None


def _is_made_by_product(check: _Check, fn: ir.Function) -> bool:
    """Whether the function has a matrix product of the two parameters that compares the same two axes, so the check can go."""
    if check.other is None:
        return False
    mine, theirs = (check.param, check.axis), check.other
    for stmt in fn.body.stmts:
        if (
            isinstance(stmt, ir.Let)
            and stmt.prim in ("matmul", "dot")
            and all(isinstance(a, ir.Var) for a in stmt.args)
        ):
            x, y = stmt.args
            inner = {(x, x.type.rank - 1), (y, max(y.type.rank - 2, 0))}
            if inner == {mine, theirs}:
                return True
    return False


def _is_in(check: _Check, layer: Sequence[_Check]) -> bool:
    """Whether the layer has a check of the same axis and size."""
    return any(c.axis == check.axis and c.size == check.size for c in layer)


def _told(stmt: ir.Stmt, param: ir.Var, layer: Sequence[_Check], fn: ir.Function) -> ir.Stmt:
    """The check ``stmt`` with the whole shape of ``param`` in its message; the test stays.

    Expected are the sizes that ``layer`` checks, and the actual ones for the other axes.
    """
    assert isinstance(stmt, ir.If)
    (raised,) = stmt.then.stmts
    assert isinstance(raised, ir.Raise)
    before: list[ir.Stmt] = []
    wanted = {c.axis: c.size for c in layer}
    given: list[ir.Operand] = []
    for axis in range(param.type.rank):
        size = ir.Var(ir.SYNTHETIC, INT)
        before.append(ir.Let(size, "dim", (param,), {"axis": axis}, raised.loc))
        given.append(size)
    asked = [wanted.get(axis, given[axis]) for axis in range(param.type.rank)]
    parts = (
        f"{layer[0].where}{_path(param, fn)} has shape ",
        *_numbers(given, 0),
        ", expected ",
        *_numbers(asked, len(given)),
    )
    args = (*given, *asked)
    return replace(stmt, then=ir.Block((), [*before, replace(raised, args=args, parts=parts, sizes_at=layer[0].where)]))


def _numbers(sizes: Sequence[ir.Operand], first: int) -> tuple[object, ...]:
    """The parts of a message that print operands as a tuple, such as ``(3, 4)`` or ``(3,)``.

    Each of the ``sizes``, constants too, is one slot of the message: ``first``, ``first + 1``, ... Only their number is used.
    """
    parts: list[object] = ["("]
    for k in range(len(sizes)):
        parts += [*([", "] if k else []), (first + k, "", "")]
    return (*parts, ",)" if len(sizes) == 1 else ")")


def _path(param: ir.Var, fn: ir.Function) -> str:
    """The Python spelling of a parameter: its name, or the path of a leaf of an argument, as ``params['w']``."""
    for spec in fn.arg_tree or ():
        if isinstance(spec.tree, Node):
            for path, leaf in leaf_paths(spec.tree, spec.name):
                if fn.params[leaf.k] is param:
                    return path
    return param.name


def _guard(checks: Sequence[_Check], known: Sequence[_Check], fn: ir.Function) -> list[ir.Stmt]:
    """The statements of one check that the shape of a parameter is the expected one; they raise ValueError with both shapes.

    Of ``checks``, not empty, the first gives the parameter and the location; ``known`` are the checks whose sizes are expected,
    and axes without one are expected to have the size that their type says.
    """
    param, loc = checks[0].param, checks[0].loc
    wanted = {c.axis: c.size for c in known}
    stmts: list[ir.Stmt] = []
    for axis, dim in enumerate(param.type.dims):
        if axis not in wanted:
            wanted[axis] = _size(param, axis, dim, fn, stmts)
    operands = tuple(wanted[axis] for axis in range(param.type.rank))
    test, shape, expected = (
        ir.Var(ir.SYNTHETIC, BOOL),
        ir.Var(ir.SYNTHETIC, Type("int64", (Dim(1),))),
        ir.Var(ir.SYNTHETIC, Type("int64", (Dim(1),))),
    )
    stmts.append(ir.Let(test, "shape_differs", (param, *operands), {}, loc))
    then: list[ir.Stmt] = [
        ir.Let(shape, "shape_of", (param,), {}, loc),
        ir.Let(expected, "shape_tuple", operands, {}, loc),
        ir.Raise(
            (shape,) if all(isinstance(o, ir.Const) for o in operands) else (shape, expected),
            "ValueError",
            (f"{checks[0].where}{_path(param, fn)} has shape ", (0, "", ""), *_said(operands)),
            is_check=True,
            sizes_at=checks[0].where,
            loc=loc,
        ),
    ]
    return [*stmts, ir.If(test, ir.Block((), then), ir.Block(), (), loc)]


def _said(operands: Sequence[ir.Operand]) -> tuple[object, ...]:
    """The end of the message, from the expected sizes: as text if they are constants, else as the operand in slot 1."""
    if all(isinstance(o, ir.Const) for o in operands):
        return (f", expected {tuple(o.value for o in operands)}",)  # type: ignore[union-attr]
    return (", expected ", (1, "", ""))


def _size(param: ir.Var, axis: int, dim: Dim, fn: ir.Function, stmts: list[ir.Stmt]) -> ir.Operand:
    """The operand for the size ``dim`` of an axis: a constant, or the operand of its symbol.

    If it has none, a statement that reads the size from ``param`` is appended to ``stmts``.
    """
    if dim.is_const:
        return ir.Const(dim.const, INT)
    name = dim.as_symbol
    if name is not None and name in fn.symbols:
        return fn.symbols[name]
    size = ir.Var(f"{param.name}_{axis}", INT)
    stmts.append(ir.Let(size, "dim", (param,), {"axis": axis}))
    return size
