"""What is asked of abstract leaves where trees must be alike: the counterpart of `transpile.lax.checks.kind_of`."""

from __future__ import annotations

from typing import Any

from transpile.frontend.calls import tree_calls
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve.bindings import User
from transpile.frontend.values import attributes
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Array, Bound, Closure, Method, Scalar, Static, Tuple
from transpile.lax.checks import Asked, Kind


def kind_of(lx: Lifter, leaf: Any) -> Kind:
    """The kind of an abstract leaf."""
    if not isinstance(leaf, (Scalar, Array)):
        return Kind("", (), False, describe(lx, leaf))
    type_ = attributes.type_of(lx, leaf)
    return Kind(type_.dtype, type_.dims, type_.weak and not type_.is_bool, str(type_))


def asked(lx: Lifter, value: Any, node: Any) -> Asked:
    leaves, shape = tree_calls.flat(lx, value, None, node)
    return [kind_of(lx, leaf) for leaf in leaves], shape


def same_shape(lx: Lifter, a: Kind, b: Kind) -> bool:
    """Whether two leaves have one shape, or are taken to have it and checked."""
    with lx.symbols.at_once():
        return len(a.shape) == len(b.shape) and all(lx.b.same(p, q) for p, q in zip(a.shape, b.shape))


def is_function(lx: Lifter, value: Any) -> bool:
    if isinstance(value, (Closure, Bound, Method)):
        return True
    if isinstance(value, Static) and isinstance(value.value, User):  # of a file that is not run, too
        return True
    return not isinstance(value, (Scalar, Array, Tuple)) and bool(
        lx.static(lx.known_call("builtins.callable", [value], {}))
    )
