#include "base/result.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fade {

std::string Error::text() const {
  std::string out = message;
  if (!cause.empty()) out += "\n  cause: " + cause;
  if (!fix.empty()) out += "\n  fix:   " + fix;
  return out;
}

std::string Error::sentence() const { return cause.empty() ? message : message + ": " + cause; }

Error with_context(std::string doing, Error error) {
  error.message = std::move(doing) + ": " + error.message;
  return error;
}

tl::unexpected<Error> fail(std::string message, std::string cause, std::string fix, int code) {
  return tl::unexpected<Error>(Error{std::move(message), std::move(cause), std::move(fix), code});
}

tl::unexpected<Error> fail_errno(std::string message, int code, std::string fix) {
  return fail(std::move(message), std::strerror(code), std::move(fix), code);
}

void broken_invariant(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "fade: broken invariant: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace fade
