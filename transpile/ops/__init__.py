"""The record of each primitive: its types, derivatives, spellings and cost.

In: names of primitives. Out: the table of all primitives (`tables.prims`). Each module of this package has a plain dictionary
or list; `tables` merges them, and nothing registers itself.
"""
