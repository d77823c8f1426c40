#include "store/postmortem_book.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/demangle.hpp"
#include "store/call_view.hpp"

namespace fade::store {
namespace {

constexpr const char* kKinds[] = {"signal", "exit", "hang", "snapshot"};

// "function+0x12"
std::string readable_symbol(const std::string& symbol) {
  const std::size_t plus = symbol.rfind("+0x");
  const auto name = demangled(symbol.substr(0, plus));
  return name && plus != symbol.npos ? *name + symbol.substr(plus) : symbol;
}

}  // namespace

PostmortemBook::PostmortemBook(sqlite::Db& db, Failure& failure, Directory& directory, const MemoryLedger& memory,
                               SessionRow session)
    : directory_(directory),
      memory_(memory),
      session_(session),
      base_(last_row<PostmortemRow>(db, "postmortem_")),
      postmortem_(db, failure, "INSERT OR REPLACE INTO postmortem_ VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
      held_(db, failure, "INSERT OR REPLACE INTO postmortem_memory_ VALUES (?,?,?,?,?)"),
      thread_(db, failure, "INSERT OR REPLACE INTO postmortem_thread_ VALUES (?,?,?,?,?,?,?,?,?,?)"),
      call_(db, failure, "INSERT OR REPLACE INTO postmortem_call_ VALUES (?,?,?,?,?,?,?,?)"),
      last_call_(db, failure, "INSERT OR REPLACE INTO postmortem_last_ VALUES (?,?,?,?,?,?,?,?)") {}

PostmortemBook::Last& PostmortemBook::last_of(ThreadId thread) {
  const std::size_t at = thread.value();
  if (at >= last_.size()) last_.resize(std::max(at + 1, last_.size() * 2));
  if (!last_[at]) last_[at] = std::make_unique<Last>();
  return *last_[at];
}

void PostmortemBook::on(const ThreadEnded& notice) {
  if (notice.thread.value() < last_.size()) last_[notice.thread.value()].reset();
}

void PostmortemBook::on(const Postmortem& n) {
  const bool by_signal = n.kind == Postmortem::Kind::Signal;
  postmortem_(row(n.postmortem), session_, directory_.process_row(n.process),
              unless(directory_.thread_row(n.thread), 0), n.at, kKinds[static_cast<std::size_t>(n.kind)],
              by_signal ? std::optional(n.signal) : std::nullopt, n.has_code ? std::optional(n.code) : std::nullopt,
              n.address ? std::optional(static_cast<std::int64_t>(*n.address)) : std::nullopt, unless(n.sender, 0),
              n.sender == 0 ? std::nullopt : std::optional(static_cast<std::int64_t>(n.sender_uid)),
              unless_empty(n.sender_name), n.kind == Postmortem::Kind::Exit ? std::optional(n.exit_code) : std::nullopt,
              unless(n.quiet_ns, 0), unless_empty(n.cause), unless_empty(n.evidence));
  for (const MemorySums::Holding& held : memory_.sums().held(n.process))
    held_(row(n.postmortem), held.device, static_cast<int>(held.kind), held.bytes, held.peak);
}

void PostmortemBook::write_call(PostmortemRow postmortem, const ThreadSeen& seen, const ThreadSeen::Call& call) {
  const FunctionEntry* function = directory_.function(call.record.function);
  if (!function) return;
  const CallView view{*function->probe, call.record, call.payload, function->library_major};
  call_(postmortem, directory_.call_row(call.record.id), directory_.thread_row(seen.thread), function->row,
        unless(directory_.call_row(call.record.parent), 0), call.record.entry_ns,
        unless(directory_.site_row(call.record.caller), 0), view.args_json());
}

void PostmortemBook::on(const ThreadSeen& n) {
  const PostmortemRow postmortem = row(n.postmortem);
  const ThreadRow thread = directory_.thread_row(n.thread);
  const std::string symbol = readable_symbol(n.symbol), earlier = fmt::format("{}", fmt::join(n.earlier, " > "));
  thread_(postmortem, thread, n.at, unless_empty(n.doing), unless(directory_.module_row(n.module), 0),
          unless(static_cast<std::int64_t>(n.address), 0),
          n.module == 0 ? std::nullopt : std::optional(static_cast<std::int64_t>(n.offset)), unless_empty(symbol),
          unless(directory_.stack_row(n.stack), 0), unless_empty(earlier));
  for (const ThreadSeen::Call& call : n.calls) write_call(postmortem, n, call);
  if (n.thread.value() >= last_.size() || !last_[n.thread.value()]) return;
  const Last& last = *last_[n.thread.value()];
  for (std::size_t i = 0; i < std::min(last.n, kLast); ++i) {
    const Left& call = last.calls[i];
    last_call_(postmortem, call.call, thread, call.function, call.at, call.end - call.at, call.returned ? 1 : 0,
               call.result);
  }
}

}  // namespace fade::store
