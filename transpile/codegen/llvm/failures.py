"""Exceptions: the places that raise one class with arguments of the same types share the code for it.

Whatever is raised in a function, by it, by what it calls or by what Numba writes into it, leaves by these exits, which give back
what the function holds. Memory that is not to be had is a MemoryError with the line and the bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transpile.analysis.messages import place, site
from transpile.base.loc import NOWHERE
from transpile.codegen.llvm import arrays
from transpile.codegen.llvm.llvm_values import Array, Scalar, Value
from transpile.codegen.llvm.memory_ownership import Memory
from transpile.codegen.llvm.scalar_instructions import named
from transpile.codegen.llvm.structure_parts import new_builder, remove_unread


class Failures(Memory):
    def __init__(self, context: Any, typing: Any) -> None:
        super().__init__(context, typing)
        self.exits: dict[Any, tuple[Any, list[Any]]] = {}  # the block of each sort of exception, and its arguments
        self.callee_exits: dict[
            bool, tuple[Any, list[Any]]
        ] = {}  # the same for exceptions of callees, with a line or without
        self.signalled: Any = None  # the block where it is left when the handler of a signal has raised
        self.loc = NOWHERE  # of the statement that is written
        self.sites: dict[int, Any] = {}  # messages: see `transpile_runtime.compiled.errors`

    # ---- raised here

    def fail(self, name: str, args: Sequence[Value], static: tuple[Any, ...] | None = None) -> None:
        """Raises, from here. ``static`` are arguments that are known now."""
        self.leave(exception(name), args, static)

    def leave(self, class_: type, args: Sequence[Value], static: tuple[Any, ...] | None = None) -> None:
        values = [self.struct(a) if isinstance(a, Array) else a for a in args]
        for v in values:
            self.context.nrt.incref(self.builder, v.type, v.value)
        key = (class_, static, tuple([v.type for v in values]))
        self.go(self.exits, key, "fail", [v.value for v in values])

    def go(self, exits: dict[Any, Any], key: Any, name: str, values: Sequence[Any]) -> None:
        """Branches to an exit, which is given values."""
        if key not in exits:
            block = self.builder.function.append_basic_block(name)
            with self.builder.goto_block(block):
                exits[key] = block, [self.builder.phi(v.type) for v in values]
        block, phis = exits[key]
        for phi, value in zip(phis, values):
            phi.add_incoming(value, self.builder.block)
        self.builder.branch(block)

    def fail_if(self, test: Any, name: str, args: Sequence[Value], static: tuple[Any, ...] | None = None) -> None:
        with self.builder.if_then(test, likely=False):
            self.fail(name, args, static)

    # ---- memory

    def message(self, name: str, *parts: Any) -> int:
        """The number of a message of the statement that is written."""
        entry = (name, (), *place(self.loc), *parts)
        self.sites[site(entry)] = entry
        return site(entry)

    def fail_with(self, name: str, *parts: Any, args: Sequence[Value] = ()) -> None:
        number = self.constant(self.message(name, *parts), self.types.int64)
        self.fail(f"errors.{name}_", (number, *args))

    def unless_made(self, address: Any, dtype: Any, sizes: Sequence[Any]) -> None:
        """Raises what a code of `arrays` means."""
        b = self.builder
        with b.if_then(b.icmp_unsigned("<=", address, self.number(arrays.NEGATIVE)), likely=False):
            for code, text in (
                (arrays.NEGATIVE, "negative dimensions are not allowed"),
                (arrays.TOO_MANY, "array is too big: its size in bytes is no number of 64 bits"),
            ):
                with b.if_then(b.icmp_unsigned("==", address, self.number(code))):
                    self.fail_with("ValueError", text)
            total = self.number(self.itemsize(dtype))
            for size in sizes:
                total = b.mul(total, size)
            self.fail_for_memory(total)

    def fail_for_memory(self, size: Any) -> None:
        """Raises MemoryError: so many bytes were not to be had."""
        self.fail_with("MemoryError", "unable to allocate ", 0, " bytes", args=(Scalar(size, self.types.intp),))

    # ---- raised elsewhere

    def raised(self, class_: type, args: tuple[Any, ...] | None) -> None:
        """What Numba wrote here raises."""
        if class_ is MemoryError:
            self.fail_with("MemoryError", "out of memory")
        else:
            self.leave(class_, (), tuple(args or ()))

    def passed(self, code: Any, info: Any) -> None:
        """What a function of the runtime raised is raised from here."""
        number = self.constant(self.message("Within", "out of memory"), self.types.int64)
        self.go(self.callee_exits, True, "within", [code, info, number.value])

    def pass_on(self, code: Any, info: Any) -> None:
        """The exception of a function that was written here as well: it names its line."""
        self.go(self.callee_exits, False, "failed", [code, info])

    def interrupted(self) -> None:
        """The handler of a signal has raised: the interpreter knows the exception."""
        if self.signalled is None:
            self.signalled = self.builder.function.append_basic_block("signalled")
        self.builder.branch(self.signalled)

    # ---- functions

    def begin(self, described: Any) -> tuple[Any, list[Any]]:
        """Begins a function of the module: the function, and what it is given."""
        function = self.context.declare_function(self.module, described)
        self.context.leaving[function.name] = self
        self.builder = new_builder(function.append_basic_block("entry"))
        start = function.append_basic_block("start")
        self.builder.branch(start)  # cells are made before it
        self.builder.position_at_end(start)
        return function, self.context.call_conv.decode_arguments(self.builder, described.argtypes, function)

    def write_exits(self, name: str) -> None:
        """The code that the failing places share."""
        b, convention = self.builder, self.context.call_conv
        del self.context.leaving[b.function.name]
        for block, raised in self.callee_exits.values():
            b.position_at_end(block)
            self.give_back_all()
            convention.return_located(b, *raised)
        if self.signalled is not None:
            b.position_at_end(self.signalled)
            self.give_back_all()
            convention.return_exc(b)
        for (class_, static, types), (block, values) in self.exits.items():
            b.position_at_end(block)
            self.give_back_all()
            if values:
                convention.return_dynamic_user_exc(b, class_, tuple(values), types, loc=None, func_name=name)
            else:
                convention.return_user_exc(b, class_, static, loc=None, func_name=name)
        remove_unread(b.function)


def exception(name: str) -> Any:
    """The class: a built-in one, or by the name of generated code."""
    import builtins

    return named(name) if "." in name else getattr(builtins, name)
