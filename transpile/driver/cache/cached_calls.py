"""Compiled programs on disk, without their kernels, and everything that they depend on.

A file is named by a hash of the function, the structure and types of the arguments, the options and the versions. It holds
variants, because functions with the same text differ in what they read outside. A variant lists each outside place, the path to
it, and the meaning of the object found there; it is used if all of these still mean the same. If values of arguments are
compiled in, the file lists their positions, and the variants are in further files, one for each set of values.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from transpile.aggregates import Node, Static, Tree, flatten
from transpile.base.beside import STARTED
from transpile.base.captured import Place
from transpile.base.levels import Jit, Level, peeled
from transpile.driver.cache import cached_kernels, directory
from transpile.driver.cache.fingerprint import PLAIN, Likeness, Unlike, likeness, structure
from transpile.driver.cache.object_path import Lost, Trail, follow
from transpile.driver.compiled import Compiled, Recipe
from transpile.frontend.resolve.reads import MISSING, SAME, Read, leaf_kind, read_place
from transpile_runtime.compiled.cache import digest, environment, python_files

_WATCHES = ("TRANSPILE_DUMP", "TRANSPILE_TIMES", "TRANSPILE_VERIFY")
_VARIANTS = 16  # variants in one file, the latest first
_PACKAGE = Path(__file__).parents[2]


def find(target: Any, request: Any) -> Compiled | None:
    """The stored program for a call, compiled by this process or another; None if there is none, or if somebody watches the
    passes, which must run then.

    The positions of arguments whose values are compiled in are added to ``request.known``.
    """
    if any(os.environ.get(name, "0") not in ("", "0") for name in _WATCHES):
        return None
    try:
        return _find(target, request)
    except Exception:  # whatever is wrong with the files: the function is compiled again
        return None


def _find(target: Any, request: Any) -> Compiled | None:
    """The first stored variant whose outside places all still have the same meaning, as a program; None if there is none. May
    raise anything for a damaged file."""
    roots = _roots(target, request)
    first = _key(target, request)
    kept = _read(first)
    positions = kept.get("positions", ())
    if positions:
        request.known.update(positions)
        kept = _read(_key_of_values(first, request, positions))
    for variant in kept.get("variants", ()):
        with contextlib.suppress(Exception):  # the object there now may have no description
            found = _revived(target, request, variant, roots)
            if found is not None:
                return found
    return None


def store(target: Any, request: Any, recipe: Recipe, kernel: Any, places: Sequence[Place]) -> None:
    """Stores a program on disk, if everything that it depends on can be described and found again; else does nothing.

    Nothing is stored either if the kernel is not on disk or a source file of transpile changed since the process started.
    """
    try:
        if kernel.stem is not None and _is_current():
            _store(target, request, recipe, kernel, places)
    except (Lost, Unlike, OSError, pickle.PicklingError, TypeError, AttributeError, RecursionError):
        pass  # a closure that has no name, an object that cannot be written: compiled again by the next process


def _store(target: Any, request: Any, recipe: Recipe, kernel: Any, places: Sequence[Place]) -> None:
    """Writes the program as the first variant in its file, before at most 15 others; one that rests on the same reads is
    replaced."""
    roots = _roots(target, request)
    variant = _variant(target, request, recipe, kernel, places, Trail(roots))
    key = _key(target, request)
    positions = tuple(sorted(request.known))
    if positions:
        directory.write(_file(key), pickle.dumps({"positions": positions}))
        key = _key_of_values(key, request, positions)
    others = [v for v in _read(key).get("variants", ()) if _rests_on(v) != _rests_on(variant)]
    kept = {"variants": [variant, *others][:_VARIANTS]}
    directory.write(_file(key), pickle.dumps(kept))


def _rests_on(variant: Mapping[str, Any]) -> Any:
    return variant["reads"], variant["places"], variant["recipe"].taken


# ---------------------------------------------------------------------------------------------------------- keys


def _roots(target: Any, request: Any) -> dict[str, Any]:
    return {"target": peeled(target)[1], "args": request.given[0], "kwargs": request.given[1]}


def _key(target: Any, request: Any) -> str:
    """The hash that names the file of a call: of the transforms, the function, the structure and types of the arguments, the
    number of threads and the versions; not of anything read outside or of values."""
    levels, function = peeled(target)
    trees = [structure(t) for t in request.args], [(n, structure(t)) for n, t in request.kwargs.items()]
    leaves = [_kind(v) for v in request.leaves]
    return _hash((levels, _threads(levels), likeness(function), trees, leaves, _versions()))


def _threads(levels: Sequence[Level]) -> int:
    """The number of threads that Numba uses, if one of ``levels`` is a parallel `Jit`; else 0."""
    if not any(isinstance(level, Jit) and level.parallel for level in levels):
        return 0
    from numba import get_num_threads

    return get_num_threads()


def _key_of_values(key: str, request: Any, positions: Sequence[int]) -> str:
    return _hash((key, [(k, likeness(request.leaves[k])) for k in positions]))


def _hash(value: Any) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:32]


def _kind(leaf: Any) -> Any:
    """The facts about an argument that select a specialisation: its class, of an array also the dtype and which sizes are 1, of
    a NumPy scalar the dtype."""
    cls = f"{type(leaf).__module__}.{type(leaf).__qualname__}"
    if isinstance(leaf, np.ndarray):
        return (cls, leaf.dtype.str, [n == 1 for n in leaf.shape])
    return (cls, leaf.dtype.str) if isinstance(leaf, np.generic) else cls


def _file(key: str) -> str:
    return f"{key}.calls"


def _read(key: str) -> dict[str, Any]:
    data = directory.read(_file(key))
    with contextlib.suppress(Exception):  # a file of another version, or not a pickle
        found = pickle.loads(data) if data is not None else None
        return found if isinstance(found, dict) else {}
    return {}


@lru_cache(maxsize=1)
def _versions() -> tuple[str, str, str]:
    return digest(_PACKAGE), environment(), os.environ.get("TRANSPILE_DIRECT", "1")


def _is_current() -> bool:
    """True if no source file of transpile changed after this process started, so that the files are what runs."""
    import transpile_runtime

    folders = [_PACKAGE, *map(Path, transpile_runtime.__path__)]
    return all(Path(f).stat().st_mtime < STARTED for folder in folders for f in python_files(folder))


# ------------------------------------------------------------------------------------------------------ variants


def _variant(
    target: Any, request: Any, recipe: Recipe, kernel: Any, places: Sequence[Place], trail: Trail
) -> dict[str, Any]:
    """The variant of a program as plain data: name of its kernel, recipe without argument values, reads and places, each with
    the path to its holder and its meaning. Raises `Lost` or `Unlike` if that is not possible."""
    _refuse_objects(recipe.out_tree)
    like = _begun(target, request)
    return {
        "kernel": kernel.stem,
        "recipe": recipe._replace(trees=(), known=()),
        "reads": _described(request.reads, trail, like),
        "places": [(p.kind, trail.to(p.holder), p.name, p.steps, _at_place(p, like)) for p in places],
    }


def _begun(target: Any, request: Any) -> Likeness:
    """A new `Likeness` that has already described the function and the arguments of the call.

    Used for everything that a variant depends on, so that aliases then must be aliases now.
    """
    like = Likeness()
    like.of(peeled(target)[1])
    for tree in (*request.args, *request.kwargs.values()):
        structure(tree, like.of)
    return like


def _at_place(place: Place, like: Likeness) -> Any:
    """The number of the object that holds a place, and the kind of the value that is there now."""
    return like.number(place.holder), _kind(place.read())


def _described(reads: Sequence[Read], trail: Trail, like: Likeness) -> list[Any]:
    """For each read, in order, ``(path to its holder, kind, key, numbers of its loose leaves or None, hash of its meaning)``.

    Paths lead through objects read before where possible. The objects read are added to ``trail``.
    """
    paths: dict[int, Any] = {}
    while len(paths) < len(reads):
        waiting = [k for k in range(len(reads)) if k not in paths]
        near = [k for k in waiting if trail.knows(reads[k].holder)] or waiting[:1]
        for k in near:
            paths[k] = trail.to(reads[k].holder)
            step = ("content", "") if reads[k].kind == "cell" else (reads[k].kind, reads[k].key)
            if (
                reads[k].kind not in (*SAME, "has", "content", "object", "number", "entries", "signs", "part", "fields")
                and reads[k].value is not MISSING
            ):
                trail.add(reads[k].value, (*paths[k], step))
    loose = [None if r.tree is None else tuple([k for k, _ in r.loose]) for r in reads]
    return [
        (paths[k], r.kind, r.key, loose[k], _meaning(r.kind, r.holder, r.value, loose[k], like))
        for k, r in enumerate(reads)
    ]


def _meaning(kind: str, holder: Any, value: Any, loose: tuple[int, ...] | None, like: Likeness) -> str:
    """A hash of the meaning of a value: the number of its holder, its structure, and the kinds of its ``loose`` leaves."""
    return _hash((like.number(holder), _of_value(kind, value, loose, like)))


def _of_value(kind: str, value: Any, loose: tuple[int, ...] | None, like: Likeness) -> Any:
    """The meaning of a value that was read, as plain data: for a container its structure with the kinds of its ``loose``
    leaves; "missing" for `MISSING`."""
    if value is MISSING:
        return "missing"
    if kind == "content":
        return [like.of(one.value) for one in value]
    if kind in SAME:
        return like.of(value)
    leaves, tree = flatten(value)
    if loose:
        return (structure(tree, like.of), [_kind(leaves[k]) for k in loose if k < len(leaves)])
    return structure(tree, like.of) if isinstance(tree, Node) else like.of(value)


def _refuse_objects(tree: Tree) -> None:
    """Raises `Unlike` if the structure of a result contains a static value that is not of a plain type: a result read from disk
    could only contain a copy of the user's object."""
    if isinstance(tree, Node):
        for child in tree.children:
            _refuse_objects(child)
    if isinstance(tree, Static) and type(tree.value) not in PLAIN:
        raise Unlike(repr(type(tree.value)))


def _revived(target: Any, request: Any, variant: Mapping[str, Any], roots: Mapping[str, Any]) -> Compiled | None:
    """The program of a stored variant; None if a place outside now has another meaning, its kernel is gone, or it does not fit
    the sizes of the call."""
    reads = []
    like = _begun(target, request)
    for path, kind, key, loose, meaning in variant["reads"]:
        holder = follow(path, roots)
        value = MISSING if holder is MISSING else read_place(kind, holder, key)
        if holder is MISSING or _meaning(kind, holder, value, loose, like) != meaning:
            return None
        leaves, tree = flatten(value)
        data: tuple[Any, ...] = () if loose is None else (tree, [(k, leaf_kind(leaves[k])) for k in loose])
        reads.append(Read(kind, holder, key, value, *data))
    places = []
    for kind, path, name, steps, wanted in variant["places"]:
        places.append(Place(kind, follow(path, roots), name, steps))
        if _at_place(places[-1], like) != wanted:
            return None
    kernel = cached_kernels.find(variant["kernel"])
    if kernel is None:
        return None
    trees = (*request.args, *request.kwargs.values())
    known = tuple((k, request.leaves[k]) for k in sorted(request.known))
    recipe = variant["recipe"]._replace(trees=trees, known=known)
    made = Compiled(target, recipe, kernel, request.leaves, places, reads)
    return None if made.misfits(request.leaves) else made
