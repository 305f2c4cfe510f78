"""Machine code from lowered core: LLVM's language is written directly, where Numba would go by Python's.

Numba's front end takes Python text, finds types that core knows already, and goes through many forms of it: two thirds of a first
call. Here each statement of lowered core becomes instructions, by Numba's own conventions for arrays, calls and exceptions,
so that its runtime functions can be called and its wrapper calls the result. What this does not write (`Unsupported`) is compiled
from the text as before, and so is everything with a version of Numba that was not tried.

`function` compiles a whole function, `llvm_statements` has the control flow, `scalar_instructions` the elementwise primitives,
`arrays` the accesses, `memory_ownership` who gives them back, `frame_arrays` finds arrays of few elements, `stacks` has what loops
record, `failures` the exceptions, `operands` what is written of operands, `function_calls` the calls of functions that call
themselves, `threads` the loops that run on several cores, `llvm_library` the optimiser.
"""

from transpile.codegen.llvm.function import Unsupported, compile_function

__all__ = ["Unsupported", "compile_function"]
