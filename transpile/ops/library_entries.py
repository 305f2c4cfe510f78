"""The signatures of the functions of `transpile_runtime.compiled` that loop core calls.

Each operand is a letter for its dtype and its rank: "i" int64, "u" uint32, "d" float64, "f" float32, "b" bool, "x" a float, "n"
and "m" any. Equal letters of "x", "n", "m" are equal dtypes. The function fills the operands marked ">". Results stand behind
the arrow.

>>> of_name("blas.gemv").fills, of_name("blas.gemv").operands[2]
((4,), ('x', 1))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from transpile.core.dims import ANY
from transpile.core.types import Type
from transpile.errors import RuleError
from transpile.ops.record import Op

DTYPES = {"i": "int64", "u": "uint32", "d": "float64", "f": "float32", "b": "bool"}
Slot = tuple[str, int]  # the letter of a dtype, and a rank

TABLE = """
arrays.argsort            n2 -> i2
arrays.bincount           i1 i0 -> i1
arrays.bincount_weighted  i1 d1 i0 -> d1
arrays.digitize           n0 m1 b0 -> i0
arrays.fsum               d1 -> d0
arrays.interp             d0 d1 d1 -> d0
arrays.isin               n0 m1 b0 -> b0
arrays.nonzero            n1 -> i1
arrays.repeat_each        i1 i1 -> i1
arrays.resort             i1 n1 -> i1
arrays.scatter_add        i1 d1 i0 -> d1
arrays.searchsorted_left  n1 m0 -> i0
arrays.searchsorted_right n1 m0 -> i0
arrays.sort               n2 -> n2
arrays.unique             n1 -> n1 i1 i1 i1
blas.gemm                 x0 x2 x2 x0 >x2
blas.gemv                 x0 x2 x1 x0 >x1
blas.part                 x0 x2 x2 >x2 i0 b0 b0
blas.kept                 x0 >x2 -> x0
shares.of_matrix          x2 x2 x2 i0 i0 -> i0
shares.of_vector          x2 x1 x1 i0 i0 -> i0
shares.of_part            x2 x2 x2 i0 b0 b0 i0 i0 -> i0
shares.matrix             x0 x2 x2 x0 >x2 i0 i0
shares.vector             x0 x2 x1 x0 >x1 i0 i0
shares.part               x0 x2 x2 >x2 i0 b0 b0 i0 i0
draws.normals             >d1 u0 u0
draws.normals32           >f1 u0 u0
random.normals            >d1 u0 u0
random.normals32          >f1 u0 u0
linalg.cholesky           x2 b0 >x2
linalg.cholesky_adjoint   x2 x2 >x2
linalg.det                x2 -> x0
linalg.eigh               x2 b0 >x1 >x2
linalg.robust_eigh        x2 b0 >x1 >x2
linalg.eigvalsh           x2 b0 >x1
linalg.expm               x2 >x2
linalg.inv                x2 >x2
linalg.lstsq              x2 x2 x0 >x2
linalg.lu                 x2 >x2 >x2 >x2
linalg.lu_det             x2 i1 -> x0
linalg.lu_factor          x2 >x2 >i1
linalg.lu_inv             x2 i1 b0 >x2
linalg.lu_slogdet         x2 i1 -> x0 x0
linalg.lu_solve           x2 i1 b0 x2 >x2
linalg.matrix_rank        x2 -> i0
linalg.pinv               x2 >x2
linalg.qr                 x2 >x2 >x2
linalg.qr_r               x2 >x2
linalg.slogdet            x2 -> x0 x0
linalg.solve              x2 x2 >x2
linalg.solve_triangular   x2 x2 b0 b0 b0 >x2
linalg.svd                x2 >x2 >x1 >x2
linalg.svd_full           x2 >x2 >x1 >x2
linalg.svdvals            x2 >x1
"""


@dataclass(frozen=True)
class Signature:
    """The dtypes and ranks of a function's operands and results; ``fills``: the positions of the operands that it fills."""

    operands: tuple[Slot, ...]
    fills: tuple[int, ...]
    results: tuple[Slot, ...]

    def __call__(self, types: Sequence[Type], params: Mapping[str, Any]) -> Type:
        """The types of the results, as the items of a tuple type; `RuleError` if the operands do not fit, or if others are
        filled than ``params["written"]`` says. Sizes of the results are not known."""
        open_: dict[str, str] = {}
        if len(types) != len(self.operands):
            raise RuleError(f"{len(types)} operands for {len(self.operands)}")
        for k, ((letter, rank), type_) in enumerate(zip(self.operands, types)):
            wanted = DTYPES.get(letter) or open_.setdefault(letter, type_.dtype)
            if (type_.dtype, type_.rank) != (wanted, rank) or letter == "x" and not type_.is_float:
                raise RuleError(f"operand {k} is {type_}, not {wanted} of rank {rank}")
        if tuple(params["written"]) != self.fills:
            raise RuleError(f"it fills operands {self.fills}, not {tuple(params['written'])}")
        items = [Type(DTYPES.get(letter) or open_[letter], (ANY,) * rank) for letter, rank in self.results]
        return Type("float64", (), items=tuple(items), kind="tuple")


@cache
def of_name(name: str) -> Signature:
    """The signature of a function of the table; KeyError for another name."""
    return _signatures()[name]


@cache
def _signatures() -> dict[str, Signature]:
    """The signatures by name, read from `TABLE`."""
    found = {}
    for line in TABLE.strip().splitlines():
        name, *words = line.split()
        arrow = words.index("->") if "->" in words else len(words)
        slots = [_slot(w.lstrip(">")) for w in words[:arrow]]
        fills = tuple(k for k, w in enumerate(words[:arrow]) if w.startswith(">"))
        found[name] = Signature(tuple(slots), fills, tuple(map(_slot, words[arrow + 1 :])))
    return found


def _slot(word: str) -> Slot:
    return word[0], int(word[1:])


@cache
def entries() -> dict[str, Op]:
    """The functions of the table as records, by name, which the verifier of loop core reads."""
    return {name: Op(name, signature, None, "entry") for name, signature in _signatures().items()}
