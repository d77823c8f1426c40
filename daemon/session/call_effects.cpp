#include "session/call_effects.hpp"

#include "proc/processes.hpp"
#include "session/gpu_nodes.hpp"
#include "session/hang_watch.hpp"

namespace fade {

void CallEffects::began(Thread& thread, const Entry& entry) {
  if (thread.name.empty()) thread.name = read_thread_name(thread.tid);
  thread.earlier_calls.clear();
  HangWatch::call_began(*thread.inferior, entry);
}

void CallEffects::ended(Thread& thread, const Entry& entry, const EndedCall& call) {
  const bool is_resolver = entry.what == Entry::What::Resolver;
  if (!is_resolver) tell_gpu_nodes(thread, entry);
  HangWatch::call_ended(*thread.inferior, entry, call.result);
  if (is_resolver) modules_.resolved(*thread.inferior, thread, entry, {call.result});
  if (call.table) modules_.table_given(*thread.inferior, thread, entry, *call.table);
}

// Once per program, after HIP's first answer to a call that needs a device: by then HIP has opened the nodes that it
// could.
void CallEffects::tell_gpu_nodes(const Thread& thread, const Entry& entry) {
  Inferior& inferior = *thread.inferior;
  if (inferior.has_reported_nodes || !needs_device(*entry.probe)) return;
  inferior.has_reported_nodes = true;
  if (const auto cpu_ns = read_cpu_ns(inferior.pid)) sink_.notice(CpuUsed{inferior.id, clock_.now(), *cpu_ns});
  for (GpuNode& node : look_at_gpu_nodes(inferior.pid))
    sink_.notice(Lifecycle{clock_.now(), inferior.id, thread.id, std::move(node.state), 0, std::move(node.detail)});
}

}  // namespace fade
