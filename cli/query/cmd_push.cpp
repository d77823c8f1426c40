// push URL [FILE...]: recordings into ClickHouse. The client is cli/push; what is sent is decided in push_*.cpp.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "base/log.hpp"
#include "cli/push/http.hpp"
#include "cli/query/command.hpp"
#include "cli/query/push_file.hpp"
#include "cli/query/server_access.hpp"
#include "cli/query/several.hpp"
#include "cli/query/target.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

constexpr int kLaterStatus = 75;  // EX_TEMPFAIL of sysexits.h: not all was sent, and a later attempt may do better
constexpr std::chrono::minutes kUsualPatience{1};
constexpr std::chrono::seconds kUsualEvery{30};
constexpr std::int64_t kLeastEveryNs = 100'000'000;
constexpr int kNice = 10;

std::atomic<bool> push_stopped{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void stop_push(int) { push_stopped = true; }

struct PushWords {
  push::Address address;
  std::vector<std::string> files;
};

Result<PushWords> read_push_words(const Context& context) {
  PushWords out;
  std::vector<std::string> rest = context.words;
  const auto url = std::ranges::find_if(rest, [](const std::string& word) { return word.find("://") != word.npos; });
  if (url == rest.end())
    return usage("push needs the address of a ClickHouse server", {}, "fade-query push http://HOST:8123 run.db");
  auto address = push::read_address(*url);
  if (!address) return usage(address.error().message, address.error().cause, address.error().fix);
  out.address = std::move(*address);
  rest.erase(url);
  if (rest.empty() && !context.settings.init) {
    auto newest = default_recording(std::getenv("FADE_OUTPUT"), ".");
    if (!newest) return tl::unexpected(newest.error());
    log::info("reading {}", table::printable(*newest));
    rest.push_back(std::move(*newest));
  }
  auto files = expanded(rest);
  if (!files) return tl::unexpected(files.error());
  out.files = std::move(*files);
  return out;
}

Result<void> check_push_options(const Settings& settings, const PushWords& words) {
  if (!settings.cluster.empty() && !settings.init)
    return usage("--cluster is for --init", "the server knows then where rows go",
                 "fade-query push URL --init --cluster NAME");
  if (settings.every_ns && (!settings.follow || *settings.every_ns < kLeastEveryNs))
    return usage("--every is for --follow, 100ms or more", {}, "fade-query push URL run.db --follow --every 30s");
  if (settings.follow && words.files.size() > 1)
    return usage("--follow takes one recording", {}, "one fade-query push --follow for each of them");
  return {};
}

void say_sent(const std::string& path, const PushedFile& sent, const push::Server& server, std::int64_t bytes_before) {
  const std::string file = table::printable(path);
  if (sent.already_there == sent.sessions) return log::info("{}: the server has all of it already", file);
  log::info("sent {}: {}, {} compressed", file, table::human_counted(sent.rows, "row"),
            table::human_bytes(server.sent_bytes() - bytes_before));
}

// A push that may succeed later ends with a status of its own, so that a script can try again. The command for the
// rest is printed in any case: users of fade-run --push did not write this one.
Result<void> not_all(Context& context, const PushFile& file, const Error& why) {
  const bool is_later = why.code == push::kUnreachable || push_stopped;
  if (!is_later && context.settings.follow) log::info("{}", file.what_is_left());
  if (!is_later) return tl::unexpected(why);
  context.status = kLaterStatus;
  if (!push_stopped) log::error("{}", why.text());
  log::info("{}", file.what_is_left());
  return {};
}

std::string options_to_reach(const Settings& settings) {
  std::string out;
  for (const auto& [option, value] :
       {std::pair{"--user", &settings.user}, {"--password-file", &settings.password_file}, {"--ca", &settings.ca_file}})
    if (!value->empty()) out += fmt::format(" {} {}", option, table::shell_word(*value));
  return out;
}

// Nothing of this is refused: many networks of clusters are closed ones. But it is never silent.
void say_unencrypted(const push::Address& address, bool has_password) {
  if (address.is_encrypted || address.is_loopback) return;
  log::info("{} {} unencrypted: https:// would hide {}",
            has_password ? "the recording and the password go to" : "the recording goes to", address.url,
            has_password ? "them" : "it");
}

Result<void> send_files(Context& context, push::Server& server, const std::vector<std::string>& files) {
  const Settings& settings = context.settings;
  const PushWish wish{
      settings.job,
      std::chrono::nanoseconds(settings.timeout_ns.value_or(std::chrono::nanoseconds(kUsualPatience).count())),
      std::chrono::nanoseconds(settings.every_ns.value_or(std::chrono::nanoseconds(kUsualEvery).count())),
      options_to_reach(settings)};
  for (const std::string& path : files) {
    const std::int64_t before = server.sent_bytes();
    PushFile file(server, path, wish, push_stopped);
    auto sent = settings.follow ? file.follow() : file.send();
    if (!sent) return not_all(context, file, sent.error());
    say_sent(path, *sent, server, before);
  }
  return {};
}

// The program that is recorded has the machine first. Ctrl-C and the end of the terminal are for it, and not for us.
void stand_back() {
  if (::setsid() >= 0) ::signal(SIGHUP, SIG_IGN);
  ::setpriority(PRIO_PROCESS, 0, kNice);
}

void take_push_signals() {
  struct sigaction action {};
  action.sa_handler = stop_push;
  for (const int number : {SIGINT, SIGTERM}) ::sigaction(number, &action, nullptr);
}

}  // namespace

Result<void> push_recordings(Context& context) {
  const Settings& settings = context.settings;
  auto words = read_push_words(context);
  if (!words) return tl::unexpected(words.error());
  if (auto fine = check_push_options(settings, *words); !fine) return fine;
  auto access = read_server_access(settings);
  if (!access) return tl::unexpected(access.error());
  const push::Address& address = words->address;
  say_unencrypted(address, !access->password.empty());
  take_push_signals();
  if (settings.follow) stand_back();
  auto server = push::Server::make(address, *access, push_stopped);
  if (!server) return tl::unexpected(server.error());
  if (settings.init) {
    if (auto made = server->init(settings.cluster); !made) return made;
    log::info("{} has fade's tables in the database {}", address.url, address.database);
  }
  return send_files(context, *server, words->files);
}

}  // namespace fade::query
