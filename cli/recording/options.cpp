#include "cli/recording/options.hpp"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <limits>

#include "base/regex.hpp"
#include "cli/options/values.hpp"
#include "supervisor/detail_levels.hpp"
#include "supervisor/output_name.hpp"
#include "supervisor/preparation.hpp"

namespace fade::cli::recording {
namespace {

constexpr std::uint64_t kLeastSize = 1 << 20;

constexpr std::int64_t kMostSamples = 1000;  // a second

// -e trace=mem for hands that know strace.
void drop_trace_prefix(std::vector<std::string>& events) {
  constexpr std::string_view kPrefix = "trace=";
  for (std::string& event : events)
    if (event.starts_with(kPrefix)) event.erase(0, kPrefix.size());
}

Result<void> check_sysfs_root(const std::string& root) {
  std::error_code ignored;
  if (root == RecordingOptions{}.sysfs_root || std::filesystem::is_directory(root, ignored)) return {};
  return fail(fmt::format("--sysfs-root: '{}' is not a directory", root), {},
              "name the directory to use as /sys: --sysfs-root /host/sys");
}

Result<void> check_patterns(const RecordingOptions& options) {
  const std::pair<std::string_view, std::vector<std::string>> all[] = {{"include", options.include},
                                                                       {"exclude", options.exclude},
                                                                       {"kernel-include-regex", options.kernel_include},
                                                                       {"kernel-exclude-regex", options.kernel_exclude},
                                                                       {"exe", {options.child_filter}}};
  for (const auto& [option, patterns] : all)
    for (const std::string& pattern : patterns)
      if (auto checked = check_pattern(pattern, option); !checked) return checked;
  return {};
}

Choice engine_choice(RecordingOptions& options) {
  return {{"auto", "breakpoints", "taps"},
          [&](std::size_t index) { options.engine = static_cast<CaptureEngine>(index); }};
}

}  // namespace

Result<void> check_pattern(const std::string& pattern, std::string_view option) {
  const auto regex = Regex::compile(pattern);
  if (!regex) return fail(fmt::format("--{}: '{}' is not a regular expression", option, pattern), regex.error());
  return {};
}

std::vector<Option> rows(Request& r, RecordingOptions& o, const Wording& wording) {
  const Shown help = Shown::Help, all = Shown::HelpAll;
  const Completes file = Completes::File, none = Completes::Nothing;
  return {
      {kOutput, "-o,--output", "FILE", "database to write; %e %p %h %r %t %n %q{VAR} are replaced [fade-%e-%p.db]",
       Text{&o.output}, help, file},
      {kOutput, "--force", "", "replace FILE if it exists", Flag{&r.force}, help},
      {kOutput, "--append", "", "add this run to FILE if it exists", Flag{&r.append}, help},
      {kOutput, "--max-size", "SIZE", "limit of the database [8G]", Size{&o.max_bytes}},
      {kOutput, "--on-full", "WHAT",
       "at the limit: stop the recording, keep stats (counts and times), or drop-calls [stats]",
       choice(o.on_full, {"stop", "stats", "drop-calls"})},
      {kOutput, "-c,--summary,!--no-summary", "[=libraries]", wording.summary,
       Switch{&r.summary, &r.summary_by, {"libraries"}}, help},
      {kOutput, "--verdict", "", "say at the end whether the GPU was really used, and if not, why", Flag{&r.verdict}},
      {kOutput, "--page", "", "write a page for a browser at the end, beside FILE: run.db, run.html", Flag{&r.page}},

      {kCapture,
       "-e,--events",
       "LIST",
       "groups of functions: mem,copy or all,-sync [all]",
       List{&o.events},
       help,
       none,
       {"all",   "cuda",   "nvml",           "mem",        "copy",       "kernel",   "sync",    "stream",
        "event", "module", "device",         "graph",      "error",      "register", "pointer", "texture",
        "rtc",   "marker", "comm",           "blas",       "dnn",        "fft",      "sparse",  "solver",
        "rand",  "ops",    "ops-redispatch", "ops-ranges", "ops-memory", "loads",    "driver"}},
      {kCapture, "--engine", "WHAT",
       "how calls are seen: breakpoints, taps (a hundredth of the cost), or auto: taps for frequent calls "
       "[auto; of running processes breakpoints]",
       engine_choice(o)},
      {kCapture,
       "--budget",
       "PERCENT",
       "let fade cost the program at most this share of its time: functions that cost more are recorded with less "
       "detail, and all calls are counted [no limit]",
       Text{&o.budget},
       all,
       none,
       {"1%", "3%", "10%"}},
      {kCapture,
       "--detail",
       "LEVEL",
       "stats (sums), calls, or full (arguments as text); of groups: calls,mem=full [calls]",
       Text{&r.detail, false, true},
       help,
       none,
       {"stats", "calls", "full", "mem=", "copy=", "kernel=", "sync=", "stream=", "event=", "device=", "graph=",
        "error=", "pointer=", "blas=", "ops="}},
      {kCapture, "-d,--duration", "TIME", wording.duration, Time{&o.duration_ns}, help},
      {kCapture, "--delay", "TIME", "begin to record after TIME", Time{&o.delay_ns}},
      {kCapture, "--include", "REGEX", "record only functions whose name matches", Each{&o.include}},
      {kCapture, "--exclude", "REGEX", "do not record functions whose name matches", Each{&o.exclude}},
      {kCapture, "--kernel-include-regex", "REGEX", "store only launches of kernels whose name matches",
       Each{&o.kernel_include}},
      {kCapture, "--kernel-exclude-regex", "REGEX", "do not store launches of kernels whose name matches",
       Each{&o.kernel_exclude}},
      {kCapture,
       "--step",
       "WHAT",
       "what a step is: 'range:NAME*' (roctx, NVTX), or FUNCTION, FUNCTION/N: from one (every Nth) call to the next",
       Text{&o.step},
       all,
       none,
       {"range:", "hipDeviceSynchronize", "hipStreamSynchronize"}},
      {kCapture,
       "--schedule",
       "LIST",
       "store rows of calls in chosen steps only, and sums at all times: skip=10,wait=5,warmup=1,active=3,repeat=2",
       Text{&o.schedule},
       all,
       none,
       {"wait=", "active=", "skip=10,wait=5,warmup=1,active=3,repeat=2"}},
      {kCapture,
       "--window",
       "PERIOD/TIME",
       "store rows of calls in the first TIME of each PERIOD only, and sums at all times: 60s/10s",
       Text{&o.window},
       all,
       none,
       {"60s/10s"}},
      {kCapture,
       "--trigger",
       "LIST",
       "store rows of calls around moments of trouble only: error, slow-step=3x, memory>14G (of all devices together), "
       "signal=USR2, mark",
       List{&o.triggers},
       all,
       none,
       {"error", "mark", "slow-step=3x", "memory>", "signal=USR2"}},
      {kCapture, "--keep", "TIME", "of rows, so much before and after a trigger [30s]", Time{&o.keep_ns}},

      {kCapture, "--gpu-times", "", "record when the GPU worked on each kernel, copy and fill (AMD's HIP 5 and later)",
       Flag{&o.gpu_times}},
      {kCapture, "--operator-shapes", "",
       "with -e ops: types and sizes of the tensors that operators of PyTorch take (a stop for each call)",
       Flag{&o.operator_shapes}},
      {kCapture,
       "--watch-numbers",
       "LIST",
       "look for numbers in what is copied between host and GPU: nan,inf,range=LEAST..GREATEST, and a checksum of each "
       "copy; sample=N, dtype=f32, rate=1G (bytes a second), most=16M (of a copy)",
       Text{&o.numbers, false},
       all,
       none,
       {"nan,inf", "nan,inf,checksum", "nan,inf,dtype=f32", "range="}},
      {kCapture,
       wording.check,
       "LIST",
       "compute matrix products again on the processor and compare: blas,every=100 (products of a process); "
       "atol=, rtol= (rtol.f16= for one type), most=64M (bytes of a product), rate=256M (a second), dumps=8. "
       "The program's own threads fetch the matrices and wait for the GPU meanwhile",
       Text{&o.check},
       all,
       none,
       {"blas", "blas,every=100", "blas,every=1", "blas,every=100,rtol.f16="}},
      {kCapture, "--actions", "FILE",
       "do what the rules in FILE say when calls have returned: on FUNCTION [if CONDITION] do snapshot|stack|dump "
       "ARGUMENT BYTES|mark NAME|signal N|stop|exec COMMAND",
       Text{&o.actions}, all, file},
      {kCapture, "--hang-timeout", "TIME",
       "take a snapshot of all threads if no call starts or finishes for TIME while one runs", Time{&o.hang_ns}},

      {kStacks,
       "-k,--stacks",
       "LIST",
       "calls with a stack: off, all, sample=N, or any of FUNCTION,alloc,errors,first [alloc,errors,first]",
       List{&o.stacks},
       help,
       none,
       {"alloc", "errors", "first", "sample", "sample=", "all", "off"}},
      {kStacks, "--stack-depth", "N", "frames to keep of each stack, from the innermost [64]",
       Number{&o.stack_depth, 1, StackChoice::kMostFrames}},
      {kStacks, "--sample", "HZ", "so many times a second, record the line of Python of threads that are in no call",
       Number{&o.sample_hz, 1, kMostSamples}},
      {kStacks, "--native-stacks,!--no-native-stacks", "", "frames of C and C++ code [on]", Flag{&o.native_stacks}},
      {kStacks, "--python-stacks,!--no-python-stacks", "", "frames of Python code [on]", Flag{&o.python_stacks}},

      {kProcesses, "-f,--follow,!--no-follow", "", "record child processes too [on]", Flag{&o.follow}},
      {kProcesses, "--exe", "REGEX", "record only processes whose executable path matches", Text{&o.child_filter}},
      {kProcesses, "--only-rank", "LIST",
       "of a distributed job, record only these ranks (RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID ...): 0,3",
       List{&o.only_ranks}},

      {kCorrect,
       "--set",
       "TARGET=VALUE",
       "make HIP report VALUE for a device property",
       Each{&o.set_rules},
       help,
       none,
       {"device.*.multiProcessorCount=", "device.*.warpSize=", "device.*.name=", "device.*.totalGlobalMem="}},
      {kCorrect, "--override-file", "FILE", "read such rules from FILE, one a line", Each{&o.rule_files}, all, file},
      {kCorrect, "--dry-run", "", "show what the rules would change, then exit", Flag{&r.dry_run}},

      {kInject,
       "--inject",
       "RULE",
       "fail or delay calls: hipMalloc:error=hipErrorOutOfMemory:when=3, or hipMemcpy/size>1M:delay=5ms",
       Each{&o.inject_rules},
       all,
       none,
       {"hipMalloc:error=hipErrorOutOfMemory:when=", "hipLaunchKernel:error=hipErrorIllegalAddress:sticky:when=",
        "hipMemcpy:delay="}},
      {kInject, "--replace", "RULE",
       "replace an argument or a result: hipMalloc.size=4096:when=2, hipGetDeviceCount.result=100",
       Each{&o.replace_rules}},
      {kInject, "--inject-plan", "FILE", "read rules of both kinds from FILE, one a line", Each{&o.inject_plans}, all,
       file},
      {kInject, "--replace-dry", "", "count what --replace would change, and change nothing", Flag{&o.replaces_dry}},
      {kInject, "--seed", "N", "of chance=P in the rules: the same calls as in another run [a new one each time]",
       Number{&o.seed, 0, std::numeric_limits<std::int64_t>::max()}},

      {kDevices, "--sensors,!--no-sensors", "", "read the GPUs' sensors while recording [on]", Flag{&o.sensors}},
      {kDevices, "--sysfs-root", "DIR", "read the GPU driver's data from DIR instead of /sys", Text{&o.sysfs_root}, all,
       Completes::Directory},

      {kProbes, "--probes", "FILE", "add functions described in FILE", Each{&o.probe_files}, all, file},
      {kProbes, "--probe", "LIB:FUNCTION", "add a function of a library with debug information",
       Each{&o.probe_symbols}},
      {kProbes, "--list-probes", "", "print the functions that would be recorded, then exit", Flag{&r.list_probes}},
  };
}

Result<void> read_detail(const Request& request, RecordingOptions& options) {
  if (request.detail.empty()) return {};
  auto levels = parse_detail(request.detail, options.probe_files);
  if (!levels) return tl::unexpected(std::move(levels.error()));
  options.detail = std::move(*levels);
  return {};
}

std::vector<Option> cached_rows(RecordingOptions& o) {
  return {{kCorrect, "--find-cached", "",
           "look in the program's memory for copies of device properties (fade-query cached) [with --set]",
           Flag{&o.find_cached}},
          {kCorrect, "--set-cached", "",
           "change these copies as --set says, and put them back on detach; they stay changed if fade is killed",
           Flag{&o.set_cached}}};
}

Result<void> finish(const Request& request, RecordingOptions& options, const char* default_output) {
  if (request.force && request.append) return fail("--force and --append exclude each other");
  if (request.force) options.open_mode = OpenMode::Overwrite;
  if (request.append) options.open_mode = OpenMode::Append;
  if (options.output.empty() && default_output != nullptr) options.output = default_output;
  drop_trace_prefix(options.events);
  if (auto read = read_detail(request, options); !read) return read;
  if (options.hang_ns && *options.hang_ns <= 0)
    return fail("--hang-timeout: a time of nothing", "every call would be a hang",
                "longer than the longest call of a healthy run: --hang-timeout 5m");
  if (options.max_bytes > 0 && options.max_bytes < kLeastSize)
    return fail(fmt::format("--max-size: {} bytes are less than 1M", options.max_bytes),
                "an empty recording has this size already", "write 100M or 8G");
  if (auto checked = check_sysfs_root(options.sysfs_root); !checked) return checked;
  if (auto checked = check_output_name(options.output); !checked) return checked;
  if (auto checked = stack_choice(options); !checked) return tl::unexpected(std::move(checked.error()));
  return check_patterns(options);
}

std::string components() { return fmt::format("libdw {}, sqlite {}", ::dwfl_version(nullptr), ::sqlite3_libversion()); }

}  // namespace fade::cli::recording
