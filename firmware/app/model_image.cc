#include "app/model_image.h"

#include <cstddef>
#include <cstring>

#include "app/build_info.h"
#include "app/crc32.h"
#include "tflm/tflm.h"

namespace harness {
namespace {

constexpr char kMagic[] = "HARNMODL";
constexpr uint32_t kHeaderVersion = 1;
constexpr uint32_t kImageAlignment = 16;

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

struct ModelImages {
  ModelImage images[tflm::kMaxModels];
  uint32_t count = 0;
};

ModelImages found;

bool HeaderIsSound(const Header& header, uint32_t region_size) {
  return header.version == kHeaderVersion && header.model_size <= region_size - sizeof(Header) &&
         header.header_crc32 == Crc32(0, &header, offsetof(Header, header_crc32));
}

ModelState CheckModel(const Header& header, const uint8_t* data) {
  if (memcmp(header.build_id, kBuildId, kBuildIdDigits) != 0) {
    return ModelState::kOtherBuild;
  }
  if (header.model_crc32 != Crc32(0, data, header.model_size)) {
    return ModelState::kBadCrc;
  }
  return tflm::SchemaIsSupported(data) ? ModelState::kOk : ModelState::kBadSchema;
}

ModelImage ReadModelImage(const platform::Region& region) {
  const auto* header = reinterpret_cast<const Header*>(region.start);
  if (region.size < sizeof(Header) || memcmp(header->magic, kMagic, sizeof header->magic) != 0) {
    return {ModelState::kMissing, nullptr, 0, nullptr};
  }
  if (!HeaderIsSound(*header, region.size)) {
    return {ModelState::kBadHeader, nullptr, 0, nullptr};
  }
  const uint8_t* data = region.start + sizeof(Header);
  return {CheckModel(*header, data), data, header->model_size, header->sha256};
}

// What is left of the region behind an image with a sound header.
platform::Region Behind(const ModelImage& image, const platform::Region& region) {
  const uint32_t size = sizeof(Header) + image.size;
  const uint32_t step = (size + kImageAlignment - 1) / kImageAlignment * kImageAlignment;
  return step < region.size ? platform::Region{region.start + step, region.size - step} : platform::Region{};
}

}  // namespace

void LoadModelImages() {
  platform::Region region = platform::ModelFlash();
  ModelImage image = ReadModelImage(region);
  found.images[found.count++] = image;
  while (image.data != nullptr && found.count < tflm::kMaxModels) {
    region = Behind(image, region);
    image = ReadModelImage(region);
    if (image.state != ModelState::kMissing) {
      found.images[found.count++] = image;
    }
  }
}

uint32_t ModelImageCount() { return found.count; }

const ModelImage& ModelImageAt(uint32_t number) { return found.images[number]; }

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
