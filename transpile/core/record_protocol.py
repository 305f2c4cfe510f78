"""What the core wants to know of a primitive; the tables that say it are handed to who builds and who verifies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from transpile.core.types import Type


class Record(Protocol):
    """The part of `transpile.ops.record.Op` that types are found by."""

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
