// One call: its arguments, its result, the calls around it and its stack.
#include <fmt/format.h>

#include "cli/query/frame_list.hpp"
#include "cli/query/serve_data.hpp"
#include "schema/schema.hpp"

namespace fade::query::live {
namespace {

constexpr std::size_t kMostFrames = 500, kMostArguments = 200;

std::string value_text(const Json& value) {
  return html::shown(value.is_string() ? value.get<std::string>()
                                       : value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// [name, value] of each; a text that is no object stands alone.
Json arguments_json(const std::string& text) {
  Json out = Json::array();
  if (text.empty()) return out;
  const Json parsed = Json::parse(text, nullptr, false);
  if (!parsed.is_object()) return Json::array({{"", html::shown(text)}});
  for (const auto& [name, value] : parsed.items())
    if (out.size() < kMostArguments) out.push_back({html::shown(name), value_text(value)});
  return out;
}

Json frames_json(const Context& context, Recording& recording, const NamedRow& call) {
  Json out = Json::array();
  if (!call.has("stack")) return out;
  const auto frames = frames_of(context, recording, call.number("stack"));
  if (!frames) return out;
  for (const Frame& frame : *frames)
    if (out.size() < kMostFrames)
      out.push_back({{"label", html::shown(frame.label)},
                     {"place", html::shown(frame.place)},
                     {"python", frame.python},
                     {"system", frame.system}});
  return out;
}

Json number_or_null(const NamedRow& row, std::string_view column) {
  return row.has(column) ? Json(row.number(column)) : Json();
}

Json around_json(const html::Source& source, std::int64_t id) {
  Json out = Json::array();
  const auto rows = source.rows("serve_around", {{":id", id}});
  if (!rows) return out;
  for (const NamedRow& row : *rows)
    out.push_back({{"id", row.number("id")},
                   {"name", html::shown(row, "name")},
                   {"start", row.number("start")},
                   {"duration", number_or_null(row, "duration")}});
  return out;
}

// "scale, grid 4 x 1 x 1, block 64 x 1 x 1, and 2 more"; empty: the call launched no kernel that is known.
std::string launch_text(const html::Source& source, std::int64_t id) {
  const auto rows = source.rows("serve_launch", {{":id", id}});
  if (!rows || rows->empty()) return {};
  const NamedRow& row = rows->front();
  std::string out = row.raw("name");
  if (row.has("grid_x"))
    out += fmt::format(", grid {} x {} x {}, block {} x {} x {}", row.number("grid_x"), row.number("grid_y"),
                       row.number("grid_z"), row.number("block_x"), row.number("block_y"), row.number("block_z"));
  if (row.has("device")) out += fmt::format(", device {}", row.number("device"));
  if (row.number("more") > 0) out += fmt::format(", and {} more", row.number("more"));
  return out;
}

std::string result_text(const NamedRow& call) {
  if (!call.has("result")) return {};
  return call.has("result_name") ? fmt::format("{} ({})", call.raw("result_name"), call.raw("result"))
                                 : call.raw("result");
}

Json call_json(const html::Source& source, const NamedRow& call) {
  return {{"id", call.number("id")},
          {"name", html::shown(call, "name")},
          {"api", html::shown(call, "category")},
          {"library", html::shown(call, "library")},
          {"start", call.number("start")},
          {"duration", number_or_null(call, "duration")},
          {"state", html::shown(call, "state")},
          {"failed", call.is("failed")},
          {"result", html::shown(result_text(call))},
          {"pid", call.number("pid")},
          {"tid", call.number("tid")},
          {"launch", html::shown(launch_text(source, call.number("id")))},
          {"caller", call.has("caller_id") ? html::shown(call, "caller") : ""},
          {"args", arguments_json(call.raw("args"))},
          {"stack", number_or_null(call, "stack")},
          {"frames", frames_json(source.context, source.recording, call)},
          {"around", around_json(source, call.number("id"))}};
}

Result<Json> find_call(const html::Source& source, std::int64_t id) {
  const auto rows = source.rows("serve_call", {{":id", id}});
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return fail(fmt::format("there is no call {}", id), "no call of this session has that number");
  return call_json(source, rows->front());
}

}  // namespace

serve::Answer CallRanges::call(const serve::Request& request, const serve::Cancelled& cancelled) {
  recording_.database.stop_with(&cancelled);
  const auto source = source_of(context_, recording_);
  const auto made = source ? find_call(*source, request.number("id").value_or(0)) : tl::unexpected(source.error());
  recording_.database.stop_with(nullptr);
  return made ? json_answer(*made) : error_answer(made.error());
}

}  // namespace fade::query::live
