"""How calls of NumPy, SciPy, ``math`` and Python translate to primitives, by dotted name.

In: operands and options of a call. Out: core through the builder, or plain Python that is lifted (the ``library*`` modules).
Each module has a ``TABLE`` for one subject; `entries` merges them. Must not: decide what is differentiated, or know a
derivative.
"""
