// The values of two recordings beside each other: what is different, the largest differences first. Knows no files.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/query/named_row.hpp"
#include "cli/query/samples.hpp"

namespace fade::query {

// One value on one side. A recording of several sessions has one number for each.
struct Side {
  std::vector<double> numbers;  // of the sessions that have it; those of counts that have none count as 0
  std::string text;             // of all sessions, the different ones joined; for values that are no numbers

  bool seen() const { return !numbers.empty() || !text.empty(); }
};

struct Difference {
  std::int64_t rank = 0;  // of the section
  std::string section, item, unit;
  Side before, after;

  bool is_text() const { return unit.empty(); }
  double more() const { return mean(after.numbers) - mean(before.numbers); }
  Noise noise() const { return is_text() ? Noise::Beyond : noise_of(before.numbers, after.numbers); }
};

// A value of a recording or of a job: a number for each session that has it, or a text.
struct ItemValues {
  std::int64_t rank = 0;
  std::string section, item, unit;
  Side values;
};

// `before`, `after`: rows of schema/reports/page_diff.sql; of so many sessions. Equal values are left out and counted
// in `same`. Sections by rank; within one the largest difference first, texts by name.
std::vector<Difference> differences(const NamedRows& before, std::size_t sessions_before, const NamedRows& after,
                                    std::size_t sessions_after, std::size_t& same);
// The same of values that were put together elsewhere, each once.
std::vector<Difference> differences(const std::vector<ItemValues>& before, std::size_t sessions_before,
                                    const std::vector<ItemValues>& after, std::size_t sessions_after,
                                    std::size_t& same);

}  // namespace fade::query
