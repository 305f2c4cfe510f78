"""Functions of `transpile_runtime.compiled` that compute numbers of numbers: a *let* is said by their names, as by any primitive.

They read and write no memory; those of two results give a tuple, which *item* takes apart. Which may raise is said in
`transpile.analysis.accesses`.
"""

_ARRAYS = """arange_at bound convolve_full convolve_same convolve_valid correlate_same diagonal_size linspace_at pad_edge
pad_reflect pad_symmetric pad_wrap span steps wrap""".split()
_RANDOM = "word bits32 bits64 unit32 unit64 normal32 normal64".split()

NUMBER_CALLS = frozenset(
    (
        *("min", "max"),  # the end of a block of trips: of the *minimum* of two numbers too much is concluded
        *(f"arrays.{name}" for name in _ARRAYS),
        *(f"random.{name}" for name in _RANDOM),
        *(f"vector.random_{name}" for name in _RANDOM),
    )
)
