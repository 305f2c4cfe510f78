"""Whether this process may start threads for parallel loops.

A forked process has none of its parent's threads, and GNU's OpenMP terminates it when it starts some. So parallel loops run on
one thread there, if the parent had started Numba's threads.
"""

import ctypes
import os
import sys

ALLOWED = ctypes.c_int64(1)  # generated code reads it at this address
_state = {"is_watched": False}


def watch():
    """Registers `_forked` to run in the child of every fork from now on; further calls do nothing."""
    if not _state["is_watched"] and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)
        _state["is_watched"] = True


def _forked():
    """Runs in the child of a fork: sets `ALLOWED` to 0 if the parent had started Numba's threads."""
    layer = sys.modules.get("numba.np.ufunc.parallel")
    if layer is not None and layer._is_initialized:
        ALLOWED.value = 0
