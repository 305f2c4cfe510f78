"""Instances of classes whose ``__init__`` does more than set the fields."""


def made(cls, **fields):
    """An instance of ``cls``, a class or named tuple, that holds these fields, in order; no method of its class runs.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Doubled:
    ...     x: float
    ...     def __post_init__(self):
    ...         self.x *= 2
    >>> made(Doubled, x=3.0)
    Doubled(x=3.0)
    """
    if issubclass(cls, tuple):
        return tuple.__new__(cls, fields.values())
    value = object.__new__(cls)
    for name, field in fields.items():
        object.__setattr__(value, name, field)
    return value
