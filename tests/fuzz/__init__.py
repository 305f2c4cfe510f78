"""Random programs of the accepted language, each checked forward against differences and reverse against forward.

`generate` makes the text of a program from a seed, `constructs` holds one template for each construct, `check` runs one
program through the compiler, `shrink` makes a failing one small, `run` is the command.
"""
