"""What floating-point errors do: ``np.errstate`` and ``np.seterr``. What is asked for anywhere in a function holds for all of it;
what it was before only goes back where it came from: ``old = np.seterr(...)``, ``np.seterr(**old)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transpile.frontend.lifter import Lifter
from transpile.frontend.values.convert import new_dict
from transpile.frontend.values.values import Static

KINDS = ("divide", "over", "under", "invalid")
_REACTIONS = (None, "ignore", "warn", "raise", "call", "print", "log")


class _Before:
    """A setting of the process, which the program cannot ask for."""

    WORD = "a setting of floating-point errors"

    def __eq__(self, other: object) -> bool:
        raise TypeError("how floating-point errors were handled before is not known here")

    __hash__ = object.__hash__


_BEFORE = _Before()


def note(lx: Lifter, function: str, given: Mapping[str, Any], node: Any) -> None:
    """Notes the settings that a function of NumPy's is given."""
    for name, value in given.items():
        setting = lx.static(value, f"a setting of {function}", node)
        if isinstance(setting, _Before):
            continue
        if name not in (*KINDS, "all") or setting not in _REACTIONS:
            hint = f"the settings are {', '.join(('all', *KINDS))}, each 'ignore', 'warn', 'print' or 'log'"
            raise lx.error("T131", f"{function} has no setting {name}={setting!r}", node, hint)
        if setting in ("raise", "call"):
            message = f"{function}({name}={setting!r}) inside a function is not supported"
            raise lx.error("T106", message, node, "put it around the call of the function")
        if setting is not None:
            lx.errstate[name] = setting


def _seterr(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """``np.seterr``: a dict of what the settings were."""
    note(lx, "np.seterr", {**dict(zip(("all", *KINDS), args)), **kwargs}, node)
    return new_dict(lx, list(KINDS), [Static(_BEFORE) for _ in KINDS])


def _geterr(lx: Lifter, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    return new_dict(lx, list(KINDS), [Static(_BEFORE) for _ in KINDS])


TABLE: dict[str, Any] = {"numpy.seterr": _seterr, "numpy.geterr": _geterr}
