// The user's rules of --inject and --replace. Immutable once parsed. Says which functions a rule may act on, and
// decides for a call: decision.cpp. Pure: the state between calls is the caller's.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "probes/injections/held_memory.hpp"
#include "probes/injections/rule.hpp"
#include "probes/injections/text.hpp"

namespace fade::probes {

// A call at its entry, and its surroundings.
struct CallAtEntry {
  const Probe& probe;
  const CallRecord& record;
  std::span<const std::byte> payload;
  int device = -1;          // the thread's; -1: unknown
  std::string_view caller;  // file name of the library it returns to, without folder
  std::string_view thread_name;
  Tid tid = 0;
  std::string_view rank;
  std::string_view kernel;  // that is launched, mangled; empty: none, or its name is unknown
  std::int64_t now = 0;     // session time
};

// An effect on a call. `value`: the error, the nanoseconds, or the word that replaces.
struct Effect {
  // Allocate, Release and Count are for successful calls at their return: the program's memory changes, and a number of
  // devices is `value` at most.
  enum class Kind : std::uint8_t { Error, LateError, Delay, DelayExit, Replace, Allocate, Release, Count };
  Kind kind = Kind::Error;
  RuleId rule = 0;
  std::int64_t value = 0;
  const Replacement* replacement = nullptr;  // of Replace; lives as long as the rules
  bool is_sticky = false;                    // an earlier call has failed with a sticky error
};

// The calls that rules have seen in one program of one process.
struct InjectionState {
  std::vector<std::uint64_t> seen;  // by the number of the aim
  RuleId sticky_rule = 0;           // 0: no sticky error yet
  std::string sticky_api;
  std::int64_t sticky_error = 0;
  HeldMemory memory;  // of less-memory=
};

// How far calls came with each rule, in all processes.
struct RuleSeen {
  std::uint64_t calls = 0;    // of its functions
  std::uint64_t matched = 0;  // of these, let through by its filters
  std::uint64_t met = 0;      // of these, chosen by when=, every= or chance=
};
using RulesSeen = std::map<RuleId, RuleSeen>;

class Injections {
 public:
  // `known`: the functions that rules may name. An error says the place of the wrong part.
  static Result<Injections> parse(std::span<const InjectionText> texts, std::span<const ProbePtr> known,
                                  std::uint64_t seed = 1);

  bool empty() const { return rules_.empty(); }
  std::span<const Injection> rules() const { return rules_; }
  const Injection& rule(RuleId id) const { return rules_[id.value() - 1]; }
  std::uint64_t seed() const { return seed_; }
  // True if a rule may act on calls of this function. If false, the call needs no other check.
  bool touches(const Probe& probe) const;
  // True if the function gives the thread's last error, and calls that rules have failed must be told there.
  bool tells_last_error(const Probe& probe) const;
  bool needs_rank() const { return needs_rank_; }
  // True if a rule is for launches of some kernels. The names of handles are wanted then.
  bool needs_kernels() const { return needs_kernels_; }
  // Several lines for --dry-run.
  std::vector<std::string> describe() const;

  // The effects on a call, in the order of the rules; at most one error. Counts the call in `state`.
  std::vector<Effect> decide(const CallAtEntry& call, InjectionState& state, RulesSeen* seen = nullptr) const;
  // Why a rule had no effect, in words.
  std::string why_idle(const Injection& rule, const RulesSeen& seen) const;

 private:
  struct NumberedAim {
    std::size_t number = 0;
    Aim aim;
  };

  void add(RuleId id, const ProbePtr& probe, Aim aim);
  bool is_of_sticky(const Probe& probe, const std::string& api) const;
  bool applies(const NumberedAim& aim, const CallAtEntry& call, InjectionState& state, RuleSeen& seen) const;
  static bool matches(const Injection& rule, const Aim& aim, const CallAtEntry& call);
  static void take_part(const Aim& aim, const CallAtEntry& call, const InjectionState& state, std::vector<Effect>& out);
  void take(const NumberedAim& aim, const CallAtEntry& call, InjectionState& state, std::vector<Effect>& out) const;

  std::vector<Injection> rules_;                                       // the rule with id N is rules_[N - 1]
  std::map<std::string, std::vector<NumberedAim>, std::less<>> aims_;  // by symbol
  std::set<std::string> error_apis_, sticky_apis_;
  std::size_t number_of_aims_ = 0;
  std::uint64_t seed_ = 1;
  bool needs_rank_ = false, needs_kernels_ = false;
};

}  // namespace fade::probes
