"""Messages of kernels that came from disk, until `errors` is imported: that takes time, and most calls raise nothing."""

import sys

PENDING = {}


def add(sites):
    """Makes messages known to the exceptions of `errors`."""
    errors = sys.modules.get("transpile_runtime.compiled.errors")
    (PENDING if errors is None else errors.SITES).update(sites)
