#include "probes/injections/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text_file.hpp"
#include "probes/device_properties.hpp"
#include "probes/overrides/spec.hpp"
#include "probes/text.hpp"

namespace fade::probes {
namespace {

constexpr std::size_t kShown = 200;  // letters of a rule in a message

RulePart part_of(std::string_view text, std::size_t at) {
  const std::size_t begin = std::min(text.find_first_of("=<>!"), text.size());
  std::size_t end = begin;
  while (end < text.size() && end - begin < 2 && (text[end] == '=' || end == begin)) ++end;
  return {text.substr(0, begin), text.substr(begin, end - begin), text.substr(end), at};
}

// A part ends at a colon or a slash. Names of kernels may have double colons.
std::size_t end_of_part(std::string_view text, std::size_t at) {
  const bool is_kernel = text.substr(at).starts_with("kernel=");
  for (; at < text.size(); ++at) {
    if (is_kernel && text.substr(at).starts_with("::")) ++at;
    else if (text[at] == ':' || text[at] == '/') break;
  }
  return std::min(at, text.size());
}

// The line without its comment.
std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) return line.substr(0, i);
  return line;
}

}  // namespace

std::vector<RulePart> parts_of(std::string_view text) {
  std::vector<RulePart> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = end_of_part(text, at);
    out.push_back(part_of(text.substr(at, end - at), at));
    at = end + 1;
  }
  return out;
}

std::vector<InjectionText> plan_in(std::string_view content, const std::string& file) {
  std::vector<InjectionText> out;
  for (std::size_t number = 1; !content.empty(); ++number) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    const std::string_view line = without_comment(content.substr(0, end));
    const std::string_view rule = trimmed(line);
    if (!rule.empty()) {
      const auto column = static_cast<std::size_t>(rule.data() - line.data()) + 1;
      out.push_back({std::string(rule), fmt::format("{}:{}", file, number), column});
    }
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return out;
}

Result<std::vector<InjectionText>> plan_from_file(const std::string& path) {
  auto content = read_text_file(path, fmt::format("cannot read the rules in {}", path));
  if (!content) return tl::unexpected(std::move(content.error()));
  return plan_in(*content, path);
}

std::string place_text(const InjectionText& rule, std::size_t at) {
  const std::string shown = escaped(std::string_view(rule.text).substr(0, kShown));
  if (rule.column == 0) return fmt::format("cannot use {} '{}'", rule.origin, shown);
  return fmt::format("{}:{}: cannot use '{}'", rule.origin, rule.column + at, shown);
}

}  // namespace fade::probes
