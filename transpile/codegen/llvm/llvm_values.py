"""What operands are while instructions are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from transpile.core.types import Type


class Unsupported(Exception):
    """What only Numba's own compiler does."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number, or a tuple or a list of Numba's: its value in LLVM, and Numba's type."""

    value: Any
    type: Any


@dataclass(frozen=True, slots=True)
class Array:
    """An array: where its data begin, and its sizes. ``strides``, in bytes, are None of an array in C order.

    ``meminfo`` counts who holds the memory. ``root`` names memory that no array of another root has in common with it; None if
    that is not known.
    """

    dtype: Any  # Numba's
    data: Any
    sizes: tuple[Any, ...]
    strides: tuple[Any, ...] | None
    meminfo: Any
    root: Any = None

    @property
    def parts(self) -> tuple[Any, ...]:
        """What control flow carries of an array in C order."""
        return (self.meminfo, self.data, *self.sizes)

    def with_parts(self, parts: Sequence[Any]) -> Array:
        return Array(self.dtype, parts[1], tuple(parts[2:]), None, parts[0])


@dataclass(frozen=True, slots=True)
class Packet(Scalar):
    """A number in each of several lanes: a vector of LLVM's, and Numba's type of one of them."""

    @property
    def lanes(self) -> int:
        return int(self.value.type.count)


Value = Scalar | Array


def numba_type_of(type_: Type) -> Any:
    """Numba's type of a number, or of an array in C order."""
    from transpile_runtime.compiled.kernel import numba_type

    return numba_type(type_.dtype, len(type_.dims))


def scalar_type(type_: Type) -> Any:
    """Numba's type of a number, or of the elements of an array."""
    from transpile_runtime.compiled.kernel import numba_type

    return numba_type(type_.dtype, 0)
