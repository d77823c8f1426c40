// The answers of fade-query serve, as JSON. Each lane of answers has its own connection to the recording.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "cli/query/html_data.hpp"
#include "cli/query/serve_rows.hpp"
#include "cli/query/serve_work.hpp"
#include "cli/serve/routes.hpp"

namespace fade::query::live {

using html::Json;

serve::Answer json_answer(const Json& json, unsigned status = 200);
serve::Answer error_answer(const Error& error);

// The recording as it is now: the session that is shown may be a newer one than at the last request.
Result<html::Source> source_of(const Context& context, Recording& recording);

// The page's data. Each part has the number of its version, so a browser gets only those that changed.
class PageParts {
 public:
  PageParts(const Context& context, Recording recording) : context_(context), recording_(std::move(recording)) {}
  // Parameter since: the version that the browser has.
  serve::Answer answer(const serve::Request& request, const serve::Cancelled& cancelled);

 private:
  struct Part {
    std::int64_t version = 0;
    std::string text;
    Json json;
  };
  using Clock = std::chrono::steady_clock;
  Result<void> refresh(const serve::Cancelled& cancelled);
  void keep(const std::string& name, Json json);

  const Context& context_;
  Recording recording_;
  std::map<std::string, Part> parts_;     // "parts/verdict", "tables/top", "title"
  std::int64_t version_ = 0, seen_ = -1;  // seen_: SQLite's number of the file's content
  Clock::duration cost_{};
  Clock::time_point next_{};
};

// A part of the timeline, with work of GPUs: parameters from and to (ns since the start of the session), width
// (pixels).
class CallRanges {
 public:
  CallRanges(const Context& context, Recording recording) : context_(context), recording_(std::move(recording)) {}
  serve::Answer answer(const serve::Request& request, const serve::Cancelled& cancelled);
  // Parameter id: one call with its arguments and its stack.
  serve::Answer call(const serve::Request& request, const serve::Cancelled& cancelled);

 private:
  struct Launching {
    std::int64_t stream = 0;
    std::string name;
  };
  Result<Json> range(const html::Source& source, Window window);
  Result<Json> single_calls(const html::Source& source, Window window, Ids ids, Ids found);
  Result<Json> columns(IdSearch& search, Window window, Ids found) const;
  Result<Json> seconds(const html::Source& source, Window window) const;
  Result<void> read_names(const html::Source& source);
  bool knows(const std::vector<CallRow>& rows) const;
  Json lanes_json(const Lanes& lanes) const;
  Json lane_json(std::int64_t id, const Lane& lane, const std::map<std::int64_t, std::size_t>& names) const;
  std::string name_of(std::int64_t name) const;  // of a function; negative: of a way of launching

  const Context& context_;
  Recording recording_;
  GpuWork work_;
  struct LaneName {
    std::string name, about;  // short, and a sentence
  };
  std::map<std::int64_t, std::string> functions_;
  std::map<std::int64_t, LaneName> lane_names_;  // of threads; streams are negative
  std::map<std::int64_t, Launching> launches_;
  std::map<std::pair<std::int64_t, std::int64_t>, bool> results_;  // function and result: is it a failure?
};

// The SQL box: parameter sql.
class SqlBox {
 public:
  SqlBox(const Context& context, Recording recording) : context_(context), recording_(std::move(recording)) {}
  serve::Answer answer(const serve::Request& request, const serve::Cancelled& cancelled);

 private:
  const Context& context_;
  Recording recording_;
};

// A Perfetto trace of the time from `from` to `to`, in parts: memory does not grow with the number of calls.
class TraceExport {
 public:
  TraceExport(const Context& context, Recording recording) : context_(context), recording_(std::move(recording)) {}
  serve::Answer answer(const serve::Request& request, const serve::Cancelled& cancelled);

 private:
  bool write(const Settings& settings, const serve::PutPart& put, const serve::Cancelled& cancelled);

  const Context& context_;
  Recording recording_;
};

}  // namespace fade::query::live
