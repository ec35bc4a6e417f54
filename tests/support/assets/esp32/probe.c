// Does what the tests tell it to, one letter a command, on a bare ESP32 (call0 ABI).

typedef unsigned int word;

#define REGISTER(address) (*(volatile word *)(address))
#define UART_FIFO REGISTER(0x3FF40000)
#define UART_CLKDIV REGISTER(0x3FF40014)
#define UART_STATUS REGISTER(0x3FF4001C)
#define RTC_OPTIONS0 REGISTER(0x3FF48000)
#define RTC_RESET_STATE REGISTER(0x3FF48034)
#define EFUSE_MAC_LOW REGISTER(0x3FF5A004)
#define EFUSE_MAC_HIGH REGISTER(0x3FF5A008)
#define WATCHDOG_KEY 0x50D83AA1

// In code memory on purpose, in a page without code.
__attribute__((section(".codedata"), aligned(4096), used)) const unsigned char code_table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

static const char digits[] = "0123456789abcdef";
static word fault_cause, fault_pc, fault_address;

static void put(char c) {
  while (((UART_STATUS >> 16) & 0xFF) >= 120) {
  }
  UART_FIFO = (unsigned char)c;
}

static void put_text(const char *text) {
  while (*text) put(*text++);
}

static void put_word(const char *name, word value) {
  put_text(name);
  put('=');
  for (int shift = 28; shift >= 0; shift -= 4) put(digits[(value >> shift) & 15]);
  put_text("\r\n");
}

static unsigned char get(void) {
  while ((UART_STATUS & 0xFF) == 0) {
  }
  return (unsigned char)UART_FIFO;
}

static word get_number(void) {
  word value = 0;
  for (int i = 0; i < 4; i++) value |= (word)get() << (8 * i);
  return value;
}

#ifndef KEEP_WATCHDOGS
static void watchdog_off(word protect, word config) {
  REGISTER(protect) = WATCHDOG_KEY;
  REGISTER(config) = 0;
  REGISTER(protect) = 0;
}
#endif

static void echo(void) {
  for (word left = get_number(); left; left--) put((char)get());
}

static void flood(void) {
  word count = get_number();
  for (word i = 0; i < count; i++) put((char)i);
}

static void start_watchdog(void) {  // the main watchdog of timer group 1, half a second
  REGISTER(0x3FF60064) = WATCHDOG_KEY;
  REGISTER(0x3FF6004C) = 40000u << 16;
  REGISTER(0x3FF60050) = 1000;
  REGISTER(0x3FF60048) = 1u << 31 | 3u << 29;
  REGISTER(0x3FF60064) = 0;
}

static void feed_watchdog(void) {
  REGISTER(0x3FF60064) = WATCHDOG_KEY;
  REGISTER(0x3FF60060) = 1;
  REGISTER(0x3FF60064) = 0;
}

static void check_code_memory(void) {
  volatile const word *words = (volatile const word *)code_table;
  put_word("word", words[1]);
  put_word("byte", ((volatile const unsigned char *)code_table)[5]);
}

static void store(void) {
  word address = get_number();
  REGISTER(address) = get_number();
  put_text("stored\r\n");
}

static void obey(unsigned char command) {
  switch (command) {
    case 'e': echo(); break;
    case 'f': flood(); break;
    case 'r': RTC_OPTIONS0 = 1u << 31; break;
    case 'c': RTC_OPTIONS0 = 1u << 5; break;
    case 'w': start_watchdog(); break;
    case 'k': feed_watchdog(); break;
    case 'i': check_code_memory(); break;
    case 'n': put_word("null", *(volatile word *)0); break;
    case 's': *(volatile word *)0x20000000 = 1; break;
    case 'l': put_word("load", REGISTER(get_number())); break;
    case 'o': put_word("octet", *(volatile unsigned char *)get_number()); break;
    case 't': store(); break;
    case 'x': put_word("called", ((word (*)(void))get_number())()); break;
    case 'b': UART_CLKDIV = get_number(); break;
    case 'm': put_word("mac_low", EFUSE_MAC_LOW); put_word("mac_high", EFUSE_MAC_HIGH); break;
    default: put_text("?\r\n");
  }
}

void report_fault(void) {
  put_word("fault", fault_cause);
  put_word("pc", fault_pc);
  put_word("address", fault_address);
  for (;;) {
  }
}

extern word _bss_start[], _bss_end[];

void c_start(void) {
#ifndef KEEP_WATCHDOGS
  watchdog_off(0x3FF480A4, 0x3FF4808C);
  watchdog_off(0x3FF5F064, 0x3FF5F048);
#endif
  for (word *p = _bss_start; p < _bss_end; p++) *p = 0;
  put_word("reset", RTC_RESET_STATE & 0x3F);
  for (;;) obey(get());
}

__asm__(
    "  .section .vectors, \"ax\"\n"
    "  .align 1024\n"
    "vectors:\n"
    "  .org 0x300\n"
    "  j take_fault\n"
    "  .org 0x340\n"
    "  j take_fault\n"
    "  .org 0x3C0\n"
    "  j take_fault\n"
    "  .literal_position\n"
    "  .align 4\n"
    "take_fault:\n"
    "  rsr.exccause a3\n"  // before anything touches memory
    "  rsr.epc1 a4\n"
    "  rsr.excvaddr a5\n"
    "  movi a1, _stack_top\n"
    "  movi a2, fault_cause\n"
    "  s32i a3, a2, 0\n"
    "  movi a2, fault_pc\n"
    "  s32i a4, a2, 0\n"
    "  movi a2, fault_address\n"
    "  s32i a5, a2, 0\n"
    "  call0 report_fault\n"  // with PS.EXCM still set, as a careless handler would
    "  .global _start\n"
    "  .align 4\n"
    "_start:\n"
    "  movi a2, 0\n"
    "  wsr.intenable a2\n"
    "  movi a2, 0x2f\n"
    "  wsr.ps a2\n"
    "  rsync\n"
#ifndef NO_VECTORS
    "  movi a2, vectors\n"
    "  wsr.vecbase a2\n"
    "  rsync\n"
#endif
    "  movi a1, _stack_top\n"
    "  call0 c_start\n"
    "  .text\n");
