// Carries the rules of --inject and --replace out: decides at a call's entry, writes arguments, and says whether the
// call is to be skipped or held; changes results at its return. Each action is an InjectionHit. Resumes no thread.
// Tracing thread only.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "probes/injections/injections.hpp"
#include "ptrace/registers.hpp"
#include "session/function_table.hpp"
#include "session/inferior.hpp"

namespace fade {

class Injector {
 public:
  // `is_dry`: replacements are counted, and nothing is written.
  Injector(EventSink& sink, const SessionClock& clock, const probes::Injections& rules, bool is_dry)
      : sink_(sink), clock_(clock), rules_(rules), is_dry_(is_dry) {}

  // The effect on a call at its entry.
  struct Order {
    std::optional<std::int64_t> error;  // the call is skipped, and this is its result
    std::int64_t delay_ns = 0;          // the thread is held for so long
  };
  // The stopped thread is at the entry of `call`. Its arguments are read, and its number is known. New arguments are
  // in the registers and on the stack of the thread, and in the record.
  Order at_entry(Thread& thread, const Entry& entry, OpenCall& call);
  // The call is skipped and has failed: writes the outputs that HIP writes then.
  static void write_outputs(const Thread& thread, const Entry& entry, const OpenCall& call);

  struct Answer {
    std::optional<std::uint64_t> result;  // in place of the one that the call has given
    std::int64_t delay_ns = 0;
  };
  // The stopped thread has returned from `call` with `result`.
  Answer at_return(Thread& thread, const Entry& entry, const OpenCall& call, std::uint64_t result);

  // What became of each rule, for rules without an effect.
  const probes::RulesSeen& seen() const { return seen_; }

 private:
  using Effect = probes::Effect;

  std::string dry_or_not(const std::string& action) const;
  void replace(Thread& thread, const Entry& entry, const Effect& effect, OpenCall& call);
  void follow_preset(Thread& thread, const Entry& entry, const Effect& effect, const OpenCall& call);
  void fail(Thread& thread, const Entry& entry, const Effect& effect, const OpenCall& call);
  void learn_kernel(const Thread& thread, const Entry& entry, const OpenCall& call) const;
  static std::string_view kernel_of(const Thread& thread, const Entry& entry, const OpenCall& call);
  std::optional<std::uint64_t> last_error(Thread& thread, const Entry& entry, const OpenCall& call,
                                          std::uint64_t result);
  void hit(const Thread& thread, const Entry& entry, const OpenCall& call, RuleId rule, std::string action,
           std::string was, std::string became);
  const std::string& rank_of(Inferior& inferior) const;

  EventSink& sink_;
  const SessionClock& clock_;
  const probes::Injections& rules_;
  const bool is_dry_;
  probes::RulesSeen seen_;
};

}  // namespace fade
