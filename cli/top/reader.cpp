#include "cli/top/reader.hpp"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

#include "cli/query/overhead_line.hpp"
#include "cli/table/kind.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::cli::top {
namespace {

constexpr std::string_view kUnknownLine = "(line unknown)";

std::int64_t real_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::optional<double> real(const query::NamedRow& row, std::string_view column) {
  const table::Value& value = row.at(column);
  if (const double* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
  return std::nullopt;
}

std::optional<std::int64_t> integer(const query::NamedRow& row, std::string_view column) {
  return row.has(column) ? std::optional(row.number(column)) : std::nullopt;
}

ProcessSums process_of(const query::NamedRow& row) {
  return {.id = row.number("id"),
          .pid = row.number("pid"),
          .command = row.text(row.has("command") ? "command" : "exe"),
          .ended = row.is("ended"),
          .calls = row.number("calls"),
          .errors = row.number("errors"),
          .launches = row.number("launches"),
          .waited_ns = row.number("waited_ns"),
          .memory = row.number("memory"),
          .memory_before = row.is("memory_before")};
}

NamedSums kernel_of(const query::NamedRow& row) {
  return {.process = row.number("process"),
          .name = row.text("name"),
          .calls = row.number("launches"),
          .errors = row.number("errors"),
          .total_ns = row.number("total_ns")};
}

Device device_of(const query::NamedRow& row) {
  return {.node = row.number("node"),
          .name = row.text("name"),
          .asleep = row.is("asleep"),
          .busy = real(row, "busy"),
          .watts = real(row, "watts"),
          .celsius = real(row, "celsius"),
          .memory = integer(row, "memory"),
          .memory_total = integer(row, "memory_total")};
}

Failure failure_of(const query::NamedRow& row) {
  return {.process = row.number("process"),
          .pid = row.number("pid"),
          .name = row.text("name"),
          .error = row.text("error"),
          .caller = row.text("caller"),
          .repeats = row.number("repeats"),
          .last_ns = row.number("last")};
}

}  // namespace

Result<Reader> Reader::open(const std::string& path) {
  auto recording = query::open_recording(path);
  if (!recording) return tl::unexpected(std::move(recording.error()));
  if (recording->sessions.empty())
    return fail("cannot show " + path, "it has no session: nothing was recorded into it", "fade-query list");
  return Reader(std::move(*recording));
}

bool Reader::writer_is_gone() const {
  const auto& writer = recording_.holder;
  return writer && *writer > 0 && ::kill(writer->value(), 0) != 0 && errno == ESRCH;
}

query::Statement* Reader::statement(std::string_view page) {
  auto known = statements_.find(page);
  if (known == statements_.end()) {
    auto made = recording_.database.prepare(schema::page_sql(page));
    if (!made) {
      failed_ = made.error();
      return nullptr;
    }
    known = statements_.emplace(page, std::move(*made)).first;
  }
  known->second.reset();
  known->second.bind(":session", session_ == 0 ? table::Value{} : table::Value{session_});
  return &known->second;
}

// The statement is reset afterwards, so that no snapshot of the file stays open between two looks.
template <class Use>
Result<void> Reader::each(std::string_view page, const Use& use) {
  query::Statement* asked = statement(page);
  if (asked == nullptr) return tl::unexpected(*failed_);
  auto done = query::for_each_row(*asked, [&](const Row& row) -> Result<void> {
    use(row);
    return {};
  });
  asked->reset();
  return done;
}

Result<std::int64_t> Reader::mark() {
  std::int64_t mark = 0;
  if (session_ == 0) {
    Sums unused;
    if (auto read = read_session(unused); !read) return tl::unexpected(std::move(read.error()));
  }
  if (auto read = each("top_mark", [&](const Row& row) { mark = row.number("mark"); }); !read)
    return tl::unexpected(std::move(read.error()));
  return mark;
}

Result<Sums> Reader::read(std::int64_t now_ns, bool utf8) {
  Sums sums;
  sums.at_ns = now_ns;
  for (const auto part : {&Reader::read_session, &Reader::read_processes, &Reader::read_functions,
                          &Reader::read_kernels, &Reader::read_lines, &Reader::read_trouble})
    if (auto read = (this->*part)(sums); !read) return tl::unexpected(std::move(read.error()));
  auto cost = query::overhead_line(recording_, session_, utf8, sums.under_way ? sums.since_ns : 0);
  if (!cost) return tl::unexpected(std::move(cost.error()));
  sums.cost = std::move(*cost);
  return sums;
}

Result<void> Reader::read_session(Sums& to) {
  return each("top_session", [&](const Row& row) {
    session_ = row.number("id");
    to.clean = row.is("clean");
    to.gpus = row.number("gpus");
    to.without_hip = row.is("without_hip");
    to.under_way = !to.clean && !row.is("ended") && under_way() && !writer_is_gone();
    to.since_ns = to.under_way ? std::max<std::int64_t>(0, real_ns() - row.number("start_ns")) : row.number("ran_ns");
  });
}

Result<void> Reader::read_processes(Sums& to) {
  return each("top_processes", [&](const Row& row) { to.processes.push_back(process_of(row)); });
}

Result<void> Reader::read_functions(Sums& to) {
  return each("top_functions", [&](const Row& row) {
    to.functions.push_back({.process = row.number("process"),
                            .name = row.text("name"),
                            .calls = row.number("calls"),
                            .errors = row.number("errors"),
                            .total_ns = row.number("total_ns")});
  });
}

Result<void> Reader::read_kernels(Sums& to) {
  const auto take = [&](const Row& row) { to.kernels.push_back(kernel_of(row)); };
  if (auto read = each("top_gpu_kernels", take); !read) return read;
  to.kernels_on_gpu = !to.kernels.empty();
  return to.kernels_on_gpu ? Result<void>{} : each("top_kernels", take);
}

const std::string& Reader::line_of(std::string_view page, const char* parameter, std::int64_t id,
                                   std::unordered_map<std::int64_t, std::string>& known) {
  const auto found = known.find(id);
  if (found != known.end()) return found->second;
  std::string line(kUnknownLine);
  if (query::Statement* asked = statement(page); asked != nullptr) {
    asked->bind(parameter, id);
    if (auto row = asked->step(); row && *row && !table::is_null(asked->value(0)))
      line = table::printable(table::raw_text(asked->value(0)));
    asked->reset();
  }
  return known.emplace(id, std::move(line)).first->second;
}

Result<void> Reader::read_samples() {
  query::Statement* asked = statement("top_samples");
  if (asked == nullptr) return tl::unexpected(*failed_);
  asked->bind(":after", last_sample_);
  return each("top_samples", [&](const Row& row) {
    const std::string& line = line_of("top_frame_line", ":frame", row.number("frame"), frame_lines_);
    samples_[{row.number("process"), line}] += row.number("samples");
    last_sample_ = std::max(last_sample_, row.number("last"));
  });
}

Result<void> Reader::read_lines(Sums& to) {
  if (auto read = read_samples(); !read) return read;
  std::map<std::pair<std::int64_t, std::string>, NamedSums> lines;
  const auto line = [&](std::int64_t process, const std::string& name) -> NamedSums& {
    NamedSums& sums = lines[{process, name}];
    if (sums.name.empty()) sums.process = process, sums.name = name;
    return sums;
  };
  auto read = each("top_stacks", [&](const Row& row) {
    NamedSums& sums =
        line(row.number("process"), line_of("top_stack_line", ":stack", row.number("stack"), stack_lines_));
    sums.calls += row.number("calls");
    sums.total_ns += row.number("self_ns");
  });
  if (!read) return read;
  for (const auto& [key, samples] : samples_) line(key.first, key.second).samples += samples;
  for (auto& [key, sums] : lines) to.lines.push_back(std::move(sums));
  return {};
}

Result<void> Reader::read_trouble(Sums& to) {
  if (auto read = each("top_devices", [&](const Row& row) { to.devices.push_back(device_of(row)); }); !read)
    return read;
  if (auto read = each("top_errors", [&](const Row& row) { to.failures.push_back(failure_of(row)); }); !read)
    return read;
  return each("top_drops", [&](const Row& row) { to.drops.push_back({row.text("reason"), row.number("n")}); });
}

}  // namespace fade::cli::top
