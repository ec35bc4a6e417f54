"""Models as people have them: as C arrays, in zip archives, under other names."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from harness.errors import ModelError
from harness.estimate import read_model
from harness.estimate.reading import model_file
from tests.support.models import chain

MODEL = chain("RELU").build()
OTHER = chain("TANH").build()


def xxd(data: bytes, name: str = "model_tflite", length: int | None = None) -> str:
    """What `xxd -i` prints."""
    lines = (data[start : start + 12] for start in range(0, len(data), 12))
    body = ",\n".join("  " + ", ".join(f"0x{byte:02x}" for byte in line) for line in lines)
    size = len(data) if length is None else length
    return f"unsigned char {name}[] = {{\n{body}\n}};\nunsigned int {name}_len = {size};\n"


def tflm(data: bytes) -> str:
    """What TFLM's generate_cc_arrays.py writes."""
    body = ",".join(hex(byte) for byte in data)
    return (
        '#include <cstdint>\n#include "model.h"\n\n'
        f"alignas(16) const unsigned char g_kws_model_data[] = {{{body}}};\n"
        f"const unsigned int g_kws_model_data_size = {len(data)};\n"
    )


def sketch(data: bytes) -> str:
    """An Arduino sketch: macros, comments, other arrays, decimal numbers."""
    body = ", ".join(str(byte) for byte in data)
    return (
        "// converted with xxd: unsigned char old[] = { 0x00 };\n"
        "#ifdef __has_attribute\n#define ALIGNED __attribute__((aligned(4)))\n#else\n#define ALIGNED\n#endif\n"
        'const char* const labels[] = {"yes", "no"};\n'
        "static const int16_t sample[4] = {1, 2, 3, 4000};\n"
        f"const unsigned char g_model[{len(data)}] ALIGNED = {{ /* the model */ {body}, }};\n"
        f"const int g_model_len = {len(data)};\nvoid setup() {{ int x[2] = {{1, 2}}; }}\n"
    )


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("make", [xxd, tflm, sketch])
@pytest.mark.parametrize("name", ["model.cc", "model.h", "model.ino"])
def test_a_c_array_is_read_as_a_model(make, name: str, tmp_path: Path) -> None:
    model = read_model(write(tmp_path, name, make(MODEL)))
    assert (model.name, model.data) == (name, MODEL)
    assert model.sha256 == read_model(write(tmp_path, "model.tflite", MODEL)).sha256


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_it_may_be_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    text = "// modèle\n" + xxd(MODEL)
    assert read_model(write(tmp_path, "model.h", text.encode(encoding))).data == MODEL


def error(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        read_model(path)
    return str(caught.value)


def test_its_length_is_checked(tmp_path: Path) -> None:
    message = error(write(tmp_path, "m.cc", xxd(MODEL, length=len(MODEL) + 1)))
    assert "array model_tflite" in message
    assert f"found {len(MODEL):,} bytes, expected {len(MODEL) + 1:,} bytes" in message
    assert "length" in error(write(tmp_path, "m.cc", sketch(MODEL).replace("g_model[", "g_model[1")))


def test_an_array_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    assert "has no end" in error(write(tmp_path, "m.cc", xxd(MODEL)[:900]))


def test_several_arrays_are_refused_by_name(tmp_path: Path) -> None:
    message = error(write(tmp_path, "m.cc", xxd(MODEL, "one") + xxd(OTHER, "two")))
    assert "several models" in message
    assert "one, two" in message


def test_a_header_that_only_declares_points_to_the_source(tmp_path: Path) -> None:
    text = "extern const unsigned char g_model[];\nextern const int g_model_len;\n"
    assert "hint: name the .cc" in error(write(tmp_path, "model.h", text))


@pytest.mark.parametrize("text", [xxd(b"x" * 100), "int a[] = {};", "a[", "no arrays", "x[3] = {1, 2, 300};"])
def test_other_sources_are_no_models(text: str, tmp_path: Path) -> None:
    assert "this is no TensorFlow Lite model" in error(write(tmp_path, "m.cc", text))


@pytest.mark.parametrize("piece", ["a[", "/*", "x[]={", "extern a[", "w", "a[1] b[1] ", "//"])
def test_hostile_text_takes_one_pass(piece: str, tmp_path: Path) -> None:
    assert error(write(tmp_path, "m.cc", "[" + piece * (2_000_000 // len(piece))))


def archive(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("folder/", b"")
        for name, data in members.items():
            file.writestr(name.replace("__", "."), data)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["kws.zip", "kws.mltk.zip", "kws.tflite"])
def test_an_archive_with_one_model_is_read_as_it(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, name, archive(readme__txt=b"hello", kws__tflite=MODEL, kws__h5=b"\x89HDF"))
    assert read_model(path).data == MODEL


def test_an_archive_with_a_c_array_is_read(tmp_path: Path) -> None:
    header = b"extern const unsigned char model_tflite[];"
    assert read_model(write(tmp_path, "a.zip", archive(model__cc=xxd(MODEL).encode(), model__h=header))).data == MODEL


def test_an_archive_with_several_models_names_them(tmp_path: Path) -> None:
    message = error(write(tmp_path, "a.zip", archive(one__tflite=MODEL, two__tflite=OTHER)))
    assert "found one.tflite, two.tflite, expected one" in message


def test_archives_without_a_model_or_damaged_are_refused(tmp_path: Path) -> None:
    whole = archive(config__json=b"{}", model__weights__h5=b"\x89HDF")
    assert "zip archive with no TensorFlow Lite model" in error(write(tmp_path, "a.keras", whole))
    assert "cannot be read" in error(write(tmp_path, "a.zip", whole[:40]))
    damaged = bytearray(archive(kws__tflite=MODEL))
    damaged[120:140] = b"\xff" * 20
    assert "cannot be read" in error(write(tmp_path, "a.zip", bytes(damaged)))


def test_what_unfolds_too_far_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "MAX_BYTES", 5000)
    assert "too large" in error(write(tmp_path, "a.zip", archive(kws__tflite=MODEL + bytes(100_000))))


def test_any_name_will_do_for_a_model(tmp_path: Path) -> None:
    assert read_model(write(tmp_path, "model.bin", MODEL)).data == MODEL
