#include "session/call_book.hpp"

#include <algorithm>
#include <limits>

namespace fade {
namespace {

// The return address decides only if the frame may be that of an open call, which jumped here.
CallFrame frame_at_entry(const Thread& thread, std::uint32_t entry, RemoteAddr sp,
                         std::span<const std::uint64_t> on_stack, const Memory& memory) {
  CallFrame frame{.sp = sp, .entry = entry};
  if (!thread.calls.has_frame_at(sp)) return frame;
  frame.return_address =
      on_stack.empty() ? memory.value<RemoteAddr>(sp).value_or(RemoteAddr{}) : RemoteAddr{on_stack[0]};
  return frame;
}

}  // namespace

std::uint32_t held_time(std::int64_t ns) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(ns, 0, std::numeric_limits<std::uint32_t>::max()));
}

void CallBook::arrive(Thread& thread, std::uint32_t entry, RemoteAddr sp, std::span<const std::uint64_t> on_stack,
                      const Memory& memory) {
  close_unwound(thread, frame_at_entry(thread, entry, sp, on_stack, memory), memory);
}

void CallBook::number(const Thread& thread, CallRecord& record) {
  record.id = ++last_;
  record.parent = thread.calls.innermost();
}

CallRecord& CallBook::open(Thread& thread, OpenCall call) {
  thread.inferior->open_by_sp[call.sp] = &thread;
  return thread.calls.push(std::move(call)).record;
}

std::span<OpenCall> CallBook::take_returned(Thread& thread, RemoteAddr return_address, RemoteAddr sp,
                                            const Memory& memory) {
  returned_.clear();
  auto& open_by_sp = thread.inferior->open_by_sp;
  const auto owner = open_by_sp.find(sp);
  if (owner == open_by_sp.end()) return {};
  OpenCalls& calls = owner->second->calls;
  OpenCall* open = calls.find(return_address, sp);
  if (!open) return {};
  returned_.push_back(calls.remove(*open));
  open_by_sp.erase(owner);
  close_unwound(thread, {.sp = sp, .return_address = return_address}, memory);
  while ((open = calls.find(return_address, sp))) returned_.push_back(calls.remove(*open));
  return returned_;
}

std::optional<OpenCall> CallBook::take_left(Thread& thread, std::uint32_t entry, RemoteAddr sp, const Memory& memory) {
  Thread& owner = owner_of(thread, sp);
  std::optional<OpenCall> call = remove(owner, entry, sp);
  if (call) close_unwound(owner, {.sp = sp, .return_address = call->return_address}, memory);
  return call;
}

void CallBook::withdraw(Thread& thread, std::uint32_t entry, RemoteAddr sp) { remove(owner_of(thread, sp), entry, sp); }

// A fiber may have moved.
Thread& CallBook::owner_of(Thread& thread, RemoteAddr sp) {
  const auto& open_by_sp = thread.inferior->open_by_sp;
  const auto found = open_by_sp.find(sp);
  return found == open_by_sp.end() ? thread : *found->second;
}

std::optional<OpenCall> CallBook::remove(Thread& owner, std::uint32_t entry, RemoteAddr sp) {
  OpenCall* const open = owner.calls.of_function(entry, sp);
  if (!open) return std::nullopt;
  OpenCall call = owner.calls.remove(*open);
  if (!owner.calls.has_frame_at(sp)) forget_open(owner, sp);
  return call;
}

void CallBook::complete(const CallRecord& record, std::span<const std::byte> payload) {
  if (record.id != 0) complete_.add(record, payload);
}

void CallBook::close(OpenCall call, std::uint16_t flags) {
  call.record.flags |= flags;
  call.record.exit_ns = clock_.now();
  complete(call);
}

bool CallBook::flush(std::int64_t held_ns) {
  if (complete_.size() == 0) return false;
  for (CallRecord& record : complete_.calls) record.held_ns = held_time(record.held_ns + held_ns);
  sink_.calls(complete_);
  complete_.clear();
  ++flushes_;
  return true;
}

void CallBook::thread_ended(Thread& thread, bool process_ended) {
  for (OpenCall& call : thread.calls.take_all()) {
    forget_open(thread, call.sp);
    close(std::move(call), process_ended ? kOpenAtEnd : kUnwound);
  }
}

// Another thread's call may stand at that stack pointer by now, where a fiber was left behind.
void CallBook::forget_open(Thread& thread, RemoteAddr sp) {
  const auto it = thread.inferior->open_by_sp.find(sp);
  if (it != thread.inferior->open_by_sp.end() && it->second == &thread) thread.inferior->open_by_sp.erase(it);
}

void CallBook::close_unwound(Thread& thread, const CallFrame& frame, const Memory& memory) {
  for (OpenCall& call : thread.calls.take_unwound(frame, memory, [&] { return stack_of_(thread, frame.sp); })) {
    forget_open(thread, call.sp);
    close(std::move(call), kUnwound);
  }
}

}  // namespace fade
