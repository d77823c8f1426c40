#include "probes/overrides/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text_file.hpp"
#include "probes/device_properties.hpp"
#include "probes/overrides/value.hpp"

namespace fade::probes {
namespace {

constexpr std::size_t kLongestRule = 4096;
constexpr const char* kExample =
    "write device.N.FIELD=VALUE or device.*.FIELD=VALUE, e.g. device.0.multiProcessorCount=72";

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_quote(char c) { return c == '"' || c == '\''; }

std::optional<std::uint32_t> small_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > 0x7fffffff) return std::nullopt;
  return value;
}

tl::unexpected<Error> no_device() { return fail("", "it does not begin with device.N. or device.*.", kExample); }

// Removes "[0000:0b:00.0]" from the beginning of `target`, if it is there.
Result<void> take_slot(std::string_view& target, Spec& spec) {
  if (!target.starts_with('[')) return {};
  const std::size_t end = target.find(']');
  if (end == std::string_view::npos) return no_device();
  const auto address = parse_pci_address(trimmed(target.substr(1, end - 1)));
  if (!address) return tl::unexpected(address.error());
  spec.slot = PciSlot{address->domain, address->bus, address->device};
  target.remove_prefix(end + 1);
  return {};
}

// Removes "device.N." or "device.N[ADDRESS]." from `target`.
Result<void> take_device(std::string_view& target, Spec& spec) {
  constexpr std::string_view kWord = "device.";
  const std::size_t end = target.find_first_of(".[", kWord.size());
  if (!target.starts_with(kWord) || end == std::string_view::npos) return no_device();
  const std::string_view which = target.substr(kWord.size(), end - kWord.size());
  const auto number = small_number(which);
  if (which != "*" && !number)
    return fail("", fmt::format("'{}' is not a device number", escaped(which)),
                "use the number by which HIP knows the device, from 0, or * for all");
  spec.device = number ? static_cast<int>(*number) : Spec::kEveryDevice;
  target.remove_prefix(end);
  if (auto taken = take_slot(target, spec); !taken) return taken;
  if (!target.starts_with('.')) return no_device();
  target.remove_prefix(1);
  return {};
}

Result<void> take_field(std::string_view target, Spec& spec) {
  const std::size_t bracket = target.find('[');
  spec.field = trimmed(target.substr(0, bracket));
  if (spec.field.empty()) return fail("", "there is no field before the '='", kExample);
  if (bracket == std::string_view::npos) return {};
  const std::string_view index = target.substr(bracket + 1);
  if (index.ends_with(']')) spec.index = small_number(trimmed(index.substr(0, index.size() - 1)));
  if (spec.index) return {};
  return fail("", fmt::format("'{}' is no index", escaped(target.substr(bracket))),
              fmt::format("write {}[0]=VALUE for the first element", escaped(spec.field)));
}

// Removes a quoted text from `rest`; \" \' and \\ mean the character itself.
Result<void> take_quoted(std::string_view& rest, Spec& spec) {
  const char quote = rest[0];
  std::size_t i = 1;
  for (; i < rest.size() && rest[i] != quote; ++i) {
    if (rest[i] == '\\' && i + 1 < rest.size() && (is_quote(rest[i + 1]) || rest[i + 1] == '\\')) ++i;
    spec.value += rest[i];
  }
  if (i == rest.size()) return fail("", "the quoted text does not end", fmt::format("close it with {}", quote));
  spec.quoted = true;
  rest = trimmed(rest.substr(i + 1));
  if (rest.empty() || rest[0] == '@') return {};
  return fail("", fmt::format("'{}' follows the quoted text", escaped(rest)), "only @CALLERS may follow it");
}

void take_bare(std::string_view& rest, Spec& spec) {
  const std::size_t at = std::min(rest.find('@'), rest.size());
  spec.value = trimmed(rest.substr(0, at));
  rest.remove_prefix(at);
}

Result<void> take_value(std::string_view rest, Spec& spec) {
  if (!rest.empty() && is_quote(rest[0])) {
    if (auto taken = take_quoted(rest, spec); !taken) return taken;
  } else {
    take_bare(rest, spec);
    if (spec.value.empty()) return fail("", "there is no value after the '='", "write \"\" for an empty text");
  }
  if (!rest.empty()) spec.callers = rest.substr(1);
  return {};
}

// Up to a '#' that begins a comment.
std::string_view without_comment(std::string_view line) {
  char quote = 0, before = ' ', last_shown = 0;  // a quote counts where a value begins, as in parse_spec
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      else if (c == quote) quote = 0;
    } else if (is_quote(c) && last_shown == '=') {
      quote = c;
    } else if (c == '#' && is_blank(before)) {
      return line.substr(0, i);
    }
    before = c;
    if (!is_blank(c)) last_shown = c;
  }
  return line;
}

}  // namespace

std::string PciSlot::text() const { return PciAddress{domain, bus, device, 0}.text(); }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

Result<Spec> parse_spec(std::string_view text) {
  text = trimmed(text);
  if (text.size() > kLongestRule) return fail("", fmt::format("it has {} characters", text.size()), "use 4096 at most");
  if (text.find('\0') != std::string_view::npos) return fail("", "there is a NUL byte in it");
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return fail("", "there is no '=' in it", kExample);
  std::string_view target = trimmed(text.substr(0, equals));
  Spec spec;
  if (auto taken = take_device(target, spec); !taken) return tl::unexpected(taken.error());
  if (auto taken = take_field(target, spec); !taken) return tl::unexpected(taken.error());
  if (auto taken = take_value(trimmed(text.substr(equals + 1)), spec); !taken) return tl::unexpected(taken.error());
  return spec;
}

std::vector<RuleText> rules_in(std::string_view content, const std::string& file) {
  std::vector<RuleText> out;
  for (std::size_t number = 1; !content.empty(); ++number) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    const std::string_view rule = trimmed(without_comment(content.substr(0, end)));
    if (!rule.empty()) out.push_back({std::string(rule), fmt::format("{}:{}", file, number)});
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return out;
}

Result<std::vector<RuleText>> rules_from_file(const std::string& path) {
  auto content = read_text_file(path, fmt::format("cannot read the rules in {}", path));
  if (!content) return tl::unexpected(std::move(content.error()));
  return rules_in(*content, path);
}

}  // namespace fade::probes
