"""Attributes: of modules, arrays, named tuples, dataclasses and other objects; and methods, bound but not called yet."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from transpile.aggregates import REGISTERED
from transpile.base import making
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.errors import TranspileError
from transpile.frontend.calls import at_index, library_calls, ways_out
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import known, name_lookup, reads, resolve
from transpile.frontend.resolve.bindings import Known, Module, StaticClass, StaticValue, User
from transpile.frontend.values import containers, contents, derived_containers, memory, operators, registered
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Array, Bound, Method, Ref, Scalar, Static, Super, Tuple, Updates
from transpile.numpy_api.entry_record import METHODS, PROPERTIES


def load(lx: Lifter, node: gast.Attribute) -> Any:
    """``value.name``."""
    return read(lx, lx.expr(node.value), node.attr, node)


def read(lx: Lifter, value: Any, name: str, node: Any = None) -> Any:
    """The attribute of a value."""
    rule = _RULES.get(type(value))
    found = rule(lx, value, name, node) if rule is not None else None
    if found is None:
        raise _missing(lx, value, name, node)
    return found


def _missing(lx: Lifter, value: Any, name: str, node: Any) -> TranspileError:
    """T121: NumPy's arrays have it and it is not supported, or there is no such attribute."""
    if isinstance(value, (Array, Scalar)) and hasattr(np.ndarray, name):
        kind = "method" if callable(getattr(np.ndarray, name)) else "attribute"
        hint = _LAYOUT.get(name) or _INSTEAD.get(name, "call it outside of the function")
        return lx.error("T121", f"the {kind} {name!r} of arrays is not supported", node, hint)
    if isinstance(value, (Array, Scalar)):
        hint = _near(name)
    else:
        hint = ways_out.TREES if isinstance(value, (Tuple, Ref)) and hasattr(np.ndarray, name) else _SPELLING
    return lx.error("T121", f"{describe(lx, value)} has no attribute {name!r}", node, hint)


_SPELLING = "correct the name, or set the attribute first"
_INSTEAD = {
    "view": "convert the values with .astype(...)",
    "byteswap": "call it outside of the function, and pass the result",
    "resize": "use np.resize, or .reshape(...)",
    "put": "write x[index] = value",
    "setfield": "write x[...] = value",
    "getfield": "convert the values with .astype(...)",
    "tobytes": "return the array, and convert it outside of the function",
    "tofile": "return the array, and write it outside of the function",
    "dump": "return the array, and write it outside of the function",
    "dumps": "return the array, and convert it outside of the function",
    "device": "arrays are on the CPU: leave it out",
    "to_device": "arrays are on the CPU: leave it out",
}
"""What to write for what NumPy's arrays have and is not supported."""


def _near(name: str) -> str:
    """What of an array may have been meant."""
    known = [*METHODS, *PROPERTIES, *_ARRAY]
    near = difflib.get_close_matches(name, known, 1, 0.7)
    return f"did you mean {near[0]!r}?" if near else "arrays have the methods and attributes of NumPy's"


_LAYOUT = dict.fromkeys(
    ("strides", "flags", "base", "ctypes", "data"),
    "the memory layout is not known inside the function: read it outside, and pass it as a number",
)


# -------------------------------------------------------------------------------------------- arrays and numbers


def _of_array(lx: Lifter, value: Any, name: str, node: Any) -> Any:
    own = _ARRAY.get(name)
    if own is not None:
        return own(lx, value)
    if name in PROPERTIES and name in METHODS:
        return lx.table_call(METHODS[name], [value], {}, node)
    if name in METHODS or name in _WRITING:
        return Method(value, name)
    if name == "at" and isinstance(value, Array):
        return Updates(value)
    return None


_WRITING = {"sort", "fill", "partition", "put", "itemset"}


def type_of(lx: Lifter, value: Any) -> Any:
    """The core type of a number or array."""
    return value.op.type if isinstance(value, Scalar) else memory.type_of(lx, value.cell)


def shape(lx: Lifter, value: Any) -> Tuple:
    return Tuple(tuple(size(lx, d) for d in type_of(lx, value).dims))


def size(lx: Lifter, dim: Dim) -> Scalar:
    """The run-time value of a dimension."""
    return Scalar(lx.b.dim(lx.symbols.resolve(dim)).op)


def _transposed(lx: Lifter, value: Any) -> Any:
    rank = len(type_of(lx, value).dims)
    if rank < 2:
        return value
    return memory.view(lx, value.cell, ir.Permute(tuple(range(rank))[::-1]))


def _flat(lx: Lifter, value: Any) -> Any:
    """``x.flat``: the elements in their order, a view where the layout is known; what is read of it is a copy."""
    found = lx.known_call("numpy.ravel", [value], {}, None)
    made = memory.part(lx, found.cell, (), readonly=found.cell.readonly)
    made.cell.flat = True
    return made


def _all(lx: Lifter, value: Any) -> Scalar:
    return Scalar(lx.b.size(type_of(lx, value).dims).op)


def _dtype(lx: Lifter, value: Any) -> Static:
    op = lx.operand(value)
    if len(dtypes := lx.b.dtypes(op)) > 1:
        text = f"the dtype of this array is {' or '.join(dtypes)}, depending on the data"
        raise lx.error("T205", text, hint="give it the same dtype on both paths")
    return Static(np.dtype(op.type.dtype))


_ARRAY: dict[str, Callable[[Lifter, Any], Any]] = {
    "shape": shape,
    "ndim": lambda lx, value: lx.const(len(type_of(lx, value).dims)),
    "size": _all,
    "dtype": _dtype,
    "T": _transposed,
    "flat": _flat,
}


# ------------------------------------------------------------------------------------------------ named and objects


def _of_tuple(lx: Lifter, value: Tuple, name: str, node: Any) -> Any:
    fields = getattr(value.cls, "_fields", None) or tuple(f[0] for f in getattr(value.cls, "fields", ()))
    if name in fields and not (isinstance(value.cls, type) and making.is_descriptor(value.cls, name)):
        return value.items[fields.index(name)]
    if name in ("_replace", "_asdict", "count", "index"):
        return Method(value, name)
    if name == "_fields":
        return Static(fields)
    return _method(lx, value, value.cls, name)


def _of_ref(lx: Lifter, value: Ref, name: str, node: Any) -> Any:
    state = (
        contents.items(lx, value, node) if lx.state.cells[value.cell].kind != "grown" else lx.state.cells[value.cell]
    )
    if state.kind != "instance":
        order = getattr(state.cls, "__mro__", ()) if derived_containers.base_of(state.cls) is not None else ()
        found = _in_classes([c for c in order if reads.is_written(c)], name)
        if found is not None:
            return _bound(lx, value, state.cls, *found, name)
        return Method(value, name) if (state.kind, name) in containers.METHODS else None
    _check_read(lx, state.cls, name, node)
    if name in (state.keys or ()) and not making.is_descriptor(state.cls, name):
        return state.items[(state.keys or ()).index(name)]
    if name == "__class__":
        return Static(state.cls)
    return _method(lx, value, state.cls, name)


def _check_read(lx: Lifter, cls: Any, name: str, node: Any) -> None:
    """Refuses what Python asks of an object of the class's: a descriptor other than a property, or ``__getattribute__``."""
    order = [c for c in getattr(cls, "__mro__", ()) if c is not object]
    if any("__getattribute__" in vars(c) for c in order):
        message = f"the attributes of {cls.__name__!r} cannot be read: the class defines __getattribute__"
        raise lx.error("T121", message, node, "define __getattr__ or properties instead")
    if making.is_descriptor(cls, name) and not isinstance(_in_classes(order, name)[1], property):  # type: ignore[index]
        message = f"{name!r} of {cls.__name__!r} is a descriptor: only properties are supported"
        raise lx.error("T121", message, node, "make it a property or a method")


def _method(lx: Lifter, owner: Any, cls: Any, name: str) -> Any:
    """A method or class attribute of an instance that the lifter holds."""
    if isinstance(cls, StaticClass):
        return _of_written(lx, cls, name, owner)
    found = _in_classes(getattr(cls, "__mro__", ()), name)
    return None if found is None else _bound(lx, owner, cls, *found, name)


def _of_written(lx: Lifter, cls: StaticClass, name: str, owner: Any = None) -> Any:
    """What a class of a file that is not run has under a name, for an instance or, without one, for itself."""
    method = cls.methods.get(name)
    if method is None:
        found = cls.constant(name)
        return None if found is None else name_lookup.from_binding(lx, found)
    match method.kind:
        case "static":
            return Static(method)
        case "class":
            return Bound(Static(method), (Static(cls),))
        case "property" if owner is not None:
            return lx.apply(Static(method), [owner], {}, None)
    return Static(method) if owner is None else Bound(Static(method), (owner,))


def _bound(lx: Lifter, owner: Any, cls: Any, place: Any, held: Any, name: str) -> Any:
    """What stands under a name in class ``place``, for an instance of ``cls``."""
    if callable(held) or isinstance(held, (property, functools.cached_property, staticmethod, classmethod)):
        for one in {cls: None, place: None}:  # of both: it may be overridden later, or ``super`` may have asked
            reads.note_member(one, name)
    if isinstance(held, property):
        return lx.apply(Static(held.fget), [owner], {}, None)
    if isinstance(held, functools.cached_property):
        return lx.apply(Static(held.func), [owner], {}, None)
    if isinstance(held, staticmethod):
        return Static(held.__func__)
    if isinstance(held, classmethod):
        return Bound(Static(held.__func__), (Static(cls),))
    if callable(held) and hasattr(type(held), "__get__"):
        return Bound(Static(held), (owner,))
    if hasattr(type(held), "__get__"):
        hint = "make it a property or a method"
        raise lx.error(
            "T121", f"{name!r} of {cls.__name__!r} is a descriptor: only properties are supported", None, hint
        )
    return name_lookup.from_binding(lx, resolve.attribute(StaticValue(place), name))


def _in_classes(classes: Sequence[Any], name: str) -> tuple[Any, Any] | None:
    """The first class that has the name, and what stands there."""
    for one in classes:
        if name in vars(one):
            return one, vars(one)[name]
    return None


def _of_super(lx: Lifter, value: Super, name: str, node: Any) -> Any:
    owner = value.owner
    held = owner.value if isinstance(owner, Static) else None
    cls = lx.state.cells[owner.cell].cls if isinstance(owner, Ref) else held if isinstance(held, type) else type(held)
    if isinstance(cls, StaticClass):
        return _of_written_super(lx, value, cls, name, node)
    if value.cls not in cls.__mro__:
        raise lx.error("T130", "super() outside a method of the class", node, ways_out.SUPER)
    order = cls.__mro__[cls.__mro__.index(value.cls) + 1 :]
    if name == "__init__" and _in_classes(order, name) == (object, object.__init__):
        return Static(_NOTHING)
    found = _in_classes(order, name)
    return None if found is None else _bound(lx, owner, cls, *found, name)


def _of_written_super(lx: Lifter, value: Super, cls: StaticClass, name: str, node: Any) -> Any:
    """The same of a class of a file that is not run."""
    order = cls.order
    if value.cls not in order:
        raise lx.error("T130", "super() outside a method of the class", node, ways_out.SUPER)
    for place in order[order.index(value.cls) + 1 :]:
        found = _of_written(lx, place, name, value.owner)
        if found is not None:
            return found
    return Static(_NOTHING) if name == "__init__" else None


class _Nothing:
    """``object.__init__``."""

    def __lifter_call__(self, lx: Lifter, args: Any, kwargs: Any, node: Any) -> Static:
        return Static(None)


_NOTHING = _Nothing()


def _of_static(lx: Lifter, value: Static, name: str, node: Any) -> Any:
    held = value.value
    loc = lx.loc(node) if node is not None else lx.b.loc
    if isinstance(held, User) and not isinstance(held.target, resolve.StaticFunction):
        held = held.target  # what a function has been given, the arguments of a partial
    if isinstance(held, Module):
        return name_lookup.from_binding(lx, held.attr(name, loc), node)
    if isinstance(held, Known):
        return _of_known(lx, held, name, node)
    if isinstance(held, (np.dtype, np.finfo, np.iinfo)):
        return lx.const(getattr(held, name)) if hasattr(held, name) else None
    if isinstance(held, (str, bytes)):
        return Method(value, name)
    if isinstance(held, StaticClass):
        return _of_written(lx, held, name)
    if name in getattr(type(held), "__lifter_methods__", ()):
        return Bound(Static(Known(held.__lifter_methods__[name])), (value,))
    if name in getattr(type(held), "__lifter_constants__", ()):
        return lx.const(getattr(held, name))
    descriptor = _in_classes(type(held).__mro__, name)
    if descriptor is not None and isinstance(descriptor[1], property):
        reads.note_class(held)
        reads.note_member(type(held), name)
        return lx.apply(Static(descriptor[1].fget), [value], {}, node)
    found = resolve.attribute(StaticValue(held), name, loc)
    return None if found is None else name_lookup.from_binding(lx, found, node)


def _of_known(lx: Lifter, held: Known, name: str, node: Any) -> Any:
    obj = known.known_value(held)
    if isinstance(obj, type) and not isinstance(obj, Known) and hasattr(obj, name):
        return Static(Known(f"{held.name}.{name}"))
    if name in ("outer", "reduce", "accumulate", "at", "reduceat"):
        return Method(Static(held), name)
    return None


_RULES: dict[type, Callable[[Lifter, Any, str, Any], Any]] = {
    Array: _of_array, Scalar: _of_array, Tuple: _of_tuple, Ref: _of_ref, Static: _of_static,
    Super: _of_super, Updates: at_index.attribute,
}  # fmt: skip


# -------------------------------------------------------------------------------------------------------- writes


def store(lx: Lifter, target: gast.Attribute, value: Any) -> None:
    """``owner.name = value`` of an instance that the program holds."""
    write(lx, lx.expr(target.value), target.attr, value, target)


def write(lx: Lifter, owner: Any, name: str, value: Any, node: Any) -> None:
    if isinstance(owner, Array) and name == "flat":
        library_calls.call(lx, "library_writes:set_flat", [owner, value], {}, node)
        return
    state = contents.items(lx, owner, node) if isinstance(owner, Ref) else None
    if state is None or state.kind != "instance":
        hint = "write x = x.reshape(...)" if name == "shape" else "return the value instead"
        message = f"the attribute {name!r} of {describe(lx, owner)} cannot be written"
        raise lx.error("T123", message, node, hint)
    setter = _in_classes(getattr(state.cls, "__mro__", ()), name)
    if setter is not None and isinstance(setter[1], property):
        reads.note_member(state.cls, name)
        lx.apply(Static(setter[1].fset), [owner, value], {}, node)
        return
    if _is_frozen(state.cls):
        raise lx.error("T123", f"{describe(lx, owner)} is frozen", node, hint="use dataclasses.replace")
    _check_written(lx, owner, state.cls, name, node)
    _set(lx, owner, name, value, node)


def _is_frozen(cls: Any) -> bool:
    if isinstance(cls, StaticClass):
        return cls.is_frozen
    return bool(getattr(getattr(cls, "__dataclass_params__", None), "frozen", False))


def initialise(lx: Lifter, owner: Ref, name: str, value: Any, node: Any) -> None:
    """``self.name = value`` in the ``__init__`` that ``dataclass`` made, of a frozen one too."""
    if making.is_descriptor(contents.items(lx, owner, node).cls, name):
        write(lx, owner, name, value, node)
    else:
        _set(lx, owner, name, value, node)


def _check_written(lx: Lifter, owner: Ref, cls: Any, name: str, node: Any) -> None:
    if isinstance(cls, StaticClass) and ("__setattr__" in cls.methods or name in cls.methods):
        what = f"the class defines {'__setattr__' if '__setattr__' in cls.methods else f'a method {name!r}'}"
        message = f"{name!r} of {describe(lx, owner)} cannot be written: {what}"
        raise lx.error("T123", message, node, "set an attribute with another name, or return the value")
    order = [c for c in getattr(cls, "__mro__", ()) if c is not object]
    if any("__setattr__" in vars(c) for c in order) or making.is_descriptor(cls, name):
        what = "it is a descriptor" if making.is_descriptor(cls, name) else "the class defines __setattr__"
        message = f"{name!r} of {describe(lx, owner)} cannot be written: {what}"
        raise lx.error("T123", message, node, "set an attribute with another name, or return the value")


def _set(lx: Lifter, owner: Ref, name: str, value: Any, node: Any) -> None:
    """The attribute in the instance itself."""
    state = contents.items(lx, owner, node)
    held = dict(zip(state.keys or (), state.items))
    held[name] = value
    if state.cls in REGISTERED:
        held = dict(zip(held, registered.settled(lx, state.cls, tuple(held), tuple(held.values()))))
    contents.replace_items(lx, owner.cell, tuple(held.values()), tuple(held))


def augmented(lx: Lifter, target: gast.Attribute, prim: str, value: gast.expr, node: Any) -> None:
    """``owner.name op= value``."""
    owner = lx.expr(target.value)
    old = read(lx, owner, target.attr, target)
    new = operators.in_place(lx, prim, old, lx.expr(value), node)
    if new is not None:
        write(lx, owner, target.attr, new, target)
    elif not _still_holds(lx, owner, target.attr, old):
        write(lx, owner, target.attr, old, target)


def _still_holds(lx: Lifter, owner: Any, name: str, old: Any) -> bool:
    """Whether an instance has itself what was changed in place: Python puts it back, which a property may notice."""
    state = contents.items(lx, owner) if isinstance(owner, Ref) else None
    if state is None or state.kind != "instance":
        return True
    held = dict(zip(state.keys or (), state.items))
    return name in held and not making.is_descriptor(state.cls, name) and bool(held[name] == old)
