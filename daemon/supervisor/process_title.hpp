// The name and the command line that ps(1) shows of a process.
#pragma once
#include <string>

namespace fade {

// The memory that the kernel takes for the command line of this process, and of the children that it forks.
struct TitlePlace {
  char* begin = nullptr;
  char* end = nullptr;  // of the environment, which stands behind the arguments
};

TitlePlace title_place();  // empty where /proc does not tell

// Makes `title` the command line of the calling process, and `name` its name (at most 15 characters). The arguments and
// the environment that the process began with are lost. Async-signal-safe.
void set_title(const TitlePlace& place, const char* name, const std::string& title);

}  // namespace fade
