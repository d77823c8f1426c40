// The recording to show.
#pragma once
#include <string>

#include "base/result.hpp"
#include "cli/top/reader.hpp"

namespace fade::cli::top {

// `named`: by the user; empty: $FADE_OUTPUT, else the newest one of this directory that is under way.
Result<Reader> choose_recording(const std::string& named);

}  // namespace fade::cli::top
