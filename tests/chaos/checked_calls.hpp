// Calls of HIP that are counted and checked: by their results, and by the registers that they must keep.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracee.h"

namespace chaos {

enum Function { Malloc, Memcpy, Memset, Synchronize, Free, HostFunction, Query, kFunctions };
constexpr const char* kNames[] = {"hipMalloc", "hipMemcpy",         "hipMemset",     "hipDeviceSynchronize",
                                  "hipFree",   "hipLaunchHostFunc", "hipStreamQuery"};

// The numbers of events in all processes of the tree, in memory that they share.
struct Tally {
  std::atomic<std::uint64_t> calls[kFunctions], begun[kFunctions], execs, children, thrown, caught, raised, trapped,
      waits, interrupted, signals, opened, threads;
  std::atomic<bool> ends, wrong;  // stay over an exec
};
extern Tally* tally;
extern int tally_fd;
extern std::atomic<bool> enough;
extern std::atomic<int> wrong;
extern bool executes;  // calls that an exec ends have begun only: each is added up at once

// Maps the tally of the tree of processes; makes it, for programs that inherit its descriptor.
void map_tally(int fd);
int make_tally();

void complain(const char* what, int line);
#define RIGHT(condition)                              \
  do {                                                \
    if (!(condition)) complain(#condition, __LINE__); \
  } while (0)

// The calls of this thread: adds them to the tally, or forgets them in a child of fork(2).
void add_up();
void forget_counts();

// A call, which ends where its scope does.
class Counted {
 public:
  explicit Counted(Function which);
  ~Counted();
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  Function which_;
};

// More threads than processors rest between their rounds. Otherwise a thread that waits for the lock of the stand-in's
// allocations may never get it. Several rounds share an allocation then.
extern bool is_crowd;
extern int rounds_of_an_allocation;

// What threads do; `seed` is the first number that goes through the "device".
void* calls(void* seed);
void* calls_with_all_blocked(void* seed);
void* a_few_calls(void* seed);

}  // namespace chaos
