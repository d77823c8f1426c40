// The user's choice of calls with a stack. Tracing thread only.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/event.hpp"
#include "base/result.hpp"
#include "probes/probe.hpp"

namespace fade {

struct StackChoice {
  bool allocations = true;  // allocations; not frees
  bool errors = true;       // calls that failed
  bool first = true;        // the first call of a function from a place
  bool all = false;
  std::uint32_t every = 0;             // one of so many calls; 0: none
  std::vector<std::string> functions;  // each call of these: names, patterns (hipMemcpy*) and groups
  std::uint32_t depth = 64;            // frames kept, from the innermost
  bool native = true, python = true;

  static constexpr std::uint32_t kUsualSample = 100, kMostFrames = 1024;

  // Sets the calls with a stack: alloc, errors, first, sample, sample=N, all, off, functions and groups. "off" excludes
  // the rest.
  Result<void> parse_calls(const std::vector<std::string>& words);
  bool at_entry() const { return takes_frames() && (allocations || first || all || every > 0 || !functions.empty()); }
  bool at_failure() const { return takes_frames() && (errors || all); }
  bool names(const probes::Probe& probe) const;  // among `functions`
  bool is_on() const { return at_entry() || at_failure(); }

 private:
  bool takes_frames() const { return native || python; }
};

// The names of parse_calls() that were chosen, with commas.
std::string words_of(const StackChoice& choice);

class StackPolicy {
 public:
  explicit StackPolicy(StackChoice choice) : choice_(choice), wants_entries_(choice.at_entry()) {}

  // At the entry of a call; counts it.
  bool wants(const probes::Probe& probe, FunctionId function, CallSiteId caller) {
    return wants_entries_ && !rests_ && decide(probe, function, caller);
  }
  // For every caller: the answer is known before the caller is looked up.
  bool wants_every(const probes::Probe& probe) const { return !rests_ && takes_every(probe); }
  // The same, if stacks are taken only at times.
  bool takes_every(const probes::Probe& probe) const;
  // Calls have no rows for a while: only failures have stacks.
  void rest(bool on) { rests_ = on; }
  bool wants_failed() const { return choice_.at_failure(); }
  const StackChoice& choice() const { return choice_; }

 private:
  bool decide(const probes::Probe& probe, FunctionId function, CallSiteId caller);
  bool is_first(FunctionId function, CallSiteId caller);

  StackChoice choice_;
  bool wants_entries_;
  bool rests_ = false;
  std::uint32_t since_sample_ = 0;
  std::unordered_set<std::uint64_t> seen_;  // function and caller
};

}  // namespace fade
