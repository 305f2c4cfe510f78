"""`custom_root` and `custom_linear_solve` in transformed code: a core `Call` that stays opaque, with a rule from the equation.

What the user's function reads of the functions around it becomes an argument of the call, so that the rule can differentiate by it.
The rules are plain Python (`transpile.lax.implicit`), lifted by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
from transpile.numpy_api.library_implicit import root_tangent, solution_pullback, solution_tangent

DEEPEST = 1  # rules of linear solutions whose own solution has a rule; in those it is differentiated through

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

    def rule(lx: Lifter, node: Any, tangent_solve: Any, params: Any, x: Any, dots: Any) -> Any:
        return lx.apply(_user(root_tangent), [Static(opened), tangent_solve, params, x, dots], {}, node)

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
    if is_symmetric:
        transpose = solve
    is_open = isinstance(transpose, Static) and transpose.value is None
    if _depth(lx) > DEEPEST:
        return lx.apply(solve, [matvec, b], {}, node)
    passed = Passed(lx)
    tree = passed.tree(b)
    passed.ops = [op if op.type.is_float else lx.b.cast(op, "float64").op for op in passed.ops]
    floats = iter(passed.ops)
    tree = map_leaves(tree, lambda leaf: ArgLeaf(next(floats).type, None, leaf.zero_dim))
    primal = _lifted(lx, [matvec, solve], _solved, [tree], passed.ops, node)
    made = Made(lx, primal, passed.ops, aux, node)
    _check_tree(lx, "solve of custom_linear_solve", made, b, node)
    opened = Opened(lx, matvec, made.solution, made.outs, node)
    _check_like(lx, "matvec of custom_linear_solve", opened.fn, made, node)

    def again(lx: Lifter, solve: Any, other: Any) -> Any:
        """How the rule solves: by a solution with a rule of its own where its transpose can be solved too."""

        def run(lx: Lifter, node: Any, solve: Any, other: Any, matvec: Any, b: Any) -> Any:
            if is_open:
                found = lx.apply(solve, [matvec, b], {}, node)
            else:
                flags = [lx.const(is_symmetric), lx.const(aux)]
                found = linear_solve(lx, [matvec, b, solve, other, *flags], {}, node)
            return found.items[0] if aux else found

        return Static(Run(lx, [solve, other], run))

    def forward(lx: Lifter, node: Any, solve: Any, other: Any, params: Any, x: Any, dots: Any, b_dot: Any) -> Any:
        with _deeper(lx):
            given = [Static(opened), again(lx, solve, other), params, x, dots, b_dot]
            return lx.apply(_user(solution_tangent), given, {}, node)

    def backward(lx: Lifter, node: Any, solve: Any, other: Any, params: Any, x: Any, x_bar: Any) -> Any:
        with _deeper(lx):
            given = [Static(opened), again(lx, other, solve), lx.const(is_symmetric), params, x, x_bar]
            return lx.apply(_user(solution_pullback), given, {}, node)

    types, ops = opened.types(lx), [*opened.ops(), *made.outs]
    tangent = _lifted(lx, [solve, transpose], forward, [types, made.solution, types, tree], ops, node)
    pullback = None
    if not is_open:
        pullback = _lifted(lx, [solve, transpose], backward, [types, made.solution, made.solution], ops, node)
    return made.call(opened.ops(), tangent, pullback, len(passed.ops))


class _deeper:
    """While the rule of a solution is lifted."""

    def __init__(self, lx: Lifter) -> None:
        self.lx = lx

    def __enter__(self) -> None:
        self.lx.customs.append(_RULE)

    def __exit__(self, *failed: Any) -> None:
        self.lx.customs.pop()


_RULE = object()


def _depth(lx: Lifter | None) -> int:
    """How many rules of solutions are being lifted around."""
    count = 0
    while lx is not None:
        count += sum(c is _RULE for c in lx.customs)
        lx = lx.outer
    return count


def _bound(lx: Lifter, name: str, args: Args, kwargs: Kwargs, node: Any) -> list[Any]:
    signature = arity.signature(f"transpile.lax.{name}")
    assert signature is not None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as e:
        raise lx.error("T132", f"{name}: {e}", node) from None
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
        raise lx.error("T307", f"{what} gives ({texts[0]}) for a solution of ({texts[1]})", node,
                       "both have one structure, with the same shapes and dtypes")  # fmt: skip


TABLE: dict[str, Any] = {"transpile.lax.custom_root": root, "transpile.lax.custom_linear_solve": linear_solve}
