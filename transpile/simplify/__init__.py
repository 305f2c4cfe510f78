"""Simplifications for both dialects of core: dead code, value numbering, identities.

In: a function. Out: an equivalent function with fewer statements; the same object if nothing changed. Must not: drop an effect,
or add a value.
"""
