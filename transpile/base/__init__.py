"""What everything stands on: trees of leaves, stacks of transforms and places in the source, as plain data.

In: nothing of ours. Out: dataclasses and functions over them. Must not: know of core, of NumPy's calls, or
of how anything is lifted.
"""
