"""Compiles lowered core to machine code: writes LLVM's language directly, without Numba's front end.

Numba's front end takes Python text, infers types that core knows already, and converts it through many forms: two thirds of a
first call. Here each statement of lowered core becomes instructions, with Numba's conventions for arrays, calls and exceptions,
so that generated code can call Numba's runtime functions and be called by its wrapper. Functions with statements that are not
supported here (`Unsupported`) are compiled from text by Numba, and so are all functions if Numba's version was not tried.

`function` compiles a whole function, `llvm_statements` has the control flow, `scalar_instructions` the elementwise primitives,
`arrays` the accesses, `memory_ownership` the reference counting, `frame_arrays` finds small arrays for the stack frame,
`stacks` has the stacks that loops record in, `failures` the exceptions, `operands` the operands, `function_calls` the calls of
kept functions, `threads` the parallel loops, `llvm_library` the optimiser.
"""

from transpile.codegen.llvm.function import Unsupported, compile_function

__all__ = ["Unsupported", "compile_function"]
