"""The code library of a function's module, which is optimised once.

Numba optimises each function first, then the module twice, to remove redundant reference counting after inlining. Code written
here has little reference counting. LLVM's result must be well-formed, or the module is optimised again without vectorised
loops.
"""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any


def new_library(codegen: Any, name: str) -> Any:
    """A code library of Numba's for an object cache, of this name, that optimises its module only once."""
    library = _kind()(codegen, name)
    library.enable_object_caching()
    return library


@lru_cache(maxsize=1)
def _kind() -> type:
    from numba.core.codegen import JITCodeLibrary

    class Library(JITCodeLibrary):
        _final_module: Any

        def _optimize_functions(self, module: Any) -> None:
            module.data_layout = self._codegen._data_layout

        def _optimize_final_module(self) -> None:
            written = self._final_module.clone()
            self._run_passes()
            try:
                self._final_module.verify()
            except RuntimeError:  # for some loops LLVM 22 uses vectors before their definition
                self._final_module = written
                self._run_passes(loop_vectorize=False)

        def _run_passes(self, **options: bool) -> None:
            passes, builder = _tuned(self._codegen)._module_pass_manager(**options)
            with self._recorded_timings.record("Module passes", builder):
                passes.run(self._final_module, builder)

    return Library


@lru_cache(maxsize=1)
def _tuned(codegen: Any) -> Any:
    """A copy of the code generator with a target machine whose costs fit this processor better; passes ask it for costs.

    It is ``codegen`` itself if nothing is known about the processor.
    """
    from llvmlite import binding
    from numba.core import config

    from transpile_runtime.compiled.machine import tuning

    told = tuning(codegen._get_host_cpu_name(), codegen._tm_features)
    if not told:
        return codegen
    options: dict[str, Any] = {"opt": config.OPT}
    codegen._customize_tm_options(options)
    options["features"] = f"{codegen._tm_features},{told}"
    found = copy.copy(codegen)
    found._tm = binding.Target.from_triple(binding.get_process_triple()).create_target_machine(**options)
    return found
