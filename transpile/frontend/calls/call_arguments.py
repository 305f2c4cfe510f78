"""The arguments of a call of NumPy's: bound by NumPy's signature, then given to what stands for the function, which takes those
that it knows. What it does not take is an option of the call (``out=``), changes nothing (``subok=``), or is refused unless it is
what NumPy would take anyway.

    np.sum(x, 0, None, y)    x and axis for the entry, which takes no ``out``; y is an option
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transpile.frontend.calls import arity, building
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.values.convert import shown
from transpile.frontend.values.values import Static
from transpile.numpy_api.entry_record import IDLE, Entry
from transpile.numpy_api.signatures import NO_VALUE, POSITIONAL, Parameter, of_entry

OPTIONS = ("out", "where", "dtype", "casting")
"""What is served for functions that do not know it themselves (`ufuncs.with_options`)."""


@dataclass(frozen=True)
class Passed:
    """Arguments for what is called, `OPTIONS` that it does not take, and the values of those that change nothing."""

    args: list[Any]
    kwargs: dict[str, Any]
    options: dict[str, Any]
    idle: dict[str, Any]


def passed(
    lx: Lifter,
    name: str,
    entry: Entry,
    takes: inspect.Signature,
    args: list[Any],
    kwargs: Mapping[str, Any],
    node: Any,
) -> Passed:
    """The arguments of a call of ``name`` for a function of the signature ``takes``."""
    known = of_entry(name, entry) or takes
    given = arity.bound(lx, shown(name), known, args, kwargs, node)
    taken, left = _shared_out(known, takes, given)
    for k, value in taken.items():
        _must_be_given(lx, name, known.parameters.get(k), takes.parameters[k], value, node)
    bound = inspect.BoundArguments(takes, OrderedDict((k, taken[k]) for k in takes.parameters if k in taken))
    served = [k for k in (OPTIONS if entry.build else OPTIONS[:1]) if k in left and "out" in known.parameters]
    options = {k: left.pop(k) for k in served}
    idle = {k: v for k, v in left.items() if k in IDLE or k in entry.idle or (k == "order" and _of_ufunc(known))}
    for k, value in left.items():
        if k not in known.parameters and k not in idle:
            message = f"{shown(name)}: got an unexpected keyword argument {k!r}"
            raise lx.error("T132", message, node, arity.parameters(known))
        if k not in idle:
            _must_be_default(lx, name, known.parameters[k], value, node)
    read = {k: building.static_argument(lx, k, v, node) for k, v in idle.items()}
    return Passed(list(bound.args), bound.kwargs, options, read)


def _shared_out(
    known: inspect.Signature, takes: inspect.Signature, given: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is taken, by the names of ``takes``, and what is not. Names mean nothing for what goes by position only."""
    own = list(takes.parameters.values())
    star = next((p.name for p in own if p.kind is Parameter.VAR_POSITIONAL), None)
    rest = next((p.name for p in own if p.kind is Parameter.VAR_KEYWORD), None)
    taken: dict[str, Any] = {}
    left: dict[str, Any] = {}

    def by_name(name: str, value: Any) -> None:
        if is_no_value(value):
            return
        if name in takes.parameters:
            taken[name] = value
        elif rest is not None and name not in known.parameters:
            taken.setdefault(rest, {})[name] = value
        else:
            left[name] = value

    for k, parameter in enumerate(known.parameters.values()):
        if parameter.name not in given:
            continue
        value = given[parameter.name]
        if parameter.kind is Parameter.VAR_POSITIONAL and star is not None:
            taken[star] = value
        elif parameter.kind is Parameter.VAR_KEYWORD:
            for inner, one in value.items():
                by_name(inner, one)
        elif parameter.kind is Parameter.POSITIONAL_ONLY and k < len(own) and own[k].kind in POSITIONAL:
            taken[own[k].name] = value
        else:
            by_name(parameter.name, value)
    return taken, left


def _of_ufunc(known: inspect.Signature) -> bool:
    """Whether ``order`` is a ufunc's: the layout of what it makes, and not the order of what it reads."""
    return "out" in known.parameters and ("order" not in known.parameters or "casting" in known.parameters)


def is_no_value(value: Any) -> bool:
    """Whether an argument is NumPy's sign for one that is not given."""
    return isinstance(value, Static) and value.value is NO_VALUE


def _must_be_given(
    lx: Lifter, name: str, numpys: inspect.Parameter | None, own: inspect.Parameter, value: Any, node: Any
) -> None:
    """Refuses None, where to an entry it means that nothing is given, and to NumPy that None is."""
    if numpys is None or not isinstance(value, Static) or value.value is not None:
        return
    is_unsaid = own.default is None and numpys.default is NO_VALUE and own.name not in _MAY_BE_NONE
    if is_unsaid or (own.name == "ddof" and numpys.default is not None):
        message = f"{shown(name)}: the argument {own.name}=None is not supported"
        raise lx.error("T131", message, node, f"leave {own.name} out")


_MAY_BE_NONE = ("initial", "a_min", "a_max", "min", "max")


def _must_be_default(lx: Lifter, name: str, parameter: inspect.Parameter, value: Any, node: Any) -> None:
    """Refuses an argument that is not taken, unless it says what NumPy does without it."""
    if not statics.is_known(lx, value):
        raise lx.error(
            "T131", f"{shown(name)}: the argument {parameter.name} is not supported", node, _left_out(parameter)
        )
    found = statics.known(lx, value)
    if parameter.kind is Parameter.VAR_POSITIONAL or not (found is parameter.default or found == parameter.default):
        text = f"{shown(name)}: the argument {parameter.name}={found!r} is not supported"
        raise lx.error("T131", text, node, _left_out(parameter))


def _left_out(parameter: inspect.Parameter) -> str:
    """What to do about an argument that is not supported."""
    default = parameter.default
    is_shown = default is None or isinstance(default, (bool, int, float, str))
    return f"leave {parameter.name} out" + f", or write {parameter.name}={default!r}" * is_shown
