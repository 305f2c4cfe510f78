"""The kept functions of a complete program: each is cleaned like the program itself and gets a name of its own.

A program that only calls one kept function (``jit(f)`` of a function that calls itself) becomes that function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from transpile.aggregates import Leaf, Node
from transpile.core import nodes as ir
from transpile.core.dump import dump
from transpile.core.functions import Routine, invoked, is_kept, reached
from transpile.transform.pairs import pair


def apart(fns: Sequence[ir.Function]) -> list[ir.Function]:
    """The settled programs ``fns``, in order, for one module. Where two keep different functions of the same name, those of the
    later one are renamed, in place; equal functions keep their name, and are defined once."""
    taken = {fn.name for fn in fns}
    kept: dict[str, str] = {}
    out: list[ir.Function] = []
    for fn in fns:
        own = {r.name: dump(r.body) for r in reached(fn) if r is not fn.routine}
        if any(name in taken and kept.get(name) != text for name, text in own.items()):
            _name(set(taken), fn)
            own = {r.name: dump(r.body) for r in reached(fn) if r is not fn.routine}
        kept |= own
        taken |= set(own)
        out.append(fn)
    return out


def renamed(fn: ir.Function, name: str) -> ir.Function:
    """The settled program ``fn`` under another name; if it is a kept function, its routine is renamed in place too."""
    if fn.routine is not None:
        fn.routine.name = name
        fn.routine.fn = replace(fn.routine.body, name=name)
    return replace(fn, name=name)


def settled(fn: ir.Function, clean: Callable[[ir.Function], ir.Function]) -> ir.Function:
    """``fn`` after ``clean``; all kept functions that it calls, directly or not, are cleaned and given names that differ, in
    place. If it only calls one kept function, the result is that function."""
    fn = clean(fn)
    pair(fn)
    done: set[Routine] = set()
    queue = list(invoked(fn.body))
    while queue:
        routine = queue.pop()
        if routine not in done:
            done.add(routine)
            routine.fn = clean(routine.body)
            pair(routine.fn)
            queue += invoked(routine.fn.body)
    fn = _merged(fn)
    _name({fn.name}, fn)
    return fn


def _name(taken: set[str], fn: ir.Function) -> None:
    """Gives each kept function that the program calls, except itself, a name that is not in ``taken``; changes the routines in
    place and adds the names to ``taken``."""
    for routine in reached(fn):
        if routine is not fn.routine:
            routine.name = _free(routine.name, taken)
            taken.add(routine.name)
        routine.fn = replace(routine.body, name=routine.name)


def _free(name: str, taken: set[str]) -> str:
    """``name``; if it is in ``taken``, with the first of ``_2``, ``_3``, ... that makes it new."""
    found, k = name, 1
    while found in taken:
        k += 1
        found = f"{name}_{k}"
    return found


def _merged(fn: ir.Function) -> ir.Function:
    """The kept function that ``fn`` calls, if ``fn`` does nothing else and has the same arguments and results; it gets the name
    of ``fn``, its routine in place. Else ``fn``."""
    stmts = [s for s in fn.body.stmts if not (isinstance(s, ir.Let) and s.prim == "dim")]
    call = stmts[0] if len(stmts) == 1 else None
    if not is_kept(call) or call.args != fn.params or call.results != fn.body.yields:
        return fn
    routine = call.routine
    if fn.captured or fn.errstate != routine.body.errstate:
        return fn
    leaves = [spec.tree for spec in fn.arg_tree or ()]
    if leaves != [Leaf(k) for k in range(len(fn.params))] or any(spec.kind != "pos" for spec in fn.arg_tree):
        return fn
    leaves = [Leaf(k) for k in range(len(call.results))]
    whole = leaves[0] if len(leaves) == 1 else Node("tuple", tuple(leaves))
    if fn.out_tree != whole:
        return fn
    names = {spec.tree.k: spec.name for spec in fn.arg_tree}
    if [p.name for p in routine.body.params] != [names[k] for k in range(len(names))]:
        return fn
    routine.name = fn.name
    itself = routine if routine in reached(routine.body) else None
    return replace(routine.body, name=fn.name, arg_tree=fn.arg_tree, out_tree=fn.out_tree, doc=fn.doc, routine=itself)
