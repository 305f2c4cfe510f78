"""Facts about the sizes of arguments that lifting took from the example arguments: the compiled function checks them, and is
lifted again where one fails.

>>> taken = Taken(((Dim.symbol("n") - 2, Dim(1), True),), {"n": (0, 0)})
>>> taken.holds([(3,)]), taken.holds([(4,)])
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from transpile.core.dims import Dim


@dataclass(frozen=True)
class Taken:
    """Pairs of sizes, each with whether they are equal. ``where`` gives the (parameter, axis) that has the size of each symbol;
    captured parameter k is -1 - k."""

    pairs: tuple[tuple[Dim, Dim, bool], ...] = ()
    where: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def with_outside(self, kept: Sequence[int]) -> Taken:
        """The same facts after all captured parameters but ``kept`` were dropped: ``kept[k]``, an old number, becomes number
        k."""
        where = {n: (p if p >= 0 else -1 - kept.index(-1 - p), axis) for n, (p, axis) in self.where.items()}
        return replace(self, where=where)

    def holds(self, own: Sequence[tuple[int, ...]], outside: Sequence[tuple[int, ...]] = ()) -> bool:
        """Whether the facts hold for parameters of the shapes ``own``, and captured ones of the shapes ``outside``."""
        sizes: dict[str, int] = {}
        for name, (param, axis) in self.where.items():
            shape = own[param] if param >= 0 else outside[-1 - param]
            sizes[name] = shape[axis]
        return all((a.evaluate(sizes) == b.evaluate(sizes)) is equal for a, b, equal in self.pairs)
