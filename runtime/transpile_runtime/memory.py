"""Keeps memory that compiled code frees in the process, for the next call.

Arrays above 128 KiB return to the system when they are freed, and each page of a new one costs a page fault: 0.5 µs or more for
4 KiB, several times the cost of filling it. With the GNU C library the thresholds can be set; elsewhere nothing is done.
"""

import ctypes
import os
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # parameter numbers of mallopt(3)
MMAP_MOST = 32 << 20  # the library's maximum

_state = {"done": False}


def keep_freed():
    """Lets the process keep freed memory: up to ``TRANSPILE_KEEP_MEMORY`` MiB (default 256); 0 keeps the system's defaults.

    True if the thresholds are set, now or by an earlier call, else False, as on other systems than Linux.
    """
    if _state["done"]:
        return True
    try:
        most = int(os.environ.get("TRANSPILE_KEEP_MEMORY", "256"))
    except ValueError:
        most = 256
    if most <= 0 or not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
        mallopt.argtypes, mallopt.restype = (ctypes.c_int, ctypes.c_int), ctypes.c_int
        done = mallopt(TRIM_THRESHOLD, most << 20) and mallopt(MMAP_THRESHOLD, min(most << 20, MMAP_MOST))
    except (OSError, AttributeError):
        return False
    _state["done"] = bool(done)
    return _state["done"]
