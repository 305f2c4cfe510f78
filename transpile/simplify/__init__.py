"""What every dialect of core is cleaned by: what nobody reads, what is known already.

In: a function. Out: the same function with less in it, the same object if nothing changed. Must not: drop an effect, or add
a value.
"""
