"""Values as expression nodes: by `SPELLED` for each form, else by the templates and spellings of the records."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from transpile.codegen.expression_nodes import LOAD, boolean, call, dotted, number, operator, shortest, variable
from transpile.codegen.numpy.exact_integers import OBJECT
from transpile.codegen.numpy.expression_trees import Nested
from transpile.codegen.numpy.place_nodes import place, subscript, transposed
from transpile.codegen.numpy.printed_shapes import Shape, reshape_form
from transpile.codegen.templates import fill
from transpile.core import nodes as ir
from transpile.core.dims import Atom, Dim
from transpile.ops.element import Arg, Choose, Infix, Prefix
from transpile.ops.spelling import PLAIN, Form, Spelling, axes_of
from transpile.ops.tables import UNKNOWN, records


class Expressions:
    """Makes nodes for the operands of one function. ``names`` are the Python names of its variables.

    ``zero_d``: scalar parameters that are written, passed as 0-d arrays.
    """

    def __init__(self, nested: Nested, names: Mapping[ir.Var, str]) -> None:
        self.nested, self.names = nested, names
        self.zero_d = {p for p in nested.fn.params if p.buffer and not p.type.dims}

    def operand(self, operand: ir.Operand, strict: bool = False) -> ast.expr:
        """The node of an operand, with all that is nested in it; an undefined value is ``None``.

        With ``strict`` a constant shows its dtype, unless NumPy gives that to a Python number.
        """
        match operand:
            case ir.Const():
                return self.constant(operand, strict)
            case ir.Undef():
                return ast.Constant(None)
        tree = self.nested.trees.get(operand)
        if tree is None:
            return self.name(operand)
        if isinstance(tree, ir.If):
            return self.conditional(tree)
        return self.let(tree) if isinstance(tree, ir.Let) else self.called(tree)

    def name(self, var: ir.Var) -> ast.expr:
        return variable(self.names[var])

    def constant(self, const: ir.Const, strict: bool) -> ast.expr:
        """The node of a constant: the shortest number; with ``strict`` as ``np.float32(...)`` where a number has another
        dtype."""
        value = const.value.item() if isinstance(const.value, np.generic) else const.value
        node = number(shortest(value, const.type.dtype))
        if isinstance(value, float) and not np.isfinite(value):
            node = dotted("np.nan") if value != value else dotted("np.inf")
            node = ast.UnaryOp(ast.USub(), node) if value < 0 else node
        if strict and not const.type.weak and const.type.dtype not in PLAIN:
            return call(dotted(f"np.{const.type.dtype}"), node)
        return node

    def conditional(self, tree: ir.If) -> ast.expr:
        """The node of a branch as a conditional expression, or as ``and`` or ``or`` where that means the same."""
        a, b = tree.then.yields[0], tree.orelse.yields[0]
        test = self.operand(tree.test)
        if self.nested.is_connective(tree):
            if isinstance(b, ir.Const) and not b.value:
                return boolean(ast.And(), test, self.operand(a))
            if isinstance(a, ir.Const) and a.value:
                return boolean(ast.Or(), test, self.operand(b))
        return ast.IfExp(test, self.operand(a, True), self.operand(b, True))

    def called(self, stmt: ir.Call) -> ast.expr:
        """The node of a call of a kept function, which the module defines: nothing is imported."""
        bare = all(isinstance(a, ir.Const) or a.type.weak for a in stmt.args)
        return call(variable(stmt.routine.name), *(self.operand(a, bare) for a in stmt.args))

    # ---- primitives

    def let(self, let: ir.Let) -> ast.expr:
        """The node of what a *let* computes."""
        form = records()[let.prim].form
        return SPELLED[form](self, let) if form is not None else self.of_number(let) or self.by_record(let)

    def of_number(self, let: ir.Let) -> ast.expr | None:
        """The node of a scalar in Python's own words: ``x if c else y``, ``and``, ``or``, ``not``; None for all other
        primitives."""
        match records()[let.prim].element if not let.var.type.dims else None:
            case Choose(Arg(test), Arg(yes), Arg(no)):
                return ast.IfExp(*(self.operand(let.args[k]) for k in (test, yes, no)))
            case Infix("and" | "or" as word, Arg(), Arg()) if all(a.type.is_bool for a in let.args):
                return boolean(ast.And() if word == "and" else ast.Or(), *map(self.operand, let.args))
            case Prefix("not", Arg()):
                return ast.UnaryOp(ast.Not(), self.operand(let.args[0]))
        return None

    def by_record(self, let: ir.Let) -> ast.expr:
        """The node that the primitive's record spells: an operator, a function or a template; signs are simplified."""
        record = records()[let.prim]
        if record.is_sum and (turned := self.turned(let.args[1])) is not None:
            return operator("+" if record.is_difference else "-", [self.operand(let.args[0]), turned])
        if (turned := self.sign_taken(let)) is not None:
            return turned
        render = self.spelling(let)
        if render == "op:**" and (power := self.whole_exponent(let)) is not None:
            return operator("**", [self.operand(let.args[0]), power])
        # if all operands are literals they must show the dtype, unless the spelling names it (``np.array``)
        says_dtype = isinstance(render, Spelling) and render.says_dtype
        bare = not says_dtype and all(isinstance(a, ir.Const) or a.type.weak for a in let.args)
        args = [self.operand(a, bare) for a in let.args]
        if let.params.get("py") and record.extreme and self.is_same_call(let, args[0]):
            return call(args[0].func, *args[0].args, args[1])  # type: ignore[attr-defined]
        if isinstance(render, Spelling):
            return fill(render.choose(let.params, [a.type for a in let.args]), args, let.params)
        if callable(render):
            return render(args, let.params, [a.type for a in let.args])
        if let.params.get("ufunc"):
            return call(dotted(f"np.{record.names[0]}"), *args)
        if render.startswith("op:"):
            return operator(render[3:], args)
        if render.startswith("reduce:"):
            return reduction(render[7:], args[0], let)
        if "{*}" in render:
            render = render.replace("{*}", ", ".join(f"{{{k}}}" for k in range(len(args))))
        return fill(render, args, let.params)

    @staticmethod
    def whole_exponent(let: ir.Let) -> ast.expr | None:
        """The node of the exponent of ``x**2`` in place of ``x**2.0``, where NumPy gives the same; else None."""
        base, power = let.args
        if isinstance(base, ir.Const) or not base.type.is_float or let.params.get("py"):
            return None
        if not isinstance(power, ir.Const) or not isinstance(power.value, float):
            return None
        is_small = power.value.is_integer() and abs(power.value) < 100
        return number(int(power.value)) if is_small else None

    def turned(self, operand: ir.Operand) -> ast.expr | None:
        """The node of the operand without its minus, that is with its sign changed; None if there is no minus to leave out.

        ``-x`` gives ``x``; a product or quotient of floats has a minus if one of its two parts has, or begins with a negative
        constant: ``-0.2 * x`` gives ``0.2 * x`` (exactly).
        """
        tree = self.nested.trees.get(operand) if isinstance(operand, ir.Var) else None
        if not isinstance(tree, ir.Let):
            return None
        record = records().get(tree.prim, UNKNOWN)
        if record.is_opposite:
            return self.operand(tree.args[0])
        if not (record.multiplies or record.divides) or not tree.var.type.is_float:
            return None
        first, second = tree.args
        if isinstance(first, ir.Const) and isinstance(first.value, (int, float)) and first.value < 0:
            return self.let(replace(tree, args=(ir.Const(-first.value, first.type), second)))
        sign = "*" if record.multiplies else "/"
        if (inner := self.turned(first)) is not None:
            return operator(sign, [inner, self.operand(second)])
        inner = self.turned(second)
        return None if inner is None else operator(sign, [self.operand(first), inner])

    def sign_taken(self, let: ir.Let) -> ast.expr | None:
        """The node of ``-2.0 * x`` for a product ``2.0 * -x`` of floats; else None."""
        if not records()[let.prim].multiplies or not let.var.type.is_float:
            return None
        first, second = let.args
        if not isinstance(first, ir.Const):
            return None
        turned = self.turned(second)
        return None if turned is None else operator("*", [self.operand(ir.Const(-first.value, first.type)), turned])

    def is_same_call(self, let: ir.Let, node: ast.expr) -> bool:
        """Whether the first argument of ``let`` is nested and a call of the same function of Python.

        Then ``max(max(a, b), c)`` is printed as ``max(a, b, c)``. ``node`` is not used.
        """
        tree = self.nested.trees.get(let.args[0]) if isinstance(let.args[0], ir.Var) else None
        return isinstance(tree, ir.Let) and tree.prim == let.prim and bool(tree.params.get("py"))

    @staticmethod
    def spelling(let: ir.Let) -> Any:
        """The spelling of the primitive: Python's or `math`'s function if the *let* says so and there is one, else NumPy's."""
        record = records()[let.prim]
        if let.params.get("py") and record.python:
            return record.python
        if let.params.get("via") == "math" and record.math:
            return record.math
        return record.render

    def is_fresh(self, operand: ir.Operand) -> bool:
        """Whether the operand is printed as an expression that gives new memory; False for a name."""
        tree = self.nested.trees.get(operand) if isinstance(operand, ir.Var) else None
        if isinstance(tree, ir.Call):
            return True
        if not isinstance(tree, ir.Let) or tree.prim == "item":
            return False
        if tree.prim == "broadcast":
            return not tree.args[0].type.dims
        entry = records().get(tree.prim)
        return entry is not None and entry.is_fresh

    # ---- sizes

    def dim(self, dim: Dim, let: ir.Let, shape: Shape) -> ast.expr:
        """The node of a size, over the operands of ``let`` in the slots of ``shape``."""
        if least := dim.as_min:
            return call(ast.Name("min", LOAD), *(self.dim(d, let, shape) for d in least))
        total: ast.expr | None = None
        terms = sorted(dim.terms, key=lambda t: t[1] < 0)  # positive terms first
        for atom, coef in terms:
            node = self.atom(atom, let, shape)
            if abs(coef) != 1:
                node = ast.BinOp(ast.Constant(abs(coef)), ast.Mult(), node)
            if total is None:
                total = node if coef > 0 else ast.UnaryOp(ast.USub(), node)
            else:
                total = ast.BinOp(total, ast.Add() if coef > 0 else ast.Sub(), node)
        if total is None:
            return number(dim.const)
        if dim.const:
            total = ast.BinOp(total, ast.Add() if dim.const > 0 else ast.Sub(), ast.Constant(abs(dim.const)))
        return total

    def atom(self, atom: Atom, let: ir.Let, shape: Shape) -> ast.expr:
        """The node of one atom of a size: a symbol, a maximum with 0, a product or a floor quotient."""
        if atom.kind in ("symbol", "int"):
            return self.operand(let.args[shape.slots[atom.name]])
        operands = [self.dim(d, let, shape) for d in atom.operands]
        if atom.kind == "max0" and atom.operands[0].as_min:
            return operands[0]
        if atom.kind == "max0":
            return call(ast.Name("max", LOAD), operands[0], ast.Constant(0))
        return ast.BinOp(operands[0], ast.Mult() if atom.kind == "mul" else ast.FloorDiv(), operands[1])

    def shape(self, let: ir.Let) -> ast.expr:
        """The node of the shape argument of an array constructor; for one axis a number, not a tuple."""
        shape: Shape = let.params.get("shape") or Shape(tuple(let.params.get("dims", ())))
        if shape.of is not None:
            return ast.Attribute(self.operand(let.args[shape.of]), "shape", LOAD)
        nodes = [self.dim(d, let, shape) for d in shape.dims]
        return nodes[0] if len(nodes) == 1 else ast.Tuple(nodes, LOAD)


# ------------------------------------------------------------------------------------------------ small builders


def negated(test: ast.expr, exact: bool) -> ast.expr:
    """The node of ``not test``; ``==`` and ``!=`` are exchanged, and with ``exact`` all comparisons.

    ``exact`` says that no NaN is compared, so that ``<`` becomes ``>=``.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        kind = type(test.ops[0])
        if kind in (ast.Eq, ast.NotEq) or exact:
            return ast.Compare(test.left, [_OPPOSITE[kind]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


_OPPOSITE: dict[type, type] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip


def dtype_node(dtype: str) -> ast.expr:
    """The node of a dtype: ``np.float64``, or the builtin for "bool" and "object"."""
    return ast.Name(dtype, LOAD) if dtype in ("bool", OBJECT) else dotted(f"np.{dtype}")


def reduction(fn: str, x: ast.expr, let: ir.Let) -> ast.expr:
    """The node of a call of the function ``fn`` on ``x`` with the ``axis`` and ``keepdims`` of ``let``, defaults left out."""
    axis = axes_of(let.params, [let.args[0].type])
    keywords: dict[str, ast.expr] = {}
    if axis is not None:
        keywords["axis"] = ast.Tuple([number(a) for a in axis], LOAD) if isinstance(axis, tuple) else number(axis)
    if let.params.get("keepdims"):
        keywords["keepdims"] = ast.Constant(True)
    return call(dotted(fn), x, **keywords)


# ------------------------------------------------------------------------------------------- primitives of the core


def _index(e: Expressions, let: ir.Let) -> ast.expr:
    """The node of a read: the operand with its path; a 0-d array is read as ``x[()]``."""
    base, path = let.args[0], let.params["path"]
    if not path:
        node = e.operand(base)
        return ast.Subscript(node, ast.Tuple([], LOAD), LOAD) if base in e.zero_d else node
    return place(e.operand(base), path, lambda k: e.operand(let.args[1 + k]))


def _cast(e: Expressions, let: ir.Let) -> ast.expr:
    """The node of a cast: ``.astype`` of an array, ``float(...)`` for a Python scalar, else ``np.float64(...)``."""
    source, dtype = let.args[0], let.params["dtype"]
    node = e.operand(source)
    if source.type.dims:
        return call(ast.Attribute(node, "astype", LOAD), dtype_node(dtype))
    if let.var.type.weak:
        word = {"f": "float", "i": "int", "u": "int", "b": "bool"}[np.dtype(dtype).kind]
        return call(ast.Name(word, LOAD), node)
    return call(dotted(f"np.{dtype}_" if dtype == "bool" else f"np.{dtype}"), node)


def _full(e: Expressions, let: ir.Let) -> ast.expr:
    """The node of an array filled with a number: ``np.zeros``, ``np.ones`` or ``np.full``, or the like of a parameter.

    Rank 0 gives the number itself. The dtype is left out if NumPy chooses it.
    """
    dtype = let.var.type.dtype
    shape = let.params.get("shape")
    value = let.args[0]
    known = (
        value.value
        if isinstance(value, ir.Const) and value.value in (0, 1) and not str(value.value).startswith("-")
        else None
    )
    word = {0: "zeros", 1: "ones"}.get(known, "full") if known is not None else "full"
    more = [] if word != "full" else [e.operand(value)]
    if isinstance(shape, Shape) and shape.like is not None:
        return call(dotted(f"np.{word}_like"), e.operand(let.args[shape.like]), *more)
    if not let.var.type.dims:
        return e.operand(value, True)
    natural = dtype == "float64" if word != "full" else _dtype_of(value, more[0]) == dtype
    return call(dotted(f"np.{word}"), e.shape(let), *more, **({} if natural else {"dtype": dtype_node(dtype)}))


def _dtype_of(value: ir.Operand, node: ast.expr) -> str:
    """The dtype that NumPy gives an array filled with ``value``, printed as ``node``."""
    if isinstance(node, ast.Constant):
        return np.asarray(node.value).dtype.name
    if isinstance(value, ir.Const):
        return np.asarray(value.value).dtype.name
    return value.type.dtype


def _empty(e: Expressions, let: ir.Let) -> ast.expr:
    """The node of an array that is not filled; rank 0 gives the number 0."""
    dtype, shape = let.var.type.dtype, let.params.get("shape")
    if let.params.get("dtype") == OBJECT:
        dtype = OBJECT
    if not let.var.type.dims:
        return e.constant(ir.Const(np.dtype(dtype).type(0).item(), let.var.type), True)
    if isinstance(shape, Shape) and shape.like is not None:
        more = {"dtype": dtype_node(dtype)} if dtype == OBJECT else {}
        return call(dotted("np.empty_like"), e.operand(let.args[shape.like]), **more)
    return call(dotted("np.empty"), e.shape(let), **({} if dtype == "float64" else {"dtype": dtype_node(dtype)}))


def _broadcast(e: Expressions, let: ir.Let) -> ast.expr:
    """The node of a broadcast, a read-only view; a number becomes a filled array."""
    source = let.args[0]
    if not source.type.dims:
        return _full(e, replace(let, prim="full", args=let.args))
    return call(dotted("np.broadcast_to"), e.operand(source), e.shape(let))


def _reshape(e: Expressions, let: ir.Let) -> ast.expr:
    """The node of a reshape: a subscript if only axes of size 1 change, else ``.reshape``; a number becomes a filled array."""
    source, dims = let.args[0], let.var.type.dims
    if not source.type.dims:
        return _full(e, replace(let, prim="full", params={**let.params, "dims": dims}))
    node = e.operand(source)
    form = reshape_form(source.type.dims, dims)
    if form in ("newaxis", "squeeze"):
        return ast.Subscript(node, _ones(source.type.dims, dims, form), LOAD)
    if form == "infer":
        sizes = [
            ast.UnaryOp(ast.USub(), ast.Constant(1)) if not d.is_const or len(dims) == 1 else number(d.const)
            for d in dims
        ]
    elif form == "numbers":
        sizes = [number(d.const) for d in dims]
    else:
        shape = e.shape(let)
        sizes = shape.elts if isinstance(shape, ast.Tuple) else [shape]
    return call(ast.Attribute(node, "reshape", LOAD), *sizes)


def _ones(source: tuple[Dim, ...], dims: tuple[Dim, ...], form: str) -> ast.expr:
    """The subscript that turns an array of sizes ``source`` into one of sizes ``dims``, by axes of size 1.

    It inserts them if ``form`` is "newaxis", else removes them.
    """
    long, short = (dims, source) if form == "newaxis" else (source, dims)
    items: list[Any] = []
    k = 0
    for position, d in enumerate(long):
        left = len(long) - position - 1
        if (
            k < len(short)
            and short[k] == d
            and not (d.is_one and left >= len(short) - k and _fits(short[k:], long[position + 1 :]))
        ):
            items.append(ir.Slice())
            k += 1
        else:
            items.append(ir.NewAxis() if form == "newaxis" else ir.Point(0))
    return subscript(items, lambda k: ast.Constant(0))


def _fits(short: tuple[Dim, ...], long: tuple[Dim, ...]) -> bool:
    """Whether the sizes ``short`` occur in ``long`` in this order, perhaps with others between them."""
    rest = iter(long)
    return all(any(d == e for e in rest) for d in short)


def _copy(e: Expressions, let: ir.Let) -> ast.expr:
    """The node of a copy; what is new memory already is not copied again. With the param ``order`` the result is
    C-contiguous."""
    source = let.args[0]
    if not source.type.dims or e.is_fresh(source):
        made = e.operand(source, True)
        return call(dotted("np.ascontiguousarray"), made) if "order" in let.params else made
    return call(ast.Attribute(e.operand(source), "copy", LOAD))


def _split(e: Expressions, let: ir.Let) -> ast.expr:
    return call(dotted("transpile_runtime.random.split"), e.operand(let.args[0]), e.shape(let))


def _draw(e: Expressions, let: ir.Let) -> ast.expr:
    """The node of random numbers of a key; shape and dtype are left out if they are the function's defaults."""
    dtype = let.var.type.dtype
    more = {} if dtype in ("float64", "uint32") else {"dtype": dtype_node(dtype)}
    name = let.prim.removeprefix("random_")
    shape = [e.shape(let)] if let.params["dims"] else []
    return call(dotted(f"transpile_runtime.random.{name}"), e.operand(let.args[0]), *shape, **more)


def _range_length(e: Expressions, let: ir.Let) -> ast.expr:
    """The node of the length of a range: a number, ``max(n, 0)`` or ``len(range(...))``."""
    start, bound, step = let.args
    if all(isinstance(o, ir.Const) for o in let.args):
        return ast.Constant(len(range(*(o.value for o in let.args))))  # type: ignore[union-attr]
    if all(isinstance(o, ir.Const) and o.value == v for o, v in ((start, 0), (step, 1))):
        return call(ast.Name("max", LOAD), e.operand(bound), ast.Constant(0))
    return call(ast.Name("len", LOAD), range_node(e, start, bound, step))


def range_node(e: Expressions, start: ir.Operand, bound: ir.Operand, step: ir.Operand) -> ast.expr:
    """The node of ``range(start, bound, step)``; a start of 0 and a step of 1 are left out."""
    args = [start, bound, step]
    if isinstance(step, ir.Const) and step.value == 1:
        args.pop()
        if isinstance(start, ir.Const) and start.value == 0:
            args.pop(0)
    return call(ast.Name("range", LOAD), *(e.operand(a) for a in args))


SPELLED: dict[Form, Callable[[Expressions, ir.Let], ast.expr]] = {
    Form.PLACE: _index,
    Form.CONVERSION: _cast,
    Form.FILLED: _full,
    Form.UNWRITTEN: _empty,
    Form.SPREAD: _broadcast,
    Form.RESHAPED: _reshape,
    Form.TURNED: lambda e, let: transposed(e.operand(let.args[0]), let.params["axes"]),
    Form.COPIED: _copy,
    Form.LENGTH: _range_length,
    Form.ITEM: lambda e, let: ast.Subscript(e.operand(let.args[0]), ast.Constant(let.params["k"]), LOAD),
    Form.KEYS: _split,
    Form.DRAWN: _draw,
}
