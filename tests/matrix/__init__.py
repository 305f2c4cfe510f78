"""Every operation of the API tables inside every loop template, by value and by every derivative.

`cases` adds to `array_cases` the calls that need no shapes of their own, `operations` makes one list of both and knows what no case
calls, `templates` puts an operation into a program, `check` runs a program, `plan` says which are compiled, `refused`
which are refused, `run` is the command.
"""
