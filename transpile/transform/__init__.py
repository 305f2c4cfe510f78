"""Transforms of array core: forward mode, reverse mode, batching, Jacobians.

In: a core function. Out: a new core function; the one passed in is never changed. A transform must not know of Python source or
of how core is printed.
"""
