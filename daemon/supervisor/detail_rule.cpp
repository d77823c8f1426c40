#include "supervisor/detail_rule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <string.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "supervisor/step_rule.hpp"

namespace fade {
namespace {

constexpr const char* kScheduleExample = "--schedule skip=10,wait=5,warmup=1,active=3,repeat=2";
constexpr const char* kWindowExample = "--window 60s/10s for ten seconds of detail each minute";
constexpr const char* kTriggerExample = "--trigger error,slow-step=3x,memory>14G,signal=USR2,mark";
constexpr std::int64_t kLeastPeriod = 100'000'000;  // ns; each period adds two rows that say so
constexpr std::uint64_t kMostSteps = 1'000'000'000'000;

tl::unexpected<Error> bad(std::string_view option, std::string_view part, std::string why, std::string example) {
  return fail(fmt::format("{}: cannot understand '{}'", option, part.substr(0, 60)), std::move(why), std::move(example),
              EINVAL);
}

template <class Number>
bool read_number(std::string_view text, Number& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc{} && end == text.data() + text.size();
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// ---------------------------------------------------------------- --schedule

struct ScheduleWord {
  std::string_view name;
  std::uint64_t DetailRule::*count;
};
constexpr std::array kScheduleWords{ScheduleWord{"skip", &DetailRule::skip}, ScheduleWord{"wait", &DetailRule::wait},
                                    ScheduleWord{"warmup", &DetailRule::warmup},
                                    ScheduleWord{"active", &DetailRule::active},
                                    ScheduleWord{"repeat", &DetailRule::repeat}};

Result<void> read_schedule_part(std::string_view part, DetailRule& rule) {
  const std::size_t equals = std::min(part.find('='), part.size());
  const std::string name(part.substr(0, equals));
  std::vector<std::string> known;
  for (const ScheduleWord& word : kScheduleWords) {
    known.emplace_back(word.name);
    if (word.name != name) continue;
    std::uint64_t value = 0;
    if (!read_number(part.substr(std::min(equals + 1, part.size())), value) || value > kMostSteps)
      return bad("--schedule", part, "behind '=' stands no number of steps", kScheduleExample);
    rule.*word.count = value;
    return {};
  }
  return bad("--schedule", part, fmt::format("the words are {}{}", fmt::join(known, ", "), did_you_mean(name, known)),
             kScheduleExample);
}

Result<DetailRule> parse_schedule(const RecordingOptions& options) {
  DetailRule rule{.by = DetailRule::By::Steps, .text = "--schedule " + options.schedule};
  for (const std::string_view part : parts_of(options.schedule))
    if (auto read = read_schedule_part(part, rule); !read) return tl::unexpected(std::move(read.error()));
  if (rule.active == 0)
    return bad("--schedule", options.schedule, "no step would have rows: active is missing or 0", kScheduleExample);
  if (step_of(options).empty() || options.step == "off")
    return fail("--schedule counts steps, and no step is defined", {}, "--step 'range:step*' --schedule ...", EINVAL);
  return rule;
}

// ---------------------------------------------------------------- --window

Result<DetailRule> parse_window(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return bad("--window", text, "it has the form PERIOD/DETAIL", kWindowExample);
  const auto period = parse_time(std::string_view(text).substr(0, slash));
  const auto detail = parse_time(std::string_view(text).substr(slash + 1));
  if (!period || !detail)
    return bad("--window", text, period ? detail.error().message : period.error().message, kWindowExample);
  if (*period < kLeastPeriod) return bad("--window", text, "the period must be 100ms or longer", kWindowExample);
  if (*detail <= 0 || *detail >= *period)
    return bad("--window", text, "the detail must be shorter than the period, and longer than nothing", kWindowExample);
  return DetailRule{.by = DetailRule::By::Time, .text = "--window " + text, .period_ns = *period, .detail_ns = *detail};
}

// ---------------------------------------------------------------- --trigger

bool read_slow_step(std::string_view value, DetailRule& rule) {
  constexpr double kLeast = 1, kMost = 1'000'000;
  if (value.ends_with('x')) value.remove_suffix(1);
  return read_number(value, rule.slow_step) && rule.slow_step > kLeast && rule.slow_step <= kMost;
}

bool read_memory(std::string_view value, DetailRule& rule) {
  const auto size = parse_size(value);
  if (size) rule.memory = *size;
  return size && *size > 0;
}

bool read_signal_number(std::string_view value, DetailRule& rule) {
  constexpr int kMostSignals = 64;
  if (value.starts_with("SIG")) value.remove_prefix(3);
  for (int signal = 1; signal <= kMostSignals; ++signal)
    if (const char* name = ::sigabbrev_np(signal); name != nullptr && name == value) return (rule.signal = signal) > 0;
  return read_number(value, rule.signal) && rule.signal > 0 && rule.signal <= kMostSignals;
}

bool read_signal(std::string_view value, DetailRule& rule) {
  return read_signal_number(value, rule) && rule.signal != SIGKILL;
}

struct TriggerWord {
  std::string_view begins;
  bool (*read)(std::string_view value, DetailRule& rule);
  const char* why;  // what is wrong if it cannot be read
};
constexpr std::array kTriggerWords{
    TriggerWord{"error", [](std::string_view value, DetailRule& rule) { return rule.on_error = value.empty(); },
                "'error' has no value"},
    TriggerWord{"mark", [](std::string_view value, DetailRule& rule) { return rule.on_mark = value.empty(); },
                "'mark' has no value"},
    TriggerWord{"slow-step=", read_slow_step, "behind '=' stands how many times the median, more than 1: 3x"},
    TriggerWord{"memory>", read_memory, "behind '>' stands a size: 14G"},
    TriggerWord{"signal=", read_signal, "behind '=' stands a signal: USR2"}};

Result<void> read_trigger(std::string_view part, DetailRule& rule) {
  for (const TriggerWord& word : kTriggerWords) {
    if (!part.starts_with(word.begins)) continue;
    if (word.read(part.substr(word.begins.size()), rule)) return {};
    if (rule.signal == SIGKILL)
      return fail(fmt::format("--trigger: '{}' never happens", part), "no stop of ptrace shows SIGKILL",
                  "take another signal: --trigger signal=USR2", EINVAL);
    return bad("--trigger", part, word.why, kTriggerExample);
  }
  return bad("--trigger", part, "triggers are error, mark, slow-step=, memory> and signal=", kTriggerExample);
}

Result<DetailRule> parse_triggers(const RecordingOptions& options) {
  DetailRule rule{.by = DetailRule::By::Trigger, .text = fmt::format("--trigger {}", fmt::join(options.triggers, ","))};
  for (const std::string& part : options.triggers)
    if (auto read = read_trigger(part, rule); !read) return tl::unexpected(std::move(read.error()));
  if (rule.slow_step > 0 && (step_of(options).empty() || options.step == "off"))
    return fail("--trigger slow-step needs steps, and no step is defined", {},
                "--step 'range:step*' --trigger slow-step=3x", EINVAL);
  if (options.keep_ns) rule.keep_ns = *options.keep_ns;
  if (rule.keep_ns <= 0) return fail("--keep: a time of nothing", {}, "--keep 30s", EINVAL);
  return rule;
}

Result<void> check_together(const RecordingOptions& options, int given) {
  if (given > 1)
    return fail("--schedule, --window and --trigger exclude each other", "each says alone when rows are stored",
                "give one of them", EINVAL);
  if (given > 0 && !options.detail.has_rows())
    return fail("--detail stats stores no rows", "--schedule, --window and --trigger say when rows are stored",
                "leave --detail out", EINVAL);
  if (options.keep_ns && options.triggers.empty())
    return fail("--keep belongs to --trigger", {}, "--trigger error --keep 30s", EINVAL);
  return {};
}

}  // namespace

Result<DetailRule> parse_detail_rule(const RecordingOptions& options) {
  const int given = !options.schedule.empty() + !options.window.empty() + !options.triggers.empty();
  if (auto checked = check_together(options, given); !checked) return tl::unexpected(std::move(checked.error()));
  if (!options.schedule.empty()) return parse_schedule(options);
  if (!options.window.empty()) return parse_window(options.window);
  if (!options.triggers.empty()) return parse_triggers(options);
  return DetailRule{};
}

}  // namespace fade
