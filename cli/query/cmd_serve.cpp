// serve: the page over HTTP, with single calls and SQL, which one file cannot hold. The server is cli/serve, the front
// end cli/page, and the answers are made in serve_*.cpp.
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <array>

#include "base/log.hpp"
#include "cli/page/html.hpp"
#include "cli/query/serve_data.hpp"
#include "cli/serve/server.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kPageLane = 0, kRangeLane = 1, kSqlLane = 2, kTraceLane = 3, kLanes = 4;

serve::Answer front_page(const serve::Request&, const serve::Cancelled&) {
  page::ServedPage made = page::served_page(R"({"served":true})");
  serve::Answer out;
  out.type = "text/html; charset=utf-8";
  out.body = std::move(made.html);
  out.policy = std::move(made.policy);
  return out;
}

template <class Object>
serve::MakeAnswer of(Object& object, serve::Answer (Object::*make)(const serve::Request&, const serve::Cancelled&)) {
  return [&object, make](const serve::Request& request, const serve::Cancelled& cancelled) {
    return (object.*make)(request, cancelled);
  };
}

// All users can read the address, with its token, in the list of processes. The guard refuses them nevertheless.
void open_browser(const std::string& address) {
  std::string program = "xdg-open", word = address;
  std::array<char*, 3> arguments{program.data(), word.data(), nullptr};
  pid_t pid = 0;
  ::signal(SIGCHLD, SIG_IGN);  // it is not waited for
  if (::posix_spawnp(&pid, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0)
    log::error("cannot open a browser: xdg-open is not installed; open the address by hand");
}

// The address is the only line on standard output, so that a script can read it.
void tell_address(Context& context, const std::string& address) {
  (void)context.output.bytes->write(address + "\n");
  (void)context.output.bytes->flush();
  log::info("serving to you alone, on this machine alone; Ctrl-C ends it");
  if (context.settings.open) open_browser(address);
}

}  // namespace

Result<void> serve_page(Context& context, Recording& recording) {
  if (auto fine = html::check_no_filters(context.settings, "serve"); !fine) return fine;
  if (auto session = chosen_session(context.settings, recording); !session) return tl::unexpected(session.error());
  auto for_ranges = connect_again(recording), for_sql = connect_again(recording), for_trace = connect_again(recording);
  for (const auto* connected : {&for_ranges, &for_sql, &for_trace})
    if (!*connected) return tl::unexpected(connected->error());
  const Context browser = html::for_browser(context);
  live::PageParts parts(browser, std::move(recording));
  live::CallRanges ranges(browser, std::move(*for_ranges));
  live::SqlBox sql(browser, std::move(*for_sql));
  live::TraceExport trace(browser, std::move(*for_trace));
  serve::Options options;
  options.port = static_cast<std::uint16_t>(context.settings.port.value_or(0));
  options.lanes = kLanes;
  options.routes = {{"", kRangeLane, front_page},
                    {"data.json", kPageLane, of(parts, &live::PageParts::answer)},
                    {"range.json", kRangeLane, of(ranges, &live::CallRanges::answer)},
                    {"call.json", kRangeLane, of(ranges, &live::CallRanges::call)},
                    {"sql.json", kSqlLane, of(sql, &live::SqlBox::answer)},
                    {"trace.pftrace", kTraceLane, of(trace, &live::TraceExport::answer)}};
  options.ready = [&](const std::string& address) { tell_address(context, address); };
  return serve::run(options);
}

}  // namespace fade::query
