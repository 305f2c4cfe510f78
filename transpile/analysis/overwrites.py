"""Whether the element that a statement read from a buffer may be overwritten later in the run of the function."""

from __future__ import annotations

from transpile.analysis.dependence import may_overwrite
from transpile.analysis.scopes import Site, definitions, sites
from transpile.core import nodes as ir
from transpile.core.integers import Integers
from transpile.core.places import may_repeat
from transpile.ops.tables import prims


class Overwrites:
    """Answers for one function; facts are collected once."""

    def __init__(self, fn: ir.Function) -> None:
        self.fn = fn
        self.defs = definitions(fn)
        self.writes: dict[ir.Var, list[Site]] = {}
        self.touches: dict[ir.Var, list[Site]] = {}  # reads and writes
        self.allocs: dict[ir.Var, ir.Alloc] = {}
        self.at: dict[int, Site] = {}
        for site in sites(fn):
            self.at[id(site.stmt)] = site
            if isinstance(site.stmt, (ir.Store, ir.Add)):
                self.writes.setdefault(site.stmt.buf, []).append(site)
                self.touches.setdefault(site.stmt.buf, []).append(site)
            elif isinstance(site.stmt, ir.Let):
                for arg in site.stmt.args:
                    if isinstance(arg, ir.Var) and arg.buffer and site.stmt.prim != "dim":
                        self.touches.setdefault(arg, []).append(site)
            elif isinstance(site.stmt, ir.Alloc):
                self.allocs[site.stmt.var] = site.stmt
        self.form_of = Integers(prims(), fn).of
        self._known: dict[int, bool] = {}
        self._originals: dict[int, ir.Var | None] = {}

    def is_stable(self, read: ir.Let) -> bool:
        """Whether the place that ``read`` reads surely holds the same values until the end of the function."""
        key = id(read)
        if key not in self._known:
            root = read.args[0]
            assert isinstance(root, ir.Var)
            self._known[key] = not any(self.may_touch_later(read, write) for write in self.writes.get(root, ()))
        return self._known[key]

    def original(self, read: ir.Let) -> ir.Var | None:
        """The value of which the buffer read by ``read`` is a copy, if nothing wrote to the place before; else None. That value
        still holds what ``read`` returned."""
        key = id(read)
        if key not in self._originals:
            self._originals[key] = self._original(read)
        return self._originals[key]

    def _original(self, read: ir.Let) -> ir.Var | None:
        """What `original` returns, not cached."""
        root = read.args[0]
        alloc = self.allocs.get(root) if isinstance(root, ir.Var) and read.prim == "index" else None
        if alloc is None or alloc.prim != "copy" or self.at[id(alloc)].nest:
            return None
        (source,) = alloc.args
        if not isinstance(source, ir.Var) or source.buffer:
            return None
        site = self.at[id(read)]
        earlier = [w for w in self.writes.get(alloc.var, ()) if _runs_after(w, site)]
        return None if any(self.may_meet(w, site) for w in earlier) else source

    def is_kept(self, stored: ir.Store) -> bool:
        """Whether the value that ``stored`` wrote stays in its place until the function ends. A store that may write one
        element twice keeps only the last value, so False."""
        if may_repeat(stored.path):
            return False
        key = id(stored)
        if key not in self._known:
            self._known[key] = not any(self.may_touch_later(stored, write) for write in self.writes[stored.buf])
        return self._known[key]

    def is_first_touch(self, write: ir.Store) -> bool:
        """Whether nothing that ran before ``write`` has read or written the elements that it overwrites. The allocation does
        not count: memory is new in each iteration of the loops around it."""
        site, alloc = self.at[id(write)], self.allocs.get(write.buf)
        outside = 0 if alloc is None else len(self.at[id(alloc)].nest)
        return not any(self.may_touch_later(t.stmt, site, outside) for t in self.touches.get(write.buf, ()))

    def may_touch_later(self, first: ir.Stmt, write: Site, outside: int = 0) -> bool:
        """Whether ``write`` can, after some run of ``first``, touch an element that ``first`` touched. The outermost
        ``outside`` enclosing statements do not count."""
        site = self.at[id(first)]
        if not _runs_after(site, write, outside):
            return False
        return self.may_meet(site, write)

    def may_meet(self, first: Site, write: Site) -> bool:
        """Whether ``write`` can run after ``first`` and touch an element that ``first`` touched."""
        return may_overwrite(self.defs, self.fn.symbols, self.form_of, first, write)


def _runs_after(first: Site, second: Site, outside: int = 0) -> bool:
    """Whether ``second`` may run after ``first``: it stands later, or a common loop repeats both. The outermost ``outside``
    enclosing statements do not count."""
    if second.order > first.order:
        return not _are_alternatives(first, second)
    return any(
        isinstance(a, (ir.For, ir.While)) and a is b for (a, _), (b, _) in [*zip(first.nest, second.nest)][outside:]
    )


def _are_alternatives(first: Site, second: Site) -> bool:
    """Whether two statements stand in different branches of one ``if`` that no loop repeats."""
    for (a, block_a), (b, block_b) in zip(first.nest, second.nest):
        if a is not b or isinstance(a, (ir.For, ir.While)):
            return False
        if block_a is not block_b:
            return True
    return False
