"""The leaves that a request selects (argnums, argnames, auxiliary results), and checks of tangents and cotangents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MethodType
from typing import Any

from transpile.aggregates import (
    ArgSpec,
    Leaf,
    Node,
    Static,
    Tree,
    is_leaf,
    leaf_numbers,
    leaf_paths,
    map_leaves,
    number_leaves,
    structure_text,
    walk_leaves,
)
from transpile.base.matching import call_trees
from transpile.core import nodes as ir
from transpile.core.rebuild import with_results
from transpile.driver.derivative_values import LIKE
from transpile.errors import error, with_article
from transpile.frontend.resolve.resolve import parameter_loc, parameter_name

Named = tuple[str, Tree]


class _Ignored:
    def __repr__(self) -> str:
        return "IGNORED"


IGNORED = Static(_Ignored())  # in an arg_tree: the caller's value is ignored


def positions(specs: Sequence[ArgSpec], count: int, names: Sequence[str]) -> dict[int, Named]:
    """``{position: (name, tree)}`` for the arguments of a call at the positions that argnums may select.

    ``count`` is the number of positional arguments in the call, ``names`` are its keyword arguments, each at the position of
    its parameter in the signature. Each element of ``*args`` has a position and is named ``args[k]``; a parameter that was not
    given has none.
    """
    found: dict[int, Named] = {}
    for spec in specs:
        if spec.kind == "varpos":
            found.update((len(found), (f"{spec.name}[{k}]", t)) for k, t in enumerate(spec.tree.children))
        elif spec.kind == "pos" and (len(found) < count or spec.name in names):
            found[len(found) if spec.at < 0 else spec.at] = (spec.name, spec.tree)
    return found


def title(core: ir.Function, fn: Any) -> str:
    """The name of ``core`` in messages; if ``fn``, the user's function, is a lambda, with "<lambda>" for the "function" at its
    beginning."""
    own = getattr(fn, "__name__", "")
    return own + core.name.removeprefix("function") if own == "<lambda>" else core.name


def select(
    core: ir.Function, argnums: Any, argnames: Any, count: int, names: Sequence[str], fn: Any
) -> tuple[list[Named], Callable[[list[Tree]], Tree]]:
    """``(chosen, shape)``: name and tree of each differentiated argument, those of argnums first, and the function from one
    tree for each of them to the structure of the derivative.

    That structure is the tree alone for an int argnums or one name, a tuple, or, for argnames alone, a dict. T310 if nothing is
    selected, T306 or T407 for an argument that the call lacks or that is named twice. For ``count`` and ``names`` see
    `positions`.
    """
    slots = positions(core.arg_tree, count, names)
    chosen: list[Named] = []
    if argnums is not None:
        for k in argnums if isinstance(argnums, tuple) else (argnums,):
            chosen.append(_at(core, slots, k, fn))
    if argnames is not None:
        for name in argnames if isinstance(argnames, tuple) else (argnames,):
            chosen.append(_by_name(core, name, count, fn))
    if not chosen:
        message = f"nothing to differentiate {title(core, fn)!r} with respect to"
        raise error("T310", message, core.loc, "name an argument: argnums=0 is the first one")
    leaves = [k for _, t in chosen for k in leaf_numbers(t)]
    if len(set(leaves)) < len(leaves):
        message = f"argnums and argnames name an argument of {title(core, fn)!r} twice"
        raise error("T306", message, core.loc, "name each argument once")
    single = isinstance(argnums, int) and argnames is None or argnums is None and isinstance(argnames, str)
    if single:
        return chosen, lambda trees: trees[0]
    if argnums is None:  # as in JAX, the derivative by names is a dict
        return chosen, lambda trees: Node("dict", tuple(trees), tuple(n for n, _ in chosen))
    return chosen, lambda trees: Node("tuple", tuple(trees))


def _at(core: ir.Function, slots: dict[int, Named], k: int, fn: Any) -> Named:
    """Name and tree of the argument that argnums ``k`` selects from ``slots``, made by `positions`; negative ``k`` count from
    the end. T306 if there is none."""
    place = k if k >= 0 else max(slots, default=-1) + 1 + k
    if place not in slots:
        plural = "" if len(slots) == 1 else "s"
        raise error(
            "T306",
            f"argnums {k} is out of range: {title(core, fn)!r} was called with {len(slots)} positional argument{plural}",
            core.loc,
            "argnums=0 is the first argument; for an argument passed by name, use argnames",
        )
    return slots[place]


def _by_name(core: ir.Function, name: str, count: int, fn: Any) -> Named:
    """The pair of ``name`` and the tree of the argument of that name; T407 if the call has none. ``count`` is the number of
    positional arguments."""
    _, named = call_trees(core.arg_tree, count)
    if name not in named:
        known = ", ".join(repr(n) for n in named)
        message = f"argnames: {title(core, fn)!r} was not called with an argument {name!r}"
        raise error("T407", message, core.loc, hint=f"the arguments of this call are {known}")
    return name, named[name]


def differentiable(core: ir.Function, chosen: Sequence[Named]) -> list[int]:
    """The leaf numbers of the differentiated arguments, in the order of ``chosen``, pairs of name and tree; T302 unless all
    leaves are floating point, or for a static argument."""
    wrt: list[int] = []
    for name, tree in chosen:
        numbers = leaf_numbers(tree)
        if isinstance(tree, Static):
            message = f"cannot differentiate with respect to {name!r}: it is {structure_text(tree)}"
            raise error("T302", message, core.loc, "name another argument with argnums")
        for path, leaf in leaf_paths(tree, name):
            type_ = core.params[leaf.k].type
            if not type_.is_float:
                what = repr(name) if path == name else path
                raise error(
                    "T302",
                    f"cannot differentiate with respect to {what}: it is {with_article(str(type_))}",
                    core.loc,
                    _NO_FLOAT,
                )
        wrt += numbers
    return wrt


def refuse_early(fn: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree], argnums: Any, argnames: Any) -> None:
    """Raises T302, before lifting, for arguments selected by ``argnums`` or ``argnames`` that are static or have leaves that
    are not floats.

    T306 if argnums is one too large for a bound method, as if ``self`` counted. Other selections out of range pass: `select`
    refuses them.
    """
    for k in argnums if isinstance(argnums, tuple) else () if argnums is None else (argnums,):
        if 0 <= k < len(args) or not kwargs and -len(args) <= k < 0:  # a keyword argument may be the last
            _refuse_tree(args[k], fn, k % len(args))
        elif isinstance(fn, MethodType) and k == len(args) + len(kwargs):
            name, hint = fn.__name__, f"'self' is not counted: argnums={k - 1} is the last argument"
            raise error("T306", f"argnums {k} is out of range: {name!r} is bound to its object", hint=hint)
    for key in argnames if isinstance(argnames, tuple) else (argnames,):
        if key in kwargs:
            _refuse_tree(kwargs[key], fn, key)


def _refuse_tree(tree: Tree, fn: Any, at: int | str) -> None:
    """Raises T302 if the tree is static or one of its leaves has a type that is not floating point; ``at`` is the position or
    the name of this argument of ``fn``."""
    name = getattr(fn, "__name__", "function")
    if isinstance(tree, Static):
        what = argument_text(fn, at, lead="")
        message = f"cannot differentiate {name!r} with respect to {what}: it is {structure_text(tree)}"
        raise error("T302", message, parameter_loc(fn, at), _other_argument(tree.value, fn, at))
    for k, leaf in enumerate(walk_leaves(tree)):
        type_ = getattr(leaf, "type", None)
        if type_ is not None and not type_.is_float:
            what = argument_text(fn, at, tree, k, lead="")
            hint = _NO_FLOAT
            if any(getattr(other, "type", type_).is_float for other in walk_leaves(tree)):
                hint += ", or pass what is not differentiated as another argument"
            message = f"cannot differentiate {name!r} with respect to {what}: it is {with_article(type_text(leaf))}"
            raise error("T302", message, parameter_loc(fn, at), hint)


def _other_argument(value: Any, fn: Any, at: int | str) -> str:
    """A hint for an argument, ``value`` at position or name ``at``, that cannot be differentiated: the argument after it, if
    ``at`` is a position and there is one, else to pass a float.

    If ``value`` is the object of a method, the hint says that argnums=1 is the first argument after it.
    """
    method = getattr(type(value), getattr(fn, "__name__", ""), None)
    if at == 0 and method is not None and getattr(method, "__code__", 0) is getattr(fn, "__code__", None):
        return "this is the object of the method: argnums=1 is the first argument after it"
    following = parameter_name(fn, at + 1) if isinstance(at, int) else None
    if following is None or not isinstance(at, int):
        return "pass a float or an array of floats"
    return f"name another argument with argnums: argnums={at + 1} is {following}"


_NO_FLOAT = "pass 1.0 instead of 1, or convert it with float(...) or .astype(float)"


def argument_text(fn: Any, at: int | str, tree: Tree | None = None, k: int = 0, lead: str = "argument ") -> str:
    """The text for messages of the argument at ``at``, its position or name: ``argument 'w'``, where ``lead`` stands before the
    name, or ``argument 2`` without a known name.

    If ``tree`` is a container, the path to its leaf ``k`` instead: ``p["cfg"]["n"]``.
    """
    name = at if isinstance(at, str) else parameter_name(fn, at)
    if tree is not None and isinstance(tree, Node):
        return [path for path, _ in leaf_paths(tree, name or f"argument {at}")][k]
    return f"argument {at}" if name is None else f"{lead}{name!r}"


def type_text(leaf: Any) -> str:
    """The type of an argument's leaf as text, ``float64[3, 2]``, with symbols for the sizes if the leaf has no example."""
    shape = getattr(leaf.example, "shape", None)
    if not leaf.type.dims:
        return str(leaf.type)
    sizes = leaf.type.dims if shape is None else shape
    return f"{leaf.type.dtype}[{', '.join(map(str, sizes))}]"


def as_given(tree: Tree, given: Sequence[Any]) -> Tree:
    """The tree of parameters with ``zero_dim`` of each leaf taken from ``given``, the `ArgLeaf` objects of the call by leaf
    number; False for a leaf beyond them."""

    def leaf(leaf: Leaf) -> Leaf:
        return Leaf(leaf.k, leaf.k < len(given) and getattr(given[leaf.k], "zero_dim", False))

    return map_leaves(tree, leaf)


def without_numbers(tree: Tree) -> Tree:
    """The tree of parameters with None in the place of static numbers: like other integers they have no adjoint."""
    if isinstance(tree, Node):
        return Node(tree.kind, tuple(map(without_numbers, tree.children)), tree.keys, tree.cls)
    return Static(None) if isinstance(tree, Static) and is_leaf(tree.value) else tree


def split_aux(core: ir.Function, fn: Any) -> tuple[Tree, Tree]:
    """The two trees of the pair that ``core`` returns: the output and the auxiliary value; T308 unless it is a tuple of two."""
    tree = core.out_tree
    if not (isinstance(tree, Node) and tree.kind == "tuple" and len(tree.children) == 2):
        found = structure_text(tree, lambda leaf: str(core.body.yields[leaf.k].type))
        message = f"has_aux=True: {title(core, fn)!r} must return a pair (output, auxiliary), not {found}"
        raise error("T308", message, core.loc, "return a pair, or leave has_aux out")
    return tree.children[0], tree.children[1]


def scalar_first(core: ir.Function, main: Tree, aux: Tree, fn: Any) -> ir.Function:
    """The function whose results are the scalar output, the leaf ``main``, and then the leaves of ``aux``, in order; other
    results are dropped.

    T301 if the output is no leaf or an array, T305 if it is not a float. ``fn`` is named in messages.
    """
    if not isinstance(main, Leaf):
        hint = "return one number; with has_aux=True, a pair (number, auxiliary)"
        if isinstance(main, Static) and main.value is None:
            hint = "the function ends without 'return', or always raises: return one number"
        found = structure_text(main, lambda leaf: str(core.body.yields[leaf.k].type))
        raise error("T301", f"{title(core, fn)!r} returns {found}; a gradient needs one number", core.loc, hint)
    output = core.body.yields[main.k]
    if output.type.dims:
        hint = "reduce it (np.sum, an element), or use jacrev, jacfwd or vjp"
        raise error("T301", f"{title(core, fn)!r} returns {output.type}; a gradient needs a scalar", core.loc, hint)
    if not output.type.is_float:
        hint = "return a float: the value itself, not its index or its count"
        raise error("T305", f"{title(core, fn)!r} returns {output.type}, which has no derivative", core.loc, hint)
    _, old = number_leaves([aux])
    return with_results(core, (output, *(core.body.yields[leaf.k] for leaf in old)))


def float_results(core: ir.Function) -> list[int]:
    """The positions of the floating-point results, in order."""
    return [k for k, y in enumerate(core.body.yields) if y.type.is_float]


def two_tuples(
    args: Sequence[Tree], kwargs: Mapping[str, Tree], first: str, second: str, single: bool = False
) -> tuple[Sequence[Tree], Sequence[Tree]]:
    """The children of two tuples (or lists): ``args`` of ``jvp`` or, with ``single``, of ``vjp``, whose second argument may be
    any tree and becomes ``(tree,)``.

    ``first`` and ``second`` name the two arguments in messages. T408 unless ``args`` has two entries and ``kwargs`` none, T309
    for no tuple or different lengths.
    """
    if len(args) != 2 or kwargs:
        raise error("T408", f"expected two arguments, {first} and {second}", hint=f"pass {first}, then {second}")
    pairs = []
    for name, tree, whole in ((first, args[0], False), (second, args[1], single)):
        if whole:
            pairs.append((tree,))
        elif isinstance(tree, Node) and tree.kind in ("tuple", "list"):
            pairs.append(tree.children)
        else:
            hint = "write (x,) for one argument"
            raise error("T309", f"{name} must be a tuple with one entry for each argument", hint=hint)
    if not single and len(pairs[0]) != len(pairs[1]):
        message = f"{len(pairs[0])} {first} but {len(pairs[1])} {second}"
        raise error("T309", message, hint=f"pass one of the {second} for each of the {first}")
    return pairs[0], pairs[1]


def check_like(wanted: Sequence[Tree], given: Sequence[Tree], core: ir.Function, name: str) -> None:
    """Raises T309 unless each of the trees ``given``, of `ArgLeaf`, has the structure of its tree in ``wanted`` and, at leaves
    that are floats, the rank.

    ``wanted`` has the results of ``core`` if ``name`` is "cotangent", else its parameters; ``name`` is the name in messages.
    """
    results = name == "cotangent"
    for k, (want, have) in enumerate(zip(wanted, given)):
        where = name if results else f"{name}[{k}]"
        _check_tree(want, have, lambda j: (core.body.yields[j] if results else core.params[j]).type, where)


def _check_tree(want: Tree, have: Tree, type_of: Callable[[int], Any], where: str) -> None:
    """Raises T309 unless ``have`` has the structure of ``want`` and the ranks of its float leaves; ``type_of(k)`` is the type
    of leaf ``k`` of ``want``, ``where`` the path in messages. Static parts of ``want`` allow anything."""
    if isinstance(want, Leaf):
        _check_leaf(type_of(want.k), have, where)
    elif isinstance(want, Node):
        if not isinstance(have, Node) or (want.kind, want.keys, len(want.children)) != (
            have.kind,
            have.keys,
            len(have.children),
        ):
            message = f"{where} has structure {structure_text(have)}, expected {structure_text(want)}"
            raise error("T309", message, hint=LIKE)
        for k, (a, b) in enumerate(zip(want.children, have.children)):
            _check_tree(
                a, b, type_of, f"{where}[{want.keys[k] if len(want.keys) > k and want.kind != 'registered' else k!r}]"
            )


def _check_leaf(type_: Any, have: Tree, where: str) -> None:
    """Raises T309 if ``type_`` is a float type and ``have`` is no leaf of the same rank; ``where`` is the path in messages."""
    if not type_.is_float:
        return
    found = getattr(have, "type", None)
    if found is None:
        raise error("T309", f"{where} is {structure_text(have)}, expected {type_}", hint=LIKE)
    if found.rank != type_.rank:
        raise error("T309", f"{where} is {type_text(have)}, expected {type_}", hint=LIKE)
