"""The threads that parallel loops run on: those of Numba's threading layer, so that its settings hold for both."""

RUN = "numba_parallel_for"  # (function, arguments, sizes, steps, data, inner dimensions, count of arguments, threads)
ACTIVE = "get_num_threads"  # ()


def launch():
    """Starts the threads if that was not done yet, and makes the two functions known to LLVM."""
    from numba.np.ufunc.parallel import _launch_threads

    _launch_threads()
