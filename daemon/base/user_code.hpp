// Tells a user's own Python files from packages, and names their lines. The views frame_places and user_lines of
// schema/views/stacks.sql keep the same rule for reports. Pure functions for any thread.
#pragma once
#include <string>
#include <string_view>

namespace fade {

// False for files of packages (site-packages, dist-packages), of the standard library and of a starter in a bin folder.
// False also for code that the interpreter made itself ("<frozen importlib>"). True for "<stdin>" and "<string>", which
// a user writes.
bool is_user_code(std::string_view python_file);

// The name of `python_file` in a report: relative to `folder` if below it, from the package on in packages, otherwise
// the file's own name. __init__.py and __main__.py keep their folder.
std::string short_file_name(std::string_view python_file, std::string_view folder);

}  // namespace fade
