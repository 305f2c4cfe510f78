"""The checks that both dialects share: each variable is defined once, before its uses, in an enclosing block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, NoReturn

from transpile.core import nodes as ir
from transpile.core.dump import dump_stmt
from transpile.core.integers import Integers
from transpile.core.record_protocol import Record, Records
from transpile.core.types import Type
from transpile.core.walk import defines
from transpile.errors import InternalError, RuleError


class Scopes:
    """Walks over the statements of a function and tracks which variables are visible; a subclass for each dialect checks the
    statements."""

    handlers: ClassVar[Mapping[type, Callable[[Any, Any], None]]]

    def __init__(self, fn: ir.Function, prims: Records, after: str = "") -> None:
        self.fn, self.prims, self.after = fn, prims, after
        self.visible: set[ir.Var] = set()
        self.seen: set[ir.Var] = set()
        self.inside: list[ir.Var] = []  # the variables defined in the current block
        self.stmt: ir.Stmt | None = None
        self.form_of = Integers(prims, fn).of

    def function(self) -> None:
        """Checks the whole function; raises `InternalError`."""
        raise NotImplementedError

    def fail(self, message: str) -> NoReturn:
        refuse(self.fn, self.after, message, self.stmt)

    def check(self, condition: bool, message: str) -> None:
        if not condition:
            self.fail(message)

    def define(self, var: ir.Var) -> None:
        """Checks that a variable is defined for the first time, and makes it visible until the scope ends."""
        if var in self.seen:
            self.fail(f"{var} is defined twice")
        self.seen.add(var)
        self.visible.add(var)
        self.inside.append(var)

    def use(self, operand: ir.Operand, undef: bool = False) -> None:
        """Checks that an operand is visible, or a constant without dims; `Undef` only if ``undef``."""
        if isinstance(operand, ir.Var):
            if operand not in self.visible:
                outside = "outside the block that defines it" if operand in self.seen else "before it is defined"
                self.fail(f"{operand} is used {outside}")
        elif isinstance(operand, ir.Const):
            if operand.type.dims:
                self.fail(f"constant {operand.value!r} has dims")
        elif not isinstance(operand, ir.Undef):
            self.fail(f"{operand!r} is not an operand")
        elif not undef:
            self.fail("Undef is read")

    def combines(self, prim: str) -> bool:
        """Whether the primitive may combine the values of several iterations or lanes in any order, such as a sum or a
        maximum."""
        record = self.prims.get(prim)
        return prim == ir.JOINED or record is not None and record.folds == prim

    def elementwise(self, s: ir.Let | ir.Alloc, dtype_rule: str) -> None:
        """Checks that the operands have one dtype, or that they are bool where ``dtype_rule`` says so."""
        groups = {"where": s.args[1:], "as_is": (), "logical": ()}.get(dtype_rule, s.args)
        dtypes = sorted({o.type.dtype for o in groups})
        self.check(len(dtypes) <= 1, f"operands of different dtypes: {', '.join(dtypes)}")
        flags = {"where": s.args[:1], "logical": s.args}.get(dtype_rule, ())
        self.check(all(o.type.is_bool for o in flags), "an operand should be bool")

    def wanted(self, record: Record, types: Sequence[Type], params: Mapping[str, Any]) -> Type:
        """The type that a record's rule gives for operands of these types."""
        try:
            return record.type_rule(types, params)
        except RuleError as e:
            self.fail(f"the type rule refuses: {e.message}")

    def element(self, stack: ir.Operand, value: ir.Operand) -> None:
        """Checks that ``stack`` is a stack, of which the value may be an element."""
        self.use(stack)
        self.check(stack.type.kind == "stack", f"{stack} is no stack")
        fits = (stack.type.dtype, stack.type.rank) == (value.type.dtype, value.type.rank)
        self.check(fits, f"an element of {stack.type} cannot be {value.type}")

    def new_stack(self, s: ir.NewStack) -> None:
        self.check(s.var.type.kind == "stack", f"{s.var} is no stack")

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A nested scope: variables defined in it are not visible afterwards."""
        around, self.inside = self.inside, []
        yield
        self.visible.difference_update(self.inside)
        self.inside = around

    def statements(self, block: ir.Block) -> None:
        """Checks the statements of a block in order, each by its handler, and defines their variables."""
        for stmt in block.stmts:
            self.stmt = stmt
            handler = self.handlers.get(type(stmt))
            if handler is None:
                self.fail(f"{type(stmt).__name__} is not a statement")
            handler(self, stmt)
            self.stmt = stmt
            for var in defines(stmt):
                self.define(var)


def refuse(fn: ir.Function, after: str, message: str, stmt: ir.Stmt | None = None) -> NoReturn:
    """Raises `InternalError` with the names of the function and the pass (``after``), the statement and its line."""
    where = ""
    if stmt is not None:
        line = f"   ({stmt.loc.file}:{stmt.loc.line})" if stmt.loc.line else ""
        where = f"\n  in: {dump_stmt(stmt).splitlines()[0]}{line}"
    behind = f" after {after}" if after else ""
    raise InternalError(f"core of {fn.name!r}{behind}: {message}{where}")
