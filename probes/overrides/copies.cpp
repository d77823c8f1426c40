#include "probes/overrides/copies.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <limits>

#include "probes/device_properties.hpp"
#include "probes/overrides/paths.hpp"

namespace fade::probes {
namespace {

constexpr std::uint32_t kThreads = 1024;  // AMD's most threads of a block
constexpr std::uint32_t kThreeLetters = 0x00ff'ffff;
constexpr std::uint32_t kGfx = 'g' | 'f' << 8 | 'x' << 16;
constexpr std::int32_t kMostUnits = 1 << 16;
constexpr std::size_t kGroup = 64;  // words that are looked at together: the compiler makes vectors of them

std::uint32_t offset_of(const Layout& layout, std::string_view field) { return layout.find(field)->offset; }

std::int32_t int_at(std::span<const std::byte> bytes, std::size_t offset) {
  std::int32_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// The text of a field; nullopt: it has no end.
std::optional<std::string_view> text_at(const PropertyField& field, std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data() + field.offset);
  const std::size_t length = ::strnlen(text, field.size);
  return length < field.size ? std::optional(std::string_view(text, length)) : std::nullopt;
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; });
}

// gfx1030, gfx90a:sramecc+:xnack-
bool is_arch(std::string_view text) {
  constexpr std::size_t kLongest = 63, kShortest = 6;
  if (text.size() < kShortest || text.size() > kLongest || !text.starts_with("gfx")) return false;
  const std::string_view number = text.substr(3, text.find(':') - 3);
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f'); };
  return number.size() >= 3 && std::ranges::all_of(number, is_digit) && is_printable(text);
}

bool is_between(std::int32_t value, std::int32_t least, std::int32_t most) { return value >= least && value <= most; }

std::optional<CopyTold> told_by_hip(const Layout& layout, std::span<const std::byte> bytes) {
  const auto number = [&](std::string_view field) { return int_at(bytes, offset_of(layout, field)); };
  const auto arch = text_at(*layout.find("gcnArchName"), bytes), name = text_at(*layout.find("name"), bytes);
  if (!arch || !name || !is_arch(*arch) || !is_printable(*name)) return std::nullopt;
  const PciSlot slot{number("pciDomainID"), number("pciBusID"), number("pciDeviceID")};
  const std::int32_t warp = number("warpSize");
  const bool fits = (warp == 32 || warp == 64) && is_between(number("maxThreadsPerBlock"), 1, kMostUnits) &&
                    is_between(number("multiProcessorCount"), 1, kMostUnits) && number("clockRate") >= 0 &&
                    is_between(slot.domain, 0, 0xffff) && is_between(slot.bus, 0, 0xff) &&
                    is_between(slot.device, 0, 0x1f);
  if (!fits) return std::nullopt;
  return CopyTold{std::string(*name), std::string(*arch), slot};
}

// The places are those of paths.cpp. AMD's runtime gives 1024 threads in each direction, and 2^31 - 1 blocks in the
// first.
std::optional<CopyTold> told_by_cuda(std::span<const std::byte> bytes) {
  constexpr std::int32_t kAll = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = 0; i < 4; ++i)
    if (int_at(bytes, 4 * i) != static_cast<std::int32_t>(kThreads)) return std::nullopt;
  const std::int32_t warp = int_at(bytes, 36);
  const bool fits = int_at(bytes, 16) == kAll && int_at(bytes, 20) >= 0xffff && int_at(bytes, 24) >= 0xffff &&
                    is_between(int_at(bytes, 28), 1, 1 << 20) && int_at(bytes, 32) > 0 && (warp == 32 || warp == 64) &&
                    int_at(bytes, 40) >= 0 && int_at(bytes, 44) > 0 && int_at(bytes, 48) > 0 && int_at(bytes, 52) >= 0;
  return fits ? std::optional<CopyTold>(std::in_place) : std::nullopt;
}

bool is_anchor(std::uint32_t word) { return (word & kThreeLetters) == kGfx || word == kThreads; }

bool has_anchor(const std::uint32_t* words) {
  std::uint32_t any = 0;
  for (std::size_t i = 0; i < kGroup; ++i)
    any |= static_cast<std::uint32_t>((words[i] & kThreeLetters) == kGfx) |
           static_cast<std::uint32_t>(words[i] == kThreads);
  return any != 0;
}

}  // namespace

std::span<const CopyForm> copy_forms() {
  static const std::array<CopyForm, 3> kForms{{{layout_r0600().name, "hipGetDevicePropertiesR0600", layout_r0600().size,
                                                offset_of(layout_r0600(), "gcnArchName")},
                                               {layout_r0000().name, "hipGetDevicePropertiesR0000", layout_r0000().size,
                                                offset_of(layout_r0000(), "gcnArchName")},
                                               {"CUdevprop", "cuDeviceGetProperties", kCudaPropertiesSize, 0}}};
  return kForms;
}

const CopyForm* copy_form_of(std::string_view symbol) {
  const DevicePath* path = device_path(symbol);
  if (path == nullptr) return nullptr;
  const auto forms = copy_forms();
  const auto form =
      std::ranges::find_if(forms, [&](const CopyForm& one) { return device_path(one.symbol)->answer == path->answer; });
  return form == forms.end() ? nullptr : &*form;
}

std::optional<CopyTold> told_by_copy(const CopyForm& form, std::span<const std::byte> bytes) {
  if (bytes.size() != form.size) return std::nullopt;
  if (form.size == layout_r0600().size) return told_by_hip(layout_r0600(), bytes);
  return form.size == layout_r0000().size ? told_by_hip(layout_r0000(), bytes) : told_by_cuda(bytes);
}

void for_each_anchor(std::span<const std::byte> block, const std::function<void(const CopyForm&, std::size_t)>& found) {
  std::array<std::uint32_t, kGroup> words{};
  const auto forms = copy_forms();
  for (std::size_t at = 0; at < block.size(); at += sizeof words) {
    const std::size_t n = std::min(block.size() - at, sizeof words) / sizeof words[0];
    if (n < kGroup) words.fill(0);
    std::memcpy(words.data(), block.data() + at, n * sizeof words[0]);
    if (!has_anchor(words.data())) continue;
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_anchor(words[i])) continue;
      const std::size_t offset = at + i * sizeof words[0];
      if (words[i] == kThreads) found(forms[2], offset);
      else
        for (const CopyForm& form : forms.first(2)) found(form, offset);
    }
  }
}

}  // namespace fade::probes
