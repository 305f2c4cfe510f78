"""Lifting of `transpile.vmap`: the function is lifted for arguments without their lane axes, then batched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transpile.aggregates import ArgLeaf, Leaf, Tree, leaf_paths, map_leaves, number_leaves, walk_leaves
from transpile.base.axes import Axis, axes_text, of_arguments, spread
from transpile.base.axis_names import NamedAxis, binding
from transpile.base.levels import COMPILED, Lift, Vmap
from transpile.base.matching import leaf_sources
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.taken import Taken
from transpile.core.walk import statements, written
from transpile.driver import docstrings
from transpile.driver.arguments import argument_text
from transpile.errors import error
from transpile.frontend.values import changes
from transpile.transform.batching import batch


def batched(level: Vmap, inner: Lift, fn: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> ir.Function:
    """The core function of ``fn``, lifted by ``inner(fn, args, kwargs)`` for the arguments of one lane, batched along the axes
    of ``level``."""
    where: list[tuple[Tree, int | str]] = [*((a, k) for k, a in enumerate(args)), *((a, k) for k, a in kwargs.items())]
    wanted = [*of_arguments(level.in_axes, args), *(0 for tree in kwargs.values() for _ in walk_leaves(tree))]
    leaves = _Leaves(fn, wanted)
    one = [leaves.without_lanes(tree, at) for tree, at in where]
    count = leaves.count(level.axis_size)
    axis = None
    if level.axis_name is not None:
        axis = NamedAxis(level.axis_name, leaves.size if count is None else count, count is not None)
    with binding(axis):
        core = inner(fn, one[: len(args)], dict(zip(kwargs, one[len(args) :])))
    changes.stand_for(
        [leaf for tree, _ in where for leaf in walk_leaves(tree)], [x for t in one for x in walk_leaves(t)]
    )
    numbered, _ = number_leaves([*args, *kwargs.values()])
    sources = leaf_sources(core.arg_tree, numbered[: len(args)], dict(zip(kwargs, numbered[len(args) :])))
    own = len(core.params) - len(core.captured)
    # further parameters of a level below (the seeds of an emitted jvp) have their lanes along axis 0
    axes = [None if k >= own else leaves.axes[sources[k]] if k in sources else 0 for k in range(len(core.params))]
    _refuse_writes(core, axes)
    outs = _of_results(level, core)
    if not any(a is not None for a in axes) and count is None:
        count = 1 if leaves.size is None else leaves.size  # no leaf with lanes is read
    at = core.captured.index(axis) if axis in core.captured else None
    named = None if at is None else own + at
    done = batch(core, axes, outs, count=count, together=COMPILED.get(), axis=named)
    tree = map_leaves(core.out_tree, lambda leaf: Leaf(leaf.k, leaf.zero_dim and outs[leaf.k] is None))
    captured = tuple(c for c in core.captured if c is not axis)
    taken = _shifted(core.taken, axes, at)
    done = replace(done, arg_tree=core.arg_tree, out_tree=tree, taken=taken, captured=captured)
    return replace(done, doc=docstrings.batched(core, done))


SHARED = "write in_axes=None for what the whole batch shares"


class _Leaves:
    """The lane axis of each leaf of a call, and the number of lanes if there are examples."""

    def __init__(self, fn: Any, wanted: Sequence[Axis]) -> None:
        self.fn, self.wanted = fn, wanted
        self.axes: list[Axis] = []
        self.size: int | None = None
        self.first = ""

    def without_lanes(self, tree: Tree, at: int | str) -> Tree:
        """The tree of the argument at ``at``, a position or name, with each leaf as one lane has it; records the lane axis of
        each."""
        number = iter(range(len(self.axes), len(self.axes) + sum(1 for _ in walk_leaves(tree))))
        start = len(self.axes)
        return map_leaves(tree, lambda leaf: self.leaf(leaf, next(number), lambda k: self.text(tree, at, k - start)))

    def text(self, tree: Tree, at: int | str, k: int) -> str:
        return argument_text(self.fn, at, tree, k)

    def leaf(self, leaf: ArgLeaf, k: int, text: Any) -> ArgLeaf:
        """Leaf ``k`` of the call as one lane has it, an `ArgLeaf` without the lane axis; T601 if it has no such axis, T602 if
        the number of lanes differs. ``text(k)`` is its text for messages."""
        axis = self.wanted[k]
        if axis is None:
            self.axes.append(None)
            return leaf
        rank = leaf.type.rank
        if not -rank <= axis < rank:
            has = f"has axes 0 to {rank - 1}" if rank > 1 else "has only axis 0" if rank else "is a number"
            hint = SHARED if not rank else "axes count from 0, or from -1 at the end"
            raise error("T601", f"in_axes is {axis}, but {text(k)} {has}", hint=hint)
        axis %= rank
        self.axes.append(axis)
        dims = leaf.type.dims
        type_ = replace(leaf.type, dims=(*dims[:axis], *dims[axis + 1 :]))
        if leaf.example is None:
            return ArgLeaf(type_)
        size = leaf.example.shape[axis]
        if self.size is None:
            self.size, self.first = size, f"{text(k)} along axis {axis}"
        elif size != self.size:
            message = f"{self.first} has size {self.size}, but {text(k)} along axis {axis} has size {size}"
            raise error("T602", message, hint=f"{SHARED}, or the batch axis of each argument")
        return ArgLeaf(type_, _lane(leaf.example, axis))

    def count(self, given: int | None) -> int | None:
        """``given``, the ``axis_size``, if no argument has a lane axis, else None; T601 if it is needed and None, T602 if it is
        not the number of lanes."""
        if not any(a is not None for a in self.axes):
            if given is None:
                hint = "write the batch axis of an argument in in_axes, or pass axis_size"
                raise error("T601", "in_axes is None for all arguments", hint=hint)
            return given
        if given is not None and self.size is not None and given != self.size:
            hint = "leave axis_size out: it is only needed if in_axes is None for all arguments"
            raise error("T602", f"axis_size is {given}, but {self.first} has size {self.size}", hint=hint)
        return None


def of_all_lanes(level: Vmap, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> tuple[list[Tree], dict[str, Tree]]:
    """The argument trees of the batched function, positional and by name, from those of one lane: each leaf's type has a lane
    axis added where ``level.in_axes`` says."""
    axes = iter([*of_arguments(level.in_axes, args), *(0 for tree in kwargs.values() for _ in walk_leaves(tree))])

    def leaf(leaf: ArgLeaf) -> ArgLeaf:
        axis, dims = next(axes), leaf.type.dims
        if axis is None:
            return leaf
        at = axis if axis >= 0 else axis + len(dims) + 1
        return ArgLeaf(replace(leaf.type, dims=(*dims[:at], Dim.symbol("?lanes"), *dims[at:]), weak=False))

    positional = [map_leaves(tree, leaf) for tree in args]
    return positional, {name: map_leaves(tree, leaf) for name, tree in kwargs.items()}


def _lane(example: np.ndarray, axis: int) -> Any:
    """The first lane of an example along ``axis``, without that axis; ones if there are no lanes."""
    if example.shape[axis]:
        return np.take(example, 0, axis)
    found = np.ones((*example.shape[:axis], *example.shape[axis + 1 :]), example.dtype)
    return found if found.ndim else found[()]


def _refuse_writes(core: ir.Function, axes: Sequence[Axis]) -> None:
    """Raises T603 if the function writes into a parameter without a lane axis, which all lanes share."""
    for param, axis in zip(core.params, axes):
        if param.buffer and axis is None:
            hint = "write its batch axis in in_axes, or write into a .copy() of it"
            message = f"{core.title!r} writes into {param.name!r}, which all lanes of the batch share"
            at = next((s.loc for s in statements(core.body) if written(s) is param), core.loc)
            raise error("T603", message, at, hint)


def _of_results(level: Vmap, core: ir.Function) -> list[Axis]:
    """The lane axis of each result, counted from the front; None for a result that all lanes share. T601 for one out of
    range."""
    wanted = spread(level.out_axes, core.out_tree, "out_axes", core.loc)
    paths = {leaf.k: path for path, leaf in leaf_paths(core.out_tree, "the result")}
    found: list[Axis] = [None] * len(core.body.yields)
    for leaf, axis in zip(walk_leaves(core.out_tree), wanted):
        assert isinstance(leaf, Leaf)
        rank = core.body.yields[leaf.k].type.rank + 1
        if axis is not None and not -rank <= axis < rank:
            has = f"{paths[leaf.k]} of {core.title!r} has {rank} ax{'is' if rank == 1 else 'es'}, with the batch axis"
            message = f"out_axes is {axes_text(level.out_axes)}, but {has}"
            raise error("T601", message, core.loc, "axes count from 0, or from -1 at the end")
        found[leaf.k] = None if axis is None else axis % rank
    return found


def _shifted(taken: Taken, axes: Sequence[Axis], named: int | None) -> Taken:
    """The assumptions about sizes, with axes counted in the batched arguments, whose lane axes are ``axes``.

    ``named`` is the index, among captured parameters, of the one that stands for the named axis, or None; it is removed, and
    its size is read from the first argument with lanes.
    """

    def shifted(param: int, axis: int) -> tuple[int, int]:
        if named is not None and param < 0:
            if -1 - param == named:
                return next((k, lanes) for k, lanes in enumerate(axes) if lanes is not None)
            return param + (-1 - param > named), axis
        lanes = axes[param] if param >= 0 else None
        return param, axis + (lanes is not None and axis >= lanes)

    return replace(taken, where={name: shifted(*at) for name, at in taken.where.items()})
