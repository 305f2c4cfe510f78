"""Statements and control flow: branches, loops, comprehensions, and what they carry.

In: statements in structured form. Out: core ``if``, ``for`` and ``while`` with explicit carries, or what was unrolled. Must not:
know what a function of NumPy does.
"""
