// export --format rocpd: an SQLite database as rocprofv3 writes it, for AMD's rocpd tools and for SQL of one's own.
#include <fmt/format.h>

#include "base/log.hpp"
#include "cli/query/doubts.hpp"
#include "cli/query/rocpd_source.hpp"
#include "cli/rocpd/guid.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kManyCalls = 500'000;

// The same export has the same identity; another process or another part of the run has another.
std::string facts_of(const Context& context, const NamedRow& session) {
  const Settings& s = context.settings;
  const auto number = [](const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : "-"; };
  return fmt::format("{} {} {} {} {} {} {} {} {}", session.raw("host"), session.raw("boot_id"),
                     session.number("boot_ns"), session.raw("command"), number(s.pid), number(s.rank),
                     number(s.from_ns), number(s.to_ns), s.session);
}

struct FirstSession {
  std::string guid = rocpd::guid_of(0, "");
  std::int64_t boot_ns = 0;
  std::string version;
};

Result<FirstSession> read_sessions(TraceSource& source) {
  FirstSession out;
  bool is_first = true;
  auto done = for_each_row(source, std::string(schema::page_sql("timeline_sessions")),
                           [&](const NamedRow& row) -> Result<void> {
                             source.clocks.add(row);
                             if (!std::exchange(is_first, false)) return {};
                             out = {rocpd::guid_of(row.number("start_ns"), facts_of(source.context, row)),
                                    row.number("boot_ns"), row.raw("fade_version")};
                             return {};
                           });
  return done ? Result<FirstSession>(std::move(out)) : tl::unexpected(done.error());
}

// The file says what it lacks, because it is often passed on without the recording.
Result<void> add_notes(RocpdExport& to, const FirstSession& first) {
  Recording& recording = to.source.recording;
  const std::pair<const char*, std::string> notes[] = {
      {"recorded by", "fade " + first.version},
      {"state", state_text(recording)},
      {"not everything was recorded", why_partial(recording, to.source.session, "calls")},
      {"not every call has a row", why_without_rows(recording, to.source.session, "calls")},
      {"times of the GPU", has_gpu_work(recording) ? "" : "none were recorded"}};
  for (const auto& [tag, text] : notes)
    if (!text.empty())
      if (auto done = to.file.add_metadata(fmt::format("fade: {}", tag), text); !done) return done;
  return {};
}

Result<void> add_count(RocpdExport& to, std::int64_t n, const char* tag) {
  return n == 0 ? Result<void>() : to.file.add_metadata(tag, std::to_string(n));
}

Result<void> tell_left_out(RocpdExport& to) {
  return for_each_row(to.source, std::string(schema::page_sql("rocpd_left_out")),
                      [&](const NamedRow& row) -> Result<void> {
                        const std::int64_t n = row.number("n");
                        if (n > 0)
                          log::info("{} works of GPUs are left out: rocpd has no place for work of no known device", n);
                        if (auto done = add_count(to, n, "fade: works of no known device or kernel, left out"); !done)
                          return done;
                        return add_count(to, row.number("untied"), "fade: works of no known call, with stack_id 0");
                      });
}

// The file has its own name only in the end, so an impatient user would look at nothing.
void tell_many_calls(Recording& recording, const std::string& file) {
  const auto count = recording.database.one("SELECT count(*) FROM call_");
  const auto* n = count ? std::get_if<std::int64_t>(&*count) : nullptr;
  if (n && *n > kManyCalls) log::info("writing up to {} calls: see {} grow", *n, file);
}

}  // namespace

Result<CallTally> export_rocpd(const Context& context, Recording& recording, const table::Value& session) {
  if (context.new_file.empty())
    return usage("cannot write a rocpd database here", "it is an SQLite database and needs a file of its own",
                 "fade-query export --format rocpd -o run_results.db");
  TraceSource source{context, recording, false, session, {}};
  auto first = read_sessions(source);
  if (!first) return tl::unexpected(first.error());
  tell_many_calls(recording, context.new_file);
  auto file = rocpd::File::create(context.new_file, first->guid);
  if (!file) return tl::unexpected(file.error());
  RocpdExport to{std::move(source), std::move(*file), first->boot_ns, {}, {}};
  if (auto done = write_rocpd_parts(to); !done) return tl::unexpected(done.error());
  auto tally = write_rocpd_calls(to);  // before the marks, which take the ids that are left
  if (!tally) return tally;
  if (auto done = write_rocpd_marks(to); !done) return tl::unexpected(done.error());
  if (auto done = add_notes(to, *first); !done) return tl::unexpected(done.error());
  if (auto done = tell_left_out(to); !done) return tl::unexpected(done.error());
  if (auto done = to.file.finish(); !done) return tl::unexpected(done.error());
  return tally;
}

}  // namespace fade::query
