// The flash cache of the PRO CPU: what the firmware sees of the flash at 0x3F400000 (data) and 0x400D0000 (code).
//
// Runs below the firmware, as shim.s, which calls it for each store to a register of cache or MMU. Bits and their
// addresses: ESP32 Technical Reference Manual, "DPort Registers"; the order in which they have to be written: ESP-IDF's
// bootloader_utility.c.

typedef unsigned int word;

// How this code reaches what the firmware has at `address`, and what the data side sees of its code.
#define AT(address) (*(volatile word*)((address) + 0x60000000u))
#define DATA_VIEW_OF(address) ((address) + 0x0E000000u)

#define CTRL 0x3FF00040
#define ENABLE (1 << 3)
#define FLUSH (1 << 4)
#define FLUSHED (1 << 5)
#define CTRL1 0x3FF00044
#define MASK_IRAM0 (1 << 0)
#define MASK_DROM0 (1 << 4)

// The MMU's table: a page of flash for each page of the two windows. What has INVALID set shows nothing.
#define TABLE 0x3FF10000
#define INVALID 0x100
#define DATA_PAGES 64
#define FIRST_CODE_PAGE 77
#define END_OF_CODE_PAGES 128
#define PAGE_BYTES 0x10000

#define DATA_WINDOW 0x3F400000
#define CODE_WINDOW 0x40000000  // of entry 64

// Where guest.py puts a copy of the flash, and one page of what silicon may show in place of flash.
#define FLASH_COPY 0x30000000
#define JUNK 0x2FFFF000
#define JUNK_WORD 0xBAD0BAD0

#define PAGE_TABLE 0x4FC00000
#define SMALL_PAGE_BYTES 0x1000
#define READ_ONLY 0
#define TLB_WAYS 4

// What the host may have broken: `CacheFault` in flash_cache.py.
#define DROM_MASKED 1
#define NEVER_ENABLED 2
#define NEVER_FLUSHED 4
#define PAGE_OFF 8

extern const word cache_faults, flash_page_mask;

static word translated[END_OF_CODE_PAGES];  // the table as the cache uses it
static word shown[END_OF_CODE_PAGES];       // what each page shows: a page of flash plus 1; 0 for none
static word flushed;                        // since the cache was switched off

static void forget_translations(void) {
  for (word way = 0; way < TLB_WAYS; way++) {
    for (word page = 0; page < 4; page++) {
      __asm__ volatile("idtlb %0" ::"r"(page * SMALL_PAGE_BYTES + way));
    }
  }
  __asm__ volatile("dsync");
}

static void show_data(word entry, word page) {
  word first = (DATA_WINDOW + entry * PAGE_BYTES) / SMALL_PAGE_BYTES;
  for (word i = 0; i < PAGE_BYTES / SMALL_PAGE_BYTES; i++) {
    word target = page ? FLASH_COPY + (page - 1) * PAGE_BYTES + i * SMALL_PAGE_BYTES : JUNK;
    AT(PAGE_TABLE + (first + i) * sizeof(word)) = target | READ_ONLY;
  }
}

// Instructions come from a copy: the page table is the data side's alone. No page is a page of zeros, which are no
// instruction.
static void show_code(word entry, word page) {
  word start = CODE_WINDOW + (entry - DATA_PAGES) * PAGE_BYTES;
  for (word offset = 0; offset < PAGE_BYTES; offset += sizeof(word)) {
    word value = page ? AT(FLASH_COPY + (page - 1) * PAGE_BYTES + offset) : 0;
    AT(start + offset) = AT(DATA_VIEW_OF(start + offset)) = value;
  }
}

static void show(word entry, word bus_mask) {
  word enabled = (AT(CTRL) & ENABLE) && !(AT(CTRL1) & bus_mask);
  word page = enabled && !(translated[entry] & INVALID) ? (translated[entry] & flash_page_mask) + 1 : 0;
  if (page == shown[entry]) return;
  shown[entry] = page;
  if (entry < DATA_PAGES) {
    show_data(entry, page);
  } else {
    show_code(entry, page);
  }
}

static void show_all(void) {
  for (word entry = 0; entry < DATA_PAGES; entry++) show(entry, MASK_DROM0);
  for (word entry = FIRST_CODE_PAGE; entry < END_OF_CODE_PAGES; entry++) show(entry, MASK_IRAM0);
  forget_translations();
}

// A cache that comes on again shows what it showed before, unless it was flushed meanwhile.
static void take_table(void) {
  for (word entry = 0; entry < END_OF_CODE_PAGES; entry++) {
    word page = AT(TABLE + entry * sizeof(word));
    translated[entry] = cache_faults & PAGE_OFF && !(page & INVALID) ? page + 1 : page;
  }
}

static word control(word before, word value) {
  word flush_begins = value & ~before & FLUSH;
  value = (value & ~FLUSHED) | (flush_begins ? 0 : before & FLUSHED);
  if (flush_begins && !(cache_faults & NEVER_FLUSHED)) {
    value |= FLUSHED;
    flushed = 1;
  }
  if (cache_faults & NEVER_ENABLED) value &= ~ENABLE;
  if (value & ENABLE) {  // it comes on, or has not been off
    if (flushed && !(before & ENABLE)) take_table();
    flushed = 0;
  }
  return value;
}

// The firmware stores `value` at `address`: a register of DPORT, or an entry of the table.
void cache_store(word address, word value) {
  if (address == CTRL) value = control(AT(CTRL), value);
  if (address == CTRL1 && cache_faults & DROM_MASKED) value |= MASK_DROM0;
  AT(address) = value;
  if (address == CTRL || address == CTRL1) show_all();
}

// As the ROM leaves it: the cache as guest.py says, and nothing shown.
void cache_start(void) {
  for (word offset = 0; offset < SMALL_PAGE_BYTES; offset += sizeof(word)) AT(JUNK + offset) = JUNK_WORD;
  for (word entry = 0; entry < DATA_PAGES; entry++) show_data(entry, 0);
  take_table();
  show_all();
}
