"""What was decided about memory, as notes on variables (`transpile.core.nodes.Var.note`); `transpile.reports` reads them.

The note of a tape or a stack says in words why it is there. Of what is not recorded it is one of these.
"""

KEPT = "kept"  # of an array: nothing overwrites it, and the reverse sweep reads it where it stands
AGAIN = "again"  # of a value: the reverse sweep computes it a second time
FUSED = "fused"  # of the index of a loop: each trip runs forward and backward at once
RERUN = "rerun"  # of the index of a loop of the reverse sweep: each trip first runs its part of the forward sweep again


def is_recorded(note: str) -> bool:
    """Whether the note is that of a tape or of a stack.

    >>> is_recorded("set by the branch in line 3"), is_recorded(KEPT), is_recorded("")
    (True, False, False)
    """
    return note not in ("", KEPT, AGAIN, FUSED, RERUN)
