#include "service/worker_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace fade::service {
namespace {

using ipc::Json;

enum class Takes : std::uint8_t { Word, Words, Natural, Nanoseconds, On, Off };
struct Row {
  std::string_view key, option;
  Takes takes;
};
constexpr std::array kRows{
    Row{"detail", "--detail", Takes::Word},
    Row{"engine", "--engine", Takes::Word},
    Row{"budget", "--budget", Takes::Word},
    Row{"events", "--events", Takes::Words},
    Row{"include", "--include", Takes::Words},
    Row{"exclude", "--exclude", Takes::Words},
    Row{"kernel_include", "--kernel-include-regex", Takes::Words},
    Row{"kernel_exclude", "--kernel-exclude-regex", Takes::Words},
    Row{"set", "--set", Takes::Words},
    Row{"find_cached", "--find-cached", Takes::On},
    Row{"set_cached", "--set-cached", Takes::On},
    Row{"inject", "--inject", Takes::Words},
    Row{"replace", "--replace", Takes::Words},
    Row{"replace_dry", "--replace-dry", Takes::On},
    Row{"seed", "--seed", Takes::Natural},
    Row{"probe", "--probe", Takes::Words},
    Row{"max_size", "--max-size", Takes::Natural},
    Row{"on_full", "--on-full", Takes::Word},
    Row{"duration_ns", "--duration", Takes::Nanoseconds},
    Row{"delay_ns", "--delay", Takes::Nanoseconds},
    Row{"hang_ns", "--hang-timeout", Takes::Nanoseconds},
    Row{"sample_hz", "--sample", Takes::Natural},
    Row{"gpu_times", "--gpu-times", Takes::On},
    Row{"operator_shapes", "--operator-shapes", Takes::On},
    Row{"tree", "--tree", Takes::On},
    Row{"follow", "--no-follow", Takes::Off},
    Row{"only_ranks", "--only-rank", Takes::Words},
    Row{"step", "--step", Takes::Word},
    Row{"schedule", "--schedule", Takes::Word},
    Row{"window", "--window", Takes::Word},
    Row{"triggers", "--trigger", Takes::Words},
    Row{"numbers", "--watch-numbers", Takes::Word},
    Row{"check", "--check-products", Takes::Word},
    Row{"keep_ns", "--keep", Takes::Nanoseconds},
    Row{"stacks", "--stacks", Takes::Words},
    Row{"stack_depth", "--stack-depth", Takes::Natural},
    Row{"native_stacks", "--no-native-stacks", Takes::Off},
    Row{"sensors", "--no-sensors", Takes::Off},
    Row{"python_stacks", "--no-python-stacks", Takes::Off},
    Row{"typed", "--typed", Takes::Words},
};
constexpr std::size_t kMostBytes = 64 << 10;  // of all words

// The words of one option; nullopt where the value is of another type.
std::optional<std::vector<std::string>> words_of(const Row& row, const Json& options, const std::string& key) {
  const auto with = [&](const std::string& value) { return fmt::format("{}={}", row.option, value); };
  switch (row.takes) {
    case Takes::Word:
      if (const auto value = ipc::text(options, key)) return std::vector{with(*value)};
      return {};
    case Takes::Natural:
      if (const auto value = ipc::natural(options, key)) return std::vector{with(std::to_string(*value))};
      return {};
    case Takes::Nanoseconds:
      if (const auto value = ipc::natural(options, key)) return std::vector{with(std::to_string(*value) + "ns")};
      return {};
    case Takes::On:
    case Takes::Off: {
      const auto value = ipc::boolean(options, key);
      if (!value) return {};
      return *value == (row.takes == Takes::On) ? std::vector{std::string(row.option)} : std::vector<std::string>{};
    }
    case Takes::Words: break;
  }
  auto values = ipc::texts(options, key);
  if (!values) return {};
  for (std::string& value : *values) value = with(value);
  return values;
}

}  // namespace

Result<std::vector<std::string>> worker_words(const Json& options) {
  if (!options.is_object()) return fail("options are no object", {}, {}, EINVAL);
  std::vector<std::string> words;
  std::size_t bytes = 0;
  for (const auto& entry : options.items()) {
    const auto row = std::ranges::find(kRows, entry.key(), &Row::key);
    if (row == kRows.end())
      return fail(fmt::format("the daemon knows no option '{}'", ipc::one_line(entry.key())), {}, {}, EINVAL);
    auto some = words_of(*row, options, entry.key());
    if (!some) return fail(fmt::format("option '{}' has a value of the wrong type", entry.key()), {}, {}, EINVAL);
    for (std::string& word : *some) {
      if (word.find('\0') != std::string::npos || (bytes += word.size()) > kMostBytes)
        return fail(fmt::format("option '{}' cannot be used as it is", entry.key()), {}, {}, EINVAL);
      words.push_back(std::move(word));
    }
  }
  return words;
}

}  // namespace fade::service
