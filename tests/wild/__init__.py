"""Other people's functions: the doctests of PyPI packages, each documented function called beside its compiled version.

`collect` finds the functions and runs their examples, `judge` compares one call, `slopes` says what a gradient may be, `pool`
runs each function in a process of its own, `run` is the command and writes `results.md`.
"""
