"""Abstract values: numbers, arrays in memory, containers, instances; and what operators, attributes and subscripts do with them.

In: values and a request. Out: values, and core through the builder. Must not: know of statements or of calls by name.
"""
