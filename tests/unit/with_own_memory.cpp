// SQLite's memory in these tests is fade-query's. AddressSanitizer's own takes three times as long.
#include "store/sqlite_memory.hpp"

namespace {
[[maybe_unused]] const bool is_set = (fade::sqlite::use_own_memory(), true);
}
