// A regular expression from a user, for texts of other users, matched in a daemon that serves clients meanwhile.
// Matching takes time that grows with the product of both lengths, never more, and no recursion. Bytes, . [a-z] [^a-z]
// \d \w \s, * + ?, | and (), ^ and $. No back-references, no counted repetitions: unknown syntax is refused. std::regex
// is of no use here: it either tries all ways, or (with __polynomial) overruns the stack at (a*)*.
#pragma once
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace fade::service {

class Pattern {
 public:
  static constexpr std::size_t kLongest = 256;

  static Result<Pattern> parse(const std::string& text);
  bool found_in(std::string_view text) const;
  const std::string& text() const { return text_; }

  // One step of the machine that the expression becomes. Targets are relative.
  struct Step {
    enum class Kind : std::uint8_t { Byte, Split, Begin, End };  // Split goes on at both `to` and `or_to`
    Kind kind = Kind::Byte;
    std::bitset<256> bytes;
    int to = 1, or_to = 1;
  };

 private:
  Pattern(std::string text, std::vector<Step> steps) : text_(std::move(text)), steps_(std::move(steps)) {}
  std::string text_;
  std::vector<Step> steps_;  // behind the last one it has matched
};

}  // namespace fade::service
