#include "doctor/targets.hpp"

#include <algorithm>
#include <cctype>

namespace fade::doctor {
namespace {

// Code for all chips of a family, as LLVM's AMDGPU guide lists them.
struct Family {
  std::string_view target, chips;
};
constexpr Family kFamilies[] = {
    {"gfx9-generic", " gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c "},
    {"gfx9-4-generic", " gfx940 gfx941 gfx942 gfx950 "},
    {"gfx10-1-generic", " gfx1010 gfx1011 gfx1012 gfx1013 "},
    {"gfx10-3-generic", " gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 "},
    {"gfx11-generic", " gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 "},
    {"gfx12-generic", " gfx1200 gfx1201 "},
};

bool is_letter_of_name(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::string target_in(std::string_view text) {
  for (const Family& family : kFamilies)
    if (text.find(family.target) != text.npos) return std::string(family.target);
  for (std::size_t at = text.find("gfx"); at != text.npos; at = text.find("gfx", at + 1)) {
    const auto* const end = std::ranges::find_if_not(text.substr(at + 3), is_letter_of_name);
    const auto length = static_cast<std::size_t>(end - (text.data() + at + 3));
    if (length >= 3) return std::string(text.substr(at, 3 + std::min<std::size_t>(length, 4)));
  }
  return {};
}

bool runs_on(std::string_view target, std::string_view card) {
  target = target.substr(0, target.find(':'));  // without features: gfx90a:xnack-
  if (target == card) return true;
  const auto* const family = std::ranges::find(kFamilies, target, &Family::target);
  return family != std::end(kFamilies) && family->chips.find(" " + std::string(card) + " ") != std::string_view::npos;
}

bool any_runs_on(const std::vector<std::string>& targets, std::string_view card) {
  return std::ranges::any_of(targets, [&](const std::string& target) { return runs_on(target, card); });
}

}  // namespace fade::doctor
