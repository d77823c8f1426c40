// fade-query --on URL diff JOB JOB: the values of two jobs beside each other, as fade-query diff has those of
// recordings.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/suggest.hpp"
#include "cli/query/diff.hpp"
#include "cli/query/differences.hpp"
#include "cli/query/fleet_diff.hpp"
#include "cli/query/fleet_reports.hpp"
#include "cli/query/samples.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

struct Job {
  std::string name;
  std::vector<ItemValues> items;
  std::size_t recordings = 0;
};

// An array of ClickHouse: [1,2.5].
std::vector<double> array_numbers(std::string_view array) {
  std::vector<double> out;
  while (!array.empty()) {
    array.remove_prefix(1);
    const std::size_t end = std::min(array.find(','), array.size());
    const std::string word(array.substr(0, end));
    char* rest = nullptr;
    const double number = std::strtod(word.c_str(), &rest);
    if (rest != word.c_str()) out.push_back(number);
    array.remove_prefix(end);
  }
  return out;
}

// The columns of schema/clickhouse/parts/diff_jobs.sql.
void take(Job& before, Job& after, const std::string& line) {
  using table::Kind;
  static const std::vector<table::Column> kColumns{
      {"is_after", Kind::Count}, {"place", Kind::Count},  {"section", Kind::Text}, {"item", Kind::Text},
      {"unit", Kind::Text},      {"numbers", Kind::Text}, {"text", Kind::Text}};
  const auto row = fleet_row(line, kColumns);
  const auto number = [&](std::size_t i) { return std::get<std::int64_t>(row[i]); };
  const auto text = [&](std::size_t i) { return table::printable(std::get<std::string>(row[i])); };
  Job& to = number(0) != 0 ? after : before;
  to.items.push_back({number(1), text(2), text(3), text(4), {array_numbers(text(5)), text(6)}});
  if (text(3) == "processes") to.recordings = to.items.back().values.numbers.size();
}

std::string head_words(const Job& job, std::string_view label) {
  return fmt::format("{}: job {} ({})", label, table::printable(job.name),
                     table::human_counted(static_cast<std::int64_t>(job.recordings), "recording"));
}

std::string noise_sentence(const Job& before, const Job& after) {
  if (before.recordings < kFewestRuns || after.recordings < kFewestRuns)
    return fmt::format("Nothing is known about noise: that takes {} recordings of each job.", kFewestRuns);
  return "Numbers are means of the recordings. clear: the difference is larger than that between the recordings of a "
         "job (Welch's test, 95 %).";
}

Result<void> check_job(push::Server& server, const Job& job) {
  if (!job.items.empty()) return {};
  auto jobs = server.select(fleet_statement("job_names"));
  if (!jobs) return tl::unexpected(jobs.error());
  return usage("there is no job '" + table::printable(job.name) + "' on the server" + did_you_mean(job.name, *jobs), {},
               "fade-query --on URL jobs      lists them");
}

}  // namespace

std::string diff_of_jobs(const std::string& before, const std::string& after) {
  return fleet_statement("diff_jobs", {{"before", "", before}, {"after", "", after}});
}

Result<void> compare_jobs(Context& context, push::Server& server, const std::string& before_name,
                          const std::string& after_name) {
  const auto lines = server.select(diff_of_jobs(before_name, after_name));
  if (!lines) return tl::unexpected(lines.error());
  Job before{before_name, {}, 0}, after{after_name, {}, 0};
  for (const std::string& line : *lines) take(before, after, line);
  for (const Job& job : {std::cref(before), std::cref(after)})
    if (auto fine = check_job(server, job); !fine) return fine;
  std::size_t same = 0;
  const auto all = differences(before.items, before.recordings, after.items, after.recordings, same);
  return print_differences(
      context, {head_words(before, "before"), head_words(after, "after"), noise_sentence(before, after)}, all, same);
}

}  // namespace fade::query
