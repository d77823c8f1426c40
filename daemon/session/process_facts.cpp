#include "session/process_facts.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "base/living_thread.hpp"
#include "base/rank.hpp"

namespace fade {
namespace {

constexpr std::size_t kMaxFile = 1 << 20;  // of /proc files whose size the target decides
constexpr std::size_t kStartOfStack = 28 - 3;      // of stat_fields(): proc_pid_stat(5) counts from 1
constexpr std::size_t kUserTime = 14 - 3, kSystemTime = 15 - 3;
constexpr std::size_t kMostOfAStack = 1 << 17;     // words

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string out;
  std::array<char, 4096> chunk;
  while (in && out.size() < kMaxFile) {
    in.read(chunk.data(), chunk.size());
    out.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
  }
  return out;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::string link_target(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t n = ::readlink(path.c_str(), target, sizeof target);
  return n < 0 ? std::string() : std::string(target, static_cast<std::size_t>(n));
}

// Fields of /proc/PID/stat from number 3 on; the name before them may hold anything but ends at the last ')'.
std::vector<std::string> stat_fields(pid_t pid) {
  const std::string text = read_file(fmt::format("/proc/{}/stat", pid));
  const auto name_end = text.rfind(')');
  return name_end == std::string::npos || name_end + 2 > text.size() ? std::vector<std::string>{}
                                                                     : split(text.substr(name_end + 2), ' ');
}

template <class Number>
Number number(const std::string& text) {
  Number out{};
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

// The value of "Name:\tvalue ..." in /proc/PID/status.
std::string status_value(pid_t pid, const std::string& name) {
  for (const auto& line : split(read_file(fmt::format("/proc/{}/status", pid)), '\n'))
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  return {};
}

// Name* stands for every variable that begins so.
constexpr const char* kStored[] = {
    "AMD_*",    "CUDA_*",    "DEBUG_CLR_*",   "DEBUG_HIP_*", "GGML_CUDA_*", "GPU_*",       "HIP_*",        "HIPBLASLT_*",
    "HIPRTC_*", "HSAKMT_*",  "HSA_*",         "KMP_*",  "LD_*",  "MIOPEN_*",
    "NCCL_*",   "OLLAMA_*",  "OMP_*",         "PYTORCH_*",   "RCCL_*",      "REMOTE_ALLOC", "ROCBLAS_*",
    "ROCM_*",   "ROCPROFILER_*", "ROCR_*",    "ROC_*",       "TENSILE_*",   "TORCHINDUCTOR_*", "TORCH_*",  "TRITON_*",
    "ZLUDA_*", "DISABLE_DEFERRED_ALLOC", "CQ_THREAD_STACK_SIZE",
};
constexpr const char* kSecretWords[] = {"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL"};

}  // namespace

bool may_be_stored(const std::string& name) {
  return is_rank_variable(name) || std::ranges::any_of(kStored, [&](std::string_view pattern) {
    return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
  });
}

std::string redacted(const std::string& name, const std::string& value) {
  std::string upper = name;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const bool secret = std::ranges::any_of(kSecretWords, [&](const char* word) { return upper.find(word) != upper.npos; });
  return secret ? "<redacted>" : value;
}

Error process_gone(pid_t pid) { return {fmt::format("process {} has ended", pid), {}, {}, ESRCH}; }

ProcessFacts read_process_facts(pid_t pid) {
  ProcessFacts facts;
  if (const auto fields = stat_fields(pid); fields.size() > 19) {
    facts.ppid = number<pid_t>(fields[1]);
    facts.start_ticks = number<std::uint64_t>(fields[19]);
  }
  facts.uid = number<uid_t>(status_value(pid, "Uid"));
  const pid_t alive = living_thread(pid);
  facts.exe = link_target(fmt::format("/proc/{}/exe", alive));
  facts.command = split(read_file(fmt::format("/proc/{}/cmdline", alive)), '\0');
  for (const auto& item : split(read_file(fmt::format("/proc/{}/environ", alive)), '\0')) {
    const auto equals = item.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = item.substr(0, equals);
    if (may_be_stored(name)) facts.environment.emplace_back(name, redacted(name, item.substr(equals + 1)));
  }
  return facts;
}

std::string read_thread_name(pid_t tid) {
  std::string name = read_file(fmt::format("/proc/{}/comm", tid));
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

pid_t read_thread_group(pid_t tid) { return number<pid_t>(status_value(tid, "Tgid")); }

pid_t read_parent(pid_t pid) { return number<pid_t>(status_value(pid, "PPid")); }

Whose memory_of(pid_t child, pid_t maker) {
  const long compared = ::syscall(SYS_kcmp, child, maker, KCMP_VM, 0, 0);
  return compared < 0 ? Whose::Unknown : compared == 0 ? Whose::Shared : Whose::Own;
}

bool shares_memory(pid_t child, pid_t maker) { return memory_of(child, maker) == Whose::Shared; }

pid_t read_own_pid(pid_t pid) {
  const std::string numbers = status_value(pid, "NStgid");  // ours first
  return number<pid_t>(numbers.substr(numbers.rfind('\t') + 1));
}

std::optional<std::int64_t> read_cpu_ns(pid_t pid) {
  const auto fields = stat_fields(pid);
  if (fields.size() <= kSystemTime) return std::nullopt;
  static const std::int64_t tick_ns = 1'000'000'000 / std::max(1L, ::sysconf(_SC_CLK_TCK));
  return (number<std::int64_t>(fields[kUserTime]) + number<std::int64_t>(fields[kSystemTime])) * tick_ns;
}

pid_t read_tracer(pid_t tid) { return number<pid_t>(status_value(tid, "TracerPid")); }

char read_state(pid_t tid) {
  const std::string state = status_value(tid, "State");
  return state.empty() ? '\0' : state[0];
}

std::vector<pid_t> read_thread_ids(pid_t pid) {
  std::vector<pid_t> out;
  std::error_code ended;
  for (std::filesystem::directory_iterator at(fmt::format("/proc/{}/task", pid), ended), end; !ended && at != end; at.increment(ended))
    out.push_back(number<pid_t>(at->path().filename().string()));
  return out;
}

SignalSets read_signal_sets(pid_t tid) {
  SignalSets out;
  const std::pair<std::string_view, std::uint64_t*> wanted[] = {{"SigPnd:\t", &out.pending_alone}, {"ShdPnd:\t", &out.pending},
                                                                {"SigBlk:\t", &out.blocked}, {"SigIgn:\t", &out.ignored},
                                                                {"SigCgt:\t", &out.caught}};
  for (const auto& line : split(read_file(fmt::format("/proc/{}/status", tid)), '\n'))
    for (const auto& [name, set] : wanted)
      if (line.starts_with(name)) *set = std::strtoull(line.c_str() + name.size(), nullptr, 16);
  out.pending |= out.pending_alone;
  return out;
}

bool read_is_64_bit(pid_t pid) {
  std::array<char, EI_CLASS + 1> identity{};
  std::ifstream in(fmt::format("/proc/{}/exe", pid), std::ios::binary);
  return !in.read(identity.data(), identity.size()) || identity[EI_CLASS] == ELFCLASS64;
}

bool catches_signal(pid_t pid, int signal) { return read_signal_sets(pid).caught >> (signal - 1) & 1; }

namespace {

AuxiliaryVector understood(std::span<const Elf64_auxv_t> items) {
  AuxiliaryVector out;
  std::uint64_t ids[AT_EGID + 1] = {};
  for (const auto& item : items) {
    const std::uint64_t value = item.a_un.a_val;
    if (item.a_type >= AT_UID && item.a_type <= AT_EGID) ids[item.a_type] = value;
    if (item.a_type == AT_NULL) break;
    if (item.a_type == AT_BASE) out.loader_base = {value};
    if (item.a_type == AT_ENTRY) out.entry = {value};
    if (item.a_type == AT_PHDR) out.program_headers = {value};
    if (item.a_type == AT_PHNUM) out.program_header_count = value;
    if (item.a_type == AT_SECURE) out.secure = value != 0;
  }
  out.has_other_ids = ids[AT_UID] != ids[AT_EUID] || ids[AT_GID] != ids[AT_EGID];
  return out;
}

}  // namespace

// From where the stack began: the number of arguments, they and a null, the environment and a null, the vector. unsetenv(3)
// leaves more nulls behind.
std::optional<AuxiliaryVector> read_auxiliary_vector_on_stack(pid_t pid, const Memory& memory) {
  const auto fields = stat_fields(pid);
  if (fields.size() <= kStartOfStack) return std::nullopt;
  std::vector<std::uint64_t> words(kMostOfAStack);
  words.resize(memory.read({number<std::uint64_t>(fields[kStartOfStack])}, std::as_writable_bytes(std::span(words))) / sizeof words[0]);
  if (words.size() < 2 || words[0] > words.size() - 2) return std::nullopt;
  const auto environment = words.begin() + static_cast<std::ptrdiff_t>(words[0]) + 2;
  const auto end_of_environment = std::find(environment, words.end(), 0u);
  const auto at = std::find_if(end_of_environment, words.end(), [](std::uint64_t word) { return word != 0; });
  std::vector<Elf64_auxv_t> items(static_cast<std::size_t>(words.end() - at) / 2);
  if (items.empty()) return std::nullopt;
  std::memcpy(items.data(), &*at, items.size() * sizeof items[0]);
  return understood(items);
}

std::optional<AuxiliaryVector> read_auxiliary_vector(pid_t pid, const Memory& memory) {
  const std::string text = read_file(fmt::format("/proc/{}/auxv", living_thread(pid)));
  if (text.empty()) return read_auxiliary_vector_on_stack(pid, memory);
  std::vector<Elf64_auxv_t> items(text.size() / sizeof(Elf64_auxv_t));
  std::memcpy(items.data(), text.data(), items.size() * sizeof items[0]);
  return understood(items);
}

}  // namespace fade
