"""The repeated call: one generated function that checks the types of plain arguments and runs, with nothing in between.

It is made for the specialisation that was built last, where all arguments are arrays and numbers given by position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

MISS = object()

Fast = Callable[[tuple[Any, ...]], Any]


def never(args: tuple[Any, ...]) -> Any:
    """Where there is no fast path."""
    return MISS


def guard(leaves: Sequence[Any], check_dtype: bool) -> Callable[[Callable[..., Any]], Fast]:
    """Calls a function with the arguments if they are of the types of ``leaves``, else gives `MISS`.

    ``check_dtype``: whether the function itself does not notice another dtype or rank.
    """
    names = [f"a{k}" for k in range(len(leaves))]
    scope: dict[str, Any] = {"MISS": MISS, "ndarray": np.ndarray}
    tests = [f"len(args) == {len(leaves)}"]
    for name, leaf in zip(names, leaves):
        if type(leaf) is np.ndarray:
            tests.append(f"type({name}) is ndarray")
            if check_dtype:
                scope[f"d_{name}"] = leaf.dtype
                tests += [f"{name}.dtype is d_{name}", f"{name}.ndim == {leaf.ndim}"]
            tests.append(f"1 not in {name}.shape")
        else:
            scope[f"t_{name}"] = type(leaf)
            tests.append(f"type({name}) is t_{name}")
    target = f"{', '.join(names)}{',' * (len(names) == 1)}"
    lines = ["def make(function):", "    def fast(args):"]
    if names:
        lines += [f"        if {tests[0]}:", f"            {target} = args", f"            if {' and '.join(tests[1:])}:",
                  f"                return function({', '.join(names)})"]  # fmt: skip
    else:
        lines += ["        if not args:", "            return function()"]
    lines += ["        return MISS", "    return fast"]
    exec("\n".join(lines), scope)
    return scope["make"]


def while_unchanged(fast: Fast, unchanged: Callable[[], bool] | None) -> Fast:
    """The same, and `MISS` where what lifting read outside the function has changed."""
    if unchanged is None:
        return fast
    return lambda args: fast(args) if unchanged() else MISS


def is_plain(args: Sequence[Any], leaves: Sequence[Any]) -> bool:
    """Whether the arguments are the leaves themselves, without sizes of 1."""
    if len(args) != len(leaves) or any(a is not b for a, b in zip(args, leaves)):
        return False
    return all(not isinstance(v, np.ndarray) or (v.ndim and 1 not in v.shape and type(v) is np.ndarray) for v in leaves)
