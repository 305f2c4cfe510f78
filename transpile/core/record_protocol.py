"""What the core wants to know of a primitive; the tables that say it are handed to who builds, who verifies and who runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from transpile.core.algebra_protocol import Operation
from transpile.core.types import Type


class Record(Operation, Protocol):
    """The part of `transpile.ops.record.Op` that types are found by, and simpler forms."""

    @property
    def name(self) -> str: ...
    @property
    def type_rule(self) -> Callable[[Sequence[Type], Mapping[str, Any]], Type]: ...
    @property
    def kind(self) -> str: ...
    @property
    def elementwise(self) -> bool: ...
    @property
    def dtype_rule(self) -> str: ...
    @property
    def as_calm(self) -> bool: ...
    @property
    def unlike_python(self) -> bool: ...


Records = Mapping[str, Record]  # by the names of primitives
