#include "stack/fallback_walk.hpp"

#include "stack/call_instruction.hpp"

namespace fade {

bool FallbackWalk::read_code(RemoteAddr at) {
  if (at == block_.at) return true;
  block_.at = {};
  if (!stack_.read_exactly(at - Block::kBefore, block_.bytes)) return false;
  block_.at = at;
  return true;
}

bool FallbackWalk::is_return_address(RemoteAddr pc) {
  return code_.is_code(pc - 1, thread_) && read_code(pc) &&
         ends_with_call(std::span(block_.bytes).first(Block::kBefore));
}

// A function that leaves the frame pointer alone has its own return address before that of the frame pointer's frame.
// False also if there is too much to look at.
bool FallbackWalk::is_first_return(RemoteAddr at, RemoteAddr sp, StackEvidence* evidence) {
  for (RemoteAddr place = sp; place <= at; place = place + sizeof(std::uint64_t)) {
    const auto word = ++words_ <= kMostWords ? stack_.word(place) : std::nullopt;
    if (!word) return false;
    if (evidence) evidence->word(place, *word);
    if (place != at && code_.is_known_code({*word - 1}) && is_behind_call(stack_, {*word})) return false;
  }
  return true;
}

std::optional<FrameRegisters> FallbackWalk::out_of(const FrameRegisters& frame, StackEvidence* evidence) {
  if (++steps_ > kMostSteps || code_.own_address(frame.pc()) || !code_.is_code(frame.pc(), thread_) ||
      !read_code(frame.pc()))
    return std::nullopt;
  const auto caller = libunwind_.out_of(frame, std::span(block_.bytes).subspan(Block::kBefore), stack_);
  if (!caller || caller->return_at < frame.sp() || !is_return_address(caller->frame.pc()) ||
      !is_first_return(caller->return_at, frame.sp(), evidence))
    return std::nullopt;
  return caller->frame;
}

}  // namespace fade
