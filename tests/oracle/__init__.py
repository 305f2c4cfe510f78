"""Frozen outputs of the compiler for every program of the corpus and the benchmark, to show that a change alters nothing.

In: `corpus` and `bench`. Out: for each program and transform the hash of the printed source, of the text for Numba and of
LLVM's code before optimisation, and the values; `frozen` holds the reference. It does not say what is right: other tests do.

`places` imports programs so that no absolute path enters the outputs, `subjects` lists the programs and transforms, `stages`
produces texts and values, `unoptimised` takes LLVM's code out of the compiler, `values` writes and compares values, `store`
handles the files, `run` is the command.
"""
