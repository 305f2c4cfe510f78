"""Arrays: addresses of elements, views, allocation, and Numba's array structure."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from transpile.codegen.llvm.llvm_values import Array, Scalar, Unsupported
from transpile.codegen.llvm.scalar_instructions import Scalars
from transpile.core import nodes

_ALIGNMENT = 64
# results of the allocating function in place of a meminfo's address
TOO_LITTLE, TOO_MANY, NEGATIVE = 0, 1, 2
MAKE = "transpile.make"
LARGE, PAGE = 2**22, 2**12  # bytes
MADV_HUGEPAGE = 14  # Linux (<asm-generic/mman-common.h>)


class Arrays(Scalars):
    """Writes accesses to arrays; sizes, indices and strides are LLVM integers of a pointer's width.

    ``module`` is the LLVM module of the function.
    """

    module: Any

    def __init__(self, context: Any, typing: Any) -> None:
        from numba.core import cgutils

        super().__init__(context, typing)
        self.cgutils = cgutils
        self.int = context.get_value_type(self.types.intp)
        self.scopes: dict[Any, tuple[Any, Any]] = {}  # root -> its own scope, and the scopes of all others

    def number(self, value: int) -> Any:
        """The constant of LLVM for an int, as wide as a pointer."""
        return self.int(value)

    # ---- elements

    def load(self, array: Array, indices: Sequence[Any]) -> Scalar:
        """Writes a load of the element at the ``indices``, one for each axis, and gives its value."""
        model = self.context.data_model_manager[array.dtype]
        read = self.builder.load(self.place(array, indices))
        self.mark(read, array)
        return Scalar(model.from_data(self.builder, read), array.dtype)

    def store(self, array: Array, indices: Sequence[Any], value: Scalar) -> None:
        """Writes a store of the value, cast to the array's dtype, at the ``indices``, one for each axis."""
        model = self.context.data_model_manager[array.dtype]
        data = model.as_data(self.builder, self.cast(value, array.dtype).value)
        self.mark(self.builder.store(data, self.place(array, indices)), array)

    def place(self, array: Array, indices: Sequence[Any]) -> Any:
        """The address of the element at the ``indices``. These are in range, so nothing here overflows."""
        b = self.builder
        if array.strides is not None:
            return self.moved(array, [(i, s) for i, s in zip(indices, array.strides)])
        if not indices:
            return array.data
        offset = indices[0]
        for index, size in zip(indices[1:], array.sizes[1:]):
            offset = b.add(b.mul(offset, size, flags=["nsw"]), index, flags=["nsw"])
        return b.gep(array.data, [offset], inbounds=True)

    def moved(self, array: Array, steps: Sequence[tuple[Any, Any]]) -> Any:
        """The address of the array's first element, moved by all ``steps``: pairs of an index and a stride in bytes."""
        b = self.builder
        if not steps:
            return array.data
        total = None
        for index, stride in steps:
            bytes_ = b.mul(index, stride, flags=["nsw"])
            total = bytes_ if total is None else b.add(total, bytes_, flags=["nsw"])
        start = b.bitcast(array.data, self.cgutils.voidptr_t)
        return b.bitcast(b.gep(start, [total], inbounds=True), array.data.type)

    def mark(self, access: Any, array: Array) -> None:
        """Attaches metadata to a load or store of the array: the access group of the current loop, and the scopes it does not
        overlap."""
        if self.group is not None:
            access.set_metadata("llvm.access.group", self.group)
        if array.root is not None and array.root in self.scopes:
            own, others = self.scopes[array.root]
            access.set_metadata("alias.scope", own)
            if others is not None:
                access.set_metadata("noalias", others)

    def separate(self, roots: Sequence[Any], name: str) -> None:
        """Declares that arrays of different ``roots`` do not overlap: sets the alias scopes that `mark` attaches.

        ``name``, of the function, makes the scopes distinct from those of other functions.
        """
        domain = self.module.add_metadata([f"{name} arrays"])
        scopes = {r: self.module.add_metadata([f"{name} array {k}", domain]) for k, r in enumerate(roots)}
        for root, scope in scopes.items():
            others = [s for r, s in scopes.items() if r is not root]
            self.scopes[root] = (
                self.module.add_metadata([scope]),
                self.module.add_metadata(others) if others else None,
            )

    # ---- views

    def strides(self, array: Array) -> tuple[Any, ...]:
        """The strides in bytes, as LLVM values; for a C-contiguous array they are computed here from its sizes."""
        if array.strides is not None:
            return array.strides
        found, size = [], self.number(self.itemsize(array.dtype))
        for n in reversed(array.sizes):
            found.append(size)
            size = self.builder.mul(size, n, flags=["nsw"])
        return tuple(reversed(found))

    def itemsize(self, dtype: Any) -> int:
        """The number of bytes of an element of Numba's type ``dtype``, an int."""
        return self.context.get_abi_sizeof(self.context.get_data_type(dtype))

    def turned(self, array: Array) -> Array:
        """The transpose, axes reversed, as a view; an array of rank 0 or 1 is returned as it is."""
        if len(array.sizes) < 2:
            return array
        return Array(array.dtype, array.data, array.sizes[::-1], self.strides(array)[::-1], array.meminfo, array.root)

    def part(self, array: Array, items: Sequence[nodes.Item], args: Sequence[Any]) -> Array:
        """The view selected by ``items``: indices, ranges and whole axes, whose operands are ``args``.

        Axes without item are whole. The ends of a range are limited to the size of the axis, but a negative one is taken as it
        is; a reversed range is empty.
        """
        b = self.builder
        steps, sizes, kept = [], [], []
        strides = self.strides(array)
        for axis, size in enumerate(array.sizes):
            item = items[axis] if axis < len(items) else nodes.Slice()
            if isinstance(item, nodes.Point):
                steps.append((args[item.arg], strides[axis]))
                continue
            if isinstance(item, nodes.Slice) and item.start is not None and item.stop is not None:
                low, high = (self.least(args[x], size) for x in (item.start, item.stop))
                steps.append((low, strides[axis]))
                size = b.sub(high, low)
                size = b.select(b.icmp_signed("<", size, self.number(0)), self.number(0), size)
            sizes.append(size)
            kept.append(strides[axis])
        data = self.moved(array, steps)
        lies_close = array.strides is None and self.is_prefix(items)
        return Array(array.dtype, data, tuple(sizes), None if lies_close else tuple(kept), array.meminfo, array.root)

    @staticmethod
    def is_prefix(items: Sequence[nodes.Item]) -> bool:
        """Whether such a view of a C-contiguous array is C-contiguous: indices, then at most one range, then whole axes."""
        rest = list(items)
        while rest and isinstance(rest[0], nodes.Point):
            rest.pop(0)
        return all(k == nodes.Slice() for k in rest[1:])

    def least(self, x: Any, y: Any) -> Any:
        """The smaller of two signed integers."""
        return self.builder.select(self.builder.icmp_signed("<", x, y), x, y)

    # ---- as Numba passes them

    def type_of(self, array: Array) -> Any:
        """Numba's type of the array: layout "C", or "A" if it has strides."""
        return self.types.Array(array.dtype, len(array.sizes), "C" if array.strides is None else "A")

    def struct(self, array: Array) -> Scalar:
        """The array as a value of Numba's array type, for calls and results."""
        from llvmlite import ir

        b, type_ = self.builder, self.type_of(array)
        model = self.context.data_model_manager[type_]
        items, whole = self.number(1), model.get_value_type()(ir.Undefined)
        for size in array.sizes:
            items = b.mul(items, size, flags=["nsw"])
        parts = {
            "meminfo": array.meminfo,
            "parent": whole.type.elements[model.get_field_position("parent")](None),
            "nitems": items,
            "itemsize": self.number(self.itemsize(array.dtype)),
            "data": array.data,
            "shape": self.cgutils.pack_array(b, list(array.sizes)),
            "strides": self.cgutils.pack_array(b, list(self.strides(array))),
        }
        for name, part in parts.items():
            whole = model.set(b, whole, part, name)
        return Scalar(whole, type_)

    def array(self, given: Scalar, root: Any = None) -> Array:
        """The array for a value of Numba's array type; `Unsupported` for another type or rank 0.

        ``root``: the variable whose alias scope its accesses have, None for none.
        """
        b, type_ = self.builder, given.type
        if not isinstance(type_, self.types.Array) or not type_.ndim:
            raise Unsupported(str(type_))
        model = self.context.data_model_manager[type_]
        data, meminfo, shape, steps = (
            model.get(b, given.value, name) for name in ("data", "meminfo", "shape", "strides")
        )
        sizes = tuple(self.cgutils.unpack_tuple(b, shape, type_.ndim))
        strides = None if type_.layout == "C" else tuple(self.cgutils.unpack_tuple(b, steps, type_.ndim))
        return Array(type_.dtype, data, sizes, strides, meminfo, root)

    def nothing(self, dtype: Any, rank: int) -> Array:
        """An array of this rank with sizes 0 and without memory, which is never read."""
        pointer = self.context.get_data_type(dtype).as_pointer()
        return Array(dtype, pointer(None), (self.number(0),) * rank, None, self.cgutils.voidptr_t(None))

    # ---- new memory

    def made(self, dtype: Any, sizes: Sequence[Any], root: Any) -> Array:
        """A new C-contiguous array with these sizes, its content undefined; writes an exit that raises if there is no memory.

        ``root``: the variable whose alias scope it belongs to. The caller must make a block its owner.
        """
        b = self.builder
        address = b.call(self.maker(len(sizes)), [self.number(self.itemsize(dtype)), *sizes])
        self.unless_made(b.ptrtoint(address, self.int), dtype, sizes)
        # only after the test: from an access through the address LLVM would conclude that the test cannot fail
        data = self.context.nrt.meminfo_data(b, address)
        data = b.bitcast(data, self.context.get_data_type(dtype).as_pointer())
        return Array(dtype, data, tuple(sizes), None, address, root)

    def unless_made(self, address: Any, dtype: Any, sizes: Sequence[Any]) -> None:
        """Writes code that raises if ``address``, as an integer, is one of the error codes of the allocating function
        (`Failures`)."""
        raise NotImplementedError

    def maker(self, rank: int) -> Any:
        """The function of this module that allocates arrays of this rank; written at first use.

        It takes the size of an element and the sizes, and gives the address of a meminfo, or `TOO_LITTLE`, `TOO_MANY` or
        `NEGATIVE` in its place.
        """
        from llvmlite import ir

        name, pointer = f"{MAKE}.{rank}", self.cgutils.voidptr_t
        found = self.module.globals.get(name)
        if found is not None:
            return found
        found = ir.Function(self.module, ir.FunctionType(pointer, [self.int] * (rank + 1)), name)
        found.linkage = "internal"
        found.attributes.add("noinline")
        found.attributes.add("nounwind")
        b = ir.IRBuilder(found.append_basic_block("entry"))
        total, *sizes = found.args
        negative = too_many = ir.IntType(1)(0)
        for n in sizes:
            negative = b.or_(negative, b.icmp_signed("<", n, self.int(0)))
            product = b.smul_with_overflow(total, n)
            total = b.extract_value(product, 0)
            too_many = b.or_(too_many, b.extract_value(product, 1))
        for wrong, code in ((negative, NEGATIVE), (too_many, TOO_MANY)):
            with b.if_then(wrong, likely=False):
                b.ret(self.int(code).inttoptr(pointer))
        alloc = self.cgutils.get_or_insert_function(
            self.module, ir.FunctionType(pointer, [self.int, ir.IntType(32)]), "NRT_MemInfo_alloc_aligned"
        )
        address = b.call(alloc, [total, ir.IntType(32)(_ALIGNMENT)])
        with b.if_then(b.icmp_unsigned("!=", address, pointer(None)), likely=True):
            self.advise(b, self.context.nrt.meminfo_data(b, address), total)
        b.ret(address)
        return found

    def advise(self, b: Any, data: Any, total: Any) -> None:
        """Writes a request for large pages if the memory at ``data`` has ``total`` bytes, an LLVM integer, and that is large.

        NumPy does so too: each page costs time when it is first written. Writes nothing except on Linux.
        """
        from llvmlite import ir

        if not sys.platform.startswith("linux"):
            return
        with b.if_then(b.icmp_unsigned(">=", total, self.int(LARGE)), likely=False):
            skipped = b.and_(b.neg(b.ptrtoint(data, self.int)), self.int(PAGE - 1))  # bytes up to the next page
            type_ = ir.FunctionType(ir.IntType(32), [data.type, self.int, ir.IntType(32)])
            madvise = self.cgutils.get_or_insert_function(self.module, type_, "madvise")
            b.call(madvise, [b.gep(data, [skipped]), b.sub(total, skipped), ir.IntType(32)(MADV_HUGEPAGE)])
