"""What expressions and definitions of a file that is not executed mean: aliases, partials, lambdas, classes of data, decorators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import gast

from transpile.core import nodes as ir
from transpile.errors import error
from transpile.frontend.resolve import static_rules, static_transforms
from transpile.frontend.resolve.bindings import Binding, Known, Literal, StaticClass, StaticValue, User
from transpile.frontend.resolve.known import known_path, known_value
from transpile.frontend.resolve.literals import evaluate, meaning, member_of, not_literal
from transpile.frontend.resolve.static_file import StaticFile, StaticFunction

MEMBERS = {"builtins.staticmethod": "static", "builtins.classmethod": "class", "builtins.property": "property",
           "functools.cached_property": "property"}  # fmt: skip
_OF_CLASSES = frozenset("dataclasses.dataclass typing.final typing.runtime_checkable functools.total_ordering".split())


def kind_of(module: StaticFile, node: gast.FunctionDef | gast.Lambda) -> str:
    """What the decorators of a definition make of it: ``static``, ``class`` or ``property``, else ``plain``; T130 for one that may
    make it another function."""
    kind = "plain"
    for one in getattr(node, "decorator_list", []):
        name = static_rules.opened(module, one)[0]
        if static_rules.is_rule(one):
            continue
        if name in MEMBERS and not isinstance(one, gast.Call):
            kind = MEMBERS[name]
        elif name not in static_transforms.TRANSPARENT:
            _refuse_decorator(module, one, node.name)
    return kind


def _refuse_decorator(module: StaticFile, node: gast.expr, name: str) -> NoReturn:
    text = gast.unparse(node).strip()
    message = f"the command line does not run the file, so it does not know what '@{text}' does to {name!r}"
    hint = "name a function without a decorator, or call transpile.source in a running program"
    raise error("T130", message, module.loc(node), hint)


# ----------------------------------------------------------------------------------------------------- resolving


def resolve_value(module: StaticFile, name: str, node: gast.expr, loc: ir.Loc = ir.NOWHERE) -> Binding:
    """What ``name = <node>`` at module level binds."""
    match node:
        case gast.Name():
            return module.scope.lookup(node.id, module.loc(node))
        case gast.Attribute() if isinstance(node.value, (gast.Name, gast.Attribute)):
            return _attribute(module, name, node, loc)
        case gast.Lambda():
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
            "T406", f"the module constant {name!r} is not a literal", loc if loc.line else module.loc(node),
            notes=[f"{text!r} at {module.path}:{module.loc(problem).line} cannot be read without running it"],
            hint=f"pass {name!r} as an argument, or write the number",
        )  # fmt: skip
    literal = Literal(node, module.scope, name)
    if _is_static_tuple(node):
        return StaticValue(literal.value)
    return literal


def _attribute(module: StaticFile, name: str, node: gast.Attribute, loc: ir.Loc) -> Binding:
    owner = resolve_value(module, name, node.value, loc)
    attr = getattr(owner, "attr", None)
    if isinstance(owner, Literal) and member_of(node, module.scope) is not None:
        return Literal(node, module.scope, name)
    if (
        isinstance(owner, Known) and known_path(f"{owner.name}.{node.attr}").value is not None
    ):  # ``sys.float_info.epsilon``
        return known_path(f"{owner.name}.{node.attr}")
    if attr is None:
        message = f"the module constant {name!r} is not a literal"
        raise error("T406", message, loc if loc.line else module.loc(node), hint=f"pass {name!r} as an argument")
    return attr(node.attr, module.loc(node))


def _is_static_tuple(node: gast.expr) -> bool:
    """A tuple of strings, None and flags: static, where a tuple with a number in it is data."""
    leaves = [n for n in gast.walk(node) if isinstance(n, gast.Constant)]
    shape = all(isinstance(n, (gast.Tuple, gast.Constant, gast.Load)) for n in gast.walk(node))
    return shape and all(n.value is None or isinstance(n.value, (bool, str)) for n in leaves)


def _call(module: StaticFile, name: str, node: gast.Call) -> Binding | None:
    """Calls that bind a function or a class: ``partial(f, 2.0)``, ``njit(f)``, ``namedtuple("P", "x y")``."""
    if isinstance(node.func, gast.Call):  # ``njit(fastmath=True)(f)``, as a decorator with options
        is_known = static_rules.opened(module, node.func)[0] in static_transforms.TRANSPARENT
        return _wrapped(module, node) if is_known else static_transforms.assigned(module, name, node)
    called = meaning(module, node.func)
    if called is None:
        return None
    handlers: dict[str, Callable[[StaticFile, gast.Call], Binding | None]] = {
        "functools.partial": _partial,
        "collections.namedtuple": _namedtuple,
        **dict.fromkeys(static_transforms.TRANSPARENT, _wrapped),
    }
    if isinstance(called, Known) and called.name in static_rules.CUSTOM:
        return static_rules.assigned(module, name, node)
    if isinstance(called, Known) and called.name in static_transforms.NAMES:
        return static_transforms.assigned(module, name, node)
    handler = handlers.get(called.name) if isinstance(called, Known) else None
    return None if handler is None else handler(module, node)


def _partial(module: StaticFile, node: gast.Call) -> Binding | None:
    inner = meaning(module, node.args[0]) if node.args else None
    if inner is None:
        return None
    fn = inner.target if isinstance(inner, User) else None
    if not isinstance(
        fn, StaticFunction
    ):  # of NumPy, a class, one with a derivative of its own, one that is transformed
        return _calling(module, node)
    args = [module.resolve(f"argument {k}", a) for k, a in enumerate(node.args[1:], 1)]
    kwargs = {k.arg: module.resolve(k.arg or "", k.value) for k in node.keywords}
    return User(StaticFunction(fn.node, fn.module, fn.qualname, (*fn.args, *args), {**fn.kwargs, **kwargs}))


def _calling(module: StaticFile, node: gast.Call) -> Binding:
    """``partial(f, 2.0, k=3.0)`` as a function: ``lambda *args, **kwargs: f(2.0, *args, **{"k": 3.0, **kwargs})``."""
    for given in (*node.args, *(k.value for k in node.keywords)):
        if isinstance(given, gast.Name):  # refused if it stands for something else when the function is called
            module.lookup(given.id, module.loc(given))
    text = [gast.unparse(a).strip() for a in node.args]
    named = "".join(f"{k.arg!r}: {gast.unparse(k.value).strip()}, " for k in node.keywords if k.arg is not None)
    call = f"{text[0]}({', '.join([*text[1:], '*args'])}, **{{{named}**kwargs}})"
    made = gast.parse(f"lambda *args, **kwargs: {call}").body[0].value
    for part in gast.walk(made):
        gast.copy_location(part, node)
    return User(StaticFunction(made, module, "<lambda>"))


def _wrapped(module: StaticFile, node: gast.Call) -> Binding | None:
    return meaning(module, node.args[0]) if node.args else None


def _namedtuple(module: StaticFile, node: gast.Call) -> Binding | None:
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


def static_class(module: StaticFile, node: gast.ClassDef) -> StaticClass:
    """The description of a class statement: a named tuple, a dataclass or any other class."""
    bases = [meaning(module, b) for b in node.bases]
    decorators = [meaning(module, d.func if isinstance(d, gast.Call) else d) for d in node.decorator_list]
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


def made_like(cls: StaticClass) -> type | None:
    """A class with the bases of a class statement, and nothing else of it; None where one of them is not known."""
    bases: list[Any] = []
    for base in getattr(cls.node, "bases", ()):
        found = meaning(cls.scope.module, base)
        held = known_value(found) if isinstance(found, Known) else getattr(found, "value", None)
        held = made_like(held) if isinstance(held, StaticClass) else held
        if not isinstance(held, type):
            return None
        bases.append(held)
    try:
        return type(cls.name, tuple(bases), {})
    except TypeError:  # such bases no class has
        return None


_ROOTS = ("typing.NamedTuple", "builtins.object")
