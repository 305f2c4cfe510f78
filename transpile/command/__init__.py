"""What ``transpile COMMAND FILE.py:FUNC`` is made of: the request, the stack of transforms, where the text goes.

In: the arguments of the command line. Out: a text. Must not: execute what it reads, nor the expression of ``emit``.
"""

STDIN = "<stdin>"
"""What standard input is called in a request (``-`` there, for short) and in diagnostics."""
