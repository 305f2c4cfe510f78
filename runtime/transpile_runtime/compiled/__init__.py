"""Functions called by compiled code: njit functions that follow NumPy where Numba differs from it, or has none.

Every function sets ``error_model`` and ``fastmath`` itself, so that it does not inherit its caller's.
"""
