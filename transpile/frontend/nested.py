"""Transforms inside the transformed function: ``grad(inner)(x)``, ``jvp(f, (x,), (v,))``, functions with derivatives of their own.

The inner function is lifted by itself, with a `Lifter` of its own whose hidden parameters are what it reads of the functions around
it; it is transformed as if it were called from outside, and its statements are copied to where it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from transpile.core.dims import Dim
from transpile.core.nodes import Call, Const, Function, Operand, Var
from transpile.core.types import Type
from transpile.errors import TranspileError, error
from transpile.frontend import memory
from transpile.frontend.bindings import Captured, Known, User
from transpile.frontend.convert import describe, new_list
from transpile.frontend.lifter import Frame, Lifter, NeedStatic
from transpile.frontend.values import (
    Array, Bound, Cell, Closure, Held, Items, Iteration, Maybe, Ref, Scalar, Static, Tuple,
)
from transpile.tree import ArgLeaf, Leaf, Node, map_leaves, number_leaves
from transpile.tree import Static as StaticTree

OUTSIDE = "an array of the enclosing function cannot be written in a function that is transformed by itself"


class Stand:
    """A function or another static value of the lifter, where a Python object is asked for. ``lifter`` is whose it is."""

    __transpile_function__ = True

    def __init__(self, value: Any, lifter: Lifter) -> None:
        self.value, self.lifter = value, lifter
        code = value.code if isinstance(value, Closure) else None
        self.__name__ = self.__qualname__ = code.name if code is not None else "function"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a function of the lifter is not called")


@dataclass(frozen=True, eq=False)
class Around:
    """How a hidden parameter of an inner function is read: it is a value of the lifter around it."""

    op: Operand

    def read(self) -> Any:
        raise TypeError("only where it is spliced")


# ------------------------------------------------------------------------------------------- making transforms


def transform(lx: Lifter, name: str, obj: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """A call of one of transpile's own functions."""
    short = name.removeprefix("transpile.").removeprefix("api.")
    rule = _OWN.get(short)
    if rule is not None:
        return rule(lx, args, kwargs, node)
    if short not in _MAKERS or obj is None:
        raise lx.error("T130", f"{name} cannot be called inside a transformed function", node)
    objects = [_object(lx, a, node) for a in args]
    named = {k: _object(lx, v, node) for k, v in kwargs.items()}
    return Static(_named(lx, lambda: obj(*objects, **named), node))


_MAKERS = frozenset("grad value_and_grad jacfwd jacrev hessian jit custom_jvp custom_vjp".split())


def _object(lx: Lifter, value: Any, node: Any) -> Any:
    """A Python object for an argument of a transform: functions of the lifter's own by a stand-in."""
    if isinstance(value, Static) and isinstance(value.value, User) and callable(value.value.target):
        return value.value.target
    if isinstance(value, Static) and isinstance(value.value, User):
        return Stand(value, lx)  # a function of a file that is not executed
    if isinstance(value, (Closure, Bound)) or (isinstance(value, Static) and isinstance(value.value, Known)):
        return Stand(value, lx)
    return lx.static(value, "an argument of a transform", node)


def _made(lx: Lifter, function: Any, level: Any, node: Any) -> Static:
    from transpile.api import Transformed

    return Static(_named(lx, lambda: Transformed(_object(lx, function, node), level), node))


def _named(lx: Lifter, run: Callable[[], Any], node: Any) -> Any:
    """Runs a part of another lifting; what it finds without a place of its own is at the call."""
    try:
        return run()
    except TranspileError as e:
        at = lx.loc(node) if node is not None else lx.b.loc
        raise TranspileError([d if d.loc.line else replace(d, loc=at) for d in e.diagnostics]) from None


def _jvp(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    from transpile.levels import Pushforward

    function, primals, tangents = _bound(["f", "primals", "tangents"], args, kwargs, lx, node)
    return call(lx, _made(lx, function, Pushforward(), node).value, [primals, tangents], {}, node)


def _hvp(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    from transpile.levels import Grad, Pushforward

    function, primals, tangents = _bound(["f", "primals", "tangents"], args, kwargs, lx, node)
    count = len(primals.items) if isinstance(primals, Tuple) else 1
    gradient = _made(lx, function, Grad(0 if count == 1 else tuple(range(count))), node)
    return call(lx, _made(lx, gradient, Pushforward(value=False), node).value, [primals, tangents], {}, node)


def _vjp(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    from transpile.frontend import calls
    from transpile.levels import Pullback

    has_aux = "has_aux" in kwargs and lx.static(kwargs["has_aux"], "has_aux", node)
    function, *primals = args
    own = Tuple(tuple(copied(lx, p) for p in primals))
    value = calls.apply(lx, function, list(own.items), {}, node)
    pull = Bound(_made(lx, function, Pullback(has_aux), node), (own,))
    rest: tuple[Any, ...] = ()
    if has_aux:
        value, *more = value.items
        rest = tuple(more)
    return Tuple((value, pull, *rest))


def _linearize(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    from transpile.frontend import calls
    from transpile.levels import Pushforward

    function, *primals = args
    own = Tuple(tuple(copied(lx, p) for p in primals))
    value = calls.apply(lx, function, list(own.items), {}, node)
    push = _made(lx, function, Pushforward(value=False), node)
    return Tuple((value, Bound(Static(_Gathering()), (push, own))))


class _Gathering:
    """``f_jvp(*tangents)``: the tangents of a call as one tuple."""

    def __lifter_call__(self, lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        from transpile.frontend import calls

        push, own, *tangents = args
        return calls.apply(lx, push, [own, Tuple(tuple(tangents))], {}, node)


def _bound(names: list[str], args: list[Any], kwargs: dict[str, Any], lx: Lifter, node: Any) -> list[Any]:
    found = dict(zip(names, args), **kwargs)
    if list(found) != [n for n in names if n in found] or len(found) != len(names):
        raise lx.error("T132", f"expected the arguments {', '.join(names)}", node)
    return [found[n] for n in names]


_OWN: dict[str, Callable[..., Any]] = {"jvp": _jvp, "hvp": _hvp, "vjp": _vjp, "linearize": _linearize}


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
    return value


# -------------------------------------------------------------------------------------------------------- calls


@dataclass
class Passed:
    """Arguments as trees of types, and the operands of their leaves in order."""

    lx: Lifter
    ops: list[Operand] = field(default_factory=list)

    def tree(self, value: Any) -> Any:
        match value:
            case Scalar() | Array():
                op = self.lx.operand(value)
                self.ops.append(op)
                return ArgLeaf(op.type, None)
            case Tuple():
                kind = "tuple" if value.cls is None else "namedtuple"
                keys = () if value.cls is None else tuple(value.cls._fields)
                return Node(kind, tuple(self.tree(v) for v in value.items), keys, value.cls)
            case Ref():
                state: Items = self.lx.state.cells[value.cell]
                kind = {"instance": "dataclass"}.get(state.kind, state.kind)
                return Node(kind, tuple(self.tree(v) for v in state.items), state.keys or (), state.cls)
            case Static() if value.value is None or isinstance(value.value, (bool, str)):
                return StaticTree(value.value)
            case Static() | Closure() | Bound():
                return StaticTree(Stand(value, self.lx))
            case Iteration():
                from transpile.frontend import iteration

                return Node("list", tuple(self.tree(v) for v in iteration.unrolled(self.lx, value)))
        raise self.lx.error("T131", f"{describe(self.lx, value)} cannot be an argument of a transformed function")


def call(lx: Lifter, obj: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """A call of a transformed function: ``grad(f)(x)``."""
    level = obj.__transpile_level__
    if not level.is_derivative and not isinstance(obj.__wrapped__, Stand):
        from transpile.frontend import calls

        return calls.apply(lx, Static(User(obj.__wrapped__)), args, kwargs, node)
    passed = Passed(lx)
    trees = [passed.tree(a) for a in args]
    named = {k: passed.tree(v) for k, v in kwargs.items()}

    def inner(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Function:
        return lifted(lx, target, args, kwargs)

    try:
        fn = _named(lx, lambda: obj.__transpile_lift__(inner, trees, named), node)
    except NeedStatic as needed:
        lx.need(passed.ops[needed.leaf], "an argument of this call", node)
    return from_tree(lx, fn.out_tree, spliced(lx, fn, passed.ops))


def lifted(lx: Lifter, target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Function:
    """The core function of a function of the user's, lifted by itself inside ``lx``."""
    from transpile.frontend.entry import lift

    if isinstance(target, Stand) and isinstance(target.value, Static) and isinstance(target.value.value, User):
        target = target.value.value.target
    return lift(target, args, kwargs, outer=lx)


def spliced(lx: Lifter, fn: Function, ops: Sequence[Operand]) -> tuple[Operand, ...]:
    """The results of a core function on these operands and on what it reads of the outside."""
    from transpile.transform.custom import splice

    given = [*ops, *(outside(lx, c) for c in fn.captured)]
    return splice(lx.b, fn, _agreeing(lx, fn, given))


def _agreeing(lx: Lifter, fn: Function, ops: Sequence[Operand]) -> list[Operand]:
    """The operands with equal sizes where the function's parameters have one symbol: what cannot be so is refused."""
    dims: dict[str, Dim] = {}
    ready: list[Operand] = []
    for param, op in zip(fn.params, ops):
        for have, given in zip(param.type.dims, op.type.dims):
            if have.as_symbol is not None:
                dims.setdefault(have.as_symbol, given)
        wanted = tuple(d.substitute(dims.get) for d in param.type.dims)
        if wanted != op.type.dims and not all(lx.b.same(p, q) for p, q in zip(wanted, op.type.dims)):
            shapes = [f"({', '.join(map(str, s))})" for s in (op.type.dims, wanted)]
            raise lx.error("T309", f"an argument has shape {shapes[0]}, expected {shapes[1]}")
        ready.append(lx.b.broadcast(op, wanted).op if wanted else op)
    return ready


def outside(lx: Lifter, found: Any) -> Operand:
    """The operand of a hidden parameter."""
    if isinstance(found, Around):
        return found.op
    from transpile.frontend import capture

    return lx.operand(capture.captured(lx, found))


def from_tree(lx: Lifter, tree: Any, ops: Sequence[Operand]) -> Any:
    """The abstract value of a result."""
    match tree:
        case Leaf():
            return lx.value(ops[tree.k])
        case StaticTree():
            return tree.value.value if isinstance(tree.value, Stand) else lx.const(tree.value)
        case Node():
            items = [from_tree(lx, c, ops) for c in tree.children]
            if tree.kind in ("tuple", "namedtuple"):
                return Tuple(tuple(items), tree.cls)
            if tree.kind == "list":
                return new_list(lx, items)
            cell = Cell(tree.kind)
            kind = {"dataclass": "instance"}.get(tree.kind, tree.kind)
            lx.state.cells[cell] = Items(kind, tuple(items), tree.keys, tree.cls)
            return Ref(cell)
    raise TypeError(tree)


# ----------------------------------------------------------------------------------- what an inner function reads


def imported(lx: Lifter, frame: Frame, name: str, node: Any) -> Any:
    """What a name of the functions around holds, as hidden parameters of the function that is lifted."""
    outer = lx.outer
    if outer is None:
        return None
    value = outer.state.vars.get((frame, name))
    if value is None:
        value = imported(outer, frame, name, node)
        if value is None:
            return None
        outer.state.vars[frame, name] = value
    if isinstance(value, Maybe):
        value = value.value
    found = lx.state.vars[frame, name] = _inward(lx, outer, value, name)
    return found


def _inward(lx: Lifter, outer: Lifter, value: Any, name: str) -> Any:
    match value:
        case Scalar():
            return value if isinstance(value.op, Const) else Scalar(_hidden(lx, value.op, name))
        case Array():
            known = lx.around.get(value.cell)
            if known is None:
                var = _hidden(lx, outer.operand(value), name)
                known = lx.around[value.cell] = Cell(name, readonly=OUTSIDE)
                lx.captured_cells[known] = Held(var)
            lx.state.cells.setdefault(known, lx.captured_cells[known])
            return Array(known)
        case Tuple():
            return Tuple(tuple(_inward(lx, outer, v, f"{name}_{k}") for k, v in enumerate(value.items)), value.cls)
        case Ref():
            state: Items = outer.state.cells[value.cell]
            cell = Cell(name)
            items = tuple(_inward(lx, outer, v, f"{name}_{k}") for k, v in enumerate(state.items))
            lx.state.cells[cell] = replace(state, items=items)
            return Ref(cell)
        case Bound():
            return Bound(value.function, tuple(_inward(lx, outer, v, name) for v in value.args), value.kwargs)
    return value


def _hidden(lx: Lifter, op: Operand, name: str) -> Operand:
    """The hidden parameter for an operand of the lifter around."""
    if isinstance(op, Const):
        return op
    assert isinstance(op, Var)
    if op not in lx.hidden:
        type_ = lx.sizes.type(op.type, len(lx.captures) + lx.first_capture) if lx.sizes is not None else op.type
        var = lx.hidden[op] = Var(op.name if op.name != "t" else name, type_)
        if op.form is not None and lx.sizes is not None:
            var.form = lx.sizes.form(op.form)
        lx.captures[var] = Around(op)
    return lx.hidden[op]


class Sizes:
    """The sizes of an inner function's arguments: one symbol of its own for each size of the function around."""

    def __init__(self, lx: Lifter, outer: Lifter) -> None:
        self.lx, self.outer = lx, outer
        self.known: dict[Dim, Dim] = {}

    def dim(self, dim: Dim, param: int, axis: int) -> Dim:
        """The symbol that stands for a size of outside; numbers stay numbers."""
        dim = self.outer.symbols.resolve(dim)
        if dim.is_const:
            return dim
        if dim not in self.known:
            symbols = self.lx.symbols
            own = symbols.argument(str(dim), param, axis, self.outer.symbols.value(dim), 1)
            name = own.as_symbol
            if name is not None and name in symbols.origins:
                wanted = dim.as_symbol or name
                symbols.names.setdefault(name, wanted.partition(".")[0])
            self.known[dim] = own
            symbols.operand(self.lx, own)
        return self.lx.symbols.resolve(self.known[dim])

    def type(self, type_: Type, param: int) -> Type:
        return type_.with_dims(tuple(self.dim(d, param, k) for k, d in enumerate(type_.dims)))

    def form(self, form: Dim) -> Dim | None:
        """The form of an integer of outside, if it is a size that the inner function knows."""
        form = self.outer.symbols.resolve(form)
        return form if form.is_const else self.known.get(form)


# ------------------------------------------------------------------------------------- derivatives of the user's own


def custom(lx: Lifter, obj: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """A call of a `custom_jvp` or `custom_vjp` function: a core `Call` that carries the user's rule."""
    if kwargs:
        raise lx.error("T307", f"{obj.__name__!r} has a derivative of its own: give its arguments by position", node)
    if any(obj is own for own in lx.own_rules):  # in its own rule it is the plain function
        from transpile.frontend.calls import user

        return user(lx, obj.__wrapped__, args, kwargs, node)
    if _is_in_its_own_rule(lx, obj):
        from transpile.frontend import calls

        return calls.apply(lx, Static(User(obj.__wrapped__)), args, {}, node)
    rules = _named(lx, obj.rules, node)
    passed = Passed(lx)
    trees = [passed.tree(a) for a in args]
    build = {"jvp": _custom_jvp, "vjp": _custom_vjp}[obj.rule]
    lx.customs.append(obj)
    try:
        fn, derivative, outputs, around = _named(lx, lambda: build(lx, obj, rules, trees), node)
    except NeedStatic as needed:
        lx.need(passed.ops[needed.leaf] if needed.leaf < len(passed.ops) else passed.ops[-1], "an argument of this call", node)
    finally:
        lx.customs.pop()
    ops = (*passed.ops, *(outside(lx, c) for c in around))
    results = _results(lx, fn, ops)
    lx.b.emit(Call(fn, ops, results, obj.rule, derivative, outputs, lx.b.loc))
    return from_tree(lx, _first(fn.out_tree) if obj.rule == "vjp" else fn.out_tree, results)


def _is_in_its_own_rule(lx: Lifter, obj: Any) -> bool:
    """Whether the function is called by its own rule, which is being lifted: there it is the plain function."""
    here: Lifter | None = lx
    while here is not None:
        if any(o is obj for o in here.customs):
            return True
        here = here.outer
    return False


def _first(tree: Any) -> Any:
    return number_leaves([tree.children[0]])[0][0]


def _results(lx: Lifter, fn: Function, ops: Sequence[Operand]) -> tuple[Var, ...]:
    dims: dict[str, Dim] = {}
    for param, op in zip(fn.params, ops):
        for have, given in zip(param.type.dims, op.type.dims):
            if have.as_symbol is not None:
                dims.setdefault(have.as_symbol, given)
    found = []
    for y in fn.body.yields:
        sizes = tuple(d.substitute(dims.get) for d in y.type.dims)
        found.append(Var("t", y.type.with_dims(sizes)))
    return tuple(found)


def _with_hidden(fn: Function, around: list[Any], at: int) -> Function:
    """The function with one hidden parameter for each of ``around``, behind the first ``at`` of its own."""
    own = len(fn.params) - len(fn.captured)
    have = dict(zip(fn.captured, fn.params[own:]))
    hidden = [have.get(c) or Var("unused", c.op.type if isinstance(c, Around) else _type_of(c)) for c in around]
    return replace(fn, params=(*fn.params[:at], *hidden, *fn.params[at:own]), captured=())


def _type_of(found: Captured) -> Type:
    import numpy as np

    value = np.asarray(found.example)
    return Type(value.dtype.name, tuple(Dim(n) for n in value.shape))


def _floats_only(tree: Any) -> Any:
    return map_leaves(tree, lambda leaf: leaf if leaf.type.is_float else StaticTree(None))


def _custom_jvp(lx: Lifter, obj: Any, rules: Any, trees: list[Any]) -> tuple[Function, Function, int, list[Any]]:
    """``rule(primals, tangents) -> (value, tangent)``."""
    if obj.nondiff_argnums not in ((), None):
        raise error("T307", "nondiff_argnums of a custom_jvp are not supported inside transformed code")
    fn = lifted(lx, obj.__wrapped__, trees, {})
    tangents = Node("tuple", tuple(_floats_only(t) for t in trees))
    rule = lifted(lx, rules[0], [Node("tuple", tuple(trees)), tangents], {})
    around = list(dict.fromkeys([*fn.captured, *rule.captured]))
    count = len(fn.params) - len(fn.captured)
    full = _with_hidden(fn, around, count)
    extra = tuple(Var("unused", v.type) for v in full.params[count:] if v.type.is_float)
    rule = _with_hidden(rule, around, count)
    rule = replace(rule, params=(*rule.params, *extra), body=replace(rule.body, yields=_pair_yields(obj, fn, rule)))
    return full, rule, len(fn.body.yields), around


def _pair_yields(obj: Any, fn: Function, rule: Function) -> tuple[Operand, ...]:
    """The value, and a tangent for each result of floating point."""
    tree = rule.out_tree
    if not isinstance(tree, Node) or len(tree.children) != 2:
        raise error("T307", f"the rule of {obj.__name__!r} must return a pair (value, tangent)", rule.loc)
    values, dots = ([rule.body.yields[leaf.k] for leaf in number_leaves([c])[1]] for c in tree.children)
    floats = [k for k, y in enumerate(fn.body.yields) if y.type.is_float]
    if len(dots) == len(values):
        dots = [dots[k] for k in floats]
    if len(values) != len(fn.body.yields) or len(dots) != len(floats):
        raise error("T307", f"the rule of {obj.__name__!r} returns a value or tangent of another structure", rule.loc)
    return (*values, *dots)


def _custom_vjp(lx: Lifter, obj: Any, rules: Any, trees: list[Any]) -> tuple[Function, Function, int, list[Any]]:
    """``forward(*args) -> (value, kept)``, ``backward(*nondiff, kept, cotangent) -> adjoints``."""
    forward, backward = rules
    fn = lifted(lx, forward, trees, {})
    if not isinstance(fn.out_tree, Node) or len(fn.out_tree.children) != 2:
        raise error("T307", f"the forward rule of {obj.__name__!r} must return a pair (value, kept)", fn.loc)
    value, kept = fn.out_tree.children
    types = [y.type for y in fn.body.yields]
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
    full = replace(full, body=replace(full.body, yields=yields))
    back = _with_hidden(back, around, at)
    adjoints = _adjoints(obj, back, trees, skipped)
    return full, replace(back, body=replace(back.body, yields=adjoints)), outputs, around


def _adjoints(obj: Any, back: Function, trees: list[Any], skipped: list[int]) -> tuple[Operand, ...]:
    """An adjoint for each argument of floating point, from what the user's ``backward`` returns."""
    wanted = [t for k, t in enumerate(trees) if k not in skipped]
    tree = back.out_tree
    children = list(tree.children) if isinstance(tree, Node) and tree.kind in ("tuple", "list") else []
    if len(children) != len(wanted):
        text = f"the backward rule of {obj.__name__!r} must return a tuple of {len(wanted)} adjoints"
        raise error("T307", text, back.loc)
    found: list[Operand] = []
    for k, arg in enumerate(trees):
        have = [] if k in skipped else number_leaves([children[wanted.index(arg)]])[1]
        if k not in skipped:
            children[wanted.index(arg)], wanted[wanted.index(arg)] = StaticTree(None), None
        leaves = number_leaves([arg])[1]
        floats = [i for i, leaf in enumerate(leaves) if leaf.type.is_float]
        if len(have) == len(leaves):
            have = [have[i] for i in floats]
        if not have:
            if any(leaves[i].type.dims for i in floats):
                raise error("T307", f"the backward rule of {obj.__name__!r} returns None for an array", back.loc)
            found += [Const(0.0, leaves[i].type) for i in floats]
            continue
        if len(have) != len(floats):
            raise error("T307", f"the backward rule of {obj.__name__!r} returns an adjoint of another structure", back.loc)
        found += [back.body.yields[leaf.k] for leaf in have]
    return tuple(found)
