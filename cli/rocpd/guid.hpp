// The identity of a rocpd file: a UUID of version 7 (RFC 9562) that is made of facts alone, so that the same export has
// the same identity, and files of other processes have others.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace fade::rocpd {

// FNV-1a, as a number that SQLite can store.
std::int64_t hash_of(std::string_view text);
// `epoch_ns`: the time in it; `facts`: what tells this file from others of that time.
std::string guid_of(std::int64_t epoch_ns, std::string_view facts);
// What tables have at the end of their names: "_0199..." for "0199-...".
std::string suffix_of(std::string guid);

}  // namespace fade::rocpd
