#include "live/trace_lines.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/human.hpp"
#include "base/log.hpp"
#include "base/signal_name.hpp"
#include "probes/decode.hpp"

namespace fade::live {
namespace {

constexpr std::size_t kAtOnce = 4096;  // a pipe with room takes this many bytes without waiting (PIPE_BUF)
constexpr int kLookMs = 100;
constexpr std::string_view kRed = "\x1b[31m", kPlain = "\x1b[0m", kCut = "...";

// Programs choose the names of kernels, ranges and files, so control characters and line breaks are escaped.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) out += fmt::format("\\x{:02x}", byte);
    else out += c;
  }
  return out;
}

// At most `most` bytes, cut at the end of a character.
std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + std::string(kCut);
}

// "1.50 MiB", as reports have it; a size that two decimals would round stays a number of bytes.
std::string exact_bytes(const std::string& text) {
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc{} || end != text.data() + text.size()) return text;
  constexpr std::array<const char*, 4> kUnits{"TiB", "GiB", "MiB", "KiB"};
  std::uint64_t size = std::uint64_t{1} << 40;
  for (const char* unit : kUnits) {
    const std::uint64_t hundredth = bytes % size * 100;
    if (bytes >= size && hundredth % size == 0) return fmt::format("{}.{:02} {}", bytes / size, hundredth / size, unit);
    size >>= 10;
  }
  return text;
}

struct Level {
  std::string_view api, color;
};
// HIP, the common case, is plain.
constexpr Level kLevels[] = {
    {"hip", ""},          {"hiprtc", "\x1b[33m"}, {"cuda", "\x1b[35m"}, {"nvml", "\x1b[35m"},  {"roctx", "\x1b[32m"},
    {"nvtx", "\x1b[32m"}, {"hsa", "\x1b[2m"},     {"loads", "\x1b[2m"}, {"driver", "\x1b[2m"}, {"user", ""}};
constexpr std::string_view kLibraryColor = "\x1b[36m";

std::string_view color_of(const probes::Probe& probe) {
  const auto* const level = std::ranges::find(kLevels, std::string_view(probe.api), &Level::api);
  return level == std::end(kLevels) ? kLibraryColor : level->color;
}

bool is_unfinished(const CallRecord& record) {
  return (record.flags & (kReturned | kUnwound | kEntryOnly | kUnseen)) == 0;
}

}  // namespace

TraceLines::TraceLines(TraceManner manner, int fd, std::function<bool()> leaves)
    : manner_(std::move(manner)),
      fd_(fd),
      leaves_(std::move(leaves)),
      names_(manner_.folder),
      names_threads_(!manner_.alone_unnamed) {}

std::string TraceLines::stamp(std::int64_t at) const {
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (manner_.stamp == Stamp::SinceStart) return fmt::format("{}.{:06}", at / kSecond, at % kSecond / 1000);
  const std::int64_t wall = clock_.real_ns + at, micro = wall % kSecond / 1000;
  const time_t seconds = wall / kSecond;
  if (manner_.stamp == Stamp::Epoch) return fmt::format("{}.{:06}", seconds, micro);
  tm day{};
  ::localtime_r(&seconds, &day);
  const std::string clock = fmt::format("{:02}:{:02}:{:02}", day.tm_hour, day.tm_min, day.tm_sec);
  return manner_.stamp == Stamp::Clock ? clock : fmt::format("{}.{:06}", clock, micro);
}

std::string TraceLines::argument(const probes::Probe& probe, std::string_view name, const std::string& text) const {
  const auto parameter = std::ranges::find(probe.parameters, name, &probes::Parameter::name);
  const bool is_size = parameter != probe.parameters.end() && parameter->role == probes::Role::Bytes;
  const std::size_t longest = detail_of(probe) == Detail::Full ? manner_.longest_of_full : manner_.longest;
  return shortened(printable(is_size ? exact_bytes(text) : text), longest);
}

// A parameter that is read twice is "name=before => after".
std::string TraceLines::arguments(const FunctionNames& function, const CallRecord& record,
                                  probes::Payload payload) const {
  std::string out;
  std::string_view before;
  const auto values = probes::decode(*function.probe, record, payload, function.library_major);
  for (const probes::Value& value : values) {
    const std::string text = argument(*function.probe, value.name, value.text);
    if (value.name == before) out += " => " + text;
    else out += fmt::format("{}{}={}", out.empty() ? "" : ", ", value.name, text);
    before = value.name;
  }
  return out;
}

std::string TraceLines::ending(const FunctionNames& function, const CallRecord& record, probes::Payload payload) const {
  if (record.flags & kUnwound) return fmt::format(" = ? <left after {}>", time_.text(record, manner_.utf8));
  if (record.flags & (kEntryOnly | kUnseen)) return " = ?";
  std::string result = probes::returned_text(payload);
  if (result.empty()) result = probes::result_text(*function.probe, record.result, function.library_major);
  const std::string time = fmt::format(" <{}>", time_.text(record, manner_.utf8));
  if (result.empty()) return time;
  const bool is_red = manner_.color && (record.flags & kFailed);
  return fmt::format(" = {}{}{}{}", is_red ? kRed : "", printable(result), is_red ? kPlain : "", time);
}

std::string TraceLines::line(const CallRecord& record, probes::Payload payload) const {
  const FunctionNames function = names_.function(record.function);
  const bool unfinished = is_unfinished(record);
  if (!function.probe || (manner_.failures_only && !unfinished && !(record.flags & kFailed))) return {};
  if (detail_of(*function.probe) == Detail::Stats) return {};
  const ThreadNames thread = names_.thread(record.thread);
  const std::string who = thread_text(names_.process(thread.process).pid, thread.tid);
  const std::string call =
      fmt::format("{}({}", name_text(*function.probe, record.parent != 0), arguments(function, record, payload));
  const std::string place = names_.line_of(record.stack);
  return fmt::format("{}{} {}{}{}{}\n", who, stamp(record.entry_ns), call,
                     unfinished ? " <unfinished ...>" : ")" + ending(function, record, payload),
                     place.empty() ? "" : "  ", printable(place));
}

// A library above HIP, CUDA, HIP and the calls below HIP have a colour each.
std::string TraceLines::name_text(const probes::Probe& probe, bool is_inside) const {
  const std::string name = printable(probe.symbol), indent = manner_.indents && is_inside ? "  " : "";
  const std::string_view color = manner_.color ? color_of(probe) : std::string_view();
  return color.empty() ? indent + name : fmt::format("{}{}{}{}", indent, color, name, kPlain);
}

std::string TraceLines::thread_text(Pid pid, Tid tid) const {
  return names_threads_ ? fmt::format("[{}/{}] ", pid, tid) : std::string();
}

// strace(1) ends a process so. Processes that made no call are left out: shells and helpers.
void TraceLines::ends(const ProcessEnded& ended) {
  if (callers_.erase(ended.process) == 0) return;
  const std::string how = ended.exit_signal != 0 ? "killed by " + signal_name(ended.exit_signal)
                          : ended.exit_code >= 0 ? fmt::format("exited with {}", ended.exit_code)
                                                 : "no longer watched";
  const Pid pid = names_.process(ended.process).pid;
  waiting_ += fmt::format("{}{} +++ {} +++\n", thread_text(pid, leader_of(pid)), stamp(ended.at), how);
}

void TraceLines::on(const Notice& notice) {
  names_.on(notice);
  time_.on(notice);
  if (const auto* ended = std::get_if<ProcessEnded>(&notice)) ends(*ended);
}

void TraceLines::take(const CallRecord& record, probes::Payload payload) {
  first_thread_ = first_thread_.value_or(record.thread);
  names_threads_ |= *first_thread_ != record.thread;
  callers_.insert(names_.thread(record.thread).process);
  waiting_ += line(record, payload);
  if (waiting_.size() >= kAtOnce) write();
}

void TraceLines::read(const Batch& batch) {
  std::size_t next = 0;
  const std::span<const std::byte> payload(batch.payload);
  for (std::size_t i = 0; i <= batch.calls.size() && !ended_; ++i) {
    for (; next < batch.notices.size() && batch.notices[next].before_call <= i; ++next) on(batch.notices[next].notice);
    if (i == batch.calls.size()) break;
    const CallRecord& record = batch.calls[i];
    take(record, payload.subspan(record.payload_at, record.payload_size));
  }
  write();
}

// Waits for the reader as long as the reader exists.
void TraceLines::write() {
  std::size_t done = 0;
  while (done < waiting_.size() && !ended_) {
    pollfd asked{.fd = fd_, .events = POLLOUT, .revents = 0};
    const int ready = ::poll(&asked, 1, kLookMs);
    ended_ = ready == 0 && leaves_ && leaves_();
    if (ready <= 0) continue;
    const ssize_t n = ::write(fd_, waiting_.data() + done, std::min(kAtOnce, waiting_.size() - done));
    if (n > 0) done += static_cast<std::size_t>(n);
    if (n >= 0 || errno == EAGAIN || errno == EINTR) continue;
    ended_ = true;
    if (errno != EPIPE)
      log::error("no more lines are written: {}; the program and the recording go on", std::strerror(errno));
  }
  waiting_.clear();
}

}  // namespace fade::live
