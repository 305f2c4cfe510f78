"""What a derivative does with memory, as formulas and numbers.

In: a transformed function and arguments; the notes that the transforms leave on variables. Out: a `report.Report`. Must not:
change a function, or run one for anything but counts that only a run can tell.

`formula` is the arithmetic; `sizes` says a function's sizes in it; `records` lists what is recorded and why; `probe` measures and
`values` gives the numbers; `peak` and `compiled` find what is alive at once; `table` prints.
"""
