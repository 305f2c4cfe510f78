"""Lifting of each level: the wrapped function is lifted to core, which is transformed together with its trees.

``inner`` lifts the wrapped function (a further level or the user's function). Leaves keep their order from the call to the
innermost function, so that a leaf has the same number on every level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transpile.aggregates import ArgSpec, Leaf, Node, Static, Tree, leaf_numbers, map_leaves, number_leaves, walk_leaves
from transpile.base.levels import (
    COMPILED,
    Flat,
    Grad,
    Jacobian,
    Jit,
    Level,
    Lift,
    Pullback,
    Pushforward,
    Transpose,
    Vmap,
    level_of,
)
from transpile.base.matching import call_trees, leaf_sources
from transpile.core import nodes as ir
from transpile.core.rebuild import with_results
from transpile.custom import is_method
from transpile.driver import docstrings
from transpile.driver.arguments import (
    IGNORED,
    as_given,
    check_like,
    differentiable,
    float_results,
    refuse_early,
    scalar_first,
    select,
    split_aux,
    two_tuples,
    without_numbers,
)
from transpile.driver.lane_lift import batched
from transpile.transform.jacobian import by_columns, by_rows
from transpile.transform.jvp import jvp
from transpile.transform.transposition import transpose
from transpile.transform.vjp import vjp

Args = Sequence[Tree]
Kwargs = Mapping[str, Tree]


def lift(function: Lift, target: Any, args: Args, kwargs: Kwargs) -> ir.Function:
    """The core function of ``target``, a stack of transforms, with all levels applied; ``function(target, args, kwargs)`` lifts
    the innermost function."""

    def inner(target: Any, args: Args, kwargs: Kwargs) -> ir.Function:
        level = None if is_method(target) else level_of(target)
        if level is None:
            found: ir.Function = function(target, args, kwargs)
            return found
        return _LIFTS[type(level)](level, inner, target.__wrapped__, args, kwargs)

    return inner(target, args, kwargs)


def _same(level: Level, inner: Lift, fn: Any, args: Args, kwargs: Kwargs) -> ir.Function:
    return inner(fn, args, kwargs)


def _gradient(level: Grad, inner: Lift, fn: Any, args: Args, kwargs: Kwargs) -> ir.Function:
    """The core of `grad`: its results are the value (if ``level.value``), the auxiliary results, then the adjoints of the
    chosen leaves."""
    refuse_early(fn, args, kwargs, level.argnums, level.argnames)
    core = inner(fn, args, kwargs)
    chosen, shape = select(core, level.argnums, level.argnames, len(args), tuple(kwargs), fn)
    wrt = differentiable(core, chosen)
    main, aux = split_aux(core, fn) if level.has_aux else (core.out_tree, Static(None))
    core = scalar_first(core, main, aux, fn)
    n_aux = len(core.body.yields) - 1
    done = vjp(core, wrt, value=level.value, seeds=False, aux=n_aux)
    # results: the value if wanted, the auxiliary ones, the adjoints
    lead = int(level.value)
    (aux_tree,), _ = number_leaves([aux], start=lead)
    given = [*(leaf for t in (*args, *kwargs.values()) for leaf in walk_leaves(t))]
    trees, _ = number_leaves([as_given(tree, given) for _, tree in chosen], start=lead + n_aux)
    gradient = shape(trees)
    doc = docstrings.gradient(core, chosen, level.value)
    value = Leaf(0, any(leaf.zero_dim for leaf in walk_leaves(main)))
    return replace(done, arg_tree=core.arg_tree, out_tree=_results(level, value, gradient, aux_tree), doc=doc)


def _results(level: Grad, value: Leaf, gradient: Tree, aux: Tree) -> Tree:
    """The structure of the result of `grad`: ``(value, gradient)``, ``((value, aux), gradient)``, ``(gradient, aux)`` or the
    gradient, as JAX has them."""
    if level.value:
        return _pair(_pair(value, aux) if level.has_aux else value, gradient)
    return _pair(gradient, aux) if level.has_aux else gradient


def _pair(a: Tree, b: Tree) -> Node:
    return Node("tuple", (a, b))


def _pushforward(level: Pushforward, inner: Lift, fn: Any, args: Args, kwargs: Kwargs) -> ir.Function:
    """The core of `jvp`: it takes the primals and then the tangents of their float leaves, and returns the value (if
    ``level.value``) and the tangents of float results, None for others."""
    primals, tangents = two_tuples(args, kwargs, "primals", "tangents")
    core = inner(fn, primals, {})
    trees, _ = call_trees(core.arg_tree, len(primals))
    wrt = float_leaves(core, trees)
    check_like(trees, tangents, core, "tangents")
    done = jvp(core, wrt, value=level.value)
    lead = len(core.body.yields) if level.value else 0
    dots = {k: lead + i for i, k in enumerate(float_results(core))}
    dot_tree = map_leaves(
        core.out_tree, lambda leaf: Leaf(dots[leaf.k], leaf.zero_dim) if leaf.k in dots else Static(None)
    )
    seeds = iter(range(len(core.params) - len(core.captured), len(done.params)))
    seed_trees = [map_leaves(t, lambda leaf: Leaf(next(seeds)) if leaf.k in wrt else IGNORED) for t in trees]
    specs = _two_specs("primals", trees, "tangents", Node("tuple", tuple(seed_trees)))
    doc = docstrings.pushforward(core, [core.params[k].name for k in wrt], level.value) if wrt else ""
    out = _pair(core.out_tree, dot_tree) if level.value else dot_tree
    return _hvp(level, fn, replace(done, arg_tree=specs, out_tree=out, doc=doc))


def _hvp(level: Any, fn: Any, done: ir.Function) -> ir.Function:
    """The function ``done`` with a name that ends with ``_hvp``, as ``f_hvp``, if it is the derivative, without the value, of a
    plain gradient, that is, ``fn`` is ``grad(f)``; else unchanged."""
    inner = level_of(fn)
    if level.value or not isinstance(inner, Grad) or inner.value or inner.has_aux:
        return done
    return replace(done, name=f"{done.name.removesuffix('_jvp').removesuffix('_grad')}_hvp")


def _pullback(level: Pullback, inner: Lift, fn: Any, args: Args, kwargs: Kwargs) -> ir.Function:
    """The core of `vjp` or of the transpose: it takes the primals and then the cotangents of float results, and returns a tuple
    of the adjoints of the primals, None for leaves that are not floats."""
    primals, (cotangent,) = two_tuples(args, kwargs, "primals", "cotangent", single=True)
    core = inner(fn, primals, {})
    trees, _ = call_trees(core.arg_tree, len(primals))
    wrt = float_leaves(core, trees)
    main, _ = split_aux(core, fn) if level.has_aux else (core.out_tree, None)
    core = _keep_results(core, main)
    check_like([core.out_tree], [cotangent], core, "cotangent")
    done = transpose(core, wrt) if isinstance(level, Transpose) else vjp(core, wrt, seeds=True)
    split = len(core.params) - len(core.captured)
    bars = {k: split + i for i, k in enumerate(float_results(core))}
    bar_tree = map_leaves(core.out_tree, lambda leaf: Leaf(bars[leaf.k]) if leaf.k in bars else IGNORED)
    found = {k: i for i, k in enumerate(wrt)}
    given = [leaf for t in primals for leaf in walk_leaves(t)]
    outs = [
        map_leaves(
            as_given(without_numbers(t), given),
            lambda leaf: Leaf(found[leaf.k], leaf.zero_dim) if leaf.k in found else Static(None),
        )
        for t in trees
    ]
    specs = _two_specs("primals", trees, "cotangent", bar_tree)
    doc = docstrings.pullback(core, [core.params[k].name for k in wrt], False) if wrt else ""
    return replace(done, arg_tree=specs, out_tree=Node("tuple", tuple(outs)), doc=doc)


def float_leaves(core: ir.Function, trees: Sequence[Tree]) -> list[int]:
    """The numbers of those leaves of ``trees``, parameters of ``core``, that are floating point, in order."""
    return [k for t in trees for k in leaf_numbers(t) if core.params[k].type.is_float]


def _two_specs(first: str, trees: Sequence[Tree], second: str, tree: Tree) -> tuple[ArgSpec, ArgSpec]:
    return ArgSpec(first, Node("tuple", tuple(trees))), ArgSpec(second, tree)


def _keep_results(core: ir.Function, main: Tree) -> ir.Function:
    """The function with only the results that are leaves of ``main``, in the order of these leaves; its ``out_tree`` is
    ``main``, renumbered."""
    (tree,), old = number_leaves([main])
    return replace(with_results(core, [core.body.yields[leaf.k] for leaf in old]), out_tree=tree)


def _jacobian(level: Jacobian, inner: Lift, fn: Any, args: Args, kwargs: Kwargs) -> ir.Function:
    """The core of `jacfwd` or `jacrev`: for each leaf of the output the blocks by the chosen arguments, then the auxiliary
    results; ``jacfwd(jacrev(f))`` is named ``f_hessian``."""
    refuse_early(fn, args, kwargs, level.argnums, level.argnames)
    core = inner(fn, args, kwargs)
    chosen, shape = select(core, level.argnums, level.argnames, len(args), tuple(kwargs), fn)
    wrt = differentiable(core, chosen)
    main, aux = split_aux(core, fn) if level.has_aux else (core.out_tree, Static(None))
    (main, aux), old = number_leaves([main, aux])
    core = with_results(core, [core.body.yields[leaf.k] for leaf in old])
    rows = list(leaf_numbers(main))
    sizes = example_sizes(core, args, kwargs)
    done = (by_columns if level.forward else by_rows)(core, wrt, len(rows), sizes, COMPILED.get())
    # results: the blocks in row-major order of (result, argument), then the auxiliary ones

    def row(leaf: Leaf) -> Tree:
        start = rows.index(leaf.k) * len(wrt)
        trees, _ = number_leaves([tree for _, tree in chosen], start=start)
        return shape(trees)

    tree = map_leaves(main, row)
    if level.has_aux:
        (aux,), _ = number_leaves([aux], start=len(rows) * len(wrt))
        tree = _pair(tree, aux)
    done = replace(done, arg_tree=core.arg_tree, out_tree=tree, doc=docstrings.jacobian(core, chosen))
    below = level_of(fn)
    if not isinstance(below, Jacobian) or (level.forward, below.forward) != (True, False):
        return done
    if (level.argnums, level.argnames, level.has_aux) != (below.argnums, below.argnames, below.has_aux):
        return done
    base = core.name.removesuffix("_jac")
    return replace(done, name=f"{base}_hessian", doc=docstrings.hessian(replace(core, name=base), chosen))


def example_sizes(core: ir.Function, args: Args, kwargs: Kwargs) -> dict[str, int]:
    """The sizes of the example arguments, by size symbol; symbols of arguments without an example are left out."""
    leaves = [leaf for tree in (*args, *kwargs.values()) for leaf in walk_leaves(tree)]
    numbered, _ = number_leaves([*args, *kwargs.values()])
    sources = leaf_sources(core.arg_tree, numbered[: len(args)], dict(zip(kwargs, numbered[len(args) :])))
    found: dict[str, int] = {}
    for k, leaf in sources.items():
        example: Any = getattr(leaves[leaf], "example", None)
        for dim, size in zip(core.params[k].type.dims, np.shape(example)):
            if dim.as_symbol is not None:
                found.setdefault(dim.as_symbol, size)
    return found


def _flat(level: Flat, inner: Lift, fn: Any, args: Args, kwargs: Kwargs) -> ir.Function:
    """The core of an emitted `jvp` or `vjp`, whose tangents or cotangent are further arguments after those of the function."""
    core = inner(fn, args, kwargs)
    chosen, shape = select(core, level.argnums, level.argnames, len(args), tuple(kwargs), fn)
    wrt = differentiable(core, chosen)
    if level.forward:
        return _hvp(level, fn, _flat_forward(level, core, wrt, chosen, shape))
    return _flat_reverse(level, core, wrt, chosen, shape)


def _flat_forward(level: Flat, core: ir.Function, wrt: list[int], chosen: Any, shape: Any) -> ir.Function:
    """The core of an emitted `jvp`: it takes a tangent for each of the ``chosen`` arguments, whose leaves are ``wrt``, after
    the arguments of ``core``."""
    done = jvp(core, wrt, value=level.value)
    lead = len(core.body.yields) if level.value else 0
    dots = {k: lead + i for i, k in enumerate(float_results(core))}
    dot_tree = map_leaves(
        core.out_tree, lambda leaf: Leaf(dots[leaf.k], leaf.zero_dim) if leaf.k in dots else Static(None)
    )
    trees, _ = number_leaves([t for _, t in chosen], start=len(core.params) - len(core.captured))
    seeds = tuple(ArgSpec(f"{name}_dot", tree) for (name, _), tree in zip(chosen, trees))
    out = _pair(core.out_tree, dot_tree) if level.value else dot_tree
    doc = docstrings.pushforward(core, [name for name, _ in chosen], level.value)
    return replace(done, arg_tree=(*core.arg_tree, *seeds), out_tree=out, doc=doc)


def _flat_reverse(level: Flat, core: ir.Function, wrt: list[int], chosen: Any, shape: Any) -> ir.Function:
    """The core of an emitted `vjp`: it takes a cotangent after the arguments of ``core``, and returns the adjoints, of the
    structure that ``shape`` makes, of the ``chosen`` arguments."""
    done = vjp(core, wrt, value=level.value, seeds=True)
    split = len(core.params) - len(core.captured)
    bars = {k: split + i for i, k in enumerate(float_results(core))}
    bar_tree = map_leaves(core.out_tree, lambda leaf: Leaf(bars[leaf.k]) if leaf.k in bars else IGNORED)
    trees, _ = number_leaves([t for _, t in chosen], start=len(core.body.yields) if level.value else 0)
    name = done.params[split].name if isinstance(bar_tree, Leaf) else "cotangent"
    out = _pair(core.out_tree, shape(trees)) if level.value else shape(trees)
    doc = docstrings.pullback(core, [n for n, _ in chosen], level.value)
    return replace(done, arg_tree=(*core.arg_tree, ArgSpec(name, bar_tree)), out_tree=out, doc=doc)


_LIFTS: dict[type[Level], Callable[..., ir.Function]] = {
    Level: _same,
    Jit: _same,
    Grad: _gradient,
    Pushforward: _pushforward,
    Pullback: _pullback,
    Transpose: _pullback,
    Jacobian: _jacobian,
    Flat: _flat,
    Vmap: batched,
}
