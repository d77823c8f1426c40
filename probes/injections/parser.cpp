#include "probes/injections/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "probes/device_properties.hpp"
#include "probes/injections/aim.hpp"
#include "probes/injections/numbers.hpp"
#include "probes/selection.hpp"

namespace fade::probes {
namespace {

constexpr std::size_t kLongestRule = 4096;
constexpr const char* kExample =
    "write it like hipMalloc:error=hipErrorOutOfMemory:when=3, or hipMemcpy/size>1M:delay=5ms";
constexpr const char* kReplaceExample = "write it like hipMalloc.size=4096, or hipGetDeviceCount.result=0:when=2";
constexpr const char* kTurnsExample =
    "write when=3, when=3+ (from the third), when=3+2 (every second from there) or 3..5";

bool is_replacement(const InjectionText& text) { return text.origin.starts_with("--replace"); }

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// Removes a number from the beginning of `text`.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto out = whole_number(text.substr(0, end));
  text.remove_prefix(end);
  return out;
}

// FIRST, FIRST+, FIRST+STEP, FIRST..LAST, FIRST..LAST+STEP: strace's.
std::optional<Turns> turns_in(std::string_view text) {
  const auto first = take_number(text);
  if (!first || *first == 0) return std::nullopt;
  Turns out{.first = *first, .step = 0};
  if (text.starts_with("..")) {
    text.remove_prefix(2);
    const auto last = take_number(text);
    if (!last || *last < *first) return std::nullopt;
    out.last = *last;
    out.step = 1;
  }
  if (text.empty()) return out;
  if (!text.starts_with('+')) return std::nullopt;
  text.remove_prefix(1);
  const auto step = text.empty() ? std::optional<std::uint64_t>(1) : take_number(text);
  if (!step || *step == 0 || !text.empty()) return std::nullopt;
  out.step = *step;
  return out;
}

// 0.1 or 10%.
std::optional<double> share_in(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  if (is_percent) text.remove_suffix(1);
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, std::chars_format::fixed);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (is_percent) out /= 100;
  return out >= 0 && out <= 1 ? std::optional(out) : std::nullopt;
}

class InjectionParser {
 public:
  InjectionParser(const InjectionText& text, std::span<const ProbePtr> known)
      : text_(text), known_(known.begin(), known.end()), parts_(parts_of(text.text)) {}

  Result<ParsedInjection> parse();
  std::size_t at() const { return at_; }

 private:
  using Take = Result<void> (InjectionParser::*)(const RulePart&);
  struct Key {
    std::string_view name;
    Take take;
    bool is_word = false;  // stands alone, without a value
  };
  static const Key kKeys[];

  Result<void> head();
  Result<void> functions(std::string_view words);
  Result<void> replacement(const RulePart& head);
  Result<void> part(const RulePart& part);
  Result<void> known_part(const Key& key, const RulePart& part);
  Result<void> argument_part(const RulePart& part);
  Result<void> complete();
  tl::unexpected<Error> unknown_key(const RulePart& part) const;

  Result<void> error(const RulePart& part);
  Result<void> delay(const RulePart& part) { return time(part, rule().delay_ns); }
  Result<void> delay_exit(const RulePart& part) { return time(part, rule().delay_exit_ns); }
  Result<void> after(const RulePart& part) { return time(part, rule().filter.after_ns); }
  Result<void> when(const RulePart& part);
  Result<void> every(const RulePart& part);
  Result<void> chance(const RulePart& part);
  Result<void> device(const RulePart& part);
  Result<void> caller(const RulePart& part) { return pattern(part, rule().filter.caller); }
  Result<void> thread(const RulePart& part) { return pattern(part, rule().filter.thread); }
  Result<void> rank(const RulePart& part);
  Result<void> kernel(const RulePart& part);
  Result<void> late(const RulePart&) {
    rule().is_late = true;
    return {};
  }
  Result<void> sticky(const RulePart&) {
    rule().is_sticky = true;
    return {};
  }
  static Result<void> time(const RulePart& part, std::int64_t& to);
  static Result<void> pattern(const RulePart& part, std::string& to);

  Injection& rule() { return out_.rule; }
  bool has(std::string_view key) const { return given_.contains(key); }

  const InjectionText& text_;
  const std::vector<ProbePtr> known_;
  const std::vector<RulePart> parts_;
  std::set<std::string_view> given_;
  std::size_t at_ = 0;  // of the part that is read
  ParsedInjection out_;
};

constexpr InjectionParser::Key InjectionParser::kKeys[] = {
    {"error", &InjectionParser::error},
    {"delay", &InjectionParser::delay},
    {"delay_enter", &InjectionParser::delay},  // strace's word
    {"delay_exit", &InjectionParser::delay_exit},
    {"when", &InjectionParser::when},
    {"every", &InjectionParser::every},
    {"chance", &InjectionParser::chance},
    {"after", &InjectionParser::after},
    {"device", &InjectionParser::device},
    {"caller", &InjectionParser::caller},
    {"thread", &InjectionParser::thread},
    {"rank", &InjectionParser::rank},
    {"kernel", &InjectionParser::kernel},
    {"late", &InjectionParser::late, true},
    {"sticky", &InjectionParser::sticky, true},
};

Result<ParsedInjection> InjectionParser::parse() {
  rule().spec = text_.text;
  rule().origin = text_.column == 0 ? text_.origin : fmt::format("{}:{}", text_.origin, text_.column);
  if (text_.text.size() > kLongestRule)
    return fail("", fmt::format("it has {} characters", text_.text.size()), "use 4096 at most");
  if (auto done = head(); !done) return tl::unexpected(done.error());
  for (const RulePart& one : std::span(parts_).subspan(1)) {
    at_ = one.at;
    if (auto done = part(one); !done) return tl::unexpected(done.error());
  }
  at_ = 0;
  if (auto done = complete(); !done) return tl::unexpected(done.error());
  return std::move(out_);
}

Result<void> InjectionParser::head() {
  const RulePart& head = parts_.front();
  if (head.op.empty() && is_replacement(text_))
    return fail("", "no parameter is given a value; a fault or a delay is a rule of --inject", kReplaceExample);
  if (head.op.empty()) return functions(head.key);
  if (head.op != "=")
    return fail("", "it does not begin with FUNCTION", is_replacement(text_) ? kReplaceExample : kExample);
  return replacement(head);
}

Result<void> InjectionParser::functions(std::string_view words) {
  if (words.empty()) return fail("", "no function is named", kExample);
  if (const std::size_t sign = words.find('@'); sign != words.npos) {
    at_ += sign;
    return fail("", "a library does not stand behind a function here", "write FUNCTION/caller=LIBRARY");
  }
  const auto selection = Selection::make(words, {}, {}, known_);
  if (!selection) {
    Error error = selection.error();
    constexpr std::string_view kOption = "-e: ";
    error.cause = error.message.starts_with(kOption) ? error.message.substr(kOption.size()) : error.message;
    error.message.clear();
    return tl::unexpected(std::move(error));
  }
  rule().function = words;
  for (const ProbePtr& probe : known_)
    if (!probe->is_family && (*selection)(*probe)) out_.aims.emplace_back(probe, Aim{});
  if (out_.aims.empty()) return fail("", fmt::format("no function is called '{}'", escaped(words)), kExample);
  return {};
}

Result<void> InjectionParser::replacement(const RulePart& head) {
  const std::size_t dot = head.key.find('.');
  if (dot == head.key.npos) return fail("", fmt::format("'{}' names no parameter", escaped(head.key)), kReplaceExample);
  if (auto done = functions(head.key.substr(0, dot)); !done) return done;
  const std::string_view name = head.key.substr(dot + 1);
  at_ = head.at + dot + 1;
  std::optional<Error> first;
  std::erase_if(out_.aims, [&](auto& aim) {
    auto made = replacement_of(*aim.first, name, head.value);
    if (made) aim.second.replacements.push_back(std::move(*made));
    else if (!first) first = made.error();
    return !made;
  });
  if (out_.aims.empty()) return tl::unexpected(std::move(*first));
  rule().action = fmt::format("{}={}", name, out_.aims.front().second.replacements.front().text);
  return {};
}

Result<void> InjectionParser::part(const RulePart& part) {
  const auto* const key = std::ranges::find(kKeys, part.key, &Key::name);
  if (key != std::end(kKeys) && (part.op == "=" || key->is_word)) return known_part(*key, part);
  return part.op.empty() ? unknown_key(part) : argument_part(part);
}

Result<void> InjectionParser::known_part(const Key& key, const RulePart& part) {
  if (!given_.insert(key.name).second)
    return fail("", fmt::format("'{}' is given twice", key.name), "a rule has each word once; write two rules");
  if (key.is_word && !part.op.empty())
    return fail("", fmt::format("'{}' has no value", key.name), fmt::format("write :{} alone", key.name));
  at_ = key.is_word ? part.at : part.value_at();
  return (this->*key.take)(part);
}

// Functions without that parameter are none that the rule is for.
Result<void> InjectionParser::argument_part(const RulePart& part) {
  const auto has_it = [&](const auto& aim) {
    const auto place = place_named(*aim.first, part.key);
    return place && place->parameter != ValuePlace::kResult;
  };
  if (std::ranges::none_of(out_.aims, has_it)) return unknown_key(part);
  std::erase_if(out_.aims, [&](const auto& aim) { return !has_it(aim); });
  for (auto& [probe, aim] : out_.aims) {
    auto test = test_of(*probe, *place_named(*probe, part.key), part);
    if (!test) {
      at_ = part.value_at();
      return tl::unexpected(test.error());
    }
    aim.tests.push_back(std::move(*test));
  }
  return {};
}

tl::unexpected<Error> InjectionParser::unknown_key(const RulePart& part) const {
  std::vector<std::string> names;
  for (const Key& key : kKeys) names.emplace_back(key.name);
  for (const auto& [probe, aim] : out_.aims)
    for (std::string& name : place_names(*probe)) names.push_back(std::move(name));
  const std::string near = nearest(part.key, names);
  return fail("",
              part.key.empty() ? "a part of the rule is empty"
                               : fmt::format("'{}' is no word of a rule, and no parameter of {}", escaped(part.key),
                                             out_.rule.function),
              near.empty() ? "words are error, delay, delay_exit, when, every, chance, after, device, caller, thread, "
                             "rank, kernel, late and sticky"
                           : fmt::format("did you mean '{}'?", near));
}

Result<void> InjectionParser::error(const RulePart& part) {
  std::optional<Error> first;
  std::erase_if(out_.aims, [&](auto& one) {
    auto& [probe, aim] = one;
    if (!probe->has_success || !is_number(probe->result)) {
      if (!first)
        first = Error{"", fmt::format("{} has no error to return", probe->symbol),
                      fmt::format("replace its result, or delay it: {}:delay=5ms", probe->symbol)};
      return true;
    }
    const auto value = parse_error_value(*probe, part.value);
    if (!value) {
      if (!first || first->cause.ends_with("to return")) first = value.error();
      return true;
    }
    aim.error = *value;
    aim.error_name = shown_value(probe->result, static_cast<std::uint64_t>(*value), types_of(*probe));
    return false;
  });
  if (out_.aims.empty()) return tl::unexpected(std::move(*first));
  rule().error = out_.aims.front().second.error_name;
  return {};
}

Result<void> InjectionParser::time(const RulePart& part, std::int64_t& to) {
  const auto ns = parse_time(part.value);
  if (!ns) return fail("", ns.error().message, "write 500us, 5ms, 30s or 5m");
  if (*ns == 0) return fail("", "a time of nothing", "write 500us, 5ms, 30s or 5m");
  to = *ns;
  return {};
}

Result<void> InjectionParser::pattern(const RulePart& part, std::string& to) {
  if (part.value.empty())
    return fail("", fmt::format("'{}' has no value", part.key), "write a name or a pattern: lib*");
  to = part.value;
  return {};
}

Result<void> InjectionParser::when(const RulePart& part) {
  const auto turns = turns_in(part.value);
  if (!turns) return fail("", fmt::format("'{}' is no choice of calls", escaped(part.value)), kTurnsExample);
  rule().turns = *turns;
  return {};
}

Result<void> InjectionParser::every(const RulePart& part) {
  const auto step = whole_number(part.value);
  if (!step || *step == 0)
    return fail("", fmt::format("'{}' is no number of calls", escaped(part.value)),
                "write every=10 for each tenth call");
  rule().turns = {.first = *step, .step = *step};
  return {};
}

Result<void> InjectionParser::chance(const RulePart& part) {
  rule().chance = share_in(part.value);
  if (!rule().chance)
    return fail("", fmt::format("'{}' is no chance", escaped(part.value)), "write a number from 0 to 1, or 10%");
  return {};
}

Result<void> InjectionParser::device(const RulePart& part) {
  const auto number = whole_number(part.value);
  if (!number || *number > 0x7fffffff)
    return fail("", fmt::format("'{}' is not a device number", escaped(part.value)),
                "use the number by which HIP knows the device, from 0");
  rule().filter.device = static_cast<int>(*number);
  return {};
}

Result<void> InjectionParser::rank(const RulePart& part) {
  const auto number = whole_number(part.value);
  if (!number) return fail("", fmt::format("'{}' is not a rank", escaped(part.value)), "write rank=3");
  rule().filter.rank = std::to_string(*number);
  return {};
}

// Functions that launch no kernel are none that the rule is for.
Result<void> InjectionParser::kernel(const RulePart& part) {
  const auto launches = [](const auto& aim) {
    return aim.first->kind == Kind::Launch && aim.first->with_role(Role::Kernel);
  };
  if (std::ranges::none_of(out_.aims, launches))
    return fail("", fmt::format("no function of '{}' launches one kernel", escaped(out_.rule.function)),
                "write hipLaunchKernel/kernel=NAME, or kernel/kernel=NAME for all that launch");
  std::erase_if(out_.aims, [&](const auto& aim) { return !launches(aim); });
  return pattern(part, rule().filter.kernel);
}

Result<void> InjectionParser::complete() {
  const bool replaces = !out_.aims.front().second.replacements.empty();
  if (has("when") && has("every")) return fail("", "when= and every= exclude each other", "every=3 is when=3+3");
  if (replaces && has("error")) return fail("", "a call that fails has no argument to replace", "write two rules");
  if (!has("error") && (rule().is_late || rule().is_sticky))
    return fail("", fmt::format("'{}' is for errors", rule().is_late ? "late" : "sticky"), "add error=NAME");
  if (!has("error") && !has("delay") && !has("delay_enter") && !has("delay_exit") && !replaces)
    return fail("", "the rule does nothing", "add error=NAME or delay=TIME");
  if (replaces && !is_replacement(text_) && text_.column == 0)
    return fail("", "that is a replacement",
                fmt::format("write it with --replace: --replace '{}'", escaped(text_.text)));
  for (const RulePart& one : std::span(parts_).subspan(1)) {
    const bool acts = one.key == "error" || one.key.starts_with("delay") || one.key == "late" || one.key == "sticky";
    if (!acts) continue;
    const std::string value = one.key == "error" ? rule().error : std::string(one.value);
    if (!rule().action.empty()) rule().action += ", ";
    rule().action += fmt::format("{}{}{}", one.key, one.op, value);
  }
  return {};
}

}  // namespace

Result<ParsedInjection> parse_injection(const InjectionText& text, std::span<const ProbePtr> known) {
  InjectionParser parser(text, known);
  auto parsed = parser.parse();
  if (parsed) return parsed;
  Error error = parsed.error();
  error.message = place_text(text, parser.at());
  return tl::unexpected(std::move(error));
}

std::string functions_named(std::string_view text) {
  const auto parts = parts_of(text);
  return std::string(parts.front().key.substr(0, parts.front().key.find('.')));
}

}  // namespace fade::probes
