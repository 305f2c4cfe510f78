"""What a kernel raises before it has done anything, where a call is not one that it was compiled for."""


class Again(Exception):
    """The call has to go by the ordinary way: sizes, memory or types are others."""


class OtherSizes(Again):
    """Two sizes differ that were equal when the function was compiled, or a small one is another."""
