#include "app/model_image.h"

#include <cstddef>
#include <cstring>

#include "app/build_info.h"
#include "app/crc32.h"

namespace harness {
namespace {

constexpr char kMagic[] = "HARNMODL";
constexpr uint32_t kHeaderVersion = 1;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t model_size;
  uint32_t model_crc32;
  uint32_t reserved;
  uint8_t sha256[kSha256Bytes];
  char build_id[kBuildIdDigits];
  uint8_t zero[52];
  uint32_t header_crc32;  // of all bytes before it
};
static_assert(sizeof(Header) == 128, "the model follows at a multiple of 16");

}  // namespace

ModelImage ReadModelImage(const platform::Region& region, const char* build_id) {
  ModelImage image{ModelState::kMissing, nullptr, 0, nullptr};
  const auto* header = reinterpret_cast<const Header*>(region.start);
  if (region.size < sizeof(Header) || memcmp(header->magic, kMagic, sizeof header->magic) != 0) {
    return image;
  }
  image.state = ModelState::kBadHeader;
  if (header->version != kHeaderVersion || header->model_size > region.size - sizeof(Header) ||
      header->header_crc32 != Crc32(0, header, offsetof(Header, header_crc32))) {
    return image;
  }
  image.data = region.start + sizeof(Header);
  image.size = header->model_size;
  image.sha256 = header->sha256;
  if (memcmp(header->build_id, build_id, kBuildIdDigits) != 0) {
    image.state = ModelState::kOtherBuild;
  } else if (header->model_crc32 != Crc32(0, image.data, image.size)) {
    image.state = ModelState::kBadCrc;
  } else {
    image.state = ModelState::kOk;
  }
  return image;
}

const char* ModelStateName(ModelState state) {
  switch (state) {
    case ModelState::kOk:
      return "ok";
    case ModelState::kMissing:
      return "missing";
    case ModelState::kBadHeader:
      return "bad_header";
    case ModelState::kBadCrc:
      return "bad_crc";
    case ModelState::kOtherBuild:
      return "other_build";
    case ModelState::kBadSchema:
      return "bad_schema";
  }
  return "unknown";
}

}  // namespace harness
