"""Decorators of kernels, and named tuples of arrays that they take by reference.

A kernel works on structs: named tuples of arrays, records (mutable scalars) and other structs. In
compiled code a tuple is passed by value, every array of it as seven numbers, which makes calls and
their compilation slow. `by_reference` puts a struct on the stack of an entry point and gives a
pointer to it: `struct.field` then loads the field, and a field that is itself a struct is another
pointer. The arrays are borrowed from the caller, so nobody counts references to them.

With NUMBA_DISABLE_JIT=1 kernels are plain Python and structs plain named tuples.
"""

from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

# Called from Python.
entry = njit(cache=True, error_model="numpy", nogil=True)

# Called from kernels only: nothing is compiled for calls from Python.
_INNER = {
    "cache": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True
}  # fmt: skip
kernel = njit(**_INNER)
# A step of a kernel, compiled as part of it: every function that is compiled on its own is compiled
# again into all that call it, directly or not.
inlined = njit(inline="always", **_INNER)
# Multiply and add may become one instruction.
fused_kernel = njit(fastmath={"contract"}, **_INNER)
# Sums may also be reordered: any order of summation is as accurate as any other.
sum_kernel = njit(fastmath={"contract", "reassoc"}, **_INNER)


class Reference(types.Type):
    """The type of a pointer to a named tuple."""

    def __init__(self, target: types.BaseNamedTuple):
        self.target = target
        super().__init__(name=f"Reference({target})")

    def position(self, name: str) -> int:
        """Place of the field in the tuple."""
        return self.target.fields.index(name)


@register_model(Reference)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager, reference):
        target = manager.lookup(reference.target).get_value_type()
        super().__init__(manager, reference, ir.PointerType(target))


@infer_getattr
class _ReferenceFields(AttributeTemplate):
    key = Reference

    def generic_resolve(self, reference, name):
        if name not in reference.target.fields:
            return None
        kind = reference.target.types[reference.position(name)]
        return Reference(kind) if isinstance(kind, types.BaseNamedTuple) else kind


@lower_getattr_generic(Reference)
def _load_field(context, builder, reference, pointer, name):
    position = reference.position(name)
    field = cgutils.gep_inbounds(builder, pointer, 0, position)
    is_struct = isinstance(reference.target.types[position], types.BaseNamedTuple)
    return field if is_struct else builder.load(field)


@intrinsic
def _refer(typing_context, struct):
    def codegen(context, builder, signature, arguments):
        return cgutils.alloca_once_value(builder, _borrow(context, builder, struct, arguments[0]))

    return Reference(struct)(struct), codegen


def _borrow(context, builder, kind, value):
    """The same tuple, with arrays that do not count their references."""
    for i, field_kind in enumerate(kind.types):
        field = builder.extract_value(value, i)
        if isinstance(field_kind, types.BaseNamedTuple):
            field = _borrow(context, builder, field_kind, field)
        elif isinstance(field_kind, types.Array):
            array = context.make_array(field_kind)(context, builder, field)
            array.meminfo = cgutils.get_null_value(array.meminfo.type)
            field = array._getvalue()
        value = builder.insert_value(value, field, i)
    return value


def _itself(struct):
    return struct


by_reference = _itself if config.DISABLE_JIT else _refer
