#include "supervisor/process_title.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace fade {
namespace {

constexpr std::size_t kArgumentsBegin = 48;  // number of the field in proc(5), /proc/PID/stat; the next ones follow it
constexpr std::size_t kAfterName = 3;        // number of the first field after the name, which may hold anything

}  // namespace

TitlePlace title_place() {
  std::ifstream file("/proc/self/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  const std::vector<std::string> words{std::istream_iterator<std::string>(fields), {}};
  constexpr std::size_t first = kArgumentsBegin - kAfterName;
  if (words.size() < first + 4) return {};
  const auto place = [&](std::size_t i) {
    return reinterpret_cast<char*>(std::strtoull(words[first + i].c_str(), nullptr, 10));
  };
  return {.begin = place(0), .end = place(1) == place(2) ? place(3) : place(1)};
}

// A command line that does not end with a NUL where the arguments end goes on to the first NUL, says the kernel
// (fs/proc/base.c).
void set_title(const TitlePlace& place, const char* name, const std::string& title) {
  ::prctl(PR_SET_NAME, name);
  if (place.begin == nullptr || place.end <= place.begin) return;
  std::memset(place.begin, 0, static_cast<std::size_t>(place.end - place.begin));
  std::memcpy(place.begin, title.data(), std::min(title.size(), static_cast<std::size_t>(place.end - place.begin) - 1));
}

}  // namespace fade
