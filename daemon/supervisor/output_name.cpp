#include "supervisor/output_name.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/glob.hpp"
#include "base/pid.hpp"
#include "base/rank.hpp"
#include "session/process_facts.hpp"

namespace fade {
namespace {

constexpr int kMostNumbers = 10'000;
constexpr std::size_t kMostText = 64;  // of one piece that comes from outside

// As part of a file name: no directories, no control characters, no hidden or option-like file.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMostText)) {
    const bool bad = c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    out += bad || (out.empty() && (c == '.' || c == '-')) ? '_' : c;
  }
  return out.empty() ? "_" : out;
}

std::string moment(std::time_t now) {
  std::tm parts{};
  ::localtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts)};
}

// Expands from `at`, which is behind a '%', and moves behind the expanded part. %n stays, as a marker.
class Expansion {
 public:
  Expansion(std::string_view pattern, const OutputNameFacts& facts) : pattern_(pattern), facts_(facts) {}

  Result<std::string> all() {
    std::string out;
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_++];
      if (c != '%') {
        out += c;
        continue;
      }
      auto piece = one();
      if (!piece) return piece;
      if (*piece == kNumber) number_at_ = out.size();
      else out += *piece;
    }
    return number_at_ == std::string::npos ? out : numbered(out);
  }

 private:
  static constexpr std::string_view kNumber{"\0n", 2};

  Result<std::string> one() {
    const char c = at_ < pattern_.size() ? pattern_[at_++] : '\0';
    switch (c) {
      case '%': return "%";
      case 'e': return plain(base_name(facts_.program));
      case 'p': return std::to_string(facts_.pid);
      case 'h': return plain(facts_.host);
      case 'r': return rank();
      case 't': return moment(facts_.now);
      case 'n': return std::string(kNumber);
      case 'q': return variable();
      default: return refuse("unknown '%" + std::string(c == '\0' ? "" : std::string(1, c)) + "'");
    }
  }

  Result<std::string> rank() {
    std::string rank = facts_.rank();
    if (rank.empty())
      return refuse("the program has no rank: none of " + fmt::format("{}", fmt::join(kRankVariables, ", ")) +
                    " is set");
    return rank;
  }

  Result<std::string> variable() {
    const std::size_t end = pattern_.find('}', at_);
    if (at_ >= pattern_.size() || pattern_[at_] != '{' || end == std::string_view::npos)
      return refuse("%q needs a name: %q{NAME}");
    const std::string name(pattern_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    const auto value = facts_.environment(name);
    if (!value) return refuse("the environment variable " + name + " is not set");
    return plain(*value);
  }

  Result<std::string> numbered(const std::string& out) const {
    for (int n = 1; n <= kMostNumbers; ++n) {
      std::string name = out;
      name.insert(number_at_, std::to_string(n));
      if (!facts_.exists(name)) return name;
    }
    return refuse("the numbers up to " + std::to_string(kMostNumbers) + " are all taken");
  }

  tl::unexpected<Error> refuse(std::string cause) const {
    return fail(
        "cannot make a file name from '" + std::string(pattern_) + "'", std::move(cause),
        "use %e program, %p pid, %h host, %r rank, %t time, %n number, %q{NAME} environment, %% for a percent sign");
  }

  const std::string_view pattern_;
  const OutputNameFacts& facts_;
  std::size_t at_ = 0;
  std::size_t number_at_ = std::string::npos;
};

}  // namespace

OutputNameFacts output_name_facts(std::string program, int pid) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return {std::move(program),
          pid,
          host.data(),
          std::time(nullptr),
          [](const std::string& name) -> std::optional<std::string> {
            const char* value = std::getenv(name.c_str());
            return value == nullptr ? std::nullopt : std::optional<std::string>(value);
          },
          [pid] { return rank_of(read_process_facts(Pid::of(pid)).environment); },
          [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }};
}

Result<std::string> expand_output_name(std::string_view pattern, const OutputNameFacts& facts) {
  return Expansion(pattern.empty() ? kDefaultOutputName : pattern, facts).all();
}

Result<std::string> free_default_name(const OutputNameFacts& facts) {
  const auto name = expand_output_name(kDefaultOutputName, facts);
  if (!name || !facts.exists(*name)) return name;
  const std::string_view ending = kDefaultOutputName.substr(kDefaultOutputName.rfind('.'));
  const std::string stem = name->substr(0, name->size() - ending.size());
  for (int n = 2; n <= kMostNumbers; ++n)
    if (std::string free = stem + "-" + std::to_string(n) + std::string(ending); !facts.exists(free)) return free;
  return name;
}

Result<void> check_output_name(std::string_view pattern) {
  OutputNameFacts facts = output_name_facts("program", 1);
  facts.exists = [](const std::string&) { return false; };
  facts.rank = [] { return "0"; };
  auto name = expand_output_name(pattern, facts);
  if (!name) return tl::unexpected(std::move(name.error()));
  return {};
}

}  // namespace fade
