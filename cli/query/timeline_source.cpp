#include "cli/query/timeline_source.hpp"

#include <algorithm>

namespace fade::query {

// Sessions of one boot have their times by CLOCK_BOOTTIME, which no correction of the date changes.
void SessionClocks::add(const NamedRow& session) {
  const std::int64_t epoch = session.number("start_ns"), boot = session.number("boot_ns");
  if (offsets_.empty()) zero_epoch_ = epoch, zero_boot_ = boot, boot_id_ = session.raw("boot_id");
  const bool same_boot = session.raw("boot_id") == boot_id_;
  const std::int64_t offset = same_boot ? boot - zero_boot_ : epoch - zero_epoch_;
  offsets_[session.number("id")] = offset;
  end_ = std::max(end_, offset + session.number("length"));
}

std::int64_t SessionClocks::at(std::int64_t session, std::int64_t time) const {
  const auto found = offsets_.find(session);
  return found == offsets_.end() ? time : found->second + time;
}

void bind_filters(TraceSource& source, Statement& statement) {
  for (const Parameter& p : parameters(source.context.settings))
    statement.bind((":" + std::string(p.parameter)).c_str(), p.value);
  statement.bind(":session", source.session);
  statement.bind(":kineto", std::int64_t{source.kineto});
}

Result<void> for_each_row(TraceSource& source, const std::string& sql,
                          const std::function<Result<void>(const NamedRow&)>& use) {
  auto statement = source.recording.database.prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  bind_filters(source, *statement);
  return for_each_row(*statement, use);
}

}  // namespace fade::query
