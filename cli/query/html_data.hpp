// The data of the page that fade-query page writes, as JSON. Everything comes from reports and from SQL by name, and
// is bounded; each part says how much it leaves out. Times are in ns since the start of the session.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/query/command.hpp"
#include "cli/query/memory_series.hpp"
#include "cli/query/named_row.hpp"

namespace fade::query::html {

using Json = nlohmann::json;

// The recording and the session that all parts show. `context` has the user's options; its output is a page.
struct Source {
  const Context& context;
  Recording& recording;
  table::Value session;
  std::int64_t share = 1;  // rows and stacks are divided by this if the page would be too large
  mutable std::shared_ptr<const Result<MemoryOverTime>> memory_read;  // by memory(), once for all parts

  std::int64_t most(std::int64_t rows) const { return std::max<std::int64_t>(rows / share, 10); }
  Result<NamedRows> rows(std::string_view page, const std::vector<Binding>& more = {}) const;
  std::string command(std::string_view words) const;  // with the recording in it
  const Result<MemoryOverTime>& memory() const;
};

// Text of a recording: without control characters, at most 1,000 characters.
std::string shown(std::string_view text);
std::string shown(const NamedRow& row, std::string_view column);

void add_text(Json& list, const std::string& text);  // if there is any

Json tables(const Source& source);
// The busy share of devices, in columns: [{device, pid, width, points: [[start, percent]]}]. Empty without GPU times.
Json busy_tracks(const Source& source, std::int64_t until);

// Parts of the page; one that cannot be answered is an error, and the others stay.
Result<Json> verdict_part(const Source& source);
Result<Json> run_part(const Source& source);
Result<Json> timeline_part(const Source& source);
Result<Json> flame_part(const Source& source);
Result<Json> memory_part(const Source& source);
Result<Json> steps_part(const Source& source);
Result<Json> flow_part(const Source& source);
Result<Json> devices_part(const Source& source);
Result<Json> findings_part(const Source& source);
Result<Json> cost_part(const Source& source);

// All of it.
Json page_json(const Source& source);
std::string page_data(const Source& source);  // as text

// Fails if the user gave an option for rows, which `command` (page or serve) does not have.
Result<void> check_no_filters(const Settings& settings, std::string_view command);
// For a browser: UTF-8 whatever the locale is, no terminal's width or colours.
Context for_browser(const Context& context);

}  // namespace fade::query::html
