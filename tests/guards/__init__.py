"""Allocators of ours under compiled code: one that fails when it is told to, and one with guard pages around all memory.

In: programs of the corpus, of `violations` and of `fuzz`. Out: which of them died, or gave other results with other memory.
"""
