"""Prints loop core as text for Numba: kernels that `transpile.codegen.llvm` does not support, and emitted modules.

In: lowered functions. Out: a module's text, and the kernels that Numba compiles from it. Must not: leave to Numba an operation
to which it gives another meaning than NumPy (`differences`).
"""
