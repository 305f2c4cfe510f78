"""The operations that Numba lacks or to which it gives another meaning than NumPy, and what is generated instead.

Every array operation is written as loops over scalars, which avoids most of these differences. A row stands here because array
code handed to Numba unchanged would be silently wrong or would not compile. ``tests/codegen/test_jit.py`` has a program for
each.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """One difference: ``numba``, Numba's own behaviour; ``instead``, what the generated code does."""

    name: str
    numba: str
    instead: str


TABLE = (
    Difference("float32_scalar", "f32_array * 2.0 is float64", "constants and casts of the dtype that core gives"),
    Difference(
        "float32_sum", "a float32 sum that begins at 0.0 is float64", "carried in float64, rounded once to float32"
    ),
    Difference("int_narrow", "int32 + int32 is int64", "a cast of the result"),
    Difference(
        "unsigned_negative", "np.uint32(-1.0) is what the processor's vectors make of it", "an int64 first, as C does"
    ),
    Difference("overlap_shift", "x[1:] += x[:-1] is a prefix sum", "the right side is put in memory first"),
    Difference("overlap_transpose", "a += a.T reads what it has written", "the right side is put in memory first"),
    Difference("overlap_reverse", "x[:] = x[::-1] reads what it has written", "the right side is put in memory first"),
    Difference("repeated_indices", "x[idx] += 1 keeps the last write, as NumPy; no np.add.at", "a loop that adds each"),
    Difference(
        "floordiv_zero", "5 // 0 is 0 under error_model='numpy'", "ZeroDivisionError for Python ints, 0 for NumPy's"
    ),
    Difference("division_zero", "1 / 0 raises under error_model='python'", "error_model='numpy': inf"),
    Difference("negative_mod", "as Python; fmod as C", "transpile_runtime.compiled.scalars.mod, as NumPy"),
    Difference("int_power", "an integer to a negative power is a float", "ValueError, as NumPy"),
    Difference(
        "maybe_unset", "a name that no branch set reads as 0", "the frontend refuses the read, or it is never read"
    ),
    Difference("index_unchecked", "no check: reads and writes outside", "checks that raise IndexError with the line"),
    Difference("negative_index", "wraps, unchecked", "counted from the end, checked"),
    Difference("slice_clipped", "clipped", "clipped as Python does, negative steps too"),
    Difference("axis_reductions", "no axis on max, min, prod, any, all, mean, var, std", "loops"),
    Difference("keepdims", "not there", "sizes of 1"),
    Difference("nan_extrema", "max(a, b) of Python loses NaN by order", "scalars.maximum: NaN wins"),
    Difference("empty_extrema", "max of nothing is undefined", "ValueError, as NumPy"),
    Difference("einsum", "not there", "loops, BLAS for a product of matrices"),
    Difference("matmul_ranks", "dot of rank 1 and 2, floats only", "loops for other ranks and integers"),
    Difference(
        "dot_layout", "dot of a non-contiguous view warns and copies", "a transpose is passed to BLAS as it lies"
    ),
    Difference("mask_rank_two", "no boolean masks of rank 2", "a loop over the mask"),
    Difference("several_index_arrays", "one index array at most", "gathers with the broadcast index"),
    Difference("join_lists", "no lists in concatenate and stack", "each part is copied into its place"),
    Difference("reshape_view", "reshape of a non-contiguous view raises", "memory in C order first"),
    Difference("broadcast_to", "read-only views", "index maps"),
    Difference("reversed_range", "no reversed(range)", "a range with a negative step"),
    Difference("messages", "an f-string takes 2 s to compile", "a site of transpile_runtime.compiled.errors"),
    Difference("rounding", "round to even only for floats; np.round of arrays lacks decimals", "scalars.round_to"),
    Difference(
        "swap_arrays",
        "fine, but both names are one array afterwards if copied late",
        "carried values, copied where written",
    ),
    Difference("clip_order", "np.clip of scalars is not there", "scalars.clip: the upper bound wins, NaN stays"),
    Difference("batched_linalg", "one matrix at a time", "a loop over the stack in transpile_runtime.compiled.linalg"),
    Difference("special_functions", "none of scipy.special", "the C functions of scipy.special.cython_special"),
    Difference("trees", "no dicts, dataclasses or nested tuples", "leaves are passed flat, put together outside"),
    Difference(
        "layouts",
        "a Fortran or strided argument compiles another version",
        "copied to C order, written back if written",
    ),
    Difference("bool_arithmetic", "True + True is 2", "logical or, as NumPy for booleans"),
    Difference("while_else_break", "fine", "as loops with a stop"),
)
