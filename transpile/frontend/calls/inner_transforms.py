"""Transforms inside the transformed function: ``grad(inner)(x)``, ``jvp(f, (x,), (v,))``, functions with derivatives of their own.

The inner function is lifted by itself, with a `Lifter` of its own whose hidden parameters are what it reads of the functions around
it; it is transformed as if it were called from outside, and its statements are copied to where it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from transpile.aggregates import ArgLeaf, Content, Leaf, Node, flatten, map_leaves, number_leaves
from transpile.aggregates import Static as StaticTree
from transpile.base.captured import Place
from transpile.base.held import Held
from transpile.base.levels import Grad, Level, Pullback, Pushforward, Stacked, Transpose, level_of, may_write
from transpile.base.matching import leaf_sources
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.functions import known_sizes
from transpile.core.inline import splice
from transpile.core.integers import Integers
from transpile.core.types import Type
from transpile.custom import Custom, is_method
from transpile.errors import TranspileError, error
from transpile.frontend.calls import at_index, surroundings, ways_out
from transpile.frontend.control import dynamic_list_reads
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import capture, resolve, statics
from transpile.frontend.resolve import name_lookup as names
from transpile.frontend.resolve.bindings import Captured, Known, Root, User
from transpile.frontend.resolve.closure_conversion import Around
from transpile.frontend.restarts import NeedStatic
from transpile.frontend.values import aliases, arrays_written, changes, contents, memory, registered
from transpile.frontend.values.convert import describe, new_list
from transpile.frontend.values.parts import parts, with_parts
from transpile.frontend.values.stand import Stand
from transpile.frontend.values.values import (
    Array,
    Bound,
    Cell,
    Closure,
    Items,
    Iteration,
    Method,
    Ref,
    Scalar,
    Static,
    Tuple,
)
from transpile.ops.tables import prims

# ------------------------------------------------------------------------------------------- making transforms


def transform(lx: Lifter, name: str, obj: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """A call of one of transpile's own functions."""
    short = name.removeprefix("transpile.").removeprefix("api.").removeprefix("at.")
    rule = _OWN.get(short)
    if rule is not None:
        return rule(lx, args, kwargs, node)
    if short not in _MAKERS or obj is None:
        raise lx.error("T130", f"{name} cannot be called inside a transformed function", node, ways_out.IN_LINE)
    if any(isinstance(a, Array) for a in args[1:]):
        hint = f"write {short}(f)(x): pass the arguments to the function that {short} returns"
        raise lx.error("T131", f"{short} takes a function and options, not arrays", node, hint)
    made = [_axes if short == "vmap" and k in (1, 2) else _object for k in range(len(args))]
    objects = [make(lx, a, node) for make, a in zip(made, args)]
    named = {k: (_axes if k in ("in_axes", "out_axes") else _object)(lx, v, node) for k, v in kwargs.items()}
    return Static(at_call(lx, lambda: obj(*objects, **named), node))


_MAKERS = frozenset("grad value_and_grad jacfwd jacrev hessian vmap jit custom_jvp custom_vjp".split())


def _object(lx: Lifter, value: Any, node: Any) -> Any:
    """A Python object for an argument of a transform: functions of the lifter's own by a stand-in."""
    if isinstance(value, Static) and isinstance(value.value, User) and callable(value.value.target):
        return value.value.target
    if isinstance(value, Static) and isinstance(value.value, User):
        return Stand(value, lx)  # a function of a file that is not executed
    if isinstance(value, Ref) and lx.state.cells[value.cell].kind == "instance":
        value = lx.attribute(value, "__call__", node)  # a model of the program's own
    if isinstance(value, (Closure, Bound, Method)) or (isinstance(value, Static) and isinstance(value.value, Known)):
        return Stand(value, lx)
    return lx.static(value, "an argument of a transform", node)


def _axes(lx: Lifter, value: Any, node: Any) -> Any:
    """The axes of a vmap: a Python object, or their tree where instances of the program's classes are a part of it."""
    if statics.is_known(lx, value) or not isinstance(value, (Tuple, Ref)):
        return _object(lx, value, node)
    passed = Passed(lx)
    tree = passed.tree(value)
    ops = iter(passed.ops)
    return map_leaves(_tupled(tree), lambda leaf: StaticTree(lx.static(lx.value(next(ops)), "an axis", node)))


def _tupled(tree: Any) -> Any:
    """The tree with tuples for its lists."""
    if not isinstance(tree, Node):
        return tree
    kind = "tuple" if tree.kind == "list" else tree.kind
    return Node(kind, tuple(map(_tupled, tree.children)), tree.keys, tree.cls)


def _made(lx: Lifter, function: Any, level: Level, node: Any) -> Static:
    return Static(Stacked(at_call(lx, lambda: _function(lx, function, node), node), level))


def _function(lx: Lifter, value: Any, node: Any) -> Any:
    found = _object(lx, value, node)
    if not callable(found) and level_of(found) is None:
        message = f"expected a function, got {type(found).__name__} {found!r}"
        raise error("T411", message, hint="pass the function, not its value: grad(f)(x), not grad(f(x))")
    return found


def at_call(lx: Lifter, run: Callable[[], Any], node: Any) -> Any:
    """Runs a part of another lifting; what it finds without a place of its own is at the call."""
    try:
        return run()
    except TranspileError as e:
        at = lx.loc(node) if node is not None else lx.b.loc
        raise TranspileError([d if d.loc.line else replace(d, loc=at) for d in e.diagnostics]) from None


def _jvp(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    function, primals, tangents = _bound(["f", "primals", "tangents"], args, kwargs, lx, node)
    return call(lx, _made(lx, function, Pushforward(), node).value, [primals, tangents], {}, node)


def _hvp(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    function, primals, tangents = _bound(["f", "primals", "tangents"], args, kwargs, lx, node)
    items = primals.items if isinstance(primals, Tuple) else (primals,)
    floats = [k for k, x in enumerate(items) if _has_float(lx, x)] or list(range(len(items)))
    gradient = _made(lx, function, Grad(floats[0] if len(floats) == 1 else tuple(floats)), node)
    found = call(lx, _made(lx, gradient, Pushforward(value=False), node).value, [primals, tangents], {}, node)
    if len(items) == 1:
        return found
    parts = iter([found] if len(floats) == 1 else found.items)
    return Tuple(tuple(next(parts) if k in floats else Static(None) for k in range(len(items))))


def _has_float(lx: Lifter, value: Any) -> bool:
    """Whether a value has a leaf of floating point."""
    return any(op.type.is_float for op in _leaves(lx, value))


def _value(lx: Lifter, function: Any, own: Tuple, node: Any) -> Any:
    """What the function gives for the primals; it may write into what it is given, and the derivative is at what they were."""
    return lx.apply(function, [copied(lx, p) for p in own.items], {}, node)


def _vjp(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    has_aux = "has_aux" in kwargs and lx.static(kwargs["has_aux"], "has_aux", node)
    return Tuple(_pulled(lx, args, Pullback(has_aux), node))


def _linear_transpose(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    if kwargs:
        raise lx.error(
            "T132", "linear_transpose takes no keyword arguments", node, "write linear_transpose(f, *primals)"
        )
    return _pulled(lx, args, Transpose(), node)[1]


def _pulled(lx: Lifter, args: list[Any], level: Pullback, node: Any) -> tuple[Any, ...]:
    """The value, the function of a cotangent, and what is auxiliary, if it is asked for."""
    value, held, own, keys, around = _kept(lx, args, node)
    rest: tuple[Any, ...] = ()
    if level.has_aux:
        value, *more = value.items
        rest = tuple(more)
    pull = Bound(Static(_Pulling(keys)), (_made(lx, held, level, node), own, value, around))
    return value, pull, *rest


def _kept(lx: Lifter, args: list[Any], node: Any) -> tuple[Any, Any, Tuple, tuple[surroundings.Key, ...], Tuple]:
    """The value of a function, and as they are now: the function, the primals, and what it reads of the functions around."""
    function, *primals = args
    own = Tuple(tuple(copied(lx, p) for p in primals))
    found = surroundings.of(lx, function)
    around, held = Tuple(tuple(copied(lx, v) for v in found.values())), copied(lx, function)
    return _value(lx, function, own, node), held, own, tuple(found), around


class _Pulling(surroundings.Holding):
    """``pullback(cotangent)``: the cotangent has the shapes of the value."""

    def __lifter_call__(self, lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        pull, own, value, around, cotangent = args
        _fitting(lx, [op.type for op in _leaves(lx, value)], cotangent, "the cotangent", node)
        with surroundings.kept(lx, self.keys, around.items):
            return lx.apply(pull, [own, cotangent], kwargs, node)


def _fitting(lx: Lifter, wanted: Sequence[Type], given: Any, what: str, node: Any) -> None:
    """Leaves have the sizes of those that they are the tangents or the adjoints of."""
    for mine, leaf in zip(wanted, _leaves(lx, given)):
        sizes = mine.dims, leaf.type.dims
        if mine.is_float and len(sizes[0]) == len(sizes[1]) and not all(lx.b.same(p, q) for p, q in zip(*sizes)):
            shapes = [f"({', '.join(map(str, s))})" for s in sizes]
            message = f"{what} has shape {shapes[1]}, expected {shapes[0]}"
            raise lx.error("T309", message, node, "pass an array of the shape of the value")


def _leaves(lx: Lifter, value: Any) -> list[ir.Operand]:
    passed = Passed(lx)
    passed.tree(value)
    return passed.ops


def _linearize(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    value, held, own, keys, around = _kept(lx, args, node)
    push = _made(lx, held, Pushforward(value=False), node)
    return Tuple((value, Bound(Static(_Gathering(keys)), (push, own, around))))


class _Gathering(surroundings.Holding):
    """``f_jvp(*tangents)``: the tangents of a call as one tuple."""

    def __lifter_call__(self, lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        push, own, around, *tangents = args
        with surroundings.kept(lx, self.keys, around.items):
            return lx.apply(push, [own, Tuple(tuple(tangents))], {}, node)


def _bound(names: list[str], args: list[Any], kwargs: dict[str, Any], lx: Lifter, node: Any) -> list[Any]:
    found = dict(zip(names, args), **kwargs)
    if list(found) != [n for n in names if n in found] or len(found) != len(names):
        wanted = ", ".join(n for n in names if n != "self")
        raise lx.error("T132", f"expected the arguments {wanted}", node, f"pass {wanted}, in this order")
    return [found[n] for n in names]


def _derivative(*names: str) -> Callable[..., Any]:
    """``f.defjvp(rule)``, ``f.defvjp(forward, backward)`` of a function that is defined inside."""

    def given(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        owner, *rules = _bound(["self", *names], args, kwargs, lx, node)
        for name, rule in zip(names, rules):
            setattr(owner.value, name, _object(lx, rule, node))
        return rules[0] if len(names) == 1 else Static(None)

    return given


def _derivatives(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """``f.defjvps(*rules)`` of a function that is defined inside."""
    owner, *rules = args
    at_call(lx, lambda: owner.value.defjvps(*(_object(lx, rule, node) for rule in rules)), node)
    return Static(None)


def copied(lx: Lifter, value: Any) -> Any:
    """The value as it is now: later writes are not seen."""
    match value:
        case Array():
            return memory.new_array(lx, memory.read(lx, value.cell))
        case Tuple():
            return Tuple(tuple(copied(lx, v) for v in value.items), value.cls)
        case Ref():
            cell = Cell(value.cell.name)
            state: Items = lx.state.cells[value.cell]
            lx.state.cells[cell] = replace(state, items=tuple(copied(lx, v) for v in state.items))
            return Ref(cell)
    own = parts(value)
    return with_parts(value, tuple(copied(lx, v) for v in own)) if own else value


# -------------------------------------------------------------------------------------------------------- calls


@dataclass
class Passed:
    """Arguments as trees of types, and the operands of their leaves in order."""

    lx: Lifter
    ops: list[ir.Operand] = field(default_factory=list)
    arrays: list[tuple[ArgLeaf, Cell]] = field(default_factory=list)  # whose memory they are
    containers: list[Cell] = field(default_factory=list)  # the lists, dicts and objects
    cells: list[Cell | None] = field(default_factory=list)  # of each leaf that is an array

    def tree(self, value: Any) -> Any:
        match value:
            case Scalar() | Array():
                op = self.lx.operand(value)
                self.ops.append(op)
                self.cells.append(value.cell if isinstance(value, Array) else None)
                leaf = ArgLeaf(op.type, None, isinstance(value, Array) and not op.type.dims)
                if isinstance(value, Array):
                    self.arrays.append((leaf, memory.root(self.lx, value.cell)))
                return leaf
            case Tuple():
                kind = "tuple" if value.cls is None else "namedtuple"
                keys = () if value.cls is None else tuple(value.cls._fields)
                return Node(kind, tuple(self.tree(v) for v in value.items), keys, value.cls)
            case Ref():
                self.containers.append(value.cell)
                state = contents.items(self.lx, value)
                if state.kind in dynamic_list_reads.KINDS:
                    message = "a list whose length depends on the data cannot be passed to a transformed function"
                    raise self.lx.error("T131", message, hint="pass np.array(...) of it")
                if registered.of(state.cls) is not None:
                    return registered.as_node(self.lx, value, state.cls, self.tree)
                kind = {"instance": "dataclass"}.get(state.kind, state.kind)
                return Node(kind, tuple(self.tree(v) for v in state.items), state.keys or (), state.cls)
            case Static() if value.value is None or isinstance(value.value, (bool, str)):
                return StaticTree(value.value)
            case Static() | Closure() | Bound():
                return StaticTree(Stand(value, self.lx))
            case Iteration():
                return Node("list", tuple(self.tree(v) for v in self.lx.unrolled(value)))
        message = f"{describe(self.lx, value)} cannot be an argument of a transformed function"
        raise self.lx.error(
            "T131", message, hint="pass numbers, arrays, and tuples, lists, dicts or dataclasses of them"
        )


Found: TypeAlias = "Callable[[Lifter, Any], ir.Operand]"


def call(lx: Lifter, obj: Any, args: list[Any], kwargs: dict[str, Any], node: Any, read: Found | None = None) -> Any:
    """A call of a transformed function: ``grad(f)(x)``; ``read`` gives what it reads of the outside, if not what is there now."""
    level = obj.__transpile_level__
    if level.is_plain and not isinstance(obj.__wrapped__, Stand):
        return lx.apply(Static(User(obj.__wrapped__)), args, kwargs, node)
    passed = Passed(lx)
    trees = [passed.tree(a) for a in args]
    named = {k: passed.tree(v) for k, v in kwargs.items()}

    writes = may_write(obj)

    def inner(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> ir.Function:
        return lifted(lx, target, args, kwargs, writes)

    try:
        with changes.recorded() as found:
            transforms = lx.transforms
            assert transforms is not None, "lifted without what lifts transforms"
            fn = at_call(lx, lambda: transforms(inner, obj, trees, named), node)
    except NeedStatic as needed:
        lx.need(passed.ops[needed.leaf], "an argument of this call", node)
    refuse_shared(passed, found, fn, node)
    numbered, _ = number_leaves([*trees, *named.values()])
    sources = leaf_sources(fn.arg_tree, numbered[: len(trees)], dict(zip(named, numbered[len(trees) :])))
    given = [passed.ops[sources[k]] for k in range(len(fn.params) - len(fn.captured))]
    written = [sources[k] for k, p in enumerate(fn.params) if p.buffer]
    fn = arrays_written.with_ends(fn)
    results = spliced_with(lx, fn, [*given, *((read or outside)(lx, c) for c in fn.captured)])
    own = len(results) - len(written)
    for k, end in zip(written, results[own:]):
        if (cell := passed.cells[k]) is not None:
            arrays_written.write_back(lx, cell, lx.b.expr(end))
    return from_tree(lx, fn.out_tree, results[:own])


def _call_of_held(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """A call of what `vjp` or `linearize` gave; what it reads of the outside is as it is held, or from now on."""
    made: Held = args[0].value
    made.check()
    arg = Tuple(tuple(args[1:])) if made.several else args[1]
    given, held = made.primals, made.held
    like = [np.asarray(leaf) for leaf in flatten(made.like)[0]]
    wanted = [Type(a.dtype.name, tuple(Dim(n) for n in a.shape)) for a in like]
    _fitting(lx, wanted, arg, "the tangent" if made.several else "the cotangent", node)
    first = names.from_binding(lx, resolve.bind(given, Captured(Root("primals", "object", given), (), given)))

    def read(lx: Lifter, found: Any) -> ir.Operand:
        if isinstance(found, Around):
            return found.op
        place = Place.of(found)
        if place not in held:
            value = found.read()
            held[place] = value.copy() if isinstance(value, np.ndarray) else value
        value = held[place]
        return outside(lx, Captured(Root(found.path, "object", value), (), value))

    return call(lx, made.fn, [first, arg], {}, node, read)


def refuse_shared(passed: Passed, found: changes.Changes, fn: ir.Function, node: Any) -> None:
    """Refuses an argument that the function writes into and that another, or an array outside it, is or may be."""
    lx = passed.lx
    own = [(leaf, cell) for leaf, cell in passed.arrays if id(leaf) in found.own]
    around = [aliases.root_in(lx.state, c.cell) for c in fn.captured if isinstance(c, Around) and c.cell is not None]
    shared = found.containers and len(set(passed.containers)) < len(passed.containers)
    for cell in passed.containers if found.containers else ():
        aliases.note_change(lx, cell)
    for leaf, cell in own:
        if id(leaf) in found.written:
            aliases.note_change(lx, cell)  # not here, but what a call with one memory means is asked there
            others = [*(other for one, other in own if one is not leaf), *around]
            shared = shared or any(aliases.is_related(lx, cell, other) for other in others)
    if shared:
        raise lx.error("T123", f"the function {changes.SHARED}", node, hint="pass a .copy() of one of them")


def lifted(
    lx: Lifter, target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], mutable: bool = False
) -> ir.Function:
    """The core function of a function of the user's, lifted by itself inside ``lx``; ``mutable``: it writes into arguments."""
    if isinstance(target, Stand) and isinstance(target.value, Static) and isinstance(target.value.value, User):
        target = target.value.value.target
    if isinstance(target, Custom) or is_method(target):
        target = Stand(Static(User(target)), lx)  # it is called, so that the call carries the user's rule
    return lx.lift_inside(target, args, kwargs, mutable)


def spliced(lx: Lifter, fn: ir.Function, ops: Sequence[ir.Operand]) -> tuple[ir.Operand, ...]:
    """The results of a core function on these operands and on what it reads of the outside."""
    return spliced_with(lx, fn, [*ops, *(outside(lx, c) for c in fn.captured)])


def spliced_with(lx: Lifter, fn: ir.Function, given: Sequence[ir.Operand]) -> tuple[ir.Operand, ...]:
    """The results of a core function on these operands, those of its hidden parameters too."""
    return splice(lx.b, fn, _agreeing(lx, fn, given))


def _agreeing(lx: Lifter, fn: ir.Function, ops: Sequence[ir.Operand]) -> list[ir.Operand]:
    """The operands with equal sizes where the function's parameters have one symbol: what cannot be so is refused.

    Tangents and adjoints may be given in another dtype than that of what they belong to, as at a call from outside.
    """
    dims = known_sizes(lx.b, fn.params, ops, Integers(prims(), fn).of)
    ready: list[ir.Operand] = []
    for param, op in zip(fn.params, ops):
        # what only the function itself knows (a number of trips) is no size to ask for here
        wanted = tuple(
            d.substitute(dims.get) if all(name in dims for name in d.symbols()) else given
            for d, given in zip(param.type.dims, op.type.dims)
        )
        if wanted != op.type.dims and not all(lx.b.same(p, q) for p, q in zip(wanted, op.type.dims)):
            shapes = [f"({', '.join(map(str, s))})" for s in (op.type.dims, wanted)]
            message = f"an argument has shape {shapes[0]}, expected {shapes[1]}"
            raise lx.error("T309", message, hint="pass an array of the expected shape")
        fitting = lx.b.broadcast(op, wanted) if wanted else lx.b.expr(op)
        ready.append(lx.b.cast(fitting, param.type).op)
    return ready


def outside(lx: Lifter, found: Any) -> ir.Operand:
    """The operand of a hidden parameter."""
    if isinstance(found, Around):
        return found.op
    return lx.operand(capture.captured(lx, found))


def from_tree(lx: Lifter, tree: Any, ops: Sequence[ir.Operand], leaf: Callable[[int], Any] | None = None) -> Any:
    """The abstract value of a result; ``leaf``, if given, makes that of a leaf."""
    match tree:
        case Leaf():
            if leaf is not None:
                return leaf(tree.k)
            return memory.new_array(lx, ops[tree.k]) if tree.zero_dim else lx.value(ops[tree.k])
        case Content():
            return lx.structural(tree.value)
        case StaticTree():
            return tree.value.value if isinstance(tree.value, Stand) else lx.const(tree.value)
        case Node():
            items = [from_tree(lx, c, ops, leaf) for c in tree.children]
            if tree.kind in ("tuple", "namedtuple"):
                return Tuple(tuple(items), tree.cls)
            if tree.kind == "list":
                return new_list(lx, items)
            return registered.from_node(lx, tree, items)
    raise TypeError(tree)


_OWN: dict[str, Callable[..., Any]] = {
    "custom.defjvp": _derivative("jvp"),
    "custom.defjvps": _derivatives,
    "custom.defvjp": _derivative("forward", "backward"),
    "base.held.Held.__call__": _call_of_held,
    "jvp": _jvp,
    "hvp": _hvp,
    "vjp": _vjp,
    "linearize": _linearize,
    "linear_transpose": _linear_transpose,
    "at": at_index.at,
}
