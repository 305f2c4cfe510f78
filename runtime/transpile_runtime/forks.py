"""Whether this process may start threads for parallel loops.

A process that was forked has none of the threads of its parent, and GNU's OpenMP ends it when it starts some. So the loops run on
one thread there, if anybody had started Numba's threads before.
"""

import ctypes
import os
import sys

ALLOWED = ctypes.c_int64(1)  # generated code reads it at this address
_state = {"is_watched": False}


def watch():
    """Sees every fork from now on."""
    if not _state["is_watched"] and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)
        _state["is_watched"] = True


def _forked():
    """In the child."""
    layer = sys.modules.get("numba.np.ufunc.parallel")
    if layer is not None and layer._is_initialized:
        ALLOWED.value = 0
