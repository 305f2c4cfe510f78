"""`lift`: a Python function and the types of its arguments in, a core function out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gast
import numpy as np

from transpile.aggregates import UNSET, ArgLeaf, ArgSpec, Content, Leaf, Node, number_leaves, part_text
from transpile.aggregates import Static as StaticTree
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.errors import error
from transpile.frontend.calls import calls, kept_functions
from transpile.frontend.calls.inner_transforms import Stand
from transpile.frontend.calls.recursion import Kept
from transpile.frontend.finish import finish
from transpile.frontend.lifter import Lifter
from transpile.frontend.lifting import Transforms
from transpile.frontend.resolve import capture, closure_conversion, resolve, statics
from transpile.frontend.resolve import name_lookup as names
from transpile.frontend.resolve.bindings import Known, Literal, StaticValue
from transpile.frontend.resolve.closure_conversion import Sizes
from transpile.frontend.restarts import Dead, NeedRoutine, NeedValue, Restart
from transpile.frontend.sources.locate import head
from transpile.frontend.sources.sources import Code
from transpile.frontend.state import Frame
from transpile.frontend.values import changes, memory, outputs, read_only, registered, structure_values
from transpile.frontend.values.symbols import Symbols
from transpile.frontend.values.values import (
    Array,
    Bound,
    Buffer,
    Cell,
    Closure,
    Held,
    Items,
    Ref,
    Scalar,
    Static,
    Tuple,
)
from transpile.numpy_api.entries import entries
from transpile.numpy_api.signatures import POSITIONAL, signature

MAX_RESTARTS = 60
MANY = 4  # integers outside that differ in the number of an item only: when so many had to be known, all are taken as they are


def lift(
    make: type[Lifter],
    target: Any,
    arg_trees: Sequence[Any],
    kwarg_trees: Mapping[str, Any] | None = None,
    *,
    name: str | None = None,
    mutable: bool = False,
    outer: Lifter | None = None,
    pinned: ir.Loc | None = None,
    transforms: Transforms | None = None,
) -> ir.Function:
    """The core function, lifted by what ``make`` makes: see `transpile.frontend.whole_lifter.lift`."""
    kept = Tries(make, Symbols())
    functions = Kept() if outer is None else outer.kept
    restarts = 0
    while restarts < MAX_RESTARTS:
        lx = kept.lifter(mutable)
        lx.pinned, lx.kept = pinned, functions
        lx.transforms = transforms if outer is None else outer.transforms
        if outer is not None:
            lx.outer, lx.sizes, lx.codes, lx.own_rules = outer, Sizes(lx, outer), outer.codes, outer.own_rules
        try:
            return _once(lx, target, list(arg_trees), dict(kwarg_trees or {}), name)
        except Restart as again:
            if again.symbols is not None and again.symbols is not kept.symbols:
                raise
            restarts += 1
        except NeedRoutine as needed:
            functions.keep(needed.code)
            kept = Tries(make, Symbols())  # what was learnt in line does not hold
            restarts += 1
        except NeedValue as needed:  # as many as there are numbers outside, and no more
            if not kept.froze(lx, needed):
                statics.resolve_need(lx, needed)
    message = "the types of the variables of this function change with each attempt to find them"
    raise error("T206", message, hint="give each variable one dtype and shape")


class Tries:
    """What one try of lifting hands on to the next."""

    def __init__(self, make: type[Lifter], symbols: Symbols) -> None:
        self.make, self.symbols = make, symbols
        self.memo: dict[Any, Any] = {}
        self.codes: dict[Any, Any] = {}
        self.written: dict[int, None] = {}
        self.frozen: dict[Any, None] = {}
        self.needed: dict[Any, int] = {}  # how many captured integers of a kind

    def lifter(self, mutable: bool) -> Lifter:
        self.symbols.present.clear()
        lx = self.make(self.symbols, mutable)
        lx.memo, lx.codes, lx.written, lx.frozen = self.memo, self.codes, self.written, self.frozen
        return lx

    def freeze(self, found: Any) -> None:
        """Takes a captured integer as it is now; where several were needed that differ in the number of an item, all of them."""
        self.frozen[found] = None
        kind = capture.kind_of(found)
        self.needed[kind] = self.needed.get(kind, 0) + 1
        if self.needed[kind] == MANY:
            self.frozen[kind] = None

    def froze(self, lx: Lifter, needed: NeedValue) -> bool:
        """Whether a captured number gives the value: it is taken as it is now, integers first."""
        numbers = [v for v in needed.sources if v in lx.captures and not v.type.dims and _is_itself(lx.captures[v])]
        arguments = [var for var in needed.sources if var in lx.params and not var.type.dims and not var.type.is_float]
        whole = [var for var in numbers if var.type.is_int]
        for var in whole or (numbers if not arguments else ()):
            self.freeze(lx.captures[var])
            return True
        return False


def _is_itself(found: Any) -> bool:
    """Whether a number is equal to itself: NaN is not, and cannot be checked."""
    example = getattr(found, "example", None)
    return bool(example == example)


def _once(lx: Lifter, target: Any, args: list[Any], kwargs: dict[str, Any], name: str | None) -> ir.Function:
    lx.frame = Frame(code=Outside(), live=frozenset())
    target = _known(lx, target)
    if isinstance(target, Stand):
        opened, code = None, _code_of_stand(target, kwargs)
    else:
        opened = resolve.open_function(target)
        code = calls.code_of(lx, opened)
        lx.start = lx.pinned or head(opened.located)
    leaves: list[Any] = [leaf for tree in (*args, *kwargs.values()) for leaf in _arg_leaves(tree)]
    lx.first_capture = len(leaves)
    maker = Arguments(lx)
    given = [names.from_binding(lx, a) for a in opened.args] if opened is not None else []
    positional = _parameter_names(code.args)[len(given) :]
    values = [maker.value(tree, _name_at(positional, code.args, k)) for k, tree in enumerate(args)]
    keywords = {k: maker.value(tree, k) for k, tree in kwargs.items()}
    with lx.b.at(ir.NOWHERE):
        try:
            if opened is None:
                result = lx.apply(closure_conversion.brought(lx, target.lifter, target.value), values, keywords)
            else:
                bound = {**{k: names.from_binding(lx, v) for k, v in opened.kwargs.items()}, **keywords}
                result = lx.run(code, None, dict(opened.defaults), [*given, *values], bound, None)
        except Dead:
            result = Static(None)
        finally:
            for looks in lx.looks.values():
                looks.note()
    lx.start = lx.returned if lx.returned.line else lx.start
    with lx.rules():
        out_tree, yields = outputs.results(lx, result, maker.cells)
    lx.b.block.yields = yields
    params = (*maker.params, *lx.captures)
    loc = lx.pinned or code.loc(code.node, None)
    fn = ir.Function(
        name or code.name, params, lx.b.block, {}, loc, None, out_tree, _doc(code.node), tuple(lx.captures.values())
    )
    fn.errstate = tuple(lx.errstate.items())
    fn.arg_tree = _specs(code.args, positional, args, kwargs)
    for spec in fn.arg_tree:
        spec.default = UNSET if opened is None else _default(opened.defaults.get(spec.name))
    if fn.name == "<lambda>":
        fn.name = "function"
    return finish(lx, fn)


def _known(lx: Lifter, target: Any) -> Any:
    """A function of NumPy's or math's own (``grad(np.sin)``) is called, not opened; all others as they are."""
    if isinstance(target, (Stand, resolve.StaticFunction)):
        return target
    found = resolve.known_object(target)
    return Stand(Static(found), lx) if found is not None and any(n in entries() for n in found.names) else target


def _code_of_stand(target: Stand, kwargs: Iterable[str] = ()) -> Any:
    """The signature of a function of the lifter's own; ``kwargs``: what it is given by name."""
    value = target.value
    while isinstance(value, Bound):
        value = value.function
    if isinstance(value, Closure) and not isinstance(target.value, Bound):
        return value.code
    found = target.value.value if isinstance(target.value, Static) else None
    known = next((n for n in found.names if n in entries()), None) if isinstance(found, Known) else None
    takes = signature(known) if known is not None else None
    names = [k for k, p in takes.parameters.items() if p.default is p.empty and p.kind in POSITIONAL] if takes else []
    options = [f"{k}=None" for k in kwargs if k not in names]
    anonymous = gast.parse(f"lambda {', '.join([*names, '*args', *options])}: 0").body[0].value
    name = known.rpartition(".")[2] if known is not None else target.__name__
    return Code(anonymous, name, lambda node, caller: ir.NOWHERE, lambda name: None)


class Outside:
    """The code around the outermost function: there is none."""

    flags: frozenset[str] = frozenset()

    def loc(self, node: Any, caller: ir.Loc | None) -> ir.Loc:
        return ir.NOWHERE


def _arg_leaves(tree: Any) -> list[Any]:
    return number_leaves([tree])[1]


def _parameter_names(args: gast.arguments) -> list[str]:
    return [a.id for a in (*getattr(args, "posonlyargs", ()), *args.args)]


def _name_at(positional: list[str], args: gast.arguments, k: int) -> str:
    if k < len(positional):
        return positional[k]
    star = args.vararg.id if args.vararg is not None else "arg"
    return f"{star}_{k - len(positional)}"


def _doc(node: Any) -> str:
    first = node.body[0] if isinstance(node, gast.FunctionDef) else None
    if isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant) and isinstance(first.value.value, str):
        return first.value.value
    return ""


def _specs(spec: gast.arguments, positional: list[str], args: list[Any], kwargs: dict[str, Any]) -> tuple[ArgSpec, ...]:
    """How the parameters are found in the Python arguments."""
    numbered, _ = number_leaves([*args, *kwargs.values()])
    own, named = numbered[: len(args)], dict(zip(kwargs, numbered[len(args) :]))
    by_position = {a.id for a in getattr(spec, "posonlyargs", ())}
    given = [*zip(positional, own), *((n, named[n]) for n in positional[len(own) :] if n in named.keys() - by_position)]
    specs = [ArgSpec(n, tree, at=positional.index(n)) for n, tree in given]
    if len(own) > len(positional) and spec.vararg is not None:
        specs.append(ArgSpec(spec.vararg.id, Node("tuple", tuple(own[len(positional) :])), "varpos"))
    only = {a.id for a in spec.kwonlyargs}
    extra: dict[str, Any] = {}
    for key, tree in named.items():
        if key in only:
            specs.append(ArgSpec(key, tree, "kw"))
        elif key not in positional or key in by_position:
            extra[key] = tree
    if extra and spec.kwarg is not None:
        specs.append(ArgSpec(spec.kwarg.id, Node("dict", tuple(extra.values()), tuple(extra)), "varkw"))
    return tuple(specs)


def _default(found: Any) -> Any:
    """What an argument is where it is not given, if that is known."""
    if isinstance(found, Known) and found.value is None:
        return UNSET
    return found.value if isinstance(found, (Literal, StaticValue, Known)) else getattr(found, "example", UNSET)


# ------------------------------------------------------------------------------------------------------ arguments


class Arguments:
    """Makes the parameters: one for each leaf, in order."""

    def __init__(self, lx: Lifter) -> None:
        self.lx = lx
        self.params: list[ir.Var] = []
        self.cells: dict[Cell, ir.Var] = {}

    def value(self, tree: Any, name: str, written: str = "") -> Any:
        """The abstract value of an argument; ``written`` is how it is read in Python, if that is no name."""
        match tree:
            case ArgLeaf():
                return self.leaf(tree, name, written or name)
            case Content():
                return self.lx.structural(tree.value)
            case StaticTree():
                return self._static(tree.value)
            case Node():
                return self._node(tree, name, written or name)
            case Leaf():
                raise TypeError("lift takes trees of ArgLeaf")
        return Static(tree)

    def _static(self, value: Any) -> Any:
        if isinstance(value, Stand):
            return closure_conversion.brought(self.lx, value.lifter, value.value)
        if isinstance(value, np.generic):
            return Scalar(self.lx.b.operand(value))
        return structure_values.outside(self.lx, value)

    def _node(self, tree: Node, name: str, written: str) -> Any:
        own = tree.keys if tree.kind not in ("registered", kept_functions.KIND) else ()
        keys = own or tuple(range(len(tree.children)))
        items = tuple(
            self.value(c, f"{name}_{_plain(key)}", written + part_text(tree, k))
            for k, (key, c) in enumerate(zip(keys, tree.children))
        )
        for c, item in zip(tree.children, items):
            if isinstance(c, ArgLeaf):
                var = _var(self, item)
                self.lx.nameless[var] = var.name
        if tree.kind in ("tuple", "namedtuple"):
            return Tuple(items, tree.cls)
        if tree.kind == kept_functions.KIND:
            return kept_functions.put_together(self.lx, tree, items)
        readonly = read_only.GIVEN if self.lx.mutable else ""
        if tree.kind == "registered":
            return self._registered(tree, items, name, written, readonly)
        cell = Cell(name, readonly=readonly)
        kind = {"list": "list", "dict": "dict", "dataclass": "instance"}[tree.kind]
        items = registered.settled(self.lx, tree.cls, tree.keys, items)
        self.lx.state.cells[cell] = Items(kind, items, None if kind == "list" else tree.keys, tree.cls)
        self._note(cell, tree)
        return Ref(cell)

    def _registered(self, tree: Node, items: tuple[Any, ...], name: str, written: str, readonly: str) -> Any:
        """The instance that the class's own function makes; its leaves are called as the attributes that they become."""
        with self.lx.b.at(ir.NOWHERE):
            made = registered.from_node(self.lx, tree, items)
        if isinstance(made, Ref):
            made.cell.readonly = readonly
            self._note(made.cell, tree)
            held: Items = self.lx.state.cells[made.cell]
            for key, item in zip(held.keys or (), held.items):
                if any(item is own for own in items) and isinstance(item, (Scalar, Array)):
                    var = _var(self, item)
                    var.name = self.lx.nameless[var] = f"{name}_{_plain(key)}"
                    self.lx.symbols.written[self.lx.params[var]] = f"{written}.{key}"
        return made

    def leaf(self, leaf: ArgLeaf, name: str, written: str) -> Any:
        lx, k = self.lx, len(self.params)
        lx.symbols.written[k] = written
        type_ = self._type(leaf, k)
        var = ir.Var(name, type_)
        self.params.append(var)
        lx.params[var] = k
        if not type_.dims and type_.is_int:
            self._integer(var, leaf)
        if type_.dims and type_.is_int and leaf.example is not None:
            lx.examples[var] = leaf.example
        if not type_.dims and not leaf.zero_dim:
            return Scalar(var)
        cell = Cell(name, contiguous=not type_.dims, param=k)
        self._note(cell, leaf)
        if not type_.dims:
            self.cells[cell] = var
            lx.state.cells[cell] = memory.held(lx, var)
            return Array(cell)
        var.buffer = lx.mutable and k in lx.written
        lx.state.cells[cell] = Buffer(var) if var.buffer else Held(var)
        self.cells[cell] = var
        return Array(cell)

    def _note(self, cell: Cell, tree: Any) -> None:
        """Notes the array or the container that an argument, or a part of one, became."""
        self.lx.given[cell] = tree
        changes.argument(tree)

    def _integer(self, var: ir.Var, leaf: ArgLeaf) -> None:
        symbol = f"{var.name}.{self.lx.params[var]}."  # the name alone may be that of another: n_k, and k of n
        self.lx.b.bind_symbol(Dim.integer(symbol), var)
        if leaf.example is not None:
            self.lx.symbols.integers[symbol] = int(leaf.example)

    def _type(self, leaf: ArgLeaf, k: int) -> Type:
        given: Type = leaf.type
        if self.lx.sizes is not None:
            return self.lx.sizes.type(given, k)
        sizes = np.shape(leaf.example) if leaf.example is not None else (None,) * len(given.dims)
        dims: list[Dim] = []
        for axis, (dim, size) in enumerate(zip(given.dims, sizes)):
            dims.append(self._dim(dim, k, axis, size, len(given.dims)))
            self.lx.symbols.operand(self.lx, dims[-1])
        return given.with_dims(tuple(dims))

    def _dim(self, dim: Dim, k: int, axis: int, size: int | None, rank: int) -> Dim:
        """The symbol of an axis. A name that the caller gave (``Float[Array, "n d"]``) is shared, and checked."""
        symbols = self.lx.symbols
        wanted = dim.as_symbol
        own = symbols.argument(k, k, axis, size, rank)
        anonymous = wanted is None and not dim.is_const or (wanted is not None and wanted[:1] in "?_")
        if anonymous or own.is_const:
            return own
        return symbols.given(self.lx, own, dim)


def _var(arguments: Arguments, item: Any) -> ir.Var:
    """The parameter that a leaf became."""
    found = item.op if isinstance(item, Scalar) else arguments.cells[item.cell]
    assert isinstance(found, ir.Var)
    return found


def _plain(key: Any) -> str:
    text = "".join(c if c.isalnum() else "_" for c in str(key))
    return text or "item"
