#include "stack/native_walk.hpp"

namespace fade {

// A thread that stands in a slot of ours, or was interrupted there, is shown where it would stand without us.
RemoteAddr NativeWalk::shown(RemoteAddr pc) {
  const auto own = code_.own_address(pc);
  if (own) frame_.set(FrameRegisters::kReturnAddress, own->value);
  return own.value_or(pc);
}

std::optional<NativeFrame> NativeWalk::next() {
  if (end_ != End::NotYet) return std::nullopt;
  RemoteAddr pc = is_return_ ? frame_.pc() - 1 : frame_.pc();
  if (frame_.pc() == RemoteAddr{}) return end_ = End::Bottom, std::nullopt;  // a return address of 0 ends a stack, too (ABI, 3.4.1)
  const CodeMap::Place* place = &code_.at(pc, thread_);
  if (place->rule.kind == FrameRule::Kind::Missing && !is_return_) {
    pc = shown(pc);
    place = &code_.at(pc, thread_);
  }
  last_ = pc;
  go_out(*place);
  return NativeFrame{pc};
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
