"""Functions of `transpile_runtime.compiled` that compute numbers of numbers: a *let* is said by their names, as by any primitive.

They read and write no memory; those of two results give a tuple, which *item* takes apart. What may raise is said in `accesses`.
"""

from transpile.analysis.vector_forms import DRAWS

_ARRAYS = """arange_at bound convolve_full convolve_same convolve_valid correlate_same diagonal_size linspace_at pad_edge
pad_reflect pad_symmetric pad_wrap span steps wrap""".split()
_RANDOM = [name for pair in DRAWS.items() for name in pair if "normals" not in name]

NUMBER_CALLS = frozenset((*(f"arrays.{name}" for name in _ARRAYS), *_RANDOM))
