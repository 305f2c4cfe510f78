"""Calls: whom they reach, how arguments are bound, and what stands for them.

In: abstract values of a call. Out: abstract values of its result, and core that computes them. Must not: walk over statements.
"""
