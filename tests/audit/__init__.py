"""Whether each optimising pass earns its place: the number of programs that it changes, and the cost of leaving it out.

`programs` lists the programs: corpus, benchmark, other people's packages, random ones. `cost` times the benchmark's gradients
with and without a pass. `run` is the command, `results.md` the last results.
"""
