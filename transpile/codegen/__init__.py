"""Core to text, loop core to text and kernels by Numba.

In: loop core, as `transpile.lower` and `transpile.loops` give it. Out: the text of the module that Numba compiles, the module
that is emitted, what Numba makes of it. Must not: lower or optimise; leave to Numba anything that it does not mean as NumPy
does (`differences`). `transpile.codegen.numpy` prints array core, `transpile.codegen.llvm` writes machine code without Numba's
front end. None of the three imports another: what two of them need stands here, beside them.
"""
