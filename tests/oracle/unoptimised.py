"""LLVM's code of a compiled function before optimisation, as `transpile.codegen.llvm` writes it.

The function is called; where its modules would be handed to LLVM they are taken as text, and the call ends. So neither LLVM's
optimiser nor its code generator runs, and nothing is cached. For a function that goes through Numba's front end, it is the text
for Numba. These are the only places where the oracle reaches into the compiler: if one of them moves, this file moves too.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn
from unittest import mock


class _Taken(BaseException):
    """Ends the call. It is no `Exception`, so that it is not taken for one of the user's function."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


NUMBA = "# compiled by Numba's front end\n"


def unoptimised(compiled: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """The code of a `tp.jit`-ted function for these arguments. The function must not be cached on disk (``cache=False``)."""
    with _instead():
        try:
            compiled(*args)
        except _Taken as taken:
            return normal(taken.text)
    raise AssertionError("the call has compiled nothing")


@contextmanager
def _instead() -> Iterator[None]:
    """A context in which modules are taken as text instead of being compiled."""
    from transpile.codegen.llvm import function, llvm_library
    from transpile.driver import machine_code

    def new_library(codegen: Any, name: str) -> Any:
        return _library(llvm_library._kind())(codegen, name)

    def by_text(text: str, *rest: Any) -> NoReturn:
        raise _Taken(NUMBA + text)

    with (
        mock.patch.object(function, "new_library", new_library),
        mock.patch.object(machine_code, "loaded", by_text),
        mock.patch.object(uuid, "uuid4", lambda: uuid.UUID(int=0)),  # part of the function's name
    ):
        yield


def _library(kind: Any) -> Any:
    """A code library that holds a function's modules as text; asking it for machine code ends the call."""

    class Library(kind):
        def add_ir_module(self, module: Any) -> None:
            self.texts = [*getattr(self, "texts", ()), str(module)]

        def get_pointer_to_function(self, name: str) -> NoReturn:
            raise _Taken("\n".join(self.texts))

    return Library


# ------------------------------------------------------------------------------------------------- what may differ

_PATTERNS = (
    (re.compile(r"^target (triple|datalayout) = .*\n", re.MULTILINE), ""),
    (re.compile(r"B\d+v\d+(?=[BE])"), "B2v0"),  # Numba's number for a function compiled in this process
)


def normal(text: str) -> str:
    """The text without the parts that differ between processes and machines."""
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return text
