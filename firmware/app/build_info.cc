#include "app/build_info.h"

#include <cstddef>
#include <cstdint>

#include "app/wire.h"

// Where the port's linker script says that the image ends, counted from its start.
extern "C" const uint8_t _image_size[];

namespace harness {

const char kBuildId[kBuildIdDigits + 1] = HARNESS_BUILD_ID;
const char kBoardId[] = HARNESS_BOARD_ID;
const char kTflmGeneration[] = HARNESS_TFLM_GENERATION;

namespace {

// Lets the host recognise a firmware in flash. The linker script puts it near the image's start, or where what is read
// in place begins.
struct InfoBlock {
  char magic[8];
  uint32_t version;
  const uint8_t* image_size;
  char build_id[kBuildIdDigits];
  uint32_t protocol_version;
};

static_assert(offsetof(InfoBlock, build_id) == kInfoBuildIdOffset);

[[gnu::section(".harness_info"), gnu::used]] const InfoBlock kInfoBlock = {
    {'H', 'A', 'R', 'N', 'F', 'I', 'R', 'M'},
    1,
    _image_size,
    // The array has no room for a string literal's terminator.
    {HARNESS_BUILD_ID[0], HARNESS_BUILD_ID[1], HARNESS_BUILD_ID[2], HARNESS_BUILD_ID[3], HARNESS_BUILD_ID[4],
     HARNESS_BUILD_ID[5], HARNESS_BUILD_ID[6], HARNESS_BUILD_ID[7], HARNESS_BUILD_ID[8], HARNESS_BUILD_ID[9],
     HARNESS_BUILD_ID[10], HARNESS_BUILD_ID[11], HARNESS_BUILD_ID[12], HARNESS_BUILD_ID[13], HARNESS_BUILD_ID[14],
     HARNESS_BUILD_ID[15]},
    kProtocolVersion,
};

}  // namespace
}  // namespace harness
