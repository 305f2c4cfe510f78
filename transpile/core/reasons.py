"""Decisions about memory: the ``reason`` of statements (`transpile.core.nodes`), which `transpile.reports` reads.

For a tape or a stack, the reason is text that says why it exists. For other statements it is one of these constants.
"""

KEPT = "kept"  # an array that nothing overwrites: the reverse sweep reads it in place
AGAIN = "again"  # a value that the reverse sweep recomputes
FUSED = "fused"  # a loop whose iterations each run forward and then backward
RERUN = "rerun"  # a loop of the reverse sweep whose iterations first rerun their part of the forward sweep


def is_recorded(reason: str) -> bool:
    """Whether this is the reason of a tape or stack.

    >>> is_recorded("set by the branch in line 3"), is_recorded(KEPT), is_recorded("")
    (True, False, False)
    """
    return reason not in ("", KEPT, AGAIN, FUSED, RERUN)
