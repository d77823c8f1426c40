#include "cli/top/choose.hpp"

#include <cstdlib>

#include "cli/table/text.hpp"

namespace fade::cli::top {
namespace {

constexpr std::size_t kMostLooks = 30;  // at recordings of a directory, newest first

}  // namespace

Result<Reader> choose_recording(const std::string& named) {
  if (!named.empty()) return Reader::open(named);
  const char* output = std::getenv("FADE_OUTPUT");
  if (output != nullptr && *output != '\0') return Reader::open(output);
  const auto found = query::recordings_in(".");
  for (std::size_t i = 0; i < found.size() && i < kMostLooks; ++i)
    if (auto reader = Reader::open(found[i].path); reader && reader->under_way()) return reader;
  if (found.empty())
    return fail("there is no recording here", "no file of the current directory is a recording",
                "fade top PID      attaches to a running program; fade-run -- PROGRAM      records a new one");
  const std::string newest = table::printable(found.front().path);
  return fail("no recording is under way here", "the newest one, " + newest + ", has ended",
              "fade top " + newest + "      shows its sums; fade top PID      attaches to a running program");
}

}  // namespace fade::cli::top
