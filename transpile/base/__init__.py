"""The foundation: trees of leaves, stacks of transforms and places in the source, as plain data.

In: only Python values. Out: dataclasses and functions over them. Must not: know of core, of NumPy's calls, or
of how anything is lifted.
"""
