"""The integers of a function as linear forms over the symbols of its dims, as far as they are known.

The operand of a symbol is the symbol itself; a loop index is the symbol that its loop names; a computed integer follows from
its definition. A builder also states the forms of the sizes that it computes.

>>> from transpile.core.types import FLOAT, INT
>>> from transpile.ops.tables import prims
>>> n, k, x = Dim.symbol("n"), ir.Var("k", INT), ir.Var("x", FLOAT.with_dims((Dim.symbol("n"),)))
>>> size = ir.Var("n", INT)
>>> body = ir.Block((), [ir.Let(size, "dim", (x,), {"axis": 0}), ir.Let(k, "sub", (size, ir.Const(1, INT)))], (k,))
>>> str(Integers(prims(), ir.Function("f", (x,), body, {"n": size})).of(k))
'n - 1'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from transpile.core import nodes as ir
from transpile.core.algebra_protocol import Operation
from transpile.core.dims import Dim
from transpile.core.forms import of_operation
from transpile.core.places import FormOf
from transpile.core.types import Type
from transpile.core.walk import defined, statements

Part = tuple[ir.Block, Mapping[str, ir.Operand], Sequence[ir.Var]]


class Integers:
    """The forms of integers: those that were stated (`learn`), and those of a function, which is read when a form is first
    requested."""

    def __init__(
        self,
        prims: Mapping[str, Operation],
        fn: ir.Function | None = None,
        is_bound: Callable[[str], bool] | None = None,
    ) -> None:
        """``is_bound`` tells whether a symbol has a value; by default, the symbols of the function have one."""
        self.prims = prims
        self.known: dict[ir.Var, Dim] = {}
        self.lets: dict[ir.Var, ir.Let] = {}
        self.waiting: list[Part] = []
        if fn is not None:
            self.include(fn.body, fn.symbols, fn.params)
            is_bound = is_bound or fn.symbols.__contains__
        self.is_bound = is_bound or bool

    def learn(self, op: ir.Operand, form: Dim) -> None:
        """Records ``form`` as the form of an integer variable; other operands are skipped."""
        if isinstance(op, ir.Var):
            self.known[op] = form

    def of(self, op: ir.Operand) -> Dim | None:
        """The form of an integer scalar; None if it is not known, or for a float constant."""
        if isinstance(op, ir.Const):
            return None if isinstance(op.value, float) else Dim(int(op.value))
        if not isinstance(op, ir.Var):
            return None
        if self.waiting:
            self._read()
        found = self.known.get(op)
        if found is None and (let := self.lets.get(op)) is not None and (found := self._computed(let)) is not None:
            self.known[op] = found
        return found

    def include(
        self, block: ir.Block, symbols: Mapping[str, ir.Operand] = MappingProxyType({}), params: Sequence[ir.Var] = ()
    ) -> None:
        """Adds code that was built elsewhere, with the operands of its symbols by name; it is read when a form is next asked
        for."""
        self.waiting.append((block, symbols, params))

    # ---- what a function says

    def _read(self) -> None:
        """Notes, in the code that was added, the *lets* of integers and the symbols of loop indices and of operands."""
        parts, self.waiting = self.waiting, []
        for block, symbols, params in parts:
            for stmt in statements(block):
                if isinstance(stmt, ir.Let):
                    if stmt.var.type.is_int and not stmt.var.type.dims:
                        self.lets[stmt.var] = stmt
                elif isinstance(stmt, ir.For) and stmt.symbol is not None:
                    self.known.setdefault(stmt.index, stmt.symbol)
            self._name(block, symbols, params)

    def _name(self, block: ir.Block, symbols: Mapping[str, ir.Operand], params: Sequence[ir.Var]) -> None:
        """Records as the form of each symbol's operand that symbol: of a size if it is a ``dim``, or as the types in the block
        say."""
        kinds: dict[str, Dim] | None = None
        for name, op in symbols.items():
            if not isinstance(op, ir.Var) or op in self.known:
                continue
            let = self.lets.get(op)
            if let is not None and let.prim == "dim":
                self.known[op] = Dim.symbol(name)
                continue
            kinds = _symbols((*params, *defined(block))) if kinds is None else kinds
            self.known[op] = kinds.get(name, Dim.integer(name))

    def _computed(self, let: ir.Let) -> Dim | None:
        """The form of the integer that the *let* computes, from the forms of its operands; None if it is not known."""
        if let.prim == "dim":
            size = let.args[0].type.dims[let.params["axis"]]
            return size if all(map(self.is_bound, size.symbols())) else None
        if not is_exact(let.var.type, let.prim, let.args):
            return None
        record = self.prims.get(let.prim)
        if record is None or not (record.extreme < 0 or record.division):
            return None if record is None else computed(record, let.args, self.of)
        first, second = (self.of(a) for a in let.args)
        return None if first is None or second is None else _of_sizes(record, first, second)


def is_exact(type_: Type, prim: str, args: Sequence[ir.Operand]) -> bool:
    """Whether an integer scalar that ``prim`` computes, of type ``type_``, is exact: all operands are integer scalars, and
    nothing wraps.

    Arithmetic on dtypes other than int64 may wrap. A cast of a Python integer to one raises if it does not fit, so it is exact.
    """
    if not (type_.is_int and not type_.dims and type_.kind == "array"):
        return False
    if type_.dtype != "int64" and not (prim == "cast" and args[0].type.weak):
        return False
    return all(a.type.is_int and not a.type.dims for a in args)


def computed(record: Operation, args: Sequence[ir.Operand], form_of: FormOf) -> Dim | None:
    """The form of an integer that the primitive computes: of a sum, a product, ``max(x, 0)``, or an operand returned unchanged;
    None for other primitives, or if the form of an operand is not known."""
    if record.extreme > 0 and any(ir.is_literal(a, 0) for a in args):
        form = form_of(next((a for a in args if not ir.is_literal(a, 0)), args[0]))
        return None if form is None else form.clip()
    if not (record.signs or record.multiplies or record.same):  # otherwise the forms of the operands are not needed
        return None
    forms = [form_of(a) for a in args]
    return None if None in forms else of_operation(record, forms)  # type: ignore[type-var]


def _of_sizes(record: Operation, a: Dim, b: Dim) -> Dim | None:
    """The form of ``a // b``, or of ``min(a, b)`` if both are sizes; None if there is none.

    Only for finished functions: while code is built, such an integer is the user's and gets a symbol, by which dims name it.
    """
    if record.division:
        return a // b if record.division == "//" else None
    return a - (a - b).clip() if a.is_size and b.is_size else None


def _symbols(variables: Iterable[ir.Var]) -> dict[str, Dim]:
    """The form of each symbol in the types of the variables, by name: of a size or of any integer."""
    found: dict[str, Dim] = {}

    def look(dim: Dim) -> None:
        for atom, _ in dim.terms:
            if atom.name and atom.name not in found:
                found[atom.name] = Dim.atom(atom)
            for operand in atom.operands:
                look(operand)

    for var in variables:
        for type_ in (var.type, *var.type.items):
            for dim in type_.dims:
                look(dim)
    return found
