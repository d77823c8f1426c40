// Ends this process the way the program ended, so that whoever started fade-run cannot tell the difference.
#pragma once
#include "base/result.hpp"
#include "supervisor/run.hpp"

namespace fade::cli::run {

inline constexpr int kOwnFailure = 125, kNotExecutable = 126, kNotFound = 127;

int status_of(const Error& error);  // for a program that was never started

// The program's exit status to return from main(), or dies of the program's signal (without a core of our own).
int end_as(const RunOutcome& outcome);

}  // namespace fade::cli::run
