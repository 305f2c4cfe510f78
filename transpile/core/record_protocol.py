"""The fields of a primitive's record that core reads. The builder, the verifier and the evaluator are given the tables of
records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from transpile.core.algebra_protocol import Operation
from transpile.core.types import Type


class Record(Operation, Protocol):
    """The part of `transpile.ops.record.Op` that type inference and simplification read."""

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


Records = Mapping[str, Record]  # the name of a primitive -> its record
