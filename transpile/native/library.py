"""What holds a function's module: it is optimised once.

Numba optimises function by function first, then the module twice, to find references that are counted up and down in vain after
all is in line. Code that was written here counts few.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


def new_library(codegen: Any, name: str) -> Any:
    library = _kind()(codegen, name)
    library.enable_object_caching()
    return library


@lru_cache(maxsize=1)
def _kind() -> type:
    from numba.core.codegen import JITCodeLibrary

    class Library(JITCodeLibrary):
        def _optimize_functions(self, module: Any) -> None:
            module.data_layout = self._codegen._data_layout

        def _optimize_final_module(self) -> None:
            passes, builder = self._codegen._module_pass_manager()
            with self._recorded_timings.record("Module passes", builder):
                passes.run(self._final_module, builder)

    return Library
