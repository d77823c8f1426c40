// Compresses a request as ClickHouse's own blocks (parameter decompress=1). All versions since 18 take zstd there; as a
// Content-Encoding 18.16 takes only gzip, which is six times slower.
#pragma once
#include <string>
#include <string_view>

namespace fade::push {

std::string packed(std::string_view text);

}  // namespace fade::push
