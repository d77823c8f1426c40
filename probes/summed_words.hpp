// The words of a call that the books of a recording look at: calls of one function with equal words, all of them
// successful, count alike. So they can be added up without a record each. Made once per function.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "base/event.hpp"
#include "probes/call_words.hpp"
#include "probes/probe.hpp"

namespace fade::probes {

class SummedWords {
 public:
  using Values = CallWords::Values;
  // The places of a call's words: six registers, the words on the stack, the first 8 bytes of the output (null: it has
  // none). Each word is read once, because the program may change it meanwhile.
  struct Places {
    const std::byte *registers, *stack, *out;
  };

  // nullopt: each call of the function needs a record, whatever is kept of it.
  static std::optional<SummedWords> of(const Probe& probe);

  std::size_t size() const { return words_.size() + has_out(); }  // 0: all calls of the function count alike
  bool has_out() const { return out_mask_ != 0; }
  // False: the call lacks its output. A value beyond size() is left as it was.
  bool read(const Places& call, Values& values) const {
    std::size_t n = 0;
    for (const auto& word : words_.registers()) values[n++] = at(call.registers, word.at) & word.mask;
    for (const auto& word : words_.on_stack()) values[n++] = at(call.stack, word.at) & word.mask;
    if (!has_out()) return true;
    if (!call.out) return false;
    values[n] = at(call.out, 0) & out_mask_;
    return true;
  }
  // Tests if the call has these values.
  bool are(const Values& values, const Places& call) const {
    std::uint64_t other = 0;
    std::size_t n = 0;
    for (const auto& word : words_.registers()) other |= (at(call.registers, word.at) & word.mask) ^ values[n++];
    for (const auto& word : words_.on_stack()) other |= (at(call.stack, word.at) & word.mask) ^ values[n++];
    if (!has_out()) return other == 0;
    return call.out && (other | ((at(call.out, 0) & out_mask_) ^ values[n])) == 0;
  }
  // Makes the words and pieces of a call with these values. All else is 0.
  void write(const Values& values, CallRecord& record, std::vector<std::byte>& payload) const;

 private:
  static std::uint64_t at(const std::byte* words, std::size_t index) {
    std::uint64_t out = 0;
    std::memcpy(&out, words + index * sizeof out, sizeof out);
    return out;
  }
  bool add(const Probe& probe, std::size_t index);
  bool add_out(const Parameter& parameter, std::size_t index);

  CallWords words_;
  std::uint64_t out_mask_ = 0;
  std::uint8_t out_ = 0;          // index of the parameter
  std::uint8_t stack_words_ = 0;  // in a call's payload
};

}  // namespace fade::probes
