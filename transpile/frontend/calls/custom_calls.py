"""Calls of `custom_jvp` and `custom_vjp` functions: a core `Call` that carries the user's rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from transpile.aggregates import ArgLeaf, Leaf, Node, map_leaves, number_leaves, walk_leaves
from transpile.aggregates import Static as StaticTree
from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.dims import Dim
from transpile.core.functions import is_again
from transpile.core.rebuild import of_outputs, with_results
from transpile.core.types import Type
from transpile.core.walk import statements
from transpile.custom import RULES
from transpile.errors import TranspileError, error
from transpile.frontend.calls.inner_transforms import Passed, Stand, at_call, from_tree, lifted, outside
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import closure_conversion, name_lookup, reads, resolve
from transpile.frontend.resolve.bindings import Captured, User
from transpile.frontend.resolve.closure_conversion import Around
from transpile.frontend.restarts import NeedStatic
from transpile.frontend.values import changes
from transpile.frontend.values.values import Closure, Static


def custom(lx: Lifter, obj: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """A call of a `custom_jvp` or `custom_vjp` function: a core `Call` that carries the user's rule."""
    args, kwargs = _positional(lx, obj, args, kwargs, node), {}
    if any(obj is own for own in lx.own_rules):  # in its own rule it is the plain function
        return lx.user_call(obj.__wrapped__, args, kwargs, node)
    if _is_in_its_own_rule(lx, obj):
        found = _again(lx, obj, args, node)
        return lx.apply(Static(User(obj.__wrapped__)), args, {}, node) if found is None else found
    rules = at_call(lx, obj.rules, node)
    for name in RULES:  # they may be given anew
        if hasattr(obj, name):
            reads.note("function", obj, name, getattr(obj, name))
    passed = Passed(lx)
    trees = [passed.tree(a) for a in args]
    build = {"jvp": _custom_jvp, "vjp": _custom_vjp}[obj.rule]
    lx.customs.append(obj)
    lx.recalled[:] = [one for one in lx.recalled if one is not obj]
    refusal = None
    try:
        with changes.recorded() as found:
            try:
                fn, derivative, outputs, around = at_call(lx, lambda: build(lx, obj, rules, trees), node)
            except TranspileError as refused:  # to be raised where a derivative is asked for
                refusal = refused
                fn = derivative = at_call(lx, lambda: lifted(lx, obj.__wrapped__, trees, {}), node)
                outputs, around = len(fn.body.yields), list(fn.captured)
                fn = derivative = _with_hidden(fn, around, len(fn.params) - len(around))
    except NeedStatic as needed:
        lx.need(
            passed.ops[needed.leaf] if needed.leaf < len(passed.ops) else passed.ops[-1],
            "an argument of this call",
            node,
        )
    finally:
        lx.customs.pop()
    if found.containers or any(id(leaf) in found.written for tree in trees for leaf in walk_leaves(tree)):
        message = f"{obj.__name__!r} has a custom derivative, but changes its argument"
        raise lx.error("T307", message, node, "change a copy, in the function and in its rules")
    fn = replace(fn, name=obj.__name__)
    ops = (*passed.ops, *(outside(lx, c) for c in around))
    results, sizes = results_of(lx.b, fn, ops)
    rule, calls_itself = obj.rule, any(one is obj for one in lx.recalled)
    rule = rule if refusal is None else "refused"
    if (
        rule == "jvp" and calls_itself
    ):  # what it gives is its own value, of which derivatives of the derivative go by the rule
        rule, derivative = "implicit", of_outputs(derivative, len(ops), outputs)
    called = ir.Custom(fn, rule, derivative, outputs, calls_itself=calls_itself, given=len(passed.ops), refusal=refusal)
    called.again = rule != "refused" and any(is_again(s) for s in statements(derivative.body))
    return _emitted(lx, called, ops, results, sizes, fn.out_tree)


def _emitted(lx: Lifter, called: ir.Custom, ops: Any, results: tuple[ir.Var, ...], sizes: Sizes, tree: Any) -> Any:
    """Emits the call of a function with a rule; what it gives."""
    lx.b.emit(ir.Call(called, ops, results, loc=lx.b.loc))
    name_sizes(lx.b, sizes)
    return from_tree(lx, tree, results)


def _positional(lx: Lifter, obj: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> list[Any]:
    """The arguments by position, with default values: so the rules get them."""
    names, defaults = _parameters(lx, obj.__wrapped__)
    args, kwargs = list(args), dict(kwargs)
    for name in names[len(args) :]:
        if name in kwargs:
            args.append(kwargs.pop(name))
        elif name in defaults:
            args.append(defaults[name])
        else:
            break  # it is missing, as the function itself will say
    if kwargs:
        hint = "pass it by position, or add a parameter of that name before *args"
        raise lx.error(
            "T307",
            f"the derivative rules of {obj.__name__!r} do not get the argument {next(iter(kwargs))!r}",
            node,
            hint,
        )
    return args


def _parameters(lx: Lifter, target: Any) -> tuple[list[str], dict[str, Any]]:
    """The names of the parameters that can be given by position, and the default values."""
    if isinstance(target, Stand) and isinstance(target.value, Closure):
        function = target.value
        names = _names(function.code.args)
        defaults = dict(zip(names[len(names) - len(function.defaults) :], function.defaults))
        return names, {k: closure_conversion.brought(lx, target.lifter, v) for k, v in defaults.items()}
    if isinstance(target, Stand):
        return [], {}
    try:
        opened = resolve.open_function(target, lx.b.loc)
    except TranspileError:  # a function without text has no parameters that are known
        return [], {}
    names = _names(opened.located.node.args)[len(opened.args) :]
    given = [k for k, name in enumerate(names) if name in opened.kwargs]
    defaults = {k: name_lookup.from_binding(lx, v) for k, v in opened.defaults.items() if k in names}
    return names[: given[0] if given else None], defaults


def _names(args: Any) -> list[str]:
    return [a.id for a in (*getattr(args, "posonlyargs", ()), *args.args)]


def _is_in_its_own_rule(lx: Lifter, obj: Any) -> bool:
    """Whether the function is called by its own rule, which is being lifted: there it is the plain function."""
    here: Lifter | None = lx
    while here is not None:
        if any(o is obj for o in here.customs):
            here.recalled.append(obj)
            return True
        here = here.outer
    return False


def _again(lx: Lifter, obj: Any, args: list[Any], node: Any) -> Any:
    """A call of the function in the rule of its own call, with arguments of the same types: whose rule is that of the call
    around it, put there when that is differentiated (`transpile.transform.custom_rules.tied`). None where it is none."""
    around: Lifter | None = lx
    while around is not None and not around.customs:
        around = around.outer
    if around is None or around.customs[-1] is not obj or not around.ruled or around.ruled[-1] is None:
        return None
    passed = Passed(lx)
    trees = [passed.tree(a) for a in args]
    if _kinds(trees) != _kinds(around.ruled[-1]):
        return None
    with _ruled(around, None):
        fn = at_call(lx, lambda: lifted(lx, obj.__wrapped__, trees, {}), node)
    ops = (*passed.ops, *(outside(lx, c) for c in fn.captured))
    fn = replace(_with_hidden(fn, list(fn.captured), len(fn.params) - len(fn.captured)), name=obj.__name__)
    results, sizes = results_of(lx.b, fn, ops)
    called = ir.Custom(fn, "again", fn, len(results), given=len(passed.ops), again=True)
    return _emitted(lx, called, ops, results, sizes, fn.out_tree)


def _kinds(trees: list[Any]) -> list[Any]:
    """The trees, with leaves that say the dtype and the rank alone."""
    return [map_leaves(tree, lambda leaf: StaticTree((leaf.type.dtype, leaf.type.rank))) for tree in trees]


@contextmanager
def _ruled(lx: Lifter, trees: list[Any] | None) -> Iterator[None]:
    """While a rule is lifted for arguments of these trees, or the function itself."""
    lx.ruled.append(trees)
    try:
        yield
    finally:
        lx.ruled.pop()


@contextmanager
def _keeping(lx: Lifter) -> Iterator[None]:
    """While a forward rule is lifted, which may keep functions with their arguments."""
    around, lx.keeps = lx.keeps, True
    try:
        yield
    finally:
        lx.keeps = around


Sizes = list[tuple[ir.Var, int]]  # axes whose sizes only the run knows, with symbols of their own


def results_of(b: Builder, fn: ir.Function, ops: Sequence[ir.Operand]) -> tuple[tuple[ir.Var, ...], Sizes]:
    """Variables for the results of a call of the function with these operands, and what is to be named behind the call."""
    dims = _sizes_given(fn, [op.type for op in ops])
    found: list[ir.Var] = []
    unknown: Sizes = []
    for y in fn.body.yields:
        is_known = [all(name in dims for name in d.symbols()) for d in y.type.dims]
        sizes = [d.substitute(dims.get) if known else b.fresh_symbol("size") for d, known in zip(y.type.dims, is_known)]
        found.append(ir.Var(ir.SYNTHETIC, y.type.with_dims(tuple(sizes))))
        unknown += [(found[-1], axis) for axis, known in enumerate(is_known) if not known]
    return tuple(found), unknown


def _sizes_given(fn: ir.Function, types: Sequence[Type]) -> dict[str, Dim]:
    """The sizes, outside of a function, that its own symbols stand for where it is given what has these types."""
    dims: dict[str, Dim] = {}
    for param, type_ in zip(fn.params, types):
        for have, given in zip(param.type.dims, type_.dims):
            if have.as_symbol is not None:
                dims.setdefault(have.as_symbol, given)
    return dims


def name_sizes(b: Builder, sizes: Sizes) -> None:
    """Says what the sizes of results are that only the run knows."""
    for var, axis in sizes:
        b.symbols[str(var.type.dims[axis])] = b.let("dim", var, axis=axis).op


def _with_hidden(fn: ir.Function, around: list[Any], at: int) -> ir.Function:
    """The function with one hidden parameter for each of ``around``, behind the first ``at`` of its own."""
    own = len(fn.params) - len(fn.captured)
    have = dict(zip(fn.captured, fn.params[own:]))
    hidden = [have.get(c) or ir.Var("unused", c.op.type if isinstance(c, Around) else _type_of(c)) for c in around]
    return replace(fn, params=(*fn.params[:at], *hidden, *fn.params[at:own]), captured=())


def _type_of(found: Captured) -> Type:
    value = np.asarray(found.example)
    return Type(value.dtype.name, tuple(Dim(n) for n in value.shape))


def _floats_only(tree: Any) -> Any:
    return map_leaves(tree, lambda leaf: leaf if leaf.type.is_float else StaticTree(None))


def _custom_jvp(lx: Lifter, obj: Any, rules: Any, trees: list[Any]) -> tuple[ir.Function, ir.Function, int, list[Any]]:
    """``rule(*nondiff, primals, tangents) -> (value, tangent)``."""
    with _ruled(lx, None):
        fn = lifted(lx, obj.__wrapped__, trees, {})
    skipped = [k % len(trees) for k in obj.nondiff_argnums or ()]
    kept = [k for k in range(len(trees)) if k not in skipped]
    primals, tangents = (
        Node("tuple", tuple(part)) for part in ([trees[k] for k in kept], [_floats_only(trees[k]) for k in kept])
    )
    with _ruled(lx, trees):
        rule = lifted(lx, rules[0], [*(trees[k] for k in skipped), primals, tangents], {})
    around = list(dict.fromkeys([*fn.captured, *rule.captured]))
    count = len(fn.params) - len(fn.captured)
    full = _with_hidden(fn, around, count)
    own = rule.params[: len(rule.params) - len(rule.captured)]
    rule = replace(rule, params=(*_in_order(trees, [*skipped, *kept], kept, own), *rule.params[len(own) :]))
    extra = tuple(ir.Var("unused", v.type) for v in full.params[count:] if v.type.is_float)
    rule = _with_hidden(rule, around, count)
    rule = with_results(replace(rule, params=(*rule.params, *extra)), _pair_yields(obj, fn, rule))
    return full, rule, len(fn.body.yields), around


def _in_order(trees: list[Any], order: list[int], kept: list[int], params: Sequence[ir.Var]) -> list[ir.Var]:
    """The parameters of a rule that has the arguments in this order, and then tangents of the ``kept`` ones, as the function has
    them; a tangent that is not read for each other argument of floating point."""
    rest = iter(params)
    leaves = [number_leaves([tree])[1] for tree in trees]
    primals = {k: [next(rest) for _ in leaves[k]] for k in order}
    dots = {k: [next(rest) for leaf in leaves[k] if leaf.type.is_float] for k in kept}
    unread = {k: [ir.Var("unused", leaf.type) for leaf in leaves[k] if leaf.type.is_float] for k in order}
    every = range(len(trees))
    return [*(v for k in every for v in primals[k]), *(v for k in every for v in dots.get(k, unread[k]))]


def _pair_yields(obj: Any, fn: ir.Function, rule: ir.Function) -> tuple[ir.Operand, ...]:
    """The value, and a tangent for each result of floating point."""
    tree = rule.out_tree
    if not isinstance(tree, Node) or len(tree.children) != 2:
        message = f"the rule of {obj.__name__!r} must return a pair (value, tangent)"
        raise error(
            "T307", message, rule.loc, "return the value of the function, and its derivative along the tangents"
        )
    values, dots = ([rule.body.yields[leaf.k] for leaf in number_leaves([c])[1]] for c in tree.children)
    floats = [k for k, y in enumerate(fn.body.yields) if y.type.is_float]
    if len(dots) == len(values):
        dots = [dots[k] for k in floats]
    if len(values) != len(fn.body.yields) or len(dots) != len(floats):
        message = (
            f"the value or the tangent from the rule of {obj.__name__!r} does not have the structure of its result"
        )
        raise error("T307", message, rule.loc, "return both with the structure of the function's result")
    of = f"the rule of {obj.__name__!r} returns a "
    _fitting(rule, f"{of}value", "the function", values, [y.type for y in fn.body.yields])
    _fitting(rule, f"{of}tangent", "the function", dots, [fn.body.yields[k].type for k in floats])
    return (*values, *dots)


def _custom_vjp(lx: Lifter, obj: Any, rules: Any, trees: list[Any]) -> tuple[ir.Function, ir.Function, int, list[Any]]:
    """``forward(*args) -> (value, kept)``, ``backward(*nondiff, kept, cotangent) -> adjoints``."""
    forward, backward = rules
    with _keeping(lx):
        fn = lifted(lx, forward, trees, {})
    if not isinstance(fn.out_tree, Node) or len(fn.out_tree.children) != 2:
        message = f"the forward rule of {obj.__name__!r} must return a pair (value, kept)"
        raise error("T307", message, fn.loc, "return the value of the function, and what the backward rule needs")
    value, kept = fn.out_tree.children
    types = _types_outside(lx, fn, trees)
    outputs = len(number_leaves([value])[1])
    seeds = map_leaves(value, lambda leaf: ArgLeaf(types[leaf.k]) if types[leaf.k].is_float else StaticTree(None))
    skipped = [k % len(trees) for k in obj.nondiff_argnums or ()]
    given = [trees[k] for k in skipped] + [map_leaves(kept, lambda leaf: ArgLeaf(types[leaf.k]))]
    back = lifted(lx, backward, [*given, seeds], {})
    around = list(dict.fromkeys([*fn.captured, *back.captured]))
    count = len(fn.params) - len(fn.captured)
    full = _with_hidden(fn, around, count)
    # what the pullback reads is among the results: arguments that are not differentiated, what is kept, what is hidden
    starts = [sum(len(number_leaves([t])[1]) for t in trees[:k]) for k in skipped]
    passed = [full.params[s + i] for k, s in zip(skipped, starts) for i in range(len(number_leaves([trees[k]])[1]))]
    at = sum(len(number_leaves([t])[1]) for t in given)
    yields = (*fn.body.yields[:outputs], *passed, *fn.body.yields[outputs:], *full.params[count:])
    full = replace(with_results(full, yields), out_tree=value)
    back = _with_hidden(back, around, at)
    adjoints = _adjoints(obj, back, trees, skipped)
    return full, with_results(back, adjoints), outputs, around


def _types_outside(lx: Lifter, fn: ir.Function, trees: list[Any]) -> list[Type]:
    """The types of the results of a forward rule in the sizes of the function around, in which the backward rule is lifted."""
    given = [*(leaf.type for leaf in number_leaves(trees)[1]), *(outside(lx, c).type for c in fn.captured)]
    dims = _sizes_given(fn, given)
    types = [y.type for y in fn.body.yields]
    for name in (name for t in types for d in t.dims for name in d.symbols() if name not in dims):
        dims[name] = lx.b.fresh_symbol("size")  # only the forward rule knows it
    return [t.with_dims(tuple(d.substitute(dims.get) for d in t.dims)) for t in types]


def _adjoints(obj: Any, back: ir.Function, trees: list[Any], skipped: list[int]) -> tuple[ir.Operand, ...]:
    """An adjoint for each argument of floating point, from what the user's ``backward`` returns."""
    wanted = [t for k, t in enumerate(trees) if k not in skipped]
    tree = back.out_tree
    children = list(tree.children) if isinstance(tree, Node) and tree.kind in ("tuple", "list") else []
    if len(children) != len(wanted):
        text = f"the backward rule of {obj.__name__!r} must return a tuple of length {len(wanted)}"
        raise error("T307", text, back.loc, "return one adjoint for each argument, or None for zero")
    found: list[ir.Operand] = []
    for k, arg in enumerate(trees):
        leaves = [leaf for leaf in number_leaves([arg])[1] if leaf.type.is_float]
        if k in skipped:
            found += map(_no_adjoint, leaves)
            continue
        at = wanted.index(arg)
        parts = _parts(back, arg, children[at])
        children[at], wanted[at] = StaticTree(None), None
        if parts is None:
            text = f"an adjoint from the backward rule of {obj.__name__!r} does not have the structure of its argument"
            raise error("T307", text, back.loc, "return the structure of the argument, with None for zero")
        given = [(y, leaf.type) for y, leaf in zip(parts, leaves) if y is not None]
        of = f"the backward rule of {obj.__name__!r} returns an adjoint"
        _fitting(back, of, "the argument", *(zip(*given) if given else ((), ())))
        found += [_no_adjoint(leaf) if y is None else y for y, leaf in zip(parts, leaves)]
    return tuple(found)


def _no_adjoint(leaf: Any) -> ir.Operand:
    """A number in the place of an adjoint that is zero."""
    return ir.Const(0.0, leaf.type.with_dims(()) if leaf.type.dims else leaf.type)


def _parts(back: ir.Function, arg: Any, given: Any) -> list[ir.Operand | None] | None:
    """What is given for each leaf of floating point of an argument, None for zero; None where the structure is another."""
    if isinstance(given, StaticTree) and given.value is None:
        return [None for leaf in number_leaves([arg])[1] if leaf.type.is_float]
    if isinstance(arg, ArgLeaf):
        if not isinstance(given, Leaf):
            return None
        return [back.body.yields[given.k]] if arg.type.is_float else []
    if not isinstance(arg, Node):
        return []
    if not isinstance(given, Node) or len(given.children) != len(arg.children) or given.keys != arg.keys:
        return None
    found = [_parts(back, *pair) for pair in zip(arg.children, given.children)]
    return None if any(part is None for part in found) else [y for part in found for y in part or ()]


def _fitting(rule: ir.Function, what: str, like: str, given: Sequence[ir.Operand], wanted: Sequence[Type]) -> None:
    """Raises unless the values have the ranks of what they are for."""
    for value, type_ in zip(given, wanted):
        if value.type.rank != type_.rank:
            word = "result" if like == "the function" else "argument"
            message = f"{what} of type {value.type}, but the {word} is {type_}"
            raise error("T307", message, rule.loc, f"return an array of the shape of the {word}")
