"""Adding a metadata entry to a model without touching anything else in it.

A flatbuffer's offsets lead forward only, relative to where they stand. So a new root, written in front of the whole old
file, can take over the old one's parts as they are: weights, names, and even fields that are unknown here stay in
place, bit for bit and as aligned as before.
"""

from __future__ import annotations

from typing import Final

from harness.errors import ModelError
from harness.estimate.reading.containers import IDENTIFIER
from harness.estimate.reading.flatbuffer import UINT32, FlatBuffer, Table
from harness.estimate.reading.model_file import ModelFile

_ALIGNMENT: Final = 16
"""Of constant data (force_align in tensorflow/compiler/mlir/lite/schema/schema.fbs)."""

# Fields of the schema's Model.
_VERSION: Final = 4
_OPERATOR_CODES: Final = 6
_SUBGRAPHS: Final = 8
_DESCRIPTION: Final = 10
_BUFFERS: Final = 12
_METADATA_BUFFER: Final = 14
_METADATA: Final = 16
_SIGNATURE_DEFS: Final = 18
_KEPT: Final = (_OPERATOR_CODES, _SUBGRAPHS, _DESCRIPTION, _METADATA_BUFFER, _SIGNATURE_DEFS)


def with_metadata(model: ModelFile, name: str, data: bytes) -> bytes:
    """The file of a model with one metadata entry more; one of the same name is replaced.

    Raises:
        ModelError: the file is damaged, or its outermost table has fields that are unknown here.
    """
    root = FlatBuffer(model.data, model.name).root()
    unknown = [field for field in root.fields if field > _SIGNATURE_DEFS]
    if unknown:
        raise ModelError("the model's schema is newer than what can be copied", where=model.name, measured=unknown)
    return _Copy(model.data, root).with_metadata(name, data)


class _Copy:
    """Builds the new file from its end to its start, as flatbuffers are built."""

    def __init__(self, old: bytes, root: Table) -> None:
        import flatbuffers  # noqa: PLC0415 - takes long (numpy), and only writing needs it

        self._root = root
        self._builder = flatbuffers.Builder(len(old) + 4096)
        # What the builder calls an offset is the distance from the end of the file.
        self._old_start = self._bytes(old) - UINT32.size

    def with_metadata(self, name: str, data: bytes) -> bytes:
        """The finished file."""
        import tflite  # noqa: PLC0415 - takes long (numpy), and only writing needs it

        builder, root = self._builder, self._root
        content = self._bytes(data)
        tflite.BufferStart(builder)
        tflite.BufferAddData(builder, content)
        old_buffers = [self._moved(table.position) for table in root.tables(_BUFFERS)]
        buffers = self._tables([*old_buffers, tflite.BufferEnd(builder)])
        label = builder.CreateString(name)
        tflite.MetadataStart(builder)
        tflite.MetadataAddName(builder, label)
        tflite.MetadataAddBuffer(builder, len(old_buffers))
        others = [self._moved(table.position) for table in root.tables(_METADATA) if table.text(4) != name]
        metadata = self._tables([*others, tflite.MetadataEnd(builder)])
        tflite.ModelStart(builder)
        tflite.ModelAddVersion(builder, root.integer(_VERSION, UINT32))
        for field in _KEPT:
            position = root.target(field)
            if position is not None:
                builder.PrependUOffsetTRelativeSlot((field - _VERSION) // 2, self._moved(position), 0)
        tflite.ModelAddBuffers(builder, buffers)
        tflite.ModelAddMetadata(builder, metadata)
        builder.Finish(tflite.ModelEnd(builder), file_identifier=IDENTIFIER)
        return bytes(builder.Output())

    def _moved(self, position: int) -> int:
        """What lay at `position` of the old file, as an offset of the new one."""
        return self._old_start - position

    def _bytes(self, data: bytes) -> int:
        """Write bytes, aligned as constant data."""
        self._builder.Prep(_ALIGNMENT, len(data))
        offset: int = self._builder.CreateByteVector(data)
        return offset

    def _tables(self, offsets: list[int]) -> int:
        """Write a vector of tables."""
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        vector: int = self._builder.EndVector()
        return vector
