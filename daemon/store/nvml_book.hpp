// The answers of NVML, or of a stand-in for it, to a program: a row for each change of an answer. NVML's index is not
// HIP's ordinal, so nothing here knows the HIP device; views match them by PCI address.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "store/call_view.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

class NvmlBook {
 public:
  struct Told {
    ProcessRow process = 0;
    CallRow call = 0;
    std::int64_t at = 0;
  };

  NvmlBook(sqlite::Db& db, Failure& failure);

  // Reads a successful call of NVML; calls without an answer are passed over.
  void told(const Told& told, const CallView& call);
  void end_process(ProcessRow process);

 private:
  struct Value {
    std::string text;
    unsigned rows = 0;
  };
  using Key =
      std::tuple<ProcessRow, std::uint64_t, std::string>;  // process, handle (0: the library itself), name and function

  void handle_given(const Told& told, const CallView& call);
  void store(const Told& told, const CallView& call, std::uint64_t handle, std::string_view name, std::string text);
  std::optional<std::int64_t> index_of(ProcessRow process, std::uint64_t handle) const;

  std::map<std::pair<ProcessRow, std::uint64_t>, std::int64_t> indices_;  // by handle, as far as it was got by index
  std::map<Key, Value> values_;
  Write answer_;
};

}  // namespace fade::store
