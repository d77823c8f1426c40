#include "stack/native_walk.hpp"

#include <utility>

#include "stack/call_instruction.hpp"

namespace fade {
namespace {

// Memory that records each word that is read.
class Witness final : public Memory {
 public:
  Witness(const Memory& memory, StackEvidence& evidence) : memory_(memory), evidence_(evidence) {}
  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    const std::size_t got = memory_.read(from, into);
    std::uint64_t value = 0;
    if (got != into.size() || got > sizeof value) {
      evidence_.give_up();
      return got;
    }
    std::memcpy(&value, into.data(), got);
    evidence_.word(from, value, got);
    return got;
  }

 private:
  const Memory& memory_;
  StackEvidence& evidence_;
};

}  // namespace

// For a thread in one of fade's slots, or interrupted there: the pc that the thread would have without fade.
RemoteAddr NativeWalk::shown(RemoteAddr pc) {
  const auto own = code_.own_address(pc);
  if (evidence_) evidence_->give_up();  // the content of a slot changes
  if (own) frame_.set(FrameRegisters::kReturnAddress, own->value);
  return own.value_or(pc);
}

// For a thread that called a null or stray pointer: the call has left its return address at rsp, and changed nothing
// else.
bool NativeWalk::leave_what_is_no_code(RemoteAddr pc) {
  const auto back = stack_.value<std::uint64_t>(frame_.sp());
  if (!back || CodeMap::is_executable(pc, thread_) || !is_behind_call(stack_, {*back})) return false;
  if (code_.at(RemoteAddr{*back} - 1, thread_).rule.kind == FrameRule::Kind::Missing) return false;
  frame_.return_to(*back, frame_.sp().value + sizeof *back);
  return is_return_ = true;
}

// True for a function that was not called, but made the return target of the outermost function, as makecontext(3)
// does.
bool NativeWalk::is_put_there(RemoteAddr pc) const {
  return !is_behind_call(stack_, pc) && code_.at(pc, thread_).rule.kind != FrameRule::Kind::Missing;
}

std::optional<NativeFrame> NativeWalk::next() {
  if (end_ != End::NotYet) return std::nullopt;
  RemoteAddr pc = is_return_ ? frame_.pc() - 1 : frame_.pc();
  if (is_return_ && frame_.pc() == RemoteAddr{}) {  // a return address of 0 ends a stack, too (ABI, 3.4.1)
    end_ = End::Bottom;
    return std::nullopt;
  }
  const CodeMap::Place* place = &code_.at(pc, thread_);
  if (place->rule.kind == FrameRule::Kind::Missing && !is_return_) {
    pc = shown(pc);
    place = &code_.at(pc, thread_);
  }
  last_ = pc;
  const bool by_libunwind = std::exchange(by_libunwind_, false);
  NativeFrame frame{pc};
  if (place->rule.kind == FrameRule::Kind::Missing) frame = leave_without_rule(pc, place->code != 0);
  else go_out(*place);
  frame.by_libunwind = by_libunwind;
  return frame;
}

NativeFrame NativeWalk::leave_without_rule(RemoteAddr pc, bool is_in_file) {
  const bool is_outermost = is_return_ && is_in_file && is_put_there(frame_.pc());
  if (is_return_ && !is_outermost && fall_back()) return {pc};
  if (evidence_ && !(fallback_ && fallback_->is_exhausted()))
    evidence_->give_up();  // code decides, not the stack alone
  if (!is_return_ && ((!is_in_file && leave_what_is_no_code(pc)) || fall_back())) return {pc};
  end_ = is_outermost ? End::Bottom : End::Missing;
  return {is_outermost ? frame_.pc() : pc};
}

// The evidence does not contain the code that was looked at: a call that returns there was executed, or the word on the
// stack was taken for a return address before.
bool NativeWalk::fall_back() {
  if (!fallback_) return false;
  if (evidence_) rest_on(FrameRegisters::kRbp);
  const auto caller = fallback_->out_of(frame_, evidence_);
  if (!caller) return false;
  frame_ = *caller;
  from_[FrameRegisters::kRbp] = kCertain;
  return is_return_ = by_libunwind_ = true;
}

void NativeWalk::rest_on(std::size_t number) const {
  // the place of the stack was known before
  if (number == FrameRegisters::kRsp || !frame_.has(number) || from_[number] == kCertain) return;
  if (from_[number]) evidence_->word(from_[number], frame_[number]);
  else evidence_->begins_with(number, frame_[number]);
}

// After a step: the stack pointer is the frame's CFA.
void NativeWalk::rest_on(const FrameRule& rule) {
  const auto at = [cfa = frame_.sp()](std::int16_t offset) {
    return cfa + static_cast<std::uint64_t>(std::int64_t{offset});
  };
  evidence_->word(at(rule.return_at), frame_.pc().value);
  for (std::size_t i = 0; i < rule.saved_at.size(); ++i)
    if (rule.saved >> i & 1) from_[FrameRegisters::kSaved[i]] = at(rule.saved_at[i]);
}

// The evaluation may use every register.
bool NativeWalk::evaluate(const CodeMap::Place& place) {
  ++evaluated_;
  if (!evidence_) return code_.step(place, frame_, stack_);
  for (std::size_t i = 0; i < FrameRegisters::kReturnAddress; ++i) rest_on(i);
  from_.fill(kCertain);
  return code_.step(place, frame_, Witness(stack_, *evidence_));
}

void NativeWalk::go_out(const CodeMap::Place& place) {
  const RemoteAddr sp = frame_.sp();
  const FrameRule rule = place.rule;
  bool done = false;
  switch (rule.kind) {
    case FrameRule::Kind::Missing: end_ = End::Missing; return;
    case FrameRule::Kind::Bottom: end_ = End::Bottom; return;
    case FrameRule::Kind::Offsets:
      if (evidence_) rest_on(rule.cfa_register);
      done = step(rule, frame_, [this](RemoteAddr at) { return stack_.word(at); });
      if (evidence_ && done) rest_on(rule);
      break;
    case FrameRule::Kind::Expressions: done = evaluate(place); break;
  }
  if (!done || (frame_.sp() <= sp && !rule.is_signal)) end_ = End::Damaged;
  if (evidence_ && end_ == End::Damaged) evidence_->give_up();
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

std::vector<RemoteAddr> native_frames(CodeMap& code, Tid thread, const Registers& registers, const StackSnapshot& stack,
                                      std::size_t limit) {
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
