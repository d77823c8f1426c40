#include "cli/table/bytes.hpp"

#include <unistd.h>

#include <cerrno>

namespace fade::table {
namespace {
constexpr std::size_t kFlushAt = 64 * 1024;
}

Result<void> FdBytes::write(std::string_view text) {
  buffer_ += text;
  return buffer_.size() >= kFlushAt ? flush() : Result<void>{};
}

Result<void> FdBytes::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("cannot write " + name_);
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  buffer_.clear();
  return {};
}

}  // namespace fade::table
