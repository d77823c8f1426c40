// The words of a copy function's calls that hold its bytes, direction and addresses. Most copy functions have all of
// them in registers; looked up once per function. Knows no copies, only their words.
#pragma once
#include <cstdint>
#include <optional>

#include "base/event.hpp"
#include "probes/probe.hpp"

namespace fade::store {

class CopyWords {
 public:
  CopyWords() = default;
  explicit CopyWords(const probes::Probe& probe);

  // False: some of it lies elsewhere, or is worked out from several arguments.
  bool are_known() const { return are_known_; }
  std::uint64_t bytes(const CallRecord& record) const { return of(bytes_, record).value_or(0); }
  std::optional<std::uint64_t> source(const CallRecord& record) const { return of(source_, record); }
  std::optional<std::uint64_t> destination(const CallRecord& record) const { return of(destination_, record); }
  // hipMemcpyKind; nullopt: neither an argument nor the function's name shows it.
  std::optional<int> kind(const CallRecord& record) const {
    if (const auto word = of(kind_, record)) return static_cast<int>(*word);
    return named_kind_;
  }

 private:
  static std::optional<std::uint64_t> of(const probes::RoleWord& word, const CallRecord& record) {
    if (word.in == probes::RoleWord::In::Nowhere) return std::nullopt;
    return record.words[word.word] & word.mask;
  }

  probes::RoleWord bytes_, source_, destination_, kind_;
  std::optional<int> named_kind_;
  bool are_known_ = false;
};

}  // namespace fade::store
