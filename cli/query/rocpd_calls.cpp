// The calls of a recording as regions of a rocpd database, with their arguments, their result and their stack.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "cli/query/report.hpp"
#include "cli/query/rocpd_source.hpp"
#include "cli/table/text.hpp"
#include "cli/timeline/arguments.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kRegionsAtOnce = 20000;  // in one read transaction, so that a live recording's log can be reset
constexpr std::size_t kMostStackTexts = 2000;

enum RegionColumn {
  kRegionCall,
  kRegionBegin,
  kRegionReturn,
  kRegionSession,
  kRegionProcess,
  kRegionThread,
  kRegionName,
  kRegionApi,
  kRegionState,
  kRegionCallResult,
  kRegionCallFailed,
  kRegionCallArgs,
  kRegionParent,
  kRegionCallStack
};

// rocpd's names of domains begin with the API; what HIP runs for a CUDA program has a domain of its own.
std::string domain_of(std::string api) {
  if (api == "hip") return "HIP_RUNTIME_API_EXT";
  if (api == "hiprtc") return "HIP_COMPILER_API_EXT";
  if (api == "cuda") return "ZLUDA_CUDA_DRIVER_API";
  if (api == "cudart") return "ZLUDA_CUDA_RUNTIME_API";
  std::ranges::transform(api, api.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return api + "_API";
}

struct ArgumentText {
  const char* type;
  std::string value;
};
struct ToText {
  ArgumentText operator()(std::int64_t n) const { return {"integer", std::to_string(n)}; }
  ArgumentText operator()(double x) const { return {"real", fmt::format("{}", x)}; }
  ArgumentText operator()(bool b) const { return {"boolean", b ? "true" : "false"}; }
  ArgumentText operator()(std::string_view s) const { return {"text", std::string(s)}; }
  ArgumentText operator()(timeline::Json j) const { return {"json", std::string(j.text)}; }
};

std::int64_t as_number(const table::Value& value) {
  const auto* n = std::get_if<std::int64_t>(&value);
  return n ? *n : 0;
}
std::string as_text(const table::Value& value) { return table::raw_text(value); }

class RegionWriter {
 public:
  explicit RegionWriter(RocpdExport& to) : to_(to) {}
  Result<CallTally> run();

 private:
  Result<void> prepare();
  Result<bool> read_page();
  Result<void> add(const Row& row);
  Result<void> add_arguments(const Row& row, std::int64_t event);
  Result<void> add_argument(std::int64_t event, std::int64_t position, std::string_view name, const ArgumentText& text);
  std::int64_t end_of(const Row& row) const;
  std::string extra_of(const Row& row) const;
  Result<std::string> stack_of(const table::Value& stack);

  RocpdExport& to_;
  std::optional<Statement> calls_, stack_;
  rocpd::Rows *regions_ = nullptr, *args_ = nullptr;
  timeline::CallArguments arguments_;
  std::unordered_map<std::int64_t, std::string> stacks_;
  CallTally tally_;
  table::Value after_ = std::int64_t{-1};
};

Result<void> RegionWriter::prepare() {
  const std::string sql = filtered_sql(to_.source.context, to_.source.recording, "timeline");
  auto calls = to_.source.recording.database.prepare(
      "SELECT t.id, t.start, t.\"end\", p.session, p.id, t.thread_id, f.name, f.api, t.state, t.result, t.failed, "
      "t.args, "
      "c.id - c.up, t.stack FROM (\n" +
      sql +
      "\n) t JOIN call_ c ON c.id = t.id JOIN thread_ h ON h.id = t.thread_id "
      "JOIN process_ p ON p.id = h.process JOIN function_ f ON f.id = t.function_id WHERE t.id > :after ORDER BY t.id "
      "LIMIT " +
      std::to_string(kRegionsAtOnce));
  if (!calls) return tl::unexpected(calls.error());
  calls_.emplace(std::move(*calls));
  bind_filters(to_.source, *calls_);
  auto stack = to_.source.recording.database.prepare(
      "SELECT json_group_array(json_object('name', label, 'file', coalesce(file || ':' || line, library), 'pc', "
      "offset_hex)) "
      "FROM stack_frames WHERE stack = :stack");
  if (!stack) return tl::unexpected(stack.error());
  stack_.emplace(std::move(*stack));
  const std::array<std::string, 9> region{"id", "nid", "pid", "tid", "start", "end", "name_id", "event_id", "extdata"};
  const std::array<std::string, 5> arg{"event_id", "position", "type", "name", "value"};
  auto regions = to_.file.rows("region", region), args = to_.file.rows("arg", arg);
  if (!regions || !args) return tl::unexpected(regions ? args.error() : regions.error());
  regions_ = *regions;
  args_ = *args;
  return {};
}

// A region has an end. Calls that did not end last to the end of the recording, unless only their entry is known.
std::int64_t RegionWriter::end_of(const Row& row) const {
  const std::int64_t session = as_number(row[kRegionSession]), start = to_.at(session, as_number(row[kRegionBegin]));
  if (!table::is_null(row[kRegionReturn])) return std::max(start, to_.at(session, as_number(row[kRegionReturn])));
  return as_text(row[kRegionState]) == "open" ? std::max(start, to_.end()) : start;
}

std::string RegionWriter::extra_of(const Row& row) const {
  const std::string state = as_text(row[kRegionState]);
  std::string out;
  if (state != "returned") out += fmt::format(",\"state\":{}", table::json_quote(state));
  if (as_number(row[kRegionCallFailed]) != 0) out += ",\"failed\":true";
  if (!table::is_null(row[kRegionCallResult]))
    out += fmt::format(",\"retval\":{}", table::json_quote(as_text(row[kRegionCallResult])));
  return out.empty() ? out : "{" + out.substr(1) + "}";
}

Result<std::string> RegionWriter::stack_of(const table::Value& stack) {
  if (table::is_null(stack)) return std::string();
  const auto known = stacks_.find(as_number(stack));
  if (known != stacks_.end()) return known->second;
  stack_->reset();
  stack_->bind(":stack", stack);
  auto row = stack_->step();
  if (!row) return tl::unexpected(row.error());
  if (stacks_.size() >= kMostStackTexts) stacks_.clear();
  return stacks_[as_number(stack)] = *row ? as_text(stack_->value(0)) : std::string();
}

Result<void> RegionWriter::add_argument(std::int64_t event, std::int64_t position, std::string_view name,
                                        const ArgumentText& text) {
  const std::array<table::Value, 5> cells{event, position, std::string(text.type), std::string(name), text.value};
  return args_->add(cells);
}

Result<void> RegionWriter::add_arguments(const Row& row, std::int64_t event) {
  std::int64_t position = 0;
  if (!table::is_null(row[kRegionCallArgs]))
    for (const timeline::Argument& a : arguments_.read(as_text(row[kRegionCallArgs])))
      if (auto done = add_argument(event, position++, a.name, std::visit(ToText{}, a.value)); !done) return done;
  if (table::is_null(row[kRegionCallResult])) return {};
  return add_argument(event, -1, "return", {"text", as_text(row[kRegionCallResult])});
}

Result<void> RegionWriter::add(const Row& row) {
  auto stack = stack_of(row[kRegionCallStack]);
  if (!stack) return tl::unexpected(stack.error());
  auto event = to_.file.add_event({.category = domain_of(as_text(row[kRegionApi])),
                                   .stack = as_number(row[kRegionCall]),
                                   .parent = as_number(row[kRegionParent]),
                                   .call_stack = *stack,
                                   .extdata = extra_of(row)});
  if (!event) return tl::unexpected(event.error());
  auto name = to_.file.string_id(as_text(row[kRegionName]));
  if (!name) return tl::unexpected(name.error());
  const std::array<table::Value, 9> cells{row[kRegionCall],
                                          std::int64_t{1},
                                          row[kRegionProcess],
                                          row[kRegionThread],
                                          to_.at(as_number(row[kRegionSession]), as_number(row[kRegionBegin])),
                                          end_of(row),
                                          *name,
                                          *event,
                                          std::string("{}")};
  if (auto done = regions_->add(cells); !done) return done;
  return add_arguments(row, *event);
}

// False after the last page.
Result<bool> RegionWriter::read_page() {
  const auto& limit = to_.source.context.settings.limit;
  calls_->reset();
  calls_->bind(":after", after_);
  Row row(static_cast<std::size_t>(calls_->columns()));
  for (std::int64_t rows = 0;; ++rows) {
    auto next = calls_->step();
    if (!next) return tl::unexpected(next.error());
    if (!*next) return rows == kRegionsAtOnce;
    tally_.more = limit && *limit > 0 && tally_.calls >= *limit;
    if (tally_.more) return false;
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = calls_->value(static_cast<int>(i));
    after_ = row[kRegionCall];
    if (auto done = add(row); !done) return tl::unexpected(done.error());
    ++tally_.calls;
  }
}

Result<CallTally> RegionWriter::run() {
  if (auto done = prepare(); !done) return tl::unexpected(done.error());
  for (;;) {
    auto more = read_page();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return tally_;
  }
}

}  // namespace

Result<CallTally> write_rocpd_calls(RocpdExport& to) { return RegionWriter(to).run(); }

}  // namespace fade::query
