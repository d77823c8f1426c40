#include "live/live_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "base/rank.hpp"
#include "base/user_code.hpp"
#include "live/words.hpp"

namespace fade::live {
namespace {

template <class T>
T& at(std::vector<T>& all, std::size_t id) {
  if (id >= all.size()) all.resize(id + 1);
  return all[id];
}

}  // namespace

void LiveNames::take_process(ProcessId id, Pid pid, const std::vector<std::string>& command,
                             const std::vector<std::pair<std::string, std::string>>& environment) {
  const std::string rank = rank_of(environment), place = rank.empty() ? std::string() : fmt::format("rank {}, ", rank);
  processes_[id] = {pid, fmt::format("{} ({}pid {})", short_command(command), place, pid)};
}

void LiveNames::on(const Notice& notice) {
  std::visit(
      [this](const auto& n) {
        using N = std::decay_t<decltype(n)>;
        if constexpr (requires { take(n); }) take(n);
        else if constexpr (std::is_same_v<N, ProcessStarted>) take_process(n.process, n.pid, n.command, n.environment);
        else if constexpr (std::is_same_v<N, ProcessExec>)
          take_process(n.process, process(n.process).pid, n.command, n.environment);
        else if constexpr (std::is_same_v<N, ThreadStarted>) at(threads_, n.thread.value()) = {n.tid, n.process};
        else if constexpr (std::is_same_v<N, FunctionDefined>)
          at(functions_, n.function.value()) = {n.probe, n.library_major};
      },
      notice);
}

void LiveNames::take(const FrameSeen& frame) {
  if (frame.kind != FrameSeen::Kind::Python) return;
  const std::string line = frame.line > 0 ? std::to_string(frame.line) : "?";
  frames_[frame.frame] = {static_cast<std::uint32_t>(texts_.size()), is_user_code(frame.file)};
  texts_.push_back(fmt::format("{}:{} {}", short_file_name(frame.file, folder_), line, frame.function));
}

// A stack is one frame on top of another stack, so the innermost user line is the frame's own or the rest's.
void LiveNames::take(const StackSeen& stack) {
  Lines lines = stack.parent.value() < lines_.size() ? lines_[stack.parent.value()] : Lines{};
  if (const auto python = frames_.find(stack.frame); python != frames_.end()) {
    lines.python = stack.frame;
    if (python->second.is_user) lines.user = stack.frame;
  }
  at(lines_, stack.stack.value()) = lines;
}

ProcessNames LiveNames::process(ProcessId id) const {
  const auto found = processes_.find(id);
  return found == processes_.end() ? ProcessNames{0, "a process"} : found->second;
}

std::string LiveNames::line_of(StackId stack) const {
  if (stack == 0 || stack.value() >= lines_.size()) return {};
  const Lines& lines = lines_[stack.value()];
  const auto frame = frames_.find(lines.user != 0 ? lines.user : lines.python);
  return frame == frames_.end() ? std::string() : texts_[frame->second.text];
}

}  // namespace fade::live
