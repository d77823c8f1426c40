#include "session/thread_stack.hpp"

#include "elf/maps.hpp"
#include "ptrace/tracee.hpp"

namespace fade {
namespace {
constexpr std::uint64_t kMainStack = std::uint64_t{128} << 20;  // nothing else is mapped that close below it
}

// The mapping with the stack pointer is the thread's own stack if it is the main thread's, or if it also holds the
// thread's control block: libc puts that block on the stack.
RemoteRange stack_of(Thread& thread, RemoteAddr sp) {
  if (thread.stack.size() > 0) return thread.stack;
  const auto maps = elf::read_maps(thread.tid);
  const elf::Mapping* mapping = maps ? maps->find(sp) : nullptr;
  const auto registers = Tracee(thread.tid).registers();
  if (!mapping || !registers) return {};
  const bool is_main = thread.tid == leader_of(thread.inferior->pid);
  if (!(is_main ? mapping->path == "[stack]" : mapping->range.contains({registers->fs_base}))) return {};
  thread.stack = mapping->range;
  if (mapping->path == "[stack]") thread.stack.begin = mapping->range.end - kMainStack;
  return thread.stack;
}

}  // namespace fade
