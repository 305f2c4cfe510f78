"""Messages of kernels loaded from disk, until `errors` is imported: the import takes time, and most calls raise nothing."""

import sys

PENDING = {}


def add(sites):
    """Registers messages by number for the exceptions of `errors`, without importing that module."""
    errors = sys.modules.get("transpile_runtime.compiled.errors")
    (PENDING if errors is None else errors.SITES).update(sites)
