// Virtual destructors refer to these, though nothing is ever deleted: there is no heap.
#include <cstddef>

void operator delete(void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}
