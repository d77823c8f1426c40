#include "session/copy_search.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace fade {

CopySearch::CopySearch(const Memory& memory, std::vector<RemoteRange> ranges, Present present, Limits limits)
    : memory_(memory), present_(std::move(present)), limits_(limits), ranges_(std::move(ranges)), buffer_(kBlock) {
  std::ranges::sort(ranges_, [](const RemoteRange& a, const RemoteRange& b) { return a.size() > b.size(); });
  for (const RemoteRange& range : ranges_) left_ += range.size();
}

bool CopySearch::step() {
  if (ranges_.empty() || !limit_.empty()) return false;
  RemoteRange& range = ranges_.back();
  const RemoteRange block{range.begin, range.begin + std::min<std::uint64_t>(range.size(), kBlock)};
  for (const RemoteRange& part : present_(block)) look_at(part);
  left_ -= block.size();
  range.begin = block.end;
  if (range.size() == 0) ranges_.pop_back();
  if (bytes_ >= limits_.bytes) limit_ = "bytes";
  if (found_.size() >= limits_.copies) limit_ = "copies";
  if (looks_ >= limits_.looks) limit_ = "places that look like copies";
  if (ranges_.empty()) limit_.clear();
  return !ranges_.empty() && limit_.empty();
}

// A block begins at a page, so no anchor lies across two blocks. A structure may.
void CopySearch::look_at(RemoteRange block) {
  const auto into = std::span(buffer_).first(std::min<std::uint64_t>(block.size(), kBlock));
  const auto bytes = into.first(memory_.read(block.begin, into));
  bytes_ += bytes.size();
  probes::for_each_anchor(bytes, [&](const probes::CopyForm& form, std::size_t anchor) {
    look_at_place(form, anchor, block.begin, bytes);
  });
}

void CopySearch::look_at_place(const probes::CopyForm& form, std::size_t anchor, RemoteAddr begin,
                               std::span<const std::byte> block) {
  const RemoteAddr at{begin.value + anchor - form.anchor};
  if (begin.value + anchor < form.anchor || found_.size() >= limits_.copies) return;
  const bool is_inside = at >= begin && at - begin + form.size <= block.size();
  if (!is_inside && ++looks_ > limits_.looks) return;
  if (!is_inside) scratch_.resize(form.size);
  if (!is_inside && !memory_.read_exactly(at, scratch_)) return;
  const std::span<const std::byte> bytes = is_inside ? block.subspan(at - begin, form.size) : scratch_;
  auto told = probes::told_by_copy(form, bytes);
  if (!told && !is_known(form, bytes)) return;
  if (!places_.insert(at.value).second) return;
  found_.push_back({at, &form, {bytes.begin(), bytes.end()}, told ? std::move(*told) : probes::CopyTold()});
}

bool CopySearch::is_known(const probes::CopyForm& form, std::span<const std::byte> bytes) const {
  return std::ranges::any_of(known_, [&](const KnownAnswer& answer) {
    return answer.form == &form && std::ranges::equal(answer.bytes, bytes);
  });
}

}  // namespace fade
