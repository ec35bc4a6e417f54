"""What headers make of TF_LITE_STATIC_MEMORY: most ask for it, some packages of TFLM have an answer of their own."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from harness.domain.firmware import STATIC_MEMORY
from harness.errors import SourceError

# The structure of a tensor is in the first of these that has it.
_COMMON = ("tensorflow/lite/core/c/common.h", "tensorflow/lite/c/common.h")
_KERNEL_UTIL = "tensorflow/lite/kernels/kernel_util.h"
HEADERS = (*_COMMON, _KERNEL_UTIL)
"""Those that the answer is in."""

ARDUINO = "ARDUINO"
_TENSOR = re.compile(r"\bstruct\s+TfLiteTensor\s*\{")
_ASKS = re.compile(rf"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b[^\n]*\b{STATIC_MEMORY}\b", re.MULTILINE)
_ASKS_ARDUINO = re.compile(rf"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b[^\n]*\b{ARDUINO}\b", re.MULTILINE)
_NEVER = re.compile(r"^[ \t]*#[ \t]*if[ \t]+0\b", re.MULTILINE)


def forced_defines(texts: Mapping[str, str]) -> Mapping[str, None]:
    """The define that headers act as if they had it, such as those of tflm_esp32 2.0.0: the others are under `#if 0`.

    Args:
        texts: of HEADERS, those that are there, without comments.
    """
    common = next((texts[name] for name in _COMMON if _TENSOR.search(texts.get(name, ""))), "")
    is_forced = _NEVER.search(common) is not None and _ASKS.search(common) is None
    return {STATIC_MEMORY: None} if is_forced else {}


def asks_for_arduino(texts: Mapping[str, str]) -> bool:
    """Whether kernels go by the Arduino IDE's define where TFLM's own go by static memory.

    Args:
        texts: as above.
    """
    util = texts.get(_KERNEL_UTIL, "")
    return _ASKS_ARDUINO.search(util) is not None and _ASKS.search(util) is None


def refuse_half_static(asks_arduino: bool, defines: Collection[str], where: str) -> None:
    """Refuse defines by which structures have static memory and kernels have not.

    Raises:
        SourceError: they are such.
    """
    if asks_arduino and STATIC_MEMORY in defines and ARDUINO not in defines:
        raise SourceError(
            f"these headers know static memory only when {ARDUINO} is defined, too",
            where=where,
            measured=f"{STATIC_MEMORY} without {ARDUINO}",
            expected=f"{_KERNEL_UTIL} asks for {ARDUINO}, as in pico-tflmicro and Arduino libraries",
            hint=f'add "{ARDUINO}" to `defines`, or leave {STATIC_MEMORY} out if the library was built without it',
        )
