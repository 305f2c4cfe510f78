"""Texts that are in no file: of ``python -c``, standard input, the interactive prompt, a cell of IPython under another name.

A text is one that a function *may* come from; `locate` takes it only if it compiles to the function's own code.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import keyword
import linecache
import math
import os
import stat
import sys
import textwrap
import types
from collections.abc import Iterator, Sequence
from typing import Any

from transpile.base.loc import NOWHERE, Loc
from transpile.errors import error

_WITH_VALUE = "WXQ"  # options of Python that take a value, besides -c and -m, which end them
_HISTORY = 5000  # lines of the prompt that are looked through
_LONGEST = 400  # lines of one statement there


def texts(code: types.CodeType) -> Iterator[str]:
    """The texts that the code may be compiled from, the most likely first."""
    file = code.co_filename
    if not file.startswith("<"):
        return
    if file == "<string>":
        yield from _command(getattr(sys, "orig_argv", ()))
    if file == "<stdin>":
        yield from _redirected()
    yield from _cells()
    yield from _prompt(code)


def register(text: str, file: str) -> str:
    """The name under which the text is shown in diagnostics: that of its file, or one of its own if that has another text."""
    name, k = file, 1
    while (known := linecache.cache.get(name)) is not None and "".join(known[2] if len(known) > 2 else ()) != text:
        k += 1
        name = f"{file[:-1]} {k}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return name


_OURS = __name__.partition(".")[0]  # as it stands in a text: under the names that users say


def calling(function: Any, dotted: str) -> Any:
    """A function in Python that calls one of a library, which has none, under the names of its own parameters."""
    import numpy
    import scipy

    if isinstance(function, numpy.ufunc):
        names = ["x"] if function.nin == 1 else [f"x{k}" for k in range(1, function.nin + 1)]
    else:
        names = _required(function)
    heading = ", ".join([*names, "*args", "**kwargs"])
    text = f"def {dotted.rpartition('.')[2]}({heading}):\n    return {dotted}({heading})\n"
    scope = {"numpy": numpy, "scipy": scipy, "math": math, _OURS: sys.modules[_OURS]}
    return _made(text, scope, f"<{dotted}>")


def calling_method(method: Any) -> Any:
    """A function in Python that calls a method of an array, which is read at each call."""
    text = f"def {method.__name__}(*args, **kwargs):\n    return array.{method.__name__}(*args, **kwargs)\n"
    return _made(text, {"array": method.__self__})


def calling_ours(function: Any) -> Any:
    """A function in Python that calls a transformed one; of each there is one."""
    made = function.__dict__.get("__transpile_calling__")
    if made is None or made.__globals__["_transformed"] is not function:  # functools.wraps copies what stands there
        own = getattr(function, "__name__", "")
        name = own if own.isidentifier() and not keyword.iskeyword(own) else "function"
        heading = ", ".join([*_required(function), "*args", "**kwargs"])
        text = f"def {name}({heading}):\n    return _transformed({heading})\n"
        made = function.__dict__["__transpile_calling__"] = _made(text, {"_transformed": function})
    return made


def _made(text: str, scope: dict[str, Any], file: str | None = None) -> Any:
    """The function that a text of ours defines."""
    made = defined(text, scope, file)
    _MADE.add(made.__code__.co_filename)
    return made


_MADE: set[str] = set()


def place_of_user(loc: Loc) -> Loc:
    """The place in the user's program: a text of ours is called from there, or from nowhere."""
    here: Loc | None = loc
    while here is not None and here.file in _MADE:
        here = here.caller
    return NOWHERE if here is None else here


def _required(function: Any) -> list[str]:
    """The parameters that have no default, by their names."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in given if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def defined(text: str, globals: dict[str, Any] | None, file: str | None = None) -> Any:
    """The last function that a text defines at its top level, run with these globals; what decorators make of it."""
    text = textwrap.dedent(text)
    file = file or f"<source {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    register(text, file)
    try:
        tree = ast.parse(text)
    except SyntaxError as failed:
        at = Loc(file, failed.lineno or 1, failed.offset or 0)
        raise error("T403", f"syntax error in the text: {failed.msg}", at, "correct the text") from None
    names = [s.name for s in tree.body if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not names:
        raise error("T404", "the text defines no function", Loc(file, 1), "write 'def' at its top level")
    space: dict[str, Any] = {"__name__": "__main__"} if globals is None else globals
    exec(compile(text, file, "exec", dont_inherit=True), space)
    return space[names[-1]]


def _command(argv: Sequence[str]) -> Iterator[str]:
    """The text of ``-c``."""
    rest = list(argv[1:])
    while rest and rest[0].startswith("-") and rest[0] not in ("-", "--"):
        option = rest.pop(0)
        if option.startswith("--"):
            if option == "--check-hash-based-pycs":
                del rest[:1]
            continue
        for k, letter in enumerate(option[1:], 2):
            value = option[k:] or (rest.pop(0) if rest and letter in f"{_WITH_VALUE}cm" else "")
            if letter == "c":
                yield value + "\n"
            if letter in "cm":
                return
            if letter in _WITH_VALUE:
                break


def _redirected() -> Iterator[str]:
    """Standard input, if it is a file that can be read once more."""
    try:
        found = os.fstat(0)
        if stat.S_ISREG(found.st_mode):
            yield os.pread(0, found.st_size, 0).decode()
    except (OSError, AttributeError, UnicodeDecodeError):
        return


def _cells() -> Iterator[str]:
    """The cells of IPython, the latest first; of one with ``%%time`` what is behind that."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None
    for cell in reversed(getattr(getattr(shell, "history_manager", None), "input_hist_raw", None) or ()):
        first, _, rest = cell.partition("\n")
        yield (rest if first.startswith("%%") else cell) + "\n"


def _prompt(code: types.CodeType) -> Iterator[str]:
    """The statements of Python's prompt that may define the function, the latest first: lines of its history, which leaves out
    empty ones."""
    readline = sys.modules.get("readline")
    count = getattr(readline, "get_current_history_length", lambda: 0)()
    lines = [readline.get_history_item(k) or "" for k in range(max(1, count - _HISTORY), count + 1)]  # type: ignore[union-attr]
    word = "lambda" if code.co_name == "<lambda>" else code.co_name
    for start in reversed(range(len(lines))):
        if not lines[start][:1].isspace():
            yield from _statement(lines, start, word)


def _statement(lines: Sequence[str], start: int, word: str) -> Iterator[str]:
    """The statement that begins on a line, if it is one and holds the word."""
    if not (word in lines[start] or lines[start].startswith(("@", "class ", "if ", "for ", "with ", "try", "def "))):
        return
    for end in range(start + 1, min(start + _LONGEST, len(lines)) + 1):
        if end < len(lines) and (lines[end][:1].isspace() or lines[end].startswith(_GOES_ON)):
            continue
        text = "".join(f"{line}\n" for line in lines[start:end])
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if word in text:
            yield text
        return


_GOES_ON = ("else", "elif", "except", "finally", ")", "]", "}")
