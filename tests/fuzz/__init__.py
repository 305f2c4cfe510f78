"""Random programs of the accepted language, each checked forward against differences and reverse against forward.

`generate` makes the text of a program from a seed, `constructs` has one template for each construct, `check` runs one
program through the compiler, `shrink` reduces a failing one, `run` is the command.
"""
