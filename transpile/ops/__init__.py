"""What is known of each primitive: its record.

In: names. Out: the table of all primitives (`tables.prims`). Tables are plain dictionaries built by the modules of this package and
merged there; nothing registers itself.
"""
