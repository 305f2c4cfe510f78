"""From a call to a program: keys, caches, the chain of passes, and the fast path of repeated calls.

In: a function, a stack of transforms and the arguments of a call. Out: the result of the call, or the generated text.
Must not: know how a statement is lifted, differentiated, lowered or printed; it passes the result of one layer to the next.
"""
