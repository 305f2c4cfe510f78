"""Builds core: emits statements into the current block, infers types, makes casts and broadcasts explicit, simplifies.

`Builder` holds the block that is being filled. `Expr` pairs an operand with its builder, so that rules can be written with
operators. Peephole simplification happens only here, so that no pass has to clean up ``x * 1``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.constant_casts import cast_constant
from transpile.core.dims import Dim, product
from transpile.core.integers import Integers, computed, is_exact
from transpile.core.peephole import definition, simplify
from transpile.core.places import Least, _itself, place_dims
from transpile.core.promotion import OPERAND_TYPES
from transpile.core.record_protocol import Records
from transpile.core.signed_comparison import of_two_signs
from transpile.core.types import BOOL, FLOAT, INT, Type
from transpile.core.walk import symbols_of
from transpile.errors import RuleError


class Expr:
    """An operand with the builder that extends it; Python's operators emit elementwise primitives."""

    __slots__ = ("b", "op")
    __array_ufunc__ = None
    __hash__ = object.__hash__

    def __init__(self, b: Builder, op: ir.Operand) -> None:
        self.b, self.op = b, op

    @property
    def type(self) -> Type:
        return self.op.type

    @property
    def dims(self) -> tuple[Dim, ...]:
        return self.op.type.dims

    @property
    def rank(self) -> int:
        return len(self.op.type.dims)

    @property
    def dtype(self) -> str:
        return self.op.type.dtype

    def __repr__(self) -> str:
        """The value of a constant, else the type, as messages of rules show it."""
        return repr(self.op.value) if isinstance(self.op, ir.Const) else str(self.op.type)

    def __add__(self, o: Any) -> Expr:
        return self.b.elementwise("add", self, o)

    def __radd__(self, o: Any) -> Expr:
        return self.b.elementwise("add", o, self)

    def __sub__(self, o: Any) -> Expr:
        return self.b.elementwise("sub", self, o)

    def __rsub__(self, o: Any) -> Expr:
        return self.b.elementwise("sub", o, self)

    def __mul__(self, o: Any) -> Expr:
        return self.b.elementwise("mul", self, o)

    def __rmul__(self, o: Any) -> Expr:
        return self.b.elementwise("mul", o, self)

    def __truediv__(self, o: Any) -> Expr:
        return self.b.elementwise("div", self, o)

    def __rtruediv__(self, o: Any) -> Expr:
        return self.b.elementwise("div", o, self)

    def __floordiv__(self, o: Any) -> Expr:
        return self.b.elementwise("floordiv", self, o)

    def __rfloordiv__(self, o: Any) -> Expr:
        return self.b.elementwise("floordiv", o, self)

    def __mod__(self, o: Any) -> Expr:
        return self.b.elementwise("mod", self, o)

    def __pow__(self, o: Any) -> Expr:
        return self.b.elementwise("pow", self, o)

    def __rpow__(self, o: Any) -> Expr:
        return self.b.elementwise("pow", o, self)

    def __neg__(self) -> Expr:
        return self.b.elementwise("neg", self)

    def __and__(self, o: Any) -> Expr:
        both = [self.op.type, self.b.operand(o).type]  # for two scalar tests: ``a and b``
        prim = "logical_and" if all(t.is_bool and not t.dims for t in both) else "bitwise_and"
        return self.b.elementwise(prim, self, o)

    def __or__(self, o: Any) -> Expr:
        return self.b.elementwise("bitwise_or", self, o)

    def __invert__(self) -> Expr:
        return self.b.elementwise("invert", self)

    def __lt__(self, o: Any) -> Expr:
        return self.b.elementwise("less", self, o)

    def __le__(self, o: Any) -> Expr:
        return self.b.elementwise("less_equal", self, o)

    def __gt__(self, o: Any) -> Expr:
        return self.b.elementwise("greater", self, o)

    def __ge__(self, o: Any) -> Expr:
        return self.b.elementwise("greater_equal", self, o)

    def eq(self, o: Any) -> Expr:
        return self.b.elementwise("equal", self, o)

    def ne(self, o: Any) -> Expr:
        return self.b.elementwise("not_equal", self, o)

    def __bool__(self) -> bool:
        raise TypeError("an Expr has no truth value: rules branch on types and params only")


def constant(value: Any) -> ir.Const:
    """The constant operand of a Python or NumPy scalar, weak if it is Python's; `NotReal` for a complex number, `NotANumber`
    for anything else."""
    if isinstance(value, np.generic) and value.dtype.kind != "c":
        return ir.Const(value.item(), Type(value.dtype.name))
    if isinstance(value, bool):
        return ir.Const(value, BOOL)
    if isinstance(value, int):
        return ir.Const(int(value), INT)  # also converts an enum
    if isinstance(value, float):
        return ir.Const(float(value), FLOAT)
    if isinstance(value, (complex, np.complexfloating)):
        raise NotReal(f"{value!r} is complex")
    raise NotANumber(f"{value!r} is not a number or an array")


class NotANumber(TypeError):
    """Raised for a Python object that is not a number."""


class NotReal(NotANumber):
    """Raised for a complex number: core has none."""


class Builder:
    """Emits statements into ``self.block``. ``prims`` are the records of the primitives; ``symbols`` maps the symbols of dims
    to the integer operands that hold their values. ``fn`` is the function that the new code is derived from: the forms of its
    integers are known."""

    def __init__(
        self, prims: Records, symbols: dict[str, ir.Operand] | None = None, fn: ir.Function | None = None
    ) -> None:
        self.block = ir.Block()
        self.open = [self.block]  # the blocks that are being filled, the outermost first
        self.loc: ir.Loc = ir.NOWHERE
        self.symbols: dict[str, ir.Operand] = symbols if symbols is not None else {}
        self.prims = prims
        self.integers = Integers(prims, fn, lambda name: name in self.symbols)
        self.form_of = self.integers.of  # the linear form of an integer scalar, if it is known
        self.learn = self.integers.learn  # records the form of an integer
        self.unify: Callable[[Dim, Dim], Dim | None] = _unify_equal  # one form for two sizes; None if they are unequal
        # the common size of two sizes that are broadcast together; None: `unify`
        self.meet: Callable[[Dim, Dim], Dim | None] | None = None
        # whether the first size can be broadcast to the second
        self.fits: Callable[[Dim, Dim], bool] = lambda a, b: a.is_one or self.same(a, b)
        self.decide: Callable[..., bool | None] = _decide  # whether two sizes are equal; None: known only at run time
        # if the first size may be 1 at run time: the sizes that make up the second
        self.parts: Callable[[Dim, Dim], tuple[Dim, ...]] = _no_parts
        self.canonical: Callable[[Dim], Dim] = _itself  # the representative of all sizes known to be equal to this one
        self.least: Least = _itself  # a lower bound of a form, from the ranges of loop indices
        # the dtypes that a value has on other paths; its own dtype represents them all
        self.others: dict[ir.Operand, frozenset[str]] = {}
        self.either: set[ir.Operand] = set()  # scalars that are Python's on one path and NumPy's on another
        # "math" while the derivative of a `math` function is built, which then calls `math` functions too
        self.via = ""
        self._made_of = fn
        self._taken: set[str] | None = None  # the symbols of that function, computed when needed
        self._ints = 0

    # ---- operands and expressions

    def expr(self, value: Any) -> Expr:
        """The `Expr` for an operand or a Python or NumPy scalar; an `Expr` itself."""
        if isinstance(value, Expr):
            return value
        if isinstance(value, (ir.Var, ir.Const, ir.Undef)):
            return Expr(self, value)
        return Expr(self, constant(value))

    def operand(self, value: Any) -> ir.Operand:
        return self.expr(value).op

    def emit(self, stmt: Any) -> None:
        self.block.stmts.append(stmt)

    # ---- lets

    def let(self, prim: str, *args: Any, name: str = "", **params: Any) -> Expr:
        """The result of ``prim(args)``, with the type that its type rule gives: emitted, or a simpler operand if there is
        one."""
        operands = tuple(self.operand(a) for a in args)
        entry = self.prims[prim]
        simpler = simplify(self, prim, operands, params)
        if simpler is not None:
            return self.expr(simpler)
        type_ = entry.type_rule([o.type for o in operands], params)
        result = Expr(self, self.bind(name or ir.SYNTHETIC, type_, prim, operands, params))
        if self.others:
            kept = {o.type.dtype for o in operands} & {params["dtype"]} if prim != "cast" and "dtype" in params else ()
            self._note_others(result, operands, lambda types: entry.type_rule(types, params).dtype, kept)
        return result

    def _note_others(
        self,
        result: Expr,
        operands: Sequence[ir.Operand],
        dtype_of: Callable[[list[Type]], str],
        kept: Collection[str] = (),
    ) -> None:
        """Records in ``others`` the dtypes that a result has on other paths, where its operands have other dtypes.

        ``dtype_of`` gives the dtype of the result for types of the operands; operands of a dtype in ``kept`` pass theirs on
        unchanged.
        """
        if result.op in operands or not isinstance(result.op, ir.Var):
            return
        self.others.pop(result.op, None)
        self.with_others(result, self.other_dtypes(operands, dtype_of, kept))

    def dtypes(self, op: ir.Operand) -> list[str]:
        """The dtypes that an operand has on some path; its own one, which represents them all, is the last."""
        others = self.others.get(op, ()) if isinstance(op, ir.Var) else ()
        return [*sorted(others), op.type.dtype]

    def other_dtypes(
        self, operands: Sequence[ir.Operand], dtype_of: Callable[[list[Type]], str], kept: Collection[str] = ()
    ) -> frozenset[str]:
        """The dtypes, by ``dtype_of``, that something made of the operands has on some path; none if each operand has one
        dtype.

        An operand whose dtype is in ``kept`` contributes all its dtypes.
        """
        several = {o: all_ for o in operands if len(all_ := self.dtypes(o)) > 1}
        if not several:
            return frozenset()
        found = {d for o, dtypes in several.items() if o.type.dtype in kept for d in dtypes}
        if len(several) > 6:
            found.update(itertools.chain(*several.values()))
            several.clear()
        for dtypes in itertools.product(*several.values()):
            now = dict(zip(several, dtypes))
            found.add(dtype_of([replace(o.type, dtype=now[o]) if o in now else o.type for o in operands]))
        return frozenset(found)

    def bind(
        self,
        name: str,
        type_: Type,
        prim: str,
        operands: tuple[ir.Operand, ...],
        params: Mapping[str, Any] | None = None,
    ) -> ir.Var:
        """Emits the *let* of a primitive without simplification; returns its new variable, with this name and type."""
        params = params or {}
        if self.canonical is not _itself:
            type_, params = self._canonical(type_, params)
        var = ir.Var(name, type_)
        if is_exact(type_, prim, operands) and (form := computed(self.prims[prim], operands, self.form)) is not None:
            self.learn(var, form)
        self.emit(ir.Let(var, prim, operands, dict(params), self.loc))
        return var

    def surely_of_dtype(self, x: Expr) -> Expr:
        """``x`` with its dtype on every path: itself, or a cast if ``others`` says that it has other dtypes on some."""
        return self._anew(x) if len(self.dtypes(x.op)) > 1 else x

    def _anew(self, x: Expr) -> Expr:
        """A new variable with the value, name and type of ``x``, by a cast that is emitted."""
        params = {"dtype": x.dtype, "weak": x.type.weak}
        return Expr(self, self.bind(getattr(x.op, "name", ir.SYNTHETIC), x.type, "cast", (x.op,), params))

    def like(self, result: Expr, source: Expr) -> Expr:
        """``result``, noted to have on other paths the dtypes that ``source`` has there; unchanged if ``source`` has one
        dtype."""
        dtypes = self.dtypes(source.op)
        return self.with_others(result, dtypes) if len(dtypes) > 1 else result

    def with_others(self, x: Expr, dtypes: Collection[str]) -> Expr:
        """``x``, noted to have one of ``dtypes`` on some paths; a constant becomes a new variable."""
        x = x if isinstance(x.op, ir.Var) else self._anew(x)
        found = frozenset(dtypes) - {x.dtype}
        if found:
            self.others[x.op] = found
        return x

    def floating(self, x: Expr) -> Expr:
        """``x`` itself if it is a float, else cast to float64. If it has other dtypes on some paths, a new variable, noted to
        have the float dtypes of these."""
        made = x if x.type.is_float else self.cast(x, "float64")
        dtypes = self.dtypes(x.op)
        if len(dtypes) == 1:
            return made
        return self.with_others(self._anew(made), [d if Type(d).is_float else "float64" for d in dtypes])

    def _canonical(self, type_: Type, params: Mapping[str, Any]) -> tuple[Type, Mapping[str, Any]]:
        """The type and the params with each size, also in ``params["dims"]``, in the canonical form of all sizes known to be
        equal to it."""
        if type_.dims:
            type_ = type_.with_dims(tuple(self.canonical(d) for d in type_.dims))
        if type_.items:
            type_ = replace(type_, items=tuple(self._canonical(t, {})[0] for t in type_.items))
        if params.get("dims"):
            params = {**params, "dims": tuple(self.canonical(d) for d in params["dims"])}
        return type_, params

    def elementwise(self, prim: str, *args: Any, strong: bool = False, name: str = "", **params: Any) -> Expr:
        """The result of an elementwise primitive, with NumPy's promotion and broadcasting as casts and broadcasts of the
        operands, all emitted; `RuleError` if shapes do not fit.

        ``strong``: the result of scalars is a NumPy scalar (``np.exp(1.0)``), not a Python one.
        """
        entry = self.prims[prim]
        operands = [self.operand(a) for a in args]
        if entry.relation is not None and (apart := of_two_signs(self, prim, operands)) is not None:
            return apart
        operand_types = OPERAND_TYPES[entry.dtype_rule]([o.type for o in operands])
        dims = self.broadcast_dims([o.type.dims for o in operands])
        operands = self._bare_constants(operands)
        ready: list[ir.Operand] = []
        for operand, wanted in zip(operands, operand_types):
            operand = self.cast(operand, wanted).op
            if not isinstance(operand, ir.Const):
                operand = self.broadcast(operand, dims).op
            ready.append(operand)
        if dims and all(isinstance(o, ir.Const) for o in ready):
            raise AssertionError("constants have no dims")
        if strong and entry.unlike_python and not dims:
            params["ufunc"] = True
        elif entry.divides and all(o.type.weak and not o.type.is_float for o in map(self.operand, args)):
            params["whole"] = True  # Python integers, whose quotient is rounded only once
        if self.via and entry.as_calm and not dims and all(o.type.weak for o in ready):
            params.setdefault("via", self.via)
        result = self.let(prim, *ready, name=name, **params)
        if self.others:

            def dtype_of(types: list[Type]) -> str:
                wanted = OPERAND_TYPES[entry.dtype_rule](types)
                return entry.type_rule([replace(t, dims=dims, weak=t.weak and not dims) for t in wanted], params).dtype

            self._note_others(result, operands, dtype_of)
        return self._strengthen(result) if strong and result.type.weak else result

    def _bare_constants(self, operands: list[ir.Operand]) -> list[ir.Operand]:
        """The operands with the constant itself in place of a broadcast constant, as long as another operand has the full
        rank."""
        made = [definition(self, o) for o in operands]
        bare = [m is not None and m.prim == "broadcast" and isinstance(m.args[0], ir.Const) for m in made]
        if not any(bare):
            return operands
        rank = max(o.type.rank for o in operands)
        if not any(o.type.rank == rank and not c for o, c in zip(operands, bare)):
            return operands
        return [m.args[0] if c and m is not None else o for o, m, c in zip(operands, made, bare)]

    def _strengthen(self, x: Expr) -> Expr:
        """``x`` without the weak mark: the statement emitted last gets the other type in place; otherwise a cast is emitted."""
        if isinstance(x.op, ir.Var) and self.block.stmts and getattr(self.block.stmts[-1], "var", None) is x.op:
            x.op.type = x.op.type.strong  # the let was emitted just now, so its type can still be changed
            return x
        return self.cast(x, x.type.strong)

    def cast(self, value: Any, to: Type | str) -> Expr:
        """``value`` with the dtype and, if it is a scalar, the weakness of ``to``; a dtype as ``to`` is not weak. Itself if it
        has them."""
        x = self.expr(value)
        dtype, weak = (to, False) if isinstance(to, str) else (to.dtype, to.weak)
        weak = weak and not x.dims
        if x.dtype == dtype and x.type.weak == weak:
            return x
        if isinstance(x.op, ir.Const):
            return Expr(self, cast_constant(x.op, dtype, weak))
        if isinstance(x.op, ir.Undef):
            return Expr(self, ir.Undef(Type(dtype, x.dims, weak)))
        made = self.let("cast", x, dtype=dtype, weak=weak)
        return self.like(made, x) if dtype == x.dtype else made

    def broadcast_dims(self, shapes: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
        """The common shape of broadcast operands; raises `RuleError` if there is none."""
        rank = max((len(s) for s in shapes), default=0)
        dims: list[Dim] = []
        for axis in range(rank):
            common: Dim | None = None
            for shape in shapes:
                k = axis - (rank - len(shape))
                if k < 0:
                    continue
                dim = self.canonical(shape[k])
                if common is None or common.is_one:
                    common = dim
                elif not dim.is_one:
                    met = (self.meet or self.unify)(common, dim)
                    if met is None:
                        text = " and ".join(f"({', '.join(map(str, s))}{',' * (len(s) == 1)})" for s in shapes if s)
                        raise RuleError(f"shapes {text} cannot be broadcast together", "T202")
                    common = met
            assert common is not None
            dims.append(common)
        return tuple(dims)

    def broadcast(self, value: Any, dims: tuple[Dim, ...]) -> Expr:
        """``value`` broadcast to ``dims``, unchanged if these are its dims; raises `RuleError` if it does not fit."""
        x = self.expr(value)
        fits = [a == wanted or a.is_one or self.fits(a, wanted) for a, wanted in zip(x.dims[::-1], dims[::-1])]
        if x.rank > len(dims) or not all(fits):
            here, there = (f"({', '.join(map(str, s))}{',' * (len(s) == 1)})" for s in (x.dims, dims))
            raise RuleError(f"shape {here} cannot be broadcast to {there}", "T202")
        x = self.stretched(x, dims)
        if len(x.dims) == len(dims) and all(a == b or (not a.is_one and self.same(a, b)) for a, b in zip(x.dims, dims)):
            if all(a == b or self.canonical(a) == self.canonical(b) for a, b in zip(x.dims, dims)):
                return x  # else the sizes are checked at run time: the type of the result states them from here on
        return self.let("broadcast", x, dims=tuple(dims))

    def stretched(self, x: Expr, dims: tuple[Dim, ...]) -> Expr:
        """``x`` with each axis that may be 1 at run time broadcast to its size in ``dims``; unchanged if there is none."""
        lead = len(dims) - x.rank
        for axis, wanted in enumerate(dims[lead:] if lead >= 0 else ()):
            if parts := self.parts(x.dims[axis], wanted):
                found = (*x.dims[:axis], wanted, *x.dims[axis + 1 :])
                x = self.let("stretch", x, axis=axis, dims=found, parts=parts)
        return x

    def same(self, a: Dim, b: Dim) -> bool:
        """Whether two dims are equal, or are assumed to be equal with a run-time check."""
        return a == b or self.unify(a, b) is not None

    def surely(self, a: Dim, b: Dim) -> bool:
        """Whether two sizes are known to be equal. False also if it is not known, so the caller's code for unequal sizes must
        be right for equal ones too."""
        return bool(self.decide(a, b, False))

    # ---- dims and integers

    def form(self, value: Any) -> Dim:
        """The linear form of an integer scalar; a variable without one gets a new symbol as its form."""
        op = self.operand(value)
        found = self.form_of(op)
        return self.own_symbol(op) if found is None else found

    def bind_symbol(self, symbol: Dim, op: ir.Operand) -> None:
        """Makes ``op`` the operand of the symbol in ``symbols``, and the symbol the form of ``op``."""
        self.symbols[str(symbol)] = op
        self.learn(op, symbol)

    def own_symbol(self, op: ir.Operand, like: Dim | None = None) -> Dim:
        """A new symbol bound to ``op``, an integer variable, even if its form is known; a symbol of a size if ``like`` is one,
        else of any integer."""
        assert isinstance(op, ir.Var), op
        symbol = Dim.alike(self._fresh_name(op.label), like)
        self.bind_symbol(symbol, op)
        return symbol

    def dim(self, dim: Dim) -> Expr:
        """The run-time value of a dimension, as an integer whose form is known; its arithmetic is emitted."""
        found = self._dim(dim)
        if self.form_of(found.op) is None:
            self.learn(found.op, dim)
        return found

    def _dim(self, dim: Dim) -> Expr:
        """The run-time value of a dimension: the terms with positive coefficients first, then the others, all emitted."""
        if least := dim.as_min:
            return self.elementwise("minimum", self.dim(least[0]), self.dim(least[1]), py=True)
        terms = sorted(dim.terms, key=lambda t: t[1] < 0)  # positive terms first, so that no sum begins with a minus
        leads = bool(terms) and terms[0][1] < 0 and dim.const != 0
        total: Expr | None = self.expr(dim.const) if leads else None
        for atom, coef in terms:
            if atom.kind in ("symbol", "int"):
                value = self.expr(self.symbols[atom.name])
            elif atom.kind == "max0" and (inner := atom.operands[0]).as_min:
                value = self.dim(inner)
            elif atom.kind == "max0":
                value = self.elementwise("maximum", self.dim(atom.operands[0]), 0, py=True)
            elif atom.kind == "mul":
                value = self.dim(atom.operands[0]) * self.dim(atom.operands[1])
            else:
                value = self.dim(atom.operands[0]) // self._divisor(atom.operands[1])
            if total is None:
                total = value if coef == 1 else value * coef
            elif coef == -1:
                total = total - value
            else:
                total = total + (value if coef == 1 else value * coef)
        if total is None:
            return self.expr(dim.const)
        if dim.const and not leads:
            total = total + dim.const if dim.const > 0 else total - (-dim.const)
        return total

    def _divisor(self, dim: Dim) -> Expr:
        """The run-time value of a divisor; at least 1 for a size that may be 0, since the division is computed before a check
        refuses it."""
        found = self.dim(dim)
        return self.elementwise("maximum", found, 1, py=True) if dim.is_size and not dim.const else found

    def size(self, dims: Sequence[Dim]) -> Expr:
        """The product of dimensions at run time, as an integer; its arithmetic is emitted."""
        return self.dim(product(dims))

    # ---- memory

    def alloc(self, name: str, type_: Type, prim: str, *args: Any, reason: str = "", **params: Any) -> ir.Var:
        """A new buffer, not weak, that holds ``prim(args)``; ``reason``: why it is recorded, if it is, for
        `transpile.report`."""
        var = ir.Var(name, type_.strong, buffer=True)
        self.emit(ir.Alloc(var, prim, tuple(self.operand(a) for a in args), params, self.loc, reason))
        return var

    def zeros(self, name: str, type_: Type, reason: str = "") -> ir.Var:
        """A new buffer of this type, filled with zeros; ``reason`` is as for `alloc`."""
        return self.alloc(
            name, type_, "full", 0.0 if type_.is_float else 0, reason=reason, dims=type_.dims, dtype=type_.dtype
        )

    def copy(self, name: str, source: Any) -> ir.Var:
        """A new buffer with this name that holds a copy of ``source``."""
        x = self.expr(source)
        return self.alloc(name, x.type, "copy", x)

    def read(self, source: Any, path: ir.Path = (), args: Sequence[Any] = (), name: str = "") -> Expr:
        """The current contents of the place in ``source``, as a new value; for a value and an empty path, the value itself.

        A size that is known only at run time gets a new symbol.
        """
        x = self.expr(source)
        if not path:
            return self.let("index", x, path=path, name=name) if isinstance(x.op, ir.Var) and x.op.buffer else x
        operands = [self.operand(a) for a in args]
        found = place_dims(x.dims, path, operands, self.form_of, self.least)
        fresh = {k: self.fresh_symbol(name or "size") for k, d in enumerate(found) if d is None}
        dims = tuple(fresh[k] if d is None else d for k, d in enumerate(found))
        result = self.let("index", x, *operands, path=path, dims=dims, name=name)
        self.measure(result, fresh)
        return result

    def measure(self, result: Expr, fresh: Mapping[int, Dim]) -> None:
        """Binds each symbol of ``fresh`` (axis -> symbol) to the size of ``result`` on that axis, which is read."""
        for k, symbol in fresh.items():
            self.symbols[str(symbol)] = self.let("dim", result, axis=k).op

    def fresh_symbol(self, name: str) -> Dim:
        """A new symbol for a size that is known only at run time; the caller puts its operand into ``symbols``."""
        return Dim.symbol(self._fresh_name(name))

    def _fresh_name(self, label: str) -> str:
        """A name that no symbol has, here or in the function that the new code is derived from."""
        if self._taken is None:
            self._taken = symbols_of(self._made_of) if self._made_of is not None else set()
        while True:
            self._ints += 1
            name = f"{label}.{self._ints}"
            if name not in self.symbols and name not in self._taken:
                return name

    def store(self, buf: ir.Var, path: ir.Path, args: Sequence[Any], value: Any) -> None:
        self.emit(ir.Store(buf, path, tuple(self.operand(a) for a in args), self.operand(value), self.loc))

    def add(self, buf: ir.Var, path: ir.Path, args: Sequence[Any], value: Any) -> None:
        self.emit(ir.Add(buf, path, tuple(self.operand(a) for a in args), self.operand(value), self.loc))

    # ---- control

    @contextmanager
    def into(self, block: ir.Block) -> Iterator[ir.Block]:
        """A context in which statements are emitted into ``block``, which it yields."""
        saved, self.block = self.block, block
        self.open.append(block)
        try:
            yield block
        finally:
            self.open.pop()
            self.block = saved

    @contextmanager
    def at(self, loc: ir.Loc) -> Iterator[None]:
        """A context in which emitted statements get the location ``loc``."""
        saved, self.loc = self.loc, loc
        try:
            yield
        finally:
            self.loc = saved

    # `If`, `For`, `While`, `NewStack`, `Push`, `Pop`, `Print` and `Raise` have no methods here: build the node and `emit` it.


def _unify_equal(a: Dim, b: Dim) -> Dim | None:
    return a if a == b else None


def _decide(a: Dim, b: Dim, noted: bool = True) -> bool | None:
    if (a - b).is_const:
        return a == b
    # the key of a call distinguishes sizes of 1 from all others
    return False if b.is_one and a.as_symbol is not None else None


def _no_parts(a: Dim, b: Dim) -> tuple[Dim, ...]:
    return ()


def unify_any(a: Dim, b: Dim) -> Dim | None:
    """The form that transforms take for two dims that meet: a constant if one is, else the first; None only for two different
    constants.

    In a derived function no more is asked: the dims met, and were checked, in the original one, perhaps under other names.
    """
    if a.is_const and b.is_const:
        return a if a == b else None
    return b if b.is_const else a


__all__ = ["Builder", "Expr", "constant"]
