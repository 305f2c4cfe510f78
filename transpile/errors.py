"""Exceptions and diagnostics: what is wrong, where in the user's source, and what to do.

    TranspileError        the user's program or request cannot be transformed; carries Diagnostics
    ShapeError            a TranspileError that is also a ValueError: NumPy would raise one
    InternalError         a bug in transpile itself, never the user's fault
    RuleError             raised by the rule of a primitive; the frontend adds the place in the user's source

`CODES` is the table of all codes. Lines and columns of a `transpile.base.loc.Loc` count from 1, columns in characters (not in
the UTF-8 bytes of AST nodes), and ``end_col`` is one past the last character; 0 means unknown.
`transpile.frontend.sources.locate` converts the columns.

>>> d = Diagnostic("T405", "name 'z' is not defined", Loc("<none>", 3, 5))
>>> print(d)
<none>:3:5: error[T405]: name 'z' is not defined
"""

from __future__ import annotations

import linecache
import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from transpile.base.loc import NOWHERE, Loc

CODES: dict[str, str] = {
    # ---- T1xx: the language
    "T101": "a statement or expression that is not supported",
    "T102": "a class defined inside the function",
    "T103": "`async` or `await`",
    "T104": "a generator",
    "T105": "a `try` statement",
    "T106": "a `with` statement other than `with np.errstate(...)`",
    "T107": "an assignment to a global or enclosing variable",
    "T108": "a `del` of something that cannot be deleted",
    "T110": "an import inside the function that fails",
    "T112": "a set comprehension, or a comprehension whose length depends on the data",
    "T113": "a loop over something that is not iterable",
    "T114": "an assignment to something that cannot be assigned to",
    "T115": "recursion that never ends or cannot stay a function",
    "T116": "a variable that is read before it is set",
    "T117": "`**` before something that is not a dict of known length",
    "T118": "branches or returns with results of different structure",
    "T119": "a value whose structure changes between iterations of a loop",
    "T120": "an operation that None, a string, a container or a function does not have",
    "T121": "a method or attribute that does not exist or is not supported",
    "T122": "a write through a reshape that may be a copy",
    "T123": "a write into something that cannot be changed",
    "T130": "a call of a function that is not supported",
    "T131": "an argument of a supported function that is not supported",
    "T132": "a call inside the function with missing, extra or misspelt arguments",
    "T133": "an exception or message that cannot be generated",
    "T134": "an unpacking into the wrong number of names",
    "T135": "code that is nested too deeply",
    # ---- T2xx: types and shapes
    "T201": "a value of a type that the operation does not take",
    "T202": "shapes that cannot be broadcast together",
    "T203": "a shape or structure that the operation does not take",
    "T204": "a rank or structure that depends on the data",
    "T205": "branches with results of different type",
    "T206": "a type that changes between iterations of a loop",
    "T207": "an index that does not fit the array",
    "T208": "an axis that the array does not have",
    "T209": "a dtype that is not supported",
    "T210": "a value that must be known before the function runs",
    "T211": "an array where one truth value is needed",
    "T212": "an in-place operation whose result the array's dtype cannot hold",
    "T213": "an array where a number is needed",
    "T214": "rows of different length in one array",
    # ---- T3xx: derivatives
    "T301": "the gradient of a function that does not return one number",
    "T302": "an argument to differentiate that is not floating-point",
    "T303": "an operation that has no meaningful derivative",
    "T304": "an operation whose derivative is not implemented yet",
    "T305": "an output that is not floating-point",
    "T306": "a position in `argnums` that the function does not have",
    "T307": "a custom derivative rule that does not fit its function",
    "T308": "`has_aux` for a function that does not return a pair",
    "T309": "tangents or cotangents of the wrong structure, shape or dtype",
    "T310": "nothing to differentiate",
    "T311": "complex numbers",
    "T312": "the transpose of a function that is not linear",
    # ---- T4xx: names, sources, arguments
    "T401": "a function whose source code is not available",
    "T402": "a function that is not written in Python",
    "T403": "source code with a syntax error",
    "T404": "a function that the file or text does not define",
    "T405": "a name that is not defined",
    "T406": "a module constant that the command line cannot read, as it is not a literal",
    "T407": "the name of an argument that the function does not have",
    "T408": "a call of a transformed function with missing or extra arguments",
    "T409": "an argument of an unsupported type",
    "T410": "an import that the command line cannot follow",
    "T411": "a value where a function is expected",
    "T412": "source code that is no longer that of the running function",
    "T413": "a file that cannot be read",
    "T414": "a type or annotation that cannot be read",
    "T415": "an argument whose type the command line does not know",
    "T416": "an attribute that a module does not have",
    "T417": "a value that a function cannot return",
    "T418": "a pullback that is called after what the function reads has changed",
    # ---- T5xx: compiling
    "T501": "code that cannot be compiled",
    "T502": "a type that compiled code does not have",
    "T503": "Numba is not installed",
    "T504": "generated code that Numba cannot compile",
    "T505": "an unknown target or option",
    # ---- T6xx: batching
    "T601": "`in_axes` or `out_axes` that do not fit the arguments or results",
    "T602": "arguments with different numbers of lanes",
    "T603": "a result or a write that lanes cannot share",
    "T604": "the name of an axis that no enclosing `vmap` has",
    "T605": "communication between lanes that is not possible",
    # ---- T9xx: command line
    "T901": "a command that cannot be read",
    "T903": "an output file that cannot be written",
}

NO_COMPLEX = (
    "complex numbers are not supported yet: compute with the real and the imaginary part"  # the hint of each T311
)

_CHAIN = 6  # calls that the notes of one diagnostic name; a longer chain is cut in the middle


@dataclass(frozen=True)
class Diagnostic:
    """One problem: ``code``, ``message``, place in the source (``loc``), ``notes`` and ``hint``; ``str(d)`` is the full text.

    ``context`` is the request that led to it: "reverse mode, with respect to theta".

    >>> import transpile as tp
    >>> print(tp.Diagnostic("T104", "'yield' cannot be transformed", hint="collect the values in an array and return it"))
    error[T104]: 'yield' cannot be transformed
       = hint: collect the values in an array and return it
    """

    code: str
    message: str
    loc: Loc = NOWHERE
    notes: tuple[str, ...] = ()
    hint: str = ""
    context: str = ""

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise KeyError(f"{self.code} is not in transpile.errors.CODES")

    def __str__(self) -> str:
        return self.said()

    def said(self, severity: str = "error") -> str:
        """The text of the diagnostic, with "error" or another ``severity``, such as "warning"."""
        return "\n".join(self._lines(severity))

    def _lines(self, severity: str) -> list[str]:
        """The lines of the text: position and message, the source line with carets, the notes, the hint."""
        lines = [f"{position(self.loc)}{severity}[{self.code}]: {self.message}"]
        gutter = " " * (len(str(self.loc.line)) + 1)
        excerpt, at = around(source_line(self.loc), self.loc)
        if excerpt:
            lines.append(f" {self.loc.line} | {excerpt}".rstrip())
            marks = carets(excerpt, at)
            if marks:
                lines.append(f"{gutter} | {marks}")
        lines += [f"{gutter} = note: {note}" for note in (*call_chain(self.loc, self.context), *self.notes)]
        if self.hint:
            lines.append(f"{gutter} = hint: {self.hint}")
        return lines


_VALUE_ERRORS = {"T134", "T202", "T203", "T211", "T214"}
"""Codes of errors for which NumPy raises a ValueError at run time: shapes that do not fit."""


class TranspileError(Exception):
    """The error of a program or a request that cannot be transformed; ``diagnostics`` lists the reasons, ``codes`` their codes.

    For shapes that do not fit, for which NumPy raises a ValueError, the error is a `ShapeError`, which is also a ValueError.

    >>> import transpile as tp
    >>> f = tp.from_source("def f(x): return x + y")
    >>> try:
    ...     tp.grad(f)(1.0)
    ... except tp.TranspileError as failed:
    ...     failed.codes, failed.diagnostics[0].message
    (('T405',), "name 'y' is not defined")
    """

    def __new__(cls, diagnostics: Diagnostic | Sequence[Diagnostic] = ()) -> TranspileError:
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else diagnostics
        is_of_shapes = cls is TranspileError and found and all(d.code in _VALUE_ERRORS for d in found)
        return super().__new__(ShapeError if is_of_shapes else cls, diagnostics)

    def __init__(self, diagnostics: Diagnostic | Sequence[Diagnostic]) -> None:
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(dict.fromkeys(found))
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(str(d) for d in self.diagnostics)

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(d.code for d in self.diagnostics)

    def within(self, context: str) -> TranspileError:
        """A copy of the error with ``context`` in each diagnostic that has none."""
        return type(self)([d if d.context else replace(d, context=context) for d in self.diagnostics])


class ShapeError(TranspileError, ValueError):
    """Shapes that do not fit, found when the function is transformed; NumPy raises a ValueError for them at run time."""


class RuleError(Exception):
    """A type or shape error that the rule of a primitive finds; the frontend turns it into a diagnostic at the user's line."""

    def __init__(self, message: str, code: str = "T201", hint: str = "") -> None:
        super().__init__(message)
        self.message, self.code, self.hint = message, code, hint


class InternalError(Exception):
    """Core that is not well formed: a bug in transpile, never the user's fault."""


SHALLOWER = (
    "set parts of it to variables of their own, or use a table (np.interp, np.select) instead of so many branches"
)
"""The hint of T135."""


def error(code: str, message: str, loc: Loc = NOWHERE, hint: str = "", notes: Iterable[str] = ()) -> TranspileError:
    """A `TranspileError` with one diagnostic, for the caller to raise: ``raise error("T108", "...", loc)``."""
    return TranspileError(Diagnostic(code, message, loc, tuple(notes), hint))


def with_article(word: str) -> str:
    """The word with its indefinite article: ``an int64``, ``a uint8``, ``a list``."""
    return f"{'an' if word[0] in 'aeiou' and word[:4] != 'uint' else 'a'} {word}"


class Findings:
    """Diagnostics collected by a pass that can continue after the first one."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def add(self, code: str, message: str, loc: Loc = NOWHERE, hint: str = "", notes: Iterable[str] = ()) -> None:
        self.diagnostics.append(Diagnostic(code, message, loc, tuple(notes), hint))

    def extend(self, failed: TranspileError) -> None:
        self.diagnostics.extend(failed.diagnostics)

    def check(self) -> None:
        """Raises the diagnostics found so far, if there are any."""
        if self.diagnostics:
            self.fail()

    def fail(self) -> NoReturn:
        """Raises one `TranspileError` with all diagnostics found so far, in the order of their places."""
        raise TranspileError(sorted(self.diagnostics, key=lambda d: (d.loc.file, d.loc.line, d.loc.col)))


# ---------------------------------------------------------------------------------------------------- rendering


def shown_path(file: str) -> str:
    """The path for messages: relative if the file is below the working directory, else unchanged; for a notebook's cell its
    name."""
    if not os.path.isabs(file):
        return cell(file) or file
    found = cell(file)
    if found:
        return found
    try:
        relative = os.path.relpath(file)
    except (ValueError, OSError):  # another drive; the working directory is gone
        return file
    return file if relative.startswith("..") else relative


def short_path(file: str) -> str:
    """The file name without its directory, or the name of a notebook's cell."""
    return cell(file) or file.replace("\\", "/").rpartition("/")[2]


def cell(file: str) -> str:
    """IPython's name, such as ``In[3]``, of the cell with this file name; empty if the file is not a cell."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None
    named = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = named(file) if named is not None else None
    return str(found[1]) if found else ""


def position(loc: Loc) -> str:
    """``file:line:col: ``, without the parts that are unknown."""
    if not loc.file:
        return ""
    numbers = [str(n) for n in ((loc.line, loc.col) if loc.line and loc.col else (loc.line,)) if n]
    return ":".join([shown_path(loc.file), *numbers]) + ": "


def source_line(loc: Loc) -> str:
    """The source line at ``loc`` without its line ending; empty if it cannot be found."""
    if not loc.file or not loc.line:
        return ""
    return linecache.getline(loc.file, loc.line).rstrip("\r\n")


_LONGEST = 200  # columns of a line of source that are shown


def around(line: str, loc: Loc) -> tuple[str, Loc]:
    """``(line, loc)``, or, for a long line, the part around ``loc`` with dots at its ends, and ``loc`` with its columns in that
    part.

    >>> text, at = around("a" * 300 + "b" + "c" * 300, Loc("f.py", 1, 301, 1, 302))
    >>> text[:5], text[-5:], text[at.col - 1], len(text)
    ('... a', 'c ...', 'b', 208)
    """
    if len(line) <= _LONGEST:
        return line, loc
    start = max(min(loc.col - 1 - _LONGEST // 3, len(line) - _LONGEST), 0)
    end = start + _LONGEST
    text = "... " * (start > 0) + line[start:end] + " ..." * (end < len(line))
    shift = start - 4 * (start > 0)
    if not loc.col:
        return text, loc
    return text, replace(loc, col=loc.col - shift, end_col=max(min(loc.end_col, end + 1) - shift, 0))


def carets(line: str, loc: Loc) -> str:
    """Carets under the columns of ``loc`` in ``line``, for a span of several lines up to the end of the first; empty if ``loc``
    has no column in the line."""
    if loc.col < 1 or loc.col > len(line) + 1:
        return ""
    text = line.rstrip()
    end = loc.end_col if loc.end_line in (0, loc.line) else len(text) + 1
    marked = line[loc.col - 1 : min(max(end, loc.col + 1), len(line) + 1) - 1]
    pad = "".join("\t" if c == "\t" else " " * _width(c) for c in line[: loc.col - 1])
    return pad + "^" * max(sum(_width(c) for c in marked), 1)


def _width(char: str) -> int:
    """The number of terminal columns of a character."""
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def call_chain(loc: Loc, context: str = "") -> list[str]:
    """One note for each call that led to ``loc``, innermost first, without the middle of a long chain. The last one ends with
    the context; without calls the context is the only note, if there is one."""
    steps: list[str] = []
    here = loc
    while here.caller is not None:
        caller = here.caller
        inside = f"called from {caller.function!r}" if caller.function else "called"
        steps.append(f"in {here.function!r}, {inside} at {position(caller).removesuffix(': ')}")
        here = caller
    if len(steps) > _CHAIN:
        half = _CHAIN // 2
        steps = [*steps[:half], f"... {len(steps) - 2 * half} more calls ...", *steps[-half:]]
    if context:
        if steps:
            steps[-1] += f" ({context})"
        else:
            steps = [f"in {loc.function!r} ({context})" if loc.function else context]
    return steps
