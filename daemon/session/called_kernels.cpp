#include "session/called_kernels.hpp"

#include "probes/call_facts.hpp"
#include "session/argument_reader.hpp"

namespace fade {

// The kernel of the launch that the thread is inside of, as a handle; 0: none.
std::uint64_t CalledKernels::launched_around(const Thread& thread) {
  if (thread.calls.empty()) return 0;
  const OpenCall& outer = thread.calls.all().back();
  const auto& probe = functions_[outer.entry].probe;
  const probes::Parameter* kernel =
      probe && probe->kind == probes::Kind::Launch ? probe->with_role(probes::Role::Kernel) : nullptr;
  return kernel ? argument(*probe, *kernel, outer) : 0;
}

void CalledKernels::name(const Thread& thread, const probes::Probe& probe, const CallRecord& call,
                         probes::Payload payload) {
  Program& program = *thread.inferior->program;
  const ProcessId process = thread.inferior->id;
  const auto used = [&](std::uint64_t kernel) { names_.used(program, process, thread.tid, kernel, symbols_); };
  if (probe.kind == probes::Kind::GetFunction) {
    if (const probes::Parameter* object = probe.with_role(probes::Role::Address))
      used(probes::argument(probe, *object, call, payload));
  } else if (const probes::Parameter* kernel =
                 probe.kind == probes::Kind::Launch ? probe.with_role(probes::Role::Kernel) : nullptr) {
    const std::uint64_t handle = probes::argument(probe, *kernel, call, payload);
    used(handle);
    if (const std::uint64_t outer = launched_around(thread)) names_.same(program, process, handle, outer);
  } else {
    for (const probes::KernelUse& use : probes::kernels_used(probe, call, payload)) used(use.kernel);
  }
}

}  // namespace fade
