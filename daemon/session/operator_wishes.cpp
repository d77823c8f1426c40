#include "session/operator_wishes.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

namespace fade {
namespace {

constexpr std::uint64_t kPiece = 1 << 20, kOverlap = 4096;  // an operator's name is shorter than the overlap
constexpr std::uint64_t kMostConstants = 1 << 30;

}  // namespace

void OperatorWishes::read_names(const elf::DynamicImage& image, const Memory& memory, const std::string& library) {
  if (families_.empty() || !read_.insert(library).second) return;
  std::vector<char> piece(kPiece + kOverlap);
  std::uint64_t left = kMostConstants;
  for (const elf::Segment& segment : image.segments()) {
    if (segment.executable || segment.writable) continue;
    for (RemoteAddr at = segment.range.begin; at < segment.range.end && left >= kPiece; at = at + kPiece) {
      const std::size_t wanted = std::min<std::uint64_t>(piece.size(), segment.range.end - at);
      names_.read({piece.data(), memory.read(at, std::as_writable_bytes(std::span(piece).first(wanted)))});
      left -= kPiece;
    }
  }
}

probes::ProbePtr OperatorWishes::probe_for(const std::string& symbol) {
  if (families_.empty() || !probes::parse_operator(symbol)) return nullptr;
  const auto [known, is_new] = known_.try_emplace(symbol);
  if (is_new) known->second = make(symbol);
  return known->second;
}

probes::ProbePtr OperatorWishes::make(const std::string& symbol) const {
  const auto parsed = probes::parse_operator(symbol);
  for (const probes::ProbePtr& family : families_) {
    if (probes::is_redispatch(*family) != parsed->is_redispatch) continue;
    auto probe = std::make_shared<const probes::Probe>(probes::operator_probe(*family, symbol, *parsed, names_));
    return selection_(*probe) || (shapes_ && probe->symbol == probes::kTensorMaker) ? probe : nullptr;
  }
  return nullptr;
}

}  // namespace fade
