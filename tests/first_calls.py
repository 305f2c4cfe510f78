"""Compiles corpus programs in fresh processes, with Numba's registries as loaded at first and with all of them.

``python first_calls.py NAME ...`` prints each name with ``same`` or ``differs``, and ``some`` or ``all`` for the registries
needed.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
import uuid
import warnings
from itertools import count
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "runtime")]


def compiled(program: Any, knows_all: bool) -> str:
    """A hash of the LLVM text before optimisation, and which registries were loaded in the end."""
    from numba.core.registry import cpu_target

    import transpile as tp
    from transpile.codegen.llvm import llvm_library
    from transpile_runtime.compiled import registries

    numbers = count(0xABCDEF << 104)
    uuid.uuid4 = lambda: uuid.UUID(int=next(numbers))  # type: ignore[assignment]
    if knows_all:
        registries.all_(cpu_target.typing_context, cpu_target.target_context)
    kind = llvm_library._kind()
    original, found = kind._run_passes, hashlib.sha256()

    def run(self: Any, **options: bool) -> None:
        found.update(str(self._final_module).encode())
        original(self, **options)

    kind._run_passes = run
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        tp.jit(tp.value_and_grad(program.fn, argnums=program.wrt), cache=False)(*program.args())
    return f"{found.hexdigest()} {'all' if registries._state['is_full'] else 'some'}"


def in_a_child(program: Any, knows_all: bool) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            text = compiled(program, knows_all)
        except BaseException as failed:
            text = f"{type(failed).__name__} some"
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        found = answer.read()
    os.waitpid(child, 0)
    return found


def main() -> None:
    from corpus import all_programs

    import transpile.codegen.llvm.function  # noqa: F401

    programs = {p.name: p for p in all_programs()}
    for name in sys.argv[1:]:
        in_a_child(programs[name], True)  # fills the cache with the runtime functions for the later processes
        first, second = (in_a_child(programs[name], knows_all) for knows_all in (False, True))
        code, _, known = first.partition(" ")
        print(name, "same" if code == second.partition(" ")[0] else f"differs: {first} {second}", known)


if __name__ == "__main__":
    main()
