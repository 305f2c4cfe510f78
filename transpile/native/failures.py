"""Exceptions: the places that raise one class with arguments of the same types share the code for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transpile.native import arrays
from transpile.native.memory import Memory
from transpile.native.scalars import named
from transpile.native.values import Array, Value

NO_MEMORY = ("Allocation failed (probably too large).",)


class Failures(Memory):
    def __init__(self, context: Any, typing: Any) -> None:
        super().__init__(context, typing)
        self.exits: dict[Any, tuple[Any, list[Any]]] = {}  # the block of each sort of exception, and its arguments
        self.callee_exit: tuple[Any, Any, Any] | None = None  # the block for exceptions of callees, and what they are

    def fail(self, name: str, args: Sequence[Value], static: tuple[str, ...] | None = None) -> None:
        """Raises, from here. ``static`` are arguments that are known now."""
        values = [self.struct(a) if isinstance(a, Array) else a for a in args]
        for v in values:
            self.context.nrt.incref(self.builder, v.type, v.value)
        key = (name, static, tuple([v.type for v in values]))
        found = self.exits.get(key)
        if found is None:
            block = self.builder.function.append_basic_block("fail")
            with self.builder.goto_block(block):
                found = block, [self.builder.phi(v.value.type) for v in values]
            self.exits[key] = found
        for phi, v in zip(found[1], values):
            phi.add_incoming(v.value, self.builder.block)
        self.builder.branch(found[0])

    def fail_if(self, test: Any, name: str, args: Sequence[Value], static: tuple[str, ...] | None = None) -> None:
        with self.builder.if_then(test, likely=False):
            self.fail(name, args, static)

    def unless_made(self, address: Any) -> None:
        """Raises what a code of `arrays` means."""
        b = self.builder
        with b.if_then(b.icmp_unsigned("<=", address, self.number(arrays.NEGATIVE)), likely=False):
            for code, name, text in (
                (arrays.NEGATIVE, "ValueError", "negative dimensions not allowed"),
                (arrays.TOO_MANY, "ValueError", "array is too big"),
            ):
                self.fail_if(b.icmp_unsigned("==", address, self.number(code)), name, (), (text,))
            self.fail("MemoryError", (), NO_MEMORY)

    def unless_found(self, pointer: Any) -> None:
        """Raises MemoryError where memory was not had."""
        self.fail_if(self.cgutils.is_null(self.builder, pointer), "MemoryError", (), NO_MEMORY)

    def pass_on(self, code: Any, info: Any) -> None:
        """The exception that a call ended with is raised from here."""
        b = self.builder
        if self.callee_exit is None:
            block = b.function.append_basic_block("failed")
            with b.goto_block(block):
                self.callee_exit = block, b.phi(code.type), b.phi(info.type)
        block, *phis = self.callee_exit
        for phi, value in zip(phis, (code, info)):
            phi.add_incoming(value, b.block)
        b.branch(block)

    def begin(self, described: Any) -> tuple[Any, list[Any]]:
        """Begins a function of the module: the function, and what it is given."""
        from llvmlite import ir

        function = self.context.declare_function(self.module, described)
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        start = function.append_basic_block("start")
        self.builder.branch(start)  # cells are made before it
        self.builder.position_at_end(start)
        return function, self.context.call_conv.decode_arguments(self.builder, described.argtypes, function)

    def write_exits(self, name: str) -> None:
        """The code that the failing places share."""
        convention = self.context.call_conv
        if self.callee_exit is not None:
            block, code, info = self.callee_exit
            self.builder.position_at_end(block)
            self.give_back_all()
            self.builder.store(info, convention._get_excinfo_argument(self.builder.function))
            self.builder.ret(code)
        for (raised, static, types), (block, values) in self.exits.items():
            self.builder.position_at_end(block)
            self.give_back_all()
            if values:
                convention.return_dynamic_user_exc(
                    self.builder, exception(raised), tuple(values), types, loc=None, func_name=name
                )
            else:
                convention.return_user_exc(self.builder, exception(raised), static, loc=None, func_name=name)


def exception(name: str) -> Any:
    """The class: a built-in one, or by the name of generated code."""
    import builtins

    return named(name) if "." in name else getattr(builtins, name)
