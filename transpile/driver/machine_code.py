"""From lowered functions to a callable, loaded from disk or compiled. Text is generated only if Numba compiles it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transpile.analysis.messages import sites
from transpile.base.loader import register
from transpile.codegen.entry_guard import Guard
from transpile.codegen.numba.numba_build import compiled as by_numba
from transpile.codegen.numba.numba_build import loaded, ordinary
from transpile.codegen.numba.numba_text import UNWRAPPED, Module, Options
from transpile.core import nodes as ir
from transpile.core.output import Output
from transpile.driver.cache import cached_kernels


@dataclass(frozen=True)
class Source:
    """The input of the compiler: the lowered functions (kept ones first, the main one last) and the options."""

    functions: Sequence[ir.Function]
    options: Options
    guard: Guard | None = None
    outputs: Sequence[Output] = ()

    @property
    def main(self) -> ir.Function:
        return self.functions[-1]

    @property
    def kinds(self) -> cached_kernels.Kinds:
        return tuple([(p.type.dtype, p.type.rank) for p in self.main.params])

    @property
    def messages(self) -> dict[int, Any]:
        return {number: entry for fn in self.functions for number, entry in sites(fn).items()}

    def text(self) -> tuple[str, dict[int, ir.Loc]]:
        """``(text, lines)``: the text that Numba compiles, and the user's place for each of its line numbers."""
        return Module.of(self.functions, self.options, guard=self.guard).text(UNWRAPPED)


def build(source: Source, cache: bool, loc: ir.Loc, is_direct: bool = True) -> Any:
    """The kernel of the main function; ``loc`` is the place of the user's function. With ``cache`` it is taken from disk or
    stored there.

    It raises `transpile_runtime.compiled.again.Again` for arguments of other types. With ``is_direct`` no text is generated if
    `transpile.codegen.llvm` supports the functions; otherwise Numba compiles a text.
    """
    from transpile_runtime.compiled import objects

    is_direct = is_direct and objects.is_known()
    stem = cached_kernels.stem(source.main.name, source, is_direct)
    if cache and stem is not None:
        found = cached_kernels.find(stem)
        if found is not None:
            return found
    compiled = _directly(source) if is_direct else None
    if compiled is None:
        return _by_numba(source, stem if cache else None, loc)
    return _kernel(source, compiled, stem if cache else None)


def _directly(source: Source) -> Any:
    """What `transpile.codegen.llvm` compiles from the functions, with its messages registered; None if it does not support
    them."""
    from transpile.codegen.llvm import Unsupported, compile_function
    from transpile_runtime.compiled import pending
    from transpile_runtime.compiled.machine import constants_before_loops

    *kept, main = source.functions
    name = f"{main.name}.{uuid.uuid4().hex}"  # a unique name
    try:
        with constants_before_loops():
            compiled = compile_function(main, name, source.options.fastmath, source.guard, kept, source.outputs)
    except Unsupported:
        return None
    pending.add({**source.messages, **compiled.metadata["sites"]})
    return compiled


def _by_numba(source: Source, stem: str | None, loc: ir.Loc) -> Any:
    """The kernel compiled through Numba's front end; without a ``stem`` it is not stored on disk.

    Recursive functions are not stored on disk, because Numba calls them by an address found at compile time.
    """
    from transpile_runtime.compiled import objects
    from transpile_runtime.compiled.threads import with_own_threads

    text, lines = source.text()
    stem = None if len(source.functions) > 1 else stem
    path = cached_kernels.text_file(stem, text) if stem is not None else None
    name = source.main.name
    file = path or f"<transpile jit {name}_{uuid.uuid4().hex[:20]}>"
    register(file, text, lines)
    module = loaded(text, file, stem or uuid.uuid4().hex[:20])
    if not objects.is_known():
        kernel = ordinary(module, name, source.kinds, lines, loc, path is not None)
        return with_own_threads(kernel) if source.options.threads else kernel
    compiled = by_numba(module, name, source.kinds, lines, loc)
    return _kernel(source, compiled, None if path is None else stem, path, lines)


def _kernel(
    source: Source, compiled: Any, stem: str | None, file: str | None = None, lines: Mapping[int, ir.Loc] | None = None
) -> Any:
    """The callable for the entry point of ``compiled``, stored on disk if it has a ``stem``.

    ``file`` and ``lines`` are the path of its text and the user's place for each line; None if no text was generated.
    """
    from transpile_runtime.compiled.kernel import Kernel
    from transpile_runtime.compiled.threads import with_own_threads

    kernel: Any = Kernel(source.main.name, source.kinds, compiled.entry_point)
    kernel.returns = _returns(compiled.signature.return_type)
    if lines is not None and source.options.threads:
        kernel = with_own_threads(kernel)
    if stem is not None:
        kernel.stem = stem
        messages = {**source.messages, **compiled.metadata.get("sites", {})}
        cached_kernels.keep(kernel, compiled, messages, file, lines)
    return kernel


def _returns(type_: Any) -> tuple[str, ...]:
    """The dtypes of the returned values for Numba's return type ``type_``, "" for one that is not a number; empty if nothing is
    returned."""
    from numba import types as numba_types

    several = isinstance(type_, numba_types.BaseTuple)
    found = tuple(type_) if several else () if type_ == numba_types.none else (type_,)
    numbers = (numba_types.Number, numba_types.Boolean)
    return tuple([str(t) if isinstance(t, numbers) else "" for t in found])
