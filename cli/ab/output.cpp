#include "cli/ab/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "cli/table/text.hpp"

namespace fade::cli::ab {
namespace {

constexpr std::size_t kShown = 56;   // bytes of a line
constexpr std::size_t kBefore = 24;  // of them before the place where the lines part

// Appending: a program may open its standard output once more and write from the beginning.
Fd open_nameless() {
  const char* directory = std::getenv("TMPDIR");
  Fd file(::open(directory != nullptr && *directory != '\0' ? directory : "/tmp",
                 O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600));
  if (!file) file = Fd(::memfd_create("output", MFD_CLOEXEC));
  return file;
}

// Not within a character of UTF-8.
std::size_t char_begin(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && (text[at] & 0xC0) == 0x80) --at;
  return at;
}

// The line around `at`, cut so that this place can be seen.
std::string line_at(const std::string& text, std::size_t at) {
  const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  const std::string_view line =
      std::string_view(text).substr(begin, std::min(text.find('\n', at), text.size()) - begin);
  const std::size_t place = at - begin;
  const std::size_t from = line.size() <= kShown || place <= kBefore ? 0 : char_begin(line, place - kBefore);
  const std::size_t to = line.size() - from <= kShown ? line.size() : char_begin(line, from + kShown);
  return fmt::format("'{}{}{}'", from > 0 ? "..." : "", table::printable(line.substr(from, to - from)),
                     to < line.size() ? "..." : "");
}

}  // namespace

Difference first_difference(const Output& first, const Output& second) {
  const auto [a, b] = std::ranges::mismatch(first.head, second.head);
  const auto at = static_cast<std::size_t>(a - first.head.begin());
  if (at == first.head.size() && at == second.head.size())
    return {fmt::format("beyond the first {} bytes", at), {}, {}};
  const auto line = std::count(first.head.begin(), a, '\n') + 1;
  return {fmt::format("line {}", line), line_at(first.head, at), line_at(second.head, at)};
}

Result<OutputFile> OutputFile::begin() {
  Fd file = open_nameless();
  if (!file) return fail_errno("cannot make a file for the program's output");
  Fd before(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!before || ::dup2(file.get(), STDOUT_FILENO) < 0) return fail_errno("cannot redirect the program's output");
  return OutputFile(std::move(file), std::move(before));
}

OutputFile::~OutputFile() {
  if (before_) ::dup2(before_.get(), STDOUT_FILENO);
}

Result<Output> OutputFile::read() const {
  Output out{.hash = 0xCBF29CE484222325u};
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = ::pread(file_.get(), buffer.data(), buffer.size(), static_cast<off_t>(out.bytes));
    if (n < 0) return fail_errno("cannot read the program's output");
    if (n == 0) return out;
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(n));
    for (const char c : piece) out.hash = (out.hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    out.head += piece.substr(0, Output::kHead - std::min(out.head.size(), Output::kHead));
    out.bytes += piece.size();
  }
}

}  // namespace fade::cli::ab
