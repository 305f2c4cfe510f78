"""Watchers of the passes, as the environment asks.

``TRANSPILE_DUMP``: ``loops``, ``array``, ``all`` or names of passes, separated by commas: the code is written to stderr after
each of these passes that changed it. ``TRANSPILE_VERIFY=1``: the result of each pass is verified. ``TRANSPILE_TIMES=1``: the
time of each pass is written to stderr when the process ends.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Mapping

from transpile.core.watch import Dumping, Timing, watch
from transpile.ops.tables import of_dialect


def from_environment(given: Mapping[str, str] = os.environ) -> None:
    """Installs the watchers that ``given``, the variables of the environment, ask for."""
    if wanted := frozenset(name.strip() for name in given.get("TRANSPILE_DUMP", "").split(",") if name.strip()):
        watch(Dumping(wanted))
    if given.get("TRANSPILE_VERIFY", "0") not in ("", "0"):
        from transpile.analysis.overlaps import in_order
        from transpile.core.verify import Verifying

        watch(Verifying(of_dialect, in_order))
    if given.get("TRANSPILE_TIMES", "0") not in ("", "0"):
        timing = Timing()
        watch(timing)
        atexit.register(lambda: print(timing.table(), file=sys.stderr))
