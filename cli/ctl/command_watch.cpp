// watch add, watch list, watch rm.
#include <fmt/format.h>

#include "base/log.hpp"
#include "cli/ctl/show.hpp"

namespace fade::cli::ctl {
namespace {

using ipc::Json;
using table::Kind;

Result<void> add(const Context& context) {
  const Settings& s = context.settings;
  if (s.exe.empty() && s.cgroup.empty() && !s.uid)
    return usage_error("watch add needs to know for which programs", "fadectl watch add --exe python3");
  Json params{{"options", recording_json(s)}, {"cgroup", s.cgroup}};
  if (!s.exe.empty()) params["exe"] = s.exe;
  if (s.uid) params["uid"] = static_cast<std::uint64_t>(*s.uid);
  const auto rule = ask(context, "watch-add", params);
  if (!rule) return tl::unexpected(rule.error());
  if (s.json) return print_json(*rule);
  return print_line(std::to_string(number_of(*rule, "id")));
}

table::Value maybe(const std::string& text) { return text.empty() ? table::Value() : table::Value(text); }

Result<void> list(const Context& context) {
  const auto answer = ask(context, "watch-list", Json::object());
  if (!answer) return tl::unexpected(answer.error());
  const Json* found = ipc::member(*answer, "watches");
  const Json watches = found != nullptr ? *found : Json::array();
  if (context.settings.json) return print_json(watches);
  std::vector<std::vector<table::Value>> rows;
  for (const Json& rule : watches) {
    const auto uid = ipc::integer(rule, "uid");
    const Json* options = ipc::member(rule, "options");
    rows.push_back({number_of(rule, "id"), user_name(number_of(rule, "owner")),
                    maybe(ipc::text(rule, "exe").value_or("")), maybe(ipc::text(rule, "cgroup").value_or("")),
                    maybe(uid ? user_name(*uid) : ""),
                    maybe(options == nullptr || options->empty() ? "" : ipc::to_text(*options))});
  }
  return print_rows(context,
                    {{"id", Kind::Id},
                     {"owner", Kind::Text},
                     {"exe", Kind::Text},
                     {"cgroup", Kind::Text},
                     {"user", Kind::Text},
                     {"options", Kind::Text}},
                    rows);
}

Result<void> remove(const Context& context) {
  if (context.words.size() != 2) return usage_error("watch rm needs a number", "fadectl watch list");
  const auto id = number_word(context.words[1], "the number of a watch");
  if (!id) return tl::unexpected(id.error());
  const auto done = ask(context, "watch-remove", {{"id", *id}});
  return done ? Result<void>{} : tl::unexpected(done.error());
}

}  // namespace

Result<void> watch_programs(Context& context) {
  const std::string what = context.words.empty() ? "list" : context.words.front();
  if (what == "rm" || what == "remove") return remove(context);
  if (context.words.size() > 1) return usage_error("unexpected argument '" + context.words[1] + "'");
  if (what == "add") return add(context);
  if (what == "list") return list(context);
  return usage_error("watch what? '" + what + "' is not one of add, list and rm", "fadectl watch add --exe REGEX");
}

}  // namespace fade::cli::ctl
