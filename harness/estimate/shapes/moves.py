"""Shape rules of operators that only move data: reshape, pad, slice, gather, and reductions."""

from __future__ import annotations

import math

from harness.estimate.shapes.call import Call, Shape


def reshape(call: Call) -> tuple[Shape, ...]:
    """RESHAPE: by its operand, else its option, else what the file says of its output, as TFLM's kernel does."""
    if call.has(1) and call.input(1).is_constant:
        return (call.reshaped(call.constant(1)),)
    new_shape = call.operator.options.get("new_shape")
    if not call.has(1) and isinstance(new_shape, tuple) and new_shape:
        return (call.reshaped([int(size) for size in new_shape]),)
    output = call.output()
    return (call.reshaped(output.shape_signature or output.shape),)


def squeeze(call: Call) -> tuple[Shape, ...]:
    """SQUEEZE: dimensions of 1 fall away, all of them when none is named."""
    shape = call.shape()
    listed = call.operator.options.get("squeeze_dims")
    dimensions = [int(value) for value in listed] if isinstance(listed, tuple) else []
    axes = call.axes(dimensions, len(shape)) or {axis for axis, size in enumerate(shape) if size == 1}
    for axis in axes:
        call.same(shape[axis], 1, "it removes a dimension that is not 1")
    return (tuple(size for axis, size in enumerate(shape) if axis not in axes),)


def expand_dims(call: Call) -> tuple[Shape, ...]:
    """EXPAND_DIMS: a dimension of 1 more."""
    shape = list(call.shape())
    shape.insert(call.axis(call.constant(1)[0], len(shape) + 1), 1)
    return (tuple(shape),)


def transpose(call: Call) -> tuple[Shape, ...]:
    """TRANSPOSE: the dimensions in another order."""
    shape, order = call.shape(), call.constant(1)
    if sorted(order) != list(range(len(shape))):
        raise call.refused(f"its order {list(order)} does not name each of {len(shape)} dimensions once")
    return (tuple(shape[axis] for axis in order),)


def concatenation(call: Call) -> tuple[Shape, ...]:
    """CONCATENATION: one behind the other along one dimension."""
    first, *others = call.shapes
    axis = call.axis(call.operator.option("axis"), len(first))
    for other in others:
        if len(other) != len(first) or _without(other, axis) != _without(first, axis):
            raise call.refused(f"its inputs' shapes {[list(shape) for shape in call.shapes]} do not match")
    return ((*first[:axis], sum(shape[axis] for shape in call.shapes), *first[axis + 1 :]),)


def _without(shape: Shape, axis: int) -> Shape:
    return shape[:axis] + shape[axis + 1 :]


def pad(call: Call) -> tuple[Shape, ...]:
    """PAD, PADV2, MIRROR_PAD: more before and behind each dimension."""
    shape, paddings = call.shape(), call.constant(1)
    call.same(len(paddings), 2 * len(shape), "it pads another number of dimensions")
    return (tuple(size + paddings[2 * axis] + paddings[2 * axis + 1] for axis, size in enumerate(shape)),)


def reduce(call: Call) -> tuple[Shape, ...]:
    """MEAN, SUM, …: dimensions fall away, or become 1."""
    shape = call.shape()
    axes = call.axes(call.constant(1), len(shape))
    if call.operator.option("keep_dims"):
        return (tuple(1 if axis in axes else size for axis, size in enumerate(shape)),)
    return (tuple(size for axis, size in enumerate(shape) if axis not in axes),)


def arg(call: Call) -> tuple[Shape, ...]:
    """ARG_MAX, ARG_MIN: one dimension falls away."""
    shape = call.shape()
    return (_without(shape, call.axis(call.constant(1)[0], len(shape))),)


def slice_of(call: Call) -> tuple[Shape, ...]:
    """SLICE: a part along each dimension."""
    shape, begins, sizes = call.shape(), call.constant(1), call.constant(2)
    result = []
    for axis, (size, begin, wanted) in enumerate(zip(shape, begins, sizes, strict=True)):
        taken = size - begin if wanted == -1 else wanted
        if not 0 <= begin <= begin + taken <= size:
            raise call.refused(f"it takes {begin} to {begin + taken} of {size} along dimension {axis}")
        result.append(taken)
    return (tuple(result),)


def strided_slice(call: Call) -> tuple[Shape, ...]:
    """STRIDED_SLICE: as slices in Python."""
    option = call.operator.option
    if option("ellipsis_mask") or option("new_axis_mask"):
        raise call.refused("its ellipsis or new-axis mask has no shape rule here")
    begins, ends, strides = call.constant(1), call.constant(2), call.constant(3)
    result = []
    for axis, size in enumerate(call.shape()):
        bit = 1 << axis
        if axis >= len(begins):
            result.append(size)
        elif not option("shrink_axis_mask") & bit:
            begin = None if option("begin_mask") & bit else begins[axis]
            end = None if option("end_mask") & bit else ends[axis] + (begins[axis] if option("offset") else 0)
            result.append(len(range(*slice(begin, end, strides[axis] or 1).indices(size))))
    return (tuple(result),)


def split(call: Call) -> tuple[Shape, ...]:
    """SPLIT: equal parts along one dimension."""
    shape, count = call.shape(1), len(call.operator.outputs)
    axis = call.axis(call.constant(0)[0], len(shape))
    if shape[axis] % count:
        raise call.refused(f"it splits {shape[axis]} into {count} equal parts")
    return ((*shape[:axis], shape[axis] // count, *shape[axis + 1 :]),) * count


def split_v(call: Call) -> tuple[Shape, ...]:
    """SPLIT_V: parts of given sizes, one of which may be the rest (-1)."""
    shape, sizes = call.shape(0), call.constant(1)
    axis = call.axis(call.constant(2)[0], len(shape))
    known = sum(size for size in sizes if size >= 0)
    filled = [shape[axis] - known if size < 0 else size for size in sizes]
    call.same(sum(filled), shape[axis], "its parts do not add up")
    return tuple((*shape[:axis], size, *shape[axis + 1 :]) for size in filled)


def pack(call: Call) -> tuple[Shape, ...]:
    """PACK: side by side along a new dimension."""
    shape = list(call.shape())
    if any(other != tuple(shape) for other in call.shapes):
        raise call.refused(f"its inputs' shapes {[list(other) for other in call.shapes]} do not match")
    shape.insert(call.axis(call.operator.option("axis"), len(shape) + 1), len(call.operator.inputs))
    return (tuple(shape),)


def unpack(call: Call) -> tuple[Shape, ...]:
    """UNPACK: one dimension falls away, with an output for each of its elements."""
    shape, count = call.shape(), len(call.operator.outputs)
    axis = call.axis(call.operator.option("axis"), len(shape))
    call.same(shape[axis], count, "it has another number of outputs")
    return (_without(shape, axis),) * count


def gather(call: Call) -> tuple[Shape, ...]:
    """GATHER: picks along one dimension."""
    shape, positions = call.shape(0), call.shape(1)
    axis = call.axis(call.operator.option("axis"), len(shape))
    return ((*shape[:axis], *positions[call.operator.option("batch_dims") :], *shape[axis + 1 :]),)


def gather_nd(call: Call) -> tuple[Shape, ...]:
    """GATHER_ND: picks by coordinates."""
    shape, positions = call.shape(0), call.shape(1)
    return ((*positions[:-1], *shape[positions[-1] :]),)


def resize(call: Call) -> tuple[Shape, ...]:
    """RESIZE_*: height and width are a constant."""
    batch, _, _, channels = call.shape(0, 4)
    height, width = call.constant(1)
    return ((batch, height, width, channels),)


def depth_to_space(call: Call) -> tuple[Shape, ...]:
    """DEPTH_TO_SPACE: channels become blocks of pixels."""
    batch, height, width, channels = call.shape(0, 4)
    block = call.operator.option("block_size")
    return ((batch, height * block, width * block, channels // block**2),)


def space_to_depth(call: Call) -> tuple[Shape, ...]:
    """SPACE_TO_DEPTH: blocks of pixels become channels."""
    batch, height, width, channels = call.shape(0, 4)
    block = call.operator.option("block_size")
    return ((batch, height // block, width // block, channels * block**2),)


def space_to_batch(call: Call) -> tuple[Shape, ...]:
    """SPACE_TO_BATCH_ND: blocks become batches."""
    batch, *rest = call.shape()
    blocks, paddings = call.constant(1), call.constant(2)
    padded = [size + paddings[2 * axis] + paddings[2 * axis + 1] for axis, size in enumerate(rest[: len(blocks)])]
    sizes = [_divided(call, size, block) for size, block in zip(padded, blocks, strict=True)]
    return ((batch * math.prod(blocks), *sizes, *rest[len(blocks) :]),)


def batch_to_space(call: Call) -> tuple[Shape, ...]:
    """BATCH_TO_SPACE_ND: batches become blocks."""
    batch, *rest = call.shape()
    blocks, crops = call.constant(1), call.constant(2)
    sizes = [
        size * block - crops[2 * axis] - crops[2 * axis + 1]
        for axis, (size, block) in enumerate(zip(rest[: len(blocks)], blocks, strict=True))
    ]
    return ((_divided(call, batch, math.prod(blocks)), *sizes, *rest[len(blocks) :]),)


def _divided(call: Call, size: int, by: int) -> int:
    if by <= 0 or size % by:
        raise call.refused(f"{size} is no multiple of its block of {by}")
    return size // by


def embedding(call: Call) -> tuple[Shape, ...]:
    """EMBEDDING_LOOKUP: rows of a table."""
    return ((*call.shape(0), *call.shape(1)[1:]),)
