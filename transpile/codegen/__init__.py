"""Code generation: array core to Python source, loop core to text for Numba or to LLVM's language.

In: core, as `transpile.transform`, `transpile.lower` and `transpile.loops` give it. Out: text, or machine code. Must not: lower
or optimise; leave to a compiler any operation to which it gives another meaning than NumPy. `transpile.codegen.numpy` prints
array core, `transpile.codegen.numba` prints loop core for Numba, `transpile.codegen.llvm` writes LLVM's language without
Numba's front end. None of the three imports another: shared modules stand here, beside them.
"""
