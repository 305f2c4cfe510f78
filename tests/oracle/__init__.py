"""What the compiler gives for every program of the corpus and of the benchmark, frozen: what was to change nothing shows it did.

In: `corpus` and `bench`. Out: for each program and transform the hash of the printed source, of the text for Numba and of LLVM's
code before it is optimised, and the values; `frozen` holds those that are right. Nothing here says what right is: other tests do.

`places` imports programs so that no path of this machine is in what is made of them, `subjects` lists what is asked for, `stages`
makes the texts and values, `unoptimised` takes LLVM's code out of the compiler, `values` writes and compares values, `store` has
the files, `run` is the command.
"""
