// processes for people: those that matter, and one line for the many helpers that programs start: shells, uname,
// compile workers. Which ones these are says the report.
#include <fmt/format.h>

#include "cli/query/command.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/page.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kFewHelpers = 3;  // that need not be folded
constexpr std::size_t kNamed = 4;

Result<void> print_those(Context& context, Recording& recording, const char* where) {
  Settings settings = context.settings;
  settings.where = where;
  settings.may_leave_out = true;
  settings.limit = 50;
  auto outcome = run_report(recording, *find_report("processes"), settings, {}, context.output);
  return outcome ? Result<void>{} : tl::unexpected(outcome.error());
}

// "12 x sh, 8 x uname, 3 x gcc ..."
std::string names_of(const std::vector<NamedRow>& helpers) {
  std::string text;
  for (std::size_t i = 0; i < helpers.size() && i < kNamed; ++i)
    text +=
        fmt::format("{}{} x {}", i ? ", " : "", table::human_count(helpers[i].number("n")), helpers[i].text("program"));
  return text + (helpers.size() > kNamed ? " ..." : "");
}

Result<std::vector<NamedRow>> helpers_of(Context& context, Recording& recording) {
  return named_rows(context, recording,
                    over(filtered_sql(context, recording, "processes"), schema::page_sql("helpers")));
}

}  // namespace

Result<void> show_processes(Context& context, Recording& recording) {
  if (auto fine = check_filters(context.settings, *find_report("processes")); !fine) return fine;
  auto helpers = helpers_of(context, recording);
  if (!helpers) return tl::unexpected(helpers.error());
  const std::int64_t folded = helpers->empty() ? 0 : helpers->front().number("whole");
  if (folded <= kFewHelpers) return print_those(context, recording, "true");
  if (auto done = print_those(context, recording, "NOT helper"); !done) return done;
  const std::string words = fmt::format("{} helpers folded ({}): fade-query processes --limit 0",
                                        table::human_count(folded), names_of(*helpers));
  return context.output.bytes->write(paragraph(context, words, 2) + "\n");
}

}  // namespace fade::query
