"""The levels of a stack of transforms: each lifts what it wraps and transforms it, core to core, with its trees.

A `Level` is hashable data. ``lift(inner, fn, args, kwargs)`` gives the core function of the level's own calling convention:
``inner`` lifts what is wrapped (a further level or the user's function). Leaves keep their order from the call to the innermost
function, so that a leaf's number means the same on every level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transpile import describe
from transpile.arguments import (
    IGNORED,
    as_given,
    call_trees,
    check_like,
    differentiable,
    float_results,
    refuse_early,
    scalar_first,
    select,
    split_aux,
    two_tuples,
)
from transpile.core.nodes import Function
from transpile.tree import ArgSpec, Leaf, Node, Static, Tree, leaf_numbers, map_leaves, number_leaves, walk_leaves

Lift = Callable[[Any, Sequence[Tree], Mapping[str, Tree]], Function]


@dataclass(frozen=True)
class Level:
    """The identity: the function itself, as generated code."""

    suffix = ""
    is_derivative = False

    def lift(self, inner: Lift, fn: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> Function:
        return inner(fn, args, kwargs)


@dataclass(frozen=True)
class Jit(Level):
    """Compiled by Numba; the core is that of what it wraps."""

    target: str = "cpu"
    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    fastmath: Any = ("contract", "reassoc")
    parallel: bool = False
    cache: bool = True

    suffix = "jit"


@dataclass(frozen=True)
class Grad(Level):
    """The gradient of a scalar function; with ``value`` the pair of value and gradient."""

    argnums: int | tuple[int, ...] | None = 0
    argnames: str | tuple[str, ...] | None = None
    has_aux: bool = False
    value: bool = False

    suffix = "grad"
    is_derivative = True

    def lift(self, inner: Lift, fn: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> Function:
        from transpile.transform.reverse import vjp

        refuse_early(fn, args, kwargs, self.argnums, self.argnames)
        core = inner(fn, args, kwargs)
        chosen, shape = select(core, self.argnums, self.argnames, len(args), tuple(kwargs))
        wrt = differentiable(core, chosen)
        main, aux = split_aux(core) if self.has_aux else (core.out_tree, Static(None))
        core = scalar_first(core, main, aux)
        n_aux = len(core.body.yields) - 1
        done = vjp(core, wrt, value=self.value, seeds=False, aux=n_aux)
        # its results: the value, if wanted; what is auxiliary; the adjoints
        lead = int(self.value)
        (aux_tree,), _ = number_leaves([aux], start=lead)
        given = [*(leaf for t in (*args, *kwargs.values()) for leaf in walk_leaves(t))]
        trees, _ = number_leaves([as_given(tree, given) for _, tree in chosen], start=lead + n_aux)
        gradient = shape(trees)
        doc = describe.gradient(core, chosen, self.value)
        return replace(done, arg_tree=core.arg_tree, out_tree=self._results(gradient, aux_tree), doc=doc)

    def _results(self, gradient: Tree, aux: Tree) -> Tree:
        """``(value, gradient)``, ``((value, aux), gradient)``, ``(gradient, aux)`` or the gradient, as JAX has them."""
        if self.value:
            return _pair(_pair(Leaf(0), aux) if self.has_aux else Leaf(0), gradient)
        return _pair(gradient, aux) if self.has_aux else gradient


def _pair(a: Tree, b: Tree) -> Node:
    return Node("tuple", (a, b))


@dataclass(frozen=True)
class Pushforward(Level):
    """``(primals, tangents) -> (value, tangent)``; with ``value`` False the tangent alone.

    The tangent of an integer argument is not read; that of an integer result is None.
    """

    value: bool = True

    suffix = "jvp"
    is_derivative = True

    def lift(self, inner: Lift, fn: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> Function:
        from transpile.transform.forward import jvp

        primals, tangents = two_tuples(args, kwargs, "primals", "tangents")
        core = inner(fn, primals, {})
        trees, _ = call_trees(core.arg_tree, len(primals))
        wrt = float_leaves(core, trees)
        check_like(trees, tangents, core, "tangents")
        done = jvp(core, wrt, value=self.value)
        lead = len(core.body.yields) if self.value else 0
        dots = {k: lead + i for i, k in enumerate(float_results(core))}
        dot_tree = map_leaves(core.out_tree, lambda leaf: Leaf(dots[leaf.k]) if leaf.k in dots else Static(None))
        seeds = iter(range(len(core.params) - len(core.captured), len(done.params)))
        seed_trees = [map_leaves(t, lambda leaf: Leaf(next(seeds)) if leaf.k in wrt else IGNORED) for t in trees]
        specs = _two_specs("primals", trees, "tangents", Node("tuple", tuple(seed_trees)))
        doc = describe.pushforward(core, [core.params[k].name for k in wrt], self.value) if wrt else ""
        return replace(
            done, arg_tree=specs, out_tree=_pair(core.out_tree, dot_tree) if self.value else dot_tree, doc=doc
        )


@dataclass(frozen=True)
class Pullback(Level):
    """``(primals, cotangent) -> adjoints``, one for each primal; None for what is not of floating point."""

    has_aux: bool = False

    suffix = "vjp"
    is_derivative = True

    def lift(self, inner: Lift, fn: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> Function:
        from transpile.transform.reverse import vjp

        primals, (cotangent,) = two_tuples(args, kwargs, "primals", "cotangent", single=True)
        core = inner(fn, primals, {})
        trees, _ = call_trees(core.arg_tree, len(primals))
        wrt = float_leaves(core, trees)
        main, _ = split_aux(core) if self.has_aux else (core.out_tree, None)
        core = _keep_results(core, main)
        check_like([core.out_tree], [cotangent], core, "cotangent")
        done = vjp(core, wrt, value=False, seeds=True)
        split = len(core.params) - len(core.captured)
        bars = {k: split + i for i, k in enumerate(float_results(core))}
        bar_tree = map_leaves(core.out_tree, lambda leaf: Leaf(bars[leaf.k]) if leaf.k in bars else IGNORED)
        found = {k: i for i, k in enumerate(wrt)}
        given = [leaf for t in primals for leaf in walk_leaves(t)]
        outs = [
            map_leaves(
                as_given(t, given), lambda leaf: Leaf(found[leaf.k], leaf.zero_dim) if leaf.k in found else Static(None)
            )
            for t in trees
        ]
        specs = _two_specs("primals", trees, "cotangent", bar_tree)
        doc = describe.pullback(core, [core.params[k].name for k in wrt], False) if wrt else ""
        return replace(done, arg_tree=specs, out_tree=Node("tuple", tuple(outs)), doc=doc)


def float_leaves(core: Function, trees: Sequence[Tree]) -> list[int]:
    """The numbers of the leaves of floating point."""
    return [k for t in trees for k in leaf_numbers(t) if core.params[k].type.is_float]


def _two_specs(first: str, trees: Sequence[Tree], second: str, tree: Tree) -> tuple[ArgSpec, ArgSpec]:
    return ArgSpec(first, Node("tuple", tuple(trees))), ArgSpec(second, tree)


def _keep_results(core: Function, main: Tree) -> Function:
    """The function with the results of ``main`` only."""
    (tree,), old = number_leaves([main])
    body = replace(core.body, yields=tuple(core.body.yields[leaf.k] for leaf in old))
    return replace(core, body=body, out_tree=tree)


@dataclass(frozen=True)
class Jacobian(Level):
    """The Jacobian by a loop over directions: ``forward`` over those of the arguments, else over those of the results."""

    forward: bool
    argnums: int | tuple[int, ...] | None = 0
    argnames: str | tuple[str, ...] | None = None
    has_aux: bool = False

    suffix = "jac"
    is_derivative = True

    def lift(self, inner: Lift, fn: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> Function:
        from transpile.transform.jacobian import by_columns, by_rows

        refuse_early(fn, args, kwargs, self.argnums, self.argnames)
        core = inner(fn, args, kwargs)
        chosen, shape = select(core, self.argnums, self.argnames, len(args), tuple(kwargs))
        wrt = differentiable(core, chosen)
        main, aux = split_aux(core) if self.has_aux else (core.out_tree, Static(None))
        (main, aux), old = number_leaves([main, aux])
        yields = tuple(core.body.yields[leaf.k] for leaf in old)
        core = replace(core, body=replace(core.body, yields=yields))
        rows = list(leaf_numbers(main))
        done = (by_columns if self.forward else by_rows)(core, wrt, rows, aux=leaf_numbers(aux))
        # its results: the blocks, row by row of (result, argument), then what is auxiliary

        def row(leaf: Leaf) -> Tree:
            start = rows.index(leaf.k) * len(wrt)
            trees, _ = number_leaves([tree for _, tree in chosen], start=start)
            return shape(trees)

        tree = map_leaves(main, row)
        if self.has_aux:
            (aux,), _ = number_leaves([aux], start=len(rows) * len(wrt))
            tree = _pair(tree, aux)
        return replace(done, arg_tree=core.arg_tree, out_tree=tree, doc=describe.jacobian(core, chosen))


# ---------------------------------------------------------------------------------------- as a file's functions have them


@dataclass(frozen=True)
class Flat(Level):
    """``f_jvp(x, y, x_dot)`` or ``f_vjp(x, y, z_bar)``: what an emitted module offers, without tuples around the arguments."""

    forward: bool = True
    argnums: int | tuple[int, ...] | None = 0
    argnames: str | tuple[str, ...] | None = None
    value: bool = False

    is_derivative = True

    def lift(self, inner: Lift, fn: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> Function:
        core = inner(fn, args, kwargs)
        chosen, shape = select(core, self.argnums, self.argnames, len(args), tuple(kwargs))
        wrt = differentiable(core, chosen)
        return (self._forward if self.forward else self._reverse)(core, wrt, chosen, shape)

    def _forward(self, core: Function, wrt: list[int], chosen: Any, shape: Any) -> Function:
        from transpile.transform.forward import jvp

        done = jvp(core, wrt, value=self.value)
        lead = len(core.body.yields) if self.value else 0
        dots = {k: lead + i for i, k in enumerate(float_results(core))}
        dot_tree = map_leaves(core.out_tree, lambda leaf: Leaf(dots[leaf.k]) if leaf.k in dots else Static(None))
        trees, _ = number_leaves([t for _, t in chosen], start=len(core.params) - len(core.captured))
        seeds = tuple(ArgSpec(f"{name}_dot", tree) for (name, _), tree in zip(chosen, trees))
        out = _pair(core.out_tree, dot_tree) if self.value else dot_tree
        doc = describe.pushforward(core, [name for name, _ in chosen], self.value)
        return replace(done, arg_tree=(*core.arg_tree, *seeds), out_tree=out, doc=doc)

    def _reverse(self, core: Function, wrt: list[int], chosen: Any, shape: Any) -> Function:
        from transpile.transform.reverse import vjp

        done = vjp(core, wrt, value=self.value, seeds=True)
        split = len(core.params) - len(core.captured)
        bars = {k: split + i for i, k in enumerate(float_results(core))}
        bar_tree = map_leaves(core.out_tree, lambda leaf: Leaf(bars[leaf.k]) if leaf.k in bars else IGNORED)
        trees, _ = number_leaves([t for _, t in chosen], start=len(core.body.yields) if self.value else 0)
        name = done.params[split].name if isinstance(bar_tree, Leaf) else "cotangent"
        out = _pair(core.out_tree, shape(trees)) if self.value else shape(trees)
        doc = describe.pullback(core, [n for n, _ in chosen], self.value)
        return replace(done, arg_tree=(*core.arg_tree, ArgSpec(name, bar_tree)), out_tree=out, doc=doc)
