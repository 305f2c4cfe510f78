"""Every operation of the API tables inside every loop template, checked by value and by every derivative.

`cases` adds calls without shapes of their own to `array_cases`, `operations` merges both into one list and reports entries that
no case calls, `templates` puts an operation into a program, `check` runs a program, `plan` selects those to compile, `refused`
lists those that are refused, `run` is the command.
"""
