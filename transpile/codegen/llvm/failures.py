"""Exceptions: all places that raise one class with arguments of the same types share an exit.

Every exception leaves a function by these exits, which release its memory: those of its own statements, of its callees, and of
code that Numba writes into it. Failed allocation is a MemoryError with the line and the number of bytes.
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
    """Writes code that raises exceptions; after a method that raises, the current block of LLVM has ended."""

    def __init__(self, context: Any, typing: Any) -> None:
        super().__init__(context, typing)
        self.exits: dict[Any, tuple[Any, list[Any]]] = {}  # key of an exception -> its exit, and its arguments
        self.callee_exits: dict[
            bool, tuple[Any, list[Any]]
        ] = {}  # the same for exceptions of callees, with a line or without
        self.signalled: Any = None  # the exit taken after the handler of a signal has raised
        self.loc = NOWHERE  # location of the current statement
        self.sites: dict[int, Any] = {}  # messages: see `transpile_runtime.compiled.errors`

    # ---- raised here

    def fail(self, name: str, args: Sequence[Value], static: tuple[Any, ...] | None = None) -> None:
        """Raises the exception called ``name`` here, with ``args`` computed at run time, or else with ``static``, known now."""
        self.leave(exception(name), args, static)

    def leave(self, class_: type, args: Sequence[Value], static: tuple[Any, ...] | None = None) -> None:
        """Raises an exception of the class here: branches to its exit, and passes it ``args``, or else ``static``."""
        values = [self.struct(a) if isinstance(a, Array) else a for a in args]
        for v in values:
            self.context.nrt.incref(self.builder, v.type, v.value)
        key = (class_, static, tuple([v.type for v in values]))
        self.go(self.exits, key, "fail", [v.value for v in values])

    def go(self, exits: dict[Any, Any], key: Any, name: str, values: Sequence[Any]) -> None:
        """Branches to the exit ``key`` of ``exits``, and passes it the values.

        The exit, a block labelled ``name`` with a phi for each value, is created at the first request.
        """
        if key not in exits:
            block = self.builder.function.append_basic_block(name)
            with self.builder.goto_block(block):
                exits[key] = block, [self.builder.phi(v.type) for v in values]
        block, phis = exits[key]
        for phi, value in zip(phis, values):
            phi.add_incoming(value, self.builder.block)
        self.builder.branch(block)

    def fail_if(self, test: Any, name: str, args: Sequence[Value], static: tuple[Any, ...] | None = None) -> None:
        """Writes a branch that raises as `fail` does if the bit ``test`` is set; code goes on where it is not."""
        with self.builder.if_then(test, likely=False):
            self.fail(name, args, static)

    # ---- memory

    def message(self, name: str, *parts: Any) -> int:
        """The number of a message for the current statement, an int; the message is noted in ``sites``.

        ``name`` is the exception's; ``parts`` are texts and slots, numbers of the arguments passed with it.
        """
        entry = (name, (), *place(self.loc), *parts)
        self.sites[site(entry)] = entry
        return site(entry)

    def fail_with(self, name: str, *parts: Any, args: Sequence[Value] = ()) -> None:
        """Raises ``errors.<name>_`` with a message of these parts at the current statement's line; ``args`` fill the slots."""
        number = self.constant(self.message(name, *parts), self.types.int64)
        self.fail(f"errors.{name}_", (number, *args))

    def unless_made(self, address: Any, dtype: Any, sizes: Sequence[Any]) -> None:
        """Raises ValueError or MemoryError if ``address``, an integer, is one of the error codes in `arrays`.

        They come from the allocating function. The error for too little memory names the bytes of an array of this dtype and
        these sizes.
        """
        b = self.builder
        with b.if_then(b.icmp_unsigned("<=", address, self.number(arrays.NEGATIVE)), likely=False):
            for code, text in (
                (arrays.NEGATIVE, "negative dimensions are not allowed"),
                (arrays.TOO_MANY, "array is too big: its size in bytes does not fit in an int64"),
            ):
                with b.if_then(b.icmp_unsigned("==", address, self.number(code))):
                    self.fail_with("ValueError", text)
            total = self.number(self.itemsize(dtype))
            for size in sizes:
                total = b.mul(total, size)
            self.fail_for_memory(total)

    def fail_for_memory(self, size: Any) -> None:
        """Raises MemoryError: ``size`` bytes, an LLVM integer, could not be allocated."""
        self.fail_with("MemoryError", "unable to allocate ", 0, " bytes", args=(Scalar(size, self.types.intp),))

    # ---- raised elsewhere

    def raised(self, class_: type, args: tuple[Any, ...] | None) -> None:
        """Raises the exception of code that Numba wrote here; a MemoryError gets the user's line, others keep their
        arguments."""
        if class_ is MemoryError:
            self.fail_with("MemoryError", "out of memory")
        else:
            self.leave(class_, (), tuple(args or ()))

    def passed(self, code: Any, info: Any) -> None:
        """Raises the exception (status ``code`` and ``info``) of a runtime function that was called, at the user's line."""
        number = self.constant(self.message("Within", "out of memory"), self.types.int64)
        self.go(self.callee_exits, True, "within", [code, info, number.value])

    def pass_on(self, code: Any, info: Any) -> None:
        """Raises again the exception (status ``code`` and ``info``) of a called function of this module, which names its line
        already."""
        self.go(self.callee_exits, False, "failed", [code, info])

    def interrupted(self) -> None:
        """Leaves after the handler of a signal has raised: the interpreter holds the exception."""
        if self.signalled is None:
            self.signalled = self.builder.function.append_basic_block("signalled")
        self.builder.branch(self.signalled)

    # ---- functions

    def begin(self, described: Any) -> tuple[Any, list[Any]]:
        """A pair: the new LLVM function for Numba's description, and its arguments; the builder writes into it from here on.

        It has an entry block, for cells of the frame, which leads to the block where writing goes on.
        """
        function = self.context.declare_function(self.module, described)
        self.context.leaving[function.name] = self
        self.builder = new_builder(function.append_basic_block("entry"))
        start = function.append_basic_block("start")
        self.builder.branch(start)  # the entry block is for cells
        self.builder.position_at_end(start)
        return function, self.context.call_conv.decode_arguments(self.builder, described.argtypes, function)

    def write_exits(self, name: str) -> None:
        """Writes the shared exits, each of which releases all memory, at the end of the function ``name``."""
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
    """The exception class of this name: a built-in one, or, with a dot, a class of the runtime such as
    ``errors.IndexError_``."""
    import builtins

    return named(name) if "." in name else getattr(builtins, name)
