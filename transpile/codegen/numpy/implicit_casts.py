"""Removes casts and broadcasts that NumPy does itself.

    t: float64 = cast i                         ->     y = mul i x
    t2: float64[n] = broadcast t (n,)
    y: float64[n] = mul t2 x

In the result, operands of elementwise primitives and stored values may be narrower than the node says. An operation whose
operands are all narrower is done before the broadcast: scalars stay scalars until an array needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from transpile.core import nodes as ir
from transpile.core.constant_casts import cast_constant
from transpile.core.dims import Dim
from transpile.core.promotion import OPERAND_TYPES
from transpile.core.types import Type, promote
from transpile.core.walk import defines, map_reads, statements
from transpile.ops.element import Prefix
from transpile.ops.record import Op
from transpile.ops.tables import prims

Dims = tuple[Dim, ...]
WIDE = ("float64", "int64", "bool")
_PYTHON = {"f": "float64", "i": "int64", "u": "int64", "b": "bool"}


def relax(fn: ir.Function) -> ir.Function:
    """``fn`` without the casts and broadcasts that NumPy does itself; an operand's type may then be narrower than its use
    says."""
    narrow = any(t.dtype not in WIDE for t in _types(fn))
    return replace(fn, body=_Relaxer(narrow).block(fn.body))


def _types(fn: ir.Function) -> list[Type]:
    """The types of the parameters and of all variables that statements define."""
    found = [p.type for p in fn.params]
    for stmt in statements(fn.body):
        if isinstance(stmt, (ir.Let, ir.Alloc, ir.Call)):
            found += [v.type for v in defines(stmt)]
    return found


class _Relaxer:
    """Rewrites blocks in order, and knows the type that NumPy sees of what comes before."""

    def __init__(self, narrow: bool) -> None:
        self.narrow = narrow  # whether any dtype is promoted differently by Python scalars and NumPy scalars
        self.defs: dict[ir.Var, ir.Let] = {}
        self.actual: dict[ir.Var, Type] = {}  # the type NumPy gives, where it differs from the variable's
        self.equal: dict[ir.Operand, ir.Operand] = {}

    # ---- blocks

    def block(self, block: ir.Block) -> ir.Block:
        """The block without needless casts and broadcasts; what it yields is cast to Python's scalars where that can matter."""
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            stmts += self.stmt(map_reads(stmt, lambda o: self.equal.get(o, o)))
        yields = tuple(self.plain(self.equal.get(o, o), stmts) for o in block.yields)
        stop = None if block.stop is None else self.equal.get(block.stop, block.stop)
        return ir.Block(block.params, stmts, yields, stop)

    def stmt(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        """The statements that stand for a statement: casts that must be printed come first; none if it is needless."""
        out: list[ir.Stmt] = []
        match stmt:
            case ir.Let():
                self.let(stmt, out)
                return out
            case ir.Store() | ir.Add():
                if (
                    stmt.buf.type.dims or not self.narrow and isinstance(stmt, ir.Add)
                ):  # a scalar is rebound, which casts nothing
                    stmt = replace(stmt, value=self.stored(stmt.value, stmt.buf.type.dtype, isinstance(stmt, ir.Add)))
                return [stmt]
            case ir.Alloc(prim="copy"):
                return [self.alloc(stmt)]
            case ir.If():
                return [replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse))]
            case ir.For():
                inits = tuple(self.plain(o, out) for o in stmt.inits)
                return [*out, replace(stmt, inits=inits, body=self.block(stmt.body))]
            case ir.While():
                inits = tuple(self.plain(o, out) for o in stmt.inits)
                test = self.block(stmt.test)
                return [*out, replace(stmt, inits=inits, test=test, body=self.block(stmt.body))]
        return [stmt]

    # ---- operands without the broadcasts that NumPy does

    def definition(self, operand: ir.Operand, *wanted: str) -> ir.Let | None:
        """The *let* that defines the operand if its primitive is one of ``wanted``; else None."""
        found = self.defs.get(operand) if isinstance(operand, ir.Var) else None
        return found if found is not None and found.prim in wanted else None

    def unshaped(self, operand: ir.Operand, stretched: list[ir.Let] | None = None) -> ir.Operand:
        """The operand before it was broadcast, filled, or given leading axes of 1; a constant is rounded to the dtype it had.

        With ``stretched`` also before it was stretched; those statements are appended to the list.
        """
        while (d := self.definition(operand, "broadcast", "full", "reshape", "stretch")) is not None:
            if d.prim == "stretch":
                if stretched is None:
                    break
                stretched.append(d)
            if d.prim == "reshape" and not _adds_leading_ones(d.args[0].type.dims, d.var.type.dims):
                break
            if d.prim == "full" and not self.is_same_dtype(d.args[0], d.var.type.dtype):
                break
            operand = _rounded(d.args[0], d.var.type.dtype)
        return operand

    def is_same_dtype(self, operand: ir.Operand, dtype: str) -> bool:
        """Whether the operand has this dtype, or is a Python scalar of the same kind."""
        kind = np.dtype(dtype).kind
        return operand.type.dtype == dtype or (self.type(operand).weak and np.dtype(operand.type.dtype).kind == kind)

    def type(self, operand: ir.Operand) -> Type:
        """The type that NumPy sees: that of a Python number for a constant."""
        if isinstance(operand, ir.Var):
            return self.actual.get(operand, operand.type)
        if isinstance(operand, ir.Const):  # printed as a Python number
            return replace(operand.type, dtype=_PYTHON[np.dtype(operand.type.dtype).kind], weak=True)
        return operand.type

    # ---- lets

    def let(self, stmt: ir.Let, out: list[ir.Stmt]) -> None:
        """Appends to ``out`` what is printed for a *let*; nothing for a cast that changes nothing.

        If all operands of an elementwise primitive are narrower than its result, it is computed so and then broadcast.
        """
        entry = prims().get(stmt.prim)
        if stmt.prim == "cast" and stmt.params.get("weak") is False and not stmt.var.type.dims and self.is_noop(stmt):
            self.equal[stmt.var] = stmt.args[0]
            return
        if stmt.prim == "cast" and _is_truth(stmt.var) and self.type(stmt.args[0]) == stmt.var.type:
            self.equal[stmt.var] = stmt.args[0]
            return
        if entry is None or not entry.elementwise:
            stmt = self.folded(stmt) if entry is not None and entry.joins_lanes else stmt
            self.defs[stmt.var] = stmt
            out.append(stmt)
            return
        wanted = [a.type for a in stmt.args]
        stretched: list[ir.Let] = []
        args = [self.unshaped(a, stretched) for a in stmt.args]
        if not all(_is_stretched(d, args) for d in stretched):
            args = [self.unshaped(a) for a in stmt.args]
        if not _reaches(args, stmt.var.type.dims) and stmt.var.name != ir.SYNTHETIC:
            args = self.keep_one(stmt, args)
        args = self.uncast(stmt, entry, args, wanted, out)
        if _reaches(args, stmt.var.type.dims):
            self.finish(replace(stmt, args=tuple(args)), entry, out)
            return
        dims = _common(args)
        inner = ir.Var(stmt.var.name, replace(stmt.var.type, dims=dims))
        self.finish(replace(stmt, var=inner, args=tuple(args)), entry, out)
        outer = ir.Let(stmt.var, "broadcast", (inner,), {"dims": stmt.var.type.dims}, stmt.loc, stmt.reason)
        self.defs[stmt.var] = outer
        out.append(outer)

    def keep_one(self, stmt: ir.Let, args: list[ir.Operand]) -> list[ir.Operand]:
        """The operands ``args``, in which one that was filled to the result's shape has that shape again.

        So a variable of the user's has the same shape as before.
        """
        for k, given in enumerate(stmt.args):
            if self.definition(given, "full") is not None and given.type.dims == stmt.var.type.dims:
                return [*args[:k], given, *args[k + 1 :]]
        return args

    def folded(self, stmt: ir.Let) -> ir.Let:
        """The statement with keys and integers as they were before they were broadcast against each other.

        NumPy does that itself. The statement is unchanged where the shape of the result would differ.
        """
        key, data = (self.unshaped(a) for a in stmt.args)
        for keys in (key, stmt.args[0]):
            lanes, words = keys.type.dims[:-1], keys.type.dims[-1:]
            if words == stmt.var.type.dims[-1:] and _is_like(_joined([lanes, data.type.dims]), stmt.var.type.dims[:-1]):
                return replace(stmt, args=(keys, data))
        return stmt

    def finish(self, stmt: ir.Let, entry: Op, out: list[ir.Stmt]) -> None:
        """Appends the statement, and notes its actual type if it gives a Python scalar where its type is NumPy's, or the other
        way round."""
        self.defs[stmt.var] = stmt
        type_ = stmt.var.type
        if not type_.dims and type_.weak != (weak := self.stays_python(stmt, entry)):
            self.actual[stmt.var] = replace(type_, weak=weak)
        out.append(stmt)

    def stays_python(self, stmt: ir.Let, entry: Op) -> bool:
        """Whether the printed expression for a scalar gives a Python scalar, not NumPy's."""
        if isinstance(entry.element, Prefix) and entry.element.sign == "not":
            return True
        plain = isinstance(entry.render, str) and entry.render.startswith("op:") and not stmt.params.get("ufunc")
        plain = plain or stmt.prim == "where" or "via" in stmt.params or bool(stmt.params.get("py"))
        return plain and all(self.type(a).weak for a in stmt.args)

    # ---- casts

    def is_noop(self, cast: ir.Let) -> bool:
        """Whether a cast of a scalar only turns a Python scalar into a NumPy scalar, which makes no difference here.

        The user did not write it, and all dtypes of the function are float64, int64 or bool.
        """
        return not self.narrow and cast.args[0].type.dtype == cast.params["dtype"] and not cast.params.get("explicit")

    def uncast(
        self, stmt: ir.Let, entry: Op, args: list[ir.Operand], wanted: Sequence[Type], out: list[ir.Stmt]
    ) -> list[ir.Operand]:
        """The operands ``args`` without the casts that promotion does, so that they still count as the types ``wanted``.

        Casts that must still be printed are appended to ``out``, and their results take the operands' places.
        """
        rule = OPERAND_TYPES[entry.dtype_rule]

        def agrees(candidate: list[ir.Operand]) -> bool:
            # a conditional expression casts nothing
            if self.narrow and stmt.prim == "where" and not _common(candidate):
                return all(t.dtype == w.dtype and t.weak == w.weak for t, w in zip(map(self.type, candidate), wanted))
            try:
                got = rule([self.type(a) for a in candidate])
            except Exception:
                return False
            return all(g.dtype == w.dtype for g, w in zip(got, wanted))

        if entry.dtype_rule != "as_is":
            for k, arg in enumerate(args):
                if (d := self.definition(arg, "cast")) is not None and _is_exact(d, wanted[k].dtype):
                    trial = [*args[:k], _rounded(self.unshaped(d.args[0]), d.var.type.dtype), *args[k + 1 :]]
                    if d.params.get("explicit") and all(self.type(a).weak for a in trial):
                        continue  # Python's integers do not wrap
                    if entry.is_power and trial[k].type.is_bool:
                        continue  # the square of a boolean array has another dtype than other powers
                    if _common(trial) == _common(args) and agrees(trial):
                        args = trial
        if all(_is_whole(a) and self.type(a).weak for a in args) and not all(a.type.weak for a in args):
            k = next(k for k, a in enumerate(args) if not a.type.weak)  # Python's integers do not wrap
            return [*args[:k], self.spelled(args[k], args[k].type, stmt, out), *args[k + 1 :]]
        if self.narrow and entry.dtype_rule != "as_is" and not agrees(args):
            for k, (arg, type_) in enumerate(zip(args, wanted)):  # one is often enough: promotion does the others
                if not agrees(args):
                    args = [*args[:k], self.pinned(arg, type_, stmt, out), *args[k + 1 :]]
        return args

    def pinned(self, operand: ir.Operand, wanted: Type, stmt: ir.Let, out: list[ir.Stmt]) -> ir.Operand:
        """The operand, of the dtype and weakness ``wanted``: if it is a scalar with others, an explicit cast is appended to
        ``out``."""
        seen = self.type(operand)
        if seen.dims or (seen.dtype == wanted.dtype and seen.weak == wanted.weak):
            return operand
        return self.spelled(operand, wanted, stmt, out)

    def spelled(self, operand: ir.Operand, wanted: Type, stmt: ir.Let, out: list[ir.Stmt]) -> ir.Var:
        """The result of an explicit cast of the operand to ``wanted``, a new scalar; the cast is appended to ``out``."""
        var = ir.Var(ir.SYNTHETIC, replace(wanted, dims=()))
        let = ir.Let(var, "cast", (operand,), {"dtype": wanted.dtype, "weak": wanted.weak, "spelled": True}, stmt.loc)
        self.defs[var] = let
        out.append(let)
        return var

    # ---- other places where NumPy casts and broadcasts

    def stored(self, value: ir.Operand, dtype: str, add: bool) -> ir.Operand:
        """The value that is stored in, or with ``add`` added to, an array of this dtype, without what NumPy does itself."""
        value = self.unshaped(value, [])
        while (d := self.definition(value, "cast")) is not None and _is_exact(d, dtype):
            inner = _rounded(self.unshaped(d.args[0]), d.var.type.dtype)
            if add and promote(self.type(inner), Type(dtype)).dtype != dtype:
                break
            if not add and d.params["dtype"] != dtype:
                break
            value = inner
        return value

    def alloc(self, stmt: ir.Alloc) -> ir.Stmt:
        """The allocation; a copy of a scalar that was broadcast becomes a fill."""
        value = stmt.args[0]
        inner = self.unshaped(value)
        if inner is not value and not inner.type.dims and not isinstance(inner, ir.Undef):
            params = {"dims": stmt.var.type.dims, "dtype": stmt.var.type.dtype}
            return ir.Alloc(stmt.var, "full", (inner,), params, stmt.loc, stmt.reason)
        return stmt

    def plain(self, operand: ir.Operand, out: list[ir.Stmt]) -> ir.Operand:
        """The operand of a join of control flow, as a Python scalar if its type says so.

        If NumPy gives its own scalar and that can matter, a cast is appended to ``out``, and its result is returned.
        """
        if self.narrow and operand.type.weak and isinstance(operand, ir.Var) and not self.type(operand).weak:
            var = ir.Var(operand.name, operand.type)
            let = ir.Let(var, "cast", (operand,), {"dtype": operand.type.dtype, "weak": True, "spelled": True})
            out.append(let)
            return var
        return operand


def _is_whole(operand: ir.Operand) -> bool:
    """Whether the operand is a constant of integer type."""
    return isinstance(operand, ir.Const) and operand.type.is_int


def _rounded(operand: ir.Operand, dtype: str) -> ir.Operand:
    """The operand; a constant of another dtype, which is printed without its dtype, is rounded to ``dtype`` if that is a
    float's."""
    is_other = isinstance(operand, ir.Const) and operand.type.dtype != dtype and np.dtype(dtype).kind == "f"
    return cast_constant(operand, dtype) if is_other else operand  # type: ignore[arg-type]


def _is_truth(var: ir.Var) -> bool:
    return var.type.is_bool and not var.type.dims and var.type.weak


def _adds_leading_ones(source: Dims, dims: Dims) -> bool:
    """Whether ``dims`` is ``source`` with one or more axes of size 1 in front."""
    lead = len(dims) - len(source)
    return lead > 0 and dims[lead:] == source and all(d.is_one for d in dims[:lead])


def _is_stretched(d: ir.Let, args: Sequence[ir.Operand]) -> bool:
    """Whether broadcasting the operands already gives the size to which the *let* ``d`` stretches its axis."""
    behind = len(d.params["dims"]) - d.params["axis"]
    here = {a.type.dims[-behind] for a in args if a.type.rank >= behind}
    return d.params["dims"][-behind] in here or here.issuperset(d.params["parts"])


def _common(args: Sequence[ir.Operand]) -> Dims:
    """The shape to which NumPy broadcasts the operands."""
    return _joined([a.type.dims for a in args])


def _joined(shapes: Sequence[Dims]) -> Dims:
    """The shape to which NumPy broadcasts these shapes, provided that it can: sizes are not compared."""
    rank = max((len(s) for s in shapes), default=0)
    out: list[Dim] = []
    for k in range(rank):
        here = [s[k - (rank - len(s))] for s in shapes if k >= rank - len(s)]
        wide = [d for d in here if not d.is_one]
        out.append(wide[0] if wide else Dim(1))
    return tuple(out)


def _reaches(args: Sequence[ir.Operand], dims: Dims) -> bool:
    """Whether the operands broadcast to ``dims``; only rank and sizes of 1 are compared, so two unified symbols count as
    equal."""
    return _is_like(_common(args), dims)


def _is_like(common: Dims, dims: Dims) -> bool:
    """Whether the two shapes have the same rank and the same axes of size 1."""
    return len(common) == len(dims) and all(c.is_one == d.is_one for c, d in zip(common, dims))


def _is_exact(cast: ir.Let, dtype: str) -> bool:
    """Whether a cast loses nothing that the following cast to ``dtype`` would not lose as well."""
    return cast.params["dtype"] == dtype or np.can_cast(cast.args[0].type.dtype, cast.params["dtype"])
