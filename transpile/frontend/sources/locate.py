"""From a live function to its definition in the source: the gast node, and exact positions in the user's file.

The whole file (or notebook cell) is parsed, so columns and lines need no correction; only where the file as a whole
does not parse is the function's block parsed alone. Nothing is executed. Lambdas that begin on one line are told
apart by comparing compiled code, because code objects know no columns on Python 3.10.

>>> import functools
>>> unwrap(functools.partial(position, 1)).args
(1,)
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import linecache
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import gast
import numpy as np

from transpile.base import carried
from transpile.base.levels import level_of
from transpile.core import nodes as ir
from transpile.custom import Custom
from transpile.errors import TranspileError, error
from transpile.frontend.calls import ways_out
from transpile.frontend.resolve import reads
from transpile.frontend.resolve.known import OWN, foreign, known_object, public_name
from transpile.frontend.sources import origin
from transpile.frontend.sources.private_names import as_written, owned, owner_of
from transpile.frontend.sources.spines import to_gast, unnested
from transpile.frontend.sources.written import FUTURES, codes, fingerprint, first_line, is_written

Definition: TypeAlias = "gast.FunctionDef | gast.Lambda"


@dataclass(frozen=True)
class Located:
    """A definition and where it stands. ``lines`` are the parsed text; its line 1 is ``shift + 1`` of the file."""

    node: Definition
    file: str
    lines: Sequence[str] = field(repr=False)
    qualname: str
    shift: int = 0

    def loc(self, node: gast.AST, caller: ir.Loc | None = None) -> ir.Loc:
        """The position of a node in the user's file: lines and columns from 1, columns in characters."""
        return position(node, self.file, self.lines, self.qualname, self.shift, caller)

    @property
    def first_line(self) -> int:
        return self.node.lineno + self.shift

    @property
    def is_lambda(self) -> bool:
        return isinstance(self.node, gast.Lambda)


def position(
    node: gast.AST, file: str, lines: Sequence[str], function: str = "", shift: int = 0, caller: ir.Loc | None = None
) -> ir.Loc:
    """The `Loc` of a node of a parsed text."""
    if getattr(node, "lineno", None) is None:
        return ir.Loc(file, 0, function=function, caller=caller)
    end_line = getattr(node, "end_lineno", None) or node.lineno
    end_col = getattr(node, "end_col_offset", None)
    return ir.Loc(
        file,
        node.lineno + shift,
        column(lines, node.lineno, node.col_offset),
        end_line + shift,
        0 if end_col is None else column(lines, end_line, end_col),
        function,
        caller,
    )


def column(lines: Sequence[str], line: int, offset: int) -> int:
    """The column, from 1 and in characters, of a UTF-8 byte offset in a line."""
    if not 0 < line <= len(lines) or lines[line - 1].isascii():
        return offset + 1
    return len(lines[line - 1].encode()[:offset].decode(errors="replace")) + 1


# ------------------------------------------------------------------------------------------------- what is called


@dataclass(frozen=True)
class Target:
    """A plain Python function and the arguments that are already bound: ``self`` of a method, those of a partial."""

    fn: types.FunctionType
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)


def unwrap(obj: Any, loc: ir.Loc = ir.NOWHERE) -> Target:
    """The Python function behind a callable: methods, partials, Numba dispatchers, cached functions, callable objects.

    Raises T402 for what is not written in Python, T411 for what cannot be called or is a class.
    """
    library = _of_library(obj)
    if library is not None:
        return Target(library)
    if is_array_method(obj):
        return Target(origin.calling_method(obj))
    match obj:
        case types.FunctionType() if (obj.__module__ or "").startswith("numba."):
            raise _compiled_by_numba(obj, loc)
        case types.FunctionType():
            form = obj.__dict__.get("__transpile_form__")  # of what vjp and linearize give
            return Target(obj if form is None else origin.calling_ours(form))
        case types.MethodType():
            inner = unwrap(obj.__func__, loc)
            return Target(inner.fn, (*inner.args, obj.__self__), inner.kwargs)
        case functools.partial():
            inner = unwrap(obj.func, loc)
            return Target(inner.fn, (*inner.args, *obj.args), {**inner.kwargs, **obj.keywords})
        case type():
            raise error("T411", f"{_name(obj)} is a class, not a function", loc, hint="wrap the call in a function")
    behind = transparent(obj)
    if behind is not None:
        return unwrap(behind, loc)
    if isinstance(obj, (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)):
        raise _no_python(obj, loc)
    if isinstance(obj, np.vectorize):
        message = f"np.vectorize({_name(obj)[1:-1]}) itself cannot be transformed"
        raise error("T402", message, loc, "call it in a function: lambda x: f(x)")
    if callable(obj) and (dotted := public_name(obj)) is not None:
        shown = dotted.replace("numpy.", "np.", 1)
        raise error("T130", f"{shown} is not supported", loc, ways_out.of_call(dotted))
    if type(obj).__module__.partition(".")[0] in ("numpy", "scipy") and callable(obj):
        raise _no_python(obj, loc)
    if level_of(obj) is not None or isinstance(obj, Custom) or is_numba_ufunc(obj):
        return Target(origin.calling_ours(obj))
    if is_of_numba(obj):
        raise _compiled_by_numba(obj, loc)
    reads.note_class(obj)
    reads.note_member(type(obj), "__call__")
    call = getattr(type(obj), "__call__", None)  # noqa: B004
    if isinstance(call, types.FunctionType):
        return Target(call, (obj,))
    if callable(obj):
        raise _no_python(obj, loc)
    hint = "pass a function, a method, or an object with __call__"
    raise error("T411", f"an object of type {type(obj).__name__!r} is not a function", loc, hint)


def _no_python(obj: Any, loc: ir.Loc) -> TranspileError:
    name = _name(obj)
    hint = _IN_PYTHON.get(name[1:-1], "write a function in Python that does the same")
    return error("T402", f"{name} is not written in Python: it has no source to transform", loc, hint)


_IN_PYTHON = {
    "itemgetter": "write it in Python: lambda x: x[0]",
    "attrgetter": "write it in Python: lambda x: x.name",
    "methodcaller": "write it in Python: lambda x: x.method()",
    "len": "write a function of the elements: lambda x: np.sum(x)",
}
"""What to write for what is called by mistake or for short."""


def _compiled_by_numba(obj: Any, loc: ir.Loc) -> TranspileError:
    kind = "a function" if isinstance(obj, types.FunctionType) else f"a {type(obj).__name__}"
    hint = "call the Python function behind it, or write a loop; njit, jit and vectorize functions can be called"
    return error("T402", f"{_name(obj)} is {kind} of Numba's, which has no source to transform", loc, hint)


def is_array_method(obj: Any) -> bool:
    """Whether it is a method of an array: ``a.dot``."""
    return isinstance(obj, types.BuiltinFunctionType) and isinstance(obj.__self__, np.ndarray)


def _of_library(obj: Any) -> types.FunctionType | None:
    """A function of NumPy, SciPy, math or our own (``partial(jvp, f, (x,))``) as one that calls it; None for all else."""
    known = known_object(obj) if callable(obj) and not isinstance(obj, type) else None
    name = known.name if known is not None else foreign(obj) if _is_own(obj) else None
    if name is None or name.partition(".")[0] not in ("numpy", "scipy", "math", "transpile"):
        return None
    if name not in _CALLING:
        _CALLING[name] = origin.calling(obj, name)
    return _CALLING[name]


def _is_own(obj: Any) -> bool:
    """Whether it is a function of ours that means more than its Python text."""
    return isinstance(obj, types.FunctionType) and obj.__module__ in OWN


_CALLING: dict[str, types.FunctionType] = {}  # each has one function, so that what was made for it is found again


def transparent(obj: Any) -> Any:
    """The function that a wrapper runs unchanged, or None: ``numba.njit``, ``lru_cache``, our ``jit``."""
    if isinstance(obj, (staticmethod, classmethod)):
        return obj.__func__
    if isinstance(obj, functools._lru_cache_wrapper):
        return obj.__wrapped__
    if is_of_numba(obj):
        return getattr(obj, "py_func", getattr(obj, "_pyfunc", None))
    level = level_of(obj)
    if level is not None and level.is_plain:
        return obj.__wrapped__
    return None


def is_of_numba(obj: Any) -> bool:
    """Whether it is an object of Numba's own classes."""
    return type(obj).__module__.startswith("numba.")


def is_numba_ufunc(obj: Any) -> bool:
    """Whether it is what ``numba.vectorize`` makes: a function for each element."""
    return type(obj).__module__ == "numba.np.ufunc.dufunc" and hasattr(getattr(obj, "_dispatcher", None), "py_func")


def _name(obj: Any) -> str:
    return repr(getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None) or type(obj).__name__)


# ------------------------------------------------------------------------------------------------------- locating


def locate(fn: types.FunctionType, loc: ir.Loc = ir.NOWHERE) -> Located:
    """The definition of a plain Python function.

    Raises T401 (no source), T103 (async), T104 (generator), T403 (its block does not parse), T412 (the source at that
    place is another function's: the file was changed after it was imported). ``loc`` is where it is called, if it is
    called.
    """
    code = fn.__code__
    located = _located(fn, loc)
    is_async = code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
    refuse_coroutine(located, bool(is_async), bool(code.co_flags & inspect.CO_GENERATOR), loc)
    return located


def _located(fn: types.FunctionType, loc: ir.Loc) -> Located:
    """The definition in the text that stands under the name of its file, or, where that is none, in one that it compiles from."""
    file = fn.__code__.co_filename
    lines = source_lines(fn)
    try:
        if not lines:
            raise _no_source(fn, loc)
        return _in_text(fn, lines, file, loc)
    except TranspileError as failed:
        first = failed
    for name, text in carried.texts(fn):
        with contextlib.suppress(TranspileError):
            return _in_text(fn, text.splitlines(keepends=True), name, loc)
    for text in origin.texts(fn.__code__):
        with contextlib.suppress(TranspileError):
            found = _in_text(fn, text.splitlines(keepends=True), file, loc)
            return replace(found, file=origin.register(text, file))
    raise first


def _in_text(fn: types.FunctionType, lines: list[str], file: str, loc: ir.Loc) -> Located:
    text, shift, source = _parse(fn, lines)
    return Located(_find(fn, source, shift, loc), file, text, fn.__qualname__, shift)


def _no_source(fn: types.FunctionType, loc: ir.Loc) -> TranspileError:
    name = fn.__code__.co_filename
    if name == carried.DYNAMIC:
        message = (
            f"the source code of {fn.__qualname__!r} is not available: cloudpickle (joblib, dask) does not carry it"
        )
        hint = "import it from a module, or send the transformed function, which carries its source"
        return error("T401", message, loc, hint)
    where = "it was made by exec, or read from standard input" if name.startswith("<") else name
    message = f"the source code of {fn.__qualname__!r} is not available ({where})"
    hint = "define it in a file or a notebook cell, or make it with transpile.from_source(text)"
    return error("T401", message, loc, hint)


def refuse_coroutine(located: Located, is_async: bool, is_generator: bool, loc: ir.Loc = ir.NOWHERE) -> None:
    """Generators and async functions are refused at their definition; ``loc`` is where one is called."""
    caller = loc if loc.line else None
    if is_async:
        hint = "make it a plain 'def'"
        raise error("T103", f"{located.qualname!r} is an async function", replace(head(located), caller=caller), hint)
    if is_generator:
        at = replace(yield_loc(located), caller=caller)
        raise error("T104", f"{located.qualname!r} is a generator: 'yield' is not supported", at,
                    hint="collect the values in an array and return it")  # fmt: skip


def head(located: Located) -> ir.Loc:
    """The position of ``def name`` alone: a diagnostic about a function as a whole should not underline its body."""
    loc = located.loc(located.node)
    if located.is_lambda:
        return loc
    line = located.lines[located.node.lineno - 1]
    name = as_written(located.node.name)
    at = line.find(name, loc.col - 1)
    end = at + len(name) + 1 if at >= 0 else loc.col + 3
    return ir.Loc(loc.file, loc.line, loc.col, loc.line, end, loc.function, loc.caller)


def yield_loc(located: Located) -> ir.Loc:
    """The first ``yield`` of the function's own body."""
    for node in own_nodes(located.node):
        if isinstance(node, (gast.Yield, gast.YieldFrom)):
            return located.loc(node)
    return head(located)


def has_yield(node: gast.AST) -> bool:
    return any(isinstance(n, (gast.Yield, gast.YieldFrom)) for n in own_nodes(node))


def own_nodes(node: gast.AST) -> Iterator[gast.AST]:
    """The nodes of a definition, in the order of the source, those of nested definitions left out."""
    for child in gast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)):
            yield from own_nodes(child)


def written_in(fn: types.FunctionType) -> str | None:
    """The file or cell that defines a function; None where it has no source."""
    try:
        return _located(fn, ir.NOWHERE).file
    except TranspileError:
        return None


def source_lines(fn: types.FunctionType) -> list[str]:
    """The lines of the file or cell that defines the function; empty if there are none."""
    file = fn.__code__.co_filename
    linecache.checkcache(file)
    return linecache.getlines(file, fn.__globals__)


class Parsed:
    """A parsed text; only the definitions that are asked for become gast, which is slow to make for a large file."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = unnested(lambda: ast.parse(text))
        self._made: dict[ast.AST, Any] = {}
        self.owners: dict[ast.AST, str] = {}  # of each definition, the class whose text it is in

    @functools.cached_property
    def beginning(self) -> dict[int, list[Any]]:
        """The definitions and lambdas by the line that they begin on."""
        found: dict[int, list[Any]] = {}
        for node, owner in owned(self.tree):
            if isinstance(node, ast.Lambda):
                found.setdefault(node.lineno, []).append(node)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.setdefault(first_line(node), []).append(node)
            else:
                continue
            self.owners[node] = owner
        return found

    def definition(self, node: ast.AST, qualname: str) -> Definition:
        """The gast of a node of the tree, the same object each time; callers must not change it. Where the text is that of the
        function alone its class is known by its qualified name."""
        if node not in self._made:
            self._made[node] = to_gast(node, self.owners[node] or owner_of(qualname))
        return self._made[node]


@functools.lru_cache(maxsize=64)
def parsed(text: str) -> Parsed:
    """The text, parsed once."""
    return Parsed(text)


def _parse(fn: types.FunctionType, lines: list[str]) -> tuple[Sequence[str], int, Parsed]:
    """The parsed text, how far its lines are from those of the file, and its tree."""
    try:
        return lines, 0, parsed("".join(lines))
    except (SyntaxError, ValueError):
        pass  # another part of the file does not parse: notebooks with magics, files that were edited meanwhile
    first = fn.__code__.co_firstlineno
    block = inspect.getblock(lines[first - 1 :])
    shift = first - 1
    if block and block[0][:1].isspace():
        block, shift = ["if 1:\n", *block], first - 2  # keeps the columns, which dedenting would not
    try:
        return block, shift, parsed("".join(block))
    except SyntaxError as failed:
        at = ir.Loc(fn.__code__.co_filename, (failed.lineno or 1) + shift, failed.offset or 0)
        message = f"syntax error in the source of {fn.__qualname__!r}: {failed.msg}"
        raise error("T403", message, at, "correct the file, and import it again") from None


def _find(fn: types.FunctionType, source: Parsed, shift: int, loc: ir.Loc) -> Definition:
    code = fn.__code__
    first = code.co_firstlineno - shift
    here = source.beginning.get(first, [])
    if code.co_name == "<lambda>":
        found = [n for n in here if isinstance(n, ast.Lambda)]
        if len(found) > 1:
            found = _same_code(code, found, source.text)
    else:
        found = [n for n in here if not isinstance(n, ast.Lambda) and n.name == code.co_name]
    found = [n for n in found if _has_parameters(n.args, code)]
    if not found and code.co_filename == "<string>":  # Python 3.13 keeps the text of -c there, which is another's
        raise _no_source(fn, loc)
    if not found:
        raise error(
            "T412", f"the source of {fn.__qualname__!r} is not at {code.co_filename}:{code.co_firstlineno}", loc,
            hint="the file changed after it was imported: import it again",
        )  # fmt: skip
    written = [n for n in found if is_written(fn, source.tree, n, source.text, shift)]
    if not written:
        lines = source.text.splitlines(keepends=True)
        other = Located(source.definition(found[0], fn.__qualname__), code.co_filename, lines, fn.__qualname__, shift)
        at = replace(head(other), caller=loc if loc.line else None)
        hint = "the file or the function changed after it was imported: import it again"
        raise error("T412", f"the source here is not what {fn.__qualname__!r} was compiled from", at, hint)
    return source.definition(written[0], fn.__qualname__)


def _has_parameters(args: ast.arguments, code: types.CodeType) -> bool:
    """Whether a definition has the parameters of a code object; those with two underscores are mangled in a class."""
    stars = [a for a in (args.vararg, args.kwarg) if a is not None]
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs, *stars)]
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    variables = code.co_varnames[:count]
    same = [v == n or (n.startswith("__") and v.endswith(n)) for v, n in zip(variables, names)]
    return len(names) == count and all(same)


# ---------------------------------------------------------------------------------------- lambdas on one line


def _same_code(code: types.CodeType, candidates: list[ast.Lambda], text: str) -> list[ast.Lambda]:
    """Those of the lambdas that begin on one line which compile to ``code``, the one at its columns first.

    Python 3.10 makes one constant of two equal lambdas on a line: where each has a line of its own, what holds them both is
    other code, and each is asked for alone.
    """
    found = _marked_code(code, candidates, text)
    if not found:
        found = [one for c in candidates for one in _marked_code(code, [c], text)]
    return sorted(found, key=lambda c: not _covers(c.body, code))


def _marked_code(code: types.CodeType, candidates: list[ast.Lambda], text: str) -> list[ast.Lambda]:
    """Those of the lambdas which compile to ``code``.

    Each is given a line of its own before the whole text is compiled, so that the code objects can be told apart; the
    compiled text is never run.
    """
    tree = ast.parse(text)
    by_column = {c.col_offset: c for c in candidates}
    marked: dict[int, ast.Lambda] = {}
    line = text.count("\n") + 2
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and node.lineno == candidates[0].lineno and node.col_offset in by_column:
            line += 1
            marked[line] = by_column[node.col_offset]
            node.lineno = node.end_lineno = line
            node.end_col_offset = node.col_offset + 1
    compiled = compile(tree, code.co_filename, "exec", flags=code.co_flags & FUTURES, dont_inherit=True)
    wanted = fingerprint(code)
    marks = [c for c in codes(compiled) if c.co_firstlineno in marked]
    return [marked[c.co_firstlineno] for c in marks if fingerprint(c) == wanted]


def _covers(body: ast.expr, code: types.CodeType) -> bool:
    """Whether all columns of the code (Python 3.11 and later) lie in the expression."""
    if not hasattr(code, "co_positions"):
        return True
    low, high = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    for line, end_line, col, end_col in code.co_positions():
        if None in (line, end_line, col, end_col) or (line == end_line and col == end_col):
            continue  # RESUME and COPY_FREE_VARS stand at no expression
        if (line, col) < low or (end_line, end_col) > high:
            return False
    return True
