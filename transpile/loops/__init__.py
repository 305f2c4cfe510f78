"""Loop nests over scalars made fast: scalar core in, scalar core out, the same nodes.

In: what `transpile.lower` gives. Out: a function with the same results whose loops are fused where that saves memory traffic,
whose temporaries are scalars where one trip makes and reads them, whose checks stand before the loops where they can. Must not:
change what is computed, but for the order in which a sum is added up; drop a check or an effect; know a primitive by name,
but for those of memory.
"""

from transpile.loops.passes import optimise

__all__ = ["optimise"]
