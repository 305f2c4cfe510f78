"""Numba's compiler for functions that release their memory when they fail.

Numba leaves a function at once if a call in it fails, without releasing the arrays of its variables. Here all variables have
cells, and failures go to an exit that releases them. (A ``raise`` of the function itself leaves no variables behind.)
"""

from llvmlite import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

from transpile_runtime.compiled import registries
from transpile_runtime.compiled.convention import Context
from transpile_runtime.compiled.objects import is_known

LINES = {}  # file of a text being compiled -> function from a line to the number of its message


class _Exits:
    """The exits of a function that `_Lower` writes."""

    def __init__(self, lower):
        self.lower, self.builder = lower, lower.builder
        self.found = {}

    def raised(self, class_, args):
        """Emits a branch to the exit that raises ``class_(*args)``; a MemoryError gets the message of its site."""
        site = self.site() if class_ is MemoryError else None
        if site is not None:
            from transpile_runtime.compiled.errors import MemoryError_

            class_, args = MemoryError_, (site,)
        self.go(("raised", class_, tuple(args or ())), ())

    def passed(self, code, info):
        """Emits a branch to the exit that passes on a callee's exception, an LLVM ``code`` and ``info``, with the site of the
        user's line if there is one."""
        site = self.site()
        self.go(("passed", site is None), (code, info) if site is None else (code, info, ir.IntType(64)(site)))

    def site(self):
        """The number of the message for the user's line that is being lowered; None if there is none."""
        loc = self.lower.loc
        number = LINES.get(loc.filename)
        return None if number is None else number(loc.line)

    def go(self, key, values):
        """Emits a branch to the exit ``key``, created at its first use, with the LLVM values that it takes."""
        if key not in self.found:
            block = self.builder.function.append_basic_block("fail")
            with self.builder.goto_block(block):
                self.found[key] = block, [self.builder.phi(v.type) for v in values]
        block, phis = self.found[key]
        for phi, value in zip(phis, values):
            phi.add_incoming(value, self.builder.block)
        self.builder.branch(block)

    def write(self):
        """Writes the exits: each releases the function's variables, then returns its exception."""
        builder, lower = self.builder, self.lower
        convention = lower.context.call_conv
        for (kind, *known), (block, values) in self.found.items():
            builder.position_at_end(block)
            for name, cell in lower.varmap.items():
                lower.decref(lower.typeof(name), builder.load(cell))
            if kind == "passed":
                convention.return_located(builder, *values)
            else:
                convention.return_user_exc(builder, *known)


class _Lower(Lower):
    """Numba's lowering of one function, which leaves it through `_Exits` on failure."""

    @property
    def _disable_sroa_like_opt(self):
        return True

    def lower_function_body(self):
        name = self.function.name
        self.context.leaving[name] = exits = _Exits(self)
        try:
            tail = super().lower_function_body()
        finally:
            del self.context.leaving[name]
        exits.write()
        return tail


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(BaseNativeLowering):
    _name = "transpile_native_lowering"

    @property
    def lowering_class(self):
        return _Lower

    def run_pass(self, state):
        state.targetctx = Context.under(state.targetctx)
        return super().run_pass(state)


class Tidy(CompilerBase):
    """Numba's compiler, with `_Lowering` in the place of its own lowering."""

    def __init__(self, typingctx, targetctx, *args):
        registries.all_(typingctx, targetctx)
        super().__init__(typingctx, targetctx, *args)

    def define_pipelines(self):
        found = DefaultPassBuilder.define_nopython_pipeline(self.state)
        found.passes = [(_Lowering if p is NativeLowering else p, about) for p, about in found.passes]
        found.finalize()
        return [found]


OPTIONS = {"pipeline_class": Tidy} if is_known() else {}  # options of an njit function
