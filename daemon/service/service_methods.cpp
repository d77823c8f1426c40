// The methods of the protocol, one function each; see fadectl(1) for their purpose.
#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/clock.hpp"
#include "proc/proc_files.hpp"
#include "service/journal.hpp"
#include "service/service.hpp"
#include "service/worker_options.hpp"
#include "supervisor/permission.hpp"

namespace fade::service {
namespace {

using ipc::Json;

constexpr std::size_t kMostListed = 900'000;  // bytes

bool sees(const ipc::Peer& peer, const SessionRecord& record) { return peer.is_root() || peer.uid == record.uid; }

Json check_json(const Check& check) {
  constexpr const char* kVerdicts[] = {"good", "bad", "unknown"};
  return {{"what", check.what},
          {"verdict", kVerdicts[static_cast<std::size_t>(check.verdict)]},
          {"cause", check.cause},
          {"fix", check.fix},
          {"code", check.code}};
}

Check check_of(std::string what, const Result<void>& result) {
  if (result) return {std::move(what), Check::Verdict::Good, {}, {}, 0};
  return {std::move(what), Check::Verdict::Bad,
          result.error().cause.empty() ? result.error().message : result.error().cause, result.error().fix,
          result.error().code};
}

bool has_capability(int number) {
  return (StatusFile(ProcFiles().read("self/status")).mask("CapEff") >> number & 1) != 0;
}

}  // namespace

const std::vector<Service::Method>& Service::methods() {
  static const std::vector<Method> all{
      {"status", &Service::status},
      {"list", &Service::list},
      {"show", &Service::show},
      {"attach", &Service::attach},
      {"stop", &Service::stop},
      {"pause", &Service::pause},
      {"resume", &Service::resume},
      {"mark", &Service::mark},
      {"tail", &Service::tail},
      {"prune", &Service::prune},
      {"check", &Service::check},
      {"reload", &Service::reload},
      {"watch-add", &Service::watch_add},
      {"watch-list", &Service::watch_list},
      {"watch-remove", &Service::watch_remove},
  };
  return all;
}

void Service::handle(const ipc::Peer& peer, const ipc::Request& request, ipc::AnswerPtr answer) {
  const auto refuse = [&](const Error& error) {
    refused(
        peer,
        Error{request.method + " " + ipc::to_text(request.params) + ": " + error.message, error.cause, {}, error.code});
    answer->error(error);
  };
  const auto& allowed = options_.allowed_users;
  if (!allowed.empty() && !peer.is_root() && std::ranges::find(allowed, peer.uid) == allowed.end())
    return refuse(
        Error{"you may not use this daemon", fmt::format("user {} is not in --allow-uid", peer.uid), {}, EPERM});
  const auto method = std::ranges::find(methods(), request.method, &Method::name);
  if (method == methods().end())
    return refuse(Error{"the daemon knows no method '" + ipc::one_line(request.method) + "'",
                        {},
                        "use fadectl and faded of the same version",
                        ENOSYS});
  const auto result = (this->*method->run)({peer, request.params, answer});
  if (!result) return refuse(result.error());
  if (!result->is_null()) answer->result(*result);
}

// Each one is said, but not so many that they fill the log.
void Service::refused(const ipc::Peer& peer, const Error& why) {
  if (!refusals_.take(boottime_ns())) {
    ++unlogged_;
    return;
  }
  if (unlogged_ > 0) journal(Severity::Warning, "{} more refusals were not logged", std::exchange(unlogged_, 0));
  journal(Severity::Warning, "refused user {} (process {}): {}", peer.uid, peer.pid, why.sentence());
}

std::vector<SessionRecord> Service::records_of(const ipc::Peer& peer) const {
  std::vector<SessionRecord> out;
  for (const auto& [id, record] : ended_)
    if (sees(peer, record)) out.push_back(record);
  for (const auto& [id, session] : running_)
    if (sees(peer, session->record())) out.push_back(session->record());
  std::ranges::sort(out, {}, &SessionRecord::id);
  return out;
}

Result<Json> Service::status(const Call& call) {
  std::uint64_t rate = 0, dropped = 0, bytes = 0, live = 0;
  const auto records = records_of(call.peer);
  for (const SessionRecord& record : records) {
    live += record.live();
    rate += record.calls_per_second;
    dropped += record.dropped;
    bytes += record.live() ? record.database_bytes : state_.recording_bytes(record.uid, record.database);
  }
  return Json{{"version", FADE_VERSION},
              {"pid", ::getpid()},
              {"uid", ::geteuid()},
              {"since_ns", since_ns_},
              {"socket", options_.socket},
              {"state_dir", state_.path()},
              {"running", live},
              {"kept", records.size() - live},
              {"calls_per_second", rate},
              {"dropped", dropped},
              {"bytes", bytes},
              {"watches", std::ranges::count_if(watcher_.rules,
                                                [&](const WatchRule& rule) {
                                                  return call.peer.is_root() || rule.owner == call.peer.uid;
                                                })},
              {"most_sessions", options_.sessions},
              {"most_sessions_per_user", options_.sessions_per_user}};
}

Result<Json> Service::list(const Call& call) {
  Json sessions = Json::array();
  std::size_t bytes = 0;
  const auto records = records_of(call.peer);
  for (auto record = records.rbegin(); record != records.rend();
       ++record) {  // the newest first, should they be too many
    Json one = to_json(*record);
    one.erase("notes");
    bytes += ipc::to_text(one).size() + 1;
    if (bytes > kMostListed) break;
    sessions.push_back(std::move(one));
  }
  std::reverse(sessions.begin(), sessions.end());
  return Json{{"sessions", sessions}};
}

Result<Json> Service::show(const Call& call) {
  const std::uint64_t id = ipc::natural(call.params, "id").value_or(0);
  for (const SessionRecord& record : records_of(call.peer))
    if (record.id == id) return to_json(record);
  return fail(fmt::format("there is no session {}", id), {}, "fadectl list", ESRCH);
}

Result<Json> Service::attach(const Call& call) {
  const auto pid = ipc::integer(call.params, "pid");
  if (!pid || *pid <= 0 || *pid > std::numeric_limits<pid_t>::max())
    return fail("attach needs a process id", {}, "fadectl attach PID", EINVAL);
  const bool run = ipc::boolean(call.params, "run").value_or(false);
  Wish wish{call.peer, Pid::of(static_cast<pid_t>(*pid)), run ? "run" : "attach",
            ipc::text(call.params, "name").value_or("")};
  if (const Json* options = ipc::member(call.params, "options")) wish.options = *options;
  const auto session = begin(wish);
  if (!session) return tl::unexpected(session.error());
  until_attached_.emplace((*session)->record().id, call.answer);
  return Json();
}

Result<std::shared_ptr<Session>> Service::running_session(const Call& call) {
  const std::uint64_t id = ipc::natural(call.params, "id").value_or(0);
  const auto found = running_.find(id);
  // A user cannot distinguish another user's session from a missing one.
  if (found != running_.end() && sees(call.peer, found->second->record())) return found->second;
  return fail(fmt::format("no session {} is running", id), {}, "fadectl list", ESRCH);
}

Result<Json> Service::stop(const Call& call) {
  const auto session = running_session(call);
  if (!session) return tl::unexpected(session.error());
  until_ended_.emplace((*session)->record().id, call.answer);
  (*session)->stop();
  return Json();
}

Result<Json> Service::pause(const Call& call) {
  const auto session = running_session(call);
  if (!session) return tl::unexpected(session.error());
  (*session)->pause();
  if ((*session)->record().state == State::Paused) return to_json((*session)->record());
  return fail(fmt::format("session {} cannot be paused", (*session)->record().id),
              fmt::format("it is {}", state_word((*session)->record().state)), {}, EAGAIN);
}

Result<Json> Service::resume(const Call& call) {
  const auto session = running_session(call);
  if (!session) return tl::unexpected(session.error());
  (*session)->resume();
  if ((*session)->record().state == State::Recording) return to_json((*session)->record());
  return fail(fmt::format("session {} cannot be resumed", (*session)->record().id),
              fmt::format("it is {}", state_word((*session)->record().state)), {}, EAGAIN);
}

Result<Json> Service::mark(const Call& call) {
  const auto session = running_session(call);
  if (!session) return tl::unexpected(session.error());
  if ((*session)->mark()) return to_json((*session)->record());
  return fail(fmt::format("session {} cannot be marked", (*session)->record().id),
              fmt::format("it is {}", state_word((*session)->record().state)), {}, EAGAIN);
}

Result<Json> Service::tail(const Call& call) {
  Tail tail{call.peer, 0, call.answer};
  if (ipc::member(call.params, "id") != nullptr) {
    const auto session = running_session(call);
    if (!session) return tl::unexpected(session.error());
    tail.session = (*session)->record().id;
  }
  tails_.push_back(tail);
  for (const auto& [id, session] : running_)
    if ((tail.session == 0 || tail.session == id) && sees(call.peer, session->record()))
      call.answer->event({{"what", "now"}, {"session", to_json(session->record())}});
  return Json();
}

Result<Json> Service::prune(const Call& call) {
  const auto older = ipc::natural(call.params, "older_ns"), keep = ipc::natural(call.params, "keep_bytes");
  if (!older && !keep)
    return fail("prune needs to know what may go", {}, "fadectl prune --older 30d, or: fadectl prune --keep-bytes 50G",
                EINVAL);
  std::vector<SessionRecord> mine;
  std::uint64_t kept_bytes = 0, removed = 0, removed_bytes = 0;
  for (const auto& [id, record] : ended_)
    if (sees(call.peer, record)) {
      mine.push_back(record);
      kept_bytes += state_.recording_bytes(record.uid, record.database);
    }
  const std::int64_t now = realtime_ns();
  std::ranges::sort(mine, {}, &SessionRecord::until_ns);
  for (const SessionRecord& record : mine) {
    const bool old = older && record.until_ns <= now && static_cast<std::uint64_t>(now - record.until_ns) >= *older;
    const bool too_much = keep && kept_bytes > *keep;
    if (!old && !too_much) continue;
    const std::uint64_t bytes = state_.recording_bytes(record.uid, record.database);
    state_.remove_recording(record.uid, record.database);
    state_.remove(StateDir::session_name(record.id));
    ended_.erase(record.id);
    kept_bytes -= bytes;
    removed_bytes += bytes;
    ++removed;
  }
  return Json{{"removed", removed}, {"removed_bytes", removed_bytes}, {"kept_bytes", kept_bytes}};
}

Result<Json> Service::check(const Call& call) {
  std::vector<Check> checks;
  checks.push_back(
      check_of("the daemon has its worker, " + options_.worker,
               ::access(options_.worker.c_str(), X_OK) == 0 ? Result<void>{} : fail_errno("it cannot be run")));
  checks.push_back(check_of("recordings can be kept for you in " + state_.path(), [&]() -> Result<void> {
    auto folder = state_.recordings_of(call.peer.uid, call.peer.gid);
    return folder ? Result<void>{} : tl::unexpected(std::move(folder.error()));
  }()));
  const bool capable = has_capability(CAP_SYS_PTRACE);
  const std::string reach = capable ? "the daemon may trace programs of all users (CAP_SYS_PTRACE)"
                                    : "the daemon may trace its own user's programs";
  const bool own = capable || call.peer.uid == ::geteuid();
  checks.push_back(check_of(
      reach, own ? Result<void>{} : fail("yours are not among them", {}, "sudo systemctl start faded.socket", EPERM)));
  if (const auto pid = ipc::integer(call.params, "pid"); pid && *pid > 0 && *pid <= std::numeric_limits<pid_t>::max()) {
    const auto allowed = authorize(call.peer, Pid::of(static_cast<pid_t>(*pid)));
    checks.push_back(
        check_of("the daemon would attach to it for you", allowed ? Result<void>{} : tl::unexpected(allowed.error())));
    for (Check& one : check_attach(Pid::of(static_cast<pid_t>(*pid)), Asker::self("fadectl attach")))
      checks.push_back(std::move(one));
  }
  Json out = Json::array();
  for (const Check& one : checks) out.push_back(check_json(one));
  return Json{{"checks", out}};
}

Result<Json> Service::reload(const Call& call) {
  if (!call.peer.is_root() && call.peer.uid != ::geteuid())
    return fail("only root may restart the daemon", {}, "sudo fadectl reload", EPERM);
  ipc::asio::post(loop_, on_reload_);
  return Json::object();
}

Result<Json> Service::watch_add(const Call& call) {
  auto rule = rule_from(call.params);
  if (!rule) return tl::unexpected(std::move(rule.error()));
  if (auto words = worker_words(rule->options); !words) return tl::unexpected(std::move(words.error()));
  if (!call.peer.is_root() && rule->uid && *rule->uid != call.peer.uid)
    return fail("only root may watch other users' programs", {}, {}, EPERM);
  rule->owner = call.peer.uid;
  rule->owner_group = call.peer.gid;
  const auto same = [&rule](const WatchRule& other) { return is_same_wish(*rule, other); };
  if (const auto found = std::ranges::find_if(watcher_.rules, same); found != watcher_.rules.end())
    return to_json(*found);
  const auto mine = std::ranges::count(watcher_.rules, call.peer.uid, &WatchRule::owner);
  if (static_cast<std::size_t>(mine) >= options_.rules_per_user)
    return fail("too many watches", fmt::format("you have {}", mine), "fadectl watch rm ID", EAGAIN);
  rule->id = next_rule_++;
  watcher_.rules.push_back(std::move(*rule));
  save_rules();
  if (watcher_.rules.size() == 1) schedule_look();
  return to_json(watcher_.rules.back());
}

Result<Json> Service::watch_list(const Call& call) {
  Json rules = Json::array();
  for (const WatchRule& rule : watcher_.rules)
    if (call.peer.is_root() || rule.owner == call.peer.uid) rules.push_back(to_json(rule));
  return Json{{"watches", rules}};
}

Result<Json> Service::watch_remove(const Call& call) {
  const std::uint64_t id = ipc::natural(call.params, "id").value_or(0);
  const auto removed = std::erase_if(watcher_.rules, [&](const WatchRule& rule) {
    return rule.id == id && (call.peer.is_root() || rule.owner == call.peer.uid);
  });
  if (removed == 0) return fail(fmt::format("there is no watch {}", id), {}, "fadectl watch list", ESRCH);
  save_rules();
  return Json::object();
}

}  // namespace fade::service
