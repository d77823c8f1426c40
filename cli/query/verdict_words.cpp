#include "cli/query/verdict_words.hpp"

#include <fmt/format.h>

namespace fade::query {
namespace {

constexpr std::pair<std::string_view, std::string_view> kVerdictWords[] = {
    {"USED", "the GPU was used"},
    {"FAILED", "work on the GPU failed"},
    {"STOPPED_USING", "the program stopped using the GPU while it ran"},
    {"ALLOCATED_NO_LAUNCH", "memory of the GPU was used, its processors were not"},
    {"QUERIED_ONLY", "the program asked about GPUs and gave them no work"},
    {"LOADED_UNUSED", "HIP was loaded and not called"},
    {"NOT_LOADED", "HIP was never loaded: no AMD GPU was used through it"},
    {"UNWATCHED", "unknown: fade recorded only a part, or nothing"},
};

std::string words_for(std::string_view verdict) {
  for (const auto& [word, words] : kVerdictWords)
    if (word == verdict) return fmt::format("{}: {}", word, words);
  return std::string(verdict);
}

}  // namespace

std::string verdict_words(const NamedRow& verdict) {
  const std::string word = verdict.raw("verdict");
  const bool only_died = word == "FAILED" && verdict.raw("reason").starts_with("it died of ");  // no call had failed
  return only_died ? "FAILED: the program died, and no GPU call had failed" : words_for(word);
}

}  // namespace fade::query
