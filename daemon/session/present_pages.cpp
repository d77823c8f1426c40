#include "session/present_pages.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "proc/living_thread.hpp"

namespace fade {
namespace {

// Documentation/admin-guide/mm/pagemap.rst
constexpr std::uint64_t kPage = 4096, kPresent = std::uint64_t{1} << 63, kSwapped = std::uint64_t{1} << 62;

}  // namespace

PresentPages::PresentPages(Pid pid, const ProcFiles& proc)
    : pagemap_(::open(proc.path(living_thread(pid, proc), "pagemap").c_str(), O_RDONLY | O_CLOEXEC)) {}

std::vector<RemoteRange> PresentPages::of(RemoteRange range) {
  entries_.resize(range.size() / kPage);
  const std::size_t wanted = entries_.size() * sizeof entries_[0];
  const auto at = static_cast<off_t>(range.begin.value / kPage * sizeof entries_[0]);
  if (!pagemap_ || ::pread(pagemap_.get(), entries_.data(), wanted, at) != static_cast<ssize_t>(wanted)) return {range};
  std::vector<RemoteRange> out;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const RemoteAddr page = range.begin + i * kPage;
    if (entries_[i] & kSwapped) swapped_ += kPage;
    if (!(entries_[i] & kPresent)) continue;
    if (!out.empty() && out.back().end == page) out.back().end = page + kPage;
    else out.push_back({page, page + kPage});
  }
  return out;
}

}  // namespace fade
