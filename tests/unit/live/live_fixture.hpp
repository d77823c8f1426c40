// Batches as the tracing side makes them.
#pragma once
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/event_queue.hpp"
#include "probes/built_in.hpp"

namespace fade::live {

// One process (pid 5993, thread 1), its Python stacks and its calls.
class Told {
 public:
  explicit Told(std::vector<std::string> command = {"/usr/bin/python3", "/home/me/train.py", "--token", "secret"}) {
    notice(ProcessStarted{.process = 1, .pid = 5993, .command = std::move(command), .environment = {{"RANK", "1"}}});
    notice(ThreadStarted{.thread = 1, .process = 1, .tid = 5993});
  }
  void notice(Notice n) { batch_.notices.push_back({batch_.calls.size(), std::move(n)}); }

  // Frames as file:line function, innermost first. Returns the stack.
  StackId stack(const std::vector<std::tuple<std::string, int, std::string>>& frames) {
    StackId parent = 0;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      const auto& [file, line, function] = *frame;
      notice(FrameSeen{.frame = ++last_frame_,
                       .process = 1,
                       .kind = FrameSeen::Kind::Python,
                       .function = function,
                       .file = file,
                       .line = line});
      notice(StackSeen{.stack = ++last_stack_, .parent = parent, .frame = last_frame_});
      parent = last_stack_;
    }
    return parent;
  }
  FunctionId function(const std::string& symbol) {
    for (const probes::ProbePtr& probe : probes::built_in_probes())
      if (probe->symbol == symbol) {
        notice(FunctionDefined{.function = ++last_function_,
                               .probe = probe,
                               .library = "/opt/rocm/lib/libamdhip64.so.6",
                               .library_major = 6});
        return last_function_;
      }
    ADD_FAILURE() << symbol << " is not a known function";
    return 0;
  }
  CallRecord begin(const std::string& symbol, std::array<std::uint64_t, 6> words = {}, StackId stack = 0) {
    CallRecord record{.id = ++last_call_,
                      .entry_ns = 1'000'000'000,
                      .exit_ns = 1'000'012'300,
                      .words = words,
                      .function = function(symbol),
                      .thread = 1,
                      .flags = kReturned,
                      .stack = stack};
    return record;
  }
  template <class T>
  void piece(PieceKind kind, std::uint8_t param, const T& value) {
    append_piece(payload_, {.kind = kind, .param = param}, std::as_bytes(std::span(&value, 1)));
  }
  void text(PieceKind kind, std::uint8_t param, const std::string& value) {
    append_piece(payload_, {.kind = kind, .param = param}, std::as_bytes(std::span(value)));
  }
  void put(CallRecord record) {
    record.payload_at = static_cast<std::uint32_t>(batch_.payload.size());
    record.payload_size = static_cast<std::uint32_t>(payload_.size());
    batch_.payload.insert(batch_.payload.end(), payload_.begin(), payload_.end());
    payload_.clear();
    batch_.calls.push_back(record);
  }
  // What was told since the last one.
  Batch batch() { return std::exchange(batch_, {}); }

 private:
  Batch batch_;
  std::vector<std::byte> payload_;
  FrameId last_frame_ = 0;
  StackId last_stack_ = 0;
  FunctionId last_function_ = 0;
  CallId last_call_ = 0;
};

}  // namespace fade::live
