"""The memory that a derivative takes, as formulas and numbers.

In: a core function with the reasons that the transforms note on its statements, the values of its parameters, and a way to run
it. Out: a `report.Report`. It must not change a function, nor run one except for counts that are known only at run time.

`formula` is the arithmetic; `size_formulas` expresses the sizes of a function in it; `recorded` lists what is recorded and why;
`probe` measures counts and `measured_values` gives the numbers; `peak` and `loop_peak` find the arrays that are alive at once;
`findings` combines all this; `report` prints it.
"""
