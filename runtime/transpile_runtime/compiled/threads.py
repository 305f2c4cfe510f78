"""The threads that parallel loops run on: those of Numba's threading layer, so that its settings hold for both.

Where a process may start none (`transpile_runtime.forks`), the chunks of a loop run one after the other. Generated code reads
a number for that; code that Numba writes itself does not, and is not called there.
"""

import ctypes
import functools

from llvmlite import binding

from transpile_runtime.forks import ALLOWED as _allowed

RUN = "numba_parallel_for"  # (function, arguments, sizes, steps, data, inner dimensions, count of arguments, threads)
ACTIVE = "get_num_threads"  # ()
ALLOWED = "transpile.threads_allowed"  # int64


def launch():
    """Starts the threads if that was not done yet, and makes what generated code names known to LLVM."""
    from numba.np.ufunc.parallel import _launch_threads

    binding.add_symbol(ALLOWED, ctypes.addressof(_allowed))
    _launch_threads()


def with_own_threads(kernel):
    """The kernel, of code that starts threads itself: an error in a process that may start none."""

    @functools.wraps(kernel, updated=("__dict__",))
    def call(*values):
        if not _allowed.value:
            raise RuntimeError(
                f"'{kernel.__name__}' runs on threads, and this process was forked from one that had started them: "
                "start processes with the method 'spawn' or 'forkserver'"
            )
        return kernel(*values)

    call.has_own_threads = True
    return call
