"""The threads of parallel loops: those of Numba's threading layer, so that its settings apply to both.

If a process must not start threads (`transpile_runtime.forks`), the chunks of a loop run one after another. Generated code
reads a flag for this; code compiled by Numba itself does not, and is not called there.
"""

import ctypes
import functools

from llvmlite import binding

from transpile_runtime.forks import ALLOWED as _allowed

RUN = "numba_parallel_for"  # (function, arguments, sizes, steps, data, inner dimensions, number of arguments, threads)
ACTIVE = "get_num_threads"  # ()
ALLOWED = "transpile.threads_allowed"  # int64


def launch():
    """Starts the threads if necessary, and registers the symbols that generated code uses with LLVM."""
    from numba.np.ufunc.parallel import _launch_threads

    binding.add_symbol(ALLOWED, ctypes.addressof(_allowed))
    _launch_threads()


def with_own_threads(kernel):
    """The kernel wrapped for code that starts threads itself: a call is a RuntimeError in a process that must not start
    threads."""

    @functools.wraps(kernel, updated=("__dict__",))
    def call(*values):
        if not _allowed.value:
            raise RuntimeError(
                f"'{kernel.__name__}' runs on threads, which a process forked from one with threads cannot start: "
                "start processes with the method 'spawn' or 'forkserver'"
            )
        return kernel(*values)

    call.has_own_threads = True
    return call
