"""The callable of a compiled function: Numba's dispatcher in C, with a single signature."""

import numpy as np
from numba import _dispatcher, types
from numba.core.errors import NumbaError
from numba.core.typeconv.rules import default_type_manager
from numba.core.typing.typeof import Purpose, typeof
from numba.np.numpy_support import from_dtype, map_layout

from transpile_runtime.compiled.again import Again


class Kernel(_dispatcher.Dispatcher):
    """Calls ``entry`` with arguments of exactly these types, and raises `Again` for all others.

    A type is ``(dtype, rank)``; a rank above 0 means a C-contiguous, writeable array.
    """

    def __init__(self, name, kinds, entry):
        parameters = tuple(f"a{k}" for k in range(len(kinds)))
        _dispatcher.Dispatcher.__init__(
            self, default_type_manager.get_pointer(), len(kinds), False, parameters, (), False, False, True
        )
        self.__name__ = name
        self.__code__ = _nothing.__code__.replace(co_name=name)  # for profilers and debuggers
        self.kinds = kinds
        self.returns = ()  # the dtypes of its results, "" for an array
        self.outputs = ()  # the last arguments that are results
        self.has_own_threads = False  # whether Numba compiled its parallel loops
        self.stem = None  # the name of its files in the cache
        self.entry = entry  # the dispatcher in C borrows it
        self.types = [numba_type(*kind) for kind in kinds]  # the code of a type is valid as long as the type exists
        self._insert([t._code for t in self.types], entry, False)

    def _compile_for_args(self, *args, **kwargs):
        raise Again

    def typeof_pyval(self, value):
        """Numba's type of an argument, found without importing `numpy.ma` to test for masked arrays; ``pyobject`` for one that
        a kernel cannot take."""
        if type(value) is np.ndarray:
            if not (value.flags.aligned and value.dtype.isnative):  # the dispatcher cannot tell these apart
                return types.pyobject
            try:
                return types.Array(from_dtype(value.dtype), value.ndim, map_layout(value), not value.flags.writeable)
            except NumbaError:
                return types.pyobject
        try:
            return typeof(value, Purpose.argument) or types.pyobject
        except (NumbaError, ValueError):
            return types.pyobject


def _nothing():
    pass


def numba_type(dtype, rank):
    """Numba's type of an argument with this dtype, a name, and rank: a C-contiguous array, or a scalar for rank 0."""
    scalar = types.boolean if dtype == "bool" else getattr(types, dtype)
    return types.Array(scalar, rank, "C") if rank else scalar
