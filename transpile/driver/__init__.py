"""From a call to a program: keys, caches, the chain of passes, and what a call does that was made before.

In: a function, a stack of transforms and the arguments of a call. Out: the result of the call, or the text that was asked for.
Must not: know how a statement is lifted, differentiated, lowered or written; it hands one layer's result to the next.
"""
