"""Core to core: forward mode, reverse mode, recording, dead code, tidying.

In: a core function. Out: a new core function; the one given is never changed. Must not: know of Python source or of how
core is printed.
"""
