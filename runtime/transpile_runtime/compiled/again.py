"""Exceptions that a kernel raises, before it has done anything, if it was not compiled for the call."""


class Again(Exception):
    """The call must take the general path: its sizes, memory or types are others."""


class OtherSizes(Again):
    """Two sizes differ that were equal when the function was compiled, or a small constant size is another."""
