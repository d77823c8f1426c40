#include "stack/native_walk.hpp"

#include <algorithm>

namespace fade {
namespace {

// Whether what stands before a return address is a call: E8 rel32, or FF /2 with its address in whatever form. `code` ends there.
bool ends_with_call(std::span<const std::uint8_t> code) {
  const auto from_end = [&](std::size_t n) { return code[code.size() - n]; };
  if (from_end(5) == 0xE8) return true;
  return std::ranges::any_of(std::array{2, 3, 4, 6, 7}, [&](std::size_t n) { return from_end(n) == 0xFF && (from_end(n - 1) >> 3 & 7) == 2; });
}

}  // namespace

// A thread that stands in a slot of ours, or was interrupted there, is shown where it would stand without us.
RemoteAddr NativeWalk::shown(RemoteAddr pc) {
  const auto own = code_.own_address(pc);
  if (own) frame_.set(FrameRegisters::kReturnAddress, own->value);
  return own.value_or(pc);
}

bool NativeWalk::is_behind_call(RemoteAddr pc) const {
  std::array<std::uint8_t, 7> code{};
  return stack_.read_exactly(pc - code.size(), std::as_writable_bytes(std::span(code))) && ends_with_call(code);
}

// A thread that called, by a null or stray pointer, what is no code: the call has left its return address where rsp is, and nothing else
// has changed.
bool NativeWalk::leave_what_is_no_code(RemoteAddr pc) {
  const auto back = stack_.value<std::uint64_t>(frame_.sp());
  if (!back || CodeMap::is_executable(pc, thread_) || !is_behind_call({*back})) return false;
  if (code_.at(RemoteAddr{*back} - 1, thread_).rule.kind == FrameRule::Kind::Missing) return false;
  frame_.return_to(*back, frame_.sp().value + sizeof *back);
  return is_return_ = true;
}

// A function that was not called, but put where the outermost one will return to, as makecontext(3) does.
bool NativeWalk::is_put_there(RemoteAddr pc) const { return !is_behind_call(pc) && code_.at(pc, thread_).rule.kind != FrameRule::Kind::Missing; }

std::optional<NativeFrame> NativeWalk::next() {
  if (end_ != End::NotYet) return std::nullopt;
  RemoteAddr pc = is_return_ ? frame_.pc() - 1 : frame_.pc();
  if (is_return_ && frame_.pc() == RemoteAddr{}) return end_ = End::Bottom, std::nullopt;  // a return address of 0 ends a stack, too (ABI, 3.4.1)
  const CodeMap::Place* place = &code_.at(pc, thread_);
  if (place->rule.kind == FrameRule::Kind::Missing && !is_return_) {
    pc = shown(pc);
    place = &code_.at(pc, thread_);
  }
  last_ = pc;
  if (place->rule.kind == FrameRule::Kind::Missing) return leave_without_rule(pc, place->code != 0);
  go_out(*place);
  return NativeFrame{pc};
}

std::optional<NativeFrame> NativeWalk::leave_without_rule(RemoteAddr pc, bool is_in_file) {
  if (!is_return_ && !is_in_file && leave_what_is_no_code(pc)) return NativeFrame{pc};
  const bool is_outermost = is_return_ && is_in_file && is_put_there(frame_.pc());
  end_ = is_outermost ? End::Bottom : End::Missing;
  return NativeFrame{is_outermost ? frame_.pc() : pc};
}

void NativeWalk::go_out(const CodeMap::Place& place) {
  const RemoteAddr sp = frame_.sp();
  const FrameRule rule = place.rule;
  bool done = false;
  switch (rule.kind) {
    case FrameRule::Kind::Missing: end_ = End::Missing; return;
    case FrameRule::Kind::Bottom: end_ = End::Bottom; return;
    case FrameRule::Kind::Offsets: done = step(rule, frame_, [this](RemoteAddr at) { return stack_.word(at); }); break;
    case FrameRule::Kind::Expressions:
      ++evaluated_;
      done = code_.step(place, frame_, stack_);
      break;
  }
  if (!done || (frame_.sp() <= sp && !rule.is_signal)) end_ = End::Damaged;
  is_return_ = !rule.is_signal;
}

std::string NativeWalk::why_ended() const {
  switch (end_) {
    case End::Missing: return code_.why_missing(last_);
    case End::Damaged: return "the stack cannot be followed further";
    case End::NotYet:
    case End::Bottom: break;
  }
  return {};
}

std::vector<RemoteAddr> native_frames(CodeMap& code, pid_t thread, const Registers& registers, const StackSnapshot& stack, std::size_t limit) {
  std::vector<RemoteAddr> out;
  NativeWalk walk(code, thread, FrameRegisters(registers), stack, false);
  while (out.size() < limit) {
    const auto frame = walk.next();
    if (!frame) break;
    out.push_back(frame->pc);
  }
  return out;
}

}  // namespace fade
