"""Desugars ``break``, ``continue``, early ``return`` and loop ``else`` into structured form; what the lifter sees.

In: the gast of one function. Out: `Desugared`, whose ``node.body`` has

* no ``Break``, no ``Continue``, no loop ``orelse``, and at most one ``Return``: the last statement of the function.
  A function that returns early ends in ``return _result``; one without any ``return <value>`` has none and returns
  None.
* **stop**: a loop that may end early has as the *last statement of its body* the assignment ``__stop__ = <flags>``:
  the core loop's ``body.stop`` (evaluated at the end of a trip, ends the loop). ``<flags>`` is a name or ``name or
  name`` of flags. ``__stop__`` is assigned nowhere else and never read. ``while True: ... break`` keeps the test
  ``True`` and has a stop.
* **flags**: ordinary names, listed in ``flags``, assigned only the constants True and False, read only in ``__stop__
  = ...`` and in tests ``if not flag`` / ``if not (flag or flag)``. They are always assigned before they are read.
  Lift them as Const booleans where they are known, so that exits under static tests fold: ``if mode is None: return
  x``. A join ``If(test, yields True, else yields False)`` of a flag is ``test`` itself.
* a ``while`` whose test binds a name by ``:=`` is a ``while True`` whose body begins with the test: it binds once a trip.
* **result**: the name in ``result`` (or None), assigned on every path that leaves normally, read only by the last
  ``return``. A path that falls off the end assigns ``_result = None`` if other paths return values (the lifter sees
  trees that differ: T118). On paths that ``raise`` it stays unassigned (Undef).
* where one side of an ``if`` always exits, what follows the ``if`` is moved into the other side, so no flag is needed.
  ``raise`` moves nothing: what follows ``if bad: raise ...`` stays behind it. What can never run is dropped.
* expressions and simple statements are the same objects as before (moved, never copied); ``if``, ``with`` and loops
  are new nodes around them. So `transpile.frontend.sources.definite.maybe_unassigned`, which looks at the function *before*
  this pass, can be asked about ``Name`` nodes afterwards: the lifter trusts a read that it calls assigned even where
  a join has Undef on one side (after ``while True: ...; if c: r = y; break`` the read of ``r`` is fine).
* locations: each new node has the location of the ``break``, ``return``, ``if`` or loop that it stands for.
* nested functions, lambdas, classes and comprehensions are left alone: desugar them when they are lifted. ``try`` is
  left as it is: the lifter refuses it.

An early return needs no flag:

>>> show('''
... def f(x):
...     if x > 0:
...         return x
...     y = -x
...     return y * 2
... ''')
def f(x):
    if x > 0:
        _result = x
    else:
        y = -x
        _result = y * 2
    return _result

``break`` and ``continue``; a loop ``else``:

>>> show('''
... def f(x, n):
...     for i in range(n):
...         if x < 0:
...             continue
...         x = x - i
...         if x > 9:
...             break
...     else:
...         x = 0
...     return x
... ''')
def f(x, n):
    _stop = False
    for i in range(n):
        _stop = False
        if x < 0:
            pass
        else:
            x = x - i
            if x > 9:
                _stop = True
        __stop__ = _stop
    if not _stop:
        x = 0
    return x

A return out of a loop:

>>> show('''
... def f(x, n):
...     while True:
...         x = x * 2
...         if x > n:
...             return x
...     return 0
... ''')
def f(x, n):
    _done = False
    while True:
        _done = False
        x = x * 2
        if x > n:
            _result = x
            _done = True
        __stop__ = _done
    return _result

Where both sides may go on, a flag guards what follows:

>>> show('''
... def f(x, a, b):
...     if a:
...         if b:
...             return x
...         x = 2
...     return x + 1
... ''')
def f(x, a, b):
    _done = False
    if a:
        if b:
            _result = x
            _done = True
        else:
            x = 2
    if not _done:
        _result = x + 1
    return _result
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import gast

from transpile.frontend.sources.leaving import completes, exits, leaves

STOP = "__stop__"
SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)
Stmts = list[gast.stmt]


@dataclass(frozen=True)
class Desugared:
    """A function in structured form; see the module's text."""

    node: gast.FunctionDef
    result: str | None  # the name that holds what is returned, if there are early returns of values
    flags: frozenset[str]


def desugar(fn: gast.FunctionDef) -> Desugared:
    """``fn`` without ``break``, ``continue``, early ``return`` and loop ``else``; ``fn`` itself is not changed."""
    names = _Names(fn)
    returns = [s for s in _own_statements(fn.body) if isinstance(s, gast.Return)]
    last = fn.body[-1]
    if not returns or returns == [last] and last.value is not None:
        kept = [last] if returns else []
        body = _Structurer(names, None).block(fn.body[: len(fn.body) - len(kept)], _Context())
        return Desugared(_with(fn, body=body + kept or [_at(gast.Pass(), fn)]), None, names.flags)
    has_value = any(r.value is not None and not _is_none(r.value) for r in returns)
    result = names.fresh("_result") if has_value else None
    body = _Structurer(names, result).block(fn.body, _Context(tail=True))
    if result is not None:
        body.append(_at(gast.Return(_load(result, last)), last))
    return Desugared(_with(fn, body=body or [_at(gast.Pass(), fn)]), result, names.flags)


# -------------------------------------------------------------------------------------------------- the rewriting


@dataclass(frozen=True)
class _Context:
    """Where a list of statements stands.

    ``tail``: after it the function ends. ``guarded``: what follows it in this trip reads the ``continue`` flag.
    ``stop``, ``skip``: the flags of the innermost loop. ``clear``: the flags known to be False at this point.
    """

    tail: bool = False
    guarded: bool = False
    stop: str = ""
    skip: str = ""
    clear: frozenset[str] = frozenset()


class _Structurer:
    def __init__(self, names: _Names, result: str | None) -> None:
        self.names, self.result = names, result
        self.done = ""

    def block(self, stmts: Sequence[gast.stmt], at: _Context, where: gast.AST | None = None) -> Stmts:
        """The statements in structured form; ``where`` is the location of what an empty list leaves out."""
        out: Stmts = []
        for k, stmt in enumerate(stmts):
            handler = _HANDLERS.get(type(stmt))
            if handler is None:
                out.append(stmt)
            elif handler(self, stmt, list(stmts[k + 1 :]), at, out):
                return out
        if at.tail and self.result is not None:
            out.append(_assign(self.result, gast.Constant(None, None), stmts[-1] if stmts else where))
        return out

    # Each handler appends to `out` and says whether it has dealt with `rest`, the statements that follow.

    def leave_function(self, stmt: gast.Return, rest: Stmts, at: _Context, out: Stmts) -> bool:
        if self.result is not None:
            out.append(_assign(self.result, stmt.value or gast.Constant(None, None), stmt))
        if not at.tail:
            out.append(_set(self.done_flag(), True, stmt))
        return True

    def leave_loop(self, stmt: gast.Break, rest: Stmts, at: _Context, out: Stmts) -> bool:
        out.append(_set(at.stop, True, stmt))
        return True

    def leave_trip(self, stmt: gast.Continue, rest: Stmts, at: _Context, out: Stmts) -> bool:
        if at.guarded:
            out.append(_set(at.skip, True, stmt))
        return True

    def end_in_raise(self, stmt: gast.Raise, rest: Stmts, at: _Context, out: Stmts) -> bool:
        out.append(stmt)
        return True

    def branch(self, stmt: gast.If, rest: Stmts, at: _Context, out: Stmts) -> bool:
        if not exits([stmt]):
            inner = replace(at, tail=False)
            out.append(self.rebuilt(stmt, inner))
            return not completes([stmt])
        if not completes([stmt]):
            out.append(self.rebuilt(stmt, at))
        elif leaves(stmt.body):
            out.append(self.rebuilt(_with(stmt, orelse=[*stmt.orelse, *rest]), at))
        elif leaves(stmt.orelse):
            out.append(self.rebuilt(_with(stmt, body=[*stmt.body, *rest]), at))
        elif not rest:
            out.append(self.rebuilt(stmt, at))
        else:
            self.flagged(stmt, rest, at, out)
        return True

    def rebuilt(self, stmt: gast.If, at: _Context) -> gast.If:
        body, orelse = self.block(stmt.body, at, stmt), self.block(stmt.orelse, at, stmt)
        return _with(stmt, body=body or [_at(gast.Pass(), stmt)], orelse=orelse)

    def scoped(self, stmt: gast.With, rest: Stmts, at: _Context, out: Stmts) -> bool:
        if exits([stmt]) and rest and completes([stmt]):
            self.flagged(stmt, rest, at, out)
            return True
        leaves = bool(exits([stmt]))
        inner = at if leaves else replace(at, tail=False)
        out.append(_with(stmt, body=self.block(stmt.body, inner) or [_at(gast.Pass(), stmt)]))
        return leaves or not completes([stmt])

    def flagged(self, stmt: gast.If | gast.With, rest: Stmts, at: _Context, out: Stmts) -> None:
        """``stmt`` may exit or go on: flags say which, and guard ``rest``."""
        kinds = exits([stmt])
        flags = self.flags_of(kinds, at)
        out += [_set(f, False, stmt) for f in flags if f not in at.clear]
        clear = at.clear | set(flags)
        inner = replace(at, tail=False, guarded=at.guarded or "continue" in kinds, clear=clear)
        if isinstance(stmt, gast.If):
            out.append(self.rebuilt(stmt, inner))
        else:
            out.append(_with(stmt, body=self.block(stmt.body, inner)))
        self.guard(flags, rest, replace(at, clear=at.clear - set(flags)), stmt, out)

    def guard(self, flags: Sequence[str], rest: Stmts, at: _Context, stmt: gast.stmt, out: Stmts) -> None:
        body = self.block(rest, at, stmt)
        if body:
            out.append(_at(gast.If(_unless(flags, stmt), body, []), stmt))

    def loop(self, stmt: gast.For | gast.While, rest: Stmts, at: _Context, out: Stmts) -> bool:
        given = rest
        if isinstance(stmt, gast.While) and any(isinstance(n, gast.NamedExpr) for n in gast.walk(stmt.test)):
            stmt, rest = self.tested_inside(stmt, rest, out)
        kinds = exits(stmt.body)
        stop = self.names.flag("_stop") if "break" in kinds else ""
        skip = self.names.flag("_skip") if "continue" in kinds else ""
        done = self.done_flag() if "return" in kinds else ""
        ends = [f for f in (stop, done) if f]
        body = [_set(f, False, stmt) for f in ends]
        body += self.block(stmt.body, _Context(stop=stop, skip=skip, clear=frozenset(ends)))
        if ends:
            body.append(_assign(STOP, _either(ends, stmt), stmt))
        before = [f for f in (stop if stmt.orelse else "", done) if f and f not in at.clear]
        out += [_set(f, False, stmt) for f in before]
        out.append(_with(stmt, body=body or [_at(gast.Pass(), stmt)], orelse=[]))
        if not completes([stmt]) and not stmt.orelse:
            return True
        follow = rest
        if stmt.orelse:
            otherwise = [_at(gast.If(_unless([stop], stmt), stmt.orelse, []), stmt)] if stop else stmt.orelse
            follow = [*otherwise, *rest]
        if not done and follow is given:
            return False  # the list goes on: a thousand loops, one behind the other, are no thousand calls
        if done:
            self.guard([done], follow, replace(at, clear=at.clear - {done}), stmt, out)
        else:
            out += self.block(follow, at, stmt)
        return True

    def tested_inside(self, stmt: gast.While, rest: Stmts, out: Stmts) -> tuple[gast.While, Stmts]:
        """``while True: if test: ... else: break``, and what follows it: an ``else`` runs where it was the test that ended it."""
        end: Stmts = [_at(gast.Break(), stmt)]
        if "break" not in exits(stmt.body):
            rest = [*stmt.orelse, *rest]
        elif stmt.orelse:
            over = self.names.flag("_over")
            out.append(_set(over, False, stmt))
            end.insert(0, _set(over, True, stmt))
            rest = [_at(gast.If(_load(over, stmt), stmt.orelse, []), stmt), *rest]
        test = _at(gast.If(stmt.test, stmt.body, end), stmt)
        return _with(stmt, test=_at(gast.Constant(True, None), stmt), body=[test], orelse=[]), rest

    # ---- flags

    def done_flag(self) -> str:
        if not self.done:
            self.done = self.names.flag("_done")
        return self.done

    def flags_of(self, kinds: frozenset[str], at: _Context) -> list[str]:
        flags = {"break": lambda: at.stop, "continue": lambda: at.skip, "return": self.done_flag}
        return [flag() for kind, flag in flags.items() if kind in kinds]


_HANDLERS: dict[type, Callable[..., bool]] = {
    gast.Return: _Structurer.leave_function,
    gast.Break: _Structurer.leave_loop,
    gast.Continue: _Structurer.leave_trip,
    gast.Raise: _Structurer.end_in_raise,
    gast.If: _Structurer.branch,
    gast.With: _Structurer.scoped,
    gast.For: _Structurer.loop,
    gast.While: _Structurer.loop,
}


# ----------------------------------------------------------------------------------------------- names and nodes


class _Names:
    """Fresh names; those of flags are listed."""

    def __init__(self, fn: gast.FunctionDef) -> None:
        self.taken = {n.id for n in gast.walk(fn) if isinstance(n, gast.Name)}
        self.taken |= {n.name for n in gast.walk(fn) if isinstance(n, (gast.FunctionDef, gast.ClassDef))}
        self.made: list[str] = []

    @property
    def flags(self) -> frozenset[str]:
        return frozenset(self.made)

    def fresh(self, base: str) -> str:
        name, k = base, 1
        while name in self.taken:
            k += 1
            name = f"{base}_{k}"
        self.taken.add(name)
        return name

    def flag(self, base: str) -> str:
        self.made.append(self.fresh(base))
        return self.made[-1]


def _own_statements(stmts: Sequence[gast.stmt]) -> Stmts:
    """The statements and those nested in them, without those of nested functions and classes."""
    found: Stmts = []
    for stmt in stmts:
        found.append(stmt)
        if not isinstance(stmt, SCOPES):
            for field in ("body", "orelse", "finalbody"):
                found += _own_statements(getattr(stmt, field, []))
            for case in (*getattr(stmt, "handlers", ()), *getattr(stmt, "cases", ())):
                found += _own_statements(case.body)
    return found


def _with(node: gast.AST, **fields: object) -> gast.AST:
    """A shallow copy of a node with other fields."""
    new = type(node)(**{f: getattr(node, f, None) for f in node._fields} | fields)
    return gast.copy_location(new, node)


def _at(node: gast.AST, where: gast.AST | None) -> gast.AST:
    return node if where is None else gast.copy_location(node, where)


def _load(name: str, where: gast.AST) -> gast.Name:
    return _at(gast.Name(name, gast.Load(), None, None), where)


def _assign(name: str, value: gast.expr, where: gast.AST | None) -> gast.Assign:
    target = _at(gast.Name(name, gast.Store(), None, None), where)
    if not hasattr(value, "lineno"):
        _at(value, where)
    return _at(gast.Assign([target], value, None), where)


def _set(flag: str, value: bool, where: gast.AST) -> gast.Assign:
    return _assign(flag, gast.Constant(value, None), where)


def _either(flags: Sequence[str], where: gast.AST) -> gast.expr:
    names = [_load(f, where) for f in flags]
    return names[0] if len(names) == 1 else _at(gast.BoolOp(gast.Or(), names), where)


def _unless(flags: Sequence[str], where: gast.AST) -> gast.expr:
    return _at(gast.UnaryOp(gast.Not(), _either(flags, where)), where)


def _is_none(value: gast.expr) -> bool:
    return isinstance(value, gast.Constant) and value.value is None


def show(source: str) -> None:
    """Prints the desugared form of the function that ``source`` defines (for the examples above)."""
    import textwrap

    print(gast.unparse(desugar(gast.parse(textwrap.dedent(source)).body[0]).node).strip())
