// The entries that a thread will meet once more. A signal met the thread in the code of a breakpoint, after the call
// was counted, and the program was shown the entry's own address. The handler returns there, and the entry is hit
// again: the same call. Handlers call HIP as well, and signals meet them there, so there may be several such entries
// at a time. Pure.
#pragma once
#include <algorithm>
#include <vector>

#include "base/remote.hpp"

namespace fade {

class ShownSites {
 public:
  static constexpr std::size_t kMost = 64;  // signals within signals; the outermost is forgotten first

  void add(RemoteAddr site, RemoteAddr sp) {
    const Shown shown{site, sp};
    if (std::ranges::find(shown_, shown) != shown_.end()) return;
    if (shown_.size() == kMost) shown_.erase(shown_.begin());
    shown_.push_back(shown);
  }

  // The thread has hit `site`. True: it was shown there before, and this is no new call. Forgets entries that the
  // thread cannot come back to: those on its own stack below `sp`. `stack` gives that stack; it is asked only if it
  // matters.
  template <class StackRange>
  bool hit(RemoteAddr site, RemoteAddr sp, StackRange&& stack) {
    const bool is_again = std::erase(shown_, Shown{site, sp}) > 0;
    if (std::ranges::any_of(shown_, [&](const Shown& one) { return one.sp <= sp; })) forget_below(sp, stack());
    return is_again;
  }
  // Threads that were to hit `from` hit `to` instead, with a stack pointer that is lower by `depth`.
  void moves(RemoteAddr from, RemoteAddr to, std::uint64_t depth) {
    for (Shown& one : shown_)
      if (one.site == from) one = {to, one.sp - depth};
  }
  // Removes the entries at `site`, and returns their stack pointers.
  std::vector<RemoteAddr> take(RemoteAddr site) {
    std::vector<RemoteAddr> out;
    for (const Shown& one : shown_)
      if (one.site == site) out.push_back(one.sp);
    std::erase_if(shown_, [site](const Shown& one) { return one.site == site; });
    return out;
  }
  void clear() { shown_.clear(); }
  std::size_t size() const { return shown_.size(); }

 private:
  struct Shown {
    RemoteAddr site, sp;
    friend bool operator==(const Shown&, const Shown&) = default;
  };

  // On another stack (signal stack, fiber) the thread's own frames are only suspended.
  void forget_below(RemoteAddr sp, RemoteRange stack) {
    std::erase_if(shown_, [&](const Shown& one) {
      return one.sp == sp || (one.sp < sp && stack.contains(one.sp) && stack.contains(sp));
    });
  }

  std::vector<Shown> shown_;  // outermost first
};

}  // namespace fade
