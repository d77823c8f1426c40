#include "probe/text_check.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "elf/mapped_file.hpp"
#include "elf/maps.hpp"

namespace fade {
namespace {

std::map<RemoteAddr, std::vector<RemoteAddr>> bytes_by_page(const SiteTable& sites) {
  std::map<RemoteAddr, std::vector<RemoteAddr>> out;
  for (const auto& [address, site] : sites.all())
    for (std::size_t i = 0; i < (site.way == Way::Jump ? kJumpSize : 1); ++i)
      out[page_of(address + i)].push_back(address + i);
  return out;
}

// Returns false if there is nothing to compare with.
bool compare_page(const Memory& memory, RemoteAddr page, const elf::Mapping& mapping, const Fd& file,
                  const std::vector<RemoteAddr>& ours, TextCheck& check) {
  std::array<std::byte, kPageSize> now{}, original{};  // after the end of the file there are zeros
  const auto at = static_cast<off_t>(mapping.offset + (page - mapping.range.begin));
  if (!file || ::pread(file.get(), original.data(), kPageSize, at) <= 0 || !memory.read_exactly(page, now))
    return false;
  check.bytes += ours.size();
  for (std::size_t i = 0; i < kPageSize; ++i) {
    if (now[i] == original[i]) continue;
    const bool is_ours = std::ranges::find(ours, page + i) != ours.end();
    ++(is_ours ? check.ours : check.others);
  }
  return true;
}

}  // namespace

Result<TextCheck> check_text(Pid pid, const Memory& memory, const SiteTable& sites, const ProcFiles& proc) {
  const auto maps = elf::read_maps(pid, proc);
  if (!maps) return tl::unexpected(maps.error());
  TextCheck check;
  std::map<const elf::Mapping*, Fd> files;
  for (const auto& [page, bytes] : bytes_by_page(sites)) {
    const elf::Mapping* mapping = maps->find(page);
    if (mapping && !files.contains(mapping))
      files.emplace(mapping, elf::open_mapped_file(pid, *mapping, proc).value_or(Fd()));
    if (!mapping || !compare_page(memory, page, *mapping, files[mapping], bytes, check))
      check.unchecked += bytes.size();
  }
  return check;
}

}  // namespace fade
