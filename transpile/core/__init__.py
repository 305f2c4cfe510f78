"""The core language: types, nodes, builder, verifier, text.

In: nothing but names and types. Out: the nodes that every pass takes and gives. Must not: know of NumPy rules, of Python
source, or of any pass.
"""
