#include "ports/common/static_data.h"

#include <cstddef>
#include <cstring>

#include "ports/common/linker_symbols.h"

void ports::InitialiseStaticData() {
  ZeroStaticData();
  ConstructStaticObjects();
}

void ports::ZeroStaticData() { memset(_bss_start, 0, static_cast<size_t>(_bss_end - _bss_start)); }

void ports::ConstructStaticObjects() {
  for (void (*const* initialiser)() = _init_array_start; initialiser < _init_array_end; ++initialiser) {
    (*initialiser)();
  }
}
