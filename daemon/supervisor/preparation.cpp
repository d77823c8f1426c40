#include "supervisor/preparation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "actions/rules.hpp"
#include "base/clock.hpp"
#include "base/glob.hpp"
#include "base/regex.hpp"
#include "base/suggest.hpp"
#include "blas/check_rule.hpp"
#include "probes/hsa_calls.hpp"
#include "probes/injections/parser.hpp"
#include "probes/injections/presets.hpp"
#include "supervisor/budget.hpp"
#include "supervisor/detail_rule.hpp"
#include "supervisor/gpu_times.hpp"
#include "supervisor/kfd_topology.hpp"
#include "supervisor/presets.hpp"
#include "supervisor/step_rule.hpp"

namespace fade {
namespace {

tl::unexpected<Error> usage(Error error) {
  error.code = EINVAL;
  return tl::unexpected(std::move(error));
}

Result<SymbolRequest> parse_request(const std::string& text) {
  const auto colon = text.find(':');  // C++ names hold colons, file names do not begin with one
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
    return fail(fmt::format("cannot understand --probe '{}'", text), "it has the form LIBRARY:FUNCTION",
                "--probe 'libfoo.so*:my_function'", EINVAL);
  return SymbolRequest{text.substr(0, colon), text.substr(colon + 1)};
}

Result<void> check_executable(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0)
    return fail(fmt::format("cannot run '{}'", path), std::strerror(errno), {}, errno == ENOENT ? ENOENT : EACCES);
  if (S_ISDIR(about.st_mode)) return fail(fmt::format("cannot run '{}'", path), "it is a directory", {}, EACCES);
  if (::access(path.c_str(), X_OK) == 0) return {};
  return fail_errno(fmt::format("cannot run '{}'", path), errno,
                    about.st_mode & 0111 ? std::string() : fmt::format("chmod +x {}", path));
}

// All rules of --inject and --replace: those of plans first.
Result<std::vector<probes::InjectionText>> injection_texts(const RecordingOptions& options) {
  std::vector<probes::InjectionText> out;
  for (const std::string& file : options.inject_plans) {
    auto rules = probes::plan_from_file(file);
    if (!rules) return usage(std::move(rules.error()));
    std::ranges::move(*rules, std::back_inserter(out));
  }
  for (const std::string& text : options.inject_rules) out.push_back({text, "--inject"});
  for (const std::string& text : options.replace_rules) out.push_back({text, "--replace"});
  return out;
}

std::uint64_t seed_of(const RecordingOptions& options) {
  constexpr std::int64_t kMany = 1'000'000'000;  // a number that a user can copy
  return static_cast<std::uint64_t>(options.seed ? *options.seed : boottime_ns() % kMany);
}

// A reader that follows the recording wants each call.
SummedCalls summed_calls(const RecordingOptions& options) {
  if (!options.readers.empty()) return SummedCalls::Never;
  return !options.detail.has_rows() ? SummedCalls::All : SummedCalls::OfBudget;
}

}  // namespace

Result<ChosenProbes> choose_probes(const RecordingOptions& options) {
  const std::string events = fmt::format("{}", fmt::join(options.events, ","));
  probes::Catalogue catalogue;
  const auto texts = injection_texts(options);
  if (!texts) return tl::unexpected(texts.error());
  catalogue.add_libraries(events);
  if (!options.check.empty()) catalogue.add_libraries("blas");
  for (const probes::InjectionText& text : *texts) catalogue.add_libraries(probes::functions_named(text.text));
  for (const std::string& file : options.probe_files)
    if (auto added = catalogue.add_file(file); !added) return usage(std::move(added.error()));
  ChosenProbes chosen{.known = catalogue.all()};
  auto selection = probes::Selection::make(events, options.include, options.exclude, chosen.known);
  if (!selection) return usage(std::move(selection.error()));
  chosen.selection = std::move(*selection);
  auto injections = probes::Injections::parse(*texts, chosen.known, seed_of(options));
  if (!injections) return usage(std::move(injections.error()));
  chosen.injections = std::move(*injections);
  // Functions of libraries above HIP are off by default, so those that are not selected are not left out by the user.
  const auto is_checked = [&](const probes::Probe& probe) {
    return !options.check.empty() && (is_gemm(probe) || describes_gemm(probe));
  };
  std::erase_if(chosen.known, [&](const auto& probe) {
    return probe->optional && !chosen.selection(*probe) && !chosen.injections.touches(*probe) && !is_checked(*probe);
  });
  return chosen;
}

Result<probes::Overrides> read_rules(const RecordingOptions& options) {
  std::vector<probes::RuleText> rules;
  for (const std::string& file : options.rule_files) {
    auto lines = probes::rules_from_file(file);
    if (!lines) return usage(std::move(lines.error()));
    std::ranges::move(*lines, std::back_inserter(rules));
  }
  for (const std::string& text : options.set_rules) rules.push_back({text});
  for (const std::string& text : options.ab_rules) rules.push_back({text, "--ab"});
  const auto injections = injection_texts(options);
  if (!injections) return tl::unexpected(injections.error());
  for (const probes::InjectionText& text : *injections)
    if (std::string rule = probes::override_of(text); !rule.empty())
      rules.push_back({std::move(rule), std::string(kOfPreset) + text.text});
  auto resolved = with_presets(std::move(rules), [&] { return KfdReader(options.sysfs_root).read(); });
  if (!resolved) return usage(std::move(resolved.error()));
  auto overrides = probes::Overrides::parse(*resolved);
  if (!overrides) return usage(std::move(overrides.error()));
  return overrides;
}

Result<StackChoice> stack_choice(const RecordingOptions& options) {
  StackChoice out{.native = options.native_stacks, .python = options.python_stacks};
  if (options.stack_depth) out.depth = static_cast<std::uint32_t>(*options.stack_depth);
  if (options.stacks.empty()) return out;
  if (auto parsed = out.parse_calls(options.stacks); !parsed) return tl::unexpected(std::move(parsed.error()));
  return out;
}

namespace {

// Empty where each call is wanted: then no call is looked at. Steps are seen whatever library begins them.
FunctionTable::CallersOf callers_of(const RecordingOptions& options, const probes::Selection& selection,
                                    const StepRule& step) {
  const auto has_callers = [](const std::string& word) { return word.find('@') != std::string::npos; };
  if (std::ranges::none_of(options.events, has_callers)) return {};
  return [selection, step](const probes::Probe& probe) {
    return needs_for_steps(step, probe) ? std::string() : selection.callers_of(probe);
  };
}

// A name that no watched function has would give no stacks, and no reason.
Result<void> check_stack_functions(const StackChoice& stacks, const std::vector<probes::ProbePtr>& watched,
                                   const std::vector<std::string>& by_name) {
  for (const std::string& word : stacks.functions) {
    const auto is_it = [&](const std::string& name) { return glob_match(word, name); };
    const auto matches = [&](const auto& probe) { return word == probe->group || is_it(probe->symbol); };
    if (std::ranges::any_of(watched, matches) || std::ranges::any_of(by_name, is_it)) continue;
    std::vector<std::string> names;
    for (const auto& probe : watched) names.push_back(probe->symbol);
    return fail(fmt::format("--stacks: no function that is recorded is called '{}'{}", word, did_you_mean(word, names)),
                "stacks are taken of recorded calls", "choose it with -e, too: -e all," + word, EINVAL);
  }
  return {};
}

// The program that computes products again: beside this one, as when installed; else as the build or PATH has it.
Result<std::string> find_check_program() {
  constexpr const char* kName = "fade-check-blas";
  std::error_code failure;
  const auto beside = std::filesystem::read_symlink("/proc/self/exe", failure).parent_path();
  for (const auto& path : {beside / kName, beside / "../check_blas" / kName})
    if (::access(path.c_str(), X_OK) == 0) return path.string();
  if (auto found = find_program(kName, {})) return found;
  return fail("--check blas cannot compute products again", "there is no program fade-check-blas",
              "install it beside fade-run, or put its folder into PATH");
}

Result<void> read_check(const RecordingOptions& options, SessionOptions& out) {
  const auto rule = blas::parse_check_rule(options.check);
  if (!rule) return tl::unexpected(rule.error());
  out.check = *rule;
  if (!rule->is_on) return {};
  auto program = find_check_program();
  if (!program) return tl::unexpected(std::move(program.error()));
  out.check_program = std::move(*program);
  return {};
}

Result<std::vector<actions::Rule>> read_actions(const RecordingOptions& options,
                                                const std::vector<probes::ProbePtr>& known, const StepRule& step) {
  if (options.actions.empty()) return std::vector<actions::Rule>();
  actions::Known all{known, {}, step.by != StepRule::By::None};
  for (const std::string& text : options.probe_symbols) all.also.push_back(text.substr(text.find(':') + 1));
  return actions::read_rules(options.actions, all);
}

}  // namespace

Result<SessionOptions> session_options(const RecordingOptions& options, const ChosenProbes& chosen,
                                       const probes::Overrides& overrides) {
  const auto step = parse_step(step_of(options));
  if (!step) return tl::unexpected(step.error());
  SessionOptions out{.callers = callers_of(options, chosen.selection, *step),
                     .injections = chosen.injections,
                     .replaces_dry = options.replaces_dry,
                     .follow = options.follow,
                     .hang_ns = options.hang_ns.value_or(0)};
  const auto detail = parse_detail_rule(options);
  if (!detail) return tl::unexpected(detail.error());
  out.trigger_signal = detail->signal;
  const auto budget = parse_budget(options.budget);
  if (!budget) return tl::unexpected(budget.error());
  out.budget = *budget;
  auto numbers = numbers::parse_watch_rule(options.numbers);
  if (!numbers) return tl::unexpected(std::move(numbers.error()));
  out.numbers = *numbers;
  if (auto check = read_check(options, out); !check) return tl::unexpected(std::move(check.error()));
  out.summed_calls = summed_calls(options);
  out.detail = options.detail;
  if (step->by == StepRule::By::Call) out.step_begins = step->pattern;
  out.step = *step;
  auto actions = read_actions(options, chosen.known, *step);
  if (!actions) return tl::unexpected(std::move(actions.error()));
  out.actions = std::move(*actions);
  const auto names = [](const probes::Probe& probe) {
    return [&](const actions::Rule& rule) { return rule.names(probe); };
  };
  for (const auto& probe : chosen.known)
    if (chosen.selection(*probe) || overrides.touches(probe->symbol) || chosen.injections.touches(*probe) ||
        needs_for_steps(*step, *probe) ||
        ((!overrides.empty() || !chosen.injections.empty()) && probe->kind == probes::Kind::SetDevice) ||
        (out.numbers.is_on() && needs_for_numbers(*probe)) ||
        (out.check.is_on && (is_gemm(*probe) || describes_gemm(*probe))) ||
        std::ranges::any_of(out.actions, names(*probe)) ||
        (options.gpu_times && probes::hsa_call(*probe) != probes::HsaCall::None))
      (probe->is_family ? out.wishes.families : out.wishes.probes).push_back(probe);
  out.wishes.selection = chosen.selection;
  out.wishes.shapes = options.operator_shapes;
  for (const std::string& text : options.probe_symbols) {
    auto request = parse_request(text);
    if (!request) return tl::unexpected(std::move(request.error()));
    out.wishes.symbols.push_back(std::move(*request));
  }
  std::vector<std::string> by_name;
  for (const SymbolRequest& request : out.wishes.symbols) by_name.push_back(request.function);
  if (auto checked = check_step(*step, chosen.known, by_name); !checked)
    return tl::unexpected(std::move(checked.error()));
  auto stacks = stack_choice(options);
  if (!stacks) return tl::unexpected(std::move(stacks.error()));
  if (auto checked = check_stack_functions(*stacks, out.wishes.probes, by_name); !checked)
    return tl::unexpected(std::move(checked.error()));
  out.stacks = *stacks;
  out.wishes.files = stacks->is_on();
  for (const std::string& rank : options.only_ranks) {
    if (rank.empty() || rank.find_first_not_of("0123456789") != std::string::npos)
      return fail(fmt::format("--only-rank: '{}' is not a rank", rank), {}, "--only-rank 0,1", EINVAL);
    out.only_ranks.push_back(rank);
  }
  if (options.child_filter.empty()) return out;
  const auto filter = Regex::compile(options.child_filter);
  if (!filter)
    return fail(fmt::format("--exe '{}' is not a regular expression", options.child_filter), filter.error(), {},
                EINVAL);
  out.child_filter = *filter;
  return out;
}

std::vector<std::string> environment_of(const RunOptions& options) {
  const auto& changes = options.environment_changes;
  return changed_environment(options.gpu_times ? with_gpu_times(changes) : changes, environ);
}

std::vector<std::string> changed_environment(const std::vector<std::string>& changes, char** ours) {
  std::vector<std::string> out;
  for (; *ours; ++ours) out.emplace_back(*ours);
  for (const std::string& change : changes) {
    const std::string name = change.substr(0, change.find('='));
    std::erase_if(out, [&](const std::string& item) { return item.starts_with(name + "="); });
    if (name.size() < change.size()) out.push_back(change);
  }
  return out;
}

Result<std::string> find_program(const std::string& name, const std::string& directory) {
  std::error_code why;
  if (!directory.empty() && !std::filesystem::is_directory(directory, why))
    return fail(fmt::format("cannot run '{}' in '{}'", name, directory), "there is no such directory");
  const auto from_there = [&](const std::string& path) {  // the search comes after the change of directory
    return directory.empty() || path.starts_with('/') ? path : directory + "/" + path;
  };
  if (name.find('/') != std::string::npos) {
    const std::string path = from_there(name);
    if (auto ok = check_executable(path); !ok) return tl::unexpected(std::move(ok.error()));
    return path;
  }
  const char* path_variable = std::getenv("PATH");
  const std::string path = path_variable ? path_variable : "/bin:/usr/bin";
  Result<std::string> best = fail(fmt::format("cannot run '{}'", name), "no such program in PATH",
                                  fmt::format("if it is a file here: ./{}", name), ENOENT);
  for (std::size_t begin = 0; begin <= path.size() && !name.empty();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = end == begin ? "." : path.substr(begin, end - begin);
    begin = end + 1;
    const std::string candidate = from_there(folder + "/" + name);
    auto ok = check_executable(candidate);
    if (ok) return candidate;
    if (ok.error().code == EACCES && best.error().code == ENOENT) best = tl::unexpected(std::move(ok.error()));
  }
  return best;
}

}  // namespace fade
