"""Module-level expressions of a file that is not executed: literals, aliases, partials, lambdas, classes of data.

A literal is built from numbers, strings, containers, arithmetic, other literal constants of the module, constants
such as ``math.pi``, and calls of a few pure functions of NumPy, math and Python. Everything else is refused with
T406.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import gast
import numpy as np

from transpile.core.nodes import NOWHERE, Loc
from transpile.errors import TranspileError, error
from transpile.frontend import static_rules, static_transforms
from transpile.frontend.bindings import Binding, Known, Literal, StaticClass, StaticValue, User
from transpile.frontend.spines import Chain

if TYPE_CHECKING:
    from transpile.frontend.static import StaticModule, StaticScope

# Decorators and wrappers that leave what a function computes as it is.
TRANSPARENT = frozenset(
    "numba.njit numba.jit numba.core.decorators.njit numba.core.decorators.jit transpile.jit functools.lru_cache"
    " functools.cache builtins.staticmethod functools.wraps jaxtyping.jaxtyped typing.no_type_check typing.final"
    " typing.override typing_extensions.override typing.overload abc.abstractmethod".split()
)
MEMBERS = {"builtins.staticmethod": "static", "builtins.classmethod": "class", "builtins.property": "property",
           "functools.cached_property": "property"}  # fmt: skip
_OF_CLASSES = frozenset("dataclasses.dataclass typing.final typing.runtime_checkable functools.total_ordering".split())


def kind_of(module: StaticModule, node: gast.FunctionDef | gast.Lambda) -> str:
    """What the decorators of a definition make of it: ``static``, ``class`` or ``property``, else ``plain``; T130 for one that may
    make it another function."""
    kind = "plain"
    for one in getattr(node, "decorator_list", []):
        name = static_rules.opened(module, one)[0]
        if static_rules.is_rule(one):
            continue
        if name in MEMBERS and not isinstance(one, gast.Call):
            kind = MEMBERS[name]
        elif name not in TRANSPARENT:
            _refuse_decorator(module, one, node.name)
    return kind


def _refuse_decorator(module: StaticModule, node: gast.expr, name: str) -> NoReturn:
    text = gast.unparse(node).strip()
    raise error("T130", f"what '@{text}' makes of {name!r} is not known without running the file", module.loc(node),
                hint="name a function without it, or call transpile.source in a running program")  # fmt: skip


_PURE_NUMPY = (
    "array asarray float64 float32 float16 int64 int32 int16 int8 uint8 bool linspace arange eye identity zeros ones"
    " full diag dtype sqrt exp log log2 log10 sin cos tan arctan arcsin arccos sinh cosh tanh deg2rad rad2deg radians"
    " degrees power"
).split()
_PURE_BUILTINS = "float int complex bool tuple list range len abs min max sum round dict frozenset slice".split()


def is_pure(name: str) -> bool:
    """Whether a function of this dotted name may stand in a literal expression."""
    root, _, rest = name.partition(".")
    return root == "math" or rest in {"numpy": _PURE_NUMPY, "builtins": _PURE_BUILTINS}.get(root, ())


# ----------------------------------------------------------------------------------------------------- resolving


def resolve_value(module: StaticModule, name: str, node: gast.expr, loc: Loc = NOWHERE) -> Binding:
    """What ``name = <node>`` at module level binds."""
    match node:
        case gast.Name():
            return module.scope.lookup(node.id, module.loc(node))
        case gast.Attribute():
            return _attribute(module, name, node, loc)
        case gast.Lambda():
            from transpile.frontend.static import StaticFunction

            return User(StaticFunction(node, module, "<lambda>"))
        case gast.Constant() if node.value in (None, ...) or isinstance(node.value, (bool, str, bytes)):
            return StaticValue(node.value)
        case gast.Call():
            special = _call(module, name, node)
            if special is not None:
                return special
    problem = not_literal(node, module.scope)
    if problem is not None:
        text = gast.unparse(problem).strip()
        raise error(
            "T406", f"module constant {name!r} is not a literal", loc if loc.line else module.loc(node),
            notes=[f"{text!r} at {module.path}:{module.loc(problem).line} cannot be read without running it"],
            hint=f"pass {name!r} as an argument, or write the number",
        )  # fmt: skip
    literal = Literal(node, module.scope, name)
    if _is_static_tuple(node):
        return StaticValue(literal.value)
    return literal


def _attribute(module: StaticModule, name: str, node: gast.Attribute, loc: Loc) -> Binding:
    owner = resolve_value(module, name, node.value, loc)
    attr = getattr(owner, "attr", None)
    if attr is None:
        raise error("T406", f"module constant {name!r} is not a literal", loc if loc.line else module.loc(node),
                    hint=f"pass {name!r} as an argument")  # fmt: skip
    return attr(node.attr, module.loc(node))


def _is_static_tuple(node: gast.expr) -> bool:
    """A tuple of strings, None and flags: static, where a tuple with a number in it is data."""
    leaves = [n for n in gast.walk(node) if isinstance(n, gast.Constant)]
    shape = all(isinstance(n, (gast.Tuple, gast.Constant, gast.Load)) for n in gast.walk(node))
    return shape and all(n.value is None or isinstance(n.value, (bool, str)) for n in leaves)


def _call(module: StaticModule, name: str, node: gast.Call) -> Binding | None:
    """Calls that bind a function or a class: ``partial(f, 2.0)``, ``njit(f)``, ``namedtuple("P", "x y")``."""
    called = _maybe(module, node.func)
    if called is None:
        return None
    handlers: dict[str, Callable[[StaticModule, gast.Call], Binding | None]] = {
        "functools.partial": _partial,
        "collections.namedtuple": _namedtuple,
        **dict.fromkeys(TRANSPARENT, _wrapped),
    }
    if isinstance(called, Known) and called.name in static_rules.CUSTOM:
        return static_rules.assigned(module, name, node)
    if isinstance(called, Known) and called.name in static_transforms.NAMES:
        return static_transforms.assigned(module, name, node)
    handler = handlers.get(called.name) if isinstance(called, Known) else None
    return None if handler is None else handler(module, node)


def _partial(module: StaticModule, node: gast.Call) -> Binding | None:
    from transpile.frontend.static import StaticFunction, resolve_expression

    inner = _maybe(module, node.args[0]) if node.args else None
    if inner is None:
        return None
    fn = inner.target if isinstance(inner, User) else None
    if not isinstance(
        fn, StaticFunction
    ):  # of NumPy, a class, one with a derivative of its own, one that is transformed
        return _calling(module, node)
    args = [resolve_expression(module, f"argument {k}", a) for k, a in enumerate(node.args[1:], 1)]
    kwargs = {k.arg: resolve_expression(module, k.arg or "", k.value) for k in node.keywords}
    return User(StaticFunction(fn.node, fn.module, fn.qualname, (*fn.args, *args), {**fn.kwargs, **kwargs}))


def _calling(module: StaticModule, node: gast.Call) -> Binding:
    """``partial(f, 2.0, k=3.0)`` as a function: ``lambda *args, **kwargs: f(2.0, *args, **{"k": 3.0, **kwargs})``."""
    from transpile.frontend.static import StaticFunction

    text = [gast.unparse(a).strip() for a in node.args]
    named = "".join(f"{k.arg!r}: {gast.unparse(k.value).strip()}, " for k in node.keywords if k.arg is not None)
    call = f"{text[0]}({', '.join([*text[1:], '*args'])}, **{{{named}**kwargs}})"
    made = gast.parse(f"lambda *args, **kwargs: {call}").body[0].value
    for part in gast.walk(made):
        gast.copy_location(part, node)
    return User(StaticFunction(made, module, "<lambda>"))


def _wrapped(module: StaticModule, node: gast.Call) -> Binding | None:
    return _maybe(module, node.args[0]) if node.args else None


def _maybe(module: StaticModule, node: gast.expr) -> Binding | None:
    try:
        return resolve_value(module, "", node)
    except TranspileError:
        return None


def _namedtuple(module: StaticModule, node: gast.Call) -> Binding | None:
    scope = module.scope
    if len(node.args) < 2 or any(not_literal(a, scope) for a in node.args[:2]):
        return None
    name, names = evaluate(node.args[0], scope), evaluate(node.args[1], scope)
    names = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    given = [k.value for k in node.keywords if k.arg == "defaults"]
    defaults: list[gast.expr] = getattr(given[0], "elts", []) if given else []
    values = [None] * (len(names) - len(defaults)) + list(defaults)
    key = f"{name}@{node.lineno}"
    if key not in module.classes:
        fields = tuple((n, None, v) for n, v in zip(names, values))
        module.classes[key] = StaticClass(name, "namedtuple", fields, {}, scope, node)
    return StaticValue(module.classes[key])


def static_class(module: StaticModule, node: gast.ClassDef) -> StaticClass:
    """The description of a class statement: a named tuple, a dataclass or any other class."""
    from transpile.frontend.static import StaticFunction

    bases = [_maybe(module, b) for b in node.bases]
    decorators = [_maybe(module, d.func if isinstance(d, gast.Call) else d) for d in node.decorator_list]
    for found, written in zip(decorators, node.decorator_list):
        if static_rules.is_registration(module, written):
            continue
        if not isinstance(found, Known) or found.name not in _OF_CLASSES:
            _refuse_decorator(module, written, node.name)
    kind = "class"
    if any(isinstance(b, Known) and b.name == "typing.NamedTuple" for b in bases):
        kind = "namedtuple"
    elif any(isinstance(d, Known) and d.name == "dataclasses.dataclass" for d in decorators):
        kind = "dataclass"
    inherited = [b.value for b in reversed(bases) if isinstance(b, StaticValue) and isinstance(b.value, StaticClass)]
    fields = {f[0]: f for base in inherited for f in base.fields}
    for s in node.body:
        if isinstance(s, gast.AnnAssign) and isinstance(s.target, gast.Name) and kind != "class":
            fields[s.target.id] = (s.target.id, s.annotation, s.value)
    methods = {k: m for base in inherited for k, m in base.methods.items()}
    own = {s.name for s in node.body if isinstance(s, gast.FunctionDef)}
    if kind == "class" and not own & {"__init__", "__new__"}:  # it is made as the class is that it comes from
        kind = next((base.kind for base in reversed(inherited) if base.kind != "class"), kind)
    for s in node.body:
        if isinstance(s, gast.FunctionDef):
            methods[s.name] = StaticFunction(s, module, f"{node.name}.{s.name}")
    known = tuple(
        b.value if isinstance(b, StaticValue) and isinstance(b.value, StaticClass) else None
        for b in bases
        if not isinstance(b, Known) or b.name not in _ROOTS
    )
    return StaticClass(node.name, kind, tuple(fields.values()), methods, module.scope, node, known)


_ROOTS = ("typing.NamedTuple", "builtins.object")


def assigned(cls: StaticClass, name: str) -> Binding | None:
    """What the last assignment of the name in the body of a class binds it to."""
    module = cls.scope.module
    for s in reversed(getattr(cls.node, "body", [])):
        targets = s.targets if isinstance(s, gast.Assign) else [s.target] if isinstance(s, gast.AnnAssign) else []
        if any(isinstance(t, gast.Name) and t.id == name for t in targets) and s.value is not None:
            return resolve_value(module, f"{cls.name}.{name}", s.value)
    return None


# ------------------------------------------------------------------------------------------------------ literals


def not_literal(node: gast.expr, scope: StaticScope) -> gast.expr | None:
    """The first part of the expression that keeps it from being a literal, or None if it is one."""
    match node:
        case gast.Constant():
            return None
        case gast.Name() | gast.Attribute():
            return None if _constant_of(node, scope) is not None else node
        case gast.Call():
            called = _called(node, scope)
            if called is None or not is_pure(called):
                return node
            return _first_problem([*node.args, *(k.value for k in node.keywords)], scope)
        case gast.Starred():
            return not_literal(node.value, scope)
    if type(node) not in _EVALUATORS:
        return node
    return _first_problem([n for n in gast.iter_child_nodes(node) if isinstance(n, gast.expr)], scope)


def _first_problem(nodes: list[gast.expr], scope: StaticScope) -> gast.expr | None:
    return next(_problems(nodes, scope), None)


def _problems(nodes: list[gast.expr], scope: StaticScope) -> Iterator[gast.expr]:
    for node in nodes:
        found = not_literal(node, scope)
        if found is not None:
            yield found


def _constant_of(node: gast.expr, scope: StaticScope) -> tuple[Any] | None:
    """The value of a name or attribute that is a constant, as a tuple of one."""
    try:
        bound = resolve_value(scope.module, "", node)
    except TranspileError:
        return None
    match bound:
        case Literal():
            return (bound.value,)
        case StaticValue():
            return (bound.value,)
        case Known() if bound.value is not None:
            return (bound.value,)
        case Known() if bound.name.startswith("numpy.") and isinstance(getattr(np, bound.name[6:], None), type):
            return (getattr(np, bound.name[6:]),)
        case Known() if bound.name in ("builtins.float", "builtins.int", "builtins.bool", "builtins.complex"):
            return (getattr(builtins, bound.name[9:]),)
    return None


def _called(node: gast.Call, scope: StaticScope) -> str | None:
    bound = _maybe(scope.module, node.func)
    return bound.name if isinstance(bound, Known) else None


def evaluate(node: gast.expr, scope: StaticScope) -> Any:
    """The value of a literal expression (`not_literal` is None)."""
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, (gast.Name, gast.Attribute)):
        found = _constant_of(node, scope)
        assert found is not None, gast.unparse(node)
        return found[0]
    return _EVALUATORS[type(node)](node, scope)


_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul, gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv, gast.Mod: operator.mod, gast.Pow: operator.pow, gast.MatMult: operator.matmul,
    gast.LShift: operator.lshift, gast.RShift: operator.rshift, gast.BitOr: operator.or_, gast.BitAnd: operator.and_,
    gast.BitXor: operator.xor,
}  # fmt: skip
_UNARY: dict[type, Callable[[Any], Any]] = {
    gast.USub: operator.neg, gast.UAdd: operator.pos, gast.Not: operator.not_, gast.Invert: operator.invert,
}  # fmt: skip


def _elements(nodes: list[gast.expr], scope: StaticScope) -> list[Any]:
    found: list[Any] = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            found += evaluate(node.value, scope)
        else:
            found.append(evaluate(node, scope))
    return found


def _evaluate_dict(node: gast.Dict, scope: StaticScope) -> Any:
    keys = [None if k is None else evaluate(k, scope) for k in node.keys]
    merged: dict[Any, Any] = {}
    for key, key_node, value in zip(keys, node.keys, node.values):
        merged.update(evaluate(value, scope) if key_node is None else {key: evaluate(value, scope)})
    return merged


def _evaluate_call(node: gast.Call, scope: StaticScope) -> Any:
    root, _, name = (_called(node, scope) or "").partition(".")
    function = getattr({"math": math, "numpy": np, "builtins": builtins}[root], name)
    return function(*_elements(node.args, scope), **{k.arg: evaluate(k.value, scope) for k in node.keywords})


_EVALUATORS: dict[type, Callable[[Any, Any], Any]] = {
    gast.UnaryOp: lambda node, scope: _UNARY[type(node.op)](evaluate(node.operand, scope)),
    Chain: lambda node, scope: functools.reduce(
        lambda value, part: _BINARY[type(part.op)](value, evaluate(part.right, scope)),
        node.parts(),
        evaluate(node.left, scope),
    ),
    gast.BinOp: lambda node, scope: _BINARY[type(node.op)](evaluate(node.left, scope), evaluate(node.right, scope)),
    gast.Tuple: lambda node, scope: tuple(_elements(node.elts, scope)),
    gast.List: lambda node, scope: _elements(node.elts, scope),
    gast.Dict: _evaluate_dict,
    gast.Subscript: lambda node, scope: evaluate(node.value, scope)[evaluate(node.slice, scope)],
    gast.Call: _evaluate_call,
}
