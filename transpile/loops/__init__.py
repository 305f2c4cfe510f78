"""Optimises loop nests: loop core in, loop core out, over the same nodes.

Input: a function from `transpile.lower`. Output: a function with the same results, in which loops are fused where that saves
memory traffic, temporaries used within one iteration are scalars, and checks stand before loops where possible. Passes must
not: change results, except for the order of summation; drop a check or an effect; know a primitive by name, except for those of
memory.
"""

from transpile.loops.passes import optimise

__all__ = ["optimise"]
