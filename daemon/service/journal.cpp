#include "service/journal.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/log.hpp"
#include "ipc/json.hpp"

namespace fade::service {
namespace {

// JOURNAL_STREAM holds device and inode of the file that systemd connected stderr to.
bool leads_to_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat what {};
  return stream != nullptr && ::fstat(STDERR_FILENO, &what) == 0 &&
         fmt::format("{}:{}", what.st_dev, what.st_ino) == stream;
}

log::Level level_of(Severity severity) { return severity <= Severity::Warning ? log::Level::Error : log::Level::Info; }

}  // namespace

void journal(Severity severity, std::string_view text) {
  static const bool prefixed = leads_to_journal();
  const std::string line = ipc::one_line(text);
  if (!prefixed) return log::write(level_of(severity), line);
  if (log::level() < level_of(severity)) return;
  const std::string whole = fmt::format("<{}>{}\n", static_cast<int>(severity), line);
  if (::write(STDERR_FILENO, whole.data(), whole.size()) < 0) return;  // there is no other place for the message
}

}  // namespace fade::service
