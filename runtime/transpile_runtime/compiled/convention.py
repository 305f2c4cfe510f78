"""Exceptions of compiled functions: Numba's calling convention, without its memory leaks.

Numba keeps a reference to each argument of an exception, to their tuple and to a description: some 480 bytes an exception. And
code that Numba writes into a function (a call, an allocation) leaves it at once on failure, without releasing its memory. Here
the writer of a function says how it is left.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.callconv import RETCODE_USEREXC, CPUCallConv, excinfo_ptr_t, excinfo_t, int32_t
from numba.core.cpu import CPUContext

NO_MEMORY = ("out of memory",)


class Context(CPUContext):
    """A target context of Numba's whose functions raise by `Convention`; ``under(target)`` creates one from another.

    ``leaving`` maps a function's name to its writer, whose methods ``raised(class, arguments)`` and ``passed(code, info)``
    branch to an exit that releases its memory.
    """

    @classmethod
    def under(cls, target, **options):
        """A new context derived from ``target``, with Numba's ``options`` and without writers in `leaving`."""
        made = target.subtarget(**options)
        made.__class__ = cls
        made.leaving = {}
        return made

    @property
    def call_conv(self):
        return Convention(self)


class Convention(CPUCallConv):
    # ---- out of a function that is being written

    """Numba's calling convention, but functions with a writer in ``context.leaving`` are left through the exits of that
    writer."""

    def return_user_exc(self, builder, exc, exc_args=None, loc=None, func_name=None):
        writer = self.context.leaving.get(builder.function.name)
        if writer is None:
            super().return_user_exc(builder, exc, exc_args, loc, func_name)
        else:
            writer.raised(exc, exc_args)

    def return_status_propagate(self, builder, status):
        writer = self.context.leaving.get(builder.function.name)
        if writer is None:
            super().return_status_propagate(builder, status)
        else:
            writer.passed(status.code, status.excinfoptr)

    def return_located(self, builder, code, info, site=None):
        """Emits the return of a callee's exception, given by ``code`` and ``info``; if it has no line, with ``site``, the
        number of the message for it.

        Numba describes an exception without line by constants, whose address is valid as long as the code.
        """
        if site is not None:
            from transpile_runtime.compiled.errors import Within

            with builder.if_then(builder.icmp_signed("==", code, RETCODE_USEREXC)):
                fields = builder.load(info)
                text, size, _, _, count = (builder.extract_value(fields, k) for k in range(5))
                with builder.if_then(builder.icmp_signed("==", count, count.type(0))):
                    text = builder.ptrtoint(text, cgutils.intp_t)
                    given = (site, text, builder.sext(size, cgutils.intp_t))
                    self.return_dynamic_user_exc(builder, Within, given, (types.int64, types.intp, types.intp))
        builder.store(info, self._get_excinfo_argument(builder.function))
        builder.ret(code)

    # ---- arguments known when it is raised: they lie behind the description, in one block of memory

    def set_dynamic_user_exc(self, builder, exc, exc_args, nb_types, loc=None, func_name=None):
        """Emits code that stores an exception with arguments that are known only at run time, LLVM values: these go into a new
        block of memory, behind the description."""
        pyapi = self.context.get_python_api(builder)
        unknown = tuple(self.context.get_dummy_value() if isinstance(a, ir.Value) else a for a in exc_args)
        described = pyapi.serialize_object(self.build_excinfo_struct(exc, unknown, loc, func_name))
        values = [a for a in exc_args if isinstance(a, ir.Value)]
        types = [t for t in nb_types if t is not None]
        given = ir.LiteralStructType([v.type for v in values])
        whole = ir.LiteralStructType([excinfo_t, given])
        place = self.context.nrt.allocate_unchecked(builder, cgutils.sizeof(builder, whole.as_pointer()))
        with builder.if_then(cgutils.is_null(builder, place), likely=False):
            for type_, value in zip(types, values):
                self.context.nrt.decref(builder, type_, value)
            self.set_static_user_exc(builder, MemoryError, NO_MEMORY)
            builder.ret(RETCODE_USEREXC)
        place = builder.bitcast(place, whole.as_pointer())
        arguments = cgutils.gep_inbounds(builder, place, 0, 1)
        for k, value in enumerate(values):
            builder.store(value, cgutils.gep_inbounds(builder, arguments, 0, k))
        made = builder.load(described)
        unwrap = self.emit_unwrap_dynamic_exception_fn(builder.module, given, types)
        for k, part in (
            (2, builder.bitcast(arguments, cgutils.voidptr_t)),
            (3, builder.bitcast(unwrap, cgutils.voidptr_t)),
            (4, int32_t(max(len(values), 1))),
        ):
            made = builder.insert_value(made, part, k)
        builder.store(made, cgutils.gep_inbounds(builder, place, 0, 0))
        builder.store(builder.bitcast(place, excinfo_ptr_t), self._get_excinfo_argument(builder.function))

    def emit_unwrap_dynamic_exception_fn(self, module, st_type, nb_types):
        """The LLVM function that makes a Python tuple of the arguments in a structure ``st_type``; its result is NULL, with an
        exception set, if that fails."""
        name = f"transpile.arguments.{'.'.join(map(str, nb_types))}"
        found = module.globals.get(name)
        if found is not None:
            return found
        found = ir.Function(module, ir.FunctionType(cgutils.voidptr_t, [cgutils.voidptr_t]), name)
        found.linkage = "internal"
        for attribute in ("noinline", "optnone", "cold"):  # it rarely runs: LLVM does not optimise it
            found.attributes.add(attribute)
        builder = ir.IRBuilder(found.append_basic_block("entry"))
        pyapi = self.context.get_python_api(builder)
        environment = self.context.get_env_manager(builder, return_pyobject=True)
        values = builder.load(builder.bitcast(found.args[0], st_type.as_pointer()))
        made = pyapi.tuple_new(len(nb_types))
        wrong = cgutils.is_null(builder, made)
        boxed = []
        for k, type_ in enumerate(nb_types):
            boxed.append(pyapi.from_native_value(type_, builder.extract_value(values, k), environment))
            wrong = builder.or_(wrong, cgutils.is_null(builder, boxed[-1]))
        with builder.if_then(wrong, likely=False):
            for one in (made, *boxed):
                pyapi.decref(one)
            builder.ret(cgutils.voidptr_t(None))
        for k, one in enumerate(boxed):
            pyapi.tuple_setitem(made, k, one)
        builder.ret(made)
        return found

    def unpack_dynamic_exception(self, builder, pyapi, status):
        """Emits code that makes Numba's Python description of an exception stored by `set_dynamic_user_exc`, and frees its
        memory; the value is NULL if that fails."""
        fields = builder.load(status.excinfoptr)
        text, size, given, unwrap, _ = (builder.extract_value(fields, k) for k in range(5))
        unwrap = builder.bitcast(unwrap, ir.FunctionType(cgutils.voidptr_t, [cgutils.voidptr_t]).as_pointer())
        arguments = builder.call(unwrap, [given])
        self.context.nrt.free(builder, builder.bitcast(status.excinfoptr, cgutils.voidptr_t))
        found = cgutils.alloca_once(builder, cgutils.voidptr_t)
        builder.store(cgutils.voidptr_t(None), found)
        with builder.if_then(cgutils.is_not_null(builder, arguments), likely=True):
            described = pyapi.bytes_from_string_and_size(text, builder.sext(size, pyapi.py_ssize_t))
            with builder.if_then(cgutils.is_not_null(builder, described), likely=True):
                builder.store(pyapi.build_dynamic_excinfo_struct(described, arguments), found)
                pyapi.decref(described)
            pyapi.decref(arguments)
        return builder.load(found)

    def forget(self, builder, info):
        """Emits code that frees the memory of the exception at ``info``, which is not raised and whose arguments are
        numbers."""
        count = builder.extract_value(builder.load(info), 4)
        with builder.if_then(builder.icmp_signed(">", count, count.type(0))):
            self.context.nrt.free(builder, builder.bitcast(info, cgutils.voidptr_t))
