"""Memory that compiled code frees stays with the process, for the next call.

Arrays above 128 KiB go back to the system when they are freed, and each page of a new one costs a page fault: 0.5 µs or more for
4 KiB, several times what filling it costs. With the GNU C library the limits can be set; elsewhere nothing is done.
"""

import ctypes
import os
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # the numbers that mallopt(3) knows the two limits by
MMAP_MOST = 32 << 20  # the library takes no more

_state = {"done": False}


def keep_freed():
    """Lets the process keep what it frees: up to ``TRANSPILE_KEEP_MEMORY`` MiB (256), 0 for the system's own way.

    True where the limits have been set.
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
