#include "base/living_thread.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>

namespace fade {
namespace {

bool ended_in(const std::string& folder) {
  std::ifstream in(folder + "/stat");
  std::string text;
  std::getline(in, text, '\0');
  const auto name_end = text.rfind(')');  // the name before it may hold anything
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return true;
  return text[name_end + 2] == 'Z' || text[name_end + 2] == 'X';
}

}  // namespace

bool has_ended(pid_t tid) { return ended_in("/proc/" + std::to_string(tid)); }

pid_t living_thread(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  if (!ended_in(process)) return pid;
  std::error_code ended;
  for (std::filesystem::directory_iterator at(process + "/task", ended), end; !ended && at != end; at.increment(ended)) {
    if (ended_in(at->path())) continue;
    const std::string name = at->path().filename();
    pid_t tid = pid;
    std::from_chars(name.data(), name.data() + name.size(), tid);
    return tid;
  }
  return pid;
}

}  // namespace fade
