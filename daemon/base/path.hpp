// Names of files as users give them.
#pragma once
#include <string>

namespace fade {

// The same file under a name without special meaning: programs take -x for an option, SQLite takes ":memory:" for no
// file at all and "file:x?mode=..." for options.
std::string literal_path(const std::string& path);

}  // namespace fade
