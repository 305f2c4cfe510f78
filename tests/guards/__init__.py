"""Test allocators under compiled code: one that fails on request, and one with guard pages around all memory.

In: programs of the corpus, of `violations` and of `fuzz`. Out: those that crashed, or whose results depended on the memory.
"""
