"""Array core to loops over scalars, and those to Numba.

In: a core function. Out: a core function of scalar statements, element reads and writes, `for` nests and calls of
`transpile_runtime`; its text; the compiled callable. Must not: leave to Numba anything that it does not mean as NumPy does
(`differences`).
"""
