// The limit for names that __cxa_demangle is asked about. They come from the program, and the text of a short one may
// take all memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string_view>

namespace fade {

inline constexpr std::size_t kLongestMangledName = 4'096;

// Text grows only where a part stands for an earlier one (S_, T_: Itanium C++ ABI, 5.1.10). Three references to the
// part before triple it, so 40 references make at most 1.45^40, some megabytes.
inline constexpr std::ptrdiff_t kMostReferences = 40;

// True if the demangled text is at most some megabytes.
inline bool is_affordable(std::string_view mangled) {
  return mangled.size() <= kLongestMangledName &&
         std::count(mangled.begin(), mangled.end(), 'S') + std::count(mangled.begin(), mangled.end(), 'T') <=
             kMostReferences;
}

}  // namespace fade
