"""From the text of a kernel to its callable: found on disk, or compiled, and kept on disk."""

from __future__ import annotations

import ast
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from transpile.base.loader import register
from transpile.codegen.numba.numba_build import compiled as by_numba
from transpile.codegen.numba.numba_build import loaded, ordinary
from transpile.core import nodes as ir
from transpile.driver.cache import cached_kernels

Kinds = cached_kernels.Kinds
Direct = Callable[[Any, str], Any]  # of `transpile.codegen.llvm.compile_function` and a name that no other function has


def build(
    name: str,
    text: str,
    lines: Mapping[int, ir.Loc],
    kinds: Kinds,
    cache: bool,
    loc: ir.Loc,
    direct: Direct | None = None,
    is_recursive: bool = False,
) -> Any:
    """The kernel of function ``name`` of a module text, for parameters of these kinds.

    It raises `transpile_runtime.compiled.again.Again` for arguments that are not. ``lines`` are the user's, ``loc`` is the
    function's. ``direct`` compiles the same without the text, if it can (`transpile.codegen.llvm`). Of text whose functions call
    themselves nothing is kept on disk: Numba reaches them by an address that it finds when it compiles.
    """
    from transpile_runtime.compiled import objects

    direct = direct if objects.is_known() else None
    stem = cached_kernels.stem(name, text, kinds, direct is not None, lines)
    if cache:
        found = cached_kernels.find(stem)
        if found is not None:
            return found
    path = cached_kernels.text_file(stem, text) if cache else None
    file = path or f"<transpile jit {stem}>"
    register(file, text, lines)
    compiled = None
    if direct is not None:
        compiled = _directly(direct, f"{name}.{uuid.uuid4().hex}", text)
    if compiled is None:
        path = None if is_recursive else path
        module = loaded(text, path or f"<transpile jit {stem}>", stem)
        if not objects.is_known():
            return ordinary(module, name, kinds, lines, loc, path is not None)
        compiled = by_numba(module, name, kinds, lines, loc)
    return _kernel(name, text, lines, kinds, stem, path, compiled)


def _directly(direct: Direct, unique: str, text: str) -> Any:
    from transpile.codegen.llvm import Unsupported, compile_function
    from transpile_runtime.compiled import pending
    from transpile_runtime.compiled.machine import constants_before_loops

    try:
        with constants_before_loops():
            compiled = direct(compile_function, unique)
    except Unsupported:
        return None
    pending.add({**_sites(text), **compiled.metadata["sites"]})
    return compiled


def _kernel(
    name: str, text: str, lines: Mapping[int, ir.Loc], kinds: Kinds, stem: str, path: str | None, compiled: Any
) -> Any:
    from transpile_runtime.compiled.kernel import Kernel

    kernel = Kernel(name, kinds, compiled.entry_point)
    kernel.returns = _returns(compiled.signature.return_type)
    if path is not None:
        kernel.stem = stem
        sites = {**_sites(text), **compiled.metadata.get("sites", {})}
        cached_kernels.keep(kernel, compiled, sites, path, lines)
    return kernel


def _returns(type_: Any) -> tuple[str, ...]:
    """The dtypes of what the function returns, "" for what is not a number."""
    from numba import types as numba_types

    several = isinstance(type_, numba_types.BaseTuple)
    found = tuple(type_) if several else () if type_ == numba_types.none else (type_,)
    numbers = (numba_types.Number, numba_types.Boolean)
    return tuple([str(t) if isinstance(t, numbers) else "" for t in found])


def _sites(text: str) -> dict[int, Any]:
    """The messages that the module text registers when it runs."""
    _, found, rest = text.partition("errors.SITES.update(")
    return ast.literal_eval(rest[: rest.index("\n})") + 2]) if found else {}
