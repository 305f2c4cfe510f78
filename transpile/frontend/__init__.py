"""From Python source to core.

In: a function (live, or of a file that is not executed) and the types of its arguments. Out: one core function, with all that it
calls lifted in place. Must not: run the user's code, print source, or know of derivatives.
"""
