#include "ports/esp32/flash_map.h"

#include <cstdint>
#include <cstring>

#include "app/build_info.h"
#include "app/fault.h"
#include "app/platform.h"
#include "ports/common/linker_symbols.h"
#include "ports/esp32/registers.h"

extern "C" {
// Offsets in flash, and sizes in bytes.
extern const uint8_t _mapped_flash_offset[];
extern const uint8_t _mapped_flash_size[];
extern const uint8_t _model_flash_offset[];
// Addresses of the core.
extern const uint8_t _mapped_data_start[];
extern const uint8_t _mapped_code_window[];
extern const uint32_t _mapped_code_start[];
extern const uint32_t _mapped_code_end[];
}

namespace esp32 {
namespace {

using ports::NumberOf;

// DPORT_PRO_CACHE_CTRL_REG, DPORT_PRO_CACHE_CTRL1_REG and DPORT_PRO_DCACHE_DBUG0_REG.
constexpr uint32_t kEnable = Bit(3);
constexpr uint32_t kFlush = Bit(4);
constexpr uint32_t kFlushDone = Bit(5);
constexpr uint32_t kMaskCodeWindow = Bit(0);
constexpr uint32_t kMaskDataWindow = Bit(4);
constexpr uint32_t kStateMask = 0xFFF << 7;
constexpr uint32_t kStateIdle = 1 << 7;

// Where the table has the pages of 0x3F400000..0x3F7FFFFF, and those of 0x40000000..0x403FFFFF (ESP-IDF: mmu_ll.h).
constexpr uint32_t kPageBytes = 0x10000;
constexpr uint32_t kWindowBytes = 0x400000;
constexpr uint32_t kFirstDataEntry = 0;
constexpr uint32_t kFirstCodeEntry = 64;
constexpr uint32_t kEntries = 128;
constexpr uint32_t kInvalid = 0x100;

// Far more than a flush takes.
constexpr uint32_t kPatience = 1000000;

constexpr uint32_t kComparedWords = 16;

bool BecomesEqual(const Register& target, uint32_t mask, uint32_t value) {
  for (uint32_t polls = 0; polls < kPatience; ++polls) {
    if ((target & mask) == value) {
      return true;
    }
  }
  return false;
}

Register Entry(uint32_t number) { return Register(kFlashMmuTable + 4 * number); }

bool SwitchOff() {
  if ((pro_cache_ctrl & kEnable) != 0 && !BecomesEqual(pro_dcache_dbug0, kStateMask, kStateIdle)) {
    return false;
  }
  pro_cache_ctrl = pro_cache_ctrl & ~kEnable;
  return true;
}

// A cache that is switched on again without it shows what it held before.
bool Flush() {
  pro_cache_ctrl = pro_cache_ctrl & ~kFlush;
  pro_cache_ctrl |= kFlush;
  const bool done = BecomesEqual(pro_cache_ctrl, kFlushDone, kFlushDone);
  pro_cache_ctrl = pro_cache_ctrl & ~kFlush;
  return done;
}

// Has the entries of a window, from that of `address` on, show a stretch of flash; false when they do not keep it.
bool Map(uint32_t first_entry, const void* address, uint32_t flash_offset, uint32_t size) {
  const uint32_t entry = first_entry + reinterpret_cast<uintptr_t>(address) % kWindowBytes / kPageBytes;
  bool kept = true;
  for (uint32_t page = 0; page * kPageBytes < size; ++page) {
    const uint32_t value = flash_offset / kPageBytes + page;
    Entry(entry + page) = value;
    kept = kept && Entry(entry + page) == value;
  }
  return kept;
}

bool FillTable() {
  for (uint32_t number = 0; number < kEntries; ++number) {
    Entry(number) = kInvalid;
  }
  const uint32_t mapped = NumberOf(_mapped_flash_offset);
  const uint32_t size = NumberOf(_mapped_flash_size);
  const platform::Region model = platform::ModelFlash();
  return Map(kFirstDataEntry, model.start, NumberOf(_model_flash_offset), model.size) &&
         Map(kFirstDataEntry, _mapped_data_start, mapped, size) &&
         Map(kFirstCodeEntry, _mapped_code_window, mapped, size);
}

bool SwitchOn() {
  pro_cache_ctrl |= kEnable;
  asm volatile("memw" ::: "memory");
  return (pro_cache_ctrl & kEnable) != 0;
}

// What cannot be done, as a sentence; null when all was.
const char* Prepare() {
  if (!SwitchOff()) {
    return "the flash cache does not come to rest";
  }
  if (!Flush()) {
    return "the flash cache is never flushed";
  }
  if (!FillTable()) {
    return "the flash MMU does not keep its table";
  }
  pro_cache_ctrl1 = pro_cache_ctrl1 & ~(kMaskCodeWindow | kMaskDataWindow);
  if ((pro_cache_ctrl1 & (kMaskCodeWindow | kMaskDataWindow)) != 0) {
    return "a window of the flash cache stays masked";
  }
  return SwitchOn() ? nullptr : "the flash cache cannot be switched on";
}

// Both windows show the same flash, so that the first words of each page of code are known from the data's side.
const void* FirstWrongCode() {
  const uint32_t to_data = NumberOf(_mapped_data_start) - NumberOf(_mapped_code_window);
  for (const uint32_t* page = _mapped_code_start; page < _mapped_code_end; page += kPageBytes / sizeof(uint32_t)) {
    for (const uint32_t* word = page; word < page + kComparedWords && word < _mapped_code_end; ++word) {
      const volatile uint32_t& seen = *word;
      if (seen != *reinterpret_cast<const volatile uint32_t*>(reinterpret_cast<uintptr_t>(word) + to_data)) {
        return word;
      }
    }
  }
  return nullptr;
}

// Where the mapped firmware is not the one that this code in RAM belongs to; null when all is well.
const void* FirstWrongByte() {
  const uint8_t* build_id = _mapped_data_start + harness::kInfoBuildIdOffset;
  return memcmp(build_id, harness::kBuildId, harness::kBuildIdDigits) != 0 ? build_id : FirstWrongCode();
}

[[noreturn]] void Report(const char* trouble, const void* address) {
  harness::Fault fault{"flash_mapping"};
  fault.text = trouble;
  const harness::FaultRegister where{"excvaddr", static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address))};
  fault.registers = &where;
  fault.register_count = address == nullptr ? 0 : 1;
  harness::SendFault(fault);
  platform::Halt();
}

}  // namespace

// The order is that of ESP-IDF's bootloader_utility.c, set_cache_and_start_app(). SPI0, by which the cache reads, stays
// as the ROM has set it up from the image's header.
void MapFlash() {
  if (const char* trouble = Prepare()) {
    Report(trouble, nullptr);
  }
  if (const void* wrong = FirstWrongByte()) {
    Report("mapped flash shows other bytes than were flashed", wrong);
  }
}

}  // namespace esp32
