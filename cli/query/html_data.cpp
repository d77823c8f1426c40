#include "cli/query/html_data.hpp"

#include <fmt/format.h>

#include "cli/query/prose.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query::html {
namespace {

constexpr std::size_t kLongest = 1000;  // characters of a text

struct Part {
  const char* name;
  Result<Json> (*make)(const Source&);
};
constexpr Part kParts[] = {{"verdict", verdict_part}, {"run", run_part},         {"timeline", timeline_part},
                           {"flame", flame_part},     {"memory", memory_part},   {"steps", steps_part},
                           {"flow", flow_part},       {"devices", devices_part}, {"findings", findings_part},
                           {"cost", cost_part}};

// A file without folders is enough for a title.
std::string title_of(const Source& source) {
  const std::string& path = source.recording.path;
  return shown(path.substr(path.rfind('/') + 1));
}

}  // namespace

Result<NamedRows> Source::rows(std::string_view page, const std::vector<Binding>& more) const {
  std::vector<Binding> all = more;
  for (const char* filter : {":pid", ":rank", ":name", ":device"}) all.push_back({filter, {}});
  return named_rows(recording, schema::page_sql(page), session, all);
}

std::string Source::command(std::string_view words) const {
  return with_recording(context, "fade-query " + std::string(words));
}

// table::printable() escapes by the locale, and a page is UTF-8 everywhere. escape() doubles backslashes: halved again.
std::string shown(std::string_view text) {
  const std::string escaped = table::escape(text.substr(0, 8 * kLongest));
  std::string out;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    out += escaped[i];
    if (escaped[i] == '\\' && i + 1 < escaped.size() && escaped[i + 1] == '\\') ++i;
  }
  return table::shorten_middle(out, kLongest, true);
}

std::string shown(const NamedRow& row, std::string_view column) { return shown(row.raw(column)); }

void add_text(Json& list, const std::string& text) {
  if (!text.empty()) list.push_back(shown(text));
}

Json page_json(const Source& source) {
  Json parts = Json::object();
  for (const Part& part : kParts) {
    auto made = part.make(source);
    parts[part.name] = made ? std::move(*made) : Json{{"error", shown(made.error().text())}};
  }
  return {{"fade", FADE_VERSION},
          {"title", title_of(source)},
          {"recording", shown(source.recording.path)},
          {"serve", source.command("serve")},
          {"parts", std::move(parts)},
          {"tables", tables(source)}};
}

std::string page_data(const Source& source) {
  return page_json(source).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace fade::query::html
