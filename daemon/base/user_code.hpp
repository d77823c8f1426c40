// Which Python files are the user's own, and how their lines are named. The views frame_places and user_lines of schema/views.sql keep the
// same rule for reports. Pure functions of any thread.
#pragma once
#include <string>
#include <string_view>

namespace fade {

// False for files of packages (site-packages, dist-packages), of the standard library, of a starter in a bin folder, and for code that the
// interpreter made itself ("<frozen importlib>"). True for "<stdin>" and "<string>", which a user writes.
bool is_user_code(std::string_view python_file);

// The name of `python_file` in a report: below `folder` relative to it, in packages from the package on, otherwise the file's own name.
// __init__.py and __main__.py keep the folder that they are in.
std::string short_file_name(std::string_view python_file, std::string_view folder);

}  // namespace fade
