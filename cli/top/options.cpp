#include "cli/top/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "cli/options/values.hpp"
#include "cli/recording/options.hpp"

namespace fade::cli::top {
namespace {

constexpr std::int64_t kLeastInterval = 100'000'000, kMostTime = 3'600'000'000'000;

Result<Pid> pid_of(const std::string& word) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
  if (error != std::errc{} || end != word.data() + word.size() || pid <= 0)
    return fail(fmt::format("'{}' is not a process id", word), {}, "ps -e -o pid,args");
  return Pid::of(pid);
}

Result<void> take_time(const std::optional<std::int64_t>& given, const char* option, std::int64_t& to) {
  if (!given) return {};
  if (*given < kLeastInterval || *given > kMostTime)
    return fail(fmt::format("{}: the time is not between 100ms and 1h", option), {}, fmt::format("{} 2", option));
  to = *given;
  return {};
}

}  // namespace

const Program& program() {
  static const Program kProgram{
      .name = "fade-top",
      .section = "top",
      .environment = "FADE_TOP_OPTIONS",
      .usage = "[OPTIONS] [PID | RECORDING]",
      .about =
          "Show the HIP calls of a running program, live. Default: the newest recording under way in this directory.",
      .examples = {{"fade top", "the recording that is under way here"},
                   {"fade top 4242", "attach to a process, with sums only, and leave it as it was at the end"},
                   {"fade top run.db --filter 'hipMem(cpy|set)'", "some functions of one recording"},
                   {"fade top --once", "print the view once, as text"}},
      .words = Words::Any,
      .words_complete = Completes::File,
      .components = recording::components()};
  return kProgram;
}

std::vector<Option> rows(Request& r) {
  constexpr std::string_view kView = "View";
  const Shown help = Shown::Help;
  return {{kView, "-i,--interval", "TIME", "time between two looks [1s]", Time{&r.interval_given}, help},
          {kView, "--window", "TIME", "time that rates are of [2s]", Time{&r.window_given}, help},
          {kView, "--once", "", "print the view once as text, then exit; so does a pipe", Flag{&r.once}, help},
          {kView, "-s,--sort", "ORDER", "order of the rows [time]",
           choice(r.order, {std::begin(kOrderNames), std::end(kOrderNames)}), help},
          {kView, "--filter", "REGEX", "show only functions, kernels, lines and errors whose name matches",
           Text{&r.filter_text}, help},
          {kView, "--pid", "PID", "of several processes of the recording, show this one alone",
           Number{&r.pid, 1, std::numeric_limits<pid_t>::max()}, help, Completes::Process}};
}

Result<void> finish(Request& request, const std::vector<std::string>& words) {
  if (words.size() > 1) return fail("more than one process or recording is given", {}, "fade top " + words.front());
  if (auto taken = take_time(request.interval_given, "--interval", request.interval_ns); !taken) return taken;
  if (auto taken = take_time(request.window_given, "--window", request.window_ns); !taken) return taken;
  auto filter = Filter::compile(request.filter_text);
  if (!filter) return tl::unexpected(std::move(filter.error()));
  request.filter = std::move(*filter);
  if (words.empty()) return {};
  if (!is_digits(words.front())) {
    request.database = words.front();
    return {};
  }
  auto pid = pid_of(words.front());
  if (!pid) return tl::unexpected(std::move(pid.error()));
  request.target = *pid;
  return {};
}

}  // namespace fade::cli::top
