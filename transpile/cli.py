"""The command line: ``transpile grad FILE.py:FUNC`` and the other commands. The file is parsed, never executed.

Exit status: 0 on success; 1 if the program cannot be transformed (diagnostics on stderr); 2 if the request is wrong.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from transpile.command import STDIN, destination
from transpile.command.parser import parser
from transpile.errors import SHALLOWER, TranspileError, error

REQUESTS = ("T404", "T407", "T413", "T505", "T901", "T903")
"""Codes that mean that the request is wrong, not the program."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit status; ``argv`` None: the arguments of the process."""
    given = sys.argv[1:] if argv is None else argv
    options = parser().parse_args([f"{STDIN}{a[1:]}" if a.startswith("-:") else a for a in given])  # "-:f" is no option
    from transpile.command.emitted import emit  # late, so that --help and usage errors answer at once

    try:
        text, read = emit(options)
        if options.output in (None, "-"):
            destination.show(text)
        else:
            destination.check(options.output, read, options.force)
            destination.write(options.output, text, options.force)
    except TranspileError as failed:
        print(failed, file=sys.stderr)
        return 2 if all(d.code in REQUESTS or d.code == "T414" and not d.loc.line for d in failed.diagnostics) else 1
    except RecursionError:
        print(error("T135", "something in this program is nested too deeply", hint=SHALLOWER), file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of the output has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
