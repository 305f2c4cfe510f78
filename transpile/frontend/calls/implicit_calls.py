"""`custom_root` and `custom_linear_solve` in transformed code: a core `Call` that stays opaque, with a rule from the equation.

What the user's function reads of the functions around it becomes an argument of the call, so that the rule can differentiate by it.
The rules are plain Python (`transpile.lax.implicit`), lifted by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transpile.aggregates import ArgLeaf, Node, map_leaves, number_leaves
from transpile.core import nodes as ir
from transpile.frontend.calls import arity, inner_transforms, tree_calls
from transpile.frontend.calls.implicit_core import Made
from transpile.frontend.calls.inner_transforms import Passed, Stand, at_call, from_tree, lifted, spliced_with
from transpile.frontend.calls.lax_kinds import asked, is_function
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import closure_conversion
from transpile.frontend.resolve.bindings import User
from transpile.frontend.resolve.closure_conversion import Around
from transpile.frontend.restarts import NeedStatic
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Static
from transpile.lax import checks
from transpile.numpy_api.library_implicit import root_tangent, transposed_by_entries, transposed_solution

Args = list[Any]
Kwargs = dict[str, Any]


class Run:
    """A function of the lifter that is written in Python: called with values of ``owner`` brought to where it is called."""

    __name__ = "function"

    def __init__(self, owner: Lifter, values: Sequence[Any], run: Callable[..., Any]) -> None:
        self.owner, self.values, self.run, self.loc = owner, values, run, owner.b.loc

    def __lifter_call__(self, lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
        if lx.frame.up is None:  # a function that is lifted by itself: its lines are those of the call
            lx.frame.caller = self.loc
        given = [closure_conversion.brought(lx, self.owner, v) for v in self.values]
        return self.run(lx, node, *given, *args)


def _lifted(
    lx: Lifter,
    values: Sequence[Any],
    run: Callable[..., Any],
    trees: Sequence[Any],
    ops: Sequence[ir.Operand],
    node: Any,
) -> ir.Function:
    """The core function of ``run(lx, node, *values, *arguments)``; ``ops`` are those of the leaves of the first trees."""
    try:
        found: ir.Function = at_call(lx, lambda: lifted(lx, Stand(Static(Run(lx, values, run)), lx), trees, {}), node)
    except NeedStatic as needed:
        lx.need(ops[min(needed.leaf, len(ops) - 1)], "an argument of this call", node)
    return found


class Opened:
    """A function of the user's with what it reads around it as its first argument: ``f(params, x)``."""

    def __init__(self, lx: Lifter, f: Any, tree: Any, ops: Sequence[ir.Operand], node: Any) -> None:
        self.owner = lx
        self.fn = _lifted(lx, [f], lambda lx, node, f, x: lx.apply(f, [x], {}, node), [tree], ops, node)
        self.params = [c for c in self.fn.captured if isinstance(c, Around) and c.op.type.is_float]

    def __lifter_call__(self, lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
        params, x = args
        passed = Passed(lx)
        passed.tree(x)
        own = dict(zip(map(id, self.params), params.items))
        hidden = [lx.operand(own[id(c)] if id(c) in own else self._around(lx, c)) for c in self.fn.captured]
        return from_tree(lx, self.fn.out_tree, spliced_with(lx, self.fn, [*passed.ops, *hidden]))

    def _around(self, lx: Lifter, found: Any) -> Any:
        value = self.owner.value(inner_transforms.outside(self.owner, found))
        return closure_conversion.brought(lx, self.owner, value)

    def types(self, lx: Lifter) -> Node:
        """The trees of what is read."""
        return Node("tuple", tuple(ArgLeaf(c.op.type) for c in self.params))

    def ops(self) -> list[ir.Operand]:
        return [c.op for c in self.params]


def _solved(lx: Lifter, node: Any, f: Any, solve: Any, given: Any) -> Any:
    return lx.apply(solve, [f, given], {}, node)


def _user(function: Any) -> Any:
    return Static(User(function))


# ------------------------------------------------------------------------------------------------------------ calls


def root(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``custom_root(f, initial_guess, solve, tangent_solve, has_aux=False)``."""
    f, guess, solve, tangent_solve, has_aux = _bound(lx, "custom_root", args, kwargs, node)
    _callables(lx, "custom_root", {"f": f, "solve": solve, "tangent_solve": tangent_solve}, node)
    passed = Passed(lx)
    trees = [passed.tree(guess)]
    primal = _lifted(lx, [f, solve], _solved, trees, passed.ops, node)
    made = Made(lx, primal, passed.ops, bool(lx.static(has_aux, "has_aux", node)), node)
    _check_tree(lx, "solve of custom_root", made, guess, node)
    opened = Opened(lx, f, made.solution, made.outs, node)
    _check_like(lx, "f of custom_root", opened.fn, made, node)
    if not opened.params:
        return made.constant()

    def solved(lx: Lifter, node: Any, tangent_solve: Any, g: Any, y: Any) -> Any:
        return linear_solve(lx, [g, y, tangent_solve], {}, node)

    def rule(lx: Lifter, node: Any, tangent_solve: Any, params: Any, x: Any, dots: Any) -> Any:
        solve = Static(Run(lx, [tangent_solve], solved))
        return lx.apply(_user(root_tangent), [Static(opened), solve, params, x, dots], {}, node)

    types = opened.types(lx)
    tangent = _lifted(lx, [tangent_solve], rule, [types, made.solution, types], [*opened.ops(), *made.outs], node)
    _check_like(lx, "tangent_solve of custom_root", tangent, made, node)
    return made.call(opened.ops(), tangent, None, 0)


def linear_solve(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``custom_linear_solve(matvec, b, solve, transpose_solve=None, symmetric=False, has_aux=False)``."""
    matvec, b, solve, transpose, symmetric, has_aux = _bound(lx, "custom_linear_solve", args, kwargs, node)
    is_symmetric, aux = bool(lx.static(symmetric, "symmetric", node)), bool(lx.static(has_aux, "has_aux", node))
    is_given = not (isinstance(transpose, Static) and transpose.value is None)
    given = {"matvec": matvec, "solve": solve, **({"transpose_solve": transpose} if is_given else {})}
    _callables(lx, "custom_linear_solve", given, node)
    is_open = isinstance(transpose, Static) and transpose.value is None
    passed = Passed(lx)
    tree = passed.tree(b)
    ops = [op if op.type.is_float else lx.b.cast(op, "float64").op for op in passed.ops]
    made = _made(lx, matvec, solve, tree, ops, aux, node)
    wide = [np.promote_types(op.type.dtype, out.type.dtype).name for op, out in zip(ops, made.outs)]
    if any(op.type.dtype != dtype for op, dtype in zip(ops, wide)):  # so are the right-hand sides of its tangents
        ops = [lx.b.cast(op, dtype).op for op, dtype in zip(ops, wide)]
        made = _made(lx, matvec, solve, tree, ops, aux, node)
    _check_tree(lx, "solve of custom_linear_solve", made, b, node)
    _check_side(lx, ops, made, node)
    side = _lifted(lx, [matvec], lambda lx, node, f, x: lx.apply(f, [x], {}, node), [made.solution], made.outs, node)
    _check_like(lx, "matvec of custom_linear_solve", side, made, node)
    back = None
    is_stopped = is_open and made.is_stopped()
    if not is_symmetric and (not is_open or is_stopped):
        how = _user(transposed_by_entries if is_stopped else transposed_solution)

        def backward(lx: Lifter, node: Any, matvec: Any, solve: Any, x_bar: Any) -> Any:
            return lx.apply(how, [matvec, solve, x_bar], {}, node)

        def main(lx: Lifter, node: Any, solve: Any, matvec: Any, b: Any) -> Any:
            found = lx.apply(solve, [matvec, b], {}, node)
            return found.items[0] if aux else found

        solution = Static(Run(lx, [solve if is_stopped else transpose], main))
        back = _lifted(lx, [matvec, solution], backward, [made.solution], made.outs, node)
        _check_like(lx, "transpose_solve of custom_linear_solve", back, made, node)
    return made.solve(side, back, is_symmetric)


def _made(lx: Lifter, matvec: Any, solve: Any, tree: Any, ops: list[ir.Operand], aux: bool, node: Any) -> Made:
    leaves = iter(ops)
    tree = map_leaves(tree, lambda leaf: ArgLeaf(next(leaves).type, None, leaf.zero_dim))
    primal = _lifted(lx, [matvec, solve], _solved, [tree], ops, node)
    return Made(lx, primal, ops, aux, node)


def _bound(lx: Lifter, name: str, args: Args, kwargs: Kwargs, node: Any) -> list[Any]:
    signature = arity.signature(f"transpile.lax.{name}")
    assert signature is not None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as e:
        raise lx.error("T132", f"{name}: {e}", node, f"the parameters are {', '.join(signature.parameters)}") from None
    given = set(bound.arguments)
    bound.apply_defaults()
    return [v if k in given else lx.const(v) for k, v in bound.arguments.items()]


def _callables(lx: Lifter, what: str, functions: dict[str, Any], node: Any) -> None:
    for name, value in functions.items():
        if not is_function(lx, value):
            raise tree_calls.placed(lx, checks.no_function(what, name, describe(lx, value)), node)


def _check_tree(lx: Lifter, what: str, made: Made, like: Any, node: Any) -> None:
    """Refuses a solution that has another structure than what it begins with."""
    tree = made.primal.out_tree.children[0] if made.has_aux else made.primal.out_tree
    found = asked(lx, from_tree(lx, tree, made.results), node)
    wrong = checks.unlike(what, found, asked(lx, like, node))
    if wrong is not None:
        raise lx.error("T307", wrong, node, checks.SOLUTION_HINT)


def _check_like(lx: Lifter, what: str, fn: ir.Function, made: Made, node: Any) -> None:
    """Refuses a function whose results are not like the solution."""
    found = [y.type for y in fn.body.yields]
    wanted = [leaf.type for leaf in number_leaves([made.solution])[1]]
    if len(found) != len(wanted) or any(a.rank != b.rank or a.dtype != b.dtype for a, b in zip(found, wanted)):
        texts = [", ".join(map(str, types)) for types in (found, wanted)]
        raise lx.error("T307", f"{what} returns ({texts[0]}), but the solution is ({texts[1]})", node,
                       "return the same structure, shapes and dtypes as the solution")  # fmt: skip


def _check_side(lx: Lifter, sides: Sequence[ir.Operand], made: Made, node: Any) -> None:
    """Refuses a right-hand side that is not like the solution."""
    found, wanted = ([(op.type.rank, op.type.dtype) for op in ops] for ops in (sides, made.outs))
    if found != wanted:
        texts = [", ".join(str(op.type) for op in ops) for ops in (sides, made.outs)]
        raise lx.error("T307", f"the solution of custom_linear_solve is ({texts[1]}), but 'b' is ({texts[0]})", node,
                       checks.SIDE_HINT)  # fmt: skip


TABLE: dict[str, Any] = {"transpile.lax.custom_root": root, "transpile.lax.custom_linear_solve": linear_solve}
