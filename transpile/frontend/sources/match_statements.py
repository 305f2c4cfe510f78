"""``match`` as ``if``: each case is a test of the subject, and what its pattern names is assigned before its body.

In: a ``Match`` of Python's tree. Out: statements that do the same, with the places of the patterns. A sequence pattern takes tuples,
lists and ranges, and NumPy's arrays where Python takes them for sequences, as it does since NumPy 2.5. With a guard, names are
assigned in the test, before the guard.

>>> def show(text):
...     for stmt in branches(ast.parse(text).body[0], "_subject"):
...         print(ast.unparse(stmt))
>>> show('''
... match kind:
...     case 'sum' | 'total':
...         y = 1
...     case (a, 0.0, *rest) if a > 0:
...         y = a
...     case Point(x=x):
...         y = x
...     case _:
...         y = 3
... ''')  # doctest: +ELLIPSIS
if kind == 'sum' or kind == 'total':
    y = 1
elif ...isinstance(kind, (tuple, list, range))... and len(kind) >= 2 and (kind[1] == 0.0) and ((a := kind[0]), (rest := list(kind[2:]))) and (a > 0):
    y = a
elif isinstance(kind, Point) and hasattr(kind, 'x'):
    x = kind.x
    y = x
else:
    y = 3

Python 3.10's reference manual, section 8.6, says what patterns mean.
"""  # noqa: E501

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import cast

import numpy as np

SELF = frozenset("bool bytearray bytes dict float frozenset int list set str tuple".split())
"""Classes whose one positional pattern is for the instance itself."""

TAKES_ARRAYS = bool(np.ndarray.__flags__ & 1 << 5)
"""Whether a sequence pattern does: Python's Py_TPFLAGS_SEQUENCE."""

Bound = list[tuple[str, ast.expr]]


@dataclass
class _Found:
    """What a pattern asks of its subject, in order, and which names it sets to what. ``either``: several ways to match."""

    tests: list[ast.expr] = field(default_factory=list)
    names: Bound = field(default_factory=list)


def without_match(tree: ast.AST) -> ast.AST:
    """A tree whose ``match`` statements are branches; the same tree if it has none."""
    if not any(isinstance(n, ast.Match) for n in ast.walk(tree)):
        return tree
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    return _Branches(next(name for name in (f"_subject{k or ''}" for k in count()) if name not in names)).visit(
        copy.deepcopy(tree)
    )


class _Branches(ast.NodeTransformer):
    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        return branches(cast(ast.Match, self.generic_visit(node)), self.name)


def branches(node: ast.Match, name: str) -> list[ast.stmt]:
    """The statements that stand for ``node``; ``name`` is nobody's yet, and holds a subject that is no name."""
    before: list[ast.stmt] = []
    subject = node.subject
    if not isinstance(subject, ast.Name) or subject.id in _captured(node):
        before.append(_at(ast.Assign([ast.Name(name, ast.Store())], subject), subject))
        subject = ast.Name(name, ast.Load())
    rest: list[ast.stmt] = []
    for case in reversed(node.cases):
        rest = _case(case, subject, rest)
    return [*before, *rest]


def _captured(node: ast.Match) -> set[str]:
    names = (getattr(n, field, None) for n in ast.walk(node) for field in ("name", "rest"))
    return {n for n in names if isinstance(n, str)}


def _case(case: ast.match_case, subject: ast.expr, rest: list[ast.stmt]) -> list[ast.stmt]:
    found = _pattern(case.pattern, subject)
    tests, body = found.tests, case.body
    if case.guard is None:
        body = [*(_at(ast.Assign([ast.Name(n, ast.Store())], v), case.pattern) for n, v in found.names), *body]
    else:
        tests = [*tests, *_bindings(found.names), case.guard]
    if not tests:
        return body
    made = ast.If(tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests), body, rest)
    return [_at(made, case.pattern)]


def _bindings(names: Bound) -> Iterator[ast.expr]:
    """A tuple with something in it, which is true: it is there for the names that it sets."""
    if names:
        yield ast.Tuple([ast.NamedExpr(ast.Name(n, ast.Store()), v) for n, v in names], ast.Load())


def _pattern(pattern: ast.pattern, subject: ast.expr) -> _Found:
    match pattern:
        case ast.MatchValue(value):
            return _Found([_compare(subject, ast.Eq(), value)])
        case ast.MatchSingleton(value):
            return _Found([_compare(subject, ast.Is(), ast.Constant(value))])
        case ast.MatchAs(inner, name):
            found = _Found() if inner is None else _pattern(inner, subject)
            return found if name is None else _Found(found.tests, [*found.names, (name, copy.deepcopy(subject))])
        case ast.MatchOr(patterns):
            return _any([_pattern(p, subject) for p in patterns])
        case ast.MatchSequence(patterns):
            return _sequence(patterns, subject)
        case ast.MatchMapping(keys, patterns, rest):
            return _mapping(keys, patterns, rest, subject)
        case ast.MatchClass(cls, patterns, names, named):
            return _instance(cls, patterns, names, named, subject)
    raise AssertionError(type(pattern).__name__)


def _any(found: list[_Found]) -> _Found:
    """One of several patterns: the first that matches sets the names."""
    if any(not one.tests and not one.names for one in found):
        return _Found()
    parts = [[*one.tests, *_bindings(one.names)] for one in found]
    return _Found([ast.BoolOp(ast.Or(), [p[0] if len(p) == 1 else ast.BoolOp(ast.And(), p) for p in parts])])


def _sequence(patterns: list[ast.pattern], subject: ast.expr) -> _Found:
    star = next((k for k, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
    least = len(patterns) - (star is not None)
    kinds = ast.Tuple([ast.Name(n, ast.Load()) for n in ("tuple", "list", "range")], ast.Load())
    size = _compare(_call("len", subject), ast.Eq() if star is None else ast.GtE(), ast.Constant(least))
    is_sequence: ast.expr = _call("isinstance", subject, kinds)
    if TAKES_ARRAYS:
        is_array = _call("hasattr", subject, ast.Constant("__array_function__"))  # numbers of NumPy's have none
        is_sequence = ast.BoolOp(ast.Or(), [is_sequence, is_array])
    found = _Found([is_sequence, size])
    for k, p in enumerate(patterns):
        if isinstance(p, ast.MatchStar):
            after = len(patterns) - 1 - k
            end = ast.UnaryOp(ast.USub(), ast.Constant(after)) if after else None
            part = _item(subject, ast.Slice(ast.Constant(k) if k else None, end))
            inner = _Found() if p.name is None else _Found([], [(p.name, _call("list", part))])
        else:
            back = len(patterns) - k
            at: ast.expr = ast.Constant(k)
            if star is not None and k > star:
                at = ast.UnaryOp(ast.USub(), ast.Constant(back))
            inner = _pattern(p, _item(subject, at))
        _extend(found, inner)
    return found


def _mapping(keys: list[ast.expr], patterns: list[ast.pattern], rest: str | None, subject: ast.expr) -> _Found:
    found = _Found([_call("isinstance", subject, ast.Name("dict", ast.Load()))])
    for key, p in zip(keys, patterns):
        found.tests.append(_compare(key, ast.In(), subject))
        _extend(found, _pattern(p, _item(subject, key)))
    if rest is not None:
        found.names.append((rest, _without(subject, keys)))
    return found


def _without(subject: ast.expr, keys: list[ast.expr]) -> ast.expr:
    """A dict without some of its keys."""
    key, value = "_key", "_value"
    pair = ast.Tuple([ast.Name(key, ast.Store()), ast.Name(value, ast.Store())], ast.Store())
    items = ast.Call(ast.Attribute(copy.deepcopy(subject), "items", ast.Load()), [], [])
    tests = (
        [_compare(ast.Name(key, ast.Load()), ast.NotIn(), ast.Tuple(copy.deepcopy(keys), ast.Load()))] if keys else []
    )
    loop = ast.comprehension(pair, items, tests, 0)
    return ast.DictComp(ast.Name(key, ast.Load()), ast.Name(value, ast.Load()), [loop])


def _instance(
    cls: ast.expr, patterns: list[ast.pattern], names: list[str], named: list[ast.pattern], subject: ast.expr
) -> _Found:
    found = _Found([_call("isinstance", subject, cls)])
    if len(patterns) == 1 and isinstance(cls, ast.Name) and cls.id in SELF:
        _extend(found, _pattern(patterns[0], subject))
        patterns = []
    for k, p in enumerate(patterns):
        attributes = ast.Attribute(copy.deepcopy(cls), "__match_args__", ast.Load())
        _extend(found, _pattern(p, _call("getattr", subject, _item(attributes, ast.Constant(k)))))
    for name, p in zip(names, named):
        found.tests.append(_call("hasattr", subject, ast.Constant(name)))
        _extend(found, _pattern(p, ast.Attribute(copy.deepcopy(subject), name, ast.Load())))
    return found


def _extend(found: _Found, more: _Found) -> None:
    found.tests += more.tests
    found.names += more.names


def _compare(left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.expr:
    return ast.Compare(copy.deepcopy(left), [op], [copy.deepcopy(right)])


def _call(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), [copy.deepcopy(a) for a in args], [])


def _item(subject: ast.expr, index: ast.expr) -> ast.expr:
    return ast.Subscript(copy.deepcopy(subject), copy.deepcopy(index), ast.Load())


def _at(made: ast.stmt, place: ast.AST) -> ast.stmt:
    """The statement with the place of a part of the text; parts that have one of their own keep it."""
    lines = {f: getattr(place, f) for f in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
    for node in ast.walk(made):
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            for name, value in lines.items():
                setattr(node, name, value)
    return made
