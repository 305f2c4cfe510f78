"""The values of operands while instructions are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from transpile.core.types import Type


class Unsupported(Exception):
    """Raised for an operation that only Numba's own compiler supports."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number, tuple or list of Numba's: its LLVM value, and its Numba type."""

    value: Any
    type: Any


@dataclass(frozen=True, slots=True)
class Array:
    """An array: the address of its data, and its sizes. ``strides``, in bytes, are None for a C-contiguous array.

    ``meminfo`` is Numba's reference count of the memory. Arrays with different ``root`` do not overlap; None if that is not
    known.
    """

    dtype: Any  # Numba's type
    data: Any
    sizes: tuple[Any, ...]
    strides: tuple[Any, ...] | None
    meminfo: Any
    root: Any = None

    @property
    def parts(self) -> tuple[Any, ...]:
        """The LLVM values that represent a C-contiguous array in control flow: meminfo, data, then sizes."""
        return (self.meminfo, self.data, *self.sizes)

    def with_parts(self, parts: Sequence[Any]) -> Array:
        """A C-contiguous array of the same dtype made of such ``parts``, without alias scope."""
        return Array(self.dtype, parts[1], tuple(parts[2:]), None, parts[0])


@dataclass(frozen=True, slots=True)
class Packet(Scalar):
    """A number in each of several lanes: an LLVM vector, and the Numba type of its elements."""

    @property
    def lanes(self) -> int:
        return int(self.value.type.count)


Value = Scalar | Array


def numba_type_of(type_: Type) -> Any:
    """Numba's type of a number, or of a C-contiguous array if the type has dims."""
    from transpile_runtime.compiled.kernel import numba_type

    return numba_type(type_.dtype, len(type_.dims))


def scalar_type(type_: Type) -> Any:
    """Numba's type of a number, or of the elements if the type is an array's."""
    from transpile_runtime.compiled.kernel import numba_type

    return numba_type(type_.dtype, 0)
