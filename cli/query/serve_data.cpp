#include "cli/query/serve_data.hpp"

#include <algorithm>

namespace fade::query::live {
namespace {

using namespace std::chrono_literals;

constexpr auto kShortest = 1s;     // between two readings of everything
constexpr int kShare = 4;          // a reading may take a fourth of the time
constexpr auto kClosedWait = 10s;  // a closed recording may get another session

std::int64_t number_at(Database& database, std::string_view sql) {
  const auto value = database.one(sql);
  const auto* n = value ? std::get_if<std::int64_t>(&*value) : nullptr;
  return n ? *n : 0;
}

std::int64_t milliseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

}  // namespace

serve::Answer json_answer(const Json& json, unsigned status) {
  serve::Answer out;
  out.status = status;
  out.body = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return out;
}

serve::Answer error_answer(const Error& error) {
  return json_answer(
      {{"error", html::shown(error.message)}, {"cause", html::shown(error.cause)}, {"fix", html::shown(error.fix)}});
}

Result<html::Source> source_of(const Context& context, Recording& recording) {
  if (auto looked = look_again(recording); !looked) return tl::unexpected(looked.error());
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  return html::Source{context, recording, *session};
}

void PageParts::keep(const std::string& name, Json json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  Part& part = parts_[name];
  if (part.version > 0 && part.text == text) return;
  part = {version_, std::move(text), std::move(json)};
}

// Reads everything if the file has changed, and not too often.
Result<void> PageParts::refresh(const serve::Cancelled& cancelled) {
  const std::int64_t now = number_at(recording_.database, "PRAGMA data_version");
  if (version_ > 0 && (now == seen_ || Clock::now() < next_)) return {};
  const auto begin = Clock::now();
  auto source = source_of(context_, recording_);
  if (!source) return tl::unexpected(source.error());
  Json all = html::page_json(*source);
  if (cancelled) return fail("the browser has gone");
  ++version_;
  for (const char* group : {"parts", "tables"})
    for (auto& [name, json] : all[group].items()) keep(std::string(group) + "/" + name, std::move(json));
  for (const char* name : {"fade", "title", "recording", "serve"}) keep(name, std::move(all[name]));
  seen_ = now;
  cost_ = Clock::now() - begin;
  next_ = Clock::now() + std::max<Clock::duration>(kShortest, kShare * cost_);
  return {};
}

serve::Answer PageParts::answer(const serve::Request& request, const serve::Cancelled& cancelled) {
  recording_.database.stop_with(&cancelled);
  const auto read = refresh(cancelled);
  recording_.database.stop_with(nullptr);
  if (!read) return error_answer(read.error());
  const bool live = recording_.state == State::Running;
  const auto wait = std::max<Clock::duration>(kShortest, kShare * cost_);
  Json out{{"version", version_},
           {"live", live},
           {"wait_ms", live ? milliseconds(wait) : milliseconds(kClosedWait)},
           {"parts", Json::object()},
           {"tables", Json::object()}};
  const std::int64_t since = request.number("since").value_or(0);
  for (const auto& [name, part] : parts_)
    if (part.version > since) out[Json::json_pointer("/" + name)] = part.json;
  return json_answer(out);
}

}  // namespace fade::query::live
