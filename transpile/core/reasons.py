"""What was decided about memory: the reasons of statements (`transpile.core.nodes`), which `transpile.reports` reads.

That of a tape or a stack says in words why it is there. Of what is not recorded it is one of these.
"""

KEPT = "kept"  # of an array: nothing overwrites it, and the reverse sweep reads it where it stands
AGAIN = "again"  # of a value: the reverse sweep computes it a second time
FUSED = "fused"  # of a loop: each trip runs forward and backward at once
RERUN = "rerun"  # of a loop of the reverse sweep: each trip first runs its part of the forward sweep again


def is_recorded(reason: str) -> bool:
    """Whether the reason is that of a tape or of a stack.

    >>> is_recorded("set by the branch in line 3"), is_recorded(KEPT), is_recorded("")
    (True, False, False)
    """
    return reason not in ("", KEPT, AGAIN, FUSED, RERUN)
