// The exit statuses of fade-attach.
#pragma once
#include "base/result.hpp"

namespace fade::cli::attach {

inline constexpr int kFailed = 1, kNotPermitted = 3, kNoProcess = 4, kNotSupported = 5;

int status_of(int code);  // errno of an Error or a Check
inline int status_of(const Error& error) { return status_of(error.code); }

}  // namespace fade::cli::attach
