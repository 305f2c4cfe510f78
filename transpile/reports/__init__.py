"""What a derivative does with memory, as formulas and numbers.

In: a core function with the reasons that the transforms give for what they make, the values of its parameters, and what runs it.
Out: a `report.Report`. Must not: change a function, or run one for anything but counts that only a run can tell.

`formula` is the arithmetic; `size_formulas` says a function's sizes in it; `recorded` lists what is recorded and why; `probe`
measures and `measured_values` gives the numbers; `peak` and `loop_peak` find what is alive at once; `findings` puts it together;
`report` prints.
"""
