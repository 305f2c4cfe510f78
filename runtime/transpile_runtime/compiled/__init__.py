"""What compiled code calls: njit functions with NumPy's meaning where Numba has another one, or none.

Every function says ``error_model`` and ``fastmath`` itself, so that it takes on none of its caller's.
"""
