// A child of the test whose tracer was killed.
#pragma once
#include <dlfcn.h>

#include <filesystem>

#include "probe/armed.hpp"

namespace fade::test {

// Seizes all threads; the first is stopped. False: it is gone.
inline bool seize_all(const Tracer& tracer, Pid pid) {
  const Tid leader = leader_of(pid);
  if (!tracer.seize(leader, false)) return false;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid.value()) + "/task"))
    if (const Tid tid = Tid::of(std::stoi(entry.path().filename())); tid != leader) (void)tracer.seize(tid, false);
  Tracee(leader).interrupt();
  return tracer.next_of(leader).kind == Stop::Kind::Trap;
}

// The child runs `before` and then waits for finish(), which has it run `after`, whose result is its status.
class Waiting {
 public:
  Waiting(const std::function<void()>& before, const std::function<int()>& after)
      : child_([this, before, after] {
          before();
          *stage_ = 1;
          while (*stage_ == 1) std::this_thread::yield();
          return after();
        }) {
    child_.go();
    while (*stage_ == 0) std::this_thread::yield();
  }
  Pid pid() const { return child_.pid(); }
  Tid tid() const { return child_.tid(); }
  void go() { *stage_ = 2; }
  void was_reaped() { child_.was_reaped(); }  // by the tracer of the test itself
  int finish() {
    go();
    return child_.wait();
  }

 private:
  Shared<std::atomic<int>> stage_;
  Child child_;
};

// A tracer of all threads that arms everything and serves `most` hits.
inline void trace_calls(Pid pid, int most) {
  const Tracer tracer = make_tracer(std::chrono::hours(1));
  if (!seize_all(tracer, pid)) return;
  AddressSpace space(tracer, pid);
  if (!arm_all(space, leader_of(pid))) return;
  Tracee(leader_of(pid)).resume();
  for (int hits = 0; hits < most;) hits += handle_stop(space, next_stop(tracer));
}

// A tracer in a process of its own runs `body`, the first thread of `pid` being stopped, and is killed.
inline void trace_and_die(Pid pid, const std::function<void(AddressSpace&)>& body) {
  Child victim([&] {
    const Tracer tracer = make_tracer(std::chrono::hours(1));
    AddressSpace space(tracer, pid);
    if (seize_all(tracer, pid)) body(space);
    return ::raise(SIGKILL);
  });
  victim.go();
  EXPECT_TRUE(WIFSIGNALED(victim.wait()));
}

// A remote call that the dead tracer began ends by itself.
inline void step_out_of_the_net(const Tracer& tracer, const AddressSpace& space, Pid pid) {
  for (const Tracee tracee(leader_of(pid)); space.our_code().contains(tracee.registers()->ip());)
    if (!tracee.step() || tracer.next_of(tracee.tid()).kind != Stop::Kind::Signal) return;
}

// Functions of libc that decide about SIGTRAP.
constexpr std::pair<const char*, Guard> kGuarded[] = {{"sigaction", Guard::Sigaction},
                                                      {"pthread_sigmask", Guard::Sigmask}};

// libc's own: a sanitizer has functions of the same names.
inline RemoteAddr libc(const char* name) {
  static void* const handle = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return address_of(::dlsym(handle, name));
}

inline bool arm_guarded(AddressSpace& space, Tid stopped) {
  for (const auto& [name, guard] : kGuarded)
    if (!space.reserve({libc(name), libc(name) + 16}, stopped) || !space.arm(libc(name), stopped, guard)) return false;
  return true;
}

// The status of a program in which a tracer has done `arm` and was killed. `before` runs before that, `after` behind
// it.
inline int status_once_abandoned(
    const std::function<void(AddressSpace&, Tid)>& arm, const std::function<int()>& after,
    const std::function<void()>& before = [] {}) {
  Waiting program(before, after);
  trace_and_die(program.pid(), [&](AddressSpace& space) { arm(space, program.tid()); });
  return program.finish();
}

// Whether libc's text is ours, of which the process is a fork.
inline bool has_own_libc(const Memory& memory) {
  return std::ranges::all_of(kGuarded, [&](const auto& guarded) {
    const auto theirs = memory.value<std::array<std::uint8_t, 32>>(libc(guarded.first));
    return theirs && std::memcmp(theirs->data(), reinterpret_cast<const void*>(libc(guarded.first).value), 32) == 0;
  });
}

inline void expect_exit(int status, int wanted) {
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), wanted);
}

// Private anonymous executable memory: what fade maps, in a program that has none of its own.
inline std::size_t executable_anonymous(Pid pid) {
  const auto maps = elf::read_maps(pid);
  if (!maps) return 99;
  return static_cast<std::size_t>(std::ranges::count_if(
      maps->all(), [](const elf::Mapping& m) { return m.executable && !m.has_file() && m.path.empty(); }));
}

}  // namespace fade::test
