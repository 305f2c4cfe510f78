"""Loop core as text for Numba: of kernels that `transpile.codegen.llvm` does not write, and of modules that are emitted.

In: lowered functions. Out: a module's text, and what Numba makes of it. Must not: leave to Numba anything that it does not mean as
NumPy does (`differences`).
"""
