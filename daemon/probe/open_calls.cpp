#include "probe/open_calls.hpp"

#include <algorithm>

#include "base/result.hpp"

namespace fade {
namespace {

OpenCall* last_of(std::vector<OpenCall>& calls, const auto& is_wanted) {
  const auto it = std::find_if(calls.rbegin(), calls.rend(), is_wanted);
  return it == calls.rend() ? nullptr : &*it;
}

}  // namespace

bool OpenCalls::has_frame_at(RemoteAddr sp) const {
  return std::ranges::any_of(calls_, [&](const OpenCall& call) { return call.sp == sp; });
}

OpenCall* OpenCalls::find(RemoteAddr return_address, RemoteAddr sp) {
  return last_of(calls_, [&](const OpenCall& call) { return call.sp == sp && call.return_address == return_address; });
}

OpenCall* OpenCalls::of_function(std::uint32_t entry, RemoteAddr sp) {
  return last_of(calls_, [&](const OpenCall& call) { return call.sp == sp && call.entry == entry; });
}

OpenCall OpenCalls::remove(const OpenCall& call) {
  const auto index = &call - calls_.data();
  FADE_CHECK(index >= 0 && static_cast<std::size_t>(index) < calls_.size());
  OpenCall out = std::move(calls_[static_cast<std::size_t>(index)]);
  calls_.erase(calls_.begin() + index);
  return out;
}

std::vector<OpenCall> OpenCalls::take_unwound_on(const CallFrame& frame, const Memory& memory, RemoteRange stack) {
  const RemoteAddr sp = frame.sp;
  bool is_made_again = false;
  const auto is_gone = [&](const OpenCall& call) {
    if (sp < call.sp) return false;
    if (frame.holds(call)) return is_made_again |= call.entry == frame.entry;
    if (sp == call.sp || (stack.contains(sp) && stack.contains(call.sp))) return true;
    // On another stack (signal stack, fiber) the call may only be suspended: it is gone when its return address is.
    return memory.value<std::uint64_t>(call.sp) != call.return_address.value;
  };
  std::vector<OpenCall> gone, kept;
  for (OpenCall& call : calls_) (is_gone(call) ? gone : kept).push_back(std::move(call));
  calls_ = std::move(kept);
  return gone;
}

}  // namespace fade
