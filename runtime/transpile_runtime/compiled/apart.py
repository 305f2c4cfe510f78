"""Functions compiled once, separately from their callers: a caller holds their address, not their code.

Numba links the code of a callee into each caller and optimises it again there: a kernel with one ``solve`` took a second more
to compile, even from the disk cache. Here a caller calls a symbol, and lists in its cache entry the functions it needs: the
code behind the symbol is loaded, or compiled, before the caller is.

A signature is text in which ``real`` stands for float64 or float32, as the dtype of the arrays decides.
"""

import importlib
import inspect
from dataclasses import dataclass

from llvmlite import binding
from numba import njit, types
from numba.core import cgutils, codegen, sigutils, typing
from numba.extending import intrinsic

from transpile_runtime.compiled.cache import keep
from transpile_runtime.compiled.options import BARE, NAN_SAFE
from transpile_runtime.compiled.tidy import OPTIONS

REALS = ("float64", "float32")
_FUNCTIONS = {}
# a private name; without it functions are linked into their callers, as Numba does
_IS_POSSIBLE = "_reload_init" in codegen.CodeLibrary.__init__.__code__.co_names


def apart(signature, fastmath=NAN_SAFE):
    """The decorator of a function with this signature, a text, which only compiled code calls; the result is an intrinsic that
    calls it by its symbol.

    If this Numba cannot do that, the result is an ordinary njit function.
    """

    def wrap(function):
        if not _IS_POSSIBLE:
            return keep(njit(error_model="numpy", fastmath=fastmath)(function))
        own = _Apart(function, signature, fastmath)
        _FUNCTIONS[function.__module__, function.__name__] = own
        return own.intrinsic()

    return wrap


class _Apart:
    """A function compiled on its own for each real dtype."""

    def __init__(self, function, signature, fastmath):
        self.function, self.text, self.fastmath = function, signature, fastmath
        self.signatures = {}
        self.loaded = {}

    def signature(self, real):
        """Numba's signature for ``real``, "float64" or "float32"."""
        if real not in self.signatures:
            args, result = sigutils.normalize_signature(self.text.replace("real", real))
            self.signatures[real] = typing.signature(result, *args)
        return self.signatures[real]

    def symbol(self, real):
        return f"{self.function.__module__}.{self.function.__name__}.{real}"

    def load(self, real):
        """Compiles or loads, once, the code behind the symbol for ``real``, "float64" or "float32"."""
        if real in self.loaded:
            return
        compiled = keep(njit(error_model="numpy", fastmath=self.fastmath, **BARE, **OPTIONS)(self.function))
        wanted = self.signature(real)
        compiled.compile(wanted)
        found = compiled.overloads[wanted.args]
        address = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
        binding.add_symbol(self.symbol(real), address)
        self.loaded[real] = compiled  # keeps the code in memory

    def intrinsic(self):
        """The intrinsic that calls the function; ``real`` is the dtype that its arrays have in common."""

        def typed(context, *args):
            kinds = {str(a.dtype) for a in args if isinstance(a, types.Array)} & {*REALS}
            if len(kinds) != 1:
                return None
            (real,) = kinds
            found = self.signature(real)
            fits = all(context.can_convert(a, p) is not None for a, p in zip(args, found.args))
            return (found, self.caller(real)) if fits and len(args) == len(found.args) else None

        given = inspect.signature(self.function).parameters.values()
        context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        typed.__signature__ = inspect.Signature([context, *given])
        typed.__name__, typed.__doc__ = self.function.__name__, self.function.__doc__
        found = intrinsic(typed)
        found.py_func = self.function
        return found

    def caller(self, real):
        """The function by which Numba generates a call of the symbol for ``real``; the calling code then loads the function
        first."""

        def generate(context, builder, signature, args):
            self.load(real)
            needed = _Needed(self.function.__module__, self.function.__name__, real)
            context.active_code_library._reload_init.add(needed)
            convention = context.call_conv
            kind = convention.get_function_type(signature.return_type, signature.args)
            function = cgutils.get_or_insert_function(builder.module, kind, self.symbol(real))
            lent = [_lent(context, builder, *pair) for pair in zip(signature.args, args)]
            status, result = convention.call_function(builder, function, signature.return_type, signature.args, lent)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return result

        return generate


def _lent(context, builder, kind, value):
    """The argument ``value``, of Numba's type ``kind``, for the duration of the call: an array without its reference count,
    others unchanged.

    The caller keeps a reference, and no result uses its memory; counting in each function would cost as much as a division.
    """
    if not isinstance(kind, types.Array):
        return value
    array = context.make_array(kind)(context, builder, value)
    array.meminfo = array.meminfo.type(None)
    return array._getvalue()


@dataclass(frozen=True)
class _Needed:
    """Loads a function that a caller from the disk cache needs, before the caller's own code is loaded."""

    module: str
    name: str
    real: str

    def __call__(self):
        importlib.import_module(self.module)
        _FUNCTIONS[self.module, self.name].load(self.real)
