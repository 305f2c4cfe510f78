"""How the calls of NumPy, SciPy, ``math`` and Python are said in primitives, by dotted name.

In: operands and options of a call. Out: core through the builder, or plain Python that is lifted (`library` and its kin). A module
a subject holds a ``TABLE``; `entries` puts them together. Must not: decide what is differentiated, or know a derivative.
"""
