#include "cli/ab/series.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "cli/ab/output.hpp"
#include "supervisor/ignored_signals.hpp"

namespace fade::cli::ab {
namespace {

std::int64_t children_cpu_ns() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * std::int64_t{1'000'000'000} +
         (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * std::int64_t{1000};
}

// Standard input that begins anew for each run: a file is opened again, all else can be read only once and is replaced
// by nothing.
class Input {
 public:
  Input() {
    struct stat about {};
    if (::fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode)) {
      start_ = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
      original_ = Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    }
  }
  Result<void> rewind() const {
    const std::string path = original_ ? "/proc/self/fd/" + std::to_string(original_.get()) : "/dev/null";
    const Fd fresh(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!fresh || (original_ && ::lseek(fresh.get(), start_, SEEK_SET) < 0) || ::dup2(fresh.get(), STDIN_FILENO) < 0)
      return fail_errno("cannot open standard input again for the next run");
    return {};
  }

 private:
  Fd original_;
  off_t start_ = 0;
};

void nothing_to_say(const std::string&, Pid, const std::string&) {}

// In a thread of its own: tracing binds its thread to CPUs and changes its scheduling, and programs inherit both. That
// thread alone gets signals, as the only one of an ordinary run does.
Result<RunOutcome> run_apart(const RunOptions& options) {
  std::optional<Result<RunOutcome>> outcome;
  std::thread thread([&] { outcome = fade::run(options, nothing_to_say); });
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread.join();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return std::move(*outcome);
}

// One run after another; owns what each run must find as the first one did.
class Runner {
 public:
  explicit Runner(const RunOptions& options) : options_(options), rules_(options.ab_rules) {
    for (std::size_t i = 0; i < kIgnoredSignals.size(); ++i) ::sigaction(kIgnoredSignals[i], nullptr, &actions_[i]);
  }

  Result<RunOutcome> run(bool with_rules, Output& output) {
    options_.ab_rules = with_rules ? rules_ : std::vector<std::string>();
    for (std::size_t i = 0; i < kIgnoredSignals.size(); ++i) ::sigaction(kIgnoredSignals[i], &actions_[i], nullptr);
    if (auto ready = input_.rewind(); !ready) return tl::unexpected(ready.error());
    auto file = OutputFile::begin();
    if (!file) return tl::unexpected(file.error());
    auto outcome = run_apart(options_);
    if (!outcome) return outcome;
    auto written = file->read();
    if (!written) return tl::unexpected(written.error());
    output = std::move(*written);
    append_to(outcome->summary.database);
    return outcome;
  }

 private:
  // The name is a pattern the first time, and from then on what that came to.
  void append_to(const std::string& database) {
    options_.open_mode = OpenMode::Append;
    options_.output.clear();
    for (const char c : database) (options_.output += c) += c == '%' ? "%" : "";
  }

  RunOptions options_;
  const std::vector<std::string> rules_;
  Input input_;
  std::array<struct sigaction, kIgnoredSignals.size()> actions_{};  // as we got them: each run ignores these signals
};

}  // namespace

bool has_rules(std::size_t index) { return (index + 1) / 2 % 2 == 1; }

Result<Series> run_series(const RunOptions& options, std::size_t pairs, const OnRun& on_run) {
  // Before the first run: rules that cannot be understood would only be noticed by the second one.
  if (auto understood = resolved_rules(options); !understood) return tl::unexpected(understood.error());
  Series series{.pairs = pairs};
  Runner runner(options);
  for (std::size_t i = 0; i < 2 * pairs; ++i) {
    Output output;
    const std::int64_t cpu_before = children_cpu_ns();
    auto outcome = runner.run(has_rules(i), output);
    if (!outcome) return tl::unexpected(outcome.error());
    series.database = outcome->summary.database;
    if (outcome->let_go || outcome->interrupted) {
      series.stopped = std::move(*outcome);
      return series;
    }
    auto figures = read_figures(*outcome);
    if (!figures) return tl::unexpected(figures.error());
    figures->with_rules = has_rules(i);
    figures->cpu_ns = children_cpu_ns() - cpu_before;
    figures->output = std::move(output);
    on_run(*figures, i + 1, 2 * pairs);
    series.runs.push_back(std::move(*figures));
  }
  return series;
}

}  // namespace fade::cli::ab
