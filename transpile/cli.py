"""The command line: ``transpile grad FILE.py:FUNC`` and its kin. The file is parsed, never executed.

Exit status: 0; 1 where the program cannot be transformed (diagnostics on stderr); 2 where the request cannot be read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from transpile.command import STDIN, destination
from transpile.command.parser import parser
from transpile.errors import SHALLOWER, TranspileError, error

REQUESTS = ("T404", "T407", "T413", "T505", "T901", "T903")
"""Codes that mean that the request, not the program, is wrong."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; the exit status."""
    given = sys.argv[1:] if argv is None else argv
    options = parser().parse_args([f"{STDIN}{a[1:]}" if a.startswith("-:") else a for a in given])  # "-:f" is no option
    from transpile.command.emitted import emit  # so that --help and a slip of the pen are answered at once

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
    except BrokenPipeError:  # who reads the output has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
