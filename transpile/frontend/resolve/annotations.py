"""Types as text: annotations of a source file, and ``--arg 'x=float64[n,d]'``.

Both give trees whose leaves are `ArgLeaf` with a core type (no example). Annotations are read from the syntax;
jaxtyping and the like are never imported.

>>> name, tree = parse_arg("x=float64[n, 2*d+1]")
>>> name, str(tree.type)
('x', 'float64[n, 2 * d + 1]')
>>> parse_arg("p={'w': float32[d], 'b': float}")[1].keys
('w', 'b')
>>> parse_arg("mode='relu'")
('mode', Static('relu'))
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import gast

from transpile.aggregates import REGISTERED, ArgLeaf, Node, Static, Tree
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import BOOL, DTYPES, FLOAT, INT, Type
from transpile.errors import NO_COMPLEX, TranspileError, error
from transpile.frontend.resolve.bindings import Known, StaticClass, StaticValue
from transpile.frontend.resolve.literals import evaluate

PYTHON = {"float": FLOAT, "int": INT, "bool": BOOL}
# jaxtyping's classes of dtypes: where several fit, the one that NumPy makes by default
ARRAYS = {
    "Float": "float64", "Inexact": "float64", "Real": "float64", "Num": "float64", "Shaped": "float64", "Int": "int64",
    "Integer": "int64", "UInt": "uint64", "Bool": "bool",
    **{d.replace("uint", "UInt").title().replace("Uint", "UInt"): d for d in DTYPES if d != "bool"},
}  # fmt: skip
_SHAPE_HINT = "write its shape: Float[np.ndarray, \"n d\"], or --arg '{0}=float64[n,d]'"


# --------------------------------------------------------------------------------------------------- --arg


def parse_arg(text: str) -> tuple[str, Tree]:
    """``name=type`` as (name, tree): a dtype, ``dtype[dims]``, ``float``, ``int``, ``bool``, containers, or a literal.

    Raises T414 for what cannot be read.
    """
    name, equals, rest = text.partition("=")
    if not equals or not all(part.isidentifier() for part in name.strip().split(".")):
        raise error("T414", f"cannot read {text!r}", hint="write it as 'x=float64[n,d]'")
    try:
        node = gast.parse(rest.strip().replace("[]", ""), mode="eval").body
    except SyntaxError:
        raise error("T414", f"cannot read the type {rest.strip()!r}", hint="write it as 'x=float64[n,d]'") from None
    return name.strip(), _arg_tree(node, name.strip())


def _arg_tree(node: gast.expr, name: str) -> Tree:
    match node:
        case gast.Tuple() | gast.List():
            children = tuple(_arg_tree(e, name) for e in node.elts)
            return Node("tuple" if isinstance(node, gast.Tuple) else "list", children)
        case gast.Dict():
            keys = tuple(ast.literal_eval(gast.unparse(k).strip()) for k in node.keys)
            return Node("dict", tuple(_arg_tree(v, name) for v in node.values), keys)
        case gast.Name() if node.id in PYTHON:
            return ArgLeaf(PYTHON[node.id])
        case gast.Name() if node.id in DTYPES:
            return ArgLeaf(Type(node.id))
        case gast.Subscript(value=gast.Name()) if node.value.id in DTYPES:
            items = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
            return ArgLeaf(Type(node.value.id, tuple(dim_of(i) for i in items)))
    try:
        return Static(ast.literal_eval(gast.unparse(node).strip()))
    except ValueError:
        text = gast.unparse(node).strip()
        if text.startswith("complex"):
            raise error("T311", f"argument {name!r} is complex: {text!r}", hint=NO_COMPLEX) from None
        hint = "write a dtype with sizes (float64[n,d]), float, int, bool, or a literal"
        raise error("T414", f"cannot read the type {text!r} of {name!r}", hint=hint) from None


_DIM_OPERATORS: dict[type, Callable[[Dim, Dim], Dim]] = {
    gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul, gast.FloorDiv: operator.floordiv,
}  # fmt: skip


def dim_of(node: gast.expr) -> Dim:
    """A dimension: a number, a symbol, or a sum, difference, product or whole quotient of such; else T414."""
    match node:
        case gast.Constant() if type(node.value) is int and node.value >= 0:
            return Dim(node.value)
        case gast.Name():
            return Dim.symbol(node.id)
        case gast.BinOp() if type(node.op) in _DIM_OPERATORS:
            return _DIM_OPERATORS[type(node.op)](dim_of(node.left), dim_of(node.right))
    text = gast.unparse(node).strip()
    raise error("T414", f"cannot read the size {text!r}", hint="write a number, a name, or an expression like 2*n+1")


# ---------------------------------------------------------------------------------------------- annotations


def annotation_tree(node: gast.expr | None, scope: Any, name: str, loc: ir.Loc = ir.NOWHERE) -> Tree:
    """The structure and types that the annotation of parameter ``name`` gives.

    ``scope`` resolves the names in it. Raises T415 where no type is given or a shape is missing, T414 where it cannot
    be read.
    """
    if node is None:
        hint = f"annotate it, or pass --arg '{name}=float64[n]'"
        raise error("T415", f"argument {name!r} has no type", loc, hint)
    return _Reader(scope, name, loc).tree(node)


def class_tree(cls: StaticClass, name: str, loc: ir.Loc = ir.NOWHERE) -> Tree:
    """The structure and types of an object of a class, as its fields are annotated, for the parameter ``name``
    (``self``)."""
    if cls.kind == "class":
        hint = "make it a dataclass with annotated fields, or write a function that takes the values"
        raise error("T415", f"{name!r} has no type: {cls.name!r} does not annotate its attributes", loc, hint)
    return _Reader(cls.scope, name, loc).fields(cls, cls.node)


def static_defaults(cls: StaticClass) -> dict[str, Static]:
    """The values of the fields that belong to the structure (`transpile.tree.register_dataclass`): their defaults."""
    how = REGISTERED.get(cls)  # type: ignore[call-overload]
    found: dict[str, Static] = {}
    for name, _, default in cls.fields if how is not None else ():
        given = default
        if isinstance(default, gast.Call):  # field(default=3, metadata=...)
            given = next((k.value for k in default.keywords if k.arg == "default"), None)
        if name in how.meta and given is not None:
            found[name] = Static(evaluate(given, cls.scope))
    return found


class _Reader:
    def __init__(self, scope: Any, name: str, loc: ir.Loc) -> None:
        self.scope, self.name, self.loc = scope, name, loc
        self.anonymous = 0

    def tree(self, node: gast.expr) -> Tree:
        match node:
            case gast.Constant() if node.value is None:
                return Static(None)
            case gast.Constant() if isinstance(node.value, str):
                return self.tree(self.parse(node.value.replace("[]", "")))
            case gast.Tuple() | gast.List():  # as in --arg
                kind = "tuple" if isinstance(node, gast.Tuple) else "list"
                return Node(kind, tuple(self.tree(e) for e in node.elts))
            case gast.Dict() if node.keys and all(isinstance(k, gast.Constant) for k in node.keys):
                return Node("dict", tuple(self.tree(v) for v in node.values), tuple(k.value for k in node.keys))
            case gast.Name() | gast.Attribute():
                return self.named(node)
            case gast.Subscript():
                items = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
                return self.subscripted(node, self.last(node.value), items)
        self.refuse(node)

    def parse(self, text: str) -> gast.expr:
        try:
            return gast.parse(text.strip(), mode="eval").body
        except SyntaxError:
            hint = _SHAPE_HINT.format(self.name)
            raise error("T414", f"cannot read the annotation {text!r} of {self.name!r}", self.loc, hint) from None

    def last(self, node: gast.expr) -> str:
        """The name without its module: ``Float`` of ``jaxtyping.Float``, also under another name."""
        known = self.resolve(node)
        text = known.name if isinstance(known, Known) else gast.unparse(node).strip()
        return text.rpartition(".")[2]

    def resolve(self, node: gast.expr) -> Any:
        try:
            if isinstance(node, gast.Name):
                return self.scope.lookup(node.id)
            if isinstance(node, gast.Attribute):
                owner = self.resolve(node.value)
                return owner.attr(node.attr) if hasattr(owner, "attr") else None
        except TranspileError:
            return None  # an import that cannot be followed: the text alone decides
        return None

    def named(self, node: gast.expr) -> Tree:
        bound = self.resolve(node)
        if isinstance(bound, StaticValue) and isinstance(bound.value, StaticClass):
            return self.fields(bound.value, node)
        name = self.last(node)
        if name in PYTHON:
            return ArgLeaf(PYTHON[name])
        if name in DTYPES:
            return ArgLeaf(Type(name))
        if name in ("ndarray", "Array", "ArrayLike", "NDArray", *ARRAYS):
            self.shapeless(node)
        self.refuse(node)

    def fields(self, cls: StaticClass, node: gast.AST) -> Tree:
        if cls.kind == "class":
            self.refuse(node)
        readers = [(_Reader(cls.scope, f"{self.name}.{f}", self.loc), a) for f, a, _ in cls.fields]
        known = static_defaults(cls)
        children = tuple(
            known[f[0]] if f[0] in known else annotation_tree(None, None, r.name, self.loc) if a is None else r.tree(a)
            for f, (r, a) in zip(cls.fields, readers)
        )
        return Node(cls.kind, children, tuple(f for f, _, _ in cls.fields), cls)  # type: ignore[arg-type]

    def subscripted(self, node: gast.Subscript, base: str, items: list[gast.expr]) -> Tree:
        if base in ARRAYS and len(items) == 2:
            return ArgLeaf(Type(ARRAYS[base], self.dims(items[1])))
        if base in DTYPES:
            return ArgLeaf(Type(base, tuple(dim_of(i) for i in items)))
        if base in ("Annotated", "Final"):
            return self.tree(items[0])
        if base in ("tuple", "Tuple"):
            if any(isinstance(i, gast.Constant) and i.value is Ellipsis for i in items):
                hint = "write an entry for each element: tuple[float, float]"
                raise error("T415", f"the annotation of {self.name!r} does not say its length", self.loc, hint)
            return Node("tuple", tuple(self.tree(i) for i in items))
        if base in ("NDArray", "ndarray"):
            self.shapeless(node)
        self.refuse(node)

    def dims(self, node: gast.expr) -> tuple[Dim, ...]:
        if not (isinstance(node, gast.Constant) and isinstance(node.value, str)):
            self.refuse(node)
        return tuple(self.dim(token) for token in node.value.split())

    def dim(self, token: str) -> Dim:
        name, equals, value = token.partition("=")
        if equals:
            token = value if value.isdigit() else name
        if token == "_":
            self.anonymous += 1
            return Dim.symbol(f"{self.name}_{self.anonymous}")
        if token == "..." or token[:1] in ("*", "#", "?"):
            hint = 'name every axis: Float[np.ndarray, "n d"]'
            raise error(
                "T414", f"{token!r} in the annotation of {self.name!r} leaves the shape open", self.loc, hint=hint
            )
        return dim_of(self.parse(token))

    def shapeless(self, node: gast.expr) -> NoReturn:
        text = gast.unparse(node).strip()
        hint = _SHAPE_HINT.format(self.name)
        raise error("T415", f"the annotation {text!r} of {self.name!r} does not say its shape", self.loc, hint)

    def refuse(self, node: gast.expr) -> NoReturn:
        text = gast.unparse(node).strip()
        if "complex" in text.lower():
            raise error("T311", f"argument {self.name!r} is complex: {text!r}", self.loc, hint=NO_COMPLEX)
        hint = _SHAPE_HINT.format(self.name)
        raise error("T414", f"cannot read the annotation {text!r} of {self.name!r}", self.loc, hint)
