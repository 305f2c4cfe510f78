"""Whether each optimising pass earns its place: on how many programs it changes anything, and what it costs to leave it out.

`programs` are those that are asked: corpus, benchmark, other people's packages, random ones. `cost` times the benchmark's gradients
with and without a pass. `run` is the command, `results.md` what it found.
"""
