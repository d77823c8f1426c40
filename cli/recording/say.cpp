#include "cli/recording/say.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/fd.hpp"
#include "base/hanging.hpp"
#include "base/log.hpp"
#include "cli/options/output.hpp"
#include "cli/options/program.hpp"
#include "cli/query/command.hpp"
#include "cli/query/headline.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/page.hpp"
#include "cli/table/bytes.hpp"
#include "cli/table/terminal.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::cli::recording {

int print(const Result<std::vector<std::string>>& lines, int failure) {
  if (!lines) {
    log::error("{}", lines.error().text());
    return kUsageStatus;
  }
  std::string text;
  for (const std::string& line : *lines) text += hanging(table::printable(line), columns_of(STDOUT_FILENO)) + '\n';
  return print_result(text, failure);
}

void say_ended(bool wants_summary, ColorWish color, const std::function<std::string(const Style&)>& block,
               const std::vector<std::string>& sentences) {
  if (!wants_summary || log::level() < log::Level::Info) {
    for (const std::string& sentence : sentences) log::info("{}", sentence);
    return;
  }
  const auto terminal = table::look_at_terminal(STDERR_FILENO, use_color(color, STDERR_FILENO));
  const std::string text =
      block({.color = terminal.color, .utf8 = terminal.utf8, .width = terminal.tty ? terminal.width : 0});
  std::fwrite(text.data(), 1, text.size(), stderr);
}

namespace {

using Page = std::function<Result<void>(query::Context&, query::Recording&)>;

// run.db: run.html, in the same directory.
std::string page_name(std::string database) {
  if (database.ends_with(".db")) database.resize(database.size() - 3);
  return database + ".html";
}

// Only the owner can read it, as the recording.
Result<void> page_into(const std::string& name, const std::string& database, bool replace) {
  auto recording = query::open_recording(database);
  if (!recording) return tl::unexpected(std::move(recording.error()));
  const Fd file(::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (replace ? O_TRUNC : O_EXCL), 0600));
  if (!file)
    return fail_errno("cannot write the page " + table::printable(name), errno,
                      "fade-query " + table::printable(database) + " page -o FILE");
  query::Settings settings;
  settings.output = name;
  table::FdBytes bytes(file.get(), name);
  query::Context context{settings, {}, database, true, {}};
  context.output.bytes = &bytes;
  if (auto done = query::write_page(context, *recording); !done) return done;
  return bytes.flush();
}

constexpr std::size_t kMostTroubleLines = 14;  // with the end block around them they fit a terminal of 24

Result<void> print_page(const Page& page, int fd, const char* name, const std::string& database, ColorWish color) {
  auto recording = query::open_recording(database);
  if (!recording) return tl::unexpected(std::move(recording.error()));
  table::FdBytes bytes(fd, name);
  const query::Settings settings;
  query::Context context{settings, {}, database, true, {}};
  context.output.bytes = &bytes;
  context.output.style.terminal = table::look_at_terminal(fd, use_color(color, fd));
  return page(context, *recording);
}

}  // namespace

void fold_helpers(RunSummary& summary) {
  const auto read = [&](query::Context& context, query::Recording& recording) -> Result<void> {
    auto rows = query::named_rows(context, recording, schema::page_sql("ran"));
    if (!rows) return tl::unexpected(std::move(rows.error()));
    const query::NamedRow& ran = rows->front();
    const auto number = [&](std::string_view column) { return static_cast<std::uint64_t>(ran.number(column)); };
    summary.helpers = number("helpers");
    summary.cost.callers = number("callers");
    if (summary.helpers == 0) return {};
    summary.processes = number("processes");
    summary.threads = number("threads");
    return {};
  };
  if (const auto done = print_page(read, STDERR_FILENO, "standard error", summary.database, ColorWish::Never); !done)
    log::debug("{}", done.error().text());
}

Trouble trouble_of(const std::string& database, ColorWish color, bool tells_verdict) {
  Trouble out;
  const auto read = [&](query::Context& context, query::Recording& recording) -> Result<void> {
    auto rows = query::headline_rows(context, recording);
    if (tells_verdict) std::erase_if(rows, [](const query::HeadlineRow& row) { return row.report == "verdict"; });
    out = {query::rows_text(context, rows, kMostTroubleLines), query::row_sentences(context, rows)};
    return {};
  };
  if (const auto done = print_page(read, STDERR_FILENO, "standard error", database, color); !done)
    log::debug("{}", done.error().text());
  return out;
}

void say_libraries(const std::string& database, ColorWish color) {
  const auto read = [](query::Context& context, query::Recording& recording) -> Result<void> {
    auto written = context.output.bytes->write("\n");
    auto done = query::print_part(context, recording, "library-apis", query::part_settings(context));
    if (!written || !done) return tl::unexpected(written ? done.error() : written.error());
    return context.output.bytes->flush();
  };
  const auto told = print_page(read, STDERR_FILENO, "standard error", database, color);
  if (!told) log::error("{}", with_context("the calls by library cannot be shown", told.error()).text());
}

void say_verdict(const std::string& database, ColorWish color) {
  const auto told = print_page(query::show_verdict, STDERR_FILENO, "standard error", database, color);
  if (!told) log::error("{}", with_context("there is no verdict", told.error()).text());
}

void write_page(const std::string& database, bool replace) {
  if (const auto done = page_into(page_name(database), database, replace); !done) log::error("{}", done.error().text());
}

bool print_postmortem(const std::string& database, ColorWish color) {
  const auto told = print_page(query::show_postmortem, STDOUT_FILENO, "standard output", database, color);
  if (!told) log::error("{}", with_context("it cannot be shown", told.error()).text());
  return told.has_value();
}

}  // namespace fade::cli::recording
