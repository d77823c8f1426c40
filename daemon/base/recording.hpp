// How a recording is to be kept: choices that the command line makes and the store carries out.
#pragma once
#include <cstdint>

namespace fade {

enum class Detail : std::uint8_t {
  Stats,  // rollups only
  Calls,  // one row per call, arguments of launches, copies, allocations, errors and rare calls
  Full,   // and the arguments of every call
};
enum class OnFull : std::uint8_t { Stop, Stats, DropCalls };  // what happens when the database reaches its size limit
enum class OpenMode : std::uint8_t { Create, Overwrite, Append };

}  // namespace fade
