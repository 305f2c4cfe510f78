"""Compiles lowered text with Numba, from a real file in a cache directory, so that compiled code is found again.

The file's name holds a hash of its content, of `runtime.compiled` and of the versions; each file has one function of one
signature (two signatures of one function, compiled by two processes at once, can be mixed up by Numba's cache).
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import sys
import tempfile
import types
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from transpile.core.nodes import Function, Loc
from transpile.core.types import Type
from transpile.errors import Diagnostic, TranspileError, error
from transpile.loader import register
from transpile.loops import optimise
from transpile.lower.effects import sites
from transpile.lower.emit import Text, emit
from transpile.lower.lowering import lower

MODULES = ("arrays", "errors", "linalg", "scalars", "special")


def text_of(core: Function, fastmath: Any = ("contract", "reassoc")) -> tuple[str, dict[int, Loc]]:
    """The module that Numba compiles for a core function, and the user's line of each of its lines."""
    lowered = optimise(lower(core))
    flags = fastmath if isinstance(fastmath, bool) else "{" + ", ".join(repr(f) for f in fastmath) + "}"
    options = f'error_model="numpy", fastmath={flags}'
    found = sites(lowered)
    body = emit(lowered, options, ", ".join(MODULES))
    used = [m for m in MODULES if any(f"{m}." in line for line in body.lines[7:])]
    if found and "errors" not in used:
        used = sorted([*used, "errors"])
    return _assemble(body, used, found)


def _assemble(body: Text, used: Sequence[str], found: dict[int, Any]) -> tuple[str, dict[int, Loc]]:
    start = next(k for k, line in enumerate(body.lines) if line.startswith("@njit"))
    rest = body.lines[start:]
    head = []
    if any("math." in line for line in rest):
        head += ["import math", ""]
    head += ["import numpy as np", "from numba import njit"]
    if used:
        head += ["", f"from runtime.compiled import {', '.join(used)}"]
    if found:
        head += ["", "errors.SITES.update({"]
        head += [f"    {k}: {v!r}," for k, v in found.items()]
        head += ["})"]
    head += ["", ""]
    shift = len(head) - start
    return "\n".join([*head, *rest]) + "\n", {k + shift: loc for k, loc in body.locs.items()}


# --------------------------------------------------------------------------------------------------- compiling


def compile_core(core: Function, fastmath: Any, cache: bool) -> Any:
    """The compiled function: it takes the parameters of ``core`` (arrays C-contiguous) and gives a tuple of results."""
    try:
        import numba
    except ImportError:
        raise error("T503", "jit needs Numba, which is not installed", hint="pip install numba") from None
    for p in core.params:
        check_type(p.type, p.name, core.loc)
    text, lines = text_of(core, fastmath)
    path = write_file(text, core.name) if cache else None
    file = str(path) if path else f"<transpile jit {core.name}>"
    register(file, text, lines)
    module = types.ModuleType(f"transpile_compiled_{path.stem if path else core.name}")
    module.__file__ = file
    if path:
        sys.modules[module.__name__] = module  # Numba's cache finds a function's globals by the name of its module
    exec(compile(text, file, "exec"), module.__dict__)
    kernel = getattr(module, core.name)
    if path:
        from runtime.compiled.cache import keep

        keep(kernel)
    try:
        kernel.compile(numba.types.void(*map(signature_type, core.params)).args)
    except numba.core.errors.NumbaError as failed:
        raise _diagnose(failed, lines, core) from failed
    except TranspileError:
        raise
    except Exception as failed:
        raise _diagnose(failed, lines, core) from failed
    kernel.disable_compile()
    return kernel


def check_type(type_: Type, name: str, loc: Loc) -> None:
    if type_.dtype == "float16":
        raise error("T502", f"argument {name!r} is float16, which Numba does not have", loc, hint="use float32")
    if type_.dtype.startswith("complex"):
        raise error("T502", f"argument {name!r} is complex, which cannot be compiled yet", loc)


def signature_type(param: Any) -> Any:
    """The Numba type of a parameter."""
    import numba

    type_ = param.type
    scalar = getattr(numba.types, "boolean" if type_.dtype == "bool" else type_.dtype)
    return numba.types.Array(scalar, type_.rank, "C") if type_.dims else scalar


# --------------------------------------------------------------------------------------------------- the files


def cache_directory() -> Path:
    """Where generated files are kept: ``TRANSPILE_CACHE_DIR``, else the user's cache directory."""
    given = os.environ.get("TRANSPILE_CACHE_DIR")
    if given:
        return Path(given)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "transpile"


@lru_cache(maxsize=8)
def _usable_directory(wanted: Path) -> Path:
    try:
        wanted.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=wanted):
            return wanted
    except OSError:
        own = tempfile.mkdtemp(prefix="transpile-")
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        return Path(own)


def write_file(text: str, name: str) -> Path | None:
    """A file with this content, whose name says so; None if it cannot be written."""
    stamp = hashlib.sha256("\0".join((text, _environment())).encode()).hexdigest()[:20]
    safe = re.sub(r"\W", "_", name)[:60]
    path = _usable_directory(cache_directory()) / f"{safe}_{stamp}.py"
    try:
        if not path.exists():
            handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
            os.replace(temporary, path)
    except OSError:
        return None
    return path


@lru_cache(maxsize=1)
def _environment() -> str:
    """What compiled code depends on besides its text: Numba does not notice changes of callees."""
    import numba
    import numpy

    import runtime.compiled

    assert runtime.compiled.__file__ is not None
    digest = hashlib.sha256(f"{numba.__version__} {numpy.__version__} {sys.version_info[:2]}".encode())
    for file in sorted(Path(runtime.compiled.__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


# ------------------------------------------------------------------------------------------------- diagnostics

_LINE = re.compile(r'File "[^"]*", line (\d+)')


def _diagnose(failed: Exception, lines: dict[int, Loc], core: Function) -> TranspileError:
    """Numba's error as a diagnostic at the user's line."""
    message = re.sub(r"\x1b\[[0-9;]*m", "", str(failed))
    numbers = [int(n) for n in _LINE.findall(message)]
    at = getattr(getattr(failed, "loc", None), "line", None)
    numbers = ([at] if at else []) + numbers
    loc = next((lines[n] for n in numbers if n in lines), core.loc)
    first = next(
        (line.strip() for line in message.splitlines() if line.strip() and not line.startswith("Failed in")), ""
    )
    note = f"Numba says: {first[:200]}"
    return TranspileError(
        Diagnostic("T504", "Numba cannot compile what was generated for this line", loc, (note,),
                   "without jit the function runs; please report this")
    )  # fmt: skip


Kernel = Callable[..., Any]
