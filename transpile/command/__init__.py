"""The parts of ``transpile COMMAND FILE.py:FUNC``: the request, the stack of transforms, the destination of the text.

In: the arguments of the command line. Out: the text of a module. Must not: execute the files it reads, nor the expression of
``emit``.
"""

STDIN = "<stdin>"
"""The name of standard input in a request (also ``-``) and in diagnostics."""
