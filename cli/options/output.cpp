#include "cli/options/output.hpp"

#include <unistd.h>

#include "base/log.hpp"
#include "base/result.hpp"

namespace fade::cli {

int print_result(std::string_view text, int failure) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      log::error("{}", fail_errno("cannot write standard output").value().text());
      return failure;
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

}  // namespace fade::cli
