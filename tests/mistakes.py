"""Mistakes and their messages: ``python mistakes.py`` writes them to ``docs/errors.md``.

The files of ``mistake_texts`` hold them, two empty lines between them:

    # T999: a title
    the program, whose last statement raises
    $ transpile grad model.py:f
    # instead: One sentence that says what to write.
    code that runs after the program, in its scope

The code is that of a diagnostic, or the class of an exception at run time. The line with ``$`` is a command: the program is
then the file that it reads, and the code after ``instead`` replaces the file, the command or both. The command may be missing,
and so may ``instead`` and its code. Programs see ``import numpy as np``, ``import transpile as tp`` and ``x = np.array([1.0,
2.0, 3.0])``.
"""

from __future__ import annotations

import contextlib
import functools
import io
import linecache
import os
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
TEXTS = HERE / "mistake_texts"
PAGE = HERE.parent / "docs" / "errors.md"
FILE = "model.py"
INSTEAD = "instead.py"
_ADDRESS = re.compile(r"(?<= at )0x[0-9a-f]+")

GROUPS = {
    "T1": ("the language", "Python statements, expressions and calls"),
    "T2": ("types and shapes", "types, dtypes, shapes, axes and indices"),
    "T3": ("derivatives", "requests for derivatives that do not exist or do not fit"),
    "T4": ("names, sources and arguments", "source code, names, arguments and results"),
    "T5": ("compiling", "`jit` and its options"),
    "T6": ("batching", "`vmap`, its axes, and communication between lanes (the elements of a batch)"),
    "T9": ("the command line", "requests and output files of the `transpile` command"),
}
"""The name and the subject of each group of codes, by their first two characters."""

WITHOUT_EXAMPLE = {
    "T114": "No program gives this error, because every assignment target of Python's grammar is supported; if you see it, please "
    "report it.",
    "T504": "No program gives this error unless transpile generates code that Numba rejects, which is a bug; please report it, and "
    "leave `jit` out meanwhile.",
}
"""Codes that no user's program can cause, and why."""


class Program(NamedTuple):
    text: str
    command: str = ""


class Mistake(NamedTuple):
    """A program with a mistake. ``repair`` runs after ``program``; ``instead`` describes it."""

    code: str
    title: str
    program: Program
    instead: str = ""
    repair: Program = Program("")


class Outcome(NamedTuple):
    """The message of a mistake, the exception (None for a command), and why its repair fails, "" if it runs."""

    message: str
    raised: BaseException | None
    failure: str


def _read() -> list[Mistake]:
    parts = [part for file in sorted(TEXTS.glob("*.txt")) for part in file.read_text("utf-8").strip().split("\n\n\n")]
    return [_mistake(part) for part in parts]


def _mistake(part: str) -> Mistake:
    head, _, rest = part.partition("\n")
    code, _, title = head.removeprefix("# ").partition(": ")
    program, _, way_out = rest.partition("\n# instead: ")
    instead, _, repair = way_out.partition("\n")
    return Mistake(code, title, _program(program), instead, _program(repair))


def _program(text: str) -> Program:
    lines = text.split("\n")
    command = lines.pop().removeprefix("$ ") if lines[-1].startswith("$ ") else ""
    return Program("\n".join(lines).strip("\n"), command)


MISTAKES = _read()

# -------------------------------------------------------------------------------------------------- running


def _edited(cleanup: contextlib.ExitStack) -> None:
    _show(FILE, "".join(linecache.getlines(FILE)).replace("x**2", "x**3"))


def _without_numba(cleanup: contextlib.ExitStack) -> None:
    had = sys.modules.get("numba")
    sys.modules["numba"] = None  # an import of it then raises ModuleNotFoundError
    cleanup.callback(lambda: sys.modules.pop("numba") if had is None else sys.modules.update(numba=had))


SITUATIONS: dict[str, Callable[[contextlib.ExitStack], None]] = {
    "# Now the file is edited: x**2 becomes x**3.": _edited,
    "# In an environment without Numba:": _without_numba,
}
"""Situations that a program asks for in a line of its own, and how to bring them about."""


@functools.cache
def outcome(mistake: Mistake) -> Outcome:
    """The outcome of running a mistake and its repair."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), _inside_a_folder():
        warnings.simplefilter("ignore")
        if mistake.program.command:
            return _of_command(mistake)
        return _of_program(mistake)


def _of_program(mistake: Mistake) -> Outcome:
    import numpy as np

    import transpile as tp

    scope = {"np": np, "tp": tp, "x": np.array([1.0, 2.0, 3.0]), "__name__": "model", "__file__": FILE}
    raised = _raised(mistake.program.text, FILE, scope)
    said = "nothing" if raised is None else _ADDRESS.sub("0x...", f"{type(raised).__name__}: {raised}").rstrip()
    failed = _raised(mistake.repair.text, INSTEAD, scope)
    return Outcome(said, raised, "" if failed is None else f"{type(failed).__name__}: {failed}")


def _raised(text: str, file: str, scope: dict[str, Any]) -> Exception | None:
    _show(file, text + "\n")
    with contextlib.ExitStack() as cleanup:
        for line, happen in SITUATIONS.items():
            if line in text:
                scope["_happen"] = functools.partial(happen, cleanup)
                text = text.replace(line, "_happen()")
        try:
            exec(compile(text, file, "exec"), scope)
        except Exception as raised:
            return raised
    return None


def _of_command(mistake: Mistake) -> Outcome:
    program, repair = mistake.program, mistake.repair
    status, said = _commanded(program)
    failure = ""
    if any(repair):
        failed, now_said = _commanded(Program(repair.text or program.text, repair.command or program.command))
        failure = f"exit status {failed}: {now_said}" if failed else ""
    return Outcome(said if status else "nothing", None, failure)


def _commanded(program: Program) -> tuple[int, str]:
    """The exit status, and the text printed to stderr."""
    from transpile.cli import main

    Path(FILE).write_text(program.text + "\n", encoding="utf-8")
    _show(FILE, program.text + "\n")
    with contextlib.redirect_stderr(io.StringIO()) as said:
        status = main(shlex.split(program.command)[1:])
    return status, said.getvalue().rstrip()


def _show(file: str, text: str) -> None:
    """Registers the text as the content of the file, for messages and for the source of functions defined there."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


@contextlib.contextmanager
def _inside_a_folder() -> Iterator[None]:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            linecache.cache.pop(FILE, None)
            linecache.cache.pop(INSTEAD, None)


# ----------------------------------------------------------------------------------------------------- the page

INTRODUCTION = """\
Find a message by its code, the `T` with three digits in square brackets: each code has an example, its message, and what to write
instead.
In the examples `np` is NumPy, `tp` is transpile, `x` is `np.array([1.0, 2.0, 3.0])`, and the file is called `model.py`.
`make docs` generates this page from `tests/mistake_texts`, and the tests run every example and every correction."""

AT_RUN_TIME = "Exceptions of Python and NumPy, raised when the function runs. The traceback shows your line."


def page() -> str:
    """The page, as Markdown."""
    from transpile.errors import CODES

    lines = ["# Messages", "", INTRODUCTION, "", "## Contents", ""]
    for group, (name, about) in GROUPS.items():
        lines += [f"[{group}xx](#{group.lower()}xx), {name}: {about}", ""]
        lines += [f"- [{code}](#{code.lower()}): {CODES[code]}" for code in CODES if code.startswith(group)]
        lines += [""]
    lines += ["[At run time](#at-run-time): Python's own exceptions", ""]
    for group, (name, about) in GROUPS.items():
        lines += [_anchor(f"{group}xx"), "", f"## {group}xx: {name}", "", f"{about[0].upper()}{about[1:]}.", ""]
        for code in CODES:
            if code.startswith(group):
                lines += _of_code(code)
    lines += ["## At run time", "", AT_RUN_TIME, ""]
    for mistake in MISTAKES:
        if mistake.code not in CODES:
            lines += _shown(mistake)
    return "\n".join(lines).rstrip() + "\n"


def _anchor(name: str) -> str:
    return f'<a id="{name.lower()}"></a>'


def _of_code(code: str) -> list[str]:
    from transpile.errors import CODES

    lines = [_anchor(code), "", f"### {code}: {CODES[code]}", ""]
    if code in WITHOUT_EXAMPLE:
        lines += [WITHOUT_EXAMPLE[code], ""]
    for mistake in MISTAKES:
        if mistake.code == code:
            lines += _shown(mistake)
    return lines


def _shown(mistake: Mistake) -> list[str]:
    title = mistake.title[0].upper() + mistake.title[1:]
    lines = [f"**{title}**", "", *_blocks(mistake.program), *_block("text", outcome(mistake).message)]
    if mistake.instead:
        lines += [f"Instead: {mistake.instead}", "", *_blocks(mistake.repair)]
    return lines


def _blocks(program: Program) -> list[str]:
    return [*_block("python", program.text), *_block("sh", program.command)]


def _block(language: str, text: str) -> list[str]:
    return [f"```{language}", text, "```", ""] if text else []


if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parent), str(HERE.parent / "runtime")]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
