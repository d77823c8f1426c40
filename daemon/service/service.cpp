#include "service/service.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.hpp"
#include "service/journal.hpp"
#include "service/worker_options.hpp"
#include "session/side_command.hpp"

namespace fade::service {
namespace {

namespace asio = ipc::asio;
using ipc::Json;

constexpr std::chrono::seconds kLookPeriod{1};
constexpr int kYamaOnlyParents = 1;
constexpr const char* kRulesFile = "watches.json";

// As part of a template of fade-attach, where a percent sign means something.
std::string as_template(const std::string& path) {
  std::string out;
  for (const char c : path) out += c == '%' ? "%%" : std::string(1, c);
  return out;
}

template <class Map>
std::vector<ipc::AnswerPtr> taken(Map& map, std::uint64_t id) {
  std::vector<ipc::AnswerPtr> out;
  const auto [begin, end] = map.equal_range(id);
  for (auto it = begin; it != end; ++it) out.push_back(it->second);
  map.erase(begin, end);
  return out;
}

}  // namespace

Service::Service(asio::io_context& loop, StateDir& state, ServiceOptions options, OnReload on_reload)
    : loop_(loop),
      state_(state),
      options_(std::move(options)),
      on_reload_(std::move(on_reload)),
      since_ns_(realtime_ns()),
      look_(loop) {
  load_rules();
  if (!watcher_.rules.empty()) schedule_look();
}

void Service::recover() {
  for (const std::uint64_t id : state_.saved_sessions()) {
    const auto json = ipc::parse_object(state_.load(StateDir::session_name(id)));
    auto record = json ? record_from(*json) : std::nullopt;
    if (!record || record->id != id) {
      journal(Severity::Warning, "{} cannot be read and is left as it is", StateDir::session_name(id));
      continue;
    }
    watcher_.skip(record->pid, record->start_ticks);
    recover(std::move(*record));
  }
}

void Service::recover(SessionRecord record) {
  const std::uint64_t id = record.id;
  if (!record.live()) {
    ended_.emplace(id, std::move(record));
    return;
  }
  auto worker = find_worker(record.worker, record.worker_start_ticks);
  if (!worker) {
    take_last_word(record);
    if (record.live()) {
      record.state = State::Unknown;
      record.ending = fmt::format("the daemon was restarted; fade-query {} tells", record.database_path());
      record.until_ns = realtime_ns();
    }
    save(record);
    ended_.emplace(id, std::move(record));
    return;
  }
  journal(Severity::Notice, "session {} goes on: process {}, worker {}{}", id, record.pid, record.worker,
          worker->control ? "" : " (it can only be stopped)");
  const auto session = std::make_shared<Session>(loop_, std::move(record), std::move(*worker),
                                                 [this](Session& s, std::string_view what) { changed(s, what); });
  running_.emplace(id, session);
  session->start();
}

void Service::take_last_word(SessionRecord& record) const {
  const auto report = ipc::parse_object(state_.take_last_word(record.uid, record.database));
  const bool heard = !record.live() && record.state != State::Lost;
  if (!heard && report && ipc::text(*report, "event") == "ended") take_report(record, *report);
}

void Service::stop_all(std::function<void()> done) {
  all_stopped_ = std::move(done);
  look_.cancel();
  const auto running = running_;
  for (const auto& [id, session] : running) session->stop();
  if (running_.empty()) asio::post(loop_, all_stopped_);
}

void Service::save(const SessionRecord& record) {
  if (auto saved = state_.save(StateDir::session_name(record.id), ipc::to_text(to_json(record))); !saved)
    journal(Severity::Error, "{}", saved.error().text());
}

Result<void> Service::may_begin(const Wish& wish) const {
  const std::string doing = fmt::format("cannot attach to process {}", wish.pid);
  if (all_stopped_) return fail(doing, "the daemon is ending", {}, EAGAIN);
  std::size_t of_user = 0;
  for (const auto& [id, session] : running_) {
    of_user += session->record().uid == wish.peer.uid;
    if (session->record().pid == wish.pid)
      return fail(doing, fmt::format("session {} records it already", id), fmt::format("fadectl show {}", id), EBUSY);
  }
  if (running_.size() >= options_.sessions || of_user >= options_.sessions_per_user)
    return fail(doing,
                fmt::format("{} sessions run, {} of them yours; {} and {} are allowed", running_.size(), of_user,
                            options_.sessions, options_.sessions_per_user),
                "fadectl stop ID", EAGAIN);
  const auto kept = std::ranges::count_if(ended_, [&](const auto& entry) { return entry.second.uid == wish.peer.uid; });
  if (static_cast<std::size_t>(kept) >= options_.kept_per_user)
    return fail(doing, fmt::format("{} recordings of yours are kept, no more are allowed", kept),
                "fadectl prune --older 7d", EAGAIN);
  return {};
}

Result<SessionRecord> Service::new_record(const Wish& wish, const ProcessStatus& status) {
  auto folder = state_.recordings_of(wish.peer.uid, wish.peer.gid);
  if (!folder) return tl::unexpected(std::move(folder.error()));
  const auto id = state_.next_id();
  if (!id) return tl::unexpected(id.error());
  SessionRecord record;
  record.id = *id;
  record.uid = wish.peer.uid;
  record.gid = wish.peer.gid;
  record.via = wish.via;
  record.pid = status.pid;
  record.start_ticks = status.start_ticks;
  record.program = wish.name.empty() ? status.name : wish.name;
  record.folder = std::move(*folder);
  record.database = fmt::format("{}-{}-{}.db", plain_name(record.program), status.pid, record.id);
  record.since_ns = realtime_ns();
  return record;
}

Result<std::shared_ptr<Session>> Service::begin(const Wish& wish) {
  if (auto may = may_begin(wish); !may) return tl::unexpected(std::move(may.error()));
  auto words = worker_words(wish.options);
  if (!words) return tl::unexpected(std::move(words.error()));
  auto target = authorize(wish.peer, wish.pid);
  if (!target) return tl::unexpected(std::move(target.error()));
  auto record = new_record(wish, target->status);
  if (!record) return tl::unexpected(std::move(record.error()));
  words->insert(words->end(),
                {"-q", "--output=" + as_template(record->database_path()), std::to_string(wish.pid.value())});
  auto worker =
      start_worker({options_.worker, std::move(*words), record->uid, record->gid, yama_scope() == kYamaOnlyParents});
  if (!worker) return tl::unexpected(std::move(worker.error()));
  record->worker = worker->pid;
  record->worker_start_ticks = worker->start_ticks;
  save(*record);
  watcher_.skip(record->pid, record->start_ticks);
  journal(Severity::Info, "session {}: user {} attaches to process {} ({})", record->id, record->uid, record->pid,
          record->program);
  const std::uint64_t id = record->id;
  const auto session = std::make_shared<Session>(loop_, std::move(*record), std::move(*worker),
                                                 [this](Session& s, std::string_view what) { changed(s, what); });
  ++started_[wish.via];
  session->target = std::move(*target);
  running_.emplace(id, session);
  session->start();
  return session;
}

void Service::changed(Session& session, std::string_view what) {
  if (what == "attached") attached(session);
  else if (what == "ended") return ended(session);
  else if (what != "tick") save(session.record());
  tell_tails(session.record(), what);
}

// The process that was checked may have become another program, or another process, before the worker came.
void Service::attached(Session& session) {
  const SessionRecord& record = session.record();
  if (session.target) {
    const auto allowed = still_allowed({0, record.uid, record.gid}, *session.target);
    session.target.reset();
    if (!allowed) return session.abandon(allowed.error().cause);
  }
  state_.open_recording(record.uid, record.database);
  save(record);
  push(record);
  for (const ipc::AnswerPtr& answer : taken(until_attached_, record.id)) answer->result(to_json(record));
}

// A process of its own, which reads the file beside the worker. It ends by itself after the recording.
void Service::push(const SessionRecord& record) const {
  if (options_.push.empty()) return;
  std::vector<std::string> words = options_.push;
  words.insert(words.end(), {record.database_path(), "--follow"});
  if (auto started = run_beside(words, {}, Scheduling::now()); !started)
    journal(Severity::Error, "session {} is not sent: {}", record.id, started.error().text());
}

void Service::ended(Session& session) {
  SessionRecord record = session.record();
  take_last_word(record);
  const auto keep_alive = running_[record.id];
  running_.erase(record.id);
  const bool never_began = record.state == State::Failed;
  counted_.add(record);
  ++finished_[state_word(record.state)];
  if (session.abandoned()) state_.remove_recording(record.uid, record.database);
  journal(record.state == State::Ended ? Severity::Info : Severity::Warning, "session {}: {}", record.id,
          record.ending);
  const Error error =
      session.refusal.value_or(Error{fmt::format("cannot attach to process {}", record.pid), record.ending, {}, 0});
  for (const ipc::AnswerPtr& answer : taken(until_attached_, record.id))
    never_began || record.state == State::Lost ? answer->error(error) : answer->result(to_json(record));
  for (const ipc::AnswerPtr& answer : taken(until_ended_, record.id)) answer->result(to_json(record));
  tell_tails(record, "ended");
  // The client of attach knows the reason of a failure; a watch has no client, so its failure must be found in the
  // list.
  if (never_began && record.via != "watch") {
    state_.remove(StateDir::session_name(record.id));
  } else {
    state_.open_recording(record.uid, record.database);
    save(record);
    ended_.emplace(record.id, record);
  }
  if (all_stopped_ && running_.empty()) asio::post(loop_, all_stopped_);
}

void Service::tell_tails(const SessionRecord& record, std::string_view what) {
  for (const Tail& tail : tails_) {
    if (!tail.peer.is_root() && tail.peer.uid != record.uid) continue;
    if (tail.session != 0 && tail.session != record.id) continue;
    tail.answer->event({{"what", what}, {"session", to_json(record)}});  // a client that reads too slowly misses some
    if (what == "ended" && tail.session == record.id) tail.answer->result(to_json(record));
  }
  std::erase_if(tails_, [](const Tail& tail) { return !tail.answer->open(); });
}

Metrics Service::metrics() const {
  Metrics out{.ended = counted_, .started = started_, .finished = finished_, .watches = watcher_.rules.size()};
  for (const auto& [id, session] : running_) out.live.push_back(session->record());
  return out;
}

void Service::schedule_look() {
  look_.expires_after(kLookPeriod);
  look_.async_wait([this](const ipc::Failure& cancelled) {
    if (cancelled || watcher_.rules.empty()) return;
    look_for_programs();
    schedule_look();
  });
}

void Service::look_for_programs() {
  for (const Match& match : watcher_.look()) attach_match(match);
}

void Service::attach_match(const Match& match) {
  const ipc::Peer owner{0, match.rule.owner, match.rule.owner_group};
  const auto begun = begin({owner, match.pid, "watch", {}, match.rule.options});
  if (!begun) journal(Severity::Warning, "watch {}: {}", match.rule.id, begun.error().text());
}

void Service::save_rules() {
  Json rules = Json::array();
  for (const WatchRule& rule : watcher_.rules) rules.push_back(to_json(rule));
  if (auto saved = state_.save(kRulesFile, ipc::to_text({{"next", next_rule_}, {"rules", rules}})); !saved)
    journal(Severity::Error, "{}", saved.error().text());
}

void Service::load_rules() {
  const auto json = ipc::parse_object(state_.load(kRulesFile));
  if (!json) return;
  next_rule_ = ipc::natural(*json, "next").value_or(1);
  const Json* rules = ipc::member(*json, "rules");
  if (rules == nullptr || !rules->is_array()) return;
  for (const Json& one : *rules)
    if (auto rule = rule_from(one)) watcher_.rules.push_back(std::move(*rule));
}

}  // namespace fade::service
