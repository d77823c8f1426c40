#include "store/session_row.hpp"

#include <sys/utsname.h>

#include <fstream>
#include <string>
#include <utility>

#include "base/secrets.hpp"

namespace fade::store {
namespace {

std::string boot_id() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string out;
  std::getline(in, out);
  return out;
}

}  // namespace

Result<SessionRow> write_session(sqlite::Db& db, const SessionInfo& session, const DetailLevels& detail) {
  Failure failure;
  utsname host{};
  ::uname(&host);
  std::string command;
  for (const std::string& word : without_secrets(session.command)) command += (command.empty() ? "" : " ") + word;
  Write insert(db, failure,
               "INSERT INTO session_ (kind, start_ns, boot_ns, host, kernel, boot_id, cwd, command, fade_version, "
               "options, detail) "
               "VALUES (?,?,?,?,?,?,?,?,?,?,?)");
  insert(session.kind, session.clock.real_ns, session.clock.boot_ns, host.nodename, host.release, boot_id(),
         session.cwd, command, session.fade_version, session.options, detail.text());
  if (failure) return tl::unexpected(std::move(*failure.error));
  return SessionRow::of(sqlite3_last_insert_rowid(db.get()));
}

}  // namespace fade::store
