"""Types of core values: dtype, dimensions, and the weak mark of Python scalars.

>>> str(Type("float64", (Dim.symbol("n"), Dim.of(3))))
'float64[n, 3]'
>>> promote(FLOAT, Type("float32", (Dim.of(3),))).dtype
'float32'
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from transpile.core.dims import Dim

DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
)  # complex dtypes are refused wherever one could enter


@dataclass(frozen=True, slots=True)
class Type:
    """The type of a value or of a buffer.

    ``weak`` marks Python scalars (``int``, ``float``, ``bool``), which adopt the dtype of NumPy operands in promotion. Rank 0
    stands for NumPy scalars and 0-d arrays alike.

    ``kind``: "array"; "stack", a stack of elements of this dtype and these dims; "tuple", the result of a primitive with
    several results (``qr``), which only ``item`` reads, ``items`` being their types; "packet", one number in each of ``lanes``
    lanes (`transpile.core.packets`), a mask if the dtype is bool.
    """

    dtype: str
    dims: tuple[Dim, ...] = ()
    weak: bool = False
    kind: str = "array"
    items: tuple[Type, ...] = ()
    lanes: int = 0

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def is_scalar(self) -> bool:
        return not self.dims

    @property
    def is_float(self) -> bool:
        """Whether the dtype is a float: only such values can carry a derivative."""
        return self.dtype.startswith("float")

    @property
    def is_int(self) -> bool:
        return "int" in self.dtype

    @property
    def is_bool(self) -> bool:
        return self.dtype == "bool"

    def with_dims(self, dims: tuple[Dim, ...]) -> Type:
        """The type with other dims, weak only if it was and there are none: an array is never weak."""
        return replace(self, dims=tuple(dims), weak=self.weak and not dims)

    def with_dtype(self, dtype: str) -> Type:
        """The type with another dtype and the same dims, not weak."""
        return replace(self, dtype=dtype, weak=False)

    @property
    def strong(self) -> Type:
        """The type without the weak mark, itself if it has none."""
        return replace(self, weak=False) if self.weak else self

    def __str__(self) -> str:
        if self.kind == "stack":
            return f"stack of {Type(self.dtype, self.dims, self.weak)}"
        if self.kind == "packet":
            return f"{self.dtype} x {self.lanes}"
        if self.kind == "tuple":
            return f"({', '.join(str(t) for t in self.items)})"
        if self.weak:
            return {"float64": "float", "int64": "int", "bool": "bool"}[self.dtype]
        if not self.dims:
            return self.dtype
        return f"{self.dtype}[{', '.join(str(d) for d in self.dims)}]"


FLOAT = Type("float64", (), True)
INT = Type("int64", (), True)
BOOL = Type("bool", (), True)
FLOAT64 = Type("float64")
INT64 = Type("int64")
BOOL_ = Type("bool")

_KIND = {"b": 0, "i": 1, "u": 1, "f": 2}


def promote(*types: Type) -> Type:
    """The scalar type to which NumPy 2 promotes operands of these types; their dims are ignored.

    A weak operand adopts the dtype of the others, unless it is of a higher kind (bool, int, float) (`NEP 50
    <https://numpy.org/neps/nep-0050-scalar-promotion.html>`_).
    """
    strong = [t for t in types if not t.weak]
    weak = [t for t in types if t.weak]
    if not strong:
        best = max(weak, key=lambda t: _KIND[np.dtype(t.dtype).kind])
        return Type(best.dtype, (), True)
    dtype = strong[0].dtype
    for other in strong[1:]:
        dtype = np.promote_types(dtype, other.dtype).name
    for other in weak:
        dtype = _promote_weak(dtype, np.dtype(other.dtype).kind)
    return Type(dtype)


def computes_alike(a: Type, b: Type) -> bool:
    """Whether arithmetic gives equal values in both types: they have one dtype, or neither is NumPy's bool, whose values are no
    numbers, or a NumPy integer other than int64, which wraps elsewhere."""
    narrow = any(not t.weak and (t.is_bool or (t.is_int and t.dtype != "int64")) for t in (a, b))
    return a.dtype == b.dtype or not narrow


def _promote_weak(dtype: str, kind: str) -> str:
    """The dtype that an array or NumPy scalar of ``dtype`` gives with a Python number of the kind "b", "i" or "f"."""
    python = {"b": bool, "i": int, "f": float}[kind]
    if kind == "b":
        return dtype
    return np.result_type(np.dtype(dtype), python(1)).name if dtype != "bool" else np.dtype(python).name
