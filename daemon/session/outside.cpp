#include "session/outside.hpp"

#include <algorithm>
#include <utility>

#include "proc/living_thread.hpp"
#include "proc/processes.hpp"
#include "ptrace/signal_frame.hpp"
#include "ptrace/tracee.hpp"

namespace fade {
namespace {

constexpr int kMostTimes = 4;
constexpr std::size_t kMostStacks = 8;  // a handler may run on a stack of its own

// The instruction pointer, and those to which handlers return.
std::vector<RemoteAddr> places_of(const Memory& memory, RemoteAddr ip, RemoteAddr sp) {
  std::vector<RemoteAddr> places{ip}, stacks{sp};
  for (std::size_t i = 0; i < stacks.size() && i < kMostStacks; ++i)
    for (const SignalFrame& frame : signal_frames(memory, stacks[i])) {
      places.push_back(frame.ip);
      if (std::ranges::find(stacks, frame.sp) == stacks.end()) stacks.push_back(frame.sp);
    }
  return places;
}

}  // namespace

RangesMet ranges_around(const Memory& memory, RemoteAddr ip, RemoteAddr sp, const std::vector<RemoteRange>& ranges) {
  const std::vector<RemoteAddr> places = places_of(memory, ip, sp);
  RangesMet out;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (std::ranges::any_of(places, [&](RemoteAddr place) { return ranges[i].contains(place); })) out.push_back(i);
  return out;
}

Outside::Outside(const Parts& parts, std::shared_ptr<const Program> program, std::vector<RemoteRange> ranges)
    : p_(parts), program_(std::move(program)), ranges_(std::move(ranges)) {}

bool Outside::is_settled(Tid tid) const {
  const auto it = inside_.find(tid);
  return it != inside_.end() && it->second.empty();
}

// Threads of all processes in this memory. /proc tells also of threads that are no tracees.
std::vector<Tid> Outside::unsettled() const {
  std::vector<Tid> out;
  for (const auto& [pid, inferior] : p_.roster.processes())
    if (inferior->program == program_)
      for (const Tid tid : read_thread_ids(pid, inferior->proc()))
        if (!is_settled(tid)) out.push_back(tid);
  return out;
}

// A thread is outside of a range as soon as one look finds it outside.
void Outside::seen(Tid tid, const RangesMet& inside) {
  const auto [it, is_first] = inside_.try_emplace(tid, inside);
  if (!is_first)
    std::erase_if(it->second, [&](std::size_t range) { return !std::ranges::binary_search(inside, range); });
}

// Its stack is read while it rests. A thread that rests in a range may stand at a breakpoint that is being handled.
bool Outside::see_resting(Tid tid) {
  const Memory& memory = program_->space->memory();
  const auto place = read_resting_place(tid, program_->space->proc());
  if (!place) return false;
  const RangesMet inside = ranges_around(memory, place->ip, place->sp, ranges_);
  const auto is_there = [&](const RemoteRange& range) { return range.contains(place->ip); };
  if (std::ranges::any_of(ranges_, is_there) || read_resting_place(tid, program_->space->proc()) != place) return false;
  seen(tid, inside);
  return true;
}

bool Outside::look(HoldClock& holds) {
  for (int look = 0; look < kMostTimes; ++look) {
    std::vector<Tid> running;
    for (const Tid tid : unsettled())
      if (!see_resting(tid) && p_.roster.thread(tid)) running.push_back(tid);
    p_.rendezvous.stop_each(
        running,
        [&](Thread& thread) {
          const auto registers = Tracee(thread.tid).registers();
          if (registers && thread.inferior->program == program_)
            seen(thread.tid, ranges_around(thread.memory(), registers->ip(), registers->sp(), ranges_));
        },
        &holds);
    if (p_.rendezvous.has_given_up()) return false;
    if (unsettled().empty()) break;
  }
  const auto is_free_of_guests = [&](const auto& item) {
    return item.second->program != program_ || p_.untraced.guests_of(item.first).empty();
  };
  return std::ranges::all_of(unsettled(), [&](Tid tid) { return inside_.contains(tid) || has_ended(tid); }) &&
         std::ranges::all_of(p_.roster.processes(), is_free_of_guests);
}

bool Outside::is_free(std::size_t range) const {
  return std::ranges::none_of(inside_,
                              [&](const auto& item) { return std::ranges::binary_search(item.second, range); });
}

}  // namespace fade
