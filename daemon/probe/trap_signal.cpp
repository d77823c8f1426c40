#include "probe/trap_signal.hpp"

#include <sys/syscall.h>

namespace fade {

KernelSigaction TrapSignal::program_action() const {
  return ours_.net() ? ours_.net()->program_action(ours_.memory()) : KernelSigaction{};
}

KernelSigaction TrapSignal::last_program_action() const {
  return ours_.net() ? ours_.net()->last_program_action() : KernelSigaction{};
}

bool TrapSignal::set_program_action(KernelSigaction action, Tid stopped) {
  action.flags &= ~KernelSigaction::kSaRestorer;
  return ours_.net() && ours_.net()->set_program_action(ours_.memory(), stopped, action);
}

bool TrapSignal::set_restorer(RemoteAddr sigreturn, Tid stopped) {
  return ours_.net() && ours_.net()->set_restorer(ours_.memory(), stopped, sigreturn);
}

Result<void> TrapSignal::retake(Tid stopped) {
  if (auto allowed = ours_.may_call(stopped); !allowed) return allowed;
  const SafetyNet& net = *ours_.net();
  const auto taken = net.take_signal(ours_.call_with(net.gadgets(), stopped), ours_.memory());
  if (!taken) return tl::unexpected(taken.error());
  return {};
}

Result<void> TrapSignal::give_back(Tid stopped, RemoteGadgets outside) {
  if (!ours_.net()) return {};
  if (ours_.net()->table().left_alone() > 0 || sites_.armed() > 0)
    return fail("breakpoints still stand in the process", "its text was changed around them");
  if (auto allowed = ours_.may_call(stopped); !allowed) return allowed;
  return ours_.net()->give_signal_back(ours_.call_with(outside, stopped), ours_.memory(), stopped, outside.sigreturn);
}

Result<void> TrapSignal::send(Tid stopped, Tid tid, const siginfo_t& info) {
  if (auto allowed = ours_.may_call(stopped); !allowed) return allowed;
  const RemoteAddr at = ours_.net()->base() + NetLayout::kScratchAt;
  if (!ours_.memory().write(at, bytes_of(info), stopped)) return fail("cannot write into the process");
  const auto pid = static_cast<std::uint64_t>(ours_.pid().value()), number = static_cast<std::uint64_t>(info.si_signo);
  const RemoteCall call = ours_.call_with(ours_.net()->gadgets(), stopped);
  const auto done = tid != 0 ? call.syscall(SYS_rt_tgsigqueueinfo,
                                            {pid, static_cast<std::uint64_t>(tid.value()), number, at.value, 0, 0})
                             : call.syscall(SYS_rt_sigqueueinfo, {pid, number, at.value, 0, 0, 0});
  if (!done || *done != 0) return fail("the process cannot send itself a signal");
  return {};
}

}  // namespace fade
