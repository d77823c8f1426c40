// page: one HTML file with everything that people look at. The front end is cli/page, the data html_*.cpp.
#include <fmt/format.h>

#include "base/log.hpp"
#include "cli/page/html.hpp"
#include "cli/query/html_data.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kLargestPage = 5'000'000 - 200'000;  // bytes of data; the rest is the front end
constexpr std::int64_t kSmallestShare = 64;

}  // namespace

Result<void> html::check_no_filters(const Settings& settings, std::string_view command) {
  const std::string name(command);
  for (const Parameter& p : parameters(settings))
    if (!table::is_null(p.value))
      return usage(name + " has no " + std::string(p.option), "it shows one session as a whole",
                   "fade-query " + name + " --session N");
  if (settings.session == "all")
    return usage(name + " shows one session", "--session all was given", "fade-query " + name + " --session N");
  if (settings.format || settings.sql || settings.watch || settings.limit || !settings.where.empty() ||
      !settings.sort.empty() || !settings.columns.empty())
    return usage(name + " takes no options for rows or formats", "it is always HTML", "fade-query " + name);
  return {};
}

Context html::for_browser(const Context& context) {
  Context out = context;
  out.output.style.terminal = {};
  out.output.style.terminal.utf8 = true;
  return out;
}

Result<void> write_page(Context& context, Recording& recording) {
  if (auto fine = html::check_no_filters(context.settings, "page"); !fine) return fine;
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  const Context browser = html::for_browser(context);
  html::Source source{browser, recording, *session};
  std::string data = html::page_data(source);
  while (data.size() > kLargestPage && source.share < kSmallestShare) {
    source.share *= 4;
    data = html::page_data(source);
  }
  const std::string file = page::page_around(data);
  if (auto done = context.output.bytes->write(file); !done) return done;
  const std::string& to = context.settings.output;
  if (!to.empty() && to != "-")
    log::info("wrote {}, {}: open it in a browser", table::printable(to),
              table::human_bytes(static_cast<std::int64_t>(file.size())));
  return {};
}

}  // namespace fade::query
