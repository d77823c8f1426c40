// Errors are values. Operations that the outside world may refuse return Result<T>; a broken invariant stops the
// process loudly (FADE_CHECK). An Error reads as three lines: the failed operation, its cause, the fix.
#pragma once
#include <cerrno>
#include <string>
#include <tl/expected.hpp>

namespace fade {

struct Error {
  std::string message;  // the failed operation, without the program's name and without a full stop
  std::string cause;    // the cause, may be empty
  std::string fix;      // a command to paste or a sentence, may be empty
  int code = 0;         // errno, 0 if none applies

  // "message" on the first line, then "  cause: ..." and "  fix:   ..." if they are set.
  std::string text() const;
  // "message: cause", without the fix.
  std::string sentence() const;
};

template <class T>
using Result = tl::expected<T, Error>;

// Puts the present operation in front of an error on its way up: "cannot open x.db: disk is full".
Error with_context(std::string doing, Error error);

tl::unexpected<Error> fail(std::string message, std::string cause = {}, std::string fix = {}, int code = 0);
// The cause is strerror(code).
tl::unexpected<Error> fail_errno(std::string message, int code = errno, std::string fix = {});

[[noreturn]] void broken_invariant(const char* condition, const char* file, int line);

}  // namespace fade

#define FADE_CHECK(condition) ((condition) ? (void)0 : ::fade::broken_invariant(#condition, __FILE__, __LINE__))
